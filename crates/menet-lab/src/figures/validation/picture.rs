//! The panel of images as pictures, one per axis: weight × standard deviation, since weights alone make the quietest pixels darkest.

use menet::Dataset;
use menet::sparse::SparseVector;

use super::super::canvas::{Canvas, TextAnchor};
use super::super::pictures::{axis, fitted, key_of};
use crate::charts::effects::VariableEffect;
use crate::charts::text::counted;
use crate::names::shown;
use crate::validate::Validation;

const AXES: usize = 18;
const ACROSS: usize = 6;
const ROOM: f64 = 150.0;
const GAP: f64 = 12.0;
const TOP: f64 = 62.0;

/// The chart as an SVG.
pub(super) fn svg(all: &[Vec<VariableEffect>], validation: &Validation, data: &Dataset<'_>) -> String {
    let shape = data.image_shape().unwrap_or((1, data.variables()));
    let axes = &all[..all.len().min(AXES)];
    let (w, h) = fitted(shape, ROOM);
    let across = axes.len().min(ACROSS);
    let step = h + 28.0;
    let bottom = TOP + axes.len().div_ceil(ACROSS) as f64 * step;
    let width = (32.0 + across as f64 * (w + GAP)).max(760.0);
    let mut canvas = Canvas::new(width, bottom + 48.0);
    let title = format!("The pixels of the panel, axis by axis: {}", shown(&validation.data, 28));
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &title);
    let cut = if all.len() > AXES { format!("; {AXES} of {} axes", all.len()) } else { String::new() };
    let panel = counted(validation.panel.len(), "pixel");
    let note = format!("weight × standard deviation; blue counts against, orange for; {panel} in all{cut}");
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &note);
    for (k, effects) in axes.iter().enumerate() {
        let x = 16.0 + (k % ACROSS) as f64 * (w + GAP);
        let y = TOP + (k / ACROSS) as f64 * step;
        let weights = SparseVector::from_pairs(effects.iter().map(|e| (e.variable, e.value)).collect());
        let label = format!("axis {}: {}", k + 1, counted(effects.len(), "pixel"));
        canvas.text((x, y + 12.0), 11.0, TextAnchor::Start, &label);
        canvas.picture((x, y + 18.0), (w, h), &axis(shape, &weights));
    }
    key_of(
        &mut canvas,
        (16.0, bottom + 8.0),
        200.0,
        "weight × standard deviation over the axis's largest (square-root scale)",
    );
    canvas.finish()
}
