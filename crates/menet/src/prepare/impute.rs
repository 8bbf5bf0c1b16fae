//! What stands for a missing value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::knn::Neighbors;
use crate::named::named;

/// How missing values are filled, learned from training samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Impute {
    /// By the mean of the variable.
    Mean,
    /// By the median of the variable.
    Median,
    /// By the mean over the nearest training samples that have the value.
    Knn,
}

named!(Impute, "impute", Mean = "mean", Median = "median", Knn = "knn");

/// What missing values are filled with.
#[derive(Debug, Clone, PartialEq)]
pub enum Filling {
    /// One value per variable, in prepared units: its mean or median.
    Values(Vec<f64>),
    /// Training samples, and the means for values that no neighbour has.
    Neighbors(Neighbors),
}
