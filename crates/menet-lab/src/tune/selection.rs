//! The grid: how the parameters of MEN and its variants are searched.
//!
//! [`menet::select`] reads every size, refit, rule and metric off one path per fold, so those are compared in full for every setting that
//! needs paths of its own. There are three passes over such settings, each within the budget:
//!
//! 1. the β and target shrinkage that the method begins with, every ridge;
//! 2. at the best ridge, every β and target shrinkage;
//! 3. the neighbours of the best: a step of β, target shrinkage or ridge up or down, and the sizes beside the best one, as long as
//!    something better is found.

use std::time::Instant;

use menet::evaluate::Split;
use menet::refit::Refit;
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::select::{self, Grid, Size, Trial};
use menet::target::TargetKind;
use menet::{Dataset, Error as CoreError, MenParams, Method, Named};

use super::{Found, Tuned, too_small};
use crate::cell::out_of_reach;
use crate::error::{Error, Result};
use crate::progress::{Left, Progress, Quiet, Status, proportional};
use crate::protocol::TuneOptions;

/// The ridges of the first pass.
const RIDGES: [f64; 5] = [0.03, 0.3, 1.0, 3.0, 10.0];
/// The values of β and of the target's shrinkage of the second pass.
const BETAS: [f64; 3] = [1.0, 10.0, 100.0];
const SHRINKAGES: [f64; 3] = [0.1, 1.0, 10.0];
/// The numbers of variables, per path or in all.
pub const SIZES: [usize; 6] = [5, 10, 20, 50, 100, 200];
/// The values that steps of the third pass go along.
const STEPS: [f64; 11] = [1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// All that the grid tried.
#[derive(Debug, Clone)]
pub struct Selection {
    /// What trials were compared by.
    pub score: ScoreKind,
    /// Whether the smallest model within one standard error of the best was taken.
    pub one_standard_error: bool,
    /// Every trial, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// The place of the one that was chosen.
    pub chosen: usize,
}

impl Selection {
    /// The trial that was chosen.
    pub fn best(&self) -> &Trial {
        &self.trials[self.chosen]
    }

    /// The trials that could be fitted.
    pub fn usable(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| !trial.folds.is_empty())
    }
}

/// The mean of a score over the folds of a trial; none where it is not known.
pub fn mean(trial: &Trial, score: ScoreKind) -> Option<f64> {
    let merit = trial.merit(score);
    let value = if score == ScoreKind::LogLoss { -merit } else { merit };
    value.is_finite().then_some(value)
}

