//! The grid: how the parameters of MEN and its variants are searched.
//!
//! [`menet::select`] reads every size, refit, rule and metric from one path per fold, so these are compared in full for every
//! setting that needs its own paths. There are three passes over such settings, each within the budget:
//!
//! 1. every ridge, at the initial β and target shrinkage of the method;
//! 2. every β and target shrinkage, at the best ridge;
//! 3. the neighbours of the best setting: one step of β, target shrinkage or ridge up or down, and the sizes next to the best
//!    one, as long as something better is found.

mod columns;
mod settings;
mod sizes;

use std::time::Instant;

use menet::evaluate::Split;
use menet::refit::Refit;
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::select::{self, Grid, ModelSize, Trial, TrialChoice};
use menet::targets::TargetKind;
use menet::{Dataset, Error as CoreError, MenParams, Method, Named};

use super::{TuningResult, TuningTrials, too_small};
use crate::cell::out_of_reach;
use crate::error::{Error, Result};
use crate::progress::{Progress, QuietProgress, Status, TimeLeft, proportional};
use crate::protocol::TuneOptions;
pub(crate) use columns::{COLUMNS, cells};
use settings::{PathSetting, by_problem, near, with};
pub use sizes::SIZES;
use sizes::{beside, sizes};

/// The ridges of the first pass.
const RIDGES: [f64; 5] = [0.03, 0.3, 1.0, 3.0, 10.0];
/// The values of β and of the target shrinkage of the second pass.
const BETAS: [f64; 3] = [1.0, 10.0, 100.0];
const SHRINKAGES: [f64; 3] = [0.1, 1.0, 10.0];

/// The trials of the grid.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The score that was tuned for.
    pub score: ScoreKind,
    /// Which of the models that are good enough was chosen.
    pub choose: TrialChoice,
    /// All trials, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// The index of the chosen trial.
    pub chosen: usize,
}

impl Selection {
    /// The chosen trial.
    pub fn best(&self) -> &Trial {
        &self.trials[self.chosen]
    }

    /// The trials that could be fitted.
    pub fn usable(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| !trial.folds.is_empty())
    }
}

/// The mean of a score over the folds of a trial; none if unknown.
pub fn mean(trial: &Trial, score: ScoreKind) -> Option<f64> {
    let merit = trial.merit(score);
    let value = if score == ScoreKind::LogLoss { -merit } else { merit };
    value.is_finite().then_some(value)
}

/// Chooses the parameters of a variant of MEN, starting from its `own`.
///
/// # Errors
/// When the budget is too small, no setting can be fitted, none of `dims` is possible, or `progress` asks to stop.
pub(super) fn select(
    method: &Method,
    own: &MenParams,
    data: &Dataset<'_>,
    dims: &[usize],
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<TuningResult> {
    let limit = own.components.unwrap_or(usize::MAX).min(data.classes().len() - 1);
    let mut search = Search::new(own, data, options, folds, progress);
    let largest = largest(dims, limit)?;
    search.base.components = if largest == limit { own.components } else { Some(largest) };
    let first = match search.first_pass() {
        // The data have fewer axes than the classes allow, which is known before any path is computed.
        Err(Error::Core(CoreError::Components { limit, .. })) if limit > 0 => {
            search = Search::new(own, data, options, folds, progress);
            search.base.components = Some(self::largest(dims, limit)?);
            search.first_pass()
        }
        done => done,
    };
    first.map_err(|error| match error {
        Error::Core(source) if !matches!(source, CoreError::Stopped { .. }) => {
            Error::Method { context: method.name().to_owned(), source }
        }
        other => other,
    })?;
    search.second_pass()?;
    search.third_pass()?;
    search.finish(method, own, dims)
}

/// The largest of `dims` that is possible.
fn largest(dims: &[usize], limit: usize) -> Result<usize> {
    Ok(dims.iter().copied().filter(|&d| d <= limit).max().ok_or_else(|| out_of_reach(limit))?)
}

struct Search<'a> {
    /// The parameters that are not searched.
    base: MenParams,
    /// The lists of values that every path serves.
    grid: Grid,
    /// Whether the user gave the sizes.
    given_sizes: bool,
    data: &'a Dataset<'a>,
    options: &'a TuneOptions,
    folds: &'a [Split],
    progress: &'a dyn Progress,
    began: Instant,
    tried: Vec<PathSetting>,
    trials: Vec<Trial>,
    fits: usize,
}

