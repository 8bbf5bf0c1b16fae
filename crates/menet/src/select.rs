//! Choosing settings by cross-validation.
//!
//! Within a fold, what does not change with a setting is computed once: neighbours and alignment for all settings, the target and
//! the reduced problem for all ridges, the paths for all sizes, refits, rules and metrics. So a search over hundreds of settings costs
//! little more than a few fits per fold, and every setting gets exactly what a fit of its own would give it.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::Mat;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{Split, subset};
use crate::fit::{Neighborhood, Prepared, Solved};
use crate::monitor::{Monitor, Stage, proceed};
use crate::panel::Reading;
use crate::params::MenParams;
use crate::projection::Projection;
use crate::refit::{Axes, Refit};
use crate::rules::{Metric, Priors, Projected, RuleKind, learn, learn_blunt};
use crate::scores::{ScoreKind, Scores, scores_of};

/// The values that are tried: all combinations, but for metrics that a rule does not look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Weights of the distance between embedding and projection.
    pub beta: Vec<f64>,
    /// Shrinkages of the target.
    pub target_shrinkage: Vec<f64>,
    /// Ridges.
    pub ridge: Vec<f64>,
    /// Sizes.
    pub sizes: Vec<Size>,
    /// Refits.
    pub refit: Vec<Refit>,
    /// Ridges of the refits `axis` and `panel`; none = that of the path.
    pub refit_ridge: Vec<Option<f64>>,
    /// Rules.
    pub rule: Vec<RuleKind>,
    /// Numbers of voters of the rule `nearest`.
    pub voters: Vec<usize>,
    /// Metrics of the rule `nearest`.
    pub metric: Vec<Metric>,
    /// Priors.
    pub priors: Vec<Priors>,
}

/// How many variables a model uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// At most so many per path.
    Nonzeros(usize),
    /// At most so many over all axes.
    Panel(usize),
    /// As the base parameters say.
    Base,
}

impl Grid {
    /// The values of `base` alone.
    pub fn of(base: &MenParams) -> Self {
        let rule = base.rule();
        Grid {
            beta: vec![base.beta],
            target_shrinkage: vec![base.target_shrinkage],
            ridge: vec![base.ridge()],
            sizes: vec![Size::Base],
            refit: vec![base.refit()],
            refit_ridge: vec![base.refit_ridge],
            rule: vec![rule.kind],
            voters: vec![rule.neighbors],
            metric: vec![rule.metric],
            priors: vec![rule.priors],
        }
    }

    /// How many times paths are computed in every fold.
    pub fn paths_per_fold(&self) -> usize {
        self.beta.len() * self.target_shrinkage.len() * self.ridge.len() * self.groups().len()
    }

    /// Every setting, in the order of the trials.
    pub fn settings(&self, base: &MenParams) -> Vec<MenParams> {
        let mut all = Vec::new();
        for prepared in self.prepared(base) {
            for solved in self.solved(&prepared) {
                for group in self.groups() {
                    for read in self.read(&solved, &group) {
                        all.extend(self.decided(&read));
                    }
                }
            }
        }
        all
    }

    /// The settings that need a reduced problem of their own.
    fn prepared(&self, base: &MenParams) -> Vec<MenParams> {
        let pairs = self.beta.iter().flat_map(|&beta| self.target_shrinkage.iter().map(move |&s| (beta, s)));
        pairs.map(|(beta, target_shrinkage)| MenParams { beta, target_shrinkage, ..base.clone() }).collect()
    }

    /// Of those, the settings that need paths of their own.
    fn solved(&self, prepared: &MenParams) -> Vec<MenParams> {
        self.ridge.iter().map(|&ridge| MenParams { ridge: Some(ridge), ..prepared.clone() }).collect()
    }

