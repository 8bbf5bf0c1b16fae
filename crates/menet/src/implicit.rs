//! Data that stay sparse: centred and scaled, but never so in memory.
//!
//! A centred column of a sparse matrix is its entries and one number that all rows share,
//!
//! ```text
//! xⱼ = baseⱼ 1 + Σᵢ eᵢⱼ uᵢ,
//! ```
//!
//! so that products with X and its transpose are products with the entries and a correction of rank one. The stages here
//! are those of dense data, one file each, with the same answer to some 1e-10; from the reduction on the path is one.
//!
//! | stage | dense | here |
//! |---|---|---|
//! | centre, constant columns, norms | [`crate::preprocess`] | [`Implicit`] |
//! | exact neighbours | [`crate::neighbors`] | [`related`]: an inverted index screens |
//! | the class target | [`crate::target`](mod@crate::target) | [`target`]: whitened by conjugate gradients |
//! | Gram columns | [`crate::gram`] | [`SmoothedGram`](crate::smoothed::SmoothedGram): `A xⱼ` of variables that were asked for |
//! | projection | [`Projection::transform`](crate::Projection::transform) | [`Projection::transform_sparse`](crate::Projection::transform_sparse) |

mod neighbors;
mod project;
mod target;

use faer::{Mat, MatRef};
use rayon::prelude::*;

pub use neighbors::related;
pub use target::target;

use crate::error::{Error, Result};
use crate::linalg::from_columns;
use crate::patches::Samples;
use crate::preprocess::is_constant;
use crate::sparse::SparseMatrix;

/// Sparse data as the stages after preprocessing see them.
#[derive(Debug, Clone)]
pub struct Implicit {
    /// The samples without their constant variables, not centred: what distances are computed from.
    pub samples: SparseMatrix,
    /// The centred variables.
    pub columns: Columns,
    /// The mean of every variable.
    pub mean: Vec<f64>,
    /// The norm of every centred column, 0 for a constant one.
    pub norms: Vec<f64>,
}

impl Implicit {
    /// Means and norms of the columns of `x`, from its entries and the number of zeros beside them.
    ///
    /// # Errors
    /// When every column is constant.
    pub fn new(x: &SparseMatrix) -> Result<Self> {
        let (n, p) = (x.rows(), x.columns());
        let by_variable = x.transpose();
        let moments: Vec<(f64, f64)> =
            (0..p).into_par_iter().map(|j| mean_and_norm(by_variable.line(j).1, n)).collect();
        let (mean, norms): (Vec<f64>, Vec<f64>) = moments.into_iter().unzip();
        if norms.iter().all(|&norm| norm == 0.0) {
            return Err(Error::Degenerate(format!("all {p} variables are constant over the {n} samples")));
        }
        let samples = x.map(|_, j, value| if norms[j] > 0.0 { value } else { 0.0 });
        // A column without zeros is centred as it stands: the mean may be large beside what varies.
        let full = |j: usize| by_variable.line(j).0.len() == n;
        let base = |j: usize| if norms[j] == 0.0 || full(j) { 0.0 } else { -mean[j] };
        let entry = |j: usize, value: f64| match norms[j] {
            0.0 => 0.0,
            _ if full(j) => value - mean[j],
            _ => value,
        };
        let columns = Columns {
            entries: by_variable.map(|j, _, value| entry(j, value)),
            base: (0..p).map(base).collect(),
        };
        Ok(Implicit { samples, columns, mean, norms })
    }

    /// The columns the solver works on: of length 1 if `standardize` (constant ones stay 0).
    pub fn solver_columns(&self, standardize: bool) -> Columns {
        if !standardize {
            return self.columns.clone();
        }
        let Columns { entries, base } = &self.columns;
        let over = |j: usize, value: f64| if self.norms[j] > 0.0 { value / self.norms[j] } else { 0.0 };
        Columns {
            entries: entries.map(|j, _, value| over(j, value)),
            base: base.iter().enumerate().map(|(j, &base)| over(j, base)).collect(),
        }
    }
}

impl Samples for Implicit {
    fn samples(&self) -> usize {
        self.samples.rows()
    }

    fn variables(&self) -> usize {
        self.samples.columns()
    }

    /// Only of variables that one of them has.
    fn differences(&self, members: &[usize], from: usize) -> Mat<f64> {
        let both = || members.iter().copied().chain([from]);
        let mut used: Vec<u32> = both().flat_map(|i| self.samples.line(i).0).copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |j: usize| used.partition_point(|&other| (other as usize) < j);
        let mut out = Mat::zeros(used.len(), members.len());
        for (k, &member) in members.iter().enumerate() {
            self.samples.row(member).for_each(|(j, value)| out[(place(j), k)] = value);
            self.samples.row(from).for_each(|(j, value)| out[(place(j), k)] -= value);
        }
        out
    }
}

/// Mean and centred norm, 0 if constant, of a column of `n` rows with these nonzeros.
fn mean_and_norm(values: &[f64], n: usize) -> (f64, f64) {
    let zeros = (n - values.len()) as f64;
    let beside = if values.len() < n { 0.0 } else { f64::NAN }; // which min and max pass over
    let low = values.iter().copied().fold(beside, f64::min);
    let high = values.iter().copied().fold(beside, f64::max);
    let rough = values.iter().sum::<f64>() / n as f64;
    // The mean of what is left removes the rounding of the first pass.
    let left = values.iter().map(|x| x - rough).sum::<f64>() - zeros * rough;
    let mean = (rough + left / n as f64).clamp(low, high);
    let original = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    let norm = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() + zeros * mean * mean).sqrt();
    (mean, if is_constant(low, high, norm, original) { 0.0 } else { norm })
}

