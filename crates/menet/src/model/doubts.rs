//! What a careful user should know of a fit.

use super::Men;
use crate::lars::{Ended, Path, violation};

impl Men {
    /// Sentences on what is doubtful about this fit: paths that ended early or are not exactly optimal, an axis without
    /// variables, conjugate gradients that did not converge. Empty for most fits.
    pub fn doubts(&self) -> Vec<String> {
        let (paths, components) = (self.paths(), &self.parts.components);
        let count = components.len();
        let mut doubts = Vec::new();
        let early: Vec<(usize, String)> = at(paths, Path::ended_early).collect();
        if let Some((first, why)) = early.first() {
            let many = early.len();
            doubts.push(format!(
                "the paths of {many} of {count} axes ended early, that of axis {first} because it {why}"
            ));
        }
        let violated: Vec<(usize, String)> = at(components, |path| violation(path.certificate.kkt)).collect();
        if let Some((first, why)) = violated.first() {
            let many = violated.len();
            doubts.push(format!("{many} of {count} paths are not exact: that of axis {first} {why}"));
        }
        for (axis, ()) in at(components, |path| path.order_of_entry.is_empty().then_some(())) {
            let path = paths.get(axis - 1);
            let why = path.map_or_else(String::new, why_empty);
            let free = path.is_some_and(|path| !path.free().is_empty());
            let then = if free { "it has only its free variables" } else { "it is left out" };
            doubts.push(format!("axis {axis} selects no variable{why}: {then}"));
        }
        if let Some(left) = self.cg_residual().filter(|&left| left.is_nan() || left > crate::lars::EXACT) {
            doubts.push(format!("the conjugate gradients left a relative residual of {left:.1e}"));
        }
        doubts
    }
}

/// What is found, and at which axis, counted from 1.
fn at<T, F>(items: &[T], find: impl Fn(&T) -> Option<F>) -> impl Iterator<Item = (usize, F)> {
    items.iter().enumerate().filter_map(move |(k, item)| Some((k + 1, find(item)?)))
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
