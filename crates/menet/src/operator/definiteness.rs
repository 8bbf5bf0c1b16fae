//! Whether A is positive definite, and what to do where it is not.
//!
//! Z is a minimiser only where `αλ + β > 0`, and A is safely positive where `a(λ) ≥ f`. Together that asks of
//! every eigenvalue λ of L
//!
//! ```text
//! λ ≥ −(1−f)β / (α(1−f+β))
//! ```
//!
//! which DLA's indefinite L breaks at ordinary settings. [`Definiteness`] says what happens then.
//!
//! Where samples have weights `dᵢ`, `αL + βI ≻ 0` and `A ⪰ f D` ask the same as
//!
//! ```text
//! L + E ⪰ 0,    Eᵢᵢ = β(1−f)dᵢ / (α((1−f)dᵢ + β))
//! ```
//!
//! Samples without a label have `dᵢ = 0`, and nothing pushes them apart: their patches only add to L what is positive semidefinite. So the
//! largest κ is looked for among the labelled samples alone, and holds for all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ManifoldParams;
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::named::named;
use crate::numerics::sparse::SparseSymmetric;

/// What to do where the bound on the spectrum of L does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Definiteness {
    /// Lower κ to the largest value for which it holds.
    Shrink,
    /// Raise the offending eigenvalues of A to the floor. Needs the dense spectrum.
    Floor,
    /// Refuse, naming the largest admissible κ.
    Error,
}

named!(Definiteness, "definiteness", Shrink = "shrink", Floor = "floor", Error = "error");

/// What the policy found and did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DefinitenessReport {
    /// The policy.
    pub policy: Definiteness,
    /// The floor f.
    pub floor: f64,
    /// κ as asked for.
    pub kappa_requested: f64,
    /// κ as used; 0 for rules without a κ.
    pub kappa_used: f64,
    /// How many eigenvalues of A were raised to the floor.
    pub eigenvalues_changed: usize,
    /// The smallest eigenvalue of `L(kappa_used)`; for large n a lower bound of it.
    pub lambda_min: f64,
}

/// `(1−f)β / (α(1−f+β))`: how far below zero an eigenvalue of L may lie.
pub fn eigenvalue_bound(alpha: f64, beta: f64, floor: f64) -> f64 {
    beta / alpha * ((1.0 - floor) / (1.0 - floor + beta))
}

/// How far below zero a sample of weight `weight` lets an eigenvalue lie: an entry of E.
fn weighted_bound(weight: f64, params: &ManifoldParams) -> f64 {
    let &ManifoldParams { alpha, beta, floor, .. } = params;
    beta / alpha * ((1.0 - floor) * weight / ((1.0 - floor) * weight + beta))
}

/// `L(κ)` with κ as the policy `shrink` or `error` allows it.
///
/// # Errors
/// When the policy refuses, an eigenvalue cannot be found, or `monitor` asks to stop.
pub fn admissible(
    alignment: &Alignment,
    params: &ManifoldParams,
    monitor: &dyn Monitor,
) -> Result<(SparseSymmetric, DefinitenessReport)> {
    admissible_weighted(alignment, None, params, monitor)
}

/// What the policy gives for labelled samples with weights.
pub(super) fn admissible_weighted(
    alignment: &Alignment,
    weights: Option<&[f64]>,
    params: &ManifoldParams,
    monitor: &dyn Monitor,
) -> Result<(SparseSymmetric, DefinitenessReport)> {
    let kappa = if alignment.repel.is_some() { params.kappa } else { 0.0 };
    let mut report = DefinitenessReport {
        policy: params.definiteness,
        floor: params.floor,
        kappa_requested: params.kappa,
        kappa_used: kappa,
        eigenvalues_changed: 0,
        lambda_min: f64::NAN,
    };
    if params.alpha == 0.0 {
        let laplacian = alignment.matrix(kappa);
        report.lambda_min = laplacian.smallest_eigenvalue()?;
        return Ok((laplacian, report));
    }
    // E is a multiple of I and what it has beyond that.
    let (bound, beyond) = match weights {
        None => (eigenvalue_bound(params.alpha, params.beta, params.floor), Vec::new()),
        Some(weights) => {
            let bounds: Vec<f64> = weights.iter().map(|&weight| weighted_bound(weight, params)).collect();
            let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
            (least, bounds.into_iter().map(|bound| bound - least).collect())
        }
    };
    let found = alignment.largest_kappa_beyond(kappa, bound, &beyond, monitor)?;
    let refuse = |lambda_min: f64, largest_kappa: Option<f64>| Error::Indefinite {
        kappa,
        lambda_min,
        bound,
        largest_kappa,
    };
    match found {
        Some((used, lambda_min)) if used == kappa || params.definiteness == Definiteness::Shrink => {
            (report.kappa_used, report.lambda_min) = (used, lambda_min);
            Ok((alignment.matrix(used), report))
        }
        Some((used, _)) => Err(refuse(alignment.matrix(kappa).smallest_eigenvalue()?, Some(used))),
        None => Err(refuse(alignment.attract.smallest_eigenvalue()?, None)),
    }
}
