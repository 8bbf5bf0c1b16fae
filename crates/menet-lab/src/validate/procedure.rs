//! What is validated: anything that learns from some samples, choices included, and decides on others.

use menet::Dataset;
use menet::evaluate::Split;
use serde::{Deserialize, Serialize};

use super::men::MenProcedure;
use crate::error::Result;
use crate::progress::Progress;

/// What a procedure learns from and decides on.
#[derive(Debug, Clone, Copy)]
pub struct HeldOutCase<'a> {
    /// All samples, perhaps with permuted labels.
    pub data: &'a Dataset<'a>,
    /// Which samples are learned from and which are decided on.
    pub split: &'a Split,
    /// The group of every sample of `data`, if there are groups.
    pub groups: Option<&'a [usize]>,
    /// The seed of the procedure's own random choices.
    pub seed: u64,
}

impl HeldOutCase<'_> {
    /// The groups of the training samples.
    pub fn training_groups(&self) -> Option<Vec<usize>> {
        self.groups.map(|groups| self.split.train.iter().map(|&i| groups[i]).collect())
    }
}

/// The decisions on the test samples of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decisions {
    /// The class that every test sample was given, as a place in the classes of all samples.
    pub given: Vec<usize>,
    /// The probability of every class, per test sample; none if the procedure gives none.
    pub probabilities: Option<Vec<Vec<f64>>>,
    /// The variables that the model uses, rising; empty for a procedure that uses all.
    pub panel: Vec<usize>,
    /// How many variables the model uses.
    pub variables: usize,
    /// What was chosen, as one line of TOML; empty if nothing was.
    pub choice: String,
}

/// A procedure.
pub trait Procedure: Sync {
    /// Its name in tables.
    fn name(&self) -> &str;

    /// Everything that its decisions depend on besides the case, so that a stopped run continues only with the same procedure.
    fn identity(&self) -> String;

    /// Learns from the training samples of a case, all choices included, and decides on the test samples.
    ///
    /// # Errors
    /// When it cannot learn from these samples, or `progress` asks to stop.
    fn decide(&self, case: &HeldOutCase<'_>, progress: &dyn Progress) -> Result<Decisions>;

    /// The procedure as MEN, whose selection and final model are reported too.
    fn men(&self) -> Option<&MenProcedure> {
        None
    }
}
