//! Panel × samples: standardized values, rows and columns in the order of a hierarchical clustering. `heatmap.js` draws it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::format::count;
use super::{Page, PageSubject, sample_name};
use crate::charts::heatmap::{Heatmap, heatmap};
use crate::names::shown;

/// The most variables that are shown.
const VARIABLES: usize = 100;

/// Steps per standard deviation: values beyond ±3.2 look alike.
const STEPS: f64 = 40.0;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let panel = &subject.validation.panel;
    let Some(chart) = heatmap(subject.validation, &subject.shown, VARIABLES) else { return };
    let Heatmap { variables, samples, classes, values, .. } = &chart;
    let level = |value: &f64| ((value * STEPS).round() as i8).cast_unsigned();
    let name = |&k: &usize| shown(&subject.variable(panel[k].variable), 60);
    page.values.insert(
        "heatmap".to_owned(),
        json!({
            "levels": STANDARD.encode(values.iter().flatten().map(level).collect::<Vec<u8>>()),
            "steps": STEPS,
            "variables": variables.iter().map(name).collect::<Vec<_>>(),
            "samples": samples.iter().map(|&i| sample_name(&subject.first.samples[i])).collect::<Vec<_>>(),
            "class": classes,
        }),
    );
    let part = |shown: usize, all: usize, what: &str, which: &str| {
        if shown < all {
            format!("; {} of {} {what} are shown, {which}", count(shown), count(all))
        } else {
            String::new()
        }
    };
    let cut = part(variables.len(), panel.len(), "variables", "the most important")
        + &part(samples.len(), subject.data.samples(), "samples", "evenly spaced in each class");
    let markup = format!(
        "{}<figure>\n<figcaption>The panel in all samples <span class=\"note\">standardized values, blue below the mean and orange \
         above; the strip shows the classes; rows and columns are ordered by average linkage on the \
         Euclidean distance{cut}</span></figcaption>\n<div class=\"scroll\"><div class=\"chart heatmap\" \
         id=\"heatmap\"></div></div>\n</figure>\n",
        subject.key()
    );
    page.section("samples", "Panel and samples", "Heat map", &markup);
}
