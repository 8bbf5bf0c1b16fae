//! Centring, constant columns, and the paper's optional PCA reconstruction (Algorithm 1, step 1).
//!
//! [`Centred`] holds the samples of a fit, dense or sparse. All later stages work on it, and it is the only place where
//! dense and sparse samples differ: [`Rows`] answers questions about samples, [`Columns`] about variables.
//!
//! A centred column of a sparse matrix is its entries and one number that all rows share,
//!
//! ```text
//! xⱼ = baseⱼ 1 + Σᵢ eᵢⱼ uᵢ,
//! ```
//!
//! so that a product with X is a product with the entries plus a correction of rank one. Nothing is ever made dense.

mod columns;
mod dense;
mod rows;
mod sparse;

use faer::Mat;

pub(crate) use columns::{Columns, class_means};
pub use rows::Rows;
pub(crate) use sparse::SparseColumns;

use crate::dataset::{Dataset, View};
use crate::error::{Error, Result};

/// A centred column whose norm is this small a part of its original norm is rounding: 0.1 repeated, minus its
/// mean, leaves 8e-17, which scaled to length 1 would become a variable.
const CONSTANT: f64 = 1e-12;

/// The square of a smaller number, the root of the smallest normal one, is no normal number: a norm made of such squares is wrong.
pub(crate) const SQUARABLE: f64 = 1.491_668_146_240_041_3e-154;

/// How much every sample counts in the mean, and in the norm, of a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighing<'a> {
    pub(crate) mean: &'a [f64],
    pub(crate) norm: &'a [f64],
}

/// Centred samples, in the user's units.
#[derive(Debug, Clone)]
pub struct Centred<'a> {
    rows: Rows<'a>,
    columns: Columns,
    mean: Vec<f64>,
    norms: Vec<f64>,
    too_small: Vec<usize>,
}

impl<'a> Centred<'a> {
    /// Centres the samples. If `pca_rank` is given, replaces them by their best approximation of that rank.
    ///
    /// # Errors
    /// When every column is constant, the decomposition fails, or a rank is given for sparse samples.
    pub fn new(data: &'a Dataset<'_>, pca_rank: Option<usize>) -> Result<Self> {
        Self::weighed(data, pca_rank, data.weights().map(|weights| Weighing { mean: weights, norm: weights }))
    }

    /// Centred samples with weights of the caller's.
    pub(crate) fn weighed(
        data: &'a Dataset<'_>,
        pca_rank: Option<usize>,
        weighing: Option<Weighing<'_>>,
    ) -> Result<Self> {
        let (n, p) = (data.samples(), data.variables());
        let centred = match (data.view(), pca_rank) {
            (View::Double(x), rank) => dense::centred(x, rank, weighing)?,
            (View::Single(x), rank) => dense::centred(x, rank, weighing)?,
            (View::Sparse(x), None) => sparse::centred(x, weighing),
            (View::Sparse(_), Some(rank)) => {
                let value = format!("{rank} with sparse samples, {n} x {p}");
                let allowed = "left out: a reconstruction needs dense data";
                return Err(Error::parameter("pca_rank", value, allowed));
            }
        };
        if centred.norms.iter().all(|&norm| norm == 0.0) {
            return Err(all_constant(p, n, &centred.too_small));
        }
        Ok(centred)
    }

    /// Number of samples n.
    pub fn samples(&self) -> usize {
        self.columns.rows()
    }

    /// Number of variables p.
    pub fn variables(&self) -> usize {
        self.columns.count()
    }

    /// The mean of every variable.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The norm of every centred column, 0 for a constant one.
    pub fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// The variables that vary, but so little that they count as constant, rising: their squares are too small for double precision.
    pub(crate) fn too_small(&self) -> &[usize] {
        &self.too_small
    }

    /// The samples as distances see them.
    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    /// The centred variables; constant ones are exactly 0.
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The centred data as a dense matrix, n×p.
    ///
    /// # Errors
    /// When they are sparse.
    pub fn dense(&self) -> Result<&Mat<f64>> {
        self.columns.dense()
    }

    /// The sum of the squares of all entries.
    pub(crate) fn total(&self) -> f64 {
        self.norms.iter().map(|norm| norm * norm).sum()
    }

    /// The largest rank that the samples can have: the number of variables that vary, or of samples less one.
    pub(crate) fn largest_rank(&self) -> usize {
        self.norms.iter().filter(|&&norm| norm > 0.0).count().min(self.samples() - 1)
    }

