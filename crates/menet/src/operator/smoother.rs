//! The operator `A = D + αL M`, `M = β(αL + βI)⁻¹`, applied without an n×n matrix. D is I unless samples have weights.
//!
//! `αL + βI` is sparse and, once the definiteness policy has been met, well conditioned, so that conjugate
//! gradients apply `M` in a few dozen products with `L`. Most of them are in single precision, which moves half of the bytes:
//! the residual is computed in double precision, a solution for it in single precision corrects the last one, and so on until
//! the residual is as small as asked for. Where single precision makes no progress, double precision takes over.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::conjugate_gradients::{LinearSystem, add, conjugate_gradients, squares_by};
use crate::numerics::linalg::{column, mirror_lower};
use crate::numerics::sparse::{Pattern, Precision, SparseSymmetric};

/// Right-hand sides that are solved side by side: an entry of `L` is read once for all of them.
const LANES: usize = 8;

/// Columns of the Gram matrix that a thread takes at a time.
const TILE: usize = 8 * LANES;

/// Terms of a sum that are added up in the precision at hand.
const TERMS: usize = 256;

/// What a solution in single precision leaves at best, with room for rounding that adds up.
const SINGLE: f64 = 2e-5;

/// A correction in single precision is of use if it leaves less than this of the residual.
const PROGRESS: f64 = 0.1;

/// Corrections after which what is left is reported as it is.
const CORRECTIONS: usize = 12;

/// `A` as an operator.
#[derive(Debug)]
pub struct Smoother {
    pattern: Pattern,
    /// The entries of `L`.
    laplacian: Vec<f64>,
    alpha: f64,
    beta: f64,
    tolerance: f64,
    /// The diagonal of D, if it is not I.
    weights: Option<Vec<f64>>,
    /// One over the roots of the diagonal of `αL + βI`, with which its rows and columns are scaled. Samples that many others
    /// are near to would slow the iteration down without.
    scale: Vec<f64>,
    /// The entries of `αL + βI`, scaled: in single precision, and in double where that is needed.
    single: Vec<f32>,
    double: OnceLock<Vec<f64>>,
    /// The worst relative residual met so far, as bits (of numbers ≥ 0, so ordered like them).
    worst: AtomicU64,
}

impl Smoother {
    /// For an alignment matrix `L` with `αL + βI` positive definite; `tolerance` is the relative residual at which
    /// conjugate gradients stop.
    pub fn new(laplacian: &SparseSymmetric, alpha: f64, beta: f64, tolerance: f64) -> Self {
        Self::from_owned(laplacian.clone(), alpha, beta, tolerance)
    }

    /// A smoother that takes `L` over, without a copy.
    pub fn from_owned(laplacian: SparseSymmetric, alpha: f64, beta: f64, tolerance: f64) -> Self {
        // A sample that no patch joins to another has a row without entries, and β is added to what is stored.
        let laplacian = laplacian.with_diagonal();
        let diagonal =
            |j: usize| laplacian.column(j).filter(|&(i, _)| i == j).map(|(_, value)| value).sum::<f64>();
        let scale = (0..laplacian.dim()).map(|j| (alpha * diagonal(j) + beta).sqrt().recip()).collect();
        let (pattern, laplacian) = laplacian.into_parts();
        let (double, worst) = (OnceLock::new(), AtomicU64::new(0));
        let (weights, single) = (None, Vec::new());
        let mut smoother =
            Smoother { pattern, laplacian, alpha, beta, tolerance, weights, scale, single, double, worst };
        smoother.single = smoother.scaled(|value| value as f32);
        smoother
    }

    /// This smoother for samples with weights, one each.
    pub(crate) fn with_weights(self, weights: Option<Vec<f64>>) -> Self {
        Smoother { weights, ..self }
    }

    /// The entries of `αL + βI`, scaled.
    fn scaled<T>(&self, round: impl Fn(f64) -> T) -> Vec<T> {
        let entries = self.pattern.entries().zip(&self.laplacian);
        let scaled = entries.map(|((i, j), value)| {
            let shift = if i == j { self.beta } else { 0.0 };
            round((self.alpha * value + shift) * self.scale[i] * self.scale[j])
        });
        scaled.collect()
    }

