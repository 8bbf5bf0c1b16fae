//! Weights of named variables as horizontal bars, for axes that are not pictures.

use super::canvas::{Canvas, TextAnchor};
use crate::names::shown;

/// One bar.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) weight: f64,
    pub(super) colour: String,
    /// Whether to draw the name in the bar's colour, in bold.
    pub(super) marked: bool,
}

/// Height of one bar with the gap below it.
pub(super) const STEP: f64 = 15.0;

/// Draws bars below each other from the top left corner of a panel of a width, of which names take some; zero lies in the
/// middle of the rest.
pub(super) fn panel(canvas: &mut Canvas, (x, y): (f64, f64), (width, names): (f64, f64), bars: &[Bar]) {
    let largest = bars.iter().fold(0.0, |m: f64, bar| m.max(bar.weight.abs()));
    let half = (width - names) / 2.0;
    let zero = x + names + half;
    for (i, bar) in bars.iter().enumerate() {
        let top = y + i as f64 * STEP;
        let length = if largest > 0.0 { bar.weight.abs() / largest * half } else { 0.0 };
        let left = if bar.weight < 0.0 { zero - length } else { zero };
        canvas.rect((left, top + 2.0), (length, STEP - 4.0), &bar.colour, "none");
        let ink = if bar.marked { bar.colour.as_str() } else { "#222222" };
        let place = (x + names - 6.0, top + STEP - 4.0);
        canvas.styled(
            place,
            10.0,
            TextAnchor::End,
            ink,
            bar.marked,
            &shown(&bar.name, (names / 7.2) as usize),
        );
    }
    let bottom = y + bars.len().max(1) as f64 * STEP;
    canvas.line((zero, y), (zero, bottom), "#777777", 1.0);
    canvas.text((zero - half, bottom + 10.0), 9.0, TextAnchor::Start, &format!("−{}", short(largest)));
    canvas.text((zero + half, bottom + 10.0), 9.0, TextAnchor::End, &short(largest));
}

/// A number in two or three digits.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || (0.01..1000.0).contains(&value.abs()) {
        format!("{value:.2}")
    } else {
        format!("{value:.1e}")
    }
}
