//! The balanced accuracy of every method on the same splits, with intervals.

use super::super::canvas::{Canvas, TextAnchor};
use crate::charts::comparison::Comparison;
use crate::charts::values::ticks;
use crate::palette::look;

const LEFT: f64 = 200.0;
const WIDTH: f64 = 460.0;
const RIGHT: f64 = 300.0;
const ROW: f64 = 30.0;
const TOP: f64 = 76.0;

/// The chart as an SVG.
pub(super) fn svg(chart: &Comparison) -> String {
    let Comparison { title, note, chance, limits: (least, most), methods } = chart;
    let at = |value: f64| LEFT + (value - least) / (most - least).max(1e-9) * WIDTH;
    let bottom = TOP + methods.len() as f64 * ROW;
    let mut canvas = Canvas::new(LEFT + WIDTH + RIGHT, bottom + 58.0);
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, title);
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, note);
    for tick in ticks(&(*least..=*most), 8) {
        canvas.line((at(tick), TOP - 4.0), (at(tick), bottom + 4.0), "#dddddd", 1.0);
        canvas.text((at(tick), bottom + 18.0), 11.0, TextAnchor::Middle, &format!("{:.0} %", 100.0 * tick));
    }
    let mut y = TOP - 4.0;
    while y < bottom {
        canvas.line((at(*chance), y), (at(*chance), (y + 5.0).min(bottom)), "#555555", 1.2);
        y += 9.0;
    }
    for (row, method) in methods.iter().enumerate() {
        let middle = TOP + (row as f64 + 0.5) * ROW;
        let colour = if row == 0 { look(1).colour } else { look(0).colour };
        let (low, high) = method.ends;
        canvas.line((at(low), middle), (at(high), middle), colour, 2.0);
        for end in [low, high] {
            canvas.line((at(end), middle - 5.0), (at(end), middle + 5.0), colour, 2.0);
        }
        canvas.circle((at(method.mean), middle), 3.0, colour, 6.0);
        canvas.styled((LEFT - 10.0, middle + 4.0), 12.0, TextAnchor::End, "#222222", row == 0, &method.name);
        canvas.text((LEFT + WIDTH + 14.0, middle + 4.0), 11.0, TextAnchor::Start, &method.text);
    }
    canvas.text((LEFT + WIDTH / 2.0, bottom + 40.0), 12.0, TextAnchor::Middle, "balanced accuracy");
    canvas.finish()
}
