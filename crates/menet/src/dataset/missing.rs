//! Which values can be used, and which are missing.

use super::samples::SampleValues;
use super::{Dataset, View};
use crate::error::Result;
use crate::numerics::finite::{check_finite, check_present, first_missing};

const WHAT: &str = "the data";

impl SampleValues<'_> {
    /// Refuses values that are missing, not finite or too large.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            SampleValues::Dense(x) => check_finite(WHAT, x.view()),
            SampleValues::Single(x) => check_finite(WHAT, *x),
            SampleValues::Sparse(x) => x.check_finite(),
        }
    }

    /// Refuses values that are not finite or too large; missing values pass.
    pub(super) fn check_present(&self) -> Result<()> {
        match self {
            SampleValues::Dense(x) => check_present(WHAT, x.view()),
            SampleValues::Single(x) => check_present(WHAT, *x),
            SampleValues::Sparse(x) => x.check_present(),
        }
    }

    /// Row and column of the first missing value.
    pub(super) fn first_missing(&self) -> Option<(usize, usize)> {
        match self {
            SampleValues::Dense(x) => first_missing(x.view()),
            SampleValues::Single(x) => first_missing(*x),
            SampleValues::Sparse(x) => x.first_missing(),
        }
    }
}

impl Dataset<'_> {
    /// Row and column of the first missing value, in the first column that has one; none if no value is missing.
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        self.missing
    }

    /// The variables that each of some samples lacks, rising.
    pub(crate) fn missing_of(&self, rows: &[usize]) -> Vec<Vec<usize>> {
        let lacking = |&i: &usize| -> Vec<usize> {
            let all = 0..self.variables();
            match self.view() {
                View::Double(x) => all.filter(|&j| x[(i, j)].is_nan()).collect(),
                View::Single(x) => all.filter(|&j| x[(i, j)].is_nan()).collect(),
                View::Sparse(x) => x.row(i).filter(|(_, value)| value.is_nan()).map(|(j, _)| j).collect(),
            }
        };
        rows.iter().map(lacking).collect()
    }
}
