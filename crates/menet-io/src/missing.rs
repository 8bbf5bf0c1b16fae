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
    pub(crate) fn check(self, source: &str, rows: usize) -> Result<()> {
        let Some((row, variable)) = self.first else { return Ok(()) };
        let problem = format!(
            "a value is missing in sample {row} of {rows}, variable {variable} ({} missing in all); fill missing values with --impute mean, median or knn, or leave the variable out with --drop",
            self.count,
        );
        Err(Error::input(source.as_ref(), problem))
    }
}
