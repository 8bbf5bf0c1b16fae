//! The options that say how much samples count.

use clap::Args;
use menet_io::Table;

use crate::failure::Failure;

/// How much every sample counts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct CountArgs {
    /// Name of the column with the weight of every sample, >= 0. Only ratios matter: a weight of 2 means the same as the sample twice, 0
    /// the same as leaving it out.
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Weigh the samples so that every class counts as much as any other.
    #[arg(long)]
    balanced: bool,
}

impl CountArgs {
    /// The table with the weights of its samples.
    pub(crate) fn weigh(&self, mut table: Table) -> Result<Table, Failure> {
        if let Some(column) = &self.weights {
            table.take_weights(column)?;
        }
        table.balanced = self.balanced;
        Ok(table)
    }
}

/// What to do with samples without a label.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct UnlabelledArgs {
    /// What to do with samples whose label is empty: refuse them, or keep them. Kept samples take part in the manifold term, but not in the
    /// loss, the refit and the rule.
    #[arg(long, value_name = "HOW", value_parser = ["refuse", "keep"], default_value = "refuse")]
    unlabelled: String,
}

impl UnlabelledArgs {
    pub(crate) fn keep(&self) -> bool {
        self.unlabelled == "keep"
    }
}
