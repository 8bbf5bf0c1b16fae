//! # menet: Manifold Elastic Net
//!
//! Sparse, supervised, linear dimension reduction.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod alignment;
pub mod classify;
pub mod conjugate;
pub mod dataset;
pub mod error;
pub mod gram;
pub mod lars;
mod linalg;
pub mod men;
pub mod monitor;
pub mod neighbors;
pub mod patches;
pub mod preprocess;
pub mod projection;
pub mod reduction;
pub mod sparse;
pub mod target;

pub use dataset::Dataset;
pub use error::{Error, Result};
pub use men::{Men, MenParams, fit};
pub use monitor::{Monitor, Stage};
pub use projection::Projection;
