//! Choosing parameters by cross-validation inside the training samples.
//!
//! The search begins at the method's own parameters and walks: one parameter after the other, from the most to the least
//! important, is moved a step up or down its list of values ([`crate::space`]), and stays where that is worth it. It ends
//! where no step is, or at the budget. One fit a fold serves every dimension and, for methods with paths, every sparsity and
//! every metric, so those are compared in full for every setting tried.
//!
//! Rates of small sets are coarse: a sample more or less right is often the whole difference between two settings, and the
//! best of many coarse numbers is a lucky one. So what is compared is the *merit* of a trial: its rate, averaged with those
//! of neighbouring dimensions (up to two on either side) and numbers of variables (one), where there are many, plus half
//! the mean margin ([`Score::margin`]), which moves with every sample; and a step is taken only if it gains 0.01. On the face sets this chose mostly better for
//! the test samples than the plain rate did, by up to two points. Margins of different metrics cannot be compared: each metric has a
//! walk of its own, over the same fits, and between the two the rate decides.

use std::collections::BTreeSet;
use std::ops::Range;

use menet::classify::Metric;
use menet::evaluate::{Score, Split, classes_of, generator, scores, stratified_folds, subset};
use menet::{Dataset, Method, Monitor};
use rayon::prelude::*;
use toml::{Table, Value};

use crate::cell::out_of_reach;
use crate::curves::mean_and_sd;
use crate::error::{Error, Result};
use crate::params::{fields, overlay};
use crate::protocol::{FOLDS, MetricChoice, TuneOptions};
use crate::space::{Axis, default_space, largest_support, sparsities};

/// One setting at one sparsity, dimension and metric, over all folds: a row of `trials.csv`.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Which setting, in the order in which they were tried.
    pub setting: usize,
    /// The parameters that are searched.
    pub params: Table,
    /// Largest number of variables an axis uses, for sparse methods.
    pub nonzeros: Option<usize>,
    /// The dimension.
    pub dimension: usize,
    /// The metric.
    pub metric: Metric,
    /// Over all folds.
    pub score: Score,
    /// What trials are compared by.
    pub merit: f64,
    /// The standard error of the rate, from the folds.
    pub standard_error: f64,
}

impl Trial {
    /// The number of variables an axis may use, read off a path or a parameter of the setting.
    pub fn support(&self) -> Option<usize> {
        let own = self.params.get("nonzeros").and_then(Value::as_integer);
        self.nonzeros.or(own.and_then(|k| usize::try_from(k).ok()))
    }

    /// The setting but for that number.
    pub(crate) fn without_support(&self) -> Table {
        let mut params = self.params.clone();
        params.remove("nonzeros");
        params
    }
}

/// What was chosen, and from what.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The method with the parameters chosen.
    pub method: Method,
    /// The dimension chosen.
    pub dimension: usize,
    /// The metric chosen.
    pub metric: Metric,
    /// The trial that was chosen.
    pub best: Trial,
    /// All trials.
    pub trials: Vec<Trial>,
    /// How many fits were made.
    pub fits: usize,
}

