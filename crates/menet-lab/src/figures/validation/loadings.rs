//! The largest effects of every axis, weight × standard deviation, as bars in the colour of the class that a larger value
//! speaks for while all other variables stay as they are.

use menet::Dataset;

use super::super::bars::{Bar, STEP, panel};
use super::super::canvas::{Canvas, TextAnchor};
use crate::charts::effects::VariableEffect;
use crate::charts::text::counted;
use crate::charts::values::{class, variable};
use crate::names::shown;
use crate::palette::look;
use crate::validate::Validation;

/// How many variables of an axis, and how many axes, are shown.
const LARGEST: usize = 20;
const AXES: usize = 12;

const ACROSS: usize = 3;
const CELL: f64 = 350.0;
const NAMES: f64 = 150.0;
const TOP: f64 = 84.0;

/// The chart as an SVG.
pub(super) fn svg(all: &[Vec<VariableEffect>], validation: &Validation, data: &Dataset<'_>) -> String {
    let axes = &all[..all.len().min(AXES)];
    let across = axes.len().min(ACROSS);
    let rows =
        |row: &[Vec<VariableEffect>]| row.iter().map(|axis| axis.len().min(LARGEST)).max().unwrap_or(0);
    let heights: Vec<f64> = axes.chunks(ACROSS).map(|row| rows(row) as f64 * STEP + 62.0).collect();
    let width = (across as f64 * CELL + 24.0).max(760.0);
    let mut canvas = Canvas::new(width, TOP + heights.iter().sum::<f64>());
    let title = format!("What every axis is made of: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let cut = if all.len() > AXES { format!("; {AXES} of {} axes", all.len()) } else { String::new() };
    let note = format!("weight × standard deviation, the largest {LARGEST} per axis{cut}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    let note = "colour and the name beside a bar: the class that a larger value speaks for, all other variables held fixed";
    canvas.text((16.0, 62.0), 12.0, TextAnchor::Start, note);
    for (k, axis) in axes.iter().enumerate() {
        let x = 8.0 + (k % ACROSS) as f64 * CELL;
        let y = TOP + heights[..k / ACROSS].iter().sum::<f64>();
        let shown_bars = &axis[..axis.len().min(LARGEST)];
        let heading = format!("axis {}, {}", k + 1, counted(axis.len(), "variable"));
        canvas.title((x + NAMES, y + 10.0), 12.0, TextAnchor::Start, &heading);
        let bars: Vec<Bar> = shown_bars
            .iter()
            .map(|effect| Bar {
                name: variable(data, effect.variable),
                weight: effect.value,
                colour: effect.class.map_or("#9a9a9a", |class| look(class).colour).to_owned(),
                marked: false,
            })
            .collect();
        panel(&mut canvas, (x, y + 18.0), (CELL - 20.0, NAMES), &bars);
        // Beside zero, where the bar is not.
        let zero = x + NAMES + (CELL - 20.0 - NAMES) / 2.0;
        for (i, effect) in shown_bars.iter().enumerate() {
            let Some(number) = effect.class else { continue };
            let (anchor, gap) =
                if effect.value < 0.0 { (TextAnchor::Start, 4.0) } else { (TextAnchor::End, -4.0) };
            let place = (zero + gap, y + 18.0 + (i + 1) as f64 * STEP - 4.5);
            canvas.styled(place, 8.5, anchor, look(number).colour, false, &class(validation, number, 13));
        }
    }
    canvas.finish()
}
