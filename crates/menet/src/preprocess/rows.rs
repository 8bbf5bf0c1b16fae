//! The samples as distances see them, dense or sparse.
//!
//! They are not centred unless they were reconstructed, so that equal distances between samples of whole numbers stay
//! equal. A column that is constant but for rounding takes no part in distances either: it is 0 here.

use faer::{ContiguousFwd, Mat, MatRef};

use crate::numerics::linalg::{column, squared_distance};
use crate::numerics::sparse::{SparseMatrix, squared_distance as sparse_distance};

/// The samples, each in one piece.
#[derive(Debug, Clone)]
pub enum Rows<'a> {
    /// As the data have them.
    Given(MatRef<'a, f64, usize, usize, isize, ContiguousFwd>),
    /// As columns, p×n.
    Copied(Mat<f64>),
    /// Sparse.
    Sparse(SparseMatrix),
}

impl Rows<'_> {
    /// A sample, if it is dense.
    fn sample(&self, i: usize) -> Result<&[f64], &SparseMatrix> {
        match self {
            Rows::Given(rows) => Ok(rows.row(i).as_slice()),
            Rows::Copied(columns) => Ok(column(columns, i)),
            Rows::Sparse(rows) => Err(rows),
        }
    }

    /// The squared distance between two samples, to the same bits for dense and sparse ones.
    pub fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.squared_distance_to(i, self, j)
    }

    /// The squared distance between a sample and one of others, which are sparse if these are.
    pub(crate) fn squared_distance_to(&self, i: usize, others: &Rows<'_>, j: usize) -> f64 {
        match (self.sample(i), others.sample(j)) {
            (Ok(x), Ok(y)) => squared_distance(x, y),
            (Err(rows), Err(others)) => sparse_distance(rows.line(i), others.line(j), rows.columns()),
            _ => f64::NAN,
        }
    }

    /// The samples `members` minus the sample `from`, one per column. Variables in which all are 0 may be left out.
    pub fn differences(&self, members: &[usize], from: usize) -> Mat<f64> {
        let rows = match self.sample(from) {
            Ok(origin) => {
                let members: Vec<&[f64]> = members.iter().filter_map(|&i| self.sample(i).ok()).collect();
                return Mat::from_fn(origin.len(), members.len(), |v, k| members[k][v] - origin[v]);
            }
            Err(rows) => rows,
        };
        let all = || members.iter().copied().chain([from]);
        let mut used: Vec<u32> = all().flat_map(|i| rows.line(i).0).copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |j: usize| used.partition_point(|&other| (other as usize) < j);
        let mut out = Mat::zeros(used.len(), members.len());
        for (k, &member) in members.iter().enumerate() {
            rows.row(member).for_each(|(j, value)| out[(place(j), k)] = value);
            rows.row(from).for_each(|(j, value)| out[(place(j), k)] -= value);
        }
        out
    }

    /// The variables in which a sample is not 0, and its values there.
    pub(crate) fn nonzeros(&self, i: usize) -> Vec<(usize, f64)> {
        match self.sample(i) {
            Ok(x) => x.iter().copied().enumerate().filter(|&(_, value)| value != 0.0).collect(),
            Err(rows) => rows.row(i).collect(),
        }
    }
}
