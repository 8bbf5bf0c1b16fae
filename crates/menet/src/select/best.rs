//! Which trial is chosen.

use serde::{Deserialize, Serialize};

use super::Trial;
use crate::named::named;
use crate::scores::ScoreKind;
use crate::stability::Stability;

/// Which of the trials is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialChoice {
    /// The best.
    #[default]
    Best,
    /// The one with the fewest variables within one standard error of the best.
    Smallest,
    /// The one whose panels agree most over the folds, within one standard error of the best.
    MostStable,
}

named!(TrialChoice, "choose", Best = "best", Smallest = "smallest", MostStable = "most_stable");

impl TrialChoice {
    /// The place of the trial that is taken, of models of so many `variables`.
    pub fn of(self, trials: &[Trial], score: ScoreKind, variables: usize) -> Option<usize> {
        match self {
            TrialChoice::Best => best(trials, score, false),
            TrialChoice::Smallest => best(trials, score, true),
            TrialChoice::MostStable => most_stable(trials, score, variables),
        }
    }
}

/// The place of the best trial. Among equals the lower log loss decides, then the fewer variables, then the first. With
/// `one_standard_error`, of those no worse than the best by more than its standard error, the one with the fewest variables.
pub fn best(trials: &[Trial], score: ScoreKind, one_standard_error: bool) -> Option<usize> {
    let usable = || (0..trials.len()).filter(|&at| !trials[at].folds.is_empty());
    let better = |a: usize, b: usize| {
        let key = |at: usize| (trials[at].merit(score), -trials[at].log_loss(), -trials[at].variables);
        let (x, y) = (key(a), key(b));
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

/// Differences this small are rounding, and do not decide.
fn close(x: f64, y: f64) -> bool {
    x == y || (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
}

/// The places of the trials that [`best`] tells apart by their log loss: those with the highest score.
pub(super) fn tied(trials: &[Trial], score: ScoreKind) -> Vec<usize> {
    let usable = || (0..trials.len()).filter(|&at| !trials[at].folds.is_empty());
    let most = usable().map(|at| trials[at].merit(score)).fold(f64::NEG_INFINITY, f64::max);
    usable().filter(|&at| close(trials[at].merit(score), most)).collect()
}

/// The place of the trial whose panels agree most over the folds, of those no worse than the best by more than its standard error.
/// Agreement is Nogueira's index, among `variables` variables; among equals the fewer variables decide, then the better score.
pub fn most_stable(trials: &[Trial], score: ScoreKind, variables: usize) -> Option<usize> {
    let top = best(trials, score, false)?;
    let least = trials[top].merit(score) - trials[top].standard_error(score);
    let agreement = |at: usize| {
        let found = Stability::new(variables, trials[at].panels.clone());
        found.map_or(f64::NEG_INFINITY, |found| found.index(usize::MAX).value)
    };
    let usable = (0..trials.len()).filter(|&at| !trials[at].folds.is_empty());
    let enough = usable.filter(|&at| trials[at].merit(score) >= least);
    let key = |at: usize| (agreement(at), -trials[at].variables, trials[at].merit(score));
    let better = |(best, known): (usize, (f64, f64, f64)), next: usize| {
        let found = key(next);
        if found > known { (next, found) } else { (best, known) }
    };
    Some(enough.fold((top, key(top)), better).0)
}
