//! The whole Gram matrix, p×p.

use faer::{Mat, MatMut, MatRef};

use super::Gram;
use crate::error::{Error, Result};
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::{CombinedColumns, combinations};

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
                combinations(
                    CombinedColumns::Apart(&|k| lines.col(support[k]).as_slice()),
                    coefficients,
                    out,
                );
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
        check_finite("the Gram matrix", *self)?;
        check_symmetric(*self)
    }
}

/// The part of the two variables' lengths by which the two entries of a pair may differ: rounding leaves much less, and the path reads
/// either of them.
const ASYMMETRY: f64 = 1e-9;

/// Entries that are compared side by side, so that both halves of the matrix are read in pieces that fit in the cache.
const TILE: usize = 64;

/// Refuses a matrix whose halves differ.
fn check_symmetric(gram: MatRef<'_, f64>) -> Result<()> {
    let p = gram.ncols();
    let length = |j: usize| gram[(j, j)].abs().sqrt();
    let differ = |i: usize, j: usize| {
        let off = (gram[(i, j)] - gram[(j, i)]).abs();
        off > 0.0 && off > ASYMMETRY * length(i) * length(j)
    };
    let in_tile = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        columns.flat_map(|j| rows.clone().map(move |i| (i, j))).find(|&(i, j)| i < j && differ(i, j))
    };
    let tiles = (0..p).step_by(TILE).flat_map(|j| (0..=j).step_by(TILE).map(move |i| (i, j)));
    let found = tiles.map(|(i, j)| in_tile(i..p.min(i + TILE), j..p.min(j + TILE))).find_map(|pair| pair);
    match found {
        None => Ok(()),
        Some((i, j)) => {
            let value = format!(
                "{:?} at row {i}, column {j} and {:?} at row {j}, column {i} (counted from 0)",
                gram[(i, j)],
                gram[(j, i)]
            );
            Err(Error::parameter("gram", value, "symmetric: use (G + Gᵀ)/2 if the difference is rounding"))
        }
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
