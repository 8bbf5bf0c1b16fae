//! The first few singular vectors of a large matrix, without the others: block Lanczos bidiagonalization.
//!
//! For `A` (m×l, m ≤ l) two orthonormal bases grow by turns, a block of columns at a time: `P` by `Aᵀ` times the last block
//! of `Q`, `Q` by `A` times the last block of `P`. With `B = PᵀAᵀQ`, kept as the coefficients that orthogonalization finds,
//!
//! ```text
//! AᵀQ = P B,    A P = Q Bᵀ + N S
//! ```
//!
//! where `N` is the next block of `Q` and `S` has entries only for the last block of `P`. The SVD of the small `B` then gives
//! singular vectors of `A` and, by `S`, how far each is from one. Nothing is squared on the way. Where the bases become large,
//! they restart from their best vectors.
//!
//! A block has more columns than vectors are asked for, so that no copy of a multiple singular value is missed. The answer is
//! verified against `A`. The caller gets none, and has to decompose all of `A`, if the check fails, if the last requested value is
//! nearly equal to the next, or if it is so small compared with the first that rounding matters.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::RngExt;
use rayon::prelude::*;

use crate::error::Result;
use crate::evaluate::generator;
use crate::numerics::linalg::{ThinSvd, axpy, column, column_mut, dot, thin_svd};

/// Smaller matrices, by their shorter side, are decomposed as a whole.
const SMALLEST: usize = 256;

/// So are matrices if more than this part of the vectors is asked for.
const LARGEST_PART: usize = 10;

/// Columns of a block beyond those asked for.
const SPARE: usize = 4;

/// How far singular vectors may be from exact ones, relative to the largest singular value: when the iteration ends, and
/// when the answer is verified.
const CONVERGED: f64 = 1e-13;
const VERIFIED: f64 = 1e-12;

/// The part of a column outside the basis is rounding if it is below this, relative to the largest column.
const NOTHING: f64 = 1e-14;

/// Squared singular values nearer than this, relative to themselves, are too close to cut between them.
const CLOSE: f64 = 1e-6;

/// A singular value below this part of the first is left to the full decomposition.
const SMALL: f64 = 1e-8;

/// Rows or columns that a thread takes at a time. Fixed, so that the bits do not depend on the number of threads.
const CHUNK: usize = 256;

/// The first `count` singular values and vectors of `x`, if they can be had for less than the full decomposition costs.
///
/// # Errors
/// When the decomposition of a small matrix fails.
pub(super) fn leading_svd(x: MatRef<'_, f64>, count: usize) -> Result<Option<ThinSvd>> {
    let m = x.nrows().min(x.ncols());
    if m < SMALLEST || count.saturating_mul(LARGEST_PART) > m {
        return Ok(None);
    }
    let wide = x.nrows() <= x.ncols();
    let a = if wide { x } else { x.transpose() };
    let mut bases = Bases::new(a, count);
    let (largest, kept) = ((12 * bases.block).max(SMALLEST).min(m), bases.block + SPARE);
    // Each column of Q costs two products with A. At twice as many as A has rows, the full decomposition would have been
    // cheaper.
    let mut checked = 0;
    while bases.spent < 2 * m {
        bases.grow();
        let size = bases.q.ncols() - bases.next;
        let full = size + bases.next > largest;
        if !(bases.next == 0 || full || 4 * size > 5 * checked) {
            continue;
        }
        checked = size;
        let ritz = thin_svd(bases.b.as_ref())?;
        if bases.next == 0 || bases.error(&ritz, count) <= CONVERGED * ritz.s.first().copied().unwrap_or(0.0)
        {
            let found = bases.vectors(&ritz, count.min(ritz.s.len()));
            return Ok(trusted(a, &found, &ritz.s).then(|| {
                let ThinSvd { u, s, v } = found;
                if wide { ThinSvd { u, s, v } } else { ThinSvd { u: v, s, v: u } }
            }));
        }
        if full {
            bases.restart(&ritz, kept.min(ritz.s.len()));
            checked = 0;
        }
    }
    Ok(None)
}

