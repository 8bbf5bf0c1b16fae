//! The smoothly clipped absolute deviation (Fan and Li 2001): as ℓ1 up to λ, then less and less, and nothing from aλ on.

use super::{Penalty, PenaltyKind, Tuning};

#[derive(Debug)]
pub(super) struct Scad;

impl Penalty for Scad {
    fn kind(&self) -> PenaltyKind {
        PenaltyKind::Scad
    }

    /// Fan and Li's a.
    fn default_gamma(&self) -> Option<f64> {
        Some(3.7)
    }

    fn least_gamma(&self) -> f64 {
        2.0
    }

    fn default_epsilon(&self) -> Option<f64> {
        None
    }

    fn weight(&self, t: f64, level: f64, Tuning { gamma: a, .. }: Tuning) -> f64 {
        if t <= level { 1.0 } else { ((a * level - t) / ((a - 1.0) * level)).max(0.0) }
    }

    fn value(&self, t: f64, level: f64, Tuning { gamma: a, .. }: Tuning) -> f64 {
        if t <= level {
            level * t
        } else if t <= a * level {
            (2.0 * a * level * t - t * t - level * level) / (2.0 * (a - 1.0))
        } else {
            level * level * (a + 1.0) / 2.0
        }
    }

    fn curvature(&self, t: f64, level: f64, Tuning { gamma: a, .. }: Tuning) -> f64 {
        if t <= level || t >= a * level { 0.0 } else { -1.0 / (a - 1.0) }
    }
}
