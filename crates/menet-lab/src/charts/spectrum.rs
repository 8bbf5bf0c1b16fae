//! The panel of spectra: weight × standard deviation along the axis that the numeric names of the variables give, with the means of
//! the classes behind.

use menet::Dataset;

use super::effects::{VariableEffect, effects};
use super::lines::{Axis, Lines, Panels, Series};
use super::text::counted;
use crate::names::{named, shown};
use crate::palette::LOOKS;
use crate::validate::Validation;
use crate::validate::spectrum::{class_means, numeric_axis};

const AXES: usize = 6;

/// A line of more points looks the same and makes a larger file.
const POINTS: usize = 800;

/// The class means behind the axes.
struct Behind {
    /// Where the variables are.
    places: Vec<f64>,
    /// The variables in the order of their places.
    order: Vec<usize>,
    /// The means, each with its colour, dash and name.
    lines: Vec<(Vec<f64>, Series)>,
    range: (f64, f64),
}

/// None where the variables have no numeric names, samples are images, or no axis uses a variable.
pub(crate) fn spectrum(validation: &Validation, data: &Dataset<'_>) -> Option<Panels> {
    let places = numeric_axis(data)?;
    let all = effects(validation, data);
    if all.iter().all(Vec::is_empty) {
        return None;
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let lines = means(data);
    let values = || lines.iter().flat_map(|(mean, _)| mean.iter().copied()).filter(|v| v.is_finite());
    let range = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let many = data.classes().len() > LOOKS;
    let behind = if many { "the mean of all samples" } else { "the means of the classes" };
    let cut = if all.len() > AXES { format!("; {AXES} of {} axes", all.len()) } else { String::new() };
    let note = format!("stems: weight × standard deviation; behind: {behind}, scaled to the height{cut}");
    let means = Behind { places, order, lines, range };
    let axes = all.iter().take(AXES).enumerate().map(|(k, effects)| Lines {
        title: format!("axis {}: {}", k + 1, counted(effects.len(), "variable")),
        ..means.chart(effects, data.classes().len())
    });
    let title = format!("The panel along the spectrum: {}", shown(&validation.data, 28));
    Some(Panels { title, note, charts: axes.collect() })
}

/// The means of the classes; of all samples, where many classes would hide each other, and there are no more colours.
fn means(data: &Dataset<'_>) -> Vec<(Vec<f64>, Series)> {
    let means = class_means(data);
    if means.len() > LOOKS {
        let share = |class: usize| data.members(class).len() as f64 / data.samples() as f64;
        let mean = |j: usize| (0..means.len()).map(|class| means[class][j] * share(class)).sum();
        let grey = Series { colour: "#999999".to_owned(), dash: "", ..Series::line(0, 1.1, Vec::new()) };
        return vec![((0..data.variables()).map(mean).collect(), grey)];
    }
    let name = |class: usize| shown(&named(&data.classes()[class]), 18);
    let line = |(class, mean)| (mean, Series::line(class, 1.1, Vec::new()).named(name(class)));
    means.into_iter().enumerate().map(line).collect()
}

impl Behind {
    fn chart(&self, effects: &[VariableEffect], classes: usize) -> Lines {
        let Behind { places, order, lines, range: (low, high) } = self;
        let top = effects.iter().fold(0.0_f64, |most, effect| most.max(effect.value.abs()));
        let top = if top > 0.0 { 1.08 * top } else { 1.0 };
        let scaled =
            |value: f64| if high > low { (value - low) / (high - low) * 1.8 * top - 0.9 * top } else { 0.0 };
        let step = order.len().div_ceil(POINTS);
        let mut series: Vec<Series> = lines
            .iter()
            .map(|(mean, line)| {
                let points = order.iter().step_by(step).map(|&j| (places[j], scaled(mean[j])));
                let points = points.filter(|point| point.1.is_finite()).collect();
                Series { faint: true, points, ..line.clone() }
            })
            .collect();
        // One line goes along zero and up or down every stem.
        let mut stems: Vec<&VariableEffect> = effects.iter().collect();
        stems.sort_by(|a, b| places[a.variable].total_cmp(&places[b.variable]));
        let (start, end) = (places[order[0]], places[order[order.len() - 1]]);
        let place = |stem: &VariableEffect| (places[stem.variable], stem.value);
        let along = stems.iter().map(|stem| place(stem)).flat_map(|(x, y)| [(x, 0.0), (x, y), (x, 0.0)]);
        let along = [(start, 0.0)].into_iter().chain(along).chain([(end, 0.0)]).collect();
        let dark = |line| Series { colour: "#222222".to_owned(), dash: "", ..line };
        series.push(dark(Series::line(0, 1.3, along)));
        for class in (0..classes).map(Some).chain([None]) {
            let tips = stems.iter().filter(|stem| stem.class == class).map(|stem| place(stem)).collect();
            let tips = Series { marker: 0, ..Series::dots(class.unwrap_or(0), 4.0, tips) };
            series.push(if class.is_none() { dark(tips) } else { tips });
        }
        series.retain(|series| !series.points.is_empty());
        Lines {
            x: Axis::from_to("number that names the variable", (start, end)),
            y: Axis::from_to("weight × sd", (-top, top)),
            series,
            ..Lines::default()
        }
    }
}
