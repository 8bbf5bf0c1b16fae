//! Reweighted ℓ1 (Candès, Wakin and Boyd 2008): rounds of weights `1/(|w| + ε)`, which descend on `Σ log(|wⱼ| + ε)`.
//!
//! The weights are divided by the largest, `1/ε`.

use super::{Penalty, PenaltyKind, Tuning};

#[derive(Debug)]
pub(super) struct Reweighted;

impl Penalty for Reweighted {
    fn kind(&self) -> PenaltyKind {
        PenaltyKind::Reweighted
    }

    fn default_gamma(&self) -> Option<f64> {
        None
    }

    fn least_gamma(&self) -> f64 {
        0.0
    }

    fn default_epsilon(&self) -> Option<f64> {
        Some(0.1)
    }

    fn weight(&self, t: f64, _: f64, Tuning { epsilon, .. }: Tuning) -> f64 {
        epsilon / (t + epsilon)
    }

    fn value(&self, t: f64, level: f64, Tuning { epsilon, .. }: Tuning) -> f64 {
        level * epsilon * (t / epsilon).ln_1p()
    }

    fn curvature(&self, t: f64, level: f64, Tuning { epsilon, .. }: Tuning) -> f64 {
        -level * epsilon / ((t + epsilon) * (t + epsilon))
    }
}
