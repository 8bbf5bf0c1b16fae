//! Missing values where none are allowed: how many there are, and where the first is.

use crate::error::{Error, Result};
use crate::table::Table;

/// Counts missing values over several tables.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    count: usize,
    /// The sample and the variable of the first missing value.
    first: Option<(String, String)>,
}

/// What to do in a fit.
pub(crate) const IN_A_FIT: &str =
    "fill missing values with --impute mean, median or knn, or leave the variable out with --drop";

/// What to do with new samples of a model.
pub(crate) fn for_model(men: &menet::Men) -> &'static str {
    match crate::TableModel::takes_means(men) {
        true => "fill missing values with --impute mean, or fit with --impute, so that the model fills them",
        false => {
            "this model scales samples or centres batches, so it can fill missing values only if it was fitted with --impute: fit again"
        }
    }
}

impl Missing {
    /// Counts those of a table that begins at sample `start`.
    pub(crate) fn look(&mut self, table: &Table, start: usize) {
        let values = table.values.dense();
        let Some(at) = values.iter().position(|value| value.is_nan()) else { return };
        self.count += values[at..].iter().filter(|value| value.is_nan()).count();
        self.first.get_or_insert_with(|| {
            let row = at / table.columns;
            (format!("{}{}", start + row + 1, table.id_of(row)), table.variable(at % table.columns))
        });
    }

    pub(crate) fn any(&self) -> bool {
        self.count > 0
    }

    /// Refuses missing values, once all `rows` were counted.
    pub(crate) fn check(self, source: &str, rows: usize, remedy: &str) -> Result<()> {
        let Some((row, variable)) = self.first else { return Ok(()) };
        let problem = format!(
            "a value is missing in sample {row} of {rows}, variable {variable} ({} missing in all); {remedy}",
            self.count,
        );
        Err(Error::input(source.as_ref(), problem))
    }
}
