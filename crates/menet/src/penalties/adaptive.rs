//! The adaptive lasso (Zou 2006) and elastic net (Zou and Zhang 2009): `wⱼ = 1/(|ŵⱼ| + ε)^γ`, from a first fit ŵ.
//!
//! The first fit is the elastic net itself, and both fits have the same ridge, as in Zou and Zhang. As in their estimator, the result is
//! then multiplied by `1 + λ2`, which MEN does with any path. The weights are divided by the largest, `1/ε^γ`, which changes the level
//! and nothing else. So they are one round of the concave penalty below.

use super::{Penalty, PenaltyKind, Tuning};

#[derive(Debug)]
pub(super) struct Adaptive;

impl Penalty for Adaptive {
    fn kind(&self) -> PenaltyKind {
        PenaltyKind::Adaptive
    }

    fn default_gamma(&self) -> Option<f64> {
        Some(1.0)
    }

    fn least_gamma(&self) -> f64 {
        0.0
    }

    fn default_epsilon(&self) -> Option<f64> {
        Some(0.05)
    }

    fn once(&self) -> bool {
        true
    }

    fn weight(&self, t: f64, _: f64, Tuning { gamma, epsilon }: Tuning) -> f64 {
        (epsilon / (t + epsilon)).powf(gamma)
    }

    /// `λ ∫ (ε/(t + ε))^γ dt`.
    fn value(&self, t: f64, level: f64, Tuning { gamma, epsilon }: Tuning) -> f64 {
        let ratio = (t / epsilon).ln_1p();
        let power = 1.0 - gamma;
        // (e^(power·ratio) − 1)/power, whose limit at power 0 is the ratio itself.
        let grown = if power == 0.0 { ratio } else { (power * ratio).exp_m1() / power };
        level * epsilon * grown
    }

    fn curvature(&self, t: f64, level: f64, tuning: Tuning) -> f64 {
        -level * tuning.gamma * self.weight(t, level, tuning) / (t + tuning.epsilon)
    }
}
