//! Panel × samples: standardized values, rows and columns in the order of a hierarchical clustering. `heatmap.js` draws it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use faer::Mat;
use serde_json::{Value, json};

use super::format::count;
use super::{Page, PageSubject, sample_name, spaced};
use crate::names::shown;
use crate::validate::cluster::order;

/// The most variables and samples that are shown.
const VARIABLES: usize = 100;
const SAMPLES: usize = 400;

/// Steps per standard deviation: values beyond ±3.2 look alike.
const STEPS: f64 = 40.0;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let panel = &subject.validation.panel;
    if panel.is_empty() {
        return;
    }
    // By class, so that evenly spaced samples are of all classes in proportion.
    let by_class: Vec<usize> =
        (0..subject.classes.len()).flat_map(|class| subject.data.members(class).iter().copied()).collect();
    let samples: Vec<usize> = spaced(by_class.len(), SAMPLES).into_iter().map(|k| by_class[k]).collect();
    let variables = panel.len().min(VARIABLES);
    let x = standardized(subject, &samples, variables);
    let rows = order(&x.col_iter().map(|column| column.iter().copied().collect()).collect::<Vec<_>>());
    let columns = order(&x.row_iter().map(|row| row.iter().copied().collect()).collect::<Vec<_>>());
    let mut levels = Vec::with_capacity(rows.len() * columns.len());
    for &row in &rows {
        let level = |&column: &usize| ((x[(column, row)] * STEPS).round() as i8).cast_unsigned();
        levels.extend(columns.iter().map(level));
    }
    page.values.insert("heatmap".to_owned(), json!({
        "levels": STANDARD.encode(levels),
        "steps": STEPS,
        "variables": rows.iter().map(|&k| shown(&subject.variable(panel[k].variable), 60)).collect::<Value>(),
        "speaks": rows.iter().map(|&k| panel[k].class).collect::<Value>(),
        "samples": columns.iter().map(|&i| sample_name(&subject.first.samples[samples[i]])).collect::<Value>(),
        "class": columns.iter().map(|&i| subject.data.class_of(samples[i])).collect::<Value>(),
    }));
    let part = |shown: usize, all: usize, what: &str, which: &str| {
        if shown < all {
            format!("; {} of {} {what} are shown, {which}", count(shown), count(all))
        } else {
            String::new()
        }
    };
    let cut = part(variables, panel.len(), "variables", "the most important")
        + &part(samples.len(), by_class.len(), "samples", "evenly spaced in each class");
    let markup = format!(
        "{}<figure>\n<figcaption>The panel in all samples <span class=\"note\">standardized values, blue below the mean and orange \
         above; the strip shows the classes; rows and columns are ordered by average linkage on the \
         Euclidean distance{cut}</span></figcaption>\n<div class=\"scroll\"><div class=\"chart heatmap\" \
         id=\"heatmap\"></div></div>\n</figure>\n",
        subject.key()
    );
    page.section("samples", "Panel and samples", "Heat map", &markup);
}

/// The first variables of the panel in some samples, less the mean over these and over their standard deviation.
fn standardized(subject: &PageSubject<'_>, samples: &[usize], variables: usize) -> Mat<f64> {
    let mut x = Mat::from_fn(samples.len(), variables, |i, k| subject.values[(samples[i], k)]);
    for k in 0..variables {
        let n = samples.len() as f64;
        let mean = x.col(k).iter().sum::<f64>() / n;
        let variance = x.col(k).iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        let deviation = variance.sqrt();
        x.col_mut(k)
            .iter_mut()
            .for_each(|x| *x = if deviation > 0.0 { (*x - mean) / deviation } else { 0.0 });
    }
    x
}
