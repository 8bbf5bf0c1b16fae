//! What may be asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

/// How a fit is computed. Only time and memory depend on it, never the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ComputeParams {
    /// How the operator A is applied: as a matrix of samples by samples, or by conjugate gradients.
    pub route: RouteRequest,
    /// Which part of the Gram matrix of the variables is computed: all of it, or only the columns that are needed.
    pub gram: GramRequest,
}

/// How A is to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RouteRequest {
    /// Whichever is cheaper, but conjugate gradients beyond `DENSE_LIMIT` samples.
    #[default]
    Auto,
    /// As a dense n×n matrix.
    Dense,
    /// By conjugate gradients.
    Conjugate,
}

named!(RouteRequest, "route", Auto = "auto", Dense = "dense", Conjugate = "conjugate");

/// Which part of the Gram matrix is to be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GramRequest {
    /// Whichever is cheaper, but columns beyond [`GRAM_LIMIT`](crate::gram::GRAM_LIMIT) variables.
    #[default]
    Auto,
    /// All of it.
    Full,
    /// The columns that are asked for.
    Columns,
}

named!(GramRequest, "gram", Auto = "auto", Full = "full", Columns = "columns");
