//! What values are divided by, and whether their logarithm is taken first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

/// How variables are scaled. The fit centres them in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Scale {
    /// As they are.
    #[default]
    #[serde(rename = "none")]
    None,
    /// Divided by the standard deviation: all variables count the same among neighbours and in the target.
    #[serde(rename = "unit")]
    Unit,
    /// Divided by the square root of the standard deviation: between `none` and `unit`.
    #[serde(rename = "pareto")]
    Pareto,
    /// The logarithm of 1 + x, for counts.
    #[serde(rename = "log1p")]
    Log1p,
    /// The logarithm of 1 + x, divided by its standard deviation.
    #[serde(rename = "log1p-unit")]
    Log1pUnit,
}

named!(
    Scale,
    "scale",
    None = "none",
    Unit = "unit",
    Pareto = "pareto",
    Log1p = "log1p",
    Log1pUnit = "log1p-unit"
);

impl Scale {
    /// Whether logarithms are taken.
    pub fn logs(self) -> bool {
        matches!(self, Scale::Log1p | Scale::Log1pUnit)
    }

    /// Whether values are divided.
    pub fn divides(self) -> bool {
        matches!(self, Scale::Unit | Scale::Pareto | Scale::Log1pUnit)
    }

    /// What a variable with this standard deviation is divided by. One that is constant, with deviation 0, stays as it is.
    pub(super) fn divisor(self, deviation: f64) -> f64 {
        match self {
            Scale::None | Scale::Log1p => 1.0,
            _ if deviation == 0.0 => 1.0,
            Scale::Unit | Scale::Log1pUnit => deviation,
            Scale::Pareto => deviation.sqrt(),
        }
    }
}
