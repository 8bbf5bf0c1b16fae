//! The operator `A = I + αL M`, `M = β(αL + βI)⁻¹`, applied without an n×n matrix.
//!
//! `αL + βI` is sparse and, once the definiteness policy has been met, well conditioned, so that conjugate
//! gradients apply `M` in a few dozen products with `L`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::alignment::SparseSymmetric;
use crate::error::Result;
use crate::linalg::{column, mirror_lower, vectorized};
use crate::monitor::{Monitor, Stage, proceed};

/// Right-hand sides that are solved side by side: an entry of `L` is read once for all of them. As many as fill a line of
/// the cache.
const LANES: usize = 8;

/// Columns of the Gram matrix that a thread takes at a time.
const TILE: usize = 8 * LANES;

/// Iterations after which what is left is reported as it is.
const LONGEST: usize = 10_000;

/// `A` as an operator.
#[derive(Debug)]
pub struct Smoother {
    laplacian: Rows,
    alpha: f64,
    beta: f64,
    tolerance: f64,
    /// One over the diagonal of `αL + βI`. Samples that many others are near to would slow the iteration down without.
    inverse_diagonal: Vec<f64>,
    /// The worst relative residual met so far, as bits (of numbers ≥ 0, so ordered like them).
    worst: AtomicU64,
}

impl Smoother {
    /// For an alignment matrix `L` with `αL + βI` positive definite; `tolerance` is the relative residual at which
    /// conjugate gradients stop.
    pub fn new(laplacian: &SparseSymmetric, alpha: f64, beta: f64, tolerance: f64) -> Self {
        let diagonal =
            |j: usize| laplacian.column(j).filter(|&(i, _)| i == j).map(|(_, value)| value).sum::<f64>();
        let inverse_diagonal = (0..laplacian.dim()).map(|j| 1.0 / (alpha * diagonal(j) + beta)).collect();
        let laplacian = Rows::new(laplacian);
        Smoother { laplacian, alpha, beta, tolerance, inverse_diagonal, worst: AtomicU64::new(0) }
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
    fn apply_lanes<const L: usize>(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        if self.alpha == 0.0 {
            out.copy_from(x);
            return;
        }
        let mut rhs = vec![[0.0; L]; x.nrows()];
        for (l, x) in x.col_iter().enumerate() {
            for (row, x) in rhs.iter_mut().zip(x.iter()) {
                row[l] = *x;
            }
        }
        let solution = self.solve(&rhs);
        // One more product tells what the solve left, and gives A x = x + αβ L (αL + βI)⁻¹ x.
        let mut image = vec![[0.0; L]; rhs.len()];
        self.laplacian.multiply(
            &solution,
            #[inline(always)]
            |j, product| image[j] = product,
        );
        let (mut left, mut size) = ([0.0; L], [0.0; L]);
        for ((image, solution), rhs) in image.iter_mut().zip(&solution).zip(&rhs) {
            for l in 0..L {
                let residual = self.alpha * image[l] + self.beta * solution[l] - rhs[l];
                left[l] += residual * residual;
                size[l] += rhs[l] * rhs[l];
                image[l] = rhs[l] + self.alpha * self.beta * image[l];
            }
        }
        for l in (0..L).filter(|&l| size[l] > 0.0) {
            self.worst.fetch_max((left[l] / size[l]).sqrt().to_bits(), Ordering::Relaxed);
        }
        for (l, out) in out.col_iter_mut().enumerate() {
            for (out, image) in out.iter_mut().zip(&image) {
                *out = image[l];
            }
        }
    }

    /// `(αL + βI)⁻¹ b` by conjugate gradients, preconditioned by the diagonal: `L` iterations side by side, each with
    /// its own steps, and at rest once it has converged.
    fn solve<const L: usize>(&self, b: &[[f64; L]]) -> Vec<[f64; L]> {
        let (alpha, beta, inverse) = (self.alpha, self.beta, &self.inverse_diagonal[..]);
        let mut x = vec![[0.0; L]; b.len()];
        let mut r = b.to_vec();
        let mut p: Vec<[f64; L]> = b.iter().zip(inverse).map(|(b, d)| b.map(|b| b * d)).collect();
        let mut q = vec![[0.0; L]; b.len()];
        let (mut rz, mut size) = ([0.0; L], [0.0; L]);
        for (b, p) in b.iter().zip(&p) {
            for l in 0..L {
                rz[l] += b[l] * p[l];
                size[l] += b[l] * b[l];
            }
        }
        let goal = size.map(|size| self.tolerance * self.tolerance * size);
        let mut moving = size.map(|size| size > 0.0);
        for _ in 0..LONGEST {
            if moving.iter().all(|&moving| !moving) {
                break;
            }
            let mut pq = [0.0; L];
            self.laplacian.multiply(
                &p,
                #[inline(always)]
                |j, product| {
                    for l in 0..L {
                        q[j][l] = alpha * product[l] + beta * p[j][l];
                        pq[l] += p[j][l] * q[j][l];
                    }
                },
            );
            let step: [f64; L] = std::array::from_fn(|l| if moving[l] { rz[l] / pq[l] } else { 0.0 });
            let (rr, next) = vectorized(
                #[inline(always)]
                || {
                    let (mut rr, mut next) = ([0.0; L], [0.0; L]);
                    for ((((x, r), p), q), d) in x.iter_mut().zip(&mut r).zip(&p).zip(&q).zip(inverse) {
                        for l in 0..L {
                            x[l] += step[l] * p[l];
                            r[l] -= step[l] * q[l];
                            let square = r[l] * r[l];
                            rr[l] += square;
                            next[l] += square * d;
                        }
                    }
                    (rr, next)
                },
            );
            for l in 0..L {
                // False as well where a sum is not a number.
                moving[l] = moving[l] && rr[l] > goal[l];
            }
            let turn: [f64; L] = std::array::from_fn(|l| if moving[l] { next[l] / rz[l] } else { 0.0 });
            rz = next;
            vectorized(
                #[inline(always)]
                || {
                    for ((p, r), d) in p.iter_mut().zip(&r).zip(inverse) {
                        for l in 0..L {
                            p[l] = r[l] * d + turn[l] * p[l];
                        }
                    }
                },
            );
        }
        x
    }
}

/// A sparse symmetric matrix by rows, in as little memory as it takes.
#[derive(Debug)]
struct Rows {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(matrix: &SparseSymmetric) -> Self {
        let mut rows = Rows { starts: vec![0], indices: Vec::new(), values: Vec::new() };
        for j in 0..matrix.dim() {
            for (i, value) in matrix.column(j) {
                rows.indices.push(i as u32);
                rows.values.push(value);
            }
            rows.starts.push(rows.indices.len());
        }
        rows
    }

    /// `L x` for vectors side by side, row by row: `take` gets each.
    #[inline(always)]
    fn multiply<const L: usize>(&self, x: &[[f64; L]], mut take: impl FnMut(usize, [f64; L])) {
        vectorized(
            #[inline(always)]
            || {
                for j in 0..x.len() {
                    let row = self.starts[j]..self.starts[j + 1];
                    let mut sum = [0.0; L];
                    for (&i, value) in self.indices[row.clone()].iter().zip(&self.values[row]) {
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
