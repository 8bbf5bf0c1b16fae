//! An orthonormal basis, and its images under an operator in several parts.
//!
//! The basis is orthogonalised in full and both `V` and `AV` are kept, so that nothing depends on a three-term
//! recurrence staying exact. Where the Krylov space is exhausted (an alignment matrix of complete graphs has
//! three distinct eigenvalues) the basis grows by a fresh direction instead of by rounding error.

use faer::Mat;
use rayon::prelude::*;

use super::Operator;
use crate::error::Result;
use crate::numerics::linalg::{axpy, combine_each, dot, inner_each, symmetric_eigen, vectorized};

/// Entries of a vector that a thread takes at a time: such a piece of the whole basis stays in its cache.
const CHUNK: usize = 1024;

/// The largest product of two vectors of the basis that counts as rounding.
const ORTHOGONAL: f64 = 1e-14;

/// Orthonormal vectors and their images under `Σ weights · parts`.
pub(super) struct Basis<'a, const N: usize> {
    parts: [&'a Operator<'a>; N],
    pub(super) weights: [f64; N],
    v: Vec<Vec<f64>>,
    images: [Vec<Vec<f64>>; N],
    /// `h[n][k][i] = vᵢ·(image k of part n)` for i ≤ k.
    h: [Vec<Vec<f64>>; N],
    /// What comes next.
    next: Direction,
    fresh: u64,
}

/// A vector that may have something new, and its products with the basis.
struct Direction {
    x: Vec<f64>,
    along: Vec<f64>,
}

/// The lowest of the Ritz values, and by how much the eigenvalue that it is near to may lie below it: Kato and Temple's bound.
/// That is the smallest eigenvalue unless the iteration missed it altogether.
pub(super) struct LowestRitzValue {
    quotient: f64,
    pub(super) error: f64,
}

impl LowestRitzValue {
    /// A lower bound on the eigenvalue.
    pub(super) fn value(&self) -> f64 {
        self.quotient - self.error
    }
}

impl<'a, const N: usize> Basis<'a, N> {
    /// Nothing yet, of vectors of length `n`.
    pub(super) fn new(n: usize, parts: [&'a Operator<'a>; N], weights: [f64; N]) -> Self {
        let next = Direction { x: (0..n).map(|i| scatter(i as u64)).collect(), along: Vec::new() };
        let (images, h) = ([(); N].map(|()| Vec::new()), [(); N].map(|()| Vec::new()));
        Basis { parts, weights, v: Vec::new(), images, h, next, fresh: 0 }
    }

    /// Grows to `m` vectors, by the image of the last one, or a fresh direction where that has nothing new. Eigenvalues are at
    /// most `size`.
    pub(super) fn grow(&mut self, m: usize, size: f64) {
        let n = self.next.x.len();
        while self.v.len() < m.min(n) {
            let mut least = 1e-13 * size;
            let Direction { mut x, mut along } = std::mem::replace(&mut self.next, Direction::nowhere());
            while !self.orthonormalize(&mut x, along, least) {
                // Computed from a number, not drawn at random: the same on every machine and at every call.
                self.fresh += 1;
                x = (0..n).map(|i| scatter(i as u64 ^ (self.fresh << 40))).collect();
                (along, least) = (self.along(&x), 0.0);
            }
            self.v.push(x);
            let last = self.v.len() - 1;
            for part in 0..N {
                let mut image = vec![0.0; n];
                (self.parts[part])(&self.v[last], &mut image);
                self.h[part].push(self.along(&image));
                self.images[part].push(image);
            }
            self.next = Direction { x: self.image(last), along: self.weighted(|part| &self.h[part][last]) };
        }
    }