/// Chooses the parameters of a variant of MEN, which has its `own` to begin with.
///
/// # Errors
/// When the budget is too small, no setting can be fitted, none of `dims` can be had, or `progress` asks to stop.
pub(super) fn select(
    method: &Method,
    own: &MenParams,
    data: &Dataset<'_>,
    dims: &[usize],
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<Tuned> {
    let limit = own.components.unwrap_or(usize::MAX).min(data.classes().len() - 1);
    let mut search = Search::new(own, data, options, folds, progress);
    let largest = largest(dims, limit)?;
    search.base.components = if largest == limit { own.components } else { Some(largest) };
    let first = match search.first_pass() {
        // The data have fewer axes than classes would allow, which shows before any path is computed.
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

/// The largest of `dims` that there is.
fn largest(dims: &[usize], limit: usize) -> Result<usize> {
    Ok(dims.iter().copied().filter(|&d| d <= limit).max().ok_or_else(|| out_of_reach(limit))?)
}

/// What needs paths of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Setting {
    beta: f64,
    target_shrinkage: f64,
    ridge: f64,
}

struct Search<'a> {
    /// The parameters that are not searched.
    base: MenParams,
    /// The lists that every path serves.
    grid: Grid,
    /// Whether the sizes are the user's.
    given_sizes: bool,
    data: &'a Dataset<'a>,
    options: &'a TuneOptions,
    folds: &'a [Split],
    progress: &'a dyn Progress,
    began: Instant,
    tried: Vec<Setting>,
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
        // Sizes say it now; a limit per path stays beside panel sizes.
        base.panel_size = None;
        if sizes.iter().any(|size| matches!(size, Size::Nonzeros(_))) {
            base.nonzeros = None;
        }
        let paper = own.preset == menet::params::Preset::Paper;
        let refit = match (options.refit.is_empty(), paper) {
            (false, _) => options.refit.clone(),
            (true, true) => vec![own.refit()],
            (true, false) => with(&[Refit::None, Refit::Panel, Refit::Discriminant], own.refit()),
        };
        let rule = match (options.rule.is_empty(), paper) {
            (false, _) => options.rule.clone(),
            (true, true) => vec![own.rule().kind],
            (true, false) => RuleKind::ALL.to_vec(),
        };
        let metric = if options.metrics.is_empty() { Metric::ALL.to_vec() } else { options.metrics.clone() };
        let refit_ridge = match own.refit_ridge {
            Some(ridge) => vec![Some(ridge)],
            None => vec![None, Some(0.3), Some(3.0)],
        };
        let grid = Grid { sizes, refit, refit_ridge, rule, metric, ..Grid::of(own) };
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

    /// Every ridge, the nearest to that of the method first.
    fn first_pass(&mut self) -> Result<()> {
        let (own, beta, target_shrinkage) = (self.base.ridge(), self.base.beta, self.base.target_shrinkage);
        let mut ridges = with(&RIDGES, own);
        // A ridge of 0 is nearest to the smallest.
        let far = |ridge: f64| if ridge == own { -1.0 } else { (ridge.max(1e-9) / own.max(1e-9)).ln().abs() };
        ridges.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        let settings = ridges.into_iter().map(|ridge| Setting { beta, target_shrinkage, ridge });
        let (settings, sizes) = (settings.collect::<Vec<_>>(), self.grid.sizes.clone());
        if self.affordable(&sizes) == 0 {
            return Err(too_small(self.options.budget, self.price(&sizes)));
        }
        self.attempt(&settings, &sizes, "every ridge")
    }

    /// Every β and shrinkage of the target at the best ridge, those that change one of them first.
    fn second_pass(&mut self) -> Result<()> {
        let Some(best) = self.best() else { return Ok(()) };
        let (betas, shrinkages) =
            (self.betas(&BETAS, best.beta), self.shrinkages(&SHRINKAGES, best.target_shrinkage));
        let mut settings = Vec::new();
        for &beta in &betas {
            for &target_shrinkage in &shrinkages {
                settings.push(Setting { beta, target_shrinkage, ..best });
            }
        }
        settings.sort_by_key(|setting| {
            setting.beta != best.beta && setting.target_shrinkage != best.target_shrinkage
        });
        let sizes = self.grid.sizes.clone();
        self.attempt(&settings, &sizes, "every beta and target shrinkage")
    }

    /// The neighbours of the best, until none is better.
    fn third_pass(&mut self) -> Result<()> {
        let mut sizes = self.grid.sizes.clone();
        while let (Some(best), Some(at)) = (self.best(), self.best_place()) {
            let beside: Vec<Size> = self
                .beside(&self.trials[at].params)
                .into_iter()
                .filter(|size| !sizes.contains(size))
                .collect();
            if !beside.is_empty() {
                // The paths of the best again, for the new sizes alone.
                self.tried.retain(|tried| *tried != best);
                self.attempt(&[best], &beside, "sizes beside the best")?;
                sizes.extend(beside);
            }
            let ridges = near(best.ridge).into_iter().map(|ridge| Setting { ridge, ..best });
            let shrinkages = self.shrinkages(&near(best.target_shrinkage), best.target_shrinkage).into_iter();
            let betas = self.betas(&near(best.beta), best.beta).into_iter();
            let settings: Vec<Setting> = ridges
                .chain(shrinkages.map(|target_shrinkage| Setting { target_shrinkage, ..best }))
                .chain(betas.map(|beta| Setting { beta, ..best }))
                .collect();
            let before = self.trials.len();
            self.attempt(&settings, &sizes, "neighbours of the best")?;
            if self.trials.len() == before || self.best_place().is_none_or(|now| now < before) {
                break;
            }
        }
        Ok(())
    }

    /// The values of β that differ: without a manifold term none do.
    fn betas(&self, values: &[f64], own: f64) -> Vec<f64> {
        if self.base.alpha == 0.0 { vec![own] } else { with(values, own) }
    }

    /// The shrinkages that differ: only the whitened target has one.
    fn shrinkages(&self, values: &[f64], own: f64) -> Vec<f64> {
        if self.base.target == TargetKind::Whitened { with(values, own) } else { vec![own] }
    }

    /// The sizes halfway to the next on either side; none where the sizes are the user's.
    fn beside(&self, params: &MenParams) -> Vec<Size> {
        if self.given_sizes {
            return Vec::new();
        }
        let own = match (params.panel_size, params.nonzeros) {
            (Some(size), _) => Size::Panel(size),
            (None, Some(k)) => Size::Nonzeros(k),
            (None, None) => return Vec::new(),
        };
        let number = |size: &Size| match *size {
            Size::Nonzeros(k) | Size::Panel(k) => Some(k),
            Size::Base => None,
        };
        let Some(k) = number(&own) else { return Vec::new() };
        let others: Vec<usize> = self.grid.sizes.iter().filter_map(number).collect();
        let below = others.iter().copied().filter(|&other| other < k).max();
        let above = others.iter().copied().filter(|&other| other > k).min();
        let between = |other: usize| ((other * k) as f64).sqrt().round() as usize;
        let found = [below, above].into_iter().flatten().map(between).filter(|&found| found != k);
        found
            .map(|size| if matches!(own, Size::Panel(_)) { Size::Panel(size) } else { Size::Nonzeros(size) })
            .collect()
    }

    /// Tries the settings that are new, as many as the budget allows. One at the edge of what the data allow is no reason to stop,
    /// unless none was found so far.
    fn attempt(&mut self, settings: &[Setting], sizes: &[Size], what: &str) -> Result<()> {
        let mut new: Vec<Setting> =
            settings.iter().copied().filter(|setting| !self.tried.contains(setting)).collect();
        new.truncate(self.affordable(sizes));
        // Settings that share β and their ridges share the neighbours and the alignment of every fold.
        let mut calls: Vec<Grid> = Vec::new();
        for shared in by_problem(&new) {
            let same = |grid: &&mut Grid| grid.beta == [shared.0.beta] && grid.ridge == shared.1;
            match calls.iter_mut().find(same) {
                Some(grid) => grid.target_shrinkage.push(shared.0.target_shrinkage),
                None => calls.push(Grid {
                    beta: vec![shared.0.beta],
                    target_shrinkage: vec![shared.0.target_shrinkage],
                    ridge: shared.1,
                    sizes: sizes.to_vec(),
                    ..self.grid.clone()
                }),
            }
        }
        self.tried.extend(&new);
        let mut last = None;
        for grid in calls {
            let before = self.fits;
            self.tell(what, before);
            let found = select::search(
                self.data,
                &self.base,
                &grid,
                self.folds,
                self.options.score,
                &Quiet(self.progress),
                &|done, _| {
                    self.tell(what, before + done);
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

    /// How many times paths are computed for one setting.
    fn price(&self, sizes: &[Size]) -> usize {
        let of_one = Grid { sizes: sizes.to_vec(), ..Grid::of(&self.base) };
        self.folds.len() * of_one.paths_per_fold()
    }

    /// How many settings the rest of the budget allows.
    fn affordable(&self, sizes: &[Size]) -> usize {
        self.options.budget.saturating_sub(self.fits) / self.price(sizes).max(1)
    }

    /// Tells how many of the paths are finished. The search may end before the budget does.
    fn tell(&self, what: &str, finished: usize) {
        let left = proportional(self.began.elapsed(), finished, self.options.budget).map(Left::AtMost);
        let now = format!("trying {what}");
        self.progress.status(Status { now, done: finished, total: self.options.budget, left });
    }

    /// The place of the best trial so far, by the score alone.
    fn best_place(&self) -> Option<usize> {
        select::best(&self.trials, self.options.score, false)
    }

    /// What its paths were computed with.
    fn best(&self) -> Option<Setting> {
        let params = &self.trials[self.best_place()?].params;
        let (beta, target_shrinkage, ridge) = (params.beta, params.target_shrinkage, params.ridge());
        Some(Setting { beta, target_shrinkage, ridge })
    }

    /// Fits the choice on all samples. One that folds allow and all samples do not is passed over.
    fn finish(mut self, method: &Method, own: &MenParams, dims: &[usize]) -> Result<Tuned> {
        let TuneOptions { score, one_standard_error, .. } = *self.options;
        let mut last = None;
        let choose = |trials: &[Trial]| match one_standard_error {
            true => select::best(trials, score, true),
            false => select::best_or_own(trials, score, own),
        };
        while let Some(chosen) = choose(&self.trials) {
            let params = self.trials[chosen].params.clone();
            let men = match menet::fit(self.data, &params, &Quiet(self.progress)) {
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
            let selection = Selection { score, one_standard_error, trials: self.trials, chosen };
            return Ok(Tuned {
                method: method.clone().with_men(params.clone()),
                dimension,
                metric: params.metric(),
                found: Found::Selection(selection),
                fits: self.fits,
                men: Some(Box::new(men)),
            });
        }
        let why = || CoreError::Degenerate("no setting could be fitted".to_owned());
        Err(Error::Method { context: method.name().to_owned(), source: last.unwrap_or_else(why) })
    }
}

/// Settings by β and target shrinkage, each with its ridges.
fn by_problem(settings: &[Setting]) -> Vec<(Setting, Vec<f64>)> {
    let mut groups: Vec<(Setting, Vec<f64>)> = Vec::new();
    for setting in settings {
        let same = |(other, _): &&mut (Setting, Vec<f64>)| {
            (other.beta, other.target_shrinkage) == (setting.beta, setting.target_shrinkage)
        };
        match groups.iter_mut().find(same) {
            Some((_, ridges)) => ridges.push(setting.ridge),
            None => groups.push((*setting, vec![setting.ridge])),
        }
    }
    groups
}

/// The sizes that are tried: the user's, or a list up to the number that the parameters allow.
fn sizes(own: &MenParams, options: &TuneOptions, p: usize) -> Vec<Size> {
    let up_to = |most: usize| {
        let mut sizes: Vec<usize> = SIZES.into_iter().filter(|&size| size < most).collect();
        if most <= SIZES[SIZES.len() - 1] || own.panel_size.or(own.nonzeros).is_some() {
            sizes.push(most);
        }
        sizes
    };
    let capped = |sizes: &[usize]| -> Vec<usize> {
        let mut sizes: Vec<usize> = sizes.iter().map(|&size| size.min(p)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    if !options.nonzeros.is_empty() || !options.panel_size.is_empty() {
        let nonzeros = capped(&options.nonzeros).into_iter().map(Size::Nonzeros);
        return nonzeros.chain(capped(&options.panel_size).into_iter().map(Size::Panel)).collect();
    }
    match own.panel_size {
        Some(most) => up_to(most.min(p)).into_iter().map(Size::Panel).collect(),
        None => up_to(own.nonzeros.unwrap_or(p).min(p)).into_iter().map(Size::Nonzeros).collect(),
    }
}

/// The list with one more value, if it lacks it.
fn with<T: Copy + PartialEq>(list: &[T], own: T) -> Vec<T> {
    let more = (!list.contains(&own)).then_some(own);
    list.iter().copied().chain(more).collect()
}

/// The next of [`STEPS`] below and above.
fn near(value: f64) -> Vec<f64> {
    let below = STEPS.into_iter().rev().find(|&step| step < value);
    let above = STEPS.into_iter().find(|&step| step > value);
    below.into_iter().chain(above).collect()
}

/// The parameters that the grid searches, as columns of a table: names, and the value of each in a setting.
pub(crate) const COLUMNS: [&str; 11] = [
    "beta",
    "target_shrinkage",
    "ridge",
    "nonzeros",
    "panel_size",
    "refit",
    "refit_ridge",
    "rule",
    "voters",
    "metric",
    "priors",
];

/// The values of [`COLUMNS`].
pub(crate) fn cells(params: &MenParams) -> [String; 11] {
    let count = |value: Option<usize>| value.map_or_else(String::new, |value| value.to_string());
    let rule = params.rule();
    let nearest = rule.kind == RuleKind::Nearest;
    let priors = toml::Value::try_from(&rule.priors).map_or_else(
        |_| String::new(),
        |priors| match priors {
            toml::Value::String(name) => name,
            other => other.to_string(),
        },
    );
    [
        params.beta.to_string(),
        params.target_shrinkage.to_string(),
        params.ridge().to_string(),
        count(params.nonzeros),
        count(params.panel_size),
        params.refit().name().to_owned(),
        // Only the refits that solve the problem again have one.
        if params.refit().needs_gram() { params.refit_ridge().to_string() } else { String::new() },
        rule.kind.name().to_owned(),
        // Only the nearest neighbours have them.
        if nearest { rule.neighbors.to_string() } else { String::new() },
        if nearest { rule.metric.name().to_owned() } else { String::new() },
        priors,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_along_a_list_that_ends() {
        assert_eq!((near(0.3), near(0.5)), (vec![0.1, 1.0], vec![0.3, 1.0]));
        assert_eq!((near(0.0), near(1e-3), near(100.0)), (vec![1e-3], vec![3e-3], vec![30.0]));
    }

    #[test]
    fn sizes_are_the_users_or_a_list_up_to_what_is_allowed() {
        let options = TuneOptions::default();
        let own = MenParams::default();
        let of = |own: &MenParams, options: &TuneOptions, p| sizes(own, options, p);
        let nonzeros = |list: &[usize]| list.iter().map(|&k| Size::Nonzeros(k)).collect::<Vec<_>>();
        assert_eq!(of(&own, &options, 5000), nonzeros(&SIZES));
        assert_eq!(of(&own, &options, 64), nonzeros(&[5, 10, 20, 50, 64]));
        assert_eq!(of(&own, &options, 3), nonzeros(&[3]));
        let few = MenParams { nonzeros: Some(30), ..own.clone() };
        assert_eq!(of(&few, &options, 5000), nonzeros(&[5, 10, 20, 30]));
        let panel = MenParams { panel_size: Some(20), ..own.clone() };
        assert_eq!(of(&panel, &options, 5000), [5, 10, 20].map(Size::Panel));
        let given = TuneOptions { panel_size: vec![20, 7], nonzeros: vec![9], ..options };
        assert_eq!(of(&own, &given, 10), [Size::Nonzeros(9), Size::Panel(7), Size::Panel(10)]);
    }
}
