//! Choosing settings by cross-validation.
//!
//! Within a fold, what does not change with a setting is computed once: neighbours and alignment for all settings, the target and
//! the reduced problem for all ridges, the paths for all sizes, refits, rules and metrics. So a search over hundreds of settings costs
//! little more than a few fits per fold, and every setting gives exactly what a separate fit would give.
//!
//! | file | what it holds |
//! |---|---|
//! | `space` | what a search tries: lists of values, and defaults for what is left open |
//! | `grid` | the settings, and which of them share what |
//! | `fold` | all settings on one fold |
//! | `best` | which trial is chosen |
//! | `choose` | the whole search: settings, choice, its fit, and the reason in words |

mod best;
mod choose;
mod fold;
mod grid;
mod space;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::Split;
use crate::monitor::Monitor;
use crate::params::MenParams;
use crate::scores::{ScoreKind, Scores};
use best::tied;
use fold::{Fold, SettingOutcome, SettingResult};

pub use best::{TrialChoice, best, most_stable};
pub use choose::{Choice, Search};
pub use grid::{Grid, ModelSize};
pub use space::{REFITS, RIDGES, SEARCHED, SIZES, Space};

/// One setting over all folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trial {
    /// The setting.
    pub params: MenParams,
    /// What was found in every fold; empty if the setting cannot be fitted.
    pub folds: Vec<Scores>,
    /// How many variables the models of the folds use, on average.
    pub variables: f64,
    /// The panels of the models of the folds, rising.
    pub panels: Vec<Vec<usize>>,
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
    pub(super) fn log_loss(&self) -> f64 {
        let losses: Vec<f64> = self.folds.iter().filter_map(|found| found.log_loss).collect();
        if losses.is_empty() { f64::INFINITY } else { losses.iter().sum::<f64>() / losses.len() as f64 }
    }
}

/// Tries every setting of a grid on every fold. `progress` is told how many paths of how many are done.
///
/// Where the score needs no probabilities, they are computed only for the settings that tie for the best, which the log loss tells apart,
/// and for the one that is chosen: the log loss and the AUC of all others are not known.
///
/// # Errors
/// When a list of the grid is empty, no setting can be fitted, or `monitor` asks to stop.
pub fn search(
    data: &Dataset<'_>,
    base: &MenParams,
    grid: &Grid,
    folds: &[Split],
    by: (ScoreKind, TrialChoice),
    monitor: &dyn Monitor,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Trial>> {
    grid.check()?;
    base.refuse_groups("a search over settings")?;
    let (done, total) = (AtomicUsize::new(0), folds.len() * grid.paths_per_fold());
    let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    let try_all = |fold: &Split| {
        let fold = Fold::new(data, fold, &base.prepare, by.0)?;
        let found = fold.try_all(base, grid, monitor, &step)?;
        Ok((fold, found))
    };
    let pairs: Vec<(Fold, Vec<SettingResult>)> = folds.par_iter().map(try_all).collect::<Result<_>>()?;
    let (folds, found): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let trials = trials(base, grid, (&folds, found), by, data.variables())?;
    match trials.iter().all(|trial| trial.failed.is_some()) {
        true => Err(trials
            .into_iter()
            .find_map(|trial| trial.failed)
            .unwrap_or_else(|| Error::Degenerate("there is no fold to try a setting on".to_owned()))),
        false => Ok(trials),
    }
}

/// The settings, each with what was found of it in every fold.
fn trials(
    base: &MenParams,
    grid: &Grid,
    (folds, found): (&[Fold], Vec<Vec<SettingResult>>),
    (score, choose): (ScoreKind, TrialChoice),
    variables: usize,
) -> Result<Vec<Trial>> {
    let settings = grid.settings(base);
    let mut trials: Vec<Trial> = settings
        .into_iter()
        .map(|params| Trial { params, folds: Vec::new(), variables: 0.0, panels: Vec::new(), failed: None })
        .collect();
    // What can be asked for later, by trial and fold.
    let mut open: Vec<Vec<_>> = trials.iter().map(|_| Vec::new()).collect();
    for of_fold in found {
        for (at, found) in of_fold.into_iter().enumerate() {
            let trial = &mut trials[at];
            match found {
                Ok(SettingOutcome { scores, panel, later }) => {
                    trial.folds.push(scores);
                    trial.variables += panel.len() as f64 / folds.len() as f64;
                    trial.panels.push(panel);
                    open[at].extend(later);
                }
                Err(error) => trial.failed = trial.failed.take().or(Some(error)),
            }
        }
    }
    for trial in trials.iter_mut().filter(|trial| trial.failed.is_some()) {
        trial.folds.clear();
    }
    let mut decided = tied(&trials, score);
    loop {
        for at in decided {
            for (place, (rule, space)) in std::mem::take(&mut open[at]).into_iter().enumerate() {
                trials[at].folds[place] = folds[place].with_probabilities(&rule, &space)?;
            }
        }
        // The log loss of equals may change which one is chosen, but only once: then it is known.
        match choose.of(&trials, score, variables) {
            Some(chosen) if !open[chosen].is_empty() => decided = vec![chosen],
            _ => return Ok(trials),
        }
    }
}
