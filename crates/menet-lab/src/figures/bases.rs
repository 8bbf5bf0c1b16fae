//! The first axes of every method: as pictures if samples are, else as bars of the heaviest variables.

use menet::Projection;
use menet::sparse::SparseVector;

use super::bars::{Bar, STEP, panel};
use super::canvas::{Canvas, TextAnchor};
use super::pictures::{axis, fitted, key};
use crate::names::{setting, shown, split, variable};
use crate::study::Showcase;

/// How many axes are shown as pictures, as in the paper, and how many as bars.
const PICTURES: usize = 10;
const BARS: usize = 4;

/// How many variables of an axis bars show.
const HEAVIEST: usize = 12;

const LEFT: f64 = 134.0;
const TOP: f64 = 78.0;

/// None where nothing was learned.
pub(super) fn figure(showcase: &Showcase) -> Option<String> {
    if showcase.bases.iter().all(|(_, projection)| projection.components() == 0) {
        return None;
    }
    Some(match showcase.image_shape {
        Some(shape) => pictures(showcase, shape),
        None => bars(showcase),
    })
}

fn pictures(showcase: &Showcase, shape: (usize, usize)) -> String {
    let (gap, (w, h)) = (8.0, fitted(shape, 84.0));
    let columns = columns(&showcase.bases, PICTURES);
    let width = (LEFT + columns as f64 * (w + gap) + 16.0).max(760.0);
    let bottom = TOP + showcase.bases.len() as f64 * (h + gap);
    let mut canvas = Canvas::new(width, bottom + 52.0);
    let what = setting(&showcase.data, showcase.train_per_class);
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &format!("The first axes of every method: {what}"));
    let note = "columns of W: white pixels do not count, blue count against, orange for";
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &format!("{note}; {}", split(showcase)));
    for c in 0..columns {
        let x = LEFT + c as f64 * (w + gap) + w / 2.0;
        canvas.text((x, TOP - 8.0), 12.0, TextAnchor::Middle, &(c + 1).to_string());
    }
    for (r, (method, projection)) in showcase.bases.iter().enumerate() {
        let y = TOP + r as f64 * (h + gap);
        canvas.title((LEFT - 12.0, y + h / 2.0 + 5.0), 13.0, TextAnchor::End, &shown(method, 13));
        for (c, weights) in projection.axes().iter().take(columns).enumerate() {
            canvas.picture((LEFT + c as f64 * (w + gap), y), (w, h), &axis(shape, weights));
        }
    }
    key(&mut canvas, (LEFT, bottom + 10.0), 200.0);
    canvas.finish()
}

fn bars(showcase: &Showcase) -> String {
    let width = 290.0;
    let columns = columns(&showcase.bases, BARS);
    let rows = |w: &Projection| w.axes().iter().take(columns).map(|axis| heaviest(axis).len()).max();
    let heights: Vec<f64> =
        showcase.bases.iter().map(|(_, w)| rows(w).unwrap_or(0) as f64 * STEP + 44.0).collect();
    let all = (LEFT + columns as f64 * width + 16.0).max(760.0);
    let mut canvas = Canvas::new(all, TOP + heights.iter().sum::<f64>());
    let what = setting(&showcase.data, showcase.train_per_class);
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &format!("The first axes of every method: {what}"));
    let note = format!(
        "the {HEAVIEST} heaviest weights of each axis; blue: against, orange: for; {}",
        split(showcase)
    );
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    for (r, (method, projection)) in showcase.bases.iter().enumerate() {
        let y = TOP + heights[..r].iter().sum::<f64>();
        canvas.title((16.0, y + 14.0), 13.0, TextAnchor::Start, &shown(method, 13));
        for (c, weights) in projection.axes().iter().take(columns).enumerate() {
            let x = LEFT + c as f64 * width;
            canvas.text((x + 118.0, y), 12.0, TextAnchor::Start, &format!("axis {}", c + 1));
            let bars: Vec<Bar> = heaviest(weights)
                .into_iter()
                .map(|(j, weight)| Bar {
                    name: variable(showcase, j),
                    weight,
                    colour: if weight < 0.0 { "#004488" } else { "#b34700" }.to_owned(),
                    marked: false,
                })
                .collect();
            panel(&mut canvas, (x, y + 6.0), (width - 20.0, 118.0), &bars);
        }
    }
    canvas.finish()
}

/// As many columns as the richest method fills, at most `most`.
fn columns(bases: &[(String, Projection)], most: usize) -> usize {
    bases.iter().map(|(_, projection)| projection.components()).max().unwrap_or(0).min(most)
}

/// The heaviest weights of an axis, heaviest first.
pub(crate) fn heaviest(axis: &SparseVector) -> Vec<(usize, f64)> {
    let mut weights: Vec<(usize, f64)> = axis.iter().collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    weights.truncate(HEAVIEST);
    weights
}
