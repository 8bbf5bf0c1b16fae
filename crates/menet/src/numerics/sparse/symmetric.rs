//! A sparse symmetric matrix, and where it has entries.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Mul, Range, SubAssign};

use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::finite::Real;
use crate::numerics::linalg::{from_columns, vectorized};
use crate::numerics::spectrum::{SmallestEigenvalue, smallest_eigenvalue};

/// Rows that a thread takes at a time.
const ROWS: usize = 4096;

/// What products are computed in.
pub(crate) trait Precision:
    Real + Add<Output = Self> + Mul<Output = Self> + AddAssign + SubAssign
{
}

impl<T: Real + Add<Output = T> + Mul<Output = T> + AddAssign + SubAssign> Precision for T {}

/// Where a symmetric matrix has entries, by rows, in as little memory as it takes.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    starts: Vec<usize>,
    indices: Vec<u32>,
}

impl Pattern {
    /// Number of rows.
    fn dim(&self) -> usize {
        self.starts.len() - 1
    }

    /// Row and column of every entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let row = |j: usize| self.indices[self.starts[j]..self.starts[j + 1]].iter();
        (0..self.dim()).flat_map(move |j| row(j).map(move |&i| (j, i as usize)))
    }

    /// Rows of the product of the matrix of `values` with vectors side by side: `take` gets each.
    #[inline(always)]
    pub(crate) fn multiply<T: Precision, const L: usize>(
        &self,
        values: &[T],
        rows: Range<usize>,
        x: &[[T; L]],
        mut take: impl FnMut(usize, [T; L]),
    ) {
        vectorized(
            #[inline(always)]
            || {
                for j in rows {
                    let row = self.starts[j]..self.starts[j + 1];
                    let mut sum = [T::default(); L];
                    for (&i, &value) in self.indices[row.clone()].iter().zip(&values[row]) {
                        let x = &x[i as usize];
                        for l in 0..L {
                            sum[l] += value * x[l];
                        }
                    }
                    take(j, sum);
                }
            },
        );
    }
}

/// A sparse symmetric matrix.
#[derive(Debug, Clone)]
pub struct SparseSymmetric {
    pattern: Pattern,
    values: Vec<f64>,
}

impl SparseSymmetric {
    /// The sum of `triplets` (row, column, value), both halves given.
    pub(crate) fn from_triplets(n: usize, triplets: &[Triplet<usize, usize, f64>]) -> Result<Self> {
        let broken = |detail: String| Error::Numerical { what: "the sparse alignment", detail };
        if u32::try_from(n).is_err() {
            return Err(broken(format!("{n} samples are more than it can number")));
        }
        let matrix =
            SparseColMat::try_new_from_triplets(n, n, triplets).map_err(|e| broken(format!("{e:?}")))?;
        let mut rows = SymmetricBuilder::new(matrix.compute_nnz());
        for j in 0..n {
            let (indices, values) = (matrix.row_idx_of_col_raw(j), matrix.val_of_col(j));
            indices.iter().zip(values).for_each(|(&i, &value)| rows.push(i as u32, value));
            rows.end_row();
        }
        Ok(rows.matrix)
    }

    /// From its rows: where each begins among the entries, and the column and value of every entry. Both halves are given.
    ///
    /// # Errors
    /// When rows do not end where the entries do, or a column is out of range.
    pub fn from_rows(starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        let n = starts.len().saturating_sub(1);
        let whole = starts.first() == Some(&0)
            && starts.last() == Some(&values.len())
            && indices.len() == values.len()
            && starts.is_sorted();
        if !whole || indices.iter().any(|&i| i as usize >= n) {
            let value = format!("{n} rows of {} indices and {} values", indices.len(), values.len());
            return Err(Error::parameter(
                "rows",
                value,
                "rows that end where the entries do, of columns in range",
            ));
        }
        Ok(SparseSymmetric { pattern: Pattern { starts, indices }, values })
    }

