//! From the arrays of a compressed sparse matrix, all of which is checked.

use std::fmt::Display;

use super::SparseMatrix;
use crate::error::{Error, Result};
use crate::numerics::finite::usable;

/// A whole number that may be a place in an array, of any type.
pub trait IndexNumber: Copy + TryInto<usize> + Display {}

impl<T: Copy + TryInto<usize> + Display> IndexNumber for T {}

impl SparseMatrix {
    /// From compressed rows: row i has `values[starts[i]..starts[i + 1]]` at the columns `indices[..]` of the same range, in any
    /// order. As in SciPy, values at the same place are added up. Zeros are left out.
    ///
    /// # Errors
    /// When the arrays do not fit together, an index is out of range, or a value is not finite.
    pub fn from_rows<S: IndexNumber, I: IndexNumber, T: Copy + Into<f64>>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self> {
        let matrix = Self::compressed(shape.0, shape.1, starts, indices, values)?;
        matrix.check_finite()?;
        Ok(matrix)
    }

    /// A matrix from compressed columns.
    ///
    /// # Errors
    /// As [`Self::from_rows`].
    pub fn from_columns<S: IndexNumber, I: IndexNumber, T: Copy + Into<f64>>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self> {
        let matrix = Self::compressed(shape.1, shape.0, starts, indices, values)?.transpose();
        matrix.check_finite()?;
        Ok(matrix)
    }

    /// As [`Self::from_rows`], where NaN stands for a missing value.
    ///
    /// # Errors
    /// As [`Self::from_rows`], but for NaN.
    pub fn from_rows_with_missing<S: IndexNumber, I: IndexNumber, T: Copy + Into<f64>>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self> {
        let matrix = Self::compressed(shape.0, shape.1, starts, indices, values)?;
        matrix.check_present()?;
        Ok(matrix)
    }

    /// A matrix from compressed columns, in which NaN stands for a missing value.
    ///
    /// # Errors
    /// As [`Self::from_rows_with_missing`].
    pub fn from_columns_with_missing<S: IndexNumber, I: IndexNumber, T: Copy + Into<f64>>(
        shape: (usize, usize),
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self> {
        let matrix = Self::compressed(shape.1, shape.0, starts, indices, values)?.transpose();
        matrix.check_present()?;
        Ok(matrix)
    }

    /// `lines` lines of `length` entries, whichever of rows and columns they are.
    fn compressed<S: IndexNumber, I: IndexNumber, T: Copy + Into<f64>>(
        lines: usize,
        length: usize,
        starts: &[S],
        indices: &[I],
        values: &[T],
    ) -> Result<Self> {
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
    pub(crate) fn check_finite(&self) -> Result<()> {
        self.check(usable)
    }

    /// Refuses values that are not finite or too large; missing values, NaN, pass.
    pub(crate) fn check_present(&self) -> Result<()> {
        self.check(|value: f64| usable(value) || value.is_nan())
    }

    fn check(&self, passes: impl Fn(f64) -> bool) -> Result<()> {
        if self.values.iter().all(|&value| passes(value)) {
            return Ok(());
        }
        let entries = (0..self.rows()).flat_map(|i| self.row(i).map(move |(j, value)| (j, i, value)));
        match entries.filter(|&(_, _, value)| !passes(value)).min_by_key(|&(j, i, _)| (j, i)) {
            Some((column, row, value)) => Err(Error::NotFinite { what: "the data", row, column, value }),
            None => Ok(()),
        }
    }

    /// Row and column of the first missing value, in the first column that has one.
    pub(crate) fn first_missing(&self) -> Option<(usize, usize)> {
        let entries = (0..self.rows()).flat_map(|i| self.row(i).map(move |(j, value)| (j, i, value)));
        let first = entries.filter(|(_, _, value)| value.is_nan()).min_by_key(|&(j, i, _)| (j, i));
        first.map(|(column, row, _)| (row, column))
    }
}