/// Columns `baseⱼ 1 + Σᵢ eᵢⱼ uᵢ`.
#[derive(Debug, Clone)]
pub struct Columns {
    /// The entries, a row a column.
    entries: SparseMatrix,
    base: Vec<f64>,
}

impl Columns {
    /// Number of rows n.
    pub fn rows(&self) -> usize {
        self.entries.columns()
    }

    /// Number of columns p.
    pub fn columns(&self) -> usize {
        self.entries.rows()
    }

    /// Column `j` as it would be.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let mut out = vec![self.base[j]; self.rows()];
        self.entries.row(j).for_each(|(i, value)| out[i] += value);
        out
    }

    /// The product of column `j` with a vector whose entries sum to `total`.
    pub(crate) fn dot(&self, j: usize, v: &[f64], total: f64) -> f64 {
        self.entries.row(j).map(|(i, value)| value * v[i]).sum::<f64>() + self.base[j] * total
    }

    /// The squared length of every column.
    pub(crate) fn squared_lengths(&self) -> Vec<f64> {
        (0..self.columns())
            .into_par_iter()
            .map(|j| {
                let (base, entries) = (self.base[j], self.entries.line(j).1);
                let zeros = (self.rows() - entries.len()) as f64;
                entries.iter().map(|e| (e + base) * (e + base)).sum::<f64>() + zeros * base * base
            })
            .collect()
    }

    /// `Xᵀ y` for vectors side by side.
    pub(crate) fn correlate<const L: usize>(&self, y: &[[f64; L]]) -> Vec<[f64; L]> {
        let mut total = [0.0; L];
        for y in y {
            for l in 0..L {
                total[l] += y[l];
            }
        }
        self.entries.multiply(y, |j| total.map(|total| self.base[j] * total))
    }

    /// `XᵀY`, a column of which does not depend on how many others there are.
    pub(crate) fn correlate_all(&self, y: MatRef<'_, f64>) -> Mat<f64> {
        let columns: Vec<Vec<f64>> = y
            .col_iter()
            .map(|y| {
                let y: Vec<[f64; 1]> = y.iter().map(|&y| [y]).collect();
                self.correlate(&y).as_flattened().to_vec()
            })
            .collect();
        from_columns(self.columns(), &columns)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::linalg::column;
    use crate::preprocess::Preprocessed;

    /// Sparse, constant, empty, full and far from 0, small, with one entry.
    pub(crate) fn awkward() -> Mat<f64> {
        Mat::from_fn(9, 8, |i, j| match j {
            0 => [0.0, 2.0, 0.0][i % 3],
            1 => 0.1,
            2 => 0.0,
            3 => 1e8 + (i * i) as f64,
            4 => 1e-9 * f64::from(u8::from(i == 4)),
            5 if i == 7 => -3.0,
            6 => ((i * 7) % 5) as f64 - 2.0,
            _ => 0.0,
        })
    }

    #[test]
    fn columns_are_those_of_dense_data() {
        let x = awkward();
        let data = Dataset::new(x.as_ref(), &[0, 1, 0, 1, 0, 1, 0, 1, 0]).unwrap();
        let dense = Preprocessed::new(&data, None).unwrap();
        let implicit = Implicit::new(&SparseMatrix::from_dense(x.as_ref()).unwrap()).unwrap();
        let unit = dense.clone().with_unit_columns().x;
        let solver = implicit.solver_columns(true);
        let lengths = solver.squared_lengths();
        for j in 0..8 {
            assert_eq!(implicit.norms[j] == 0.0, dense.norms[j] == 0.0, "column {j}");
            assert!((implicit.norms[j] - dense.norms[j]).abs() <= 1e-15 * dense.norms[j], "column {j}");
            let size = x.col(j).norm_max();
            assert!((implicit.mean[j] - dense.mean[j]).abs() <= 1e-15 * size, "column {j}");
            for (a, b) in implicit.columns.column(j).iter().zip(column(&dense.x, j)) {
                assert!((a - b).abs() <= 1e-15 * size, "column {j}");
            }
            for (a, b) in solver.column(j).iter().zip(column(&unit, j)) {
                assert!((a - b).abs() < 1e-15, "column {j}");
            }
            let expected = f64::from(u8::from(dense.norms[j] > 0.0));
            assert!((lengths[j] - expected).abs() < 1e-15);
        }
        let y = Mat::from_fn(9, 2, |i, k| ((i * 5 + k) % 7) as f64);
        let (found, expected) = (solver.correlate_all(y.as_ref()), unit.transpose() * &y);
        assert!((&found - &expected).norm_max() < 1e-14 * expected.norm_max());
        assert_eq!(solver.correlate_all(y.subcols(0, 1)), found.subcols(0, 1));
    }

    #[test]
    fn differences_leave_out_variables_that_nobody_has() {
        let x = awkward();
        let implicit = Implicit::new(&SparseMatrix::from_dense(x.as_ref()).unwrap()).unwrap();
        let data = Dataset::new(x.as_ref(), &[0, 1, 0, 1, 0, 1, 0, 1, 0]).unwrap();
        let dense = Preprocessed::new(&data, None).unwrap();
        let (few, all) = (implicit.differences(&[1, 3, 1], 2), dense.differences(&[1, 3, 1], 2));
        assert!(few.nrows() < all.nrows());
        assert!((few.transpose() * &few - all.transpose() * &all).norm_max() < 1e-12);
    }

    #[test]
    fn nothing_but_constants_is_an_error() {
        let x = Mat::from_fn(3, 2, |_, j| j as f64);
        let x = SparseMatrix::from_dense(x.as_ref()).unwrap();
        assert!(matches!(Implicit::new(&x), Err(Error::Degenerate(_))));
    }
}