/// Whether the vectors `found` are singular vectors of `a`, and the first ones beyond doubt; `s` are all values of the basis.
fn trusted(a: MatRef<'_, f64>, found: &ThinSvd, s: &[f64]) -> bool {
    let count = found.s.len();
    let (Some(&first), Some(&last)) = (s.first(), found.s.last()) else { return false };
    let close = s.get(count).is_some_and(|next| last * last - next * next <= CLOSE * last * last);
    if last < SMALL * first || close {
        return false;
    }
    let off = |image: &Mat<f64>, vectors: &Mat<f64>, k: usize| {
        let s = found.s[k];
        let squares = column(image, k).iter().zip(column(vectors, k)).map(|(x, v)| (x - s * v).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let (left, right) = (times(a, found.v.as_ref()), inner(a, found.u.as_ref()));
    (0..count).all(|k| off(&left, &found.u, k).max(off(&right, &found.v, k)) <= VERIFIED * first)
}

/// The two bases and what A makes of them.
struct Bases<'a> {
    a: MatRef<'a, f64>,
    /// Columns of a whole block.
    block: usize,
    p: Mat<f64>,
    q: Mat<f64>,
    /// `B = PᵀAᵀQ`, without the last block of Q.
    b: Mat<f64>,
    /// S: the next block of Q times the last block of P.
    s: Mat<f64>,
    /// Columns of the next block of Q, to which `Aᵀ` has not been applied. None: the bases are complete.
    next: usize,
    /// The largest image so far.
    size: f64,
    /// Columns that A has been applied to.
    spent: usize,
}

impl<'a> Bases<'a> {
    /// A block of random columns.
    fn new(a: MatRef<'a, f64>, count: usize) -> Self {
        let block = count + SPARE;
        let mut rng = generator(0, &[a.nrows() as u64, a.ncols() as u64]);
        let start = Mat::from_fn(a.nrows(), block, |_, _| rng.random_range(-1.0..1.0));
        let none = |rows: usize| Mat::zeros(rows, 0);
        let mut q = none(a.nrows());
        extend(&mut q, start, 0.0);
        let next = q.ncols();
        Bases { a, block, p: none(a.ncols()), q, b: none(0), s: none(0), next, size: 0.0, spent: 0 }
    }

    /// Both bases by one block.
    fn grow(&mut self) {
        let old = self.q.ncols() - self.next;
        let images = inner(self.a, self.q.subcols(old, self.next));
        self.size = images.col_iter().map(|image| image.norm_l2()).fold(self.size, f64::max);
        let before = self.p.ncols();
        let coefficients = extend(&mut self.p, images, NOTHING * self.size);
        let b = Mat::from_fn(self.p.ncols(), old + self.next, |i, j| match j.checked_sub(old) {
            Some(j) => coefficients[(i, j)],
            None if i < self.b.nrows() => self.b[(i, j)],
            None => 0.0,
        });
        self.b = b;
        self.spent += self.next;
        let images = times(self.a, self.p.subcols(before, self.p.ncols() - before));
        let known = self.q.ncols();
        let coefficients = extend(&mut self.q, images, NOTHING * self.size);
        self.next = self.q.ncols() - known;
        self.s = coefficients.subrows(known, self.next).to_owned();
    }

    /// The largest error of the first `count` singular vectors; infinite if there are not so many.
    fn error(&self, ritz: &ThinSvd, count: usize) -> f64 {
        if ritz.s.len() < count {
            return f64::INFINITY;
        }
        let last = self.s.ncols();
        let tail = ritz.u.subrows(self.p.ncols() - last, last);
        let errors = &self.s * tail.subcols(0, count);
        errors.col_iter().map(|error| error.norm_l2()).fold(0.0, f64::max)
    }

    /// The first `count` singular vectors.
    fn vectors(&self, ritz: &ThinSvd, count: usize) -> ThinSvd {
        let known = self.q.subcols(0, self.q.ncols() - self.next);
        let (u, v) =
            (times(known, ritz.v.subcols(0, count)), times(self.p.as_ref(), ritz.u.subcols(0, count)));
        ThinSvd { u, s: ritz.s[..count].to_vec(), v }
    }

    /// Goes on from the first `kept` singular vectors and the next block.
    fn restart(&mut self, ritz: &ThinSvd, kept: usize) {
        let ThinSvd { u, s, v } = self.vectors(ritz, kept);
        let next = self.q.subcols(self.q.ncols() - self.next, self.next);
        self.q = Mat::from_fn(u.nrows(), kept + self.next, |i, k| match k.checked_sub(kept) {
            Some(k) => next[(i, k)],
            None => u[(i, k)],
        });
        self.p = v;
        self.b = Mat::from_fn(kept, kept, |i, j| if i == j { s[i] } else { 0.0 });
    }
}

/// Appends to `basis` what is new in `columns`, unless it is not longer than `nothing`. The coefficients of `columns` in the
/// longer basis.
fn extend(basis: &mut Mat<f64>, mut columns: Mat<f64>, nothing: f64) -> Mat<f64> {
    let (rows, known, count) = (basis.nrows(), basis.ncols(), columns.ncols());
    let mut along: Mat<f64> = Mat::zeros(known, count);
    let mut lengths: Vec<f64> = Vec::new();
    for _ in 0..2 {
        lengths = columns.col_iter().map(|column| column.norm_l2()).collect();
        let off = inner(basis.as_ref(), columns.as_ref());
        columns -= times(basis.as_ref(), off.as_ref());
        along += off;
    }
    let mut coefficients = along;
    coefficients.resize_with(known + count, count, |_, _| 0.0);
    let mut new: Vec<Vec<f64>> = Vec::with_capacity(count);
    for k in 0..count {
        let mut x = column(&columns, k).to_vec();
        // Where little is left, what rounding has left of the basis counts: until a subtraction takes little.
        let mut length = lengths[k];
        loop {
            for (i, basis) in new.iter().enumerate() {
                let off = dot(basis, &x);
                axpy(-off, basis, &mut x);
                coefficients[(known + i, k)] += off;
            }
            let left = dot(&x, &x).sqrt();
            if left <= nothing || left > 0.5 * length {
                length = left;
                break;
            }
            for (i, basis) in basis.col_iter().enumerate() {
                let basis = basis.try_as_col_major().map_or(&[][..], |basis| basis.as_slice());
                let off = dot(basis, &x);
                axpy(-off, basis, &mut x);
                coefficients[(i, k)] += off;
            }
            length = left;
        }
        if length > nothing {
            x.iter_mut().for_each(|x| *x /= length);
            coefficients[(known + new.len(), k)] = length;
            new.push(x);
        }
    }
    coefficients.truncate(known + new.len(), count);
    basis.resize_with(rows, known + new.len(), |i, k| new[k - known][i]);
    coefficients
}

/// `aᵀ b` for a few columns `b`, by pieces of the columns of `a`.
fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    times(a.transpose(), b)
}

