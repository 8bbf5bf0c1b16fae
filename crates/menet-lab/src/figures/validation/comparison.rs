//! The balanced accuracy of every method on the same splits, with intervals.

use super::super::canvas::{Anchor, Canvas};
use super::values::{counted, percent, ticks};
use crate::names::{named, shown};
use crate::palette::look;
use crate::validate::{Assessed, Validation};

const LEFT: f64 = 200.0;
const WIDTH: f64 = 460.0;
const RIGHT: f64 = 300.0;
const ROW: f64 = 30.0;
const TOP: f64 = 76.0;

/// None with one method.
pub(super) fn figure(validation: &Validation) -> Option<String> {
    let methods: Vec<&Assessed> =
        validation.methods.iter().filter(|method| method.balanced.mean.is_finite()).collect();
    if methods.len() < 2 {
        return None;
    }
    let chance = validation.chance();
    let ends = |method: &&Assessed| {
        let balanced = method.balanced;
        let low = if balanced.low.is_finite() { balanced.low } else { balanced.mean };
        let high = if balanced.high.is_finite() { balanced.high } else { balanced.mean };
        (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
    };
    let least = methods.iter().map(|method| ends(method).0).fold(chance, f64::min);
    let range = ((least * 10.0).floor() / 10.0)..=1.0;
    let at = |value: f64| LEFT + (value - range.start()) / (range.end() - range.start()).max(1e-9) * WIDTH;
    let bottom = TOP + methods.len() as f64 * ROW;
    let mut canvas = Canvas::new(LEFT + WIDTH + RIGHT, bottom + 58.0);
    let title = format!("Methods on the same splits: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, Anchor::Start, &title);
    let design = &validation.design;
    let folds = if design.leave_one_group_out {
        "one group left out at a time".to_owned()
    } else {
        format!("{} × {}", counted(design.repeats, "repeat"), counted(design.folds, "fold"))
    };
    let note =
        format!("balanced accuracy on held-out samples with its 95 % interval; {folds}; dashed: chance");
    canvas.text((16.0, 46.0), 12.0, Anchor::Start, &note);
    for tick in ticks(&range, 8) {
        canvas.line((at(tick), TOP - 4.0), (at(tick), bottom + 4.0), "#dddddd", 1.0);
        canvas.text((at(tick), bottom + 18.0), 11.0, Anchor::Middle, &format!("{:.0} %", 100.0 * tick));
    }
    let mut y = TOP - 4.0;
    while y < bottom {
        canvas.line((at(chance), y), (at(chance), (y + 5.0).min(bottom)), "#555555", 1.2);
        y += 9.0;
    }
    for (row, method) in methods.iter().enumerate() {
        let middle = TOP + (row as f64 + 0.5) * ROW;
        let colour = if row == 0 { look(1).colour } else { look(0).colour };
        let (low, high) = ends(method);
        canvas.line((at(low), middle), (at(high), middle), colour, 2.0);
        for end in [low, high] {
            canvas.line((at(end), middle - 5.0), (at(end), middle + 5.0), colour, 2.0);
        }
        let mean = at(method.balanced.mean.clamp(0.0, 1.0));
        canvas.circle((mean, middle), 3.0, colour, 6.0);
        let name = shown(&named(&method.name), 20);
        canvas.styled((LEFT - 10.0, middle + 4.0), 12.0, Anchor::End, "#222222", row == 0, &name);
        let variables = if method.variables.is_finite() && method.variables > 0.0 {
            format!(", {:.0} variables", method.variables)
        } else {
            String::new()
        };
        let text = format!("{}{variables}", percent(&method.balanced));
        canvas.text((LEFT + WIDTH + 14.0, middle + 4.0), 11.0, Anchor::Start, &text);
    }
    canvas.text((LEFT + WIDTH / 2.0, bottom + 40.0), 12.0, Anchor::Middle, "balanced accuracy");
    Some(canvas.finish())
}
