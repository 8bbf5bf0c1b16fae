//! The triangle R of `X = QR`, piece by piece: what the singular values and the principal axes of all samples are computed from.

use faer::{Mat, MatRef};

use super::SolverUnits;
use crate::error::Result;
use crate::numerics::finite::Real;
use crate::numerics::linalg::{product, singular_values, thin_svd, upper_triangle};

/// R of the rows of a piece, in the solver's units: at most as many rows as there are variables.
pub fn triangle<T: Real>(x: MatRef<'_, T>, units: SolverUnits<'_>) -> Mat<f64> {
    let p = x.ncols();
    let mut out = Mat::zeros(0, p);
    // So many rows at a time that the copy stays small.
    let rows = (2 * p).max(512);
    for start in (0..x.nrows()).step_by(rows) {
        let part = x.subrows(start, rows.min(x.nrows() - start));
        let part = Mat::from_fn(part.nrows(), p, |i, j| {
            let value: f64 = part[(i, j)].into();
            if units.factor[j] == 0.0 { 0.0 } else { (value - units.mean[j]) * units.factor[j] }
        });
        out = stacked(out.as_ref(), part.as_ref());
    }
    out
}

/// R of two triangles, one above the other.
pub fn stacked(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let (p, above) = (b.ncols(), a.nrows());
    let both =
        Mat::from_fn(above + b.nrows(), p, |i, j| if i < above { a[(i, j)] } else { b[(i - above, j)] });
    if both.nrows() > p { upper_triangle(both.as_ref()) } else { both }
}

/// The rank of all samples, from their triangle.
///
/// # Errors
/// When the decomposition fails.
pub fn rank(triangle: MatRef<'_, f64>) -> Result<usize> {
    Ok(singular_values(triangle)?.len())
}

/// The first `rank` principal axes of all samples, from their triangle: p×r.
///
/// # Errors
/// When the decomposition fails.
pub fn basis(triangle: MatRef<'_, f64>, rank: usize) -> Result<Mat<f64>> {
    let svd = thin_svd(triangle)?;
    Ok(svd.v.subcols(0, rank.min(svd.s.len())).to_owned())
}

/// The rows of a piece in the solver's units, projected on some principal axes and mapped back; constant variables are 0.
pub fn reconstructed<T: Real>(x: MatRef<'_, T>, units: SolverUnits<'_>, basis: MatRef<'_, f64>) -> Mat<f64> {
    let centred = Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
        let value: f64 = x[(i, j)].into();
        if units.factor[j] == 0.0 { 0.0 } else { (value - units.mean[j]) * units.factor[j] }
    });
    let scores = product(centred.as_ref(), basis);
    let mut out = product(scores.as_ref(), basis.transpose());
    for j in (0..x.ncols()).filter(|&j| units.factor[j] == 0.0) {
        out.col_mut(j).fill(0.0);
    }
    out
}
