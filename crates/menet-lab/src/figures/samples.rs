//! A few images of the set, one row per class.

use super::canvas::{Canvas, TextAnchor};
use super::pictures::{fitted, sample};
use crate::names::{setting, shown};
use crate::study::Showcase;

const ROOM: f64 = 84.0;
const GAP: f64 = 8.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 56.0;

/// None where samples are not images, or there are none.
pub(super) fn figure(showcase: &Showcase) -> Option<String> {
    let shape = showcase.image_shape.filter(|_| !showcase.samples.is_empty())?;
    let rows = by_class(&showcase.samples);
    let all = || showcase.samples.iter().flat_map(|(_, values)| values.iter().copied());
    let range = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let (w, h) = fitted(shape, ROOM);
    let columns = rows.iter().map(|(_, samples)| samples.len()).max().unwrap_or(0);
    let width = (LEFT + columns as f64 * (w + GAP) + 16.0).max(620.0);
    let mut canvas = Canvas::new(width, TOP + rows.len() as f64 * (h + GAP) + 12.0);
    let what = setting(&showcase.data, showcase.train_per_class);
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &format!("Samples: {what}"));
    canvas.text((16.0, 45.0), 12.0, TextAnchor::Start, "the first samples of the first classes, whatever the split; one row per class, one grey scale for all");
    for (r, (class, samples)) in rows.iter().enumerate() {
        let y = TOP + r as f64 * (h + GAP);
        canvas.text((LEFT - 12.0, y + h / 2.0 + 5.0), 13.0, TextAnchor::End, &shown(class, 14));
        for (c, values) in samples.iter().enumerate() {
            canvas.picture((LEFT + c as f64 * (w + GAP), y), (w, h), &sample(shape, values, range));
        }
    }
    Some(canvas.finish())
}

/// Samples grouped by class, in order of first appearance.
pub(crate) fn by_class(samples: &[(String, Vec<f64>)]) -> Vec<(&str, Vec<&[f64]>)> {
    let mut rows: Vec<(&str, Vec<&[f64]>)> = Vec::new();
    for (class, values) in samples {
        match rows.iter_mut().find(|(name, _)| name == class) {
            Some((_, row)) => row.push(values),
            None => rows.push((class, vec![values])),
        }
    }
    rows
}