/// `a b` for a few columns `b`, by pieces of the rows of `a`.
fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let pieces: Vec<Mat<f64>> = (0..a.nrows().div_ceil(CHUNK))
        .into_par_iter()
        .map(|piece| {
            let start = piece * CHUNK;
            let rows = a.subrows(start, CHUNK.min(a.nrows() - start));
            let mut out = Mat::zeros(rows.nrows(), b.ncols());
            matmul(out.as_mut(), Accum::Replace, rows, b, 1.0, Par::Seq);
            out
        })
        .collect();
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    for k in 0..b.ncols() {
        for (out, piece) in column_mut(&mut out, k).chunks_mut(CHUNK).zip(&pieces) {
            out.copy_from_slice(column(piece, k));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(m: usize, l: usize, seed: u64) -> Mat<f64> {
        let mut rng = generator(seed, &[]);
        Mat::from_fn(m, l, |_, _| rng.random_range(-1.0..1.0))
    }

    /// A matrix with these singular values.
    fn with_values(m: usize, l: usize, s: &[f64]) -> Mat<f64> {
        let orthonormal = |rows: usize, seed: u64| {
            let mut basis = Mat::zeros(rows, 0);
            extend(&mut basis, noise(rows, s.len(), seed), 0.0);
            basis
        };
        let (u, v) = (orthonormal(m, 1), orthonormal(l, 2));
        Mat::from_fn(m, s.len(), |i, k| u[(i, k)] * s[k]) * v.transpose()
    }

    /// The leading vectors and those of the whole decomposition, up to signs.
    fn difference(a: &Mat<f64>, count: usize) -> f64 {
        let (few, all) = (leading_svd(a.as_ref(), count).unwrap().unwrap(), thin_svd(a.as_ref()).unwrap());
        assert_eq!((few.u.shape(), few.v.shape()), ((a.nrows(), few.s.len()), (a.ncols(), few.s.len())));
        assert_eq!(few.s.len(), count.min(all.s.len()));
        let worst = |few: &Mat<f64>, all: &Mat<f64>, k: usize| {
            let sign = dot(column(few, k), column(all, k)).signum();
            column(few, k).iter().zip(column(all, k)).map(|(x, y)| (sign * x - y).abs()).fold(0.0, f64::max)
        };
        (0..few.s.len())
            .map(|k| {
                worst(&few.u, &all.u, k).max(worst(&few.v, &all.v, k)).max((few.s[k] / all.s[k] - 1.0).abs())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn equals_the_whole_decomposition() {
        let falling: Vec<f64> = (0..280).map(|k| 0.9f64.powi(k)).collect();
        let slow: Vec<f64> = (0..280).map(|k| 1.0 / (1.0 + k as f64)).collect();
        let spiked: Vec<f64> =
            (0..280).map(|k| if k < 3 { 30.0 - k as f64 } else { 2.0 - 0.005 * k as f64 }).collect();
        for s in [falling, slow, spiked] {
            for (m, l) in [(300, 700), (700, 300)] {
                for count in [1, 5, 20] {
                    let found = difference(&with_values(m, l, &s), count);
                    assert!(found < 1e-9, "{m} x {l}, {count}: {found:e}");
                }
            }
        }
        // No gap anywhere: it takes restarts.
        let found = difference(&noise(600, 900, 5), 8);
        assert!(found < 1e-9, "noise: {found:e}");
    }

    #[test]
    fn fewer_where_the_rank_is_less() {
        let a = with_values(300, 400, &[5.0, 3.0, 2.0, 1.0]);
        assert!(difference(&a, 3) < 1e-12);
        assert!(difference(&a, 20) < 1e-12, "all four");
    }

    #[test]
    fn copies_of_a_multiple_value_are_not_missed() {
        let mut s = vec![3.0; 10];
        s.extend((0..200).map(|k| 2.0 / (1.0 + k as f64)));
        let found = leading_svd(with_values(300, 500, &s).as_ref(), 10).unwrap().unwrap();
        assert!(found.s.iter().all(|s| (s - 3.0).abs() < 1e-12), "{:?}", found.s);
    }

    #[test]
    fn doubt_is_left_to_the_whole_decomposition() {
        let none = |a: &Mat<f64>, count: usize| leading_svd(a.as_ref(), count).unwrap().is_none();
        assert!(none(&noise(200, 400, 1), 2), "small");
        assert!(none(&noise(300, 400, 1), 31), "more than a tenth");
        let equal = with_values(300, 400, &[3.0, 2.0, 2.0, 1.0]);
        assert!(none(&equal, 2) && !none(&equal, 1) && !none(&equal, 3), "a cut between equal values");
        assert!(none(&with_values(300, 400, &[1.0, 1e-9, 1e-10]), 2), "nearly rounding");
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let a = noise(400, 600, 9);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| leading_svd(a.as_ref(), 6).unwrap().unwrap())
        };
        let (one, four) = (with(1), with(4));
        assert_eq!((one.u, one.s, one.v), (four.u, four.s, four.v));
    }
}
