//! What a careful user should know about a fit.

use super::Men;
use crate::lars::{EndReason, Path, PenaltyReport, violation};
use crate::named::Named;
use crate::panel;
use crate::preprocess::SQUARABLE;
use crate::report::FitReport;

/// So many names are listed.
const NAMED: usize = 10;

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
        let unsettled =
            |path: &Path| matches!(path.report(), Some(PenaltyReport::Rounds { settled: false, .. }));
        let unsettled: Vec<(usize, ())> = at(paths, |path| unsettled(path).then_some(())).collect();
        if let Some((first, ())) = unsettled.first() {
            let many = unsettled.len();
            let penalty = self.params().penalty.kind.name();
            doubts.push(format!(
                "the rounds of the penalty {penalty} did not settle for {many} of {count} axes, the first of them axis {first}: use a \
                 larger ridge or fewer variables"
            ));
        }
        let FitReport { unlabelled, unreached, cg_residual, .. } = self.parts.report;
        if unreached > 0 {
            doubts.push(format!(
                "{unreached} of {unlabelled} samples without a label are joined to no labelled sample by neighbours: raise k_within, or \
                 leave them out"
            ));
        }
        doubts.extend(self.too_small());
        doubts.extend(self.prepared_away());
        if let Some(constant) = self.constant_always() {
            doubts.push(constant);
        }
        for (axis, ()) in at(components, |path| path.order_of_entry.is_empty().then_some(())) {
            let path = paths.get(axis - 1);
            let why = path.map_or_else(String::new, why_empty);
            let free = path.is_some_and(|path| !path.free().is_empty());
            let then = if free { "it has only its free variables" } else { "it is left out" };
            doubts.push(format!("axis {axis} selects no variable{why}: {then}"));
        }
        doubts.extend(self.fewer_groups());
        if let Some(left) = cg_residual.filter(|&left| left.is_nan() || left > crate::lars::EXACT) {
            doubts.push(format!("the conjugate gradients left a relative residual of {left:.1e}"));
        }
        doubts
    }

    /// Which variables vary too little to be squared.
    fn too_small(&self) -> Option<String> {
        let (many, verb, counts) = match self.parts.report.too_small.len() {
            0 => return None,
            1 => ("1 variable".to_owned(), "varies", "counts"),
            count => (format!("{count} variables"), "vary", "count"),
        };
        Some(format!(
            "{many} {verb} by less than {SQUARABLE:.0e}, too little to be squared in double precision, and {counts} as constant (multiply \
             the values by a power of ten): {}",
            self.listed(&self.parts.report.too_small)
        ))
    }

    /// The names of the first few variables.
    fn listed(&self, variables: &[usize]) -> String {
        let names: Vec<String> = variables.iter().take(NAMED).map(|&j| self.name_of(j)).collect();
        let more = variables.len().saturating_sub(NAMED);
        let numbers = if self.feature_names().is_some() { "" } else { " (counted from 1)" };
        names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() } + numbers
    }

    /// What the preparation of samples took away.
    fn prepared_away(&self) -> Vec<String> {
        let Some(preparation) = self.preparation() else { return Vec::new() };
        let mut doubts = Vec::new();
        let dropped = &preparation.dropped;
        if !dropped.is_empty() {
            let count = dropped.len();
            let (verb, limit) =
                (if count == 1 { "variable is" } else { "variables are" }, preparation.params.max_missing);
            doubts.push(format!(
                "{count} {verb} left out, because more than {:.0} % of the samples lack them (prepare.max_missing = {limit}): {}",
                100.0 * limit,
                self.listed(dropped)
            ));
        }
        if let Some(batches) = &preparation.batches {
            let names: Vec<&str> =
                batches.of_one_class.iter().map(|&k| batches.names[k].as_str()).take(NAMED).collect();
            if !names.is_empty() {
                doubts.push(format!(
                    "all samples of {} of {} batches are of one class ({}): centring such a batch also removes what distinguishes \
                     the class",
                    batches.of_one_class.len(),
                    batches.names.len(),
                    names.join(", ")
                ));
            }
        }
        doubts
    }

    /// Which of the variables that are always in could not be used.
    fn constant_always(&self) -> Option<String> {
        let wanted =
            self.parts.params.always_in(self.feature_names(), self.parts.projection.variables()).ok()?;
        let used = panel::free(self.paths());
        let missing = wanted.into_iter().filter(|j| used.binary_search(j).is_err());
        let names: Vec<String> = missing.map(|j| self.name_of(j)).collect();
        (!self.paths().is_empty() && !names.is_empty()).then(|| {
            let names = names.join(", ");
            format!(
                "always in, but left out because the training samples all have the same value there: {names}"
            )
        })
    }
}

/// What is found, and at which axis, counted from 1.
fn at<T, F>(items: &[T], find: impl Fn(&T) -> Option<F>) -> impl Iterator<Item = (usize, F)> {
    items.iter().enumerate().filter_map(move |(k, item)| Some((k + 1, find(item)?)))
}

/// Why a path selects nothing.
fn why_empty(path: &Path) -> String {
    match (path.ended(), path.max_nonzeros()) {
        (EndReason::MaxNonzeros { needed }, Some(nonzeros)) => format!(
            ", because {needed} tie for the first place and nonzeros is {nonzeros} (allow {needed}, or break the tie with \
             penalty_factors)"
        ),
        (ended, _) => format!(", because its path {ended}"),
    }
}
