//! A sparse matrix by rows.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use crate::error::Result;
use crate::numerics::linalg::vectorized;

/// A sparse matrix by rows: every row has the columns of its nonzero values, rising, and the values.
///
/// Its three arrays are those of SciPy's `csr_array`, with indices of 32 bits. By columns, it is its
/// [transpose](Self::transpose).
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    pub(super) columns: usize,
    pub(super) starts: Vec<usize>,
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl SparseMatrix {
    /// The nonzeros of a dense matrix.
    ///
    /// # Errors
    /// As [`Self::from_rows`].
    pub fn from_dense(x: faer::MatRef<'_, f64>) -> Result<Self> {
        let starts: Vec<usize> = (0..=x.nrows()).map(|i| i * x.ncols()).collect();
        let indices: Vec<usize> = (0..x.nrows()).flat_map(|_| 0..x.ncols()).collect();
        let values: Vec<f64> =
            (0..x.nrows()).flat_map(|i| x.row(i).iter().copied().collect::<Vec<_>>()).collect();
        Self::from_rows(x.shape(), &starts, &indices, &values)
    }

    /// As a dense matrix.
    pub fn to_dense(&self) -> Mat<f64> {
        let mut out = Mat::zeros(self.rows(), self.columns);
        for i in 0..self.rows() {
            for (j, value) in self.row(i) {
                out[(i, j)] = value;
            }
        }
        out
    }

    /// Bytes that it would take as a dense matrix: a number of any size.
    pub(crate) fn dense_bytes(&self) -> f64 {
        size_of::<f64>() as f64 * self.rows() as f64 * self.columns as f64
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of nonzeros.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The `(column, value)` pairs of a row, columns rising.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (indices, values) = self.line(i);
        indices.iter().map(|&j| j as usize).zip(values.iter().copied())
    }

    /// The columns of a row, and the values there.
    pub(crate) fn line(&self, i: usize) -> (&[u32], &[f64]) {
        let at = self.range(i);
        (&self.indices[at.clone()], &self.values[at])
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Its columns as rows.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0; self.columns + 1];
        for &j in &self.indices {
            starts[j as usize + 1] += 1;
        }
        for j in 0..self.columns {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let (mut indices, mut values) = (vec![0; self.nonzeros()], vec![0.0; self.nonzeros()]);
        for i in 0..self.rows() {
            for (j, value) in self.row(i) {
                (indices[next[j]], values[next[j]]) = (i as u32, value);
                next[j] += 1;
            }
        }
        SparseMatrix { columns: self.rows(), starts, indices, values }
    }

    /// Some of its rows, in the order given.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut out =
            SparseMatrix { columns: self.columns, starts: vec![0], indices: Vec::new(), values: Vec::new() };
        for &i in rows {
            let (indices, values) = self.line(i);
            out.indices.extend(indices);
            out.values.extend(values);
            out.starts.push(out.indices.len());
        }
        out
    }

    /// The rows of two matrices with as many columns, one after the other.
    pub(crate) fn stacked(above: &Self, below: &Self) -> Self {
        let mut out = above.clone();
        out.starts.extend(below.starts.iter().skip(1).map(|start| start + above.indices.len()));
        out.indices.extend(&below.indices);
        out.values.extend(&below.values);
        out
    }

    /// Every value replaced by `f(row, column, value)`; what becomes 0 is left out.
    pub(crate) fn map(&self, f: impl Fn(usize, usize, f64) -> f64) -> Self {
        let mut out =
            SparseMatrix { columns: self.columns, starts: vec![0], indices: Vec::new(), values: Vec::new() };
        for i in 0..self.rows() {
            for (j, value) in self.row(i) {
                let value = f(i, j, value);
                if value != 0.0 {
                    out.indices.push(j as u32);
                    out.values.push(value);
                }
            }
            out.starts.push(out.indices.len());
        }
        out
    }

    /// The product with vectors side by side: row i of the result is that of the matrix times `x`, `add(i)` added.
    pub(crate) fn multiply<const L: usize>(
        &self,
        x: &[[f64; L]],
        add: impl Fn(usize) -> [f64; L] + Sync,
    ) -> Vec<[f64; L]> {
        let mut out = vec![[0.0; L]; self.rows()];
        out.par_chunks_mut(ROWS).enumerate().for_each(|(block, out)| {
            vectorized(
                #[inline(always)]
                || {
                    for (i, out) in out.iter_mut().enumerate() {
                        let i = block * ROWS + i;
                        let (indices, values) = self.line(i);
                        let mut sum = [0.0; L];
                        for (&j, value) in indices.iter().zip(values) {
                            let x = &x[j as usize];
                            for l in 0..L {
                                sum[l] += value * x[l];
                            }
                        }
                        let add = add(i);
                        *out = std::array::from_fn(|l| sum[l] + add[l]);
                    }
                },
            );
        });
        out
    }
}

