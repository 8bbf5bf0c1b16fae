//! The order in which variables enter the paths.

use crate::dataset::Dataset;
use crate::error::{Result, at_least_one};
use crate::fit::{Neighborhood, Prepared};
use crate::lars::{Ended, Path};
use crate::monitor::Monitor;
use crate::panel::free;
use crate::params::MenParams;

/// The distinct variables in the order in which they enter the path of any axis, at most `most`.
///
/// The axes are compared at one common level: the variable that enters at the highest level comes first. Of those that enter at the same
/// level, the one of the first axis comes first, then the smaller variable. The panel of size q is the first q of the list, so one fit
/// serves all sizes. Free variables, whose penalty factor is 0, are in every model: they are not listed.
///
/// Paths are computed as far as they are needed. The list is shorter than `most` only if the paths end with fewer variables. The parameters
/// of later stages have no effect: `nonzeros`, `panel_size`, the refit and the rule.
///
/// # Errors
/// As [`crate::fit()`], and when `most` is 0.
pub fn entry_order(
    data: &Dataset<'_>,
    params: &MenParams,
    most: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<usize>> {
    at_least_one("most", Some(most))?;
    let neighborhood = Neighborhood::new(data, params, monitor)?;
    let prepared = Prepared::new(data, params, &neighborhood, monitor)?;
    let p = data.variables();
    let most = most.min(p);
    // An equal share of the variables per axis is enough at best, all of them at worst.
    let mut nonzeros = (most / prepared.problem.b.ncols().max(1) + 8).min(most);
    loop {
        let solved = prepared.solve_to(params, nonzeros, monitor)?;
        let (mut order, certain) = order_of(solved.paths());
        if certain >= most {
            order.truncate(most);
            return Ok(order);
        }
        nonzeros = (2 * nonzeros).min(p);
    }
}

/// The order of all variables that have entered, and how many of them are in their place for certain: below the level at which the first
/// path was stopped, that path might have more. Where none was, there are no others.
fn order_of(paths: &[Path]) -> (Vec<usize>, usize) {
    let entries = paths.iter().enumerate().flat_map(|(axis, path)| {
        let knots = path.knots().iter();
        knots.flat_map(move |knot| knot.entered.iter().map(move |&variable| (knot.level, axis, variable)))
    });
    let mut entries: Vec<(f64, usize, usize)> = entries.collect();
    entries.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let stopped = paths.iter().filter(|path| matches!(path.ended(), Ended::MaxNonzeros { .. }));
    let stop = stopped.map(|path| path.last().level).reduce(f64::max);
    let free = free(paths);
    let mut seen = std::collections::BTreeSet::new();
    let (mut order, mut certain) = (Vec::new(), 0);
    for (level, _, variable) in entries {
        if free.binary_search(&variable).is_ok() || !seen.insert(variable) {
            continue;
        }
        order.push(variable);
        // At the level of the stop itself it is not known what enters there.
        if stop.is_none_or(|stop| level > stop) {
            certain = order.len();
        }
    }
    (order, if stop.is_some() { certain } else { usize::MAX })
}
