//! Where Gram columns come from.
//!
//! LARS asks three things of `G`: its diagonal, a few entries of one column, and products with a few sparse
//! vectors at once. Whoever can give a column can give all three; the sources here do better:
//!
//! | source | stores | for |
//! |---|---|---|
//! | [`Mat`], [`MatRef`] | `G` itself, p×p | small p |
//! | [`FactorGram`] | `F` with `G = FᵀF`, n×p | p ≫ n: no p×p matrix, ever |
//! | [`ConjugateGram`](crate::conjugate::ConjugateGram) | `X` and sparse `L` | n and p both large |
//! | [`SparseGram`](crate::implicit::SparseGram) | sparse `X` and sparse `L` | data that stay sparse |

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::dataset::check_finite;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, dot};

/// A symmetric positive semidefinite matrix known by its columns. The ridge is not part of it.
pub trait Gram: Sync {
    /// Number of variables p.
    fn dim(&self) -> usize;

    /// Writes column `j`, all p entries.
    fn column(&self, j: usize, out: &mut [f64]);

    /// The p diagonal entries.
    fn diagonal(&self) -> Vec<f64> {
        let mut buffer = vec![0.0; self.dim()];
        (0..self.dim())
            .map(|j| {
                self.column(j, &mut buffer);
                buffer[j]
            })
            .collect()
    }

    /// The squared length of every variable, by which violations of optimality are compared between variables: the diagonal,
    /// or, where that is dear, what is within a bounded factor of it.
    fn squared_lengths(&self) -> Vec<f64> {
        self.diagonal()
    }

    /// Writes the entries of column `j` at `rows`.
    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let mut buffer = vec![0.0; self.dim()];
        self.column(j, &mut buffer);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = buffer[row];
        }
    }

    /// Refuses a source that cannot be a Gram matrix: not square, not finite. Called once before a path.
    ///
    /// # Errors
    /// Saying what is wrong.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// `out = G[:, support] · coefficients`.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let mut columns = Mat::zeros(self.dim(), support.len());
        for (k, &j) in support.iter().enumerate() {
            self.column(j, crate::linalg::column_mut(&mut columns, k));
        }
        matmul(out, Accum::Replace, &columns, coefficients, 1.0, Par::Seq);
    }
}

impl Gram for MatRef<'_, f64> {
    fn dim(&self) -> usize {
        self.ncols()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        for (out, value) in out.iter_mut().zip(self.col(j).iter()) {
            *out = *value;
        }
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.ncols()).map(|j| self[(j, j)]).collect()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let column = self.col(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = column[row];
        }
    }

    fn check(&self) -> Result<()> {
        if self.nrows() != self.ncols() {
            let why = format!("it has {} columns and must be square", self.ncols());
            let (given, expected) = (self.nrows(), self.ncols());
            return Err(Error::Size { what: "a column of the Gram matrix", given, expected, why });
        }
        check_finite("the Gram matrix", *self)
    }
}

impl Gram for Mat<f64> {
    fn dim(&self) -> usize {
        self.as_ref().dim()
    }
    fn column(&self, j: usize, out: &mut [f64]) {
        self.as_ref().column(j, out);
    }
    fn diagonal(&self) -> Vec<f64> {
        Gram::diagonal(&self.as_ref())
    }
    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        self.as_ref().entries(rows, j, out);
    }
    fn check(&self) -> Result<()> {
        self.as_ref().check()
    }
}

/// `G = FᵀF` for a factor `F` (n×p), whose columns are read on demand.
#[derive(Debug, Clone)]
pub struct FactorGram<'a> {
    factor: Matrix<'a>,
}

impl<'a> FactorGram<'a> {
    /// From the n×p factor, for instance the data matrix itself.
    pub fn new(factor: Mat<f64>) -> Self {
        FactorGram { factor: Matrix::Owned(factor) }
    }

    /// From a borrowed factor, which is copied only if its columns are not contiguous.
    pub fn borrowed(factor: MatRef<'a, f64>) -> Self {
        match factor.try_as_col_major() {
            Some(_) => FactorGram { factor: Matrix::Borrowed(factor) },
            None => FactorGram::new(factor.to_owned()),
        }
    }

    /// The factor.
    pub fn factor(&self) -> MatRef<'_, f64> {
        self.factor.view()
    }

    /// Column `j` of the factor, contiguous as both constructors see to.
    fn slice(&self, j: usize) -> &[f64] {
        let column = self.factor.view().col(j).try_as_col_major();
        column.map_or(&[], |column| column.as_slice())
    }
}

impl Gram for FactorGram<'_> {
    fn dim(&self) -> usize {
        self.factor().ncols()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        let x = self.slice(j);
        for (i, out) in out.iter_mut().enumerate() {
            *out = dot(self.slice(i), x);
        }
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.dim()).map(|j| dot(self.slice(j), self.slice(j))).collect()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let x = self.slice(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = dot(self.slice(row), x);
        }
    }

    fn check(&self) -> Result<()> {
        check_finite("the factor of the Gram matrix", self.factor())
    }

    /// `Fᵀ (F[:, support] · coefficients)`: the factor is read once for all the vectors.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let factor = self.factor();
        let n = factor.nrows();
        let chosen = Mat::from_fn(n, support.len(), |i, k| factor[(i, support[k])]);
        let mut image = Mat::zeros(n, coefficients.ncols());
        matmul(&mut image, Accum::Replace, &chosen, coefficients, 1.0, Par::Seq);
        matmul(out, Accum::Replace, factor.transpose(), &image, 1.0, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only columns: everything else comes from the trait.
    struct ColumnsOnly(Mat<f64>);

    impl Gram for ColumnsOnly {
        fn dim(&self) -> usize {
            self.0.ncols()
        }
        fn column(&self, j: usize, out: &mut [f64]) {
            self.0.column(j, out);
        }
    }

    #[test]
    fn every_source_answers_alike() {
        let x = Mat::from_fn(6, 9, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
        let full = x.transpose() * &x;
        let row_major = full.transpose().to_owned();
        let rows_first = x.transpose().to_owned();
        let sources: [&dyn Gram; 6] = [
            &full,
            &row_major.transpose(),
            &ColumnsOnly(full.clone()),
            &FactorGram::new(x.clone()),
            &FactorGram::borrowed(x.as_ref()),
            &FactorGram::borrowed(rows_first.transpose()),
        ];
        let (rows, support) = ([7, 2, 3], [8, 0]);
        let coefficients = Mat::from_fn(2, 3, |i, j| (i + 2 * j) as f64 - 1.5);
        let expected = &full
            * Mat::from_fn(9, 3, |i, j| match i {
                8 => coefficients[(0, j)],
                0 => coefficients[(1, j)],
                _ => 0.0,
            });
        for gram in sources {
            assert_eq!(gram.dim(), 9);
            assert!(gram.check().is_ok());
            assert_eq!(gram.diagonal(), (0..9).map(|j| full[(j, j)]).collect::<Vec<_>>());
            let mut out = [0.0; 3];
            gram.entries(&rows, 4, &mut out);
            assert_eq!(out, rows.map(|r| full[(r, 4)]));
            let mut product = Mat::zeros(9, 3);
            gram.product(&support, coefficients.as_ref(), product.as_mut());
            assert!((product - &expected).norm_max() < 1e-12);
        }
    }
}
