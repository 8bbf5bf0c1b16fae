//! Which classes the held-out samples of every class were given.

use super::super::canvas::{Canvas, TextAnchor};
use crate::charts::confusion::Confusion;
use crate::charts::text::percent;
use crate::charts::values::longest;
use crate::names::shown;
use crate::validate::Validation;

const TOP: f64 = 62.0;

/// The chart as an SVG.
pub(super) fn svg(chart: &Confusion, validation: &Validation) -> String {
    let classes = chart.classes.len();
    let cell = (620.0 / classes as f64).clamp(13.0, 84.0);
    let size = (cell * 0.22).clamp(8.0, 14.0);
    let name = size.clamp(9.0, 12.0);
    let cut = |most| -> Vec<String> { chart.classes.iter().map(|name| shown(name, most)).collect() };
    let (rows, columns) = (cut(21), cut(16));
    let (left, top) = (longest(&rows, name) + 52.0, TOP + 0.71 * longest(&columns, name) + 18.0);
    let side = cell * classes as f64;
    let mut canvas = Canvas::new((left + side + 120.0).max(700.0), top + side + 40.0);
    let title = format!("What held-out samples were taken for: {}", shown(&validation.data, 22));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let balanced = validation.methods.first().map(|method| percent(&method.balanced)).unwrap_or_default();
    let note = format!("percent of every class, over all repeats; balanced accuracy {balanced}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    let mut cells = chart.cells.iter().peekable();
    for a in 0..classes {
        let (x, y) = (left + a as f64 * cell, top + a as f64 * cell);
        canvas.text((left - 8.0, y + cell / 2.0 + name * 0.36), name, TextAnchor::End, &rows[a]);
        canvas.turned((x + cell / 2.0 + 3.0, top - 8.0), name, -45.0, TextAnchor::Start, &columns[a]);
        for b in 0..classes {
            let corner = (left + b as f64 * cell, y);
            let found = cells.next_if(|cell| (cell.class, cell.given) == (a, b));
            let share = found.map_or(0.0, |found| found.share);
            let (fill, edge) =
                if chart.tested[a] == 0.0 { ("#eeeeee", "#ffffff") } else { (&*colour(share), "#dddddd") };
            canvas.rect(corner, (cell, cell), fill, edge);
            let Some(found) = found.filter(|_| cell >= 22.0) else { continue };
            let ink = if share > 0.5 { "#ffffff" } else { "#222222" };
            let middle = corner.0 + cell / 2.0;
            let two = cell >= 46.0;
            let line = y + cell / 2.0 + if two { -1.0 } else { size * 0.36 };
            canvas.styled((middle, line), size, TextAnchor::Middle, ink, a == b, &found.percent);
            if two {
                let below = (middle, line + size + 1.0);
                canvas.styled(below, size * 0.75, TextAnchor::Middle, ink, false, &found.count.to_string());
            }
        }
    }
    canvas.turned((20.0, top + side / 2.0), 12.0, -90.0, TextAnchor::Middle, "true class");
    let below = (left + side / 2.0, top + side + 20.0);
    canvas.text(below, 12.0, TextAnchor::Middle, "given class (columns, as named above)");
    if chart.tested.contains(&0.0) {
        let below = (left, top + side + 36.0);
        canvas.text(below, 11.0, TextAnchor::Start, "grey rows: no sample of this class was tested");
    }
    canvas.finish()
}

/// From white to dark blue.
fn colour(share: f64) -> String {
    let part = |end: f64| (255.0 + (end - 255.0) * share.clamp(0.0, 1.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(82.0), part(140.0))
}

#[cfg(test)]
mod tests {
    use super::colour;

    #[test]
    fn colours_go_from_white_to_blue() {
        assert_eq!((colour(0.0), colour(1.0)), ("#ffffff".to_owned(), "#00528c".to_owned()));
    }
}
