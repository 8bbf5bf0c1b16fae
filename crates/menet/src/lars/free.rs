//! Variables without a penalty (factor 0): where a path with such variables begins.
//!
//! Let U be the free variables. Above the level of the first knot all others are zero, and `w_U` solves
//!
//! ```text
//! (G_UU + λ2 I) w_U = b_U
//! ```
//!
//! From there on U is part of the active set with `sⱼvⱼ = 0`, so that the correlations of U stay 0 along the path. A member
//! of U never leaves, also where its coefficient crosses zero ([`State::free`](super::state::State::free)).

use super::certificate::correlations;
use super::cholesky::{Cholesky, Dependent};
use super::problem::Problem;
use crate::error::{Error, Result};
use crate::numerics::linalg::axpy;
use crate::numerics::sparse::SparseVector;

/// How often the first coefficients are refined at most.
const ROUNDS: usize = 5;

/// Correlations of free variables below this, in units of the problem, need no refinement.
const PRECISE: f64 = 1e-14;

/// The state above the first knot.
pub(super) struct FreeSolution {
    /// The coefficients of the free variables.
    pub(super) coefficients: SparseVector,
    /// All correlations there.
    pub(super) c: Vec<f64>,
}

impl FreeSolution {
    /// # Errors
    /// When free variables depend on each other.
    pub(super) fn new(problem: &Problem<'_>) -> Result<Self> {
        let free = &problem.free;
        if free.is_empty() {
            return Ok(FreeSolution { coefficients: SparseVector::default(), c: problem.b.to_vec() });
        }
        let factor = factorized(problem)?;
        let mut w = vec![0.0; free.len()];
        let mut off: Vec<f64> = free.iter().map(|&j| problem.b[j]).collect();
        let size = |c: &[f64]| free.iter().map(|&j| c[j].abs() / problem.shared.scale[j]).fold(0.0, f64::max);
        let mut best = FreeSolution { coefficients: SparseVector::default(), c: problem.b.to_vec() };
        for _ in 0..ROUNDS {
            factor.solve(&mut off);
            axpy(1.0, &off, &mut w);
            let coefficients = SparseVector::from_rising(free.iter().copied().zip(w.iter().copied()));
            let c = correlations(problem, &coefficients);
            off = free.iter().map(|&j| c[j]).collect();
            if size(&c) >= size(&best.c) {
                break;
            }
            best = FreeSolution { coefficients, c };
            if size(&best.c) <= PRECISE * problem.unit {
                break;
            }
        }
        Ok(best)
    }
}

/// The factor of `G_UU + λ2 I`.
fn factorized(problem: &Problem<'_>) -> Result<Cholesky> {
    let (free, u, ridge) = (&problem.free, problem.free.len(), problem.options().ridge);
    let mut block = vec![0.0; u * u];
    problem.shared.gram.square(free, &mut block);
    let mut factor = Cholesky::default();
    for (k, column) in block.chunks_exact(u).enumerate() {
        let diagonal = column[k] + ridge;
        factor.append(&column[..k], diagonal, 0.0).map_err(|dependent| refusal(free[k], dependent, ridge))?;
    }
    Ok(factor)
}

fn refusal(variable: usize, dependent: Dependent, ridge: f64) -> Error {
    // Nearly dependent variables magnify rounding, so that a negative distance alone does not prove it.
    let indefinite = dependent.relative_distance < -1e-6;
    let or = if indefinite { ", or the Gram matrix is not positive semidefinite" } else { "" };
    let allowed = format!(
        "> 0 there, or `ridge` larger than {ridge}: the variable depends on others with factor 0, so that their coefficients \
         are not unique{or}"
    );
    Error::parameter("penalty_factors", format!("0 at variable {variable}"), allowed)
}
