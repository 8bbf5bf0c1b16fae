//! All settings on one fold.

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::grid::Grid;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{Split, halves};
use crate::fit::{Neighborhood, Prepared};
use crate::monitor::{Monitor, QuietMonitor, Stage, proceed};
use crate::panel::candidates;
use crate::params::MenParams;
use crate::prepare::PrepareParams;
use crate::projection::Projection;
use crate::refit::{Axes, Elimination};
use crate::rules::{LearnedRule, Projected, RuleKind, RuleParams, learn, learn_blunt};
use crate::scores::{ScoreKind, Scores, weighted_scores};
use crate::solved::SolvedPaths;

/// What was found of a setting, or why there is nothing.
pub(super) type SettingResult = Result<SettingOutcome>;

/// What was found of a setting.
pub(super) struct SettingOutcome {
    pub(super) scores: Scores,
    pub(super) panel: Vec<usize>,
    /// The parameters and samples to compute probabilities with, if that can be asked for later.
    pub(super) later: Option<(RuleParams, Arc<ProjectedFold>)>,
}

/// Training and test samples on the same axes.
pub(super) struct ProjectedFold {
    gallery: Mat<f64>,
    z: Mat<f64>,
    covariance: Option<Mat<f64>>,
}

/// The training and test samples of a fold.
pub(super) struct Fold {
    train: Dataset<'static>,
    test: Dataset<'static>,
    /// The variables that every test sample lacks, rising; empty where nothing is missing.
    lacking: Vec<Vec<usize>>,
    /// The classes of the test samples, and of the training set's classes, among those of all samples.
    truth: Vec<usize>,
    /// The weights of the test samples, if there are any.
    weights: Option<Vec<f64>>,
    class_of: Vec<usize>,
    classes: usize,
    /// Whether probabilities are computed for all settings, or later for those that are asked for.
    probabilities: bool,
}

impl Fold {
    /// Samples are prepared by what the training samples say.
    pub(super) fn new(
        data: &Dataset<'_>,
        fold: &Split,
        prepare: &PrepareParams,
        score: ScoreKind,
    ) -> Result<Self> {
        let (train, test) = halves(data, fold, prepare)?;
        let train = train.into_distinct();
        let lacking = if data.first_missing().is_some() { data.missing_of(&fold.test) } else { Vec::new() };
        let place = |name: &String| data.classes().iter().position(|other| other == name).unwrap_or(0);
        let class_of = train.classes().iter().map(place).collect();
        let truth = fold.test.iter().map(|&i| data.class_of(i)).collect();
        let weights = data.weights().map(|weights| fold.test.iter().map(|&i| weights[i]).collect());
        Ok(Fold {
            train,
            test,
            lacking,
            truth,
            weights,
            class_of,
            classes: data.classes().len(),
            probabilities: score.needs_probabilities(),
        })
    }

    pub(super) fn try_all(
        &self,
        base: &MenParams,
        grid: &Grid,
        monitor: &dyn Monitor,
        step: &(dyn Fn() + Sync),
    ) -> Result<Vec<SettingResult>> {
        let quiet = QuietMonitor(monitor);
        // The samples of the fold are prepared.
        let base = &base.clone().prepared();
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
    ) -> Result<Vec<SettingResult>> {
        let largest = |a: &MenParams, b: &MenParams| {
            (a.refit.kind().shares_panel(), a.panel_size, a.nonzeros)
                > (b.refit.kind().shares_panel(), b.panel_size, b.nonzeros)
        };
        let Some(longest) = settings.iter().reduce(|a, b| if largest(b, a) { b } else { a }) else {
            return Ok(Vec::new());
        };
        let solved = longest.reads_off().then(|| prepared.solve(longest, monitor)).transpose()?;
        let smallest = settings.iter().filter_map(|params| params.panel_size).min();
        let mut shared = SharedFit { prepared, solved, longest, smallest, orders: Vec::new() };
        let gaussian = grid.rule.contains(&RuleKind::Gaussian);
        let mut all = Vec::new();
        for params in settings {
            proceed(monitor, Stage::Refit)?;
            let rule = if gaussian { Some(RuleKind::Gaussian) } else { Some(RuleKind::Nearest) };
            let asked = params.clone().with(|it| it.rule.kind = rule);
            let decided = grid.decided(params);
            let axes = shared.axes(&asked, monitor);
            match axes.and_then(|axes| self.decide(&axes, prepared, &decided)) {
                Ok(found) => all.extend(found),
                Err(stopped @ Error::Stopped { .. }) => return Err(stopped),
                Err(error) => all.extend(decided.iter().map(|_| Err(error.clone()))),
            }
        }
        Ok(all)
    }