impl<'a> Search<'a> {
    fn new(
        own: &MenParams,
        data: &'a Dataset<'a>,
        options: &'a TuneOptions,
        folds: &'a [Split],
        progress: &'a dyn Progress,
    ) -> Self {
        let p = data.variables();
        let mut base = own.clone();
        let sizes = sizes(own, options, p);
        // The list of sizes replaces these limits. A limit per path stays in force for panel sizes.
        base.panel_size = None;
        if sizes.iter().any(|size| matches!(size, ModelSize::Nonzeros(_))) {
            base.nonzeros = None;
        }
        let paper = own.refit.kind == Some(Refit::None) && own.rule.kind.is_some();
        let refit = match (options.refit.is_empty(), paper) {
            (false, _) => options.refit.clone(),
            (true, true) => vec![own.refit.kind()],
            (true, false) => with(&[Refit::None, Refit::Panel, Refit::Discriminant], own.refit.kind()),
        };
        let rule = match (options.rule.is_empty(), paper) {
            (false, _) => options.rule.clone(),
            (true, true) => vec![own.rule.on_several().kind],
            (true, false) => RuleKind::ALL.to_vec(),
        };
        let metric = if options.metrics.is_empty() { Metric::ALL.to_vec() } else { options.metrics.clone() };
        let refit_ridge = match own.refit.ridge {
            Some(ridge) => vec![Some(ridge)],
            None => vec![None, Some(0.3), Some(3.0)],
        };
        let grid = Grid::of(own).with(|it| {
            it.sizes = sizes;
            it.refit = refit;
            it.refit_ridge = refit_ridge;
            it.rule = rule;
            it.metric = metric;
        });
        let given_sizes = !options.nonzeros.is_empty() || !options.panel_size.is_empty();
        Search {
            base,
            grid,
            given_sizes,
            data,
            options,
            folds,
            progress,
            began: Instant::now(),
            tried: Vec::new(),
            trials: Vec::new(),
            fits: 0,
        }
    }

    /// Every ridge, starting with those nearest to the ridge of the method.
    fn first_pass(&mut self) -> Result<()> {
        let (own, beta, target_shrinkage) =
            (self.base.ridge(), self.base.manifold.beta, self.base.target.shrinkage);
        let mut ridges = with(&RIDGES, own);
        // A ridge of 0 is nearest to the smallest one.
        let far = |ridge: f64| if ridge == own { -1.0 } else { (ridge.max(1e-9) / own.max(1e-9)).ln().abs() };
        ridges.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        let settings = ridges.into_iter().map(|ridge| PathSetting { beta, target_shrinkage, ridge });
        let (settings, sizes) = (settings.collect::<Vec<_>>(), self.grid.sizes.clone());
        if self.affordable(&sizes) == 0 {
            return Err(too_small(self.options.budget, self.price(&sizes)));
        }
        self.attempt(&settings, &sizes, "every ridge")
    }

    /// Every β and target shrinkage at the best ridge. Settings that change only one of them come first.
    fn second_pass(&mut self) -> Result<()> {
        let Some(best) = self.best() else { return Ok(()) };
        let (betas, shrinkages) =
            (self.betas(&BETAS, best.beta), self.shrinkages(&SHRINKAGES, best.target_shrinkage));
        let mut settings = Vec::new();
        for &beta in &betas {
            for &target_shrinkage in &shrinkages {
                settings.push(PathSetting { beta, target_shrinkage, ..best });
            }
        }
        settings.sort_by_key(|setting| {
            setting.beta != best.beta && setting.target_shrinkage != best.target_shrinkage
        });
        let sizes = self.grid.sizes.clone();
        self.attempt(&settings, &sizes, "every beta and target shrinkage")
    }

    /// The neighbours of the best setting, until none is better.
    fn third_pass(&mut self) -> Result<()> {
        let mut sizes = self.grid.sizes.clone();
        while let (Some(best), Some(at)) = (self.best(), self.best_place()) {
            let beside: Vec<ModelSize> = self
                .sizes_beside(&self.trials[at].params)
                .into_iter()
                .filter(|size| !sizes.contains(size))
                .collect();
            if !beside.is_empty() {
                // Compute the paths of the best setting again, for the new sizes only.
                self.tried.retain(|tried| *tried != best);
                self.attempt(&[best], &beside, "sizes next to the best")?;
                sizes.extend(beside);
            }
            let ridges = near(best.ridge).into_iter().map(|ridge| PathSetting { ridge, ..best });
            let shrinkages = self.shrinkages(&near(best.target_shrinkage), best.target_shrinkage).into_iter();
            let betas = self.betas(&near(best.beta), best.beta).into_iter();
            let settings: Vec<PathSetting> = ridges
                .chain(shrinkages.map(|target_shrinkage| PathSetting { target_shrinkage, ..best }))
                .chain(betas.map(|beta| PathSetting { beta, ..best }))
                .collect();
            let before = self.trials.len();
            self.attempt(&settings, &sizes, "neighbours of the best")?;
            if self.trials.len() == before || self.best_place().is_none_or(|now| now < before) {
                break;
            }
        }
        Ok(())
    }

    /// The values of β to try; without a manifold term β has no effect.
    fn betas(&self, values: &[f64], own: f64) -> Vec<f64> {
        if self.base.manifold.alpha == 0.0 { vec![own] } else { with(values, own) }
    }

    /// The target shrinkages to try; only the whitened target has one.
    fn shrinkages(&self, values: &[f64], own: f64) -> Vec<f64> {
        if self.base.target.kind == TargetKind::Whitened { with(values, own) } else { vec![own] }
    }