    /// Where rows begin, and the columns and values of their entries, as [`Self::from_rows`] takes them.
    pub fn rows(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.pattern.starts, &self.pattern.indices, &self.values)
    }

    /// `self + factor other`.
    pub(crate) fn plus(&self, factor: f64, other: &SparseSymmetric) -> SparseSymmetric {
        let mut rows = SymmetricBuilder::new(self.values.len().max(other.values.len()));
        for j in 0..self.dim() {
            let (mut a, mut b) = (self.entries(j).peekable(), other.entries(j).peekable());
            while let (Some(&(i, x)), Some(&(k, y))) = (a.peek(), b.peek()) {
                match i.cmp(&k) {
                    Ordering::Less => rows.push(i, x),
                    Ordering::Equal => rows.push(i, x + factor * y),
                    Ordering::Greater => rows.push(k, factor * y),
                }
                // Past those that were taken.
                a.next_if(|_| i <= k);
                b.next_if(|_| k <= i);
            }
            a.for_each(|(i, x)| rows.push(i, x));
            b.for_each(|(k, y)| rows.push(k, factor * y));
            rows.end_row();
        }
        rows.matrix
    }

    /// This matrix with rows and columns of zeros, up to `n` of them.
    pub(crate) fn enlarged(mut self, n: usize) -> SparseSymmetric {
        let end = self.values.len();
        self.pattern.starts.resize((n + 1).max(self.pattern.starts.len()), end);
        self
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.pattern.dim()
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The stored `(row, value)` pairs of a column.
    pub fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries(j).map(|(i, value)| (i as usize, value))
    }

    fn entries(&self, j: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let Pattern { starts, indices } = &self.pattern;
        let row = starts[j]..starts[j + 1];
        indices[row.clone()].iter().copied().zip(self.values[row].iter().copied())
    }

    /// Where it has entries, and which.
    pub(crate) fn into_parts(self) -> (Pattern, Vec<f64>) {
        (self.pattern, self.values)
    }

    /// As a dense matrix.
    pub fn to_dense(&self) -> Mat<f64> {
        let mut dense = Mat::zeros(self.dim(), self.dim());
        for j in 0..self.dim() {
            self.column(j).for_each(|(i, value)| dense[(i, j)] = value);
        }
        dense
    }

    /// `out = L x`.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        let (x, _) = x.as_chunks::<1>();
        out.par_chunks_mut(ROWS).enumerate().for_each(|(c, out)| {
            let start = c * ROWS;
            self.pattern.multiply(
                &self.values,
                start..start + out.len(),
                x,
                #[inline(always)]
                |j, [product]| out[j - start] = product,
            );
        });
    }

    /// `L X` for a dense matrix.
    pub fn product(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let columns = (0..x.ncols())
            .into_par_iter()
            .map(|k| {
                let x: Vec<f64> = x.col(k).iter().copied().collect();
                let mut out = vec![0.0; self.dim()];
                self.apply(&x, &mut out);
                out
            })
            .collect::<Vec<Vec<f64>>>();
        from_columns(self.dim(), &columns)
    }

    /// The largest possible size of an eigenvalue, by Gershgorin's circles.
    pub fn spectrum_bound(&self) -> f64 {
        (0..self.dim()).map(|j| self.column(j).map(|(_, v)| v.abs()).sum()).fold(0.0, f64::max)
    }

    /// A lower bound of the smallest eigenvalue: nearly always itself, to about 1e-12 of the largest possible one.
    ///
    /// # Errors
    /// When a decomposition fails.
    pub fn smallest_eigenvalue(&self) -> Result<f64> {
        Ok(self.lowest()?.below)
    }

    /// Where the smallest eigenvalue lies.
    pub(crate) fn lowest(&self) -> Result<SmallestEigenvalue> {
        smallest_eigenvalue(self.dim(), self.spectrum_bound(), &|x, out| self.apply(x, out))
    }

    /// This matrix with all of its diagonal stored, zeros too.
    pub(crate) fn with_diagonal(self) -> SparseSymmetric {
        let has = |j: usize| self.column(j).any(|(i, _)| i == j);
        let missing: Vec<usize> = (0..self.dim()).filter(|&j| !has(j)).collect();
        if missing.is_empty() {
            return self;
        }
        let mut zeros = SymmetricBuilder::new(missing.len());
        for j in 0..self.dim() {
            if missing.binary_search(&j).is_ok() {
                zeros.push(j as u32, 0.0);
            }
            zeros.end_row();
        }
        self.plus(1.0, &zeros.matrix)
    }
}

/// Makes a matrix, row after row.
struct SymmetricBuilder {
    matrix: SparseSymmetric,
}

impl SymmetricBuilder {
    /// With room for `entries`.
    fn new(entries: usize) -> Self {
        let pattern = Pattern { starts: vec![0], indices: Vec::with_capacity(entries) };
        SymmetricBuilder { matrix: SparseSymmetric { pattern, values: Vec::with_capacity(entries) } }
    }

    fn push(&mut self, index: u32, value: f64) {
        self.matrix.pattern.indices.push(index);
        self.matrix.values.push(value);
    }

    fn end_row(&mut self) {
        self.matrix.pattern.starts.push(self.matrix.values.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_dense_matrices() {
        let n = 40;
        let triplets = |seed: usize| -> Vec<Triplet<usize, usize, f64>> {
            let half = (0..90).map(|k| ((k * seed) % n, (k * k + seed) % n, (k % 7) as f64 - 2.5));
            half.flat_map(|(i, j, value)| [Triplet::new(i, j, value), Triplet::new(j, i, value)]).collect()
        };
        let dense = |triplets: &[Triplet<usize, usize, f64>]| {
            let mut dense: Mat<f64> = Mat::zeros(n, n);
            triplets.iter().for_each(|t| dense[(t.row, t.col)] += t.val);
            dense
        };
        let (a, b) = (triplets(11), triplets(23));
        let (x, y) =
            (SparseSymmetric::from_triplets(n, &a).unwrap(), SparseSymmetric::from_triplets(n, &b).unwrap());
        let expected = dense(&a) - 0.25 * dense(&b);
        let sum = x.plus(-0.25, &y);
        assert_eq!(sum.to_dense(), expected);
        assert!(sum.nonzeros() < x.nonzeros() + y.nonzeros(), "some are in both");
        let z = Mat::from_fn(n, 2, |i, k| ((i * 3 + k) % 5) as f64);
        assert_eq!(sum.product(z.as_ref()), &expected * &z);
    }
}