    /// `A x`.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut out = Mat::zeros(x.len(), 1);
        self.apply_lanes::<1>(MatRef::from_column_major_slice(x, x.len(), 1), out.as_mut());
        column(&out, 0).to_vec()
    }

    /// `A X` for a few columns.
    pub(crate) fn apply_all(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(x.nrows(), x.ncols());
        for start in (0..x.ncols()).step_by(LANES) {
            let lanes = LANES.min(x.ncols() - start);
            self.apply_lanes::<LANES>(x.subcols(start, lanes), out.subcols_mut(start, lanes));
        }
        out
    }

    /// `A X` in the place of X, on all threads.
    pub(crate) fn apply_in_place(&self, x: MatMut<'_, f64>) {
        let (mut tiles, mut rest) = (Vec::new(), x);
        while rest.ncols() > LANES {
            let (tile, tail) = rest.split_at_col_mut(LANES);
            tiles.push(tile);
            rest = tail;
        }
        tiles.push(rest);
        tiles.into_par_iter().for_each(|tile| {
            let x = tile.as_ref().to_owned();
            self.apply_lanes::<LANES>(x.as_ref(), tile);
        });
    }

    /// Number of samples n.
    pub fn samples(&self) -> usize {
        self.scale.len()
    }

    /// The Gram matrix `XᵀAX`, whole. Of `AX` there is but a tile of columns at a time.
    ///
    /// # Errors
    /// When `monitor` asks to stop.
    pub fn gram(&self, x: MatRef<'_, f64>, monitor: &dyn Monitor) -> Result<Mat<f64>> {
        let p = x.ncols();
        let done = AtomicUsize::new(0);
        let tiles: Vec<Mat<f64>> = (0..p.div_ceil(TILE))
            .into_par_iter()
            .with_max_len(1)
            .map(|t| {
                proceed(monitor, Stage::Reduction)?;
                let (start, width) = (t * TILE, TILE.min(p - t * TILE));
                let image = self.apply_all(x.subcols(start, width));
                // The lower half; the upper one is its mirror.
                let mut below = Mat::zeros(p - start, width);
                let left = x.subcols(start, p - start).transpose();
                matmul(&mut below, Accum::Replace, left, &image, 1.0, Par::Seq);
                monitor.progress(Stage::Reduction, done.fetch_add(width, Ordering::Relaxed) + width, p);
                Ok(below)
            })
            .collect::<Result<_>>()?;
        let mut gram = Mat::zeros(p, p);
        for (t, tile) in tiles.iter().enumerate() {
            let start = t * TILE;
            gram.submatrix_mut(start, start, p - start, tile.ncols()).copy_from(tile);
        }
        mirror_lower(gram.as_mut());
        Ok(gram)
    }

    /// The worst relative residual of all solves so far.
    pub fn worst_residual(&self) -> f64 {
        f64::from_bits(self.worst.load(Ordering::Relaxed))
    }

    /// `out = A x` for at most `L` columns, no column's bits depending on those beside it.
    fn apply_lanes<const L: usize>(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        if self.alpha == 0.0 {
            for (out, x) in out.col_iter_mut().zip(x.col_iter()) {
                out.iter_mut().zip(x.iter()).enumerate().for_each(|(i, (out, x))| *out = weight(i) * x);
            }
            return;
        }
        let mut rhs = vec![[0.0; L]; x.nrows()];
        for (l, x) in x.col_iter().enumerate() {
            for (row, x) in rhs.iter_mut().zip(x.iter()) {
                row[l] = *x;
            }
        }
        // A x = D x + αβ L (αL + βI)⁻¹ x
        let image = self.solve(&rhs);
        for (l, out) in out.col_iter_mut().enumerate() {
            for (i, (out, (image, rhs))) in out.iter_mut().zip(image.iter().zip(&rhs)).enumerate() {
                *out = weight(i) * rhs[l] + self.alpha * self.beta * image[l];
            }
        }
    }

    /// `L (αL + βI)⁻¹ b`, by corrections until the residual, in double precision, is small enough.
    fn solve<const L: usize>(&self, b: &[[f64; L]]) -> Vec<[f64; L]> {
        let (mut x, mut image, mut left) = (vec![[0.0; L]; b.len()], vec![[0.0; L]; b.len()], b.to_vec());
        let size = squares(&left);
        // Relative to what was given: before, and now.
        let (mut before, mut now) = ([f64::INFINITY; L], size.map(|size| f64::from(u8::from(size > 0.0))));
        let mut hard = [false; L];
        for _ in 0..CORRECTIONS {
            let open = now.map(|now| now > self.tolerance);
            if open == [false; L] {
                break;
            }
            for l in 0..L {
                hard[l] |= open[l] && now[l] > PROGRESS * before[l];
            }
            let needed = now.map(|now| 0.5 * self.tolerance / now);
            let easy: [bool; L] = std::array::from_fn(|l| open[l] && !hard[l]);
            if easy != [false; L] {
                self.correct(&self.single, &left, easy, needed.map(in_parts), &mut x);
            }
            let rest: [bool; L] = std::array::from_fn(|l| open[l] && hard[l]);
            if rest != [false; L] {
                let values = self.double.get_or_init(|| self.scaled(|value| value));
                self.correct(values, &left, rest, needed, &mut x);
            }
            self.pattern.multiply(&self.laplacian, 0..b.len(), &x, |j, product: [f64; L]| {
                image[j] = product;
                left[j] = std::array::from_fn(|l| b[j][l] - self.alpha * product[l] - self.beta * x[j][l]);
            });
            before = now;
            let squared = squares(&left);
            now = std::array::from_fn(|l| if size[l] > 0.0 { (squared[l] / size[l]).sqrt() } else { 0.0 });
        }
        for now in now {
            self.worst.fetch_max(now.to_bits(), Ordering::Relaxed);
        }
        image
    }

    /// Adds to `x` what solves for the residuals `left` of the `chosen` lanes, to the `tolerance` of each.
    fn correct<T: Precision, const L: usize>(
        &self,
        values: &[T],
        left: &[[f64; L]],
        chosen: [bool; L],
        tolerance: [f64; L],
        x: &mut [[f64; L]],
    ) {
        let mut scaled: Vec<[f64; L]> = left.to_vec();
        for (row, scale) in scaled.iter_mut().zip(&self.scale) {
            for l in 0..L {
                row[l] = if chosen[l] { row[l] * scale } else { 0.0 };
            }
        }
        // Of length 1, so that no precision is too narrow for them.
        let lengths = squares(&scaled).map(f64::sqrt);
        let unit = lengths.map(|length| if length > 0.0 { length.recip() } else { 0.0 });
        let rhs = scaled.iter().map(|row| std::array::from_fn(|l| T::nearest(row[l] * unit[l]))).collect();
        let system = Scaled { pattern: &self.pattern, values };
        let Ok(found) = conjugate_gradients(&system, rhs, tolerance) else { return }; // it never ends early
        for ((x, found), scale) in x.iter_mut().zip(&found).zip(&self.scale) {
            for l in 0..L {
                let found: f64 = found[l].into();
                x[l] += scale * (found * lengths[l]);
            }
        }
    }
}