    /// `Σ weights · of(part)`.
    fn weighted<'b>(&self, of: impl Fn(usize) -> &'b [f64]) -> Vec<f64>
    where
        Self: 'b,
    {
        let mut sum = vec![0.0; of(0).len()];
        for part in 0..N {
            axpy(self.weights[part], of(part), &mut sum);
        }
        sum
    }

    /// The image of vector k.
    fn image(&self, k: usize) -> Vec<f64> {
        self.weighted(|part| &self.images[part][k])
    }

    /// The products of `x` with the basis.
    fn along(&self, x: &[f64]) -> Vec<f64> {
        let pieces: Vec<Vec<f64>> =
            x.par_chunks(CHUNK).enumerate().map(|(c, x)| self.along_piece(c, x)).collect();
        self.total(&pieces)
    }

    /// Takes so much of the basis off `x`. The products of what is left with the basis, each piece of which is read once for
    /// both.
    fn subtract(&self, off: &[f64], x: &mut [f64]) -> Vec<f64> {
        let pieces: Vec<Vec<f64>> = x
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(c, x)| {
                let (fours, rest) = off.as_chunks::<4>();
                for (k, off) in fours.iter().enumerate() {
                    subtract_four(*off, std::array::from_fn(|t| self.piece(4 * k + t, c, x.len())), x);
                }
                for (k, off) in rest.iter().enumerate() {
                    axpy(-off, self.piece(4 * fours.len() + k, c, x.len()), x);
                }
                self.along_piece(c, x)
            })
            .collect();
        self.total(&pieces)
    }

    /// What piece `c` of a vector, `x`, adds to its products with the basis.
    fn along_piece(&self, c: usize, x: &[f64]) -> Vec<f64> {
        let m = self.v.len();
        let fours = (0..m / 4)
            .flat_map(|k| inner_each::<4>(std::array::from_fn(|t| self.piece(4 * k + t, c, x.len())), x));
        fours.chain((m - m % 4..m).map(|k| dot(self.piece(k, c, x.len()), x))).collect()
    }

    /// Piece `c`, of length `len`, of a vector of the basis.
    fn piece(&self, k: usize, c: usize, len: usize) -> &[f64] {
        &self.v[k][c * CHUNK..c * CHUNK + len]
    }

    fn total(&self, pieces: &[Vec<f64>]) -> Vec<f64> {
        (0..self.v.len()).map(|k| pieces.iter().map(|piece| piece[k]).sum()).collect()
    }

    /// Makes `x`, whose products with the basis are `along`, orthogonal to it and of length 1; `false` if what is new in it is
    /// below `least` or rounding.
    fn orthonormalize(&self, x: &mut [f64], mut along: Vec<f64>, least: f64) -> bool {
        let mut least = least.max(1e-13 * dot(x, x).sqrt());
        // Until no part along the basis is left: what is rounding next to the whole vector may matter next to the new part.
        for _ in 0..8 {
            along = self.subtract(&along, x);
            let length = dot(x, x).sqrt();
            if length <= least {
                return false;
            }
            x.iter_mut().for_each(|x| *x /= length);
            along.iter_mut().for_each(|along| *along /= length);
            if along.iter().all(|along| along.abs() <= ORTHOGONAL) {
                return true;
            }
            least = 1e-13;
        }
        true
    }

    /// The Ritz values, rising, and their vectors in terms of the basis.
    pub(super) fn ritz(&self) -> Result<(Vec<f64>, Mat<f64>)> {
        let m = self.v.len();
        let entry = |k: usize, i: usize| (0..N).map(|part| self.weights[part] * self.h[part][k][i]).sum();
        symmetric_eigen(Mat::from_fn(m, m, |i, j| entry(i.max(j), i.min(j))).as_ref())
    }

    /// `xᵀ part x` for the vector x of the lowest Ritz value.
    pub(super) fn quotients(&self, vectors: &Mat<f64>) -> [f64; N] {
        let y = vectors.col(0);
        self.h.each_ref().map(|h| {
            let row = |k: usize| (0..k).map(|i| 2.0 * h[k][i] * y[i]).sum::<f64>() + h[k][k] * y[k];
            (0..h.len()).map(|k| y[k] * row(k)).sum()
        })
    }

    /// Turns the basis to the first of these Ritz vectors.
    pub(super) fn keep(&mut self, keep: usize, vectors: &Mat<f64>) {
        let (m, n) = (self.v.len(), self.v[0].len());
        let keep = keep.min(m);
        // Four at a time, for which the old ones are read once.
        let combine = |from: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let fours: Vec<usize> = (0..keep).step_by(4).collect();
            let four = |&start: &usize| {
                let weight = |i: usize, k: usize| if k < keep { vectors[(i, k)] } else { 0.0 };
                let weights: Vec<[f64; 4]> =
                    (0..m).map(|i| std::array::from_fn(|t| weight(i, start + t))).collect();
                let mut out = [(); 4].map(|()| vec![0.0; n]);
                combine_each(|i| &from[i], &weights, out.each_mut().map(Vec::as_mut_slice));
                out.into_iter().take(keep - start)
            };
            fours.par_iter().with_min_len(side(n)).flat_map_iter(four).collect()
        };
        self.v = combine(&self.v);
        self.images = self.images.each_ref().map(|images| combine(images));
        // Anew, so that rounding does not add up from one restart to the next.
        let v = &self.v;
        self.h = self.images.each_ref().map(|images| {
            let products = |k: usize| v[..=k].iter().map(|v| dot(v, &images[k])).collect();
            (0..keep).into_par_iter().with_min_len(side(n)).map(products).collect()
        });
    }

    /// The lowest of the Ritz `values` to whose vectors the basis has been turned. What is left of its vector's image comes
    /// next.
    pub(super) fn bottom(&mut self, values: &[f64]) -> LowestRitzValue {
        let (residual, norm) = self.residual(0, values[0]);
        // The next eigenvalue is not below this.
        let second = if self.v.len() > 1 { values[1] - self.residual(1, values[1]).1 } else { f64::INFINITY };
        let gap = second - values[0];
        let error = if gap > norm { norm * norm / gap } else { norm };
        self.next = Direction { along: self.along(&residual), x: residual };
        LowestRitzValue { quotient: values[0], error }
    }

    /// What is left of the image of vector k without `value` times itself, and its length.
    fn residual(&self, k: usize, value: f64) -> (Vec<f64>, f64) {
        let mut residual = self.image(k);
        axpy(-value, &self.v[k], &mut residual);
        let norm = dot(&residual, &residual).sqrt();
        (residual, norm)
    }
}

impl Direction {
    fn nowhere() -> Self {
        Direction { x: Vec::new(), along: Vec::new() }
    }
}

/// `x ← x − Σ offₖ vₖ`, for which `x` is read and written once.
fn subtract_four(off: [f64; 4], v: [&[f64]; 4], x: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            let [v0, v1, v2, v3] = v.map(|v| &v[..x.len()]);
            for ((((x, v0), v1), v2), v3) in x.iter_mut().zip(v0).zip(v1).zip(v2).zip(v3) {
                *x -= (off[0] * v0 + off[1] * v1) + (off[2] * v2 + off[3] * v3);
            }
        },
    );
}

/// How many vectors of this length a thread takes at a time: all of them if they are short.
fn side(entries: usize) -> usize {
    1 + 65_536 / entries.max(1)
}

/// A number in [−1, 1) from the mixed bits of `i` (the finalizer of SplitMix64).
fn scatter(i: u64) -> f64 {
    let mut z = i.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
