//! The samples in single precision, as blocked products want them.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::numerics::linalg::column;

/// Samples on a side of a tile of products.
pub(super) const TILE: usize = 512;

/// Samples and variables that are copied at a time.
const SQUARE: usize = 64;

/// Terms of a product that are added up in single precision; of more, such sums are added up in double precision, since
/// what is certain of them shrinks with their number.
pub(super) const TERMS: usize = 1024;

/// The samples in single precision, ordered by class.
pub(super) struct Samples {
    /// One after the other, scaled so that none is longer than 1.
    pub(super) x: Vec<f32>,
    pub(super) variables: usize,
    pub(super) order: Vec<usize>,
    /// The number of the first of them, where they are a part of others.
    start: usize,
    pub(super) class: Vec<usize>,
    /// `s − e`, and `e`.
    pub(super) low: Vec<f32>,
    pub(super) error: Vec<f32>,
}

impl Samples {
    pub(super) fn new(x: &Mat<f64>, class: &[usize]) -> Self {
        let [samples] = Self::together([(x, class, 0)]);
        samples
    }

    /// Several sets of samples on the same scale: centred, the class of each, and the number of the first.
    pub(super) fn together<const S: usize>(sets: [(&Mat<f64>, &[usize], usize); S]) -> [Self; S] {
        let squares = sets.map(|(x, ..)| squared_lengths(x));
        let longest = squares.iter().flatten().fold(0.0, |m: f64, s| m.max(*s)).sqrt();
        // A power of two rounds nothing.
        let scale = if longest > 0.0 { (-longest.log2().ceil()).exp2() } else { 1.0 };
        let mut squares = squares.iter();
        sets.map(|(x, class, start)| Self::scaled(x, class, start, scale, squares.next().map_or(&[], |s| s)))
    }

    fn scaled(x: &Mat<f64>, class: &[usize], start: usize, scale: f64, squares: &[f64]) -> Self {
        let (n, p) = x.shape();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (class[i], i));
        let mut single = vec![0.0; p * n];
        single.par_chunks_mut(p * SQUARE).zip(order.par_chunks(SQUARE)).for_each(|(samples, order)| {
            // In squares that the cache holds: a transposition reads or writes across.
            for start in (0..p).step_by(SQUARE) {
                let columns: Vec<&[f64]> = (start..p.min(start + SQUARE)).map(|j| column(x, j)).collect();
                for (sample, &i) in samples.chunks_mut(p).zip(order) {
                    for (to, from) in sample[start..].iter_mut().zip(&columns) {
                        *to = (scale * from[i]) as f32;
                    }
                }
            }
        });
        // Of a product of so many terms in single precision, and of x before it; doubled, for the sums around it, and
        // with what numbers too small for single precision may amount to.
        let c = 2.0 * (p.min(TERMS) as f64 + 8.0) * f64::from(f32::EPSILON);
        let s: Vec<f64> = order.iter().map(|&i| squares[i] * scale * scale).collect();
        let error: Vec<f32> = s.iter().map(|s| (c * s) as f32 + f32::MIN_POSITIVE).collect();
        let low = s.iter().zip(&error).map(|(s, e)| *s as f32 - e).collect();
        let class = order.iter().map(|&i| class[i]).collect();
        Samples { x: single, variables: p, order, start, class, low, error }
    }

    /// The block that begins at a place, one sample per column.
    pub(super) fn block(&self, start: usize) -> MatRef<'_, f32> {
        let n = self.class.len();
        MatRef::from_column_major_slice(&self.x, self.variables, n).subcols(start, TILE.min(n - start))
    }

    /// The number of the sample at a place.
    pub(super) fn number(&self, at: usize) -> usize {
        self.start + self.order[at]
    }

    /// Runs of one class in `start..start + width`.
    pub(super) fn runs(&self, start: usize, width: usize) -> Vec<(usize, std::ops::Range<usize>)> {
        let mut runs: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for k in 0..width {
            match runs.last_mut() {
                Some((class, run)) if *class == self.class[start + k] => run.end = k + 1,
                _ => runs.push((self.class[start + k], k..k + 1)),
            }
        }
        runs
    }
}

/// The squared length of every row.
fn squared_lengths(x: &Mat<f64>) -> Vec<f64> {
    let sum = |start: usize| {
        let mut squares = vec![0.0; x.nrows()];
        for j in start..x.ncols().min(start + TERMS) {
            for (square, x) in squares.iter_mut().zip(column(x, j)) {
                *square += x * x;
            }
        }
        squares
    };
    let starts: Vec<usize> = (0..x.ncols()).step_by(TERMS).collect();
    let sums: Vec<Vec<f64>> = starts.into_par_iter().map(sum).collect();
    (0..x.nrows()).map(|i| sums.iter().map(|sum| sum[i]).sum()).collect()
}
