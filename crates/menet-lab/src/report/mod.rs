//! The report.

use crate::error::Result;
use crate::study::Study;

/// The report.
pub fn html(_study: &Study) -> Result<String> {
    Ok(String::new())
}
