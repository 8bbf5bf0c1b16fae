//! The walk: how the parameters of every method but MEN are searched.
//!
//! The search begins at the method's own parameters and walks: one parameter after the other, from the most to the least
//! important, is moved a step up or down its list of values ([`crate::space`]), and stays where that is worth it. It ends
//! where no step is, or at the budget. One fit per fold serves every dimension and, for methods with paths, every sparsity and
//! every metric, so those are compared in full for every setting tried.
//!
//! Rates of small sets are coarse: a sample more or less right is often the whole difference between two settings, and the
//! best of many coarse numbers is a lucky one. So what is compared is the *merit* of a trial: its rate, averaged with those
//! of neighbouring dimensions (up to two on either side) and numbers of variables (one), where there are many, plus half
//! the mean margin ([`Score::margin`]), which moves with every sample; and a step is taken only if it gains 0.01. On the face sets
//! this chose mostly better for the test samples than the plain rate did, by up to two points. Margins of different metrics cannot be
//! compared: each metric has a walk of its own, over the same fits, and between the two the rate decides.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use menet::evaluate::{Score, Split, classes_of, scores, subset};
use menet::rules::Metric;
use menet::sparse::SparseVector;
use menet::{Dataset, Method};
use rayon::prelude::*;
use toml::{Table, Value};

use super::{Found, Tuned, too_small};
use crate::cell::out_of_reach;
use crate::curves::mean_and_sd;
use crate::error::{Error, Result};
use crate::params::{fields, overlay};
use crate::progress::{Left, Progress, Quiet, Status, proportional};
use crate::protocol::{MetricChoice, TuneOptions};
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

