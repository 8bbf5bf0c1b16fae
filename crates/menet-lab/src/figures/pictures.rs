//! Samples and axes as pictures.

use image::{Rgb, RgbImage};
use menet::sparse::SparseVector;

use super::canvas::{Canvas, TextAnchor};
use crate::palette::{diverging, strength};

/// The largest absolute weight.
pub(super) fn largest(axis: &SparseVector) -> f64 {
    axis.values().iter().fold(0.0, |m: f64, w| m.max(w.abs()))
}

/// An axis: every pixel in the colour of its weight over the axis's largest.
pub(super) fn axis((height, width): (usize, usize), axis: &SparseVector) -> RgbImage {
    let largest = largest(axis);
    let mut picture = RgbImage::from_pixel(width as u32, height as u32, Rgb([255; 3]));
    for (j, weight) in axis.iter() {
        let (x, y) = ((j % width) as u32, (j / width) as u32);
        picture.put_pixel(x, y, Rgb(diverging(strength(weight, largest))));
    }
    picture
}

/// A sample in greys, black at `low` and white at `high`.
pub(super) fn sample((height, width): (usize, usize), values: &[f64], (low, high): (f64, f64)) -> RgbImage {
    let span = if high > low { high - low } else { 1.0 };
    RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let value = values[y as usize * width + x as usize];
        Rgb([((value - low) / span * 255.0).clamp(0.0, 255.0) as u8; 3])
    })
}

/// The size at which an image of a shape fits a square of `room`.
pub(super) fn fitted((height, width): (usize, usize), room: f64) -> (f64, f64) {
    let scale = room / height.max(width).max(1) as f64;
    (width as f64 * scale, height as f64 * scale)
}

/// The key of the diverging scale, `length` wide, with its top left corner at a place.
pub(super) fn key(canvas: &mut Canvas, at: (f64, f64), length: f64) {
    key_of(canvas, at, length, "weight over the axis's largest absolute weight (square-root scale)");
}

/// Like [`key`], with a note on what the colours show.
pub(super) fn key_of(canvas: &mut Canvas, (x, y): (f64, f64), length: f64, note: &str) {
    let strip = RgbImage::from_fn(101, 1, |i, _| Rgb(diverging(f64::from(i) / 50.0 - 1.0)));
    canvas.picture((x, y), (length, 12.0), &strip);
    let ticks = [(-1.0, "−1"), (-0.5, "−¼"), (0.0, "0"), (0.5, "¼"), (1.0, "1")];
    for (place, label) in ticks {
        let at = x + length * (place + 1.0) / 2.0;
        canvas.line((at, y + 12.0), (at, y + 16.0), "#222222", 1.0);
        canvas.text((at, y + 28.0), 11.0, TextAnchor::Middle, label);
    }
    canvas.text((x + length + 24.0, y + 13.0), 12.0, TextAnchor::Start, note);
}
