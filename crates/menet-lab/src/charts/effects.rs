//! The effects of the variables on every axis, weight × standard deviation: weights alone make the quietest variables the heaviest.

use menet::{Dataset, Men};
use serde::Serialize;

use super::values::{columns, mean_and_deviation};
use crate::validate::{PanelEntry, Validation};

/// A variable of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VariableEffect {
    /// The variable.
    pub variable: usize,
    /// Its weight times its standard deviation.
    pub value: f64,
    /// The class that a larger value speaks for while all other variables stay as they are.
    pub class: Option<usize>,
}

/// The variables of every axis of the final model, those with the largest effects first. Standard deviations that the results do not
/// tell are computed.
pub(crate) fn effects(validation: &Validation, data: &Dataset<'_>) -> Vec<Vec<VariableEffect>> {
    let panel = &validation.panel;
    let axes = panel.first().map_or(0, |entry| entry.weights.len());
    let unknown: Vec<usize> =
        panel.iter().filter(|entry| entry.deviation.is_none()).map(|entry| entry.variable).collect();
    let mut computed = columns(data, &unknown).into_iter().map(|column| mean_and_deviation(&column).1);
    let known = |entry: &PanelEntry| entry.deviation.or_else(|| computed.next()).unwrap_or(0.0);
    let deviations: Vec<f64> = panel.iter().map(known).collect();
    let of = |(entry, deviation): (&PanelEntry, &f64), axis: usize| VariableEffect {
        variable: entry.variable,
        value: entry.weights[axis] * deviation,
        class: entry.class,
    };
    (0..axes).map(|axis| sorted(panel.iter().zip(&deviations).map(|entry| of(entry, axis)))).collect()
}

/// The effects of the variables of a model alone, and whether it knows the standard deviations of all its variables: if not, effects are weights.
pub fn effects_of_model(men: &Men) -> (Vec<Vec<VariableEffect>>, bool) {
    let panel = &men.parts().panel;
    let known = panel.iter().all(|entry| entry.deviation.is_some_and(f64::is_finite));
    let of_axis = |axis: &menet::sparse::SparseVector| {
        sorted(panel.iter().map(|entry| VariableEffect {
            variable: entry.variable,
            value: axis.get(entry.variable) * entry.deviation.filter(|_| known).unwrap_or(1.0),
            class: entry.class,
        }))
    };
    (men.projection().axes().iter().map(of_axis).collect(), known)
}

fn sorted(effects: impl Iterator<Item = VariableEffect>) -> Vec<VariableEffect> {
    let mut used: Vec<VariableEffect> =
        effects.filter(|it| it.value != 0.0 && it.value.is_finite()).collect();
    used.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.variable.cmp(&b.variable)));
    used
}
