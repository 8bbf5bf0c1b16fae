//! Which penalties there are, and their parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Penalty, adaptive, mcp, reweighted, scad};
use crate::error::{Error, Result, check};
use crate::named::{Named, named};

/// Which penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PenaltyKind {
    /// The absolute value: the elastic net.
    #[default]
    L1,
    /// ℓ1 with weights from a first fit.
    Adaptive,
    /// The logarithm, by ℓ1 with weights from the round before.
    Reweighted,
    /// The smoothly clipped absolute deviation.
    Scad,
    /// The minimax concave penalty.
    Mcp,
    /// The number of variables: best subsets.
    L0,
}

named!(
    PenaltyKind,
    "penalty",
    L1 = "l1",
    Adaptive = "adaptive",
    Reweighted = "reweighted",
    Scad = "scad",
    Mcp = "mcp",
    L0 = "l0"
);

impl PenaltyKind {
    /// The weights of the rounds; none for penalties without rounds.
    pub fn penalty(self) -> Option<&'static dyn Penalty> {
        match self {
            PenaltyKind::L1 | PenaltyKind::L0 => None,
            PenaltyKind::Adaptive => Some(&adaptive::Adaptive),
            PenaltyKind::Reweighted => Some(&reweighted::Reweighted),
            PenaltyKind::Scad => Some(&scad::Scad),
            PenaltyKind::Mcp => Some(&mcp::Mcp),
        }
    }

    /// One line about it, for help and lists.
    pub fn about(self) -> &'static str {
        match self {
            PenaltyKind::L1 => "the elastic net: the same pressure on every coefficient",
            PenaltyKind::Adaptive => {
                "less on a coefficient the larger it is in a first fit (Zou 2006); two paths"
            }
            PenaltyKind::Reweighted => {
                "less the larger it was in the round before (Candes, Wakin and Boyd 2008)"
            }
            PenaltyKind::Scad => {
                "as l1 up to the level, then less, none on large coefficients (Fan and Li 2001)"
            }
            PenaltyKind::Mcp => "less from the start, none on large coefficients (Zhang 2010)",
            PenaltyKind::L0 => "best subsets by exchange of variables, no shrinkage (Zhu and others 2020)",
        }
    }

    /// Whether a fit with fewer variables can be read off a larger one. Otherwise its rounds have to be made again.
    pub fn reads_off(self) -> bool {
        self.penalty().is_none_or(|penalty| penalty.once())
    }
}

/// The penalty of a path and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PathPenalty {
    /// Which penalty it is.
    pub kind: PenaltyKind,
    /// a > 2 of SCAD, γ > 1 of MCP, γ > 0 of the adaptive weights; none = 3.7, 3 and 1.
    pub gamma: Option<f64>,
    /// ε > 0 of the adaptive and reweighted penalties, relative to the largest coefficient of the first fit; none = the penalty's own.
    pub epsilon: Option<f64>,
    /// How many variables the first path selects; none = 50, or twice as many as are asked for if there are several rounds and that is more.
    /// With several rounds it selects at least as many as are asked for. That of `adaptive` does not depend on their number, so that a path
    /// holds every shorter one.
    pub first_nonzeros: Option<usize>,
}

impl PathPenalty {
    /// How many variables the first path selects for models of `k`.
    pub(super) fn first_nonzeros(&self, k: usize) -> usize {
        const LEAST: usize = 50;
        match self.kind.reads_off() {
            true => self.first_nonzeros.unwrap_or(LEAST),
            false => self.first_nonzeros.unwrap_or_else(|| k.saturating_mul(2).max(LEAST)).max(k),
        }
    }

    /// Refuses what is out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        let (name, penalty) = (self.kind.name(), self.kind.penalty());
        let has = |number: fn(&dyn Penalty) -> Option<f64>| {
            let of = |kind: &&PenaltyKind| kind.penalty().and_then(number).is_some();
            PenaltyKind::ALL.iter().filter(of).map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
        };
        let refused = |parameter, value: f64, allowed| {
            Err(Error::parameter(
                parameter,
                format!("{value:?}"),
                format!("{allowed} with the penalty {name}"),
            ))
        };
        if let Some(gamma) = self.gamma {
            match penalty.filter(|penalty| penalty.default_gamma().is_some()) {
                None => {
                    let those = has(|penalty| penalty.default_gamma());
                    return refused("gamma", gamma, format!("left out (it belongs to {those})"));
                }
                Some(penalty) if !(gamma > penalty.least_gamma() && gamma <= 1e100) => {
                    let least = penalty.least_gamma();
                    return refused("gamma", gamma, format!("a number > {least}, at most 1e100,"));
                }
                Some(_) => {}
            }
        }
        if let Some(epsilon) = self.epsilon {
            if penalty.and_then(|penalty| penalty.default_epsilon()).is_none() {
                let those = has(|penalty| penalty.default_epsilon());
                return refused("epsilon", epsilon, format!("left out (it belongs to {those})"));
            }
            check("epsilon", epsilon, "a number > 0, at most 1e100", |x| x > 0.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let refusal = |kind, gamma, epsilon| {
            PathPenalty { kind, gamma, epsilon, first_nonzeros: None }.check().unwrap_err().to_string()
        };
        assert!(refusal(PenaltyKind::Scad, Some(2.0), None).contains("> 2"));
        assert!(refusal(PenaltyKind::Mcp, Some(f64::NAN), None).contains("gamma"));
        assert!(refusal(PenaltyKind::L1, Some(3.0), None).contains("left out"));
        assert!(refusal(PenaltyKind::Scad, None, Some(0.1)).contains("adaptive, reweighted"));
        assert!(refusal(PenaltyKind::Adaptive, None, Some(0.0)).contains("epsilon"));
    }
}
