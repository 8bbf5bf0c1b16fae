//! A sparse matrix by rows.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::finite::usable;
use crate::numerics::linalg::vectorized;

/// A sparse matrix by rows: of every row the columns, rising, and the nonzero values there.
///
/// Its three arrays are those of SciPy's `csr_array`, with indices of 32 bits. By columns, it is its
/// [transpose](Self::transpose).
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// From compressed rows: row i has `values[starts[i]..starts[i + 1]]` at the columns `indices[..]` of the same range, in any
    /// order. As in SciPy, values at the same place are added up. Zeros are left out.
    ///
    /// # Errors
    /// When the arrays do not fit together, an index is out of range, or a value is not finite.
    pub fn from_rows<S, I, T>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self>
    where
        S: Copy + TryInto<usize> + std::fmt::Display,
        I: Copy + TryInto<usize> + std::fmt::Display,
        T: Copy + Into<f64>,
    {
        let matrix = Self::compressed(shape.0, shape.1, starts, indices, values)?;
        matrix.check_finite()?;
        Ok(matrix)
    }

    /// The same from compressed columns.
    ///
    /// # Errors
    /// As [`Self::from_rows`].
    pub fn from_columns<S, I, T>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self>
    where
        S: Copy + TryInto<usize> + std::fmt::Display,
        I: Copy + TryInto<usize> + std::fmt::Display,
        T: Copy + Into<f64>,
    {
        let matrix = Self::compressed(shape.1, shape.0, starts, indices, values)?.transpose();
        matrix.check_finite()?;
        Ok(matrix)
    }

    /// `lines` lines of `length` entries, whichever of rows and columns they are.
    fn compressed<S, I, T>(
        lines: usize,
        length: usize,
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self>
    where
        S: Copy + TryInto<usize> + std::fmt::Display,
        I: Copy + TryInto<usize> + std::fmt::Display,
        T: Copy + Into<f64>,
    {
        if lines.max(length) > u32::MAX as usize {
            let why = format!("at most {} rows or columns", u32::MAX);
            return Err(Error::parameter("shape", lines.max(length), why));
        }
        if starts.len() != lines + 1 {
            let why = format!("there are {lines} of them, and one end");
            return Err(Error::Size { what: "`starts`", given: starts.len(), expected: lines + 1, why });
        }
        if indices.len() != values.len() {
            let (given, expected) = (indices.len(), values.len());
            let why = format!("there are {expected} values");
            return Err(Error::Size { what: "`indices`", given, expected, why });
        }
        let mut out = SparseMatrix {
            columns: length,
            starts: Vec::with_capacity(lines + 1),
            indices: Vec::with_capacity(indices.len()),
            values: Vec::with_capacity(values.len()),
        };
        out.starts.push(0);
        let mut from = 0;
        let mut line: Vec<(u32, f64)> = Vec::new();
        for (k, &start) in starts.iter().enumerate() {
            let to = start.try_into().ok().filter(|&to: &usize| to >= from && to <= values.len());
            let Some(to) = to.filter(|&to| k > 0 || to == 0) else {
                let value = format!("{start} at position {k}");
                let allowed = format!("rising from 0 to at most {}, the number of values", values.len());
                return Err(Error::parameter("starts", value, allowed));
            };
            if k == 0 {
                continue;
            }
            line.clear();
            for at in from..to {
                let index = indices[at].try_into().ok().filter(|&index: &usize| index < length);
                let Some(index) = index else {
                    let value = format!("{} at position {at}", indices[at]);
                    return Err(Error::parameter("indices", value, format!("from 0, and below {length}")));
                };
                line.push((index as u32, values[at].into()));
            }
            out.push_line(&mut line);
            from = to;
        }
        Ok(out)
    }

    /// Adds a row from entries in any order.
    fn push_line(&mut self, line: &mut [(u32, f64)]) {
        if !line.is_sorted_by(|a, b| a.0 < b.0) {
            line.sort_by_key(|entry| entry.0); // stable: equal places add up in the order given
        }
        for same in line.chunk_by(|a, b| a.0 == b.0) {
            let sum: f64 = same.iter().map(|entry| entry.1).sum();
            if sum != 0.0 {
                self.indices.push(same[0].0);
                self.values.push(sum);
            }
        }
        self.starts.push(self.indices.len());
    }

    /// Refuses a value that is not finite or too large, naming the first in the first column that has one.
    fn check_finite(&self) -> Result<()> {
        if self.values.iter().all(|&value| usable(value)) {
            return Ok(());
        }
        let entries = (0..self.rows()).flat_map(|i| self.row(i).map(move |(j, value)| (j, i, value)));
        match entries.filter(|&(_, _, value)| !usable(value)).min_by_key(|&(j, i, _)| (j, i)) {
            Some((column, row, value)) => Err(Error::NotFinite { what: "the data", row, column, value }),
            None => Ok(()),
        }
    }

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
    pub fn dense_bytes(&self) -> f64 {
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
