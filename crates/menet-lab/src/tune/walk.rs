//! The walk: how the parameters of every method except MEN are searched.
//!
//! The search starts at the method's own parameters and changes one parameter at a time, from the most to the least
//! important. Each is moved a step up or down its list of values ([`crate::space`]), and keeps the new value if the step is
//! worth it. The search ends when no step is worth it, or when the budget is used. One fit per fold serves every dimension and
//! every metric and, for methods with paths, every sparsity, so these are compared in full for every setting.
//!
//! Rates of small sets are coarse: two settings often differ by a single sample, and the best of many coarse numbers is partly
//! luck. So trials are compared by their *merit*: the rate, averaged with those of neighbouring dimensions (up to two on either
//! side) and numbers of variables (one) if there are many, plus half the mean margin ([`Score::margin`]), which changes with
//! every sample. A step is taken only if it gains 0.01. On the face sets this mostly chose better for the test samples than
//! the plain rate, by up to two points. Margins of different metrics cannot be compared, so each metric has its own walk over the
//! same fits, and the rate decides between them.

mod folds;
mod step;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use menet::evaluate::{Score, Split, classes_of, halves, scores};
use menet::prepare::PrepareParams;
use menet::rules::Metric;
use menet::select::TrialChoice;
use menet::sparse::SparseVector;
use menet::{Dataset, Method};
use rayon::prelude::*;
use toml::{Table, Value};

use super::{TuningResult, TuningTrials, too_small};
use crate::cell::out_of_reach;
use crate::curves::mean_and_sd;
use crate::error::{Error, Result};
use crate::params::{fields, overlay};
use crate::progress::{Progress, QuietProgress, Status, TimeLeft, proportional};
use crate::protocol::{MetricChoice, TuneOptions};
use crate::space::{Parameter, default_space, largest_support, sparsities};
use folds::{FoldCells, FoldScore, up_to};
use step::step;

/// One setting at one sparsity, dimension and metric, over all folds: a row of `trials.csv`.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The number of the setting, in the order in which settings were tried.
    pub setting: usize,
    /// The searched parameters.
    pub params: Table,
    /// Largest number of variables per axis, for sparse methods.
    pub nonzeros: Option<usize>,
    /// The dimension.
    pub dimension: usize,
    /// The metric.
    pub metric: Metric,
    /// The score over all folds.
    pub score: Score,
    /// The number by which trials are compared.
    pub merit: f64,
    /// The standard error of the rate, from the folds.
    pub standard_error: f64,
}

impl Trial {
    /// The largest number of variables per axis, from the path or from a parameter of the setting.
    pub fn support(&self) -> Option<usize> {
        let own = self.params.get("nonzeros").and_then(Value::as_integer);
        self.nonzeros.or(own.and_then(|k| usize::try_from(k).ok()))
    }

    /// The setting without that number.
    pub(crate) fn without_support(&self) -> Table {
        let mut params = self.params.clone();
        params.remove("nonzeros");
        params
    }
}

