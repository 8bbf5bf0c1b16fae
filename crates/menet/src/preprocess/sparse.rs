//! Centring sparse samples: the means are kept beside the entries, and never subtracted from zeros.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::{Centred, Columns, Rows, Weighing, is_constant, is_too_small};
use crate::dataset::Dataset;
use crate::numerics::linalg::from_columns;
use crate::numerics::sparse::SparseMatrix;

/// Vectors that are multiplied side by side.
const LANES: usize = 8;

/// Centres `x`: means and norms from its entries and the number of zeros beside them.
pub(super) fn centred(x: &SparseMatrix, weighing: Option<Weighing<'_>>) -> Centred<'static> {
    let (n, p) = (x.rows(), x.columns());
    let by_variable = x.transpose();
    let sum = |weights: &[f64]| weights.iter().sum::<f64>();
    let weighing = weighing.map(|weighing| (weighing, (sum(weighing.mean), sum(weighing.norm))));
    let moments: Vec<Moments> =
        (0..p).into_par_iter().map(|j| moments(by_variable.line(j), n, weighing)).collect();
    let mean: Vec<f64> = moments.iter().map(|column| column.mean).collect();
    let norms: Vec<f64> = moments.iter().map(|column| column.norm).collect();
    let too_small = (0..p).filter(|&j| moments[j].too_small).collect();
    let rows = Rows::Sparse(x.map(|_, j, value| if norms[j] > 0.0 { value } else { 0.0 }));
    // A column without zeros is centred as it stands: the mean may be large beside what varies.
    let full = |j: usize| by_variable.line(j).0.len() == n;
    let base = |j: usize| if norms[j] == 0.0 || full(j) { 0.0 } else { -mean[j] };
    let entry = |j: usize, value: f64| match norms[j] {
        0.0 => 0.0,
        _ if full(j) => value - mean[j],
        _ => value,
    };
    let entries = by_variable.map(|j, _, value| entry(j, value));
    let columns = Columns::Sparse(SparseColumns { entries, base: (0..p).map(base).collect() });
    Centred { rows, columns, mean, norms, too_small }
}

/// What is known of a column.
struct Moments {
    mean: f64,
    /// The norm of the centred column, 0 if it is constant.
    norm: f64,
    /// Whether it counts as constant for nothing but its size.
    too_small: bool,
}

/// The moments of a column of `n` rows with these nonzeros. The sums of the weights are known.
fn moments(
    (at, values): (&[u32], &[f64]),
    n: usize,
    weighing: Option<(Weighing<'_>, (f64, f64))>,
) -> Moments {
    let beside = if values.len() < n { 0.0 } else { f64::NAN }; // which min and max pass over
    let low = values.iter().copied().fold(beside, f64::min);
    let high = values.iter().copied().fold(beside, f64::max);
    let (mean, original, norm) = match weighing {
        None => {
            let zeros = (n - values.len()) as f64;
            let rough = values.iter().sum::<f64>() / n as f64;
            // The mean of what is left removes the rounding of the first pass.
            let left = values.iter().map(|x| x - rough).sum::<f64>() - zeros * rough;
            let mean = (rough + left / n as f64).clamp(low, high);
            let original = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() + zeros * mean * mean;
            (mean, original, square.sqrt())
        }
        Some((Weighing { mean: in_mean, norm: in_norm }, (mean_total, norm_total))) => {
            // The sum of a function of all values, zeros among them.
            let sum = |weights: &[f64], total: f64, of: &dyn Fn(f64) -> f64| -> f64 {
                let entries = || at.iter().zip(values).map(|(&i, &x)| (weights[i as usize], x));
                let zeros = total - entries().map(|(weight, _)| weight).sum::<f64>();
                entries().map(|(weight, x)| weight * of(x)).sum::<f64>() + zeros * of(0.0)
            };
            let rough = sum(in_mean, mean_total, &|x| x) / mean_total;
            let left = sum(in_mean, mean_total, &|x| x - rough);
            let mean = (rough + left / mean_total).clamp(low, high);
            let original = sum(in_norm, norm_total, &|x| x * x).sqrt();
            (mean, original, sum(in_norm, norm_total, &|x| (x - mean) * (x - mean)).max(0.0).sqrt())
        }
    };
    let too_small = is_too_small(low, high, norm);
    Moments { mean, norm: if is_constant(low, high, norm, original) { 0.0 } else { norm }, too_small }
}

/// Columns `baseⱼ 1 + Σᵢ eᵢⱼ uᵢ`.
#[derive(Debug, Clone)]
pub(crate) struct SparseColumns {
    /// The entries, one variable per row.
    pub(crate) entries: SparseMatrix,
    pub(crate) base: Vec<f64>,
}

impl SparseColumns {
    /// Number of rows n.
    pub(crate) fn rows(&self) -> usize {
        self.entries.columns()
    }

    /// Number of columns p.
    pub(crate) fn count(&self) -> usize {
        self.entries.rows()
    }

    /// All entries of column `j`.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        let mut out = vec![self.base[j]; self.rows()];
        self.entries.row(j).for_each(|(i, value)| out[i] += value);
        out
    }

    /// The product of column `j` with a vector whose entries sum to `total`.
    pub(super) fn dot(&self, j: usize, v: &[f64], total: f64) -> f64 {
        self.entries.row(j).map(|(i, value)| value * v[i]).sum::<f64>() + self.base[j] * total
    }

    /// The squared length of every column.
    pub(super) fn squared_lengths(&self) -> Vec<f64> {
        (0..self.count())
            .into_par_iter()
            .map(|j| {
                let (base, entries) = (self.base[j], self.entries.line(j).1);
                let zeros = (self.rows() - entries.len()) as f64;
                entries.iter().map(|e| (e + base) * (e + base)).sum::<f64>() + zeros * base * base
            })
            .collect()
    }

    /// `Xᵀ y` for vectors side by side.
    pub(super) fn correlate_lanes<const L: usize>(&self, y: &[[f64; L]]) -> Vec<[f64; L]> {
        let mut total = [0.0; L];
        for y in y {
            for l in 0..L {
                total[l] += y[l];
            }
        }
        self.entries.multiply(y, |j| total.map(|total| self.base[j] * total))
    }

    /// `XᵀY`, a column of which does not depend on how many others there are.
    pub(super) fn correlate_all(&self, y: MatRef<'_, f64>) -> Mat<f64> {
        let columns: Vec<Vec<f64>> = y
            .col_iter()
            .map(|y| {
                let y: Vec<[f64; 1]> = y.iter().map(|&y| [y]).collect();
                self.correlate_lanes(&y).as_flattened().to_vec()
            })
            .collect();
        from_columns(self.count(), &columns)
    }

    /// `out = Xᵀ y`.
    pub(super) fn correlate(&self, y: &Mat<f64>, mut out: MatMut<'_, f64>) {
        for start in (0..y.ncols()).step_by(LANES) {
            let lanes = LANES.min(y.ncols() - start);
            let at = |i: usize, l: usize| if l < lanes { y[(i, start + l)] } else { 0.0 };
            let side: Vec<[f64; LANES]> = (0..y.nrows()).map(|i| std::array::from_fn(|l| at(i, l))).collect();
            for (j, found) in self.correlate_lanes(&side).iter().enumerate() {
                for l in 0..lanes {
                    out[(j, start + l)] = found[l];
                }
            }
        }
    }

    /// The mean of every column over every class, one row per class.
    pub(super) fn class_means(&self, data: &Dataset<'_>) -> Mat<f64> {
        let mut means = Mat::zeros(data.classes().len(), self.count());
        let sizes = data.masses();
        for j in 0..self.count() {
            for (i, value) in self.entries.row(j) {
                means[(data.class_of(i), j)] += data.weight(i) * value;
            }
            for (class, size) in sizes.iter().enumerate() {
                means[(class, j)] = means[(class, j)] / size + self.base[j];
            }
        }
        means
    }

    /// These columns, each divided by its norm; a column with norm 0 becomes 0.
    pub(super) fn over(&self, norms: &[f64]) -> Self {
        let over = |j: usize, value: f64| if norms[j] > 0.0 { value / norms[j] } else { 0.0 };
        SparseColumns {
            entries: self.entries.map(|j, _, value| over(j, value)),
            base: self.base.iter().enumerate().map(|(j, &base)| over(j, base)).collect(),
        }
    }
}
