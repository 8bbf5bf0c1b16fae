//! Which classes the held-out samples of every class were given.

use super::super::canvas::{Canvas, TextAnchor};
use super::values::{class, longest, percent};
use crate::names::shown;
use crate::validate::Validation;

const TOP: f64 = 62.0;

/// None where nothing was tested.
pub(super) fn figure(validation: &Validation) -> Option<String> {
    let method = validation.methods.first()?;
    let classes = validation.classes.len();
    if method.confusion.iter().flatten().all(|&count| count == 0) {
        return None;
    }
    let cell = (620.0 / classes as f64).clamp(13.0, 84.0);
    let size = (cell * 0.22).clamp(8.0, 14.0);
    let name = size.clamp(9.0, 12.0);
    let rows: Vec<String> = (0..classes).map(|number| class(validation, number, 21)).collect();
    let columns: Vec<String> = (0..classes).map(|number| class(validation, number, 16)).collect();
    let (left, top) = (longest(&rows, name) + 52.0, TOP + 0.71 * longest(&columns, name) + 18.0);
    let side = cell * classes as f64;
    let mut canvas = Canvas::new((left + side + 120.0).max(700.0), top + side + 40.0);
    let title = format!("What held-out samples were taken for: {}", shown(&validation.data, 22));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let balanced = percent(&method.balanced);
    let note = format!("percent of every class, over all repeats; balanced accuracy {balanced}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    for (a, row) in method.confusion.iter().enumerate() {
        let (x, y) = (left + a as f64 * cell, top + a as f64 * cell);
        canvas.text((left - 8.0, y + cell / 2.0 + name * 0.36), name, TextAnchor::End, &rows[a]);
        canvas.turned((x + cell / 2.0 + 3.0, top - 8.0), name, -45.0, TextAnchor::Start, &columns[a]);
        let total: usize = row.iter().sum();
        for (b, &count) in row.iter().enumerate() {
            let corner = (left + b as f64 * cell, y);
            if total == 0 {
                canvas.rect(corner, (cell, cell), "#eeeeee", "#ffffff");
                continue;
            }
            let share = count as f64 / total as f64;
            canvas.rect(corner, (cell, cell), &colour(share), "#dddddd");
            if count == 0 || cell < 22.0 {
                continue;
            }
            let ink = if share > 0.5 { "#ffffff" } else { "#222222" };
            let middle = corner.0 + cell / 2.0;
            let two = cell >= 46.0;
            let line = y + cell / 2.0 + if two { -1.0 } else { size * 0.36 };
            canvas.styled((middle, line), size, TextAnchor::Middle, ink, a == b, &whole_percent(share));
            if two {
                let below = format!("{count}");
                canvas.styled(
                    (middle, line + size + 1.0),
                    size * 0.75,
                    TextAnchor::Middle,
                    ink,
                    false,
                    &below,
                );
            }
        }
    }
    canvas.turned((20.0, top + side / 2.0), 12.0, -90.0, TextAnchor::Middle, "true class");
    canvas.text(
        (left + side / 2.0, top + side + 20.0),
        12.0,
        TextAnchor::Middle,
        "given class (columns, as named above)",
    );
    if method.confusion.iter().any(|row| row.iter().sum::<usize>() == 0) {
        canvas.text(
            (left, top + side + 36.0),
            11.0,
            TextAnchor::Start,
            "grey rows: no sample of this class was tested",
        );
    }
    Some(canvas.finish())
}

/// From white to dark blue.
fn colour(share: f64) -> String {
    let part = |end: f64| (255.0 + (end - 255.0) * share.clamp(0.0, 1.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(82.0), part(140.0))
}

/// A share that is not zero never reads 0, and one that is not all never reads 100.
fn whole_percent(share: f64) -> String {
    match (100.0 * share).round() {
        0.0 if share > 0.0 => "<1".to_owned(),
        100.0 if share < 1.0 => ">99".to_owned(),
        whole => format!("{whole:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_honest_at_the_ends() {
        let read = [0.0, 0.001, 0.5, 0.999, 1.0].map(whole_percent);
        assert_eq!(read, ["0", "<1", "50", ">99", "100"]);
        assert_eq!((colour(0.0), colour(1.0)), ("#ffffff".to_owned(), "#00528c".to_owned()));
    }
}
