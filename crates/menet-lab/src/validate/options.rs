//! How a validation is done.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How samples are held out, labels are permuted and half-samples are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Folds of the outer cross-validation, ≥ 2.
    pub folds: usize,
    /// How many times it is repeated with other folds, ≥ 1.
    pub repeats: usize,
    /// Every fold leaves out one group; there is one repeat then.
    pub leave_one_group_out: bool,
    /// The largest number of permutations; 0 = no test.
    pub permutations: usize,
    /// Whether the permutation test may stop when its answer is clear.
    pub early_stopping: bool,
    /// Pairs of half-samples; 0 = none are drawn.
    pub pairs: usize,
    /// The largest panel whose stability is computed, ≥ 1.
    pub largest_panel: usize,
    /// From which frequency on a variable is stable, above 0.5.
    pub threshold: f64,
    /// How many false selections are accepted in the stable panel; this decides its size.
    pub false_selections: f64,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            folds: 5,
            repeats: 10,
            leave_one_group_out: false,
            permutations: 1000,
            early_stopping: true,
            pairs: 50,
            largest_panel: 100,
            threshold: 0.75,
            false_selections: 1.0,
            seed: 0,
        }
    }
}

/// More would not fit into memory, or would never end.
const MOST: usize = 1_000_000;

impl Options {
    /// Refuses options that are out of range.
    ///
    /// # Errors
    /// Naming the option, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        let whole = [
            ("--folds", self.folds, 2),
            ("--repeats", self.repeats, 1),
            ("--permutations", self.permutations, 0),
            ("--pairs", self.pairs, 0),
            ("--largest-panel", self.largest_panel, 1),
        ];
        if let Some((name, value, least)) =
            whole.iter().find(|(_, value, least)| !(*least..=MOST).contains(value))
        {
            return Err(Error::Usage(format!("{name} {value}: use a whole number from {least} to {MOST}")));
        }
        if !(self.threshold > 0.5 && self.threshold <= 1.0) {
            return Err(Error::Usage(format!(
                "--threshold {}: use a number above 0.5, at most 1",
                self.threshold
            )));
        }
        if !(self.false_selections > 0.0 && self.false_selections.is_finite()) {
            return Err(Error::Usage(format!(
                "--false-selections {}: use a number above 0",
                self.false_selections
            )));
        }
        // TOML, the format of the record, has no larger whole numbers.
        if self.seed > i64::MAX as u64 {
            return Err(Error::Usage(format!("--seed {}: use at most {}", self.seed, i64::MAX)));
        }
        Ok(())
    }

    /// How many times the cross-validation is done. Leaving out every group once has only one way.
    pub fn repeats(&self) -> usize {
        if self.leave_one_group_out { 1 } else { self.repeats }
    }
}
