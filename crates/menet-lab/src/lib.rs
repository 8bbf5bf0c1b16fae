//! The paper's experiments: protocol, tuning, figures, report.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::unwrap_used)]

mod curves;
mod error;
pub mod figures;
mod names;
mod palette;
pub mod report;
pub mod study;

pub use error::{Error, Result};
