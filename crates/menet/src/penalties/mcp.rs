//! The minimax concave penalty (Zhang 2010): the pressure falls from the start, and is gone from γλ on.

use super::{Penalty, PenaltyKind, Tuning};

#[derive(Debug)]
pub(super) struct Mcp;

impl Penalty for Mcp {
    fn kind(&self) -> PenaltyKind {
        PenaltyKind::Mcp
    }

    fn default_gamma(&self) -> Option<f64> {
        Some(3.0)
    }

    fn least_gamma(&self) -> f64 {
        1.0
    }

    fn default_epsilon(&self) -> Option<f64> {
        None
    }

    fn weight(&self, t: f64, level: f64, Tuning { gamma, .. }: Tuning) -> f64 {
        (1.0 - t / (gamma * level)).max(0.0)
    }

    fn value(&self, t: f64, level: f64, Tuning { gamma, .. }: Tuning) -> f64 {
        let t = t.min(gamma * level);
        level * t - t * t / (2.0 * gamma)
    }

    fn curvature(&self, t: f64, level: f64, Tuning { gamma, .. }: Tuning) -> f64 {
        if t >= gamma * level { 0.0 } else { -1.0 / gamma }
    }
}
