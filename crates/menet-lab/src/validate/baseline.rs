//! A baseline as a procedure: dimension, metric and parameters chosen inside the training samples, then the nearest neighbour.

use menet::Method;
use menet::evaluate::{classes_of, subset};
use menet::prepare::PrepareParams;
use menet::rules::nearest_neighbors;

use super::procedure::{Decisions, HeldOutCase, Procedure};
use super::splits::inner;
use crate::error::Result;
use crate::params::fields;
use crate::progress::{Progress, QuietProgress};
use crate::protocol::{MetricChoice, TuneOptions, default_dimensions};
use crate::tune::walk::walk;

/// The largest number of fits that choose the parameters of a baseline.
const BUDGET: usize = 30;

/// A method of the registry that is not MEN.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The method with its initial parameters.
    pub method: Method,
    /// How samples are prepared.
    pub prepare: PrepareParams,
    /// Folds of the cross-validation that chooses, ≥ 2.
    pub folds: usize,
}

impl Procedure for Baseline {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn identity(&self) -> String {
        format!("{self:?}")
    }

    fn decide(&self, case: &HeldOutCase<'_>, progress: &dyn Progress) -> Result<Decisions> {
        let (train, test) = (subset(case.data, &case.split.train)?, subset(case.data, &case.split.test)?);
        let folds = inner(&train, case.training_groups().as_deref(), self.folds, case.seed)?;
        let options = TuneOptions {
            budget: BUDGET.max(self.folds),
            folds: self.folds,
            prepare: self.prepare,
            ..TuneOptions::default()
        };
        let dims = default_dimensions(train.samples());
        let quiet = QuietProgress(progress);
        let tuned = walk(&self.method, &train, &dims, MetricChoice::Auto, &options, &folds, &quiet)?;
        let reduced = tuned.method.fit(&self.prepare, &train, Some(tuned.dimension), &quiet)?;
        let d = tuned.dimension.min(reduced.projection.components());
        let (gallery, z) = (reduced.project(&train)?, reduced.project(&test)?);
        let known = classes_of(case.data, &case.split.train);
        let found = nearest_neighbors(gallery.get(.., ..d), &known, z.get(.., ..d), 1, tuned.metric)?;
        let panel = reduced.projection.first(d)?.panel();
        let choice = fields(&tuned.method)?;
        let choice = choice.iter().map(|(name, value)| format!("{name} = {value}"));
        Ok(Decisions {
            given: found.iter().map(|found| found.class).collect(),
            probabilities: None,
            variables: panel.len(),
            // Dense axes use everything, which is no selection.
            panel: if panel.len() == case.data.variables() { Vec::new() } else { panel },
            choice: choice
                .chain([format!("dimension = {d}"), format!("metric = {:?}", tuned.metric)])
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}
