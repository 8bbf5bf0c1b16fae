//! Which variables and groups a model uses.

use menet::Men;
use menet::sparse::SparseVector;

/// The variables that every axis uses: first those that are always in, then the others in the order in which they entered.
/// That order is of the axis's own path if it has one, else of any path.
pub(crate) fn selected(men: &Men) -> Vec<Vec<usize>> {
    let axes = men.projection().axes();
    let components = &men.parts().components;
    let used = |axis: &SparseVector, j: usize| axis.indices().binary_search(&j).is_ok();
    if !men.refit().refit.shares_panel() && components.len() == axes.len() {
        let orders = components.iter().map(|component| &component.order_of_entry);
        let always = men.always();
        let own = orders
            .zip(axes)
            .map(|(order, axis)| always.iter().chain(order).copied().filter(|&j| used(axis, j)).collect());
        return own.collect();
    }
    let mut rows = men.panel_table();
    rows.sort_by_key(|row| (!row.always, row.entered.unwrap_or(usize::MAX), row.variable));
    axes.iter().map(|axis| rows.iter().map(|row| row.variable).filter(|&j| used(axis, j)).collect()).collect()
}

/// The variables that a smaller model may use, rising: those that some path has reached, or all if a smaller model is fitted again.
pub(crate) fn reachable(men: &Men) -> Vec<usize> {
    if !men.params().penalty.kind.reads_off() || men.params().penalty.grouped() {
        return (0..men.projection().variables()).collect();
    }
    let entered = men.parts().components.iter().flat_map(|path| path.order_of_entry.iter().copied());
    let mut all: Vec<usize> = entered.collect();
    all.extend(men.always());
    all.sort_unstable();
    all.dedup();
    all
}

/// The names of the groups that every path uses; none without groups. A variable of no group goes by its name or number.
pub(crate) fn groups(men: &Men) -> Option<Vec<Vec<String>>> {
    let p = men.projection().variables();
    let given = men.params().penalty.feature_groups.clone().unwrap_or_default();
    let all = given.completed(p);
    let name = |&g: &usize| match given.groups().get(g) {
        Some(group) => group.name.clone(),
        None => match (all.groups()[g].variables[0], men.feature_names()) {
            (j, Some(names)) => names[j].clone(),
            (j, None) => j.to_string(),
        },
    };
    Some(men.chosen_groups()?.iter().map(|chosen| chosen.iter().map(name).collect()).collect())
}
