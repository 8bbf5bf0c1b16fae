//! The samples in single precision, as blocked products want them.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::numerics::linalg::column;

/// Samples on a side of a tile of products; fewer where they are very long.
pub(super) const TILE: usize = 512;

/// Samples and variables that are copied at a time.
const SQUARE: usize = 64;

/// Terms of a product that are added up in single precision; of more, such sums are added up in double precision, since
/// what is certain of them shrinks with their number.
pub(super) const TERMS: usize = 1024;

/// What is known of samples, ordered by class; their values are [`SinglePrecisionValues`].
pub(super) struct Samples {
    pub(super) variables: usize,
    /// Which sample is at a place.
    pub(super) order: Vec<usize>,
    /// Its number, which differs where they are a part of others.
    pub(super) number: Vec<usize>,
    pub(super) class: Vec<usize>,
    /// `s − e`, and `e`.
    pub(super) low: Vec<f32>,
    pub(super) error: Vec<f32>,
    /// Samples on a side of a tile of products.
    pub(super) side: usize,
}

/// The values of the samples at some places in single precision, one sample after the other, scaled so that none is longer than 1.
pub(super) struct SinglePrecisionValues {
    pub(super) x: Vec<f32>,
    pub(super) variables: usize,
    /// The first place.
    pub(super) first: usize,
}

impl Samples {
    /// Samples that are centred, one per row, and all their values.
    pub(super) fn new(x: &Mat<f64>, class: &[usize]) -> (Self, SinglePrecisionValues) {
        let (n, p) = x.shape();
        let squares = squared_lengths(x);
        let scale = scale(squares.iter().copied());
        let samples = Self::known(p, class, |i| i, &squares, scale, TILE);
        let mut single = vec![0.0; p * n];
        let places = single.par_chunks_mut(p * SQUARE).zip(samples.order.par_chunks(SQUARE));
        places.for_each(|(samples, order)| {
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
        (samples, SinglePrecisionValues { x: single, variables: p, first: 0 })
    }

    /// Samples of which the squared lengths are known, on a scale of [`scale`], in tiles of `side`.
    pub(super) fn known(
        p: usize,
        class: &[usize],
        number: impl Fn(usize) -> usize,
        squares: &[f64],
        scale: f64,
        side: usize,
    ) -> Self {
        let mut order: Vec<usize> = (0..class.len()).collect();
        order.sort_by_key(|&i| (class[i], i));
        // Of a product of so many terms in single precision, and of x before it; doubled, for the sums around it, and
        // with what numbers too small for single precision may amount to.
        let c = 2.0 * (p.min(TERMS) as f64 + 8.0) * f64::from(f32::EPSILON);
        let s: Vec<f64> = order.iter().map(|&i| squares[i] * scale * scale).collect();
        let error: Vec<f32> = s.iter().map(|s| (c * s) as f32 + f32::MIN_POSITIVE).collect();
        let low = s.iter().zip(&error).map(|(s, e)| *s as f32 - e).collect();
        let class = order.iter().map(|&i| class[i]).collect();
        let number = order.iter().map(|&i| number(i)).collect();
        Samples { variables: p, order, number, class, low, error, side }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
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

/// What samples of these squared lengths are multiplied by, so that none is longer than 1: a power of two, which rounds nothing.
pub(super) fn scale(squares: impl Iterator<Item = f64>) -> f64 {
    let longest = squares.fold(0.0, f64::max).sqrt();
    if longest > 0.0 { (-longest.log2().ceil()).exp2() } else { 1.0 }
}

impl SinglePrecisionValues {
    pub(super) fn none() -> Self {
        SinglePrecisionValues { x: Vec::new(), variables: 0, first: 0 }
    }

    /// The samples from a place on, `most` of them or as many as there are, one per column.
    pub(super) fn block(&self, start: usize, most: usize) -> MatRef<'_, f32> {
        let (n, from) = (self.x.len() / self.variables.max(1), start - self.first);
        MatRef::from_column_major_slice(&self.x, self.variables, n).subcols(from, most.min(n - from))
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
