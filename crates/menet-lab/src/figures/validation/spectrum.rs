//! The panel of spectra: weight × standard deviation along the axis that the numeric names of the variables give, with the means of
//! the classes behind.

use kuva::plot::LinePlot;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use menet::Dataset;

use super::super::canvas::{Canvas, FONT, TextAnchor};
use super::super::rates::style;
use super::values::{VariableEffect, class, counted, effects, faded};
use crate::names::{plotted, shown};
use crate::palette::{LOOKS, look};
use crate::validate::Validation;
use crate::validate::spectrum::{class_means, numeric_axis};

const AXES: usize = 6;
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;
const TOP: f64 = 62.0;

/// A line of more points looks the same and makes a larger file.
const POINTS: usize = 800;

/// None where the variables have no numeric names, samples are images, or no axis uses a variable.
pub(super) fn figure(validation: &Validation, data: &Dataset<'_>) -> Option<String> {
    let places = numeric_axis(data)?;
    let all = effects(validation, data);
    if all.iter().all(Vec::is_empty) {
        return None;
    }
    let axes = &all[..all.len().min(AXES)];
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let means = class_means(data);
    let mut canvas = Canvas::new(WIDTH, TOP + axes.len() as f64 * HEIGHT);
    let title = format!("The panel along the spectrum: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let cut = if all.len() > AXES { format!("; {AXES} of {} axes", all.len()) } else { String::new() };
    let behind = if means.len() > LOOKS { "the mean of all samples" } else { "the means of the classes" };
    let note = format!("stems: weight × standard deviation; behind: {behind}, scaled to the height{cut}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    for (k, effects) in axes.iter().enumerate() {
        let title = format!("axis {}: {}", k + 1, counted(effects.len(), "variable"));
        let svg = chart(validation, data, effects, &places, &order, &means, title);
        canvas.embed((0.0, TOP + k as f64 * HEIGHT), &svg);
    }
    Some(canvas.finish())
}

fn chart(
    validation: &Validation,
    data: &Dataset<'_>,
    effects: &[VariableEffect],
    places: &[f64],
    order: &[usize],
    means: &[Vec<f64>],
    title: String,
) -> String {
    let top = effects.iter().fold(0.0_f64, |most, effect| most.max(effect.value.abs()));
    let top = if top > 0.0 { 1.08 * top } else { 1.0 };
    let mut plots = Vec::new();
    // Many classes would hide each other, and there are no more colours.
    let lines: Vec<(Vec<f64>, &str, &str)> = if means.len() > LOOKS {
        let n = data.samples() as f64;
        let share = |class: usize| data.members(class).len() as f64 / n;
        let all = (0..places.len()).map(|j| (0..means.len()).map(|c| means[c][j] * share(c)).sum()).collect();
        vec![(all, "#999999", "")]
    } else {
        means.iter().enumerate().map(|(c, mean)| (mean.clone(), look(c).colour, look(c).dash)).collect()
    };
    let values = || lines.iter().flat_map(|(mean, _, _)| mean.iter().copied()).filter(|v| v.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let scaled =
        |value: f64| if high > low { (value - low) / (high - low) * 1.8 * top - 0.9 * top } else { 0.0 };
    let step = order.len().div_ceil(POINTS);
    for (mean, colour, dash) in &lines {
        let points: Vec<(f64, f64)> = order
            .iter()
            .step_by(step)
            .map(|&j| (places[j], scaled(mean[j])))
            .filter(|p| p.1.is_finite())
            .collect();
        let line = LinePlot::new().with_data(points).with_color(faded(colour)).with_stroke_width(1.1);
        plots.push(Plot::Line(line.with_line_style(style(dash))));
    }
    // One line goes along zero and up or down every stem.
    let mut stems: Vec<&VariableEffect> = effects.iter().collect();
    stems.sort_by(|a, b| places[a.variable].total_cmp(&places[b.variable]));
    let (start, end) = (places[order[0]], places[order[order.len() - 1]]);
    let mut points = vec![(start, 0.0)];
    for stem in &stems {
        let x = places[stem.variable];
        points.extend([(x, 0.0), (x, stem.value), (x, 0.0)]);
    }
    points.push((end, 0.0));
    plots.push(Plot::Line(LinePlot::new().with_data(points).with_color("#222222").with_stroke_width(1.3)));
    for class in (0..means.len()).map(Some).chain([None]) {
        let tips: Vec<(f64, f64)> = stems
            .iter()
            .filter(|stem| stem.class == class)
            .map(|stem| (places[stem.variable], stem.value))
            .collect();
        if tips.is_empty() {
            continue;
        }
        let colour = class.map_or("#222222", |class| look(class).colour);
        plots.push(Plot::Scatter(ScatterPlot::new().with_data(tips).with_color(colour).with_size(4.0)));
    }
    let entry = |number: usize| LegendEntry {
        label: plotted(&class(validation, number, 18), 18),
        color: look(number).colour.to_owned(),
        shape: LegendShape::Line,
        dasharray: Some(look(number).dash.to_owned()).filter(|dash| !dash.is_empty()),
    };
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_title_size(13)
        .with_x_label("number that names the variable")
        .with_y_label("weight × sd")
        .with_x_axis_min(start)
        .with_x_axis_max(end)
        .with_y_axis_min(-top)
        .with_y_axis_max(top)
        .with_font_family(FONT)
        .with_width(WIDTH)
        .with_height(HEIGHT);
    if means.len() <= LOOKS {
        layout = layout.with_legend_entries((0..means.len()).map(entry).collect());
    }
    kuva::render_to_svg(plots, layout)
}