    /// Refuses data of another size than these were made from.
    pub(crate) fn check(&self, data: &Dataset<'_>) -> Result<()> {
        let expected = data.samples() * data.variables();
        if (self.samples(), self.variables()) == (data.samples(), data.variables()) {
            return Ok(());
        }
        let why = format!("the data are {} x {}", data.samples(), data.variables());
        let given = self.samples() * self.variables();
        Err(Error::Size { what: "the preprocessed data", given, expected, why })
    }

    /// The columns that the solver works on, with length 1 if `standardize` (constant ones stay 0), then the mean and the
    /// norm of every variable.
    pub(crate) fn into_solver(self, standardize: bool) -> (Columns, Vec<f64>, Vec<f64>) {
        let columns = if standardize { self.columns.over(&self.norms) } else { self.columns };
        (columns, self.mean, self.norms)
    }
}

/// Whether a column from `low` to `high` is constant, by its norms when centred and before.
pub(crate) fn is_constant(low: f64, high: f64, centred: f64, original: f64) -> bool {
    low == high || centred <= CONSTANT * original || centred < SQUARABLE
}

/// Whether a column from `low` to `high`, of this norm when centred, counts as constant for nothing but its size.
pub(crate) fn is_too_small(low: f64, high: f64, centred: f64) -> bool {
    low < high && centred < SQUARABLE && high - low < 2.0 * SQUARABLE
}