/// Searches the parameters of `method` on `data`, which must be training samples only.
///
/// # Errors
/// When no setting can be fitted, or `monitor` asks to stop.
pub fn tune(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Tuned> {
    if data.classes().len() < 2 {
        return Err(menet::Error::Classes { found: data.classes().len(), samples: data.samples() }.into());
    }
    let folds = stratified_folds(data, options.folds, &mut generator(seed, &[FOLDS]))?;
    let space = default_space(method, data, options.folds);
    let mut search = Search {
        base: for_search(method, data.variables())?,
        data,
        dims,
        metrics: metric.metrics(),
        folds: &folds,
        most: most_variables(method, data.variables())?,
        monitor,
        tried: Vec::new(),
        trials: Vec::new(),
        fits: 0,
        reached: 0,
        last_error: None,
    };
    let mut best: Option<usize> = None;
    for &metric in metric.metrics() {
        let found = search.walk(&space, metric, options.budget)?;
        let right = |at: usize| search.trials[at].score.right;
        best = match (best, found) {
            (Some(best), Some(found)) if right(found) > right(best) => Some(found),
            (best, found) => best.or(found),
        };
    }
    if options.one_standard_error {
        best = best.map(|best| search.sparsest(best));
    }
    let Some(best) = best.map(|at| search.trials[at].clone()) else {
        return Err(match search.last_error {
            _ if search.fits == 0 => Error::Usage(format!(
                "the budget is {} fits, but one setting takes {}, one a fold",
                options.budget,
                folds.len()
            )),
            Some(source) => Error::Method { context: method.name().to_owned(), source },
            None => out_of_reach(search.reached).into(),
        });
    };
    let mut changes = best.params.clone();
    if let Some(k) = best.nonzeros {
        changes.insert("nonzeros".to_owned(), Value::Integer(k as i64));
    }
    let mut chosen = overlay(method, &changes)?;
    if let Method::Men(men) | Method::MenAlpha0(men) = &mut chosen {
        (men.components, men.metric) = (Some(best.dimension), best.metric);
    }
    let (dimension, metric) = (best.dimension, best.metric);
    Ok(Tuned { method: chosen, dimension, metric, best, trials: search.trials, fits: search.fits })
}

/// How many turns sparse PCA is given while its parameters are searched: its axes still move after that, but which
/// setting is better is plain, and two hundred turns for each would take hours.
const SPCA_TURNS: usize = 5;

/// The method as it is fitted during the search: where paths hold every sparsity, with the largest.
fn for_search(method: &Method, variables: usize) -> Result<Method> {
    let number = |name: &str, value: usize| (name.to_owned(), Value::Integer(value as i64));
    let changes: Table = match method {
        // The number of variables is a step of the search, so it must be a number.
        Method::Spca(spca) => [
            number("iterations", SPCA_TURNS.min(spca.iterations)),
            number("nonzeros", spca.nonzeros.unwrap_or(100).min(variables)),
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

/// The longest paths that are looked at: as many variables as the user allows an axis, or a sensible number.
fn most_variables(method: &Method, variables: usize) -> Result<usize> {
    let own = fields(method)?.get("nonzeros").and_then(Value::as_integer);
    let own = own.and_then(|k| usize::try_from(k).ok());
    Ok(own.unwrap_or_else(|| largest_support(variables)).min(variables))
}

fn has_paths(method: &Method) -> bool {
    matches!(method, Method::Men(_) | Method::MenAlpha0(_) | Method::Spg(_))
}

struct Search<'a> {
    base: Method,
    data: &'a Dataset<'a>,
    dims: &'a [usize],
    metrics: &'a [Metric],
    folds: &'a [Split],
    /// The most variables an axis is tried with, for methods with paths.
    most: usize,
    monitor: &'a dyn Monitor,
    /// Settings tried, with the places of their trials.
    tried: Vec<(Table, Range<usize>)>,
    trials: Vec<Trial>,
    fits: usize,
    /// The largest dimension a fit had.
    reached: usize,
    last_error: Option<menet::Error>,
}

/// What a step must gain in merit.
const WORTH: f64 = 0.01;

impl Search<'_> {
    /// Coordinate search from the method's own parameters, by the merit under one metric: the place of the best trial found.
    fn walk(&mut self, space: &[Axis], metric: Metric, budget: usize) -> Result<Option<usize>> {
        let own = fields(&self.base)?;
        let mut current: Table = space
            .iter()
            .filter_map(|axis| Some((axis.name.to_owned(), own.get(axis.name)?.clone())))
            .collect();
        let Some(mut best) = self.attempt(&current, metric, budget)? else { return Ok(None) };
        loop {
            let before = best;
            for axis in space {
                // Up from here as long as it helps, else down.
                for up in [true, false] {
                    let mut moved = false;
                    while let Some(next) = step(&current, axis, up) {
                        let Some(found) = self.attempt(&next, metric, budget)? else { break };
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

    /// The place of the best trial of a setting under a metric, fitted if it is new and the budget allows; none if not, or it
    /// fails.
    fn attempt(&mut self, setting: &Table, metric: Metric, budget: usize) -> Result<Option<usize>> {
        let known = self.tried.iter().find(|(tried, _)| tried == setting).map(|(_, places)| places.clone());
        let places = match known {
            Some(places) => places,
            None if self.fits + self.folds.len() > budget => return Ok(None),
            None => self.fit(setting)?,
        };
        let of_metric = places.filter(|&at| self.trials[at].metric == metric);
        Ok(of_metric.reduce(|a, b| if self.trials[b].merit > self.trials[a].merit { b } else { a }))
    }

    /// Fits a setting on every fold: the places of its trials.
    fn fit(&mut self, setting: &Table) -> Result<Range<usize>> {
        if self.monitor.stop() {
            return Err(menet::Error::Stopped { stage: menet::Stage::Preprocess }.into());
        }
        let method = overlay(&self.base, setting)?;
        self.fits += self.folds.len();
        let found: menet::Result<Vec<FoldCells>> =
            self.folds.par_iter().map(|fold| self.cells(&method, fold)).collect();
        let start = self.trials.len();
        match found {
            Ok(folds) => self.record(setting, &folds),
            Err(stopped @ menet::Error::Stopped { .. }) => return Err(stopped.into()),
            // A setting at the edge of what the data allow is no reason to stop the search.
            Err(error) => self.last_error = Some(error),
        }
        let places = start..self.trials.len();
        self.tried.push((setting.clone(), places.clone()));
        Ok(places)
    }

    /// Everything one fit says about its fold.
    fn cells(&self, method: &Method, fold: &Split) -> menet::Result<FoldCells> {
        let train = subset(self.data, &fold.train)?;
        let test = subset(self.data, &fold.test)?;
        let most = self.dims.iter().copied().max();
        let reduced = method.reducer().fit(&train, most, self.monitor)?;
        let reached = reduced.projection.components();
        let (known, asked) = (classes_of(self.data, &fold.train), classes_of(self.data, &fold.test));
        let sizes: Vec<Option<usize>> = if has_paths(method) {
            sparsities(self.most).into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        let mut cells = Vec::new();
        for nonzeros in sizes {
            let projection = match nonzeros {
                Some(k) => reduced.at_nonzeros(k)?.unwrap_or_else(|| reduced.projection.clone()),
                None => reduced.projection.clone(),
            };
            if projection.components() == 0 {
                continue;
            }
            let (gallery, samples) = (projection.project(&train)?, projection.project(&test)?);
            for &metric in self.metrics {
                let found = scores(gallery.as_ref(), &known, samples.as_ref(), &asked, self.dims, metric)?;
                cells.extend(found.into_iter().map(|(dimension, score)| Cell {
                    nonzeros,
                    dimension,
                    metric,
                    score,
                }));
            }
        }
        Ok(FoldCells { cells, reached })
    }

    /// Adds up the folds; what is missing in one is left out.
    fn record(&mut self, setting: &Table, folds: &[FoldCells]) {
        let start = self.trials.len();
        self.reached = folds.iter().map(|fold| fold.reached).fold(self.reached, usize::max);
        for first in &folds[0].cells {
            let same: Vec<Score> = folds
                .iter()
                .filter_map(|fold| fold.cells.iter().find(|cell| cell.is_for(first)).map(|cell| cell.score))
                .collect();
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

    /// The merit of the trials from `start` on, which are those of one setting.
    fn judge(&mut self, start: usize) {
        let trials = &self.trials[start..];
        let dims: BTreeSet<usize> = trials.iter().map(|trial| trial.dimension).collect();
        let sizes: BTreeSet<Option<usize>> = trials.iter().map(|trial| trial.nonzeros).collect();
        let size = |trial: &Trial| sizes.range(..trial.nonzeros).count();
        // Where there are few dimensions, or few numbers of variables, each is a thing of its own.
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

/// What one fold says.
struct FoldCells {
    cells: Vec<Cell>,
    /// The dimension of its fit.
    reached: usize,
}

/// What one fold says of one sparsity, dimension and metric.
struct Cell {
    nonzeros: Option<usize>,
    dimension: usize,
    metric: Metric,
    score: Score,
}

impl Cell {
    fn is_for(&self, other: &Cell) -> bool {
        (self.nonzeros, self.dimension, self.metric) == (other.nonzeros, other.dimension, other.metric)
    }
}

/// The setting with one parameter moved a step along its values; none at the end.
fn step(setting: &Table, axis: &Axis, up: bool) -> Option<Table> {
    let now = setting.get(axis.name);
    let number = |value: Option<&Value>| match value {
        Some(Value::Float(x)) => Some(*x),
        Some(Value::Integer(x)) => Some(*x as f64),
        _ => None,
    };
    let exact = axis.values.iter().position(|value| value.as_ref() == now);
    // A value of the user's own lies between two of the list.
    let next = match exact {
        Some(at) if up => axis.values.get(at + 1),
        Some(at) => at.checked_sub(1).map(|at| &axis.values[at]),
        None if up => axis.values.iter().find(|value| number(value.as_ref()) > number(now)),
        None => axis.values.iter().rev().find(|value| number(value.as_ref()) < number(now)),
    }?;
    let mut moved = setting.clone();
    match next {
        Some(value) => moved.insert(axis.name.to_owned(), value.clone()),
        None => moved.remove(axis.name),
    };
    Some(moved)
}

/// The standard deviation with n−1; 0 of fewer than two.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    mean_and_sd(values).1.unwrap_or(0.0)
}
