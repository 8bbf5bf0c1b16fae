//! The operator `A = I + αL M`, `M = β(αL + βI)⁻¹`, applied without an n×n matrix.
//!
//! `αL + βI` is sparse and, once the definiteness policy has been met, well conditioned, so that conjugate
//! gradients apply `M` in a few dozen products with `L`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::conjugate_gradient::{CgParams, conjugate_gradient, conjugate_gradient_scratch};
use faer::matrix_free::{IdentityPrecond, LinOp};
use faer::{Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::alignment::SparseSymmetric;
use crate::error::Result;
use crate::gram::Gram;
use crate::linalg::{axpy, column, dot, from_columns, symmetric_product};
use crate::monitor::{Monitor, Stage, proceed};

/// `A` as an operator.
#[derive(Debug)]
pub struct Smoother {
    laplacian: SparseSymmetric,
    alpha: f64,
    beta: f64,
    tolerance: f64,
    /// The worst relative residual met so far, as bits (of numbers ≥ 0, so ordered like them).
    worst: AtomicU64,
}

impl Smoother {
    /// For an alignment matrix `L` with `αL + βI` positive definite; `tolerance` is the relative residual at which
    /// conjugate gradients stop.
    pub fn new(laplacian: SparseSymmetric, alpha: f64, beta: f64, tolerance: f64) -> Self {
        Smoother { laplacian, alpha, beta, tolerance, worst: AtomicU64::new(0) }
    }

    /// `A x`.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        if self.alpha == 0.0 || x.iter().all(|&x| x == 0.0) {
            return x.to_vec();
        }
        let rhs = Mat::from_fn(n, 1, |i, _| x[i]);
        let mut solution = Mat::zeros(n, 1);
        let identity = IdentityPrecond { dim: n };
        let params = CgParams {
            rel_tolerance: self.tolerance,
            abs_tolerance: 0.0,
            max_iters: 10_000,
            ..CgParams::default()
        };
        let mut memory = MemBuffer::new(conjugate_gradient_scratch(identity, self, 1, Par::Seq));
        // Where the iteration ends does not matter: what it left is measured below and reported.
        let _ = conjugate_gradient(
            solution.as_mut(),
            identity,
            self,
            rhs.as_ref(),
            params,
            |_| {},
            Par::Seq,
            MemStack::new(&mut memory),
        );
        let mut back = vec![0.0; n];
        self.shifted(column(&solution, 0), &mut back);
        axpy(-1.0, x, &mut back);
        let residual = (dot(&back, &back) / dot(x, x)).sqrt();
        self.worst.fetch_max(residual.to_bits(), Ordering::Relaxed);
        let mut out = vec![0.0; n];
        self.laplacian.apply(column(&solution, 0), &mut out);
        for (out, x) in out.iter_mut().zip(x) {
            *out = x + self.alpha * self.beta * *out;
        }
        out
    }

    /// `A X`, columns in parallel.
    ///
    /// # Errors
    /// When `monitor` asks to stop.
    pub fn product(&self, x: MatRef<'_, f64>, monitor: &dyn Monitor) -> Result<Mat<f64>> {
        let done = AtomicUsize::new(0);
        let columns: Vec<Vec<f64>> = (0..x.ncols())
            .into_par_iter()
            .map(|k| {
                proceed(monitor, Stage::Reduction)?;
                let image = self.apply(&x.col(k).iter().copied().collect::<Vec<_>>());
                monitor.progress(Stage::Reduction, done.fetch_add(1, Ordering::Relaxed) + 1, x.ncols());
                Ok(image)
            })
            .collect::<Result<_>>()?;
        Ok(from_columns(x.nrows(), &columns))
    }

    /// The Gram matrix `XᵀAX`, whole.
    ///
    /// # Errors
    /// When `monitor` asks to stop.
    pub fn gram(&self, x: MatRef<'_, f64>, monitor: &dyn Monitor) -> Result<Mat<f64>> {
        Ok(symmetric_product(x, self.product(x, monitor)?.as_ref()))
    }

    /// The worst relative residual of all solves so far.
    pub fn worst_residual(&self) -> f64 {
        f64::from_bits(self.worst.load(Ordering::Relaxed))
    }

    /// `out = (αL + βI) x`.
    fn shifted(&self, x: &[f64], out: &mut [f64]) {
        self.laplacian.apply(x, out);
        for (out, x) in out.iter_mut().zip(x) {
            *out = self.alpha * *out + self.beta * x;
        }
    }
}

impl LinOp<f64> for Smoother {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.laplacian.dim()
    }

    fn ncols(&self) -> usize {
        self.laplacian.dim()
    }

    /// `(αL + βI) x`, the matrix that conjugate gradients invert.
    fn apply(&self, mut out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, _: Par, _: &mut MemStack) {
        for k in 0..rhs.ncols() {
            let x: Vec<f64> = rhs.col(k).iter().copied().collect();
            let mut image = vec![0.0; x.len()];
            self.shifted(&x, &mut image);
            for (i, value) in image.iter().enumerate() {
                out[(i, k)] = *value;
            }
        }
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        LinOp::apply(self, out, rhs, par, stack);
    }
}

/// `G = XᵀAX` with neither p×p nor n×n matrix: a column costs one solve and one pass over `X`.
#[derive(Debug)]
pub struct ConjugateGram {
    x: Mat<f64>,
    smoother: Smoother,
}

impl ConjugateGram {
    /// From the n×p data and the operator.
    pub fn new(x: Mat<f64>, smoother: Smoother) -> Self {
        ConjugateGram { x, smoother }
    }

    /// The operator.
    pub fn smoother(&self) -> &Smoother {
        &self.smoother
    }

    fn smooth(&self, j: usize) -> Vec<f64> {
        self.smoother.apply(column(&self.x, j))
    }
}

impl Gram for ConjugateGram {
    fn dim(&self) -> usize {
        self.x.ncols()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        let image = self.smooth(j);
        for (i, out) in out.iter_mut().enumerate() {
            *out = dot(column(&self.x, i), &image);
        }
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.dim()).into_par_iter().map(|j| dot(column(&self.x, j), &self.smooth(j))).collect()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let image = self.smooth(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = dot(column(&self.x, row), &image);
        }
    }

    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        for k in 0..coefficients.ncols() {
            let mut image = vec![0.0; self.x.nrows()];
            for (s, &j) in support.iter().enumerate() {
                axpy(coefficients[(s, k)], column(&self.x, j), &mut image);
            }
            let image = self.smoother.apply(&image);
            for j in 0..self.dim() {
                out[(j, k)] = dot(column(&self.x, j), &image);
            }
        }
    }
}
