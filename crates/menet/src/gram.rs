//! Where Gram columns come from.
//!
//! LARS asks four things of `G`: its diagonal, a few entries of one column, a block of a few rows and columns, and
//! products with a few sparse vectors at once, at all rows or at some. Whoever can give a column can give all of them;
//! the sources here do better:
//!
//! | source | stores | for |
//! |---|---|---|
//! | [`Mat`], [`MatRef`] | `G` itself, p×p | small p |
//! | [`FactorGram`] | `F` with `G = FᵀF`, n×p | p ≫ n: no p×p matrix, ever |
//! | [`SmoothedGram`](crate::smoothed::SmoothedGram) | `X`, dense or sparse, and sparse `L` | n and p both large |

use faer::{Mat, MatMut, MatRef, RowMut};

use crate::dataset::check_finite;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, column, combine_block, combine_each, dot, inner_each, mirror_lower};

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
    /// or, where that is dear, an upper bound, within a bounded factor of it.
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

    /// Writes `G[rows, columns]`, one column after the other.
    fn block(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        if !rows.is_empty() {
            for (&j, out) in columns.iter().zip(out.chunks_exact_mut(rows.len())) {
                self.entries(rows, j, out);
            }
        }
    }

    /// Writes `G[variables, variables]`, of which half is asked for.
    fn square(&self, variables: &[usize], out: &mut [f64]) {
        let m = variables.len();
        for (k, &j) in variables.iter().enumerate() {
            self.entries(&variables[k..], j, &mut out[k * m + k..(k + 1) * m]);
        }
        mirror_lower(MatMut::from_column_major_slice_mut(out, m, m));
    }

    /// `out = G[:, support] · coefficients`. A column of the result must not depend on those beside it, nor on zeros at
    /// the end of the coefficients.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let p = self.dim();
        let mut columns = vec![0.0; p * support.len()];
        for (&j, column) in support.iter().zip(columns.chunks_exact_mut(p)) {
            self.column(j, column);
        }
        combinations(Terms::Apart(&|k| &columns[k * p..][..p]), coefficients, out);
    }

    /// `out = G[rows, support] · coefficients`, under the same rule.
    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        let m = rows.len();
        let mut columns = vec![0.0; m * support.len()];
        if rows == support {
            self.square(support, &mut columns);
        } else {
            self.block(rows, support, &mut columns);
        }
        combinations(Terms::Block(&columns), coefficients, out);
    }
}

