//! What is known of the variables of the panel.

use serde::Serialize;

use super::{Men, PanelVariable};

/// A row of [`Men::panel_table`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PanelRow {
    /// The variable.
    pub variable: usize,
    /// Whether it is in every model, so that it never entered a path.
    pub always: bool,
    /// The axes that use it, from 0.
    pub axes: Vec<usize>,
    /// Its place, from 1, among the variables that entered the path of an axis: the earliest over the axes.
    pub entered: Option<usize>,
    /// Its largest weight in size over the axes.
    pub weight: f64,
    /// That weight times the standard deviation of the variable.
    pub effect: Option<f64>,
    /// The length of its weights over all axes, times its standard deviation; or times 1 if that is not known.
    pub importance: f64,
    /// Its mean in every class, by itself: less the mean of all samples, over its standard deviation. Empty if that is not known.
    pub class_means: Vec<f64>,
    /// The class with the largest mean, the variable taken by itself.
    pub higher_in: Option<usize>,
    /// The class towards which a larger value moves a sample while all other variables stay as they are. Where variables are correlated,
    /// this need not be `higher_in`: then the model corrects others by this one.
    pub class: Option<usize>,
}

impl Men {
    /// What is known of every variable of the panel, the most important first.
    pub fn panel_table(&self) -> Vec<PanelRow> {
        let orders: Vec<&Vec<usize>> =
            self.parts.components.iter().map(|component| &component.order_of_entry).collect();
        let always = self.always();
        let row = |known: &PanelVariable| {
            let j = known.variable;
            let weights = self.projection().axes().iter().map(|axis| axis.get(j)).enumerate();
            let used: Vec<(usize, f64)> = weights.filter(|(_, weight)| *weight != 0.0).collect();
            let weight =
                used.iter().fold(0.0, |most: f64, &(_, w)| if w.abs() > most.abs() { w } else { most });
            let length = used.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            let place = |order: &&Vec<usize>| order.iter().position(|&other| other == j).map(|at| at + 1);
            PanelRow {
                variable: j,
                always: always.binary_search(&j).is_ok(),
                axes: used.iter().map(|(k, _)| *k).collect(),
                entered: orders.iter().filter_map(place).min(),
                weight,
                effect: known.deviation.map(|deviation| weight * deviation),
                importance: length * known.deviation.unwrap_or(1.0),
                higher_in: largest(&known.class_means),
                class_means: known.class_means.clone(),
                class: known.class,
            }
        };
        let mut rows: Vec<PanelRow> = self.parts.panel.iter().map(row).collect();
        rows.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        rows
    }
}

/// The place of the largest value; the first of several.
fn largest(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, next| if values[next] > values[best] { next } else { best })
}
