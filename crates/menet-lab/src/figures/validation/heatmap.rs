//! The panel against the samples, standardized, both ordered by hierarchical clustering.

use image::{Rgb, RgbImage};
use menet::Dataset;

use super::super::canvas::{Canvas, TextAnchor};
use crate::charts::heatmap::{Heatmap, VARIABLES};
use crate::charts::values::{class, longest, rgb, variable};
use crate::names::shown;
use crate::palette::{diverging, look};
use crate::validate::Validation;

/// The standard deviations at which the colours end.
const ENDS: f64 = 3.0;

const LEFT: f64 = 170.0;
const WIDTH: f64 = 800.0;
const ROW: f64 = 13.0;
const TOP: f64 = 64.0;

/// The chart as an SVG.
pub(super) fn svg(chart: &Heatmap, validation: &Validation, data: &Dataset<'_>) -> String {
    let Heatmap { variables, samples, classes, values, mixed } = chart;
    let names: Vec<String> =
        (0..validation.classes.len()).map(|number| class(validation, number, 10)).collect();
    let head = if *mixed { names.len() as f64 * ROW + 6.0 } else { 0.87 * longest(&names, 9.5) + 16.0 };
    let bottom = TOP + head + variables.len() as f64 * ROW;
    let mut canvas = Canvas::new(LEFT + WIDTH + 24.0, bottom + 56.0);
    let title = format!("The panel in every sample: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note(validation, data, samples.len(), *mixed));
    if *mixed {
        memberships(&mut canvas, validation, classes);
    } else {
        blocks(&mut canvas, &names, classes, (TOP + head, bottom));
    }
    let picture = RgbImage::from_fn(samples.len() as u32, variables.len() as u32, |x, y| {
        let value = values[y as usize][x as usize];
        Rgb(if value.is_finite() { diverging(value / ENDS) } else { [170; 3] })
    });
    canvas.picture((LEFT, TOP + head), (WIDTH, bottom - TOP - head), &picture);
    for (row, &k) in variables.iter().enumerate() {
        let y = TOP + head + (row + 1) as f64 * ROW - 3.0;
        let name = shown(&variable(data, validation.panel[k].variable), 22);
        canvas.text((LEFT - 6.0, y), 9.5, TextAnchor::End, &name);
    }
    key(&mut canvas, (LEFT, bottom + 12.0));
    canvas.finish()
}

fn note(validation: &Validation, data: &Dataset<'_>, samples: usize, mixed: bool) -> String {
    let how = if mixed {
        "alike variables and samples are neighbours (average linkage); marks above: classes"
    } else {
        "alike variables, and alike samples of a class, are neighbours (average linkage)"
    };
    let of = |shown: usize, all: usize, what: &str| {
        if shown < all { format!("; {shown} of {all} {what}") } else { String::new() }
    };
    let panel = validation.panel.len();
    let variables = of(panel.min(VARIABLES), panel, "variables, the most important");
    format!("{how}{variables}{}", of(samples, data.samples(), "samples"))
}

/// One row of marks per class, so that classes can be told without their colours.
fn memberships(canvas: &mut Canvas, validation: &Validation, classes: &[usize]) {
    let k = validation.classes.len();
    let marks = RgbImage::from_fn(classes.len() as u32, k as u32, |x, y| {
        let number = classes[x as usize];
        Rgb(if number == y as usize { rgb(look(number).colour) } else { [245; 3] })
    });
    canvas.picture((LEFT, TOP), (WIDTH, k as f64 * ROW), &marks);
    for number in 0..k {
        let place = (LEFT - 6.0, TOP + (number + 1) as f64 * ROW - 3.0);
        let name = class(validation, number, 20);
        canvas.styled(place, 9.5, TextAnchor::End, look(number).colour, true, &name);
    }
}

/// The names of the classes above their samples, and lines between the classes.
fn blocks(canvas: &mut Canvas, names: &[String], classes: &[usize], (top, bottom): (f64, f64)) {
    let cell = WIDTH / classes.len() as f64;
    let mut start = 0;
    for end in 1..=classes.len() {
        if end < classes.len() && classes[end] == classes[start] {
            continue;
        }
        // Names closer than their height would overlap.
        let number = classes[start];
        let middle = LEFT + (start + end) as f64 / 2.0 * cell;
        if (end - start) as f64 * cell >= 9.0 {
            canvas.turned((middle + 3.0, top - 6.0), 9.5, -60.0, TextAnchor::Start, &names[number]);
        }
        let at = LEFT + end as f64 * cell;
        canvas.line((at, top - 4.0), (at, bottom + 3.0), "#555555", 0.5);
        start = end;
    }
}

/// The key of the colours.
fn key(canvas: &mut Canvas, (x, y): (f64, f64)) {
    let length = 200.0;
    let strip = RgbImage::from_fn(101, 1, |i, _| Rgb(diverging(f64::from(i) / 50.0 - 1.0)));
    canvas.picture((x, y), (length, 12.0), &strip);
    for (place, label) in [(0.0, "−3"), (0.5, "0"), (1.0, "3")] {
        let at = x + length * place;
        canvas.line((at, y + 12.0), (at, y + 16.0), "#222222", 1.0);
        canvas.text((at, y + 28.0), 11.0, TextAnchor::Middle, label);
    }
    let note =
        "standard deviations from the mean of the variable, over all samples; beyond 3, the colours of 3";
    canvas.text((x + length + 24.0, y + 11.0), 12.0, TextAnchor::Start, note);
}