/// The columns that are combined.
#[derive(Clone, Copy)]
pub(crate) enum Terms<'f, 'a> {
    /// Wherever they lie.
    Apart(&'f dyn Fn(usize) -> &'a [f64]),
    /// One after the other, all of them in the cache.
    Block(&'a [f64]),
}

/// `out = Σₖ column k · row k of the coefficients`, a few results at a time.
pub(crate) fn combinations(terms: Terms<'_, '_>, coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
    if out.row_stride() != 1 {
        let mut copy = Mat::zeros(out.nrows(), out.ncols());
        combinations(terms, coefficients, copy.as_mut());
        return out.copy_from(&copy);
    }
    let (width, most) = (out.ncols(), if matches!(terms, Terms::Block(_)) { 6 } else { 4 });
    for start in (0..width).step_by(most) {
        let out = out.as_mut().subcols_mut(start, (width - start).min(most));
        let coefficients = coefficients.subcols(start, out.ncols());
        match out.ncols() {
            1 => combine_columns::<1>(terms, coefficients, out),
            2 => combine_columns::<2>(terms, coefficients, out),
            3 => combine_columns::<3>(terms, coefficients, out),
            4 => combine_columns::<4>(terms, coefficients, out),
            5 => combine_columns::<5>(terms, coefficients, out),
            _ => combine_columns::<6>(terms, coefficients, out),
        }
    }
}

/// The same for T results, whose columns are contiguous.
fn combine_columns<const T: usize>(
    terms: Terms<'_, '_>,
    coefficients: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    let weights: Vec<[f64; T]> =
        (0..coefficients.nrows()).map(|k| std::array::from_fn(|t| coefficients[(k, t)])).collect();
    let mut results = out.col_iter_mut().filter_map(|column| column.try_as_col_major_mut());
    let results = [(); T].map(|()| results.next().map_or(&mut [][..], |column| column.as_slice_mut()));
    match terms {
        Terms::Apart(column) => combine_each(column, &weights, results),
        Terms::Block(block) => combine_block(block, &weights, results),
    }
}

/// `out = columnsᵀ · images`, a few results at a time.
pub(crate) fn inner_combinations<'a>(
    columns: impl Iterator<Item = &'a [f64]>,
    images: &Mat<f64>,
    mut out: MatMut<'_, f64>,
) {
    for (row, x) in columns.enumerate() {
        for start in (0..images.ncols()).step_by(4) {
            let image = |t: usize| column(images, start + t);
            match images.ncols() - start {
                1 => inner_columns([image(0)], x, out.as_mut().row_mut(row).subcols_mut(start, 1)),
                2 => inner_columns([image(0), image(1)], x, out.as_mut().row_mut(row).subcols_mut(start, 2)),
                3 => inner_columns(
                    std::array::from_fn::<_, 3, _>(image),
                    x,
                    out.as_mut().row_mut(row).subcols_mut(start, 3),
                ),
                _ => inner_columns(
                    std::array::from_fn::<_, 4, _>(image),
                    x,
                    out.as_mut().row_mut(row).subcols_mut(start, 4),
                ),
            }
        }
    }
}

fn inner_columns<const T: usize>(images: [&[f64]; T], x: &[f64], out: RowMut<'_, f64>) {
    for (out, value) in out.iter_mut().zip(inner_each(images, x)) {
        *out = value;
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
        match column.try_as_col_major() {
            Some(column) => {
                let column = column.as_slice();
                out.iter_mut().zip(rows).for_each(|(out, &row)| *out = column[row]);
            }
            None => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = column[row]),
        }
    }

    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        // By symmetry a row is as good as a column.
        let lines = if self.row_stride() == 1 { *self } else { self.transpose() };
        match lines.try_as_col_major() {
            Some(lines) => {
                combinations(Terms::Apart(&|k| lines.col(support[k]).as_slice()), coefficients, out);
            }
            None => Gram::product(&self.to_owned(), support, coefficients, out),
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
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        self.as_ref().product(support, coefficients, out);
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

    /// `F[:, variables]`.
    pub(crate) fn columns_at(&self, variables: &[usize]) -> Mat<f64> {
        let factor = self.factor();
        Mat::from_fn(factor.nrows(), variables.len(), |i, k| factor[(i, variables[k])])
    }

    /// `F[:, support] · coefficients`.
    fn images(&self, support: &[usize], coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut images = Mat::zeros(self.factor().nrows(), coefficients.ncols());
        combinations(Terms::Apart(&|k| self.slice(support[k])), coefficients, images.as_mut());
        images
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

    /// `Fᵀ (F[:, support] · coefficients)`: the factor is read once for up to four vectors.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let images = self.images(support, coefficients);
        inner_combinations((0..self.dim()).map(|j| self.slice(j)), &images, out);
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
            assert!((&product - &expected).norm_max() < 1e-12);
            let mut some = Mat::zeros(3, 3);
            gram.product_at(&rows, &support, coefficients.as_ref(), some.as_mut());
            assert!(
                rows.iter().enumerate().all(|(r, &row)| (some.row(r) - product.row(row)).norm_max() < 1e-12)
            );
            let mut block = [0.0; 6];
            gram.block(&rows, &support, &mut block);
            assert_eq!(block, [8, 0].map(|j| rows.map(|r| full[(r, j)])).concat()[..]);
        }
    }
}
