//! What may be asked for.

use serde::{Deserialize, Serialize};

use crate::named::Named;

/// How A is to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteRequest {
    /// Whichever is cheaper, but conjugate gradients beyond [`DENSE_LIMIT`](super::DENSE_LIMIT) samples.
    #[default]
    Auto,
    /// As a dense n×n matrix.
    Dense,
    /// By conjugate gradients.
    Conjugate,
}

impl Named for RouteRequest {
    const PARAMETER: &'static str = "route";
    const ALL: &'static [Self] = &[RouteRequest::Auto, RouteRequest::Dense, RouteRequest::Conjugate];

    fn name(self) -> &'static str {
        match self {
            RouteRequest::Auto => "auto",
            RouteRequest::Dense => "dense",
            RouteRequest::Conjugate => "conjugate",
        }
    }
}

/// What there is to be of the Gram matrix.
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

impl Named for GramRequest {
    const PARAMETER: &'static str = "gram";
    const ALL: &'static [Self] = &[GramRequest::Auto, GramRequest::Full, GramRequest::Columns];

    fn name(self) -> &'static str {
        match self {
            GramRequest::Auto => "auto",
            GramRequest::Full => "full",
            GramRequest::Columns => "columns",
        }
    }
}
