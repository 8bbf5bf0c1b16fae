//! The effects of the variables on every axis, weight × standard deviation: weights alone make the quietest variables the heaviest.

use menet::Dataset;

use super::values::{columns, mean_and_deviation};
use crate::validate::{PanelEntry, Validation};

/// A variable of an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effect {
    pub(crate) variable: usize,
    /// Its weight times its standard deviation.
    pub(crate) value: f64,
    /// The class that a larger value speaks for while all other variables stay as they are.
    pub(crate) class: Option<usize>,
}

/// The variables of every axis of the final model, those with the largest effects first.
pub(crate) fn effects(validation: &Validation, data: &Dataset<'_>) -> Vec<Vec<Effect>> {
    let axes = validation.panel.first().map_or(0, |entry| entry.weights.len());
    let deviations = deviations(&validation.panel, data);
    let of_axis = |axis: usize| {
        let entries = validation.panel.iter().zip(&deviations);
        let mut effects: Vec<Effect> = entries
            .map(|(entry, deviation)| {
                let value = entry.weights[axis] * deviation;
                Effect { variable: entry.variable, value, class: entry.class }
            })
            .filter(|effect| effect.value != 0.0 && effect.value.is_finite())
            .collect();
        effects.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.variable.cmp(&b.variable)));
        effects
    };
    (0..axes).map(of_axis).collect()
}

/// The standard deviations of the panel; those that the results do not tell are computed.
fn deviations(panel: &[PanelEntry], data: &Dataset<'_>) -> Vec<f64> {
    let unknown: Vec<usize> =
        panel.iter().filter(|entry| entry.deviation.is_none()).map(|entry| entry.variable).collect();
    let mut computed = columns(data, &unknown).into_iter().map(|column| mean_and_deviation(&column).1);
    let known = |entry: &PanelEntry| entry.deviation.or_else(|| computed.next()).unwrap_or(0.0);
    panel.iter().map(known).collect()
}
