//! The annotated path: the first ten variables that enter column 1, and what the axis looks like as each does.
//!
//! A variable has one colour, for its line, its circle and its crosses. A variable enters with coefficient zero, so
//! the axis is shown at the next knot, where the step that the entry begins has ended.

use menet::Men;
use menet::lars::Path;

use super::bars::{Bar, STEP, panel};
use super::canvas::{Canvas, TextAnchor};
use super::lines::{self, Frame};
use super::pictures::{axis, fitted, key};
use crate::charts::lines::Lines;
use crate::charts::paths::paths;
use crate::names::{setting, shown, split, variable};
use crate::palette::{LOOKS, look};
use crate::study::Showcase;

const WIDTH: f64 = 1080.0;
const CHART: f64 = 470.0;
const ACROSS: usize = 5;

/// None where there is no model of MEN, or it was stored without its paths.
pub(super) fn figure(showcase: &Showcase) -> Option<String> {
    let men = showcase.men.as_ref()?;
    let path = men.paths().first()?;
    let entries = entries(path);
    let last = entries.last()?.knot;
    let what = shown(&setting(&showcase.data, showcase.train_per_class), 80);
    let drawn = Lines {
        title: format!("The first variables to enter column 1: {what}"),
        note: format!("one colour per variable, for its line above and its marks below; {}", split(showcase)),
        ..paths(men, path, last + 1)
    };
    let drawn = lines::svg(&drawn, Frame { size: (WIDTH, CHART), ..Frame::default() });
    Some(match showcase.image_shape {
        Some(shape) => pictures(showcase, men, path, &entries, shape, &drawn),
        None => bars(showcase, path, &entries, &drawn),
    })
}

/// One variable's first entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstEntry {
    pub(super) variable: usize,
    /// The knot that ends the step which the entry begins.
    pub(super) knot: usize,
}

/// The first entries of a path.
fn entries(path: &Path) -> Vec<FirstEntry> {
    let last = path.knots().len() - 1;
    let first = |variable| {
        let entered = path.knots().iter().position(|knot| knot.entered.contains(&variable));
        entered.map(|knot| FirstEntry { variable, knot: (knot + 1).min(last) })
    };
    path.order_of_entry().into_iter().take(LOOKS).filter_map(first).collect()
}

fn pictures(
    showcase: &Showcase,
    men: &Men,
    path: &Path,
    entries: &[FirstEntry],
    shape: (usize, usize),
    drawn: &str,
) -> String {
    let (cell, (w, h)) = (WIDTH / ACROSS as f64, fitted(shape, 180.0));
    let step = h + 42.0;
    let rows = entries.len().div_ceil(ACROSS);
    let top = CHART + 54.0;
    let mut canvas = Canvas::new(WIDTH, top + rows as f64 * step + 60.0);
    canvas.embed((0.0, 0.0), drawn);
    let note = "The axis W at the end of the step that each entry begins: circle, the variable that entered; crosses, the others in use";
    canvas.text((20.0, CHART + 16.0), 12.0, TextAnchor::Start, note);
    // Marks stay apart from the pixels below them at any resolution.
    let scale = w / shape.1 as f64;
    let centre = |j: usize, (x, y): (f64, f64)| {
        (x + ((j % shape.1) as f64 + 0.5) * scale, y + ((j / shape.1) as f64 + 0.5) * scale)
    };
    for (i, entry) in entries.iter().enumerate() {
        let colour = look(i).colour;
        let x = (i % ACROSS) as f64 * cell + (cell - w) / 2.0;
        let y = top + (i / ACROSS) as f64 * step;
        let coefficients = &path.knots()[entry.knot].coefficients;
        let label = format!("{}. {}", i + 1, shown(&variable(showcase, entry.variable), 20));
        canvas.styled((x, y - 12.0), 12.0, TextAnchor::Start, colour, true, &label);
        canvas.picture((x, y), (w, h), &axis(shape, &men.weights(coefficients)));
        for &j in coefficients.indices().iter().filter(|&&j| j != entry.variable) {
            canvas.cross(centre(j, (x, y)), (scale * 0.45).max(2.5), colour, 1.4);
        }
        canvas.circle(centre(entry.variable, (x, y)), (scale * 1.2).max(6.0), colour, 2.2);
    }
    key(&mut canvas, (20.0, top + rows as f64 * step + 4.0), 200.0);
    canvas.finish()
}

fn bars(showcase: &Showcase, path: &Path, entries: &[FirstEntry], drawn: &str) -> String {
    let cell = WIDTH / ACROSS as f64;
    let most = |row: &[FirstEntry]| {
        row.iter().map(|entry| path.knots()[entry.knot].coefficients.nonzeros()).max().unwrap_or(0)
    };
    let heights: Vec<f64> = entries.chunks(ACROSS).map(|row| most(row) as f64 * STEP + 48.0).collect();
    let top = CHART + 48.0;
    let mut canvas = Canvas::new(WIDTH, top + heights.iter().sum::<f64>());
    canvas.embed((0.0, 0.0), drawn);
    let note = "The coefficients at the end of the step that each entry begins; in colour, the variable that entered";
    canvas.text((20.0, CHART + 16.0), 12.0, TextAnchor::Start, note);
    for (i, entry) in entries.iter().enumerate() {
        let colour = look(i).colour;
        let x = (i % ACROSS) as f64 * cell + 4.0;
        let y = top + heights[..i / ACROSS].iter().sum::<f64>();
        let label = format!("{}. {}", i + 1, shown(&variable(showcase, entry.variable), 20));
        canvas.styled((x + 12.0, y), 12.0, TextAnchor::Start, colour, true, &label);
        let weights = &path.knots()[entry.knot].coefficients;
        // In order of entry, the newest last.
        let order = path.order_of_entry().into_iter().filter(|&j| weights.get(j) != 0.0);
        let bars: Vec<Bar> = order
            .map(|j| Bar {
                name: variable(showcase, j),
                weight: weights.get(j),
                colour: if j == entry.variable { colour } else { "#9a9a9a" }.to_owned(),
                marked: j == entry.variable,
            })
            .collect();
        panel(&mut canvas, (x, y + 8.0), (cell - 16.0, 100.0), &bars);
    }
    canvas.finish()
}