    /// Sizes that can be read off the same paths.
    fn groups(&self) -> Vec<Vec<Size>> {
        let kind = |size: &Size| std::mem::discriminant(size);
        let mut groups: Vec<Vec<Size>> = Vec::new();
        for size in &self.sizes {
            match groups.iter_mut().find(|group| kind(&group[0]) == kind(size)) {
                Some(group) => group.push(*size),
                None => groups.push(vec![*size]),
            }
        }
        groups
    }

    /// Of settings with paths, those that need axes of their own.
    fn read(&self, solved: &MenParams, group: &[Size]) -> Vec<MenParams> {
        let sized = group.iter().map(|size| match *size {
            Size::Nonzeros(k) => MenParams { nonzeros: Some(k), ..solved.clone() },
            Size::Panel(size) => MenParams { panel_size: Some(size), ..solved.clone() },
            Size::Base => solved.clone(),
        });
        let refits: Vec<(Refit, Option<f64>)> = self
            .refit
            .iter()
            .flat_map(|&refit| {
                let ridges = if refit.needs_gram() { &self.refit_ridge[..] } else { &self.refit_ridge[..1] };
                ridges.iter().map(move |&ridge| (refit, ridge))
            })
            .collect();
        let all = sized.flat_map(|sized| {
            refits.iter().map(move |&(refit, refit_ridge)| MenParams {
                refit: Some(refit),
                refit_ridge,
                ..sized.clone()
            })
        });
        all.collect()
    }

    /// Of settings with axes, all.
    fn decided(&self, read: &MenParams) -> Vec<MenParams> {
        let mut all = Vec::new();
        for &rule in &self.rule {
            let (voters, metric) = match rule {
                RuleKind::Nearest => (&self.voters[..], &self.metric[..]),
                RuleKind::Centroid | RuleKind::Gaussian => (&self.voters[..1], &self.metric[..1]),
            };
            for &voters in voters {
                for &metric in metric {
                    for priors in &self.priors {
                        let (rule, priors) = (Some(rule), priors.clone());
                        all.push(MenParams { rule, voters, metric: Some(metric), priors, ..read.clone() });
                    }
                }
            }
        }
        all
    }

    fn check(&self) -> Result<()> {
        let empty = [
            ("beta", self.beta.is_empty()),
            ("target_shrinkage", self.target_shrinkage.is_empty()),
            ("ridge", self.ridge.is_empty()),
            ("nonzeros", self.sizes.is_empty()),
            ("refit", self.refit.is_empty()),
            ("refit_ridge", self.refit_ridge.is_empty()),
            ("rule", self.rule.is_empty()),
            ("voters", self.voters.is_empty()),
            ("metric", self.metric.is_empty()),
            ("priors", self.priors.is_empty()),
        ];
        match empty.iter().find(|(_, empty)| *empty) {
            Some((name, _)) => Err(Error::parameter(name, "an empty list", "at least one value to try")),
            None => Ok(()),
        }
    }
}

/// One setting over all folds.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The setting.
    pub params: MenParams,
    /// What was found in every fold; empty if the setting cannot be fitted.
    pub folds: Vec<Scores>,
    /// How many variables the models of the folds use, on average.
    pub variables: f64,
    /// Why the setting cannot be fitted.
    pub failed: Option<Error>,
}

impl Trial {
    /// The mean over the folds of what the trial is compared by, larger being better.
    pub fn merit(&self, score: ScoreKind) -> f64 {
        let merits: Vec<f64> = self.folds.iter().map(|found| score.merit(found)).collect();
        if merits.is_empty() { f64::NEG_INFINITY } else { merits.iter().sum::<f64>() / merits.len() as f64 }
    }

