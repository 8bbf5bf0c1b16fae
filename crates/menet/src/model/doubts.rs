//! What a careful user should know of a fit.

use super::Men;
use crate::lars::{Ended, Path};

/// The largest violation of the optimality conditions that goes without saying.
pub const CERTIFICATE_BAR: f64 = 1e-9;

impl Men {
    /// Sentences on what is doubtful about this fit: an axis that ties left without variables, a path that is not optimal to
    /// [`CERTIFICATE_BAR`]. Empty for most fits.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for (k, component) in self.parts.components.iter().enumerate() {
            let (axis, certificate) = (k + 1, component.certificate);
            if component.order_of_entry.is_empty() {
                let path = self.parts.paths.get(k);
                let why = path.map_or_else(String::new, why_empty);
                let free = path.is_some_and(|path| !path.free().is_empty());
                let then = if free { "it has only its free variables" } else { "it is left out" };
                doubts.push(format!("axis {axis} selects no variable{why}: {then}"));
            }
            let worst = certificate.kkt.max(certificate.scaled);
            if worst.is_nan() || worst > CERTIFICATE_BAR {
                doubts.push(format!(
                    "the path of axis {axis} is optimal only to {worst:.1e}, not to {CERTIFICATE_BAR:.0e}; raise ridge, or \
                     set standardize if variables differ much in size"
                ));
            }
        }
        doubts
    }
}

/// Why a path selects nothing.
fn why_empty(path: &Path) -> String {
    match (path.ended(), path.max_nonzeros()) {
        (Ended::MaxNonzeros { needed }, Some(nonzeros)) => format!(
            ", because {needed} tie for the first place and nonzeros is {nonzeros} (allow {needed}, or break the tie with \
             penalty_factors)"
        ),
        (ended, _) => format!(", because its path {ended}"),
    }
}
