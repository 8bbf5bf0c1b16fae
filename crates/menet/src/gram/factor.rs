//! A factor of the Gram matrix, n×p, for p ≫ n.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::Gram;
use crate::error::Result;
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::{
    CombinedColumns, Matrix, combinations, dot, inner_combinations, symmetric_product,
};

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

    /// `F[:, support] · coefficients`.
    fn images(&self, support: &[usize], coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut images = Mat::zeros(self.factor().nrows(), coefficients.ncols());
        combinations(CombinedColumns::Apart(&|k| self.slice(support[k])), coefficients, images.as_mut());
        images
    }

    /// Column `j` of the factor. Both constructors make sure that it is contiguous.
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
        let square = |j: usize| dot(self.slice(j), self.slice(j));
        (0..self.dim()).into_par_iter().with_min_len(64).map(square).collect()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let x = self.slice(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = dot(self.slice(row), x);
        }
    }

    fn submatrix(&self, variables: &[usize]) -> Mat<f64> {
        let factor = self.factor();
        let some = Mat::from_fn(factor.nrows(), variables.len(), |i, k| factor[(i, variables[k])]);
        symmetric_product(some.as_ref(), some.as_ref())
    }

    fn check(&self) -> Result<()> {
        check_finite("the factor of the Gram matrix", self.factor())
    }

    /// `Fᵀ (F[:, support] · coefficients)`: the factor is read once for up to four vectors.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let images = self.images(support, coefficients);
        // An entry does not depend on the others: two threads give the same bits as one.
        let (p, half) = (self.dim(), self.dim() / 2);
        let (first, second) = out.split_at_row_mut(half);
        rayon::join(
            || inner_combinations((0..half).map(|j| self.slice(j)), &images, first),
            || inner_combinations((half..p).map(|j| self.slice(j)), &images, second),
        );
    }

    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        let images = self.images(support, coefficients);
        inner_combinations(rows.iter().map(|&j| self.slice(j)), &images, out);
    }
}
