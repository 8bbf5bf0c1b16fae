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
    /// As the data have them, in single precision.
    Single(MatRef<'a, f32, usize, usize, isize, ContiguousFwd>),
    /// As columns, p×n.
    Copied(Mat<f64>),
    /// Sparse.
    Sparse(SparseMatrix),
}

/// One sample.
enum Sample<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
    Sparse((&'a [u32], &'a [f64])),
}

impl Rows<'_> {
    fn sample(&self, i: usize) -> Sample<'_> {
        match self {
            Rows::Given(rows) => Sample::Double(rows.row(i).as_slice()),
            Rows::Single(rows) => Sample::Single(rows.row(i).as_slice()),
            Rows::Copied(columns) => Sample::Double(column(columns, i)),
            Rows::Sparse(rows) => Sample::Sparse(rows.line(i)),
        }
    }

    /// Number of variables.
    fn variables(&self) -> usize {
        match self {
            Rows::Given(rows) => rows.ncols(),
            Rows::Single(rows) => rows.ncols(),
            Rows::Copied(columns) => columns.nrows(),
            Rows::Sparse(rows) => rows.columns(),
        }
    }

    /// The squared distance between two samples, to the same bits in whichever form they are.
    pub fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.squared_distance_to(i, self, j)
    }

    /// The squared distance between a sample and one of others, which have the same form.
    pub(crate) fn squared_distance_to(&self, i: usize, others: &Rows<'_>, j: usize) -> f64 {
        match (self.sample(i), others.sample(j)) {
            (Sample::Double(x), Sample::Double(y)) => squared_distance(x, y),
            (Sample::Single(x), Sample::Single(y)) => squared_distance(x, y),
            (Sample::Sparse(x), Sample::Sparse(y)) => sparse_distance(x, y, self.variables()),
            _ => f64::NAN,
        }
    }

    /// The samples `members` minus the sample `from`, one per column. Variables in which all are 0 may be left out.
    pub fn differences(&self, members: &[usize], from: usize) -> Mat<f64> {
        let Rows::Sparse(rows) = self else {
            let (origin, members) = (self.values(from), members.iter().map(|&i| self.values(i)));
            let members: Vec<Vec<f64>> = members.collect();
            return Mat::from_fn(origin.len(), members.len(), |v, k| members[k][v] - origin[v]);
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

    /// All values of a sample.
    fn values(&self, i: usize) -> Vec<f64> {
        match self.sample(i) {
            Sample::Double(x) => x.to_vec(),
            Sample::Single(x) => x.iter().map(|&x| f64::from(x)).collect(),
            Sample::Sparse((at, values)) => {
                let mut out = vec![0.0; self.variables()];
                at.iter().zip(values).for_each(|(&j, value)| out[j as usize] = *value);
                out
            }
        }
    }

    /// The variables in which a sample is not 0, and its values there.
    pub(crate) fn nonzeros(&self, i: usize) -> Vec<(usize, f64)> {
        match self.sample(i) {
            Sample::Sparse((at, values)) => {
                at.iter().map(|&j| j as usize).zip(values.iter().copied()).collect()
            }
            _ => self.values(i).into_iter().enumerate().filter(|&(_, value)| value != 0.0).collect(),
        }
    }
}