/// The error for `p` variables none of which can be used.
pub(crate) fn all_constant(p: usize, samples: usize, too_small: &[usize]) -> Error {
    let some = match too_small.len() {
        0 => String::new(),
        count => format!(
            " ({count} of them vary by less than {SQUARABLE:.0e}, too little to be squared in double precision: multiply their values by \
             a power of ten)"
        ),
    };
    Error::Degenerate(format!("all {p} variables are constant over the {samples} samples{some}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::numerics::linalg::{column, dot, thin_svd};
    use crate::numerics::sparse::SparseMatrix;

    fn data() -> Dataset<'static> {
        let x = Mat::from_fn(7, 4, |i, j| match j {
            0 => 0.1,
            1 => 1e8 + i as f64,
            2 => (i * i) as f64,
            _ => 1e-9 * (i as f64).sin(),
        });
        Dataset::from_owned(x, &[0, 1, 0, 1, 0, 1, 0]).unwrap()
    }

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

    /// Equal samples, dense and sparse.
    pub(crate) fn both(x: &Mat<f64>) -> [Dataset<'static>; 2] {
        let labels: Vec<usize> = (0..x.nrows()).map(|i| i % 2).collect();
        let sparse = SparseMatrix::from_dense(x.as_ref()).unwrap();
        [
            Dataset::from_owned(x.clone(), &labels).unwrap(),
            Dataset::from_sparse_beyond(0, sparse, &labels).unwrap(),
        ]
    }

    #[test]
    fn constant_columns_become_exactly_zero() {
        let data = data();
        let centred = Centred::new(&data, None).unwrap();
        let x = centred.dense().unwrap();
        assert_eq!(column(x, 0), [0.0; 7]);
        assert_eq!(centred.mean()[0], 0.1);
        assert_eq!(column(x, 1), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert!(centred.norms()[3] > 0.0, "small is not constant");
        let (unit, ..) = centred.into_solver(true);
        assert!((dot(&unit.column(3), &unit.column(3)) - 1.0).abs() < 1e-14);
        assert_eq!(unit.column(0), [0.0; 7]);
    }

    #[test]
    fn reconstruction_of_full_rank_changes_nothing() {
        let data = data();
        let dense = |rank| Centred::new(&data, rank).unwrap().dense().unwrap().clone();
        let (plain, full, one) = (dense(None), dense(Some(99)), dense(Some(1)));
        assert!((&plain - &full).norm_max() < 1e-12);
        assert_eq!(thin_svd(one.as_ref()).unwrap().s.len(), 1);
        assert_eq!(column(&one, 0), [0.0; 7]);
    }

    #[test]
    fn nothing_but_constants_is_an_error() {
        for data in both(&Mat::from_fn(3, 2, |_, j| j as f64)) {
            assert!(matches!(Centred::new(&data, None), Err(Error::Degenerate(_))));
        }
    }

    #[test]
    fn sparse_columns_are_those_of_dense_data() {
        let x = awkward();
        let [dense_data, sparse_data] = both(&x);
        let (dense, sparse) =
            (Centred::new(&dense_data, None).unwrap(), Centred::new(&sparse_data, None).unwrap());
        assert!(sparse.dense().is_err());
        let ((unit, ..), (solver, ..)) = (dense.clone().into_solver(true), sparse.clone().into_solver(true));
        let lengths = solver.squared_lengths();
        for j in 0..8 {
            assert_eq!(sparse.norms[j] == 0.0, dense.norms[j] == 0.0, "column {j}");
            assert!((sparse.norms[j] - dense.norms[j]).abs() <= 1e-15 * dense.norms[j], "column {j}");
            let size = x.col(j).norm_max();
            assert!((sparse.mean[j] - dense.mean[j]).abs() <= 1e-15 * size, "column {j}");
            for (a, b) in sparse.columns.column(j).iter().zip(&dense.columns.column(j)) {
                assert!((a - b).abs() <= 1e-15 * size, "column {j}");
            }
            for (a, b) in solver.column(j).iter().zip(&unit.column(j)) {
                assert!((a - b).abs() < 1e-15, "column {j}");
            }
            let expected = f64::from(u8::from(dense.norms[j] > 0.0));
            assert!((lengths[j] - expected).abs() < 1e-15);
        }
        let y = Mat::from_fn(9, 2, |i, k| ((i * 5 + k) % 7) as f64);
        let (found, expected) = (solver.correlate_all(y.as_ref()), unit.correlate_all(y.as_ref()));
        assert!((&found - &expected).norm_max() < 1e-14 * expected.norm_max());
        assert_eq!(solver.correlate_all(y.subcols(0, 1)), found.subcols(0, 1));
        let centres = |data, centred: &Centred<'_>| centred.columns.class_means(data);
        let off = centres(&dense_data, &dense) - centres(&sparse_data, &sparse);
        assert!(off.norm_max() < 1e-15 * 1e8, "{off:?}");
    }

    /// Row by row, and column by column with a column that is rounding.
    #[test]
    fn single_precision_gives_the_bits_of_double() {
        for constant in [false, true] {
            let single = Mat::<f32>::from_fn(70, 6, |i, j| match j {
                0 if constant => 0.1 + f32::EPSILON * 1e-9 * i as f32,
                _ => ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f32 / 7.0,
            });
            let by_rows = single.transpose().to_owned();
            let double = Mat::from_fn(70, 6, |i, j| f64::from(single[(i, j)]));
            let codes: Vec<usize> = (0..70).map(|i| i % 3).collect();
            let names = || ["a", "b", "c"].map(str::to_owned).to_vec();
            let expected_data = Dataset::from_codes(double, codes.clone(), names()).unwrap();
            let expected = Centred::new(&expected_data, None).unwrap();
            for x in [single.as_ref(), by_rows.transpose()] {
                let data = Dataset::from_codes(x, codes.clone(), names()).unwrap();
                let found = Centred::new(&data, None).unwrap();
                assert_eq!(found.dense().unwrap(), expected.dense().unwrap());
                assert_eq!((found.mean(), found.norms()), (expected.mean(), expected.norms()));
                for (i, j) in [(0, 1), (3, 69), (5, 5)] {
                    let distance = |centred: &Centred<'_>| centred.rows().squared_distance(i, j);
                    assert_eq!(distance(&found), distance(&expected));
                    let differences = |centred: &Centred<'_>| centred.rows().differences(&[i, 7], j);
                    assert_eq!(differences(&found), differences(&expected));
                }
                let params = crate::MenParams { nonzeros: Some(3), ..crate::MenParams::default() };
                let fitted = |data| crate::fit(data, &params, &()).unwrap();
                assert_eq!(fitted(&data).projection(), fitted(&expected_data).projection());
                assert!(data.x().unwrap_err().to_string().contains("single precision"));
            }
        }
    }

    #[test]
    fn differences_leave_out_variables_that_nobody_has() {
        let [dense_data, sparse_data] = both(&awkward());
        let (dense, sparse) =
            (Centred::new(&dense_data, None).unwrap(), Centred::new(&sparse_data, None).unwrap());
        let (few, all) = (sparse.rows.differences(&[1, 3, 1], 2), dense.rows.differences(&[1, 3, 1], 2));
        assert!(few.nrows() < all.nrows());
        assert!((few.transpose() * &few - all.transpose() * &all).norm_max() < 1e-12);
        for (i, j) in [(0, 1), (2, 7), (4, 4)] {
            assert_eq!(sparse.rows.squared_distance(i, j), dense.rows.squared_distance(i, j));
        }
    }
}
