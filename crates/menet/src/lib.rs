//! menet
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod error;
pub mod gram;
pub mod lars;
mod linalg;
pub mod monitor;
pub mod sparse;

pub use error::{Error, Result};
