//! The order in which variables enter the paths.

use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one};
use crate::fit::{Neighborhood, Prepared, prepared};
use crate::lars::{EndReason, Path};
use crate::monitor::Monitor;
use crate::named::Named;
use crate::panel::{candidates, free};
use crate::params::MenParams;
use crate::penalties::PenaltyKind;

/// Refuses parameters whose fits have no order in which variables enter that would tell what they are worth: variables that are not treated
/// alike, groups of variables, and penalties whose path is made for one number of variables. All variables of such a path enter together, so
/// that their order would be that of the columns.
///
/// # Errors
/// Naming the parameter and what is allowed.
pub fn check_order(params: &MenParams) -> Result<()> {
    params.refuse_groups("stability selection")?;
    if !params.penalty.standardize {
        let allowed = "true in stability selection: variables with large values would be selected, whether or not they tell the classes apart";
        return Err(Error::parameter("penalty.standardize", false, allowed));
    }
    let factors =
        params.penalty.factors.iter().flatten().copied().filter(|factor| *factor > 0.0 && factor.is_finite());
    let (low, high) =
        factors.fold((f64::INFINITY, 0.0_f64), |(low, high), factor| (low.min(factor), high.max(factor)));
    if low < high {
        let allowed = "0, infinite, or equal in stability selection: variables with small factors would be selected, whether or not \
                       they tell the classes apart";
        return Err(Error::parameter("penalty.factors", format!("from {low} to {high}"), allowed));
    }
    if params.penalty.kind.reads_off() {
        return Ok(());
    }
    let all = PenaltyKind::ALL.iter().filter(|kind| kind.reads_off());
    let names = all.map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let allowed = format!(
        "one of {names} in stability selection, which follows the order in which variables enter a path"
    );
    Err(Error::parameter("penalty.kind", params.penalty.kind.name(), allowed))
}

/// The distinct variables in the order in which they enter the path of any axis, at most `most`.
///
/// The axes are compared at one common level: the variable that enters at the highest level comes first. Of those that enter at the same
/// level, the one of the first axis comes first, then the smaller variable. The panel of size q is the first q of the list, so one fit
/// serves all sizes. Free variables, whose penalty factor is 0, are in every model: they are not listed.
///
/// Where `panel_size` is set, the refit shares the panel and the penalty is ℓ1, a fit does not take the first variables but drops the others one by one from
/// a few hundred candidates. The order is then the reverse of that: the variable that is kept longest comes first. `nonzeros` limits the
/// candidates, as in a fit.
///
/// Paths are computed as far as they are needed. The list is shorter than `most` only if the paths end with fewer variables. The other
/// parameters of later stages have no effect: `nonzeros` alone, the number in `panel_size`, the rule.
///
/// # Errors
/// As [`crate::fit()`] and [`check_order`], and when `most` is 0.
pub fn entry_order(
    data: &Dataset<'_>,
    params: &MenParams,
    most: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<usize>> {
    at_least_one("most", Some(most))?;
    check_order(params)?;
    if let Some((_, data)) = prepared(data, params, monitor)? {
        return entry_order(&data, &params.clone().prepared(), most, monitor);
    }
    let neighborhood = Neighborhood::new(data, params, monitor)?;
    let prepared = Prepared::new(data, params, &neighborhood, monitor)?;
    let p = data.variables();
    let most = most.min(p);
    if params.panel_size.is_some() && params.eliminates() {
        return kept_longest(&prepared, params, most, monitor);
    }
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

/// The variables of the panels of 1 to `most` variables, each where it first appears.
fn kept_longest(
    prepared: &Prepared<'_>,
    params: &MenParams,
    most: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<usize>> {
    let params = MenParams { panel_size: Some(most), ..params.clone() };
    let solved = prepared.solve(&params, monitor)?;
    let elimination = solved.eliminate_from(solved.paths(), candidates(most), (1, &params))?;
    let free = free(solved.paths());
    let mut order: Vec<usize> = Vec::with_capacity(most);
    for size in 1..=most {
        let new = elimination.panel(size).into_iter().filter(|j| free.binary_search(j).is_err());
        order.extend(new.filter(|j| !order.contains(j)).collect::<Vec<_>>());
    }
    Ok(order)
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
    let stopped = paths.iter().filter(|path| matches!(path.ended(), EndReason::MaxNonzeros { .. }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_panel_size_the_order_is_that_of_the_panels_of_fits() {
        use crate::evaluate::generator;
        use rand::RngExt;
        let mut rng = generator(4, &[]);
        let labels: Vec<usize> = (0..45).map(|i| i % 3).collect();
        let x = faer::Mat::from_fn(45, 80, |i, j| {
            rng.random::<f64>() + if j < 9 && j % 3 == labels[i] { 0.7 } else { 0.0 }
        });
        let data = Dataset::from_owned(x, &labels).unwrap();
        let params = MenParams { panel_size: Some(7), ..MenParams::default() };
        let order = entry_order(&data, &params, 12, &()).unwrap();
        assert_eq!(order.len(), 12);
        for size in [1, 4, 7, 12] {
            let params = MenParams { panel_size: Some(size), ..params.clone() };
            let panel = crate::fit(&data, &params, &()).unwrap().panel();
            let mut first = order[..size].to_vec();
            first.sort_unstable();
            assert_eq!(first, panel, "{size}");
        }
        let plain = entry_order(&data, &MenParams::default(), 12, &()).unwrap();
        assert_ne!(plain, order);
    }
}
