//! The paper's experiments: protocol, tuning, figures, report.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod study;
