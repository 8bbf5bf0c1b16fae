//! One search: settings tried on folds, one of them chosen and fitted on all samples, and the reason in words.

use serde::{Deserialize, Serialize};

use super::{ModelSize, Space, Trial, best, search};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::Split;
use crate::fit::fit;
use crate::model::Men;
use crate::monitor::{Monitor, QuietMonitor};
use crate::params::MenParams;
use crate::scores::ScoreKind;
use crate::stability::Stability;

use super::best::TrialChoice;
use super::grid::Grid;

/// What a search tries, and how it chooses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The values to try.
    pub space: Space,
    /// The score to choose by.
    pub score: ScoreKind,
    /// Which of the settings that are good enough is taken.
    pub choose: TrialChoice,
}

impl Default for Search {
    fn default() -> Self {
        Search { space: Space::default(), score: ScoreKind::Balanced, choose: TrialChoice::default() }
    }
}

/// What a search found: every setting that was tried, the choice, and the choice fitted on all samples.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Choice {
    /// The settings, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// The place of the choice among them.
    pub chosen: usize,
    /// The score that it was chosen by.
    pub score: ScoreKind,
    /// Why this setting, in words.
    pub reason: String,
    /// The choice, fitted on all samples.
    pub men: Men,
}

impl Choice {
    /// The trial of the choice.
    pub fn trial(&self) -> &Trial {
        &self.trials[self.chosen]
    }

    /// The parameters of the choice.
    pub fn params(&self) -> &MenParams {
        &self.trial().params
    }
}

impl Search {
    /// All settings for these samples.
    pub fn grid(&self, base: &MenParams, data: &Dataset<'_>) -> Grid {
        self.space.grid(base, data.variables(), data.classes().len().saturating_sub(1))
    }

    /// Tries every setting on every fold, and fits the choice on all samples. A choice that works in the folds but not on all samples is
    /// left out, and the next one is taken. `progress` is told how many paths of how many are done.
    ///
    /// Probabilities are computed where `score` needs them, for the best where equals are told apart by them, and for the choice.
    ///
    /// # Errors
    /// When a value is not allowed, no setting can be fitted, or `monitor` asks to stop.
    pub fn run(
        &self,
        data: &Dataset<'_>,
        base: &MenParams,
        folds: &[Split],
        monitor: &dyn Monitor,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Choice> {
        self.space.check()?;
        let grid = self.grid(base, data);
        grid.priors.iter().try_for_each(|priors| priors.check(data.classes().len()))?;
        let by = (self.score, self.choose);
        let mut trials = search(data, base, &grid, folds, by, monitor, progress)?;
        let mut last = None;
        while let Some(chosen) = self.choose.of(&trials, self.score, data.variables()) {
            match fit(data, &trials[chosen].params, &QuietMonitor(monitor)) {
                Ok(men) => {
                    let reason = self.reason(&trials, chosen, data.variables());
                    return Ok(Choice { trials, chosen, score: self.score, reason, men });
                }
                Err(stopped @ Error::Stopped { .. }) => return Err(stopped),
                Err(error) => {
                    trials[chosen].folds.clear();
                    trials[chosen].failed = Some(error.clone());
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| Error::Degenerate("no setting could be scored in every fold".to_owned())))
    }

    /// Why a trial was chosen, and what else would do.
    fn reason(&self, trials: &[Trial], chosen: usize, variables: usize) -> String {
        let told = |at: usize| {
            let size = size_words(&trials[at].params);
            format!("{size}: {}", score_words(&trials[at], self.score))
        };
        let extreme = if self.score == ScoreKind::LogLoss { "lowest" } else { "largest" };
        let usable = trials.iter().filter(|trial| !trial.folds.is_empty()).count();
        let of_all = if usable == 1 {
            "the only setting".to_owned()
        } else {
            format!("the {extreme} of {usable} settings")
        };
        let Some(top) = best(trials, self.score, false) else { return String::new() };
        let beside = |why: String| match chosen == top {
            true => format!("{}, {of_all}, and {why}", told(chosen)),
            false => format!("{}, {why}, which is {}", told(chosen), told(top)),
        };
        match self.choose {
            TrialChoice::Best => {
                let fewer = best(trials, self.score, true)
                    .filter(|&at| trials[at].variables < trials[chosen].variables)
                    .map_or_else(String::new, |at| format!("; {} is within one standard error", told(at)));
                format!("{}, {of_all}{fewer}", told(chosen))
            }
            TrialChoice::Smallest if chosen == top => {
                beside("none with fewer variables is within one standard error".to_owned())
            }
            TrialChoice::Smallest => {
                beside(format!("the fewest variables within one standard error of the {extreme}"))
            }
            TrialChoice::MostStable => {
                let index = Stability::new(variables, trials[chosen].panels.clone())
                    .map_or(f64::NAN, |found| found.index(usize::MAX).value);
                let agree = format!("whose panels agree most over the folds (index {index:.2})");
                match chosen == top {
                    true => beside(format!("the one {agree}")),
                    false => beside(format!("{agree} within one standard error of the {extreme}")),
                }
            }
        }
    }
}

/// The size of a model in words.
fn size_words(params: &MenParams) -> String {
    let plural = |count: usize| if count == 1 { "variable" } else { "variables" };
    match ModelSize::of(params) {
        ModelSize { panel: Some(size), .. } => format!("a panel of {size}"),
        ModelSize { nonzeros: Some(k), .. } => format!("{k} {} per axis", plural(k)),
        _ => "the default size".to_owned(),
    }
}

/// The mean score of a trial with its standard error: rates in percent.
fn score_words(trial: &Trial, score: ScoreKind) -> String {
    let sign = if score == ScoreKind::LogLoss { -1.0 } else { 1.0 };
    let (mean, error) = (sign * trial.merit(score), trial.standard_error(score));
    match score {
        ScoreKind::Rate | ScoreKind::Balanced => format!("{mean:.1} ± {error:.1} %"),
        ScoreKind::LogLoss | ScoreKind::Auc => format!("{mean:.3} ± {error:.3}"),
    }
}
