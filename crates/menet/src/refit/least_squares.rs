//! `axis` and `panel`: the problem again, without its ℓ1 penalty, on variables that are already selected.
//!
//! On the support S of an axis, or on the panel P for all axes, the minimiser solves
//!
//! ```text
//! (G_SS + λ2 I) w = b_S,    (G_PP + λ2 I) W = b_P
//! ```

use faer::{Mat, MatRef};

use super::RefitProblem;
use crate::error::Result;
use crate::numerics::linalg::{cholesky, cholesky_solve, product, symmetric_eigen};

/// Weights of some variables (m×d), and how well they solve the equations.
pub(super) struct Weights {
    pub(super) w: Mat<f64>,
    /// The largest entry of what is left over, relative to the largest of the right-hand side.
    pub(super) residual: f64,
}

/// The weights of the variables at `places` of what was reached, for the axes in `responses`.
pub(super) fn weights(
    reached: &RefitProblem,
    places: &[usize],
    responses: &[usize],
    ridge: f64,
) -> Result<Weights> {
    let m = places.len();
    let gram =
        Mat::from_fn(m, m, |i, j| reached.gram[(places[i], places[j])] + if i == j { ridge } else { 0.0 });
    let b = Mat::from_fn(m, responses.len(), |i, k| reached.b[(places[i], responses[k])]);
    let w = solved(gram.as_ref(), b.as_ref())?;
    let left = product(gram.as_ref(), w.as_ref()) - &b;
    let residual = left.norm_max() / b.norm_max().max(f64::MIN_POSITIVE);
    Ok(Weights { w, residual })
}

/// `gram⁻¹ b`; of a singular matrix, as copies of a variable without a ridge give it, the shortest solution.
fn solved(gram: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
    const SINGULAR: f64 = 1e-13;
    if let Some(factor) = cholesky(gram) {
        let pivots = (0..gram.nrows()).map(|i| factor[(i, i)]);
        let (least, most) =
            pivots.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), x| (least.min(x), most.max(x)));
        if least * least > SINGULAR * most * most {
            let mut w = b.to_owned();
            cholesky_solve(factor.as_ref(), w.as_mut());
            return Ok(w);
        }
    }
    let (values, vectors) = symmetric_eigen(gram)?;
    let largest = values.last().copied().unwrap_or(0.0);
    let mut turned = product(vectors.transpose(), b);
    for (k, &value) in values.iter().enumerate() {
        let inverse = if value > SINGULAR * largest { 1.0 / value } else { 0.0 };
        turned.row_mut(k).iter_mut().for_each(|x| *x *= inverse);
    }
    Ok(product(vectors.as_ref(), turned.as_ref()))
}