    /// The sizes halfway to the next on either side; none if the user gave the sizes.
    fn sizes_beside(&self, params: &MenParams) -> Vec<ModelSize> {
        if self.given_sizes { Vec::new() } else { beside(&self.grid.sizes, params) }
    }

    /// Tries the new settings, as many as the budget allows. A setting that fails does not stop the search, unless nothing was
    /// found so far.
    fn attempt(&mut self, settings: &[PathSetting], sizes: &[ModelSize], what: &str) -> Result<()> {
        let mut new: Vec<PathSetting> =
            settings.iter().copied().filter(|setting| !self.tried.contains(setting)).collect();
        new.truncate(self.affordable(sizes));
        // Settings with the same β and the same ridges share the neighbours and the alignment of every fold.
        let mut calls: Vec<Grid> = Vec::new();
        for shared in by_problem(&new) {
            let same = |grid: &&mut Grid| grid.beta == [shared.0.beta] && grid.ridge == shared.1;
            match calls.iter_mut().find(same) {
                Some(grid) => grid.target_shrinkage.push(shared.0.target_shrinkage),
                None => calls.push(self.grid.clone().with(|it| {
                    it.beta = vec![shared.0.beta];
                    it.target_shrinkage = vec![shared.0.target_shrinkage];
                    it.ridge = shared.1;
                    it.sizes = sizes.to_vec();
                })),
            }
        }
        self.tried.extend(&new);
        let mut last = None;
        for grid in calls {
            let before = self.fits;
            self.report_progress(what, before);
            let found = select::search(
                self.data,
                &self.base,
                &grid,
                self.folds,
                self.options.score,
                &QuietProgress(self.progress),
                &|done, _| {
                    self.report_progress(what, before + done);
                },
            );
            self.fits += grid.paths_per_fold() * self.folds.len();
            match found {
                Ok(found) => self.trials.extend(found),
                Err(stopped @ CoreError::Stopped { .. }) => return Err(stopped.into()),
                Err(error) => last = Some(error),
            }
        }
        match last {
            Some(error) if self.trials.is_empty() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The number of path computations per setting.
    fn price(&self, sizes: &[ModelSize]) -> usize {
        let of_one = Grid::of(&self.base).with(|it| it.sizes = sizes.to_vec());
        self.folds.len() * of_one.paths_per_fold()
    }

    /// How many settings the rest of the budget allows.
    fn affordable(&self, sizes: &[ModelSize]) -> usize {
        self.options.budget.saturating_sub(self.fits) / self.price(sizes).max(1)
    }

    /// Reports how many paths are finished. The search may end before the budget is used.
    fn report_progress(&self, what: &str, finished: usize) {
        let left = proportional(self.began.elapsed(), finished, self.options.budget).map(TimeLeft::AtMost);
        let now = format!("trying {what}");
        self.progress.status(Status { now, done: finished, total: self.options.budget, left });
    }

    /// The index of the best trial so far, by the score alone.
    fn best_place(&self) -> Option<usize> {
        select::best(&self.trials, self.options.score, false)
    }

    /// The setting of the best trial so far.
    fn best(&self) -> Option<PathSetting> {
        let params = &self.trials[self.best_place()?].params;
        let (beta, target_shrinkage, ridge) = (params.manifold.beta, params.target.shrinkage, params.ridge());
        Some(PathSetting { beta, target_shrinkage, ridge })
    }

    /// Fits the choice on all samples. If a choice works in the folds but fails on all samples, the next one is taken.
    fn finish(mut self, method: &Method, own: &MenParams, dims: &[usize]) -> Result<TuningResult> {
        let score = self.options.score;
        let mut last = None;
        let how = match (self.options.one_standard_error, self.options.most_stable) {
            (true, _) => TrialChoice::Smallest,
            (_, true) => TrialChoice::MostStable,
            _ => TrialChoice::Best,
        };
        let variables = self.data.variables();
        let choose = |trials: &[Trial]| match how {
            TrialChoice::Best => select::best_or_own(trials, score, own),
            other => other.of(trials, score, variables),
        };
        while let Some(chosen) = choose(&self.trials) {
            let params = self.trials[chosen].params.clone();
            let men = match menet::fit(self.data, &params, &QuietProgress(self.progress)) {
                Ok(men) => men,
                Err(stopped @ CoreError::Stopped { .. }) => return Err(stopped.into()),
                Err(error) => {
                    self.trials[chosen].folds.clear();
                    self.trials[chosen].failed = Some(error.clone());
                    last = Some(error);
                    continue;
                }
            };
            let dimension = men.projection().components();
            if dims.iter().all(|&d| d > dimension) {
                return Err(out_of_reach(dimension).into());
            }
            let selection = Selection { score, choose: how, trials: self.trials, chosen };
            return Ok(TuningResult {
                method: method.clone().with_men(params.clone()),
                dimension,
                metric: params.rule.on_several().metric,
                found: TuningTrials::Selection(selection),
                fits: self.fits,
                men: Some(Box::new(men)),
            });
        }
        let why = || CoreError::Degenerate("no setting could be fitted".to_owned());
        Err(Error::Method { context: method.name().to_owned(), source: last.unwrap_or_else(why) })
    }
}
