//! The panel of the final model, with what the folds and half-samples say about every variable.

use menet::Men;

use super::{PanelEntry, StabilityFound};
use crate::names::name_of;
use crate::protocol::NamedSet;

/// One entry per variable of the panel, the most important first. `folds` are the panels of the models of all folds.
pub(super) fn entries(
    men: &Men,
    set: &NamedSet<'_>,
    stability: Option<&StabilityFound>,
    folds: &[&[usize]],
) -> Vec<PanelEntry> {
    let deviation = |variable: usize| {
        men.parts().panel.iter().find(|known| known.variable == variable).and_then(|known| known.deviation)
    };
    let entry = |row: menet::PanelRow| {
        let j = row.variable;
        let frequency = |found: &StabilityFound| {
            found.frequencies.iter().find(|(other, _)| *other == j).map_or(0.0, |(_, frequency)| *frequency)
        };
        PanelEntry {
            variable: j,
            name: name_of(set.data.feature_names(), set.data.image_shape(), j),
            frequency: stability.map(frequency),
            folds: folds.iter().filter(|panel| panel.contains(&j)).count() as f64 / folds.len().max(1) as f64,
            entered: row.entered,
            weights: men.projection().axes().iter().map(|axis| axis.get(j)).collect(),
            deviation: deviation(j),
            effect: row.effect,
            class_means: row.class_means,
            higher_in: row.higher_in,
            class: row.class,
            stable: stability.is_some_and(|found| found.stable.contains(&j)),
        }
    };
    men.panel_table().into_iter().map(entry).collect()
}