    /// The standard error of that mean.
    pub fn standard_error(&self, score: ScoreKind) -> f64 {
        let merits: Vec<f64> = self.folds.iter().map(|found| score.merit(found)).collect();
        let (count, mean) = (merits.len() as f64, self.merit(score));
        if merits.len() < 2 {
            return 0.0;
        }
        let squares: f64 = merits.iter().map(|merit| (merit - mean) * (merit - mean)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }

    /// The mean log loss, by which equals are told apart.
    fn log_loss(&self) -> f64 {
        let losses: Vec<f64> = self.folds.iter().filter_map(|found| found.log_loss).collect();
        if losses.is_empty() { f64::INFINITY } else { losses.iter().sum::<f64>() / losses.len() as f64 }
    }
}

/// Tries every setting of a grid on every fold. `progress` is told how many paths of how many are done.
///
/// Where there are many samples, and `score` does not ask for probabilities, none are computed: the log loss and the AUC are then not known.
///
/// # Errors
/// When a list of the grid is empty, no setting can be fitted, or `monitor` asks to stop.
pub fn search(
    data: &Dataset<'_>,
    base: &MenParams,
    grid: &Grid,
    folds: &[Split],
    score: ScoreKind,
    monitor: &dyn Monitor,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Trial>> {
    grid.check()?;
    let (done, total) = (AtomicUsize::new(0), folds.len() * grid.paths_per_fold());
    let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    let found: Vec<Vec<Found>> = folds
        .par_iter()
        .map(|fold| Fold::new(data, fold, score)?.try_all(base, grid, monitor, &step))
        .collect::<Result<_>>()?;
    let settings = grid.settings(base);
    let mut trials: Vec<Trial> = settings
        .into_iter()
        .map(|params| Trial { params, folds: Vec::new(), variables: 0.0, failed: None })
        .collect();
    for of_fold in found {
        for (trial, found) in trials.iter_mut().zip(of_fold) {
            match found {
                Ok((scores, variables)) => {
                    trial.folds.push(scores);
                    trial.variables += variables as f64 / folds.len() as f64;
                }
                Err(error) => trial.failed = trial.failed.take().or(Some(error)),
            }
        }
    }
    for trial in trials.iter_mut().filter(|trial| trial.failed.is_some()) {
        trial.folds.clear();
    }
    match trials.iter().all(|trial| trial.failed.is_some()) {
        true => Err(trials
            .into_iter()
            .find_map(|trial| trial.failed)
            .unwrap_or_else(|| Error::Degenerate("there is no fold to try a setting on".to_owned()))),
        false => Ok(trials),
    }
}

/// The place of the best trial. Among equals the lower log loss decides, then the fewer variables, then the first. With
/// `one_standard_error`, of those no worse than the best by more than its standard error, the one with the fewest variables.
pub fn best(trials: &[Trial], score: ScoreKind, one_standard_error: bool) -> Option<usize> {
    let usable = || (0..trials.len()).filter(|&at| !trials[at].folds.is_empty());
    let better = |a: usize, b: usize| {
        let key = |at: usize| (trials[at].merit(score), -trials[at].log_loss(), -trials[at].variables);
        let (x, y) = (key(a), key(b));
        // Rounding does not choose.
        let close = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
        if !close(x.0, y.0) {
            return x.0 > y.0;
        }
        if close(x.1, y.1) { x.2 > y.2 } else { x.1 > y.1 }
    };
    let best = usable().reduce(|best, next| if better(next, best) { next } else { best })?;
    if !one_standard_error {
        return Some(best);
    }
    let least = trials[best].merit(score) - trials[best].standard_error(score);
    usable().filter(|&at| trials[at].merit(score) >= least).reduce(|best, next| {
        let (a, b) = (trials[next].variables, trials[best].variables);
        if a < b || (a == b && better(next, best)) { next } else { best }
    })
}

/// The place of the best trial, unless one with the settings of `own` does as well: the best of its sizes stays where nothing is better by
/// more than the standard error of the difference over the folds.
///
/// Scores of few samples are coarse, and the best of hundreds of settings is a lucky one. On faces this chose better for new samples
/// than the best alone.
pub fn best_or_own(trials: &[Trial], score: ScoreKind, own: &MenParams) -> Option<usize> {
    let top = best(trials, score, false)?;
    let rule = own.rule();
    let same = |params: &MenParams| {
        let other = params.rule();
        let same_rule = other.kind == rule.kind
            && (rule.kind != RuleKind::Nearest
                || (other.metric, other.neighbors) == (rule.metric, rule.neighbors));
        let same_refit = params.refit() == own.refit()
            && (!own.refit().needs_gram() || params.refit_ridge() == own.refit_ridge());
        same_rule
            && same_refit
            && (params.ridge(), params.beta, params.target_shrinkage)
                == (own.ridge(), own.beta, own.target_shrinkage)
            && params.priors == own.priors
    };
    let places: Vec<usize> = (0..trials.len()).filter(|&at| same(&trials[at].params)).collect();
    let of_own: Vec<Trial> = places.iter().map(|&at| trials[at].clone()).collect();
    let Some(at) = best(&of_own, score, false).map(|at| places[at]) else { return Some(top) };
    let pairs = trials[top].folds.iter().zip(&trials[at].folds);
    let gains: Vec<f64> = pairs.map(|(top, own)| score.merit(top) - score.merit(own)).collect();
    let (count, mean) = (gains.len() as f64, gains.iter().sum::<f64>() / gains.len().max(1) as f64);
    let squares: f64 = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum();
    let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    Some(if mean > error { top } else { at })
}

/// Scores and number of variables, or why there are none.
type Found = Result<(Scores, usize)>;

/// The training and test samples of a fold.
struct Fold {
    train: Dataset<'static>,
    test: Dataset<'static>,
    /// The classes of the test samples, and of the training set's classes, among those of all samples.
    truth: Vec<usize>,
    class_of: Vec<usize>,
    classes: usize,
    /// Whether probabilities are computed.
    probabilities: bool,
}

/// With so many training samples probabilities are computed whether the score asks for them or not: they tell equals apart.
const FEW: usize = 500;

impl Fold {
    fn new(data: &Dataset<'_>, fold: &Split, score: ScoreKind) -> Result<Self> {
        let (train, test) = (subset(data, &fold.train)?, subset(data, &fold.test)?);
        let place = |name: &String| data.classes().iter().position(|other| other == name).unwrap_or(0);
        let class_of = train.classes().iter().map(place).collect();
        let truth = fold.test.iter().map(|&i| data.class_of(i)).collect();
        let probabilities = score.needs_probabilities() || train.samples() <= FEW;
        Ok(Fold { train, test, truth, class_of, classes: data.classes().len(), probabilities })
    }

    fn try_all(
        &self,
        base: &MenParams,
        grid: &Grid,
        monitor: &dyn Monitor,
        step: &(dyn Fn() + Sync),
    ) -> Result<Vec<Found>> {
        let quiet = Quiet(monitor);
        let neighborhood = Neighborhood::new(&self.train, base, &quiet)?;
        let mut all = Vec::new();
        for params in grid.prepared(base) {
            let prepared = Prepared::new(&self.train, &params, &neighborhood, &quiet);
            for params in grid.solved(&params) {
                for group in grid.groups() {
                    proceed(monitor, Stage::Lars)?;
                    let settings = grid.read(&params, &group);
                    let found = prepared
                        .as_ref()
                        .map_err(Clone::clone)
                        .and_then(|prepared| self.try_sizes(prepared, grid, &settings, &quiet));
                    match found {
                        Ok(found) => all.extend(found),
                        Err(stopped @ Error::Stopped { .. }) => return Err(stopped),
                        // A setting at the edge of what the data allow is no reason to stop the search.
                        Err(error) => {
                            let count = settings.iter().map(|read| grid.decided(read).len()).sum();
                            all.extend((0..count).map(|_| Err(error.clone())));
                        }
                    }
                    step();
                }
            }
        }
        Ok(all)
    }

    /// All that can be read off paths that reach as far as the largest of the settings needs.
    fn try_sizes(
        &self,
        prepared: &Prepared<'_>,
        grid: &Grid,
        settings: &[MenParams],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Found>> {
        let largest = |a: &MenParams, b: &MenParams| {
            (a.refit().shares_panel(), a.panel_size, a.nonzeros)
                > (b.refit().shares_panel(), b.panel_size, b.nonzeros)
        };
        let Some(longest) = settings.iter().reduce(|a, b| if largest(b, a) { b } else { a }) else {
            return Ok(Vec::new());
        };
        let solved = prepared.solve(longest, monitor)?;
        let gaussian = grid.rule.contains(&RuleKind::Gaussian);
        let smallest = settings.iter().filter_map(|params| params.panel_size).min();
        let mut eliminations: Vec<(usize, crate::refit::Elimination)> = Vec::new();
        let mut all = Vec::new();
        for params in settings {
            proceed(monitor, Stage::Refit)?;
            let rule = if gaussian { Some(RuleKind::Gaussian) } else { Some(RuleKind::Nearest) };
            let asked = MenParams { rule, ..params.clone() };
            let axes = match (params.panel_size, smallest) {
                (Some(size), Some(smallest)) if params.refit().shares_panel() => {
                    let start = crate::panel::candidates(size);
                    let known = eliminations.iter().position(|(of, _)| *of == start);
                    let made = match known {
                        Some(at) => Ok(at),
                        None => {
                            let least = smallest.min(size);
                            solved.eliminate_from(start, least, &asked).map(|made| {
                                eliminations.push((start, made));
                                eliminations.len() - 1
                            })
                        }
                    };
                    made.and_then(|at| solved.on_panel(&eliminations[at].1, size, &asked))
                }
                _ => self.read(&solved, &asked),
            };
            let decided = grid.decided(params);
            match axes.and_then(|axes| self.decide(&axes, prepared, &decided)) {
                Ok(found) => all.extend(found),
                Err(error) => all.extend(decided.iter().map(|_| Err(error.clone()))),
            }
        }
        Ok(all)
    }

    fn read(&self, solved: &Solved<'_>, params: &MenParams) -> Result<Axes> {
        let reading = Reading { nonzeros: params.nonzeros, panel_size: params.panel_size, components: None };
        solved.read(reading, params)
    }

    /// The scores of every rule on the same axes.
    fn decide(&self, axes: &Axes, prepared: &Prepared<'_>, settings: &[MenParams]) -> Result<Vec<Found>> {
        let projection = Projection::new(prepared.problem().mean().to_vec(), axes.axes.clone())?;
        let (gallery, z) = (projection.project(&self.train)?, projection.project(&self.test)?);
        let projected = Projected {
            z: gallery.as_ref(),
            classes: self.train.class_indices(),
            count: self.train.classes().len(),
            covariance: axes.covariance.as_ref().map(Mat::as_ref),
        };
        let one = |params: &MenParams| {
            let rule = params.rule_for(axes.axes.len());
            let rule =
                if self.probabilities { learn(&rule, &projected)? } else { learn_blunt(&rule, &projected)? };
            let given: Vec<usize> =
                rule.classify(z.as_ref())?.into_iter().map(|class| self.class_of[class]).collect();
            if !self.probabilities {
                return Ok((scores_of(&self.truth, &given, self.classes, None)?, axes.panel.len()));
            }
            let known = rule.log_probabilities(z.as_ref())?;
            let mut all = Mat::from_fn(z.nrows(), self.classes, |_, _| f64::NEG_INFINITY);
            for (k, &class) in self.class_of.iter().enumerate() {
                all.col_mut(class).copy_from(known.col(k));
            }
            let scores = scores_of(&self.truth, &given, self.classes, Some(all.as_ref()))?;
            Ok((scores, axes.panel.len()))
        };
        Ok(settings.iter().map(one).collect())
    }
}

/// Passes on the wish to stop, and no progress: many fits run at once.
struct Quiet<'a>(&'a dyn Monitor);

impl Monitor for Quiet<'_> {
    fn stop(&self) -> bool {
        self.0.stop()
    }
}
