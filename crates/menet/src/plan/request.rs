//! What may be asked for.

use serde::{Deserialize, Serialize};

use crate::named::named;

/// How A is to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