/// Searches the parameters of `method` on the folds of `data`.
///
/// # Errors
/// When no setting can be fitted, or `progress` asks to stop.
pub(crate) fn walk(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<TuningResult> {
    let space = default_space(method, data, options.folds);
    let mut search = Search {
        base: for_search(method, data.variables())?,
        prepare: options.prepare,
        data,
        dims,
        metrics: metric.metrics(),
        folds,
        most: most_variables(method, data.variables())?,
        progress,
        budget: options.budget,
        began: Instant::now(),
        tried: Vec::new(),
        trials: Vec::new(),
        fits: 0,
        reached: 0,
        last_error: None,
    };
    let mut best: Option<usize> = None;
    for &metric in metric.metrics() {
        let found = search.walk(&space, metric)?;
        let right = |at: usize| search.trials[at].score.right;
        best = match (best, found) {
            (Some(best), Some(found)) if right(found) > right(best) => Some(found),
            (best, found) => best.or(found),
        };
    }
    if options.search.choose == TrialChoice::Smallest {
        best = best.map(|best| search.sparsest(best));
    }
    let Some(best) = best.map(|at| search.trials[at].clone()) else {
        return Err(match search.last_error {
            _ if search.fits == 0 => too_small(options.budget, folds.len()),
            Some(source) => Error::Method { context: method.name().to_owned(), source },
            None => out_of_reach(search.reached).into(),
        });
    };
    let mut changes = best.params.clone();
    if let Some(k) = best.nonzeros {
        changes.insert("nonzeros".to_owned(), Value::Integer(k as i64));
    }
    let chosen = overlay(method, &changes)?;
    let (dimension, metric) = (best.dimension, best.metric);
    let found = TuningTrials::Walk { best, trials: search.trials };
    Ok(TuningResult { method: chosen, dimension, metric, found, fits: search.fits })
}

/// The iterations of sparse PCA during the search. Its axes still move after that, but it is clear which setting is better, and
/// two hundred iterations per setting would take hours.
const SPCA_ITERATIONS: usize = 5;

/// The initial number of variables of sparse PCA in the search, unless the user gives one.
const SPCA_START: usize = 100;

/// The method as it is fitted during the search. If its paths contain every sparsity, it is fitted with the largest.
fn for_search(method: &Method, variables: usize) -> Result<Method> {
    let number = |name: &str, value: usize| (name.to_owned(), Value::Integer(value as i64));
    let changes: Table = match method {
        // The search makes steps along the number of variables, so it must be set.
        Method::Spca(spca) => [
            number("iterations", SPCA_ITERATIONS.min(spca.iterations)),
            number("nonzeros", spca.nonzeros.unwrap_or(SPCA_START).min(variables)),
        ]
        .into_iter()
        .collect(),
        _ if has_paths(method) => {
            [number("nonzeros", most_variables(method, variables)?)].into_iter().collect()
        }
        _ => return Ok(method.clone()),
    };
    overlay(method, &changes)
}

/// The length of the paths: as many variables as the user allows per axis, or a default.
fn most_variables(method: &Method, variables: usize) -> Result<usize> {
    let own = fields(method)?.get("nonzeros").and_then(Value::as_integer);
    let own = own.and_then(|k| usize::try_from(k).ok());
    Ok(own.unwrap_or_else(|| largest_support(variables)).min(variables))
}

fn has_paths(method: &Method) -> bool {
    matches!(method, Method::Spg(_))
}

struct Search<'a> {
    base: Method,
    prepare: PrepareParams,
    data: &'a Dataset<'a>,
    dims: &'a [usize],
    metrics: &'a [Metric],
    folds: &'a [Split],
    /// The largest number of variables per axis to try, for methods with paths.
    most: usize,
    progress: &'a dyn Progress,
    /// The largest number of fits.
    budget: usize,
    began: Instant,
    /// The settings that were tried, with the indices of their trials.
    tried: Vec<(Table, Range<usize>)>,
    trials: Vec<Trial>,
    fits: usize,
    /// The largest dimension of a fit so far.
    reached: usize,
    last_error: Option<menet::Error>,
}

/// The gain in merit that makes a step worth it.
const WORTH: f64 = 0.01;

