//! A as a dense matrix, by a factor F with `FᵀF = A`.

use faer::Mat;

use super::{DefinitenessReport, ManifoldParams};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::numerics::linalg::{cholesky, cholesky_solve, product, symmetric_eigen};
use crate::numerics::sparse::SparseSymmetric;

/// An eigenvalue this small, relative to the largest, may be a rounding of 0.
const ROUNDING: f64 = 1e-10;

/// `F` with `FᵀF = A`, by Cholesky; A's definiteness must have been seen to.
pub(super) fn factor(
    laplacian: &SparseSymmetric,
    weights: Option<&[f64]>,
    params: &ManifoldParams,
) -> Result<Mat<f64>> {
    let n = laplacian.dim();
    let ManifoldParams { alpha, beta, .. } = *params;
    let broken = |what: &'static str| Error::Numerical {
        what,
        detail: "it is not positive definite in double precision; raise floor or beta".to_owned(),
    };
    let mut shifted = laplacian.to_dense();
    for j in 0..n {
        for i in 0..n {
            shifted[(i, j)] = alpha * shifted[(i, j)] + if i == j { beta } else { 0.0 };
        }
    }
    let factor = cholesky(shifted.as_ref()).ok_or_else(|| broken("the factorization of alpha L + beta I"))?;
    let mut inverse = Mat::identity(n, n);
    cholesky_solve(factor.as_ref(), inverse.as_mut());
    // A = D + αβ L (αL + βI)⁻¹
    let mut a = laplacian.product(inverse.as_ref());
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    for j in 0..n {
        for i in 0..n {
            a[(i, j)] = alpha * beta * a[(i, j)] + if i == j { weight(i) } else { 0.0 };
        }
    }
    match cholesky(a.as_ref()) {
        Some(factor) => Ok(factor.transpose().to_owned()),
        // Samples without a label that no path of neighbours joins to one with a label leave A singular.
        None if weights.is_some() => semidefinite_factor(&a)?.ok_or_else(|| broken("the factorization of A")),
        None => Err(broken("the factorization of A")),
    }
}

/// `F` with `FᵀF = A` for an A that has no negative eigenvalue but for rounding; none where it has.
fn semidefinite_factor(a: &Mat<f64>) -> Result<Option<Mat<f64>>> {
    let n = a.ncols();
    let symmetric = Mat::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
    let (values, vectors) = symmetric_eigen(symmetric.as_ref())?;
    let largest = values.last().copied().unwrap_or(0.0);
    if values.iter().any(|&value| value < -ROUNDING * largest) {
        return Ok(None);
    }
    Ok(Some(Mat::from_fn(n, n, |i, j| values[i].max(0.0).sqrt() * vectors[(j, i)])))
}

/// `F` with `FᵀF = A`, the eigenvalues of A raised to the floor where they, or the minimum over Z, fail. With weights, those of
/// `D^(-1/2) A D^(-1/2)` are raised as well.
pub(super) fn floored_factor(
    alignment: &Alignment,
    weights: Option<&[f64]>,
    params: &ManifoldParams,
) -> Result<(Mat<f64>, DefinitenessReport)> {
    let n = alignment.attract.dim();
    let ManifoldParams { alpha, beta, floor, .. } = *params;
    let kappa = if alignment.repel.is_some() { params.kappa } else { 0.0 };
    let (values, vectors) = symmetric_eigen(alignment.matrix(kappa).to_dense().as_ref())?;
    let mut changed = 0;
    let roots: Vec<f64> = values
        .iter()
        .map(|&lambda| {
            let a = 1.0 + alpha * beta * lambda / (alpha * lambda + beta);
            let kept = alpha * lambda + beta > 0.0 && a >= floor * (1.0 - 1e-12);
            changed += usize::from(!kept);
            if kept { a.sqrt() } else { floor.sqrt() }
        })
        .collect();
    let mut factor = Mat::from_fn(n, n, |i, j| roots[i] * vectors[(j, i)]);
    if let Some(weights) = weights {
        let (weighted, raised) = floored_weighted(&factor, weights, floor)?;
        (factor, changed) = (weighted, changed + raised);
    }
    let report = DefinitenessReport {
        policy: params.definiteness,
        floor,
        kappa_requested: params.kappa,
        kappa_used: kappa,
        eigenvalues_changed: changed,
        lambda_min: values[0],
    };
    Ok((factor, report))
}

/// `F` with `FᵀF = D + B`, from a factor of `I + B`, the eigenvalues of `I + D^(-1/2) B D^(-1/2)` raised to the floor; and how many were.
fn floored_weighted(factor: &Mat<f64>, weights: &[f64], floor: f64) -> Result<(Mat<f64>, usize)> {
    let n = weights.len();
    let a = product(factor.transpose(), factor.as_ref());
    let scaled = Mat::from_fn(n, n, |i, j| {
        let one = if i == j { 1.0 } else { 0.0 };
        one + (0.5 * (a[(i, j)] + a[(j, i)]) - one) / (weights[i] * weights[j]).sqrt()
    });
    let (values, vectors) = symmetric_eigen(scaled.as_ref())?;
    let raised = values.iter().filter(|&&value| value < floor * (1.0 - 1e-12)).count();
    let root = |value: f64| if value < floor * (1.0 - 1e-12) { floor.sqrt() } else { value.sqrt() };
    Ok((Mat::from_fn(n, n, |i, j| root(values[i]) * vectors[(j, i)] * weights[j].sqrt()), raised))
}
