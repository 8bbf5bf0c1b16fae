//! A as a dense matrix, by a factor F with `FᵀF = A`.

use faer::Mat;

use super::{DefinitenessReport, OperatorParams};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::numerics::linalg::{cholesky, cholesky_solve, symmetric_eigen};
use crate::numerics::sparse::SparseSymmetric;

/// `F` with `FᵀF = A`, by Cholesky; A's definiteness must have been seen to.
pub(super) fn factor(laplacian: &SparseSymmetric, params: &OperatorParams) -> Result<Mat<f64>> {
    let n = laplacian.dim();
    let OperatorParams { alpha, beta, .. } = *params;
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
    // A = I + αβ L (αL + βI)⁻¹
    let mut a = laplacian.product(inverse.as_ref());
    for j in 0..n {
        for i in 0..n {
            a[(i, j)] = alpha * beta * a[(i, j)] + if i == j { 1.0 } else { 0.0 };
        }
    }
    let factor = cholesky(a.as_ref()).ok_or_else(|| broken("the factorization of A"))?;
    Ok(factor.transpose().to_owned())
}

/// `F` with `FᵀF = A`, the eigenvalues of A raised to the floor where they, or the minimum over Z, fail.
pub(super) fn floored_factor(
    alignment: &Alignment,
    params: &OperatorParams,
) -> Result<(Mat<f64>, DefinitenessReport)> {
    let n = alignment.attract.dim();
    let OperatorParams { alpha, beta, floor, .. } = *params;
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
    let factor = Mat::from_fn(n, n, |i, j| roots[i] * vectors[(j, i)]);
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