impl Search<'_> {
    /// Coordinate search from the method's own parameters, by the merit under one metric. Returns the index of the best trial.
    fn walk(&mut self, space: &[Parameter], metric: Metric) -> Result<Option<usize>> {
        let own = fields(&self.base)?;
        let mut current: Table = space
            .iter()
            .filter_map(|parameter| Some((parameter.name.to_owned(), own.get(parameter.name)?.clone())))
            .collect();
        let Some(mut best) = self.attempt(&current, metric, "the first setting")? else { return Ok(None) };
        loop {
            let before = best;
            for parameter in space {
                // Up as long as it helps, otherwise down.
                for up in [true, false] {
                    let mut moved = false;
                    while let Some(next) = step(&current, parameter, up) {
                        let value = next.get(parameter.name).map_or("default".to_owned(), Value::to_string);
                        let what = format!("{} = {value}", parameter.name);
                        let Some(found) = self.attempt(&next, metric, &what)? else { break };
                        if self.trials[found].merit <= self.trials[best].merit + WORTH {
                            break;
                        }
                        (current, best, moved) = (next, found, true);
                    }
                    if moved {
                        break;
                    }
                }
            }
            if best == before {
                return Ok(Some(best));
            }
        }
    }

    /// The index of the best trial of a setting under a metric. A new setting is fitted if the budget allows; none otherwise, or
    /// if the fit fails.
    fn attempt(&mut self, setting: &Table, metric: Metric, what: &str) -> Result<Option<usize>> {
        let known = self.tried.iter().find(|(tried, _)| tried == setting).map(|(_, places)| places.clone());
        let places = match known {
            Some(places) => places,
            None if self.fits + self.folds.len() > self.budget => return Ok(None),
            None => self.fit(setting, what)?,
        };
        let of_metric = places.filter(|&at| self.trials[at].metric == metric);
        Ok(of_metric.reduce(|a, b| if self.trials[b].merit > self.trials[a].merit { b } else { a }))
    }

    /// Fits a setting on every fold, and returns the indices of its trials. `what` tells the user what is tried.
    fn fit(&mut self, setting: &Table, what: &str) -> Result<Range<usize>> {
        if self.progress.stop() {
            return Err(menet::Error::Stopped { stage: menet::Stage::Preprocess }.into());
        }
        let method = overlay(&self.base, setting)?;
        let finished = AtomicUsize::new(self.fits);
        self.report_progress(what, self.fits);
        let of_fold = |fold: &Split| {
            let cells = self.cells(&method, fold);
            self.report_progress(what, finished.fetch_add(1, Ordering::Relaxed) + 1);
            cells
        };
        let found: menet::Result<Vec<FoldCells>> = self.folds.par_iter().map(of_fold).collect();
        self.fits += self.folds.len();
        let start = self.trials.len();
        match found {
            Ok(folds) => self.record(setting, &folds),
            Err(stopped @ menet::Error::Stopped { .. }) => return Err(stopped.into()),
            // A setting that fails does not stop the search.
            Err(error) => self.last_error = Some(error),
        }
        let places = start..self.trials.len();
        self.tried.push((setting.clone(), places.clone()));
        Ok(places)
    }

    /// Reports what is tried now, and how many fits are finished. The search may end before the budget is used.
    fn report_progress(&self, what: &str, finished: usize) {
        let left = proportional(self.began.elapsed(), finished, self.budget).map(TimeLeft::AtMost);
        let now = format!("trying {what}");
        self.progress.status(Status { now, done: finished, total: self.budget, left });
    }

    /// The scores of one fit on its fold.
    fn cells(&self, method: &Method, fold: &Split) -> menet::Result<FoldCells> {
        let (train, test) = halves(self.data, fold, &self.prepare)?;
        let most = self.dims.iter().copied().max();
        let reduced = method.reducer().fit(&train, most, &QuietProgress(self.progress))?;
        let reached = reduced.projection.components();
        let (known, asked) = (classes_of(self.data, &fold.train), classes_of(self.data, &fold.test));
        let sizes: Vec<Option<usize>> = if has_paths(method) {
            let used = reduced.projection.axes().iter().map(SparseVector::nonzeros).max().unwrap_or(0);
            up_to(sparsities(self.most), used).into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        let most_size = sizes.last().copied().flatten();
        let mut cells = Vec::new();
        for nonzeros in sizes {
            let projection = match nonzeros {
                Some(k) => reduced.at_nonzeros(k, &train)?.unwrap_or_else(|| reduced.projection.clone()),
                None => reduced.projection.clone(),
            };
            if projection.components() == 0 {
                continue;
            }
            let (gallery, samples) = (projection.project(&train)?, projection.project(&test)?);
            for &metric in self.metrics {
                let found = scores(gallery.as_ref(), &known, samples.as_ref(), &asked, self.dims, metric)?;
                cells.extend(found.into_iter().map(|(dimension, score)| FoldScore {
                    nonzeros,
                    dimension,
                    metric,
                    score,
                }));
            }
        }
        Ok(FoldCells { cells, reached, most_size })
    }

    /// Combines the folds. Cells that are missing in one of them are left out.
    fn record(&mut self, setting: &Table, folds: &[FoldCells]) {
        let start = self.trials.len();
        self.reached = folds.iter().map(|fold| fold.reached).fold(self.reached, usize::max);
        let Some(richest) = folds.iter().rev().max_by_key(|fold| fold.most_size) else { return };
        for first in &richest.cells {
            let same: Vec<Score> = folds.iter().filter_map(|fold| fold.score_like(first)).collect();
            if same.len() < folds.len() {
                continue;
            }
            let tested: usize = same.iter().map(|score| score.tested).sum();
            let score = Score {
                right: same.iter().map(|score| score.right).sum(),
                tested,
                margin: same.iter().map(|s| s.margin * s.tested as f64).sum::<f64>() / tested as f64,
            };
            let rates: Vec<f64> = same.iter().map(Score::rate).collect();
            self.trials.push(Trial {
                setting: self.tried.len(),
                params: setting.clone(),
                nonzeros: first.nonzeros,
                dimension: first.dimension,
                metric: first.metric,
                score,
                merit: f64::NAN,
                standard_error: deviation(&rates) / (rates.len() as f64).sqrt(),
            });
        }
        self.judge(start);
    }

    /// Computes the merit of the trials from `start` on, which belong to one setting.
    fn judge(&mut self, start: usize) {
        let trials = &self.trials[start..];
        let dims: BTreeSet<usize> = trials.iter().map(|trial| trial.dimension).collect();
        let sizes: BTreeSet<Option<usize>> = trials.iter().map(|trial| trial.nonzeros).collect();
        let size = |trial: &Trial| sizes.range(..trial.nonzeros).count();
        // With few dimensions or few numbers of variables, there is no averaging.
        let (reach, next) = ((dims.len() / 6).min(2), usize::from(sizes.len() >= 6));
        let near = |a: &Trial, b: &Trial| {
            a.metric == b.metric
                && a.dimension.abs_diff(b.dimension) <= reach
                && size(a).abs_diff(size(b)) <= next
        };
        let merit = |own: &Trial| {
            let rates: Vec<f64> = trials
                .iter()
                .filter(|other| near(own, other))
                .map(|other| other.score.rate() / 100.0)
                .collect();
            rates.iter().sum::<f64>() / rates.len() as f64 + 0.5 * own.score.margin
        };
        let merits: Vec<f64> = trials.iter().map(merit).collect();
        self.trials[start..].iter_mut().zip(merits).for_each(|(trial, merit)| trial.merit = merit);
    }

    /// The sparsest trial within one standard error of `best`, under its metric: the fewest variables, then the fewest axes,
    /// then the better one.
    fn sparsest(&self, best: usize) -> usize {
        let least = self.trials[best].score.rate() - self.trials[best].standard_error;
        let size = |at: usize| (self.trials[at].support().unwrap_or(usize::MAX), self.trials[at].dimension);
        let better = |a: usize, b: usize| {
            let (smaller, equal) = (size(b) < size(a), size(b) == size(a));
            if smaller || (equal && self.trials[b].merit > self.trials[a].merit) { b } else { a }
        };
        (0..self.trials.len())
            .filter(|&at| self.trials[at].metric == self.trials[best].metric)
            .filter(|&at| self.trials[at].score.rate() >= least)
            .fold(best, better)
    }
}

/// The standard deviation with n−1; 0 for fewer than two values.
fn deviation(values: &[f64]) -> f64 {
    mean_and_sd(values).1.unwrap_or(0.0)
}
