//! What the figures show, as plain data: one file per chart, with a struct and the function that computes it from results.
//!
//! Numbers, names, their order and notes are decided here, once. [`figures`](crate::figures) draws a value as SVG, the scripts of
//! the [`report`](crate::report) draw it in a page, and Python draws it with matplotlib: none of them computes anything but places.

pub(crate) mod batches;
pub(crate) mod boxes;
pub(crate) mod check;
pub(crate) mod comparison;
pub mod confusion;
pub mod effects;
pub mod heatmap;
pub(crate) mod lines;
pub(crate) mod paths;
pub mod permutation;
pub(crate) mod rates;
pub(crate) mod roc;
pub(crate) mod samples;
pub(crate) mod selection;
pub(crate) mod spectrum;
pub(crate) mod stability_sizes;
pub(crate) mod text;
pub(crate) mod tuning;
pub(crate) mod values;

use menet::Dataset;
use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::names;
use crate::validate::{StabilityFound, Validation, shown};

/// What a figure of a validation shows, in the form in which it is drawn.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Chart {
    Lines(lines::Lines),
    Beside(lines::Panels),
    Below(lines::Panels),
    Comparison(comparison::Comparison),
    Confusion(confusion::Confusion),
    Heatmap(heatmap::Heatmap),
    /// The largest effects of every axis as bars.
    Bars(Vec<Vec<effects::VariableEffect>>),
    /// The effects of every axis as a picture.
    Pictures(Vec<Vec<effects::VariableEffect>>),
    Frequencies(StabilityFound),
}

/// The charts of a validation with the names of their figures, in their order. A chart is missing where there is nothing to show.
pub(crate) fn of_validation(found: &Validation, data: &Dataset<'_>) -> Result<Vec<(&'static str, Chart)>> {
    check::check(found, data)?;
    let values = shown(found, data)?;
    let effects = || Some(effects::effects(found, &values)).filter(|all| all.iter().any(|it| !it.is_empty()));
    let pictures = data.image_shape().and_then(|_| effects()).map(Chart::Pictures);
    let mut stability = found.stability.clone().filter(|it| !it.stable_frequencies.is_empty());
    for (assumption, _) in stability.iter_mut().flat_map(|it| &mut it.false_selections) {
        *assumption = names::shown(assumption, 60);
    }
    let charts = [
        ("samples", samples::samples(found, data)?.map(Chart::Beside)),
        ("batches", batches::batches(found, data)?.map(Chart::Beside)),
        ("loadings", effects().map(Chart::Bars)),
        ("panel", pictures.or_else(|| spectrum::spectrum(found, &values).map(Chart::Below))),
        ("heatmap", heatmap::heatmap(found, &values, heatmap::VARIABLES).map(Chart::Heatmap)),
        ("stability", stability.map(Chart::Frequencies)),
        ("stability-sizes", stability_sizes::stability_sizes(found).map(Chart::Lines)),
        ("selection", selection::selection(found).map(Chart::Lines)),
        ("permutation", permutation::permutation(found).map(Chart::Lines)),
        ("confusion", confusion::of_validation(found).into_iter().next().map(Chart::Confusion)),
        ("roc", roc::roc(found).map(Chart::Lines)),
        ("comparison", comparison::comparison(found).map(Chart::Comparison)),
    ];
    Ok(charts.into_iter().filter_map(|(name, chart)| Some((name, chart?))).collect())
}

/// The values of all charts of a validation with the names of their figures.
///
/// # Errors
/// When the results are not of these data.
pub fn values(found: &Validation, data: &Dataset<'_>) -> Result<Vec<(&'static str, Value)>> {
    let json = |(name, chart)| (name, serde_json::json!(chart));
    Ok(of_validation(found, data)?.into_iter().map(json).collect())
}