    /// The scores of every rule on the same axes.
    fn decide(
        &self,
        axes: &Axes,
        prepared: &Prepared<'_>,
        settings: &[MenParams],
    ) -> Result<Vec<SettingResult>> {
        let projection = Projection::new(prepared.problem().mean().to_vec(), axes.axes.clone())?;
        let (gallery, mut z) = (projection.project(&self.train)?, projection.project(&self.test)?);
        // As a model projects samples of which nothing is known.
        let unknown = |lacking: &Vec<usize>| {
            !axes.panel.is_empty() && axes.panel.iter().all(|j| lacking.binary_search(j).is_ok())
        };
        let unknown = self.lacking.iter().enumerate().filter(|(_, lacking)| unknown(lacking));
        unknown.for_each(|(i, _)| z.row_mut(i).fill(f64::NAN));
        let space = Arc::new(ProjectedFold { gallery, z, covariance: axes.covariance.clone() });
        let one = |params: &MenParams| {
            let rule = params.rule.on(axes.axes.len());
            let panel = axes.panel.clone();
            if self.probabilities {
                let scores = self.with_probabilities(&rule, &space)?;
                return Ok(SettingOutcome { scores, panel, later: None });
            }
            let given = self.given(&learn_blunt(&rule, &self.projected(&space))?, &space)?;
            let scores = self.scores(&given, None)?;
            let later = Some((rule, Arc::clone(&space)));
            Ok(SettingOutcome { scores, panel, later })
        };
        Ok(settings.iter().map(one).collect())
    }

    /// The scores of a rule, with those that need probabilities.
    pub(super) fn with_probabilities(&self, rule: &RuleParams, space: &ProjectedFold) -> Result<Scores> {
        let rule = learn(rule, &self.projected(space))?;
        let given = self.given(&rule, space)?;
        let known = rule.log_probabilities(space.z.as_ref())?;
        let mut all = Mat::from_fn(space.z.nrows(), self.classes, |_, _| f64::NEG_INFINITY);
        for (k, &class) in self.class_of.iter().enumerate() {
            all.col_mut(class).copy_from(known.col(k));
        }
        self.scores(&given, Some(all.as_ref()))
    }

    fn scores(&self, given: &[usize], logs: Option<MatRef<'_, f64>>) -> Result<Scores> {
        weighted_scores(&self.truth, given, self.classes, logs, self.weights.as_deref())
    }

    fn projected<'a>(&'a self, space: &'a ProjectedFold) -> Projected<'a> {
        Projected {
            z: space.gallery.as_ref(),
            classes: self.train.class_indices(),
            count: self.train.classes().len(),
            weights: self.train.weights(),
            covariance: space.covariance.as_ref().map(Mat::as_ref),
        }
    }

    /// The classes that a rule gives to the test samples, among those of all samples.
    fn given(&self, rule: &LearnedRule, space: &ProjectedFold) -> Result<Vec<usize>> {
        Ok(rule.classify(space.z.as_ref())?.into_iter().map(|class| self.class_of[class]).collect())
    }
}

/// What settings share that differ in their size and refit alone.
struct SharedFit<'a> {
    prepared: &'a Prepared<'a>,
    /// The paths of the longest setting; none if every size needs paths of its own.
    solved: Option<SolvedPaths<'a>>,
    longest: &'a MenParams,
    /// The smallest panel.
    smallest: Option<usize>,
    /// In which order candidates are dropped: so many, from paths with such a limit.
    orders: Vec<((usize, Option<usize>), Elimination)>,
}

impl SharedFit<'_> {
    /// The axes of a fit with `params`.
    fn axes(&mut self, params: &MenParams, monitor: &dyn Monitor) -> Result<Axes> {
        let held = self.solved.as_ref().map(|solved| solved.held(self.longest, params)).transpose()?;
        // Where the shared paths do not hold a setting, it has its own.
        let own;
        let (solved, paths) = match (&self.solved, held.flatten()) {
            (Some(solved), Some(paths)) => (solved, paths),
            _ => {
                own = self.prepared.solve(params, monitor)?;
                (&own, own.paths().to_vec())
            }
        };
        let Some(size) = params.panel_size.filter(|_| params.eliminates()) else {
            return solved.axes_of(&paths, None, params);
        };
        let of = (candidates(size), params.nonzeros);
        let known = self.orders.iter().position(|(other, _)| *other == of);
        let at = match known {
            Some(at) => at,
            None => {
                let least = self.smallest.map_or(size, |smallest| smallest.min(size));
                self.orders.push((of, solved.eliminate_from(&paths, of.0, (least, params))?));
                self.orders.len() - 1
            }
        };
        solved.axes_of(&paths, Some(&self.orders[at].1), params)
    }
}