/// Rows that a thread takes at a time.
const ROWS: usize = 1024;

/// `Σ (xᵢ − yᵢ)²` of two rows of a matrix with this many columns, added up in the same order as for
/// [dense rows](crate::numerics::linalg::squared_distance), so that the bits are the same.
pub(crate) fn squared_distance(x: (&[u32], &[f64]), y: (&[u32], &[f64]), columns: usize) -> f64 {
    const LANES: usize = 8;
    let whole = columns / LANES * LANES;
    let (mut sums, mut tail) = ([0.0; LANES], 0.0);
    let mut add = |v: u32, d: f64| match v as usize {
        v if v < whole => sums[v % LANES] += d * d,
        _ => tail += d * d,
    };
    let ((mut a, mut x), (mut b, mut y)) = (x, y);
    while let (Some(&v), Some(&w)) = (a.first(), b.first()) {
        add(v.min(w), if v <= w { x[0] } else { 0.0 } - if w <= v { y[0] } else { 0.0 });
        if v <= w {
            (a, x) = (&a[1..], &x[1..]);
        }
        if w <= v {
            (b, y) = (&b[1..], &y[1..]);
        }
    }
    for (&v, x) in a.iter().zip(x).chain(b.iter().zip(y)) {
        add(v, *x);
    }
    sums.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use faer::mat;

    #[test]
    fn rows_and_columns_give_the_same_matrix() {
        let dense = mat![[0.0, 2.0, 0.0], [-1.0, 0.0, 0.5]];
        let expected = SparseMatrix::from_dense(dense.as_ref()).unwrap();
        assert_eq!(expected.to_dense(), dense);
        // Unsorted, an explicit zero, and one value in two parts.
        let rows =
            SparseMatrix::from_rows((2, 3), &[0, 2, 5], &[1, 0, 2, 0, 2], &[2.0, 0.0, 0.25, -1.0, 0.25f32]);
        assert_eq!(rows.unwrap(), expected);
        let columns = SparseMatrix::from_columns((2, 3), &[0i64, 1, 2, 3], &[1, 0, 1], &[-1.0, 2.0, 0.5]);
        assert_eq!(columns.unwrap(), expected);
        assert_eq!(expected.transpose().transpose(), expected);
        assert_eq!(expected.select(&[1, 1]).to_dense(), mat![[-1.0, 0.0, 0.5], [-1.0, 0.0, 0.5]]);
        assert_eq!((expected.rows(), expected.columns(), expected.nonzeros()), (2, 3, 3));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = |starts: &[i64], indices: &[i64], values: &[f64]| {
            SparseMatrix::from_rows((2, 3), starts, indices, values).unwrap_err().to_string()
        };
        for (message, part) in [
            (error(&[0, 1], &[0], &[1.0]), "`starts` has 2 entries, but 3 are needed"),
            (error(&[0, 1, 1], &[0, 1], &[1.0]), "`indices` has 2 entries, but 1 are needed"),
            (error(&[0, 2, 1], &[0, 1], &[1.0; 2]), "`starts` is 1 at position 2"),
            (error(&[1, 1, 2], &[0, 1], &[1.0; 2]), "`starts` is 1 at position 0"),
            (error(&[0, 1, 9], &[0, 1], &[1.0; 2]), "`starts` is 9 at position 2"),
            (error(&[0, 1, 2], &[0, 3], &[1.0; 2]), "`indices` is 3 at position 1"),
            (error(&[0, 1, 2], &[0, -1], &[1.0; 2]), "`indices` is -1 at position 1"),
            (error(&[0, 1, 2], &[2, 1], &[f64::NAN, f64::INFINITY]), "row 1, column 1"),
        ] {
            assert!(message.contains(part), "{message}");
        }
        let columns = SparseMatrix::from_columns((2, 3), &[0, 0, 0, 1], &[1], &[f64::NAN]);
        assert!(matches!(columns, Err(Error::NotFinite { row: 1, column: 2, .. })));
    }
}
