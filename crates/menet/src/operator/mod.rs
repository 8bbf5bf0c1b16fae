//! The operator A (n×n), which is all that the manifold term leaves once Z is eliminated.
//!
//! With `M = β(αL + βI)⁻¹`, eliminating Z from the objective (Eq. Z) leaves `WᵀXᵀAXW − 2WᵀXᵀY` with
//!
//! ```text
//! A = αMᵀLM + β(M−I)ᵀ(M−I) + I = I + αLM
//! ```
//!
//! so an eigenvalue λ of L becomes `a(λ) = 1 + αβλ/(αλ + β)` of A. Weights D of the samples in the loss take the place of I:
//! `A = D + αLM`, with 0 for samples without a label. The stacked X* and Y* of the paper (Eqs. newX and newY)
//! are never formed.
//!
//! | file | holds |
//! |---|---|
//! | `dense` | A as a dense matrix |
//! | `smoother` | A by conjugate gradients, without an n×n matrix |
//! | `definiteness` | whether A is positive definite, and what to do where it is not |

mod definiteness;
mod dense;
mod smoother;

use faer::{Mat, MatRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use definiteness::admissible_weighted;
pub use definiteness::{Definiteness, DefinitenessReport, admissible, eigenvalue_bound};
pub use smoother::Smoother;

use crate::alignment::Alignment;
use crate::error::{Error, Result, check};
use crate::monitor::Monitor;
use crate::numerics::linalg::{column, dot, from_columns, product};

/// Relative residual at which conjugate gradients stop.
pub const CG_TOLERANCE: f64 = 1e-12;

/// How A is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// As a dense n×n matrix.
    Dense,
    /// By conjugate gradients on the sparse L.
    Conjugate,
}

/// The manifold term: how strongly the patches act on the projection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ManifoldParams {
    /// Weight of the manifold term, at least 0.
    pub alpha: f64,
    /// Weight of the distance between the embedding Z and the projection XW, more than 0.
    pub beta: f64,
    /// How strongly near samples of other classes are pushed apart, at least 0; `definiteness` may lower it.
    pub kappa: f64,
    /// What to do where the problem would not be positive definite.
    pub definiteness: Definiteness,
    /// The smallest eigenvalue that is allowed, in (0, 1].
    pub floor: f64,
}

impl Default for ManifoldParams {
    fn default() -> Self {
        ManifoldParams { alpha: 1.0, beta: 1.0, kappa: 0.1, definiteness: Definiteness::Shrink, floor: 0.5 }
    }
}

impl ManifoldParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        check("alpha", self.alpha, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("beta", self.beta, "a number > 0, at most 1e100", |x| x > 0.0)?;
        check("kappa", self.kappa, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("floor", self.floor, "in (0, 1]", |x| x > 0.0 && x <= 1.0)
    }
}

/// `A`, n×n.
#[derive(Debug)]
pub(crate) enum Operator {
    /// As `FᵀF`.
    Dense(Mat<f64>),
    /// By conjugate gradients.
    Conjugate(Smoother),
}

impl Operator {
    /// A of these aligned patches, definite as the policy says. `weights` are those of the labelled samples in the loss, if they have any.
    ///
    /// # Errors
    /// When a parameter is out of range, the policy refuses, a decomposition fails, or `monitor` asks to stop.
    pub(crate) fn new(
        alignment: &Alignment,
        weights: Option<&[f64]>,
        params: &ManifoldParams,
        route: Route,
        monitor: &dyn Monitor,
    ) -> Result<(Self, DefinitenessReport)> {
        params.check()?;
        let (labelled, n) = (alignment.attract.dim(), alignment.samples());
        // The diagonal of D, where it is not I.
        let d: Option<Vec<f64>> = (weights.is_some() || n > labelled).then(|| {
            let mut d = weights.map_or_else(|| vec![1.0; labelled], <[f64]>::to_vec);
            d.resize(n, 0.0);
            d
        });
        if params.definiteness == Definiteness::Floor {
            if n > labelled {
                let value = "\"floor\" with samples without a label";
                let allowed = "\"shrink\" or \"error\" there";
                return Err(Error::parameter("manifold.definiteness", value, allowed));
            }
            let (factor, report) = dense::floored_factor(alignment, weights, params)?;
            return Ok((Operator::Dense(factor), report));
        }
        let (laplacian, report) = admissible_weighted(alignment, weights, params, monitor)?;
        let operator = match route {
            Route::Dense => Operator::Dense(dense::factor(&laplacian, d.as_deref(), params)?),
            Route::Conjugate => {
                let smoother = Smoother::from_owned(laplacian, params.alpha, params.beta, CG_TOLERANCE);
                Operator::Conjugate(smoother.with_weights(d))
            }
        };
        Ok((operator, report))
    }

    /// `A X`, no column's bits depending on those beside it.
    pub(crate) fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Operator::Conjugate(smoother) => smoother.apply_all(x),
            Operator::Dense(factor) => {
                let columns: Vec<Vec<f64>> = x
                    .col_iter()
                    .map(|x| {
                        let image = product(factor.as_ref(), x.as_mat());
                        (0..x.nrows()).map(|j| dot(column(factor, j), column(&image, 0))).collect()
                    })
                    .collect();
                from_columns(x.nrows(), &columns)
            }
        }
    }

    /// The worst relative residual of the conjugate gradients so far, if they are used.
    pub(crate) fn residual(&self) -> Option<f64> {
        match self {
            Operator::Conjugate(smoother) => Some(smoother.worst_residual()),
            Operator::Dense(_) => None,
        }
    }
}
