//! The samples by batch on their first two principal components: on the left as they come, on the right less the mean of their batch.

use faer::Mat;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use menet::baselines::Pca;
use menet::prepare::Preparation;
use menet::{Dataset, Reducer};

use super::super::canvas::{Anchor, Canvas, FONT};
use super::super::rates::MARKERS;
use super::values::some_samples;
use crate::error::Result;
use crate::names::{named, plotted, shown};
use crate::palette::look;
use crate::validate::Validation;

/// More samples hide each other and make large files.
const MOST: usize = 2000;

/// A legend of more batches is longer than the figure.
const LEGEND: usize = 14;
const LEGEND_WIDTH: f64 = 210.0;

const TOP: f64 = 58.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 520.0;

/// None where the final model knows no batches.
pub(super) fn figure(validation: &Validation, data: &Dataset<'_>) -> Result<Option<String>> {
    let learned = validation.models.as_ref().and_then(|models| models.all.preparation());
    let Some((learned, effects)) = learned.and_then(|learned| Some((learned, learned.batches.as_ref()?)))
    else {
        return Ok(None);
    };
    let Some(batches) = data.batches().filter(|_| data.variables() > 1) else { return Ok(None) };
    // The same but for the batches, so that these are all the difference.
    let plain = data.relabelled(data.class_indices().to_vec())?.without_batches();
    let before = match Preparation::of(&plain, &learned.params)? {
        Some((_, before)) => components(&before)?,
        None => components(&plain)?,
    };
    let after = components(&learned.prepare(data)?)?;
    let count = batches.names().len();
    let legend = if count > LEGEND { 0.0 } else { LEGEND_WIDTH };
    let mut canvas = Canvas::new(2.0 * WIDTH + legend, TOP + HEIGHT);
    let title =
        format!("Samples by batch, on their first two principal components: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, Anchor::Start, &title);
    let how = if effects.deviations.is_some() { ", divided by its deviation" } else { "" };
    let rows = some_samples(data, MOST);
    let few = match data.samples() - rows.len() {
        0 => String::new(),
        _ => format!("; {} of {} samples are shown", rows.len(), data.samples()),
    };
    let note = format!(
        "the final model subtracts the mean of every batch{how}; what still tells batches apart is not removed{few}"
    );
    canvas.text((16.0, 46.0), 12.0, Anchor::Start, &note);
    let name = |batch: usize| plotted(&shown(&named(&batches.names()[batch]), 17), 17);
    for (x, title, z, legend) in [(0.0, "before", &before, false), (WIDTH, "after", &after, legend > 0.0)] {
        canvas.embed((x, TOP), &chart(title, z, &rows, batches.of(), (count, &name), legend));
    }
    Ok(Some(canvas.finish()))
}

/// The first two principal components of samples, n×2.
fn components(data: &Dataset<'_>) -> Result<Mat<f64>> {
    let reduced = Pca {}.fit(data, Some(2), &())?;
    Ok(reduced.projection.project(data)?)
}

fn chart(
    title: &str,
    z: &Mat<f64>,
    rows: &[usize],
    of: &[usize],
    (count, name): (usize, &dyn Fn(usize) -> String),
    legend: bool,
) -> String {
    let place = |i: usize| (z[(i, 0)], if z.ncols() > 1 { z[(i, 1)] } else { 0.0 });
    let plots: Vec<Plot> = (0..count)
        .filter_map(|batch| {
            let points: Vec<(f64, f64)> =
                rows.iter().filter(|&&i| of[i] == batch).map(|&i| place(i)).collect();
            let look = look(batch);
            let dots = ScatterPlot::new().with_data(points.clone()).with_color(look.colour).with_size(4.0);
            (!points.is_empty()).then(|| Plot::Scatter(dots.with_marker(MARKERS[look.marker])))
        })
        .collect();
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_title_size(14)
        .with_x_label("first component")
        .with_y_label("second component")
        .with_font_family(FONT)
        .with_width(WIDTH + if legend { LEGEND_WIDTH } else { 0.0 })
        .with_height(HEIGHT);
    if legend {
        let entry = |batch: usize| LegendEntry {
            label: name(batch),
            color: look(batch).colour.to_owned(),
            shape: LegendShape::Marker(MARKERS[look(batch).marker]),
            dasharray: None,
        };
        layout = layout
            .with_legend_entries((0..count).map(entry).collect())
            .with_legend_width(LEGEND_WIDTH - 20.0);
    }
    kuva::render_to_svg(plots, layout)
}