/// Searches the parameters of `method` on the folds of `data`.
///
/// # Errors
/// When no setting can be fitted, or `progress` asks to stop.
pub(super) fn walk(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<Tuned> {
    let space = default_space(method, data, options.folds);
    let mut search = Search {
        base: for_search(method, data.variables())?,
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
    if options.one_standard_error {
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
    let found = Found::Walk { best, trials: search.trials };
    Ok(Tuned { method: chosen, dimension, metric, found, fits: search.fits, men: None })
}

/// How many turns sparse PCA is given while its parameters are searched: its axes still move after that, but which
/// setting is better is plain, and two hundred turns for each would take hours.
const SPCA_TURNS: usize = 5;

/// Where the search for its number of variables begins unless the user says otherwise, whatever its default is.
const SPCA_START: usize = 100;

/// The method as it is fitted during the search: where paths hold every sparsity, with the largest.
fn for_search(method: &Method, variables: usize) -> Result<Method> {
    let number = |name: &str, value: usize| (name.to_owned(), Value::Integer(value as i64));
    let changes: Table = match method {
        // The number of variables is a step of the search, so it must be a number.
        Method::Spca(spca) => [
            number("iterations", SPCA_TURNS.min(spca.iterations)),
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

/// The longest paths that are looked at: as many variables as the user allows an axis, or a sensible number.
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
    data: &'a Dataset<'a>,
    dims: &'a [usize],
    metrics: &'a [Metric],
    folds: &'a [Split],
    /// The most variables an axis is tried with, for methods with paths.
    most: usize,
    progress: &'a dyn Progress,
    /// The most fits there may be.
    budget: usize,
    began: Instant,
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
    fn walk(&mut self, space: &[Axis], metric: Metric) -> Result<Option<usize>> {
        let own = fields(&self.base)?;
        let mut current: Table = space
            .iter()
            .filter_map(|axis| Some((axis.name.to_owned(), own.get(axis.name)?.clone())))
            .collect();
        let Some(mut best) = self.attempt(&current, metric, "the first setting")? else { return Ok(None) };
        loop {
            let before = best;
            for axis in space {
                // Up from here as long as it helps, else down.
                for up in [true, false] {
                    let mut moved = false;
                    while let Some(next) = step(&current, axis, up) {
                        let value = next.get(axis.name).map_or("default".to_owned(), Value::to_string);
                        let what = format!("{} = {value}", axis.name);
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

    /// The place of the best trial of a setting under a metric, fitted if it is new and the budget allows; none if not, or it
    /// fails.
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

    /// Fits a setting on every fold: the places of its trials. `what` tells the user how it differs from the last.
    fn fit(&mut self, setting: &Table, what: &str) -> Result<Range<usize>> {
        if self.progress.stop() {
            return Err(menet::Error::Stopped { stage: menet::Stage::Preprocess }.into());
        }
        let method = overlay(&self.base, setting)?;
        let finished = AtomicUsize::new(self.fits);
        self.tell(what, self.fits);
        let of_fold = |fold: &Split| {
            let cells = self.cells(&method, fold);
            self.tell(what, finished.fetch_add(1, Ordering::Relaxed) + 1);
            cells
        };
        let found: menet::Result<Vec<FoldCells>> = self.folds.par_iter().map(of_fold).collect();
        self.fits += self.folds.len();
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

    /// Tells what is tried now, and how many fits are finished. The search may end before the budget does.
    fn tell(&self, what: &str, finished: usize) {
        let left = proportional(self.began.elapsed(), finished, self.budget).map(Left::AtMost);
        let now = format!("trying {what}");
        self.progress.status(Status { now, done: finished, total: self.budget, left });
    }

    /// Everything one fit says about its fold.
    fn cells(&self, method: &Method, fold: &Split) -> menet::Result<FoldCells> {
        let train = subset(self.data, &fold.train)?;
        let test = subset(self.data, &fold.test)?;
        let most = self.dims.iter().copied().max();
        let reduced = method.reducer().fit(&train, most, &Quiet(self.progress))?;
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
                cells.extend(found.into_iter().map(|(dimension, score)| Cell {
                    nonzeros,
                    dimension,
                    metric,
                    score,
                }));
            }
        }
        Ok(FoldCells { cells, reached, most_size })
    }

    /// Adds up the folds; what is missing in one is left out.
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
    /// The largest number of variables its cells are for, for methods with paths: more would be the same model.
    most_size: Option<usize>,
}

impl FoldCells {
    /// The score at the place of another fold's cell.
    fn score_like(&self, other: &Cell) -> Option<Score> {
        let nonzeros = other.nonzeros.min(self.most_size);
        let place = (nonzeros, other.dimension, other.metric);
        self.cells
            .iter()
            .find(|cell| (cell.nonzeros, cell.dimension, cell.metric) == place)
            .map(|cell| cell.score)
    }
}

/// The sizes up to the first that is not below `used`: a path that ends with so many variables holds no larger model.
fn up_to(mut sizes: Vec<usize>, used: usize) -> Vec<usize> {
    let enough = sizes.iter().position(|&k| k >= used).map_or(sizes.len(), |at| at + 1);
    sizes.truncate(enough);
    sizes
}

/// What one fold says of one sparsity, dimension and metric.
struct Cell {
    nonzeros: Option<usize>,
    dimension: usize,
    metric: Metric,
    score: Score,
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
fn deviation(values: &[f64]) -> f64 {
    mean_and_sd(values).1.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_begin_at_one_and_end_where_the_path_does() {
        assert_eq!(sparsities(12), [1, 2, 3, 5, 10, 12]);
        assert_eq!((sparsities(1), sparsities(2)), (vec![1], vec![1, 2]));
        assert_eq!(up_to(sparsities(200), 7), [1, 2, 3, 5, 10]);
        assert_eq!(up_to(sparsities(200), 10), [1, 2, 3, 5, 10]);
        assert_eq!(up_to(sparsities(12), 30), sparsities(12));
    }

    #[test]
    fn a_fold_whose_path_ended_earlier_answers_with_its_last_model() {
        let cell = |nonzeros, right| Cell {
            nonzeros: Some(nonzeros),
            dimension: 1,
            metric: Metric::Euclidean,
            score: Score { right, tested: 9, margin: 0.0 },
        };
        let fold = FoldCells { cells: vec![cell(1, 3), cell(2, 5)], reached: 1, most_size: Some(2) };
        let right = |k| fold.score_like(&cell(k, 0)).map(|score| score.right);
        assert_eq!((right(1), right(2), right(5)), (Some(3), Some(5), Some(5)));
    }
}
