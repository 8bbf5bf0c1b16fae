//! How often half-samples select a variable, as bars with the threshold of the stable panel.

use menet::Dataset;

use super::super::canvas::{Canvas, TextAnchor};
use crate::charts::text::{counted, fraction};
use crate::charts::values::variable;
use crate::names::shown;
use crate::palette::look;
use crate::validate::{StabilityFound, Validation};

/// How many variables are shown.
const MOST: usize = 40;

const LEFT: f64 = 230.0;
const WIDTH: f64 = 560.0;
const ROW: f64 = 15.0;
const LINE: f64 = 16.0;

/// The chart as an SVG.
pub(super) fn svg(found: &StabilityFound, validation: &Validation, data: &Dataset<'_>) -> String {
    let shown_rows = &found.stable_frequencies[..found.stable_frequencies.len().min(MOST)];
    let notes = notes(found, shown_rows.len());
    let top = 78.0 + LINE * notes.len() as f64;
    let bottom = top + shown_rows.len() as f64 * ROW;
    let mut canvas = Canvas::new(LEFT + WIDTH + 60.0, bottom + 56.0);
    let title = format!("How often half-samples select a variable: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    for (line, note) in notes.iter().enumerate() {
        canvas.text((16.0, 46.0 + LINE * line as f64), 12.0, TextAnchor::Start, note);
    }
    let at = |frequency: f64| LEFT + frequency.clamp(0.0, 1.0) * WIDTH;
    for tick in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        canvas.line((at(tick), top), (at(tick), bottom + 4.0), "#dddddd", 1.0);
        canvas.text((at(tick), bottom + 18.0), 11.0, TextAnchor::Middle, &format!("{:.0} %", 100.0 * tick));
    }
    let own_size = found.size == found.stable_size;
    for (row, &(j, frequency)) in shown_rows.iter().enumerate() {
        let y = top + row as f64 * ROW;
        let stable = found.stable.contains(&j);
        let colour = if stable { look(0).colour } else { "#b8b8b8" };
        canvas.rect((LEFT, y + 2.0), (at(frequency) - LEFT, ROW - 4.0), colour, "none");
        let name = shown(&variable(data, j), 30);
        canvas.styled((LEFT - 6.0, y + ROW - 4.0), 10.0, TextAnchor::End, "#222222", stable, &name);
        let final_size = found.frequencies.iter().find(|&&(other, _)| other == j);
        if let Some(&(_, frequency)) = final_size.filter(|_| !own_size) {
            canvas.circle((at(frequency), y + ROW / 2.0), 3.2, look(1).colour, 1.6);
        }
    }
    let threshold = at(found.threshold);
    canvas.line((threshold, top - 6.0), (threshold, bottom + 4.0), "#000000", 1.4);
    let label = format!("threshold {:.0} %", 100.0 * found.threshold);
    canvas.text((threshold, top - 10.0), 11.0, TextAnchor::Middle, &label);
    let label = format!("of {} half-samples", found.half_samples);
    canvas.text((LEFT + WIDTH / 2.0, bottom + 40.0), 12.0, TextAnchor::Middle, &label);
    canvas.finish()
}

fn notes(found: &StabilityFound, shown_rows: usize) -> Vec<String> {
    let all = found.stable_frequencies.len();
    let cut =
        if shown_rows < all { format!("; the first {shown_rows} of {all} variables") } else { String::new() };
    let circles = if found.size == found.stable_size {
        String::new()
    } else {
        format!("; circles: panels of {}, as of the final model", found.size)
    };
    let first = format!("bars: panels of {}{circles}{cut}", counted(found.stable_size, "variable"));
    let stable = format!("stable (dark, bold): {}", counted(found.stable.len(), "variable"));
    // One line each: the names of the assumptions are long.
    let bound = |(assumption, bound): &(String, f64)| {
        format!("false among them, expected at most: {}, {}", fraction(*bound), shown(assumption, 60))
    };
    [first, stable].into_iter().chain(found.false_selections.iter().map(bound)).collect()
}