/// A matrix with diagonal 1.
struct Scaled<'a, T> {
    pattern: &'a Pattern,
    values: &'a [T],
}

impl<T: Precision, const L: usize> LinearSystem<T, L> for Scaled<'_, T> {
    const TERMS: usize = TERMS;

    fn multiply(&self, p: &[[T; L]], q: &mut [[T; L]]) -> Result<[f64; L]> {
        let (n, mut pq) = (p.len(), [0.0; L]);
        for start in (0..n).step_by(TERMS) {
            let mut part = [T::default(); L];
            self.pattern.multiply(
                self.values,
                start..n.min(start + TERMS),
                p,
                #[inline(always)]
                |j, product: [T; L]| {
                    q[j] = product;
                    for l in 0..L {
                        part[l] += p[j][l] * product[l];
                    }
                },
            );
            add(&mut pq, part);
        }
        Ok(pq)
    }
}

/// The squared length of every lane.
fn squares<const L: usize>(x: &[[f64; L]]) -> [f64; L] {
    squares_by(TERMS, x)
}

/// What a correction should leave if several in single precision should leave `needed`, each as much.
fn in_parts(needed: f64) -> f64 {
    let parts = (needed.ln() / SINGLE.ln()).ceil().max(1.0);
    needed.powf(1.0 / parts)
}

#[cfg(test)]
mod tests {
    use faer::sparse::Triplet;

    use super::*;

    /// A chain, so stiff that single precision makes no progress at the end.
    #[test]
    fn double_precision_takes_over_where_single_does_not_do() {
        let n = 300;
        let spring = |i: usize| [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)];
        let triplets: Vec<_> = (0..n - 1).flat_map(spring).map(|(i, j, x)| Triplet::new(i, j, x)).collect();
        let laplacian = SparseSymmetric::from_triplets(n, &triplets).unwrap();
        let x: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1009) as f64 / 500.0 - 1.0).collect();
        for (alpha, hard) in [(1.0, false), (1e8, true)] {
            let smoother = Smoother::new(&laplacian, alpha, 1.0, 1e-12);
            let image = smoother.apply(&x);
            assert_eq!(smoother.double.get().is_some(), hard, "{alpha}");
            // (αL + I) A x = (αL + I) x + αL x, the same without an inverse.
            let product = |x: &[f64]| {
                let mut out = vec![0.0; n];
                laplacian.apply(x, &mut out);
                out
            };
            let (left, right) = (product(&image), product(&x));
            for i in 0..n {
                let difference = alpha * (left[i] - 2.0 * right[i]) + image[i] - x[i];
                assert!(difference.abs() <= 1e-6 * (1.0 + alpha), "{alpha}, {i}: {difference}");
            }
        }
    }
}
