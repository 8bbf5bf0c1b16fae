//! The nearest-neighbour rule in the projected space.

use faer::MatRef;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::check_finite;
use crate::error::{Error, Result};
use crate::linalg::vectorized;
use crate::named::Named;

/// Distances that are computed at a time: few enough to stay in the fastest cache.
const CHUNK: usize = 1024;

/// How two projected samples are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The Euclidean distance, the paper's.
    #[default]
    Euclidean,
    /// One minus the cosine of the angle between them.
    Cosine,
}

impl Named for Metric {
    const PARAMETER: &'static str = "metric";
    const ALL: &'static [Self] = &[Metric::Euclidean, Metric::Cosine];

    fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "euclidean",
            Metric::Cosine => "cosine",
        }
    }
}

impl Metric {
    /// The distance. The cosine distance from or to a vector without direction is 1.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self {
            Metric::Euclidean => x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
            Metric::Cosine => {
                let lengths = inner(x, x).sqrt() * inner(y, y).sqrt();
                if lengths > 0.0 { (1.0 - inner(x, y) / lengths).max(0.0) } else { 1.0 }
            }
        }
    }
}

impl Metric {
    /// The distance of the first entries, of the first two, and so on: the same numbers as [`Self::distance`] of each.
    pub(crate) fn distances_by_dimension<'a>(
        self,
        x: &'a [f64],
        y: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let (mut squares, mut inner, mut xx, mut yy) = (0.0, 0.0, 0.0, 0.0);
        x.iter().zip(y).map(move |(x, y)| match self {
            Metric::Euclidean => {
                squares += (x - y) * (x - y);
                f64::sqrt(squares)
            }
            Metric::Cosine => {
                inner += x * y;
                xx += x * x;
                yy += y * y;
                let lengths = f64::sqrt(xx) * f64::sqrt(yy);
                if lengths > 0.0 { (1.0 - inner / lengths).max(0.0) } else { 1.0 }
            }
        })
    }
}

/// The class given to a sample, and the distance to the nearest gallery sample of that class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The class, as in the gallery's `classes`.
    pub class: usize,
    /// The distance to the nearest voter of that class.
    pub distance: f64,
}

/// Classifies each row of `samples` by its `k` nearest rows of `gallery`.
///
/// Distance ties go to the lower gallery row; among equally many votes, to the class of the nearest voter.
///
/// # Errors
/// When sizes disagree, `k` is 0, the gallery is empty, or a value is not finite.
pub fn nearest_neighbors(
    gallery: MatRef<'_, f64>,
    classes: &[usize],
    samples: MatRef<'_, f64>,
    k: usize,
    metric: Metric,
) -> Result<Vec<Prediction>> {
    if gallery.nrows() == 0 {
        return Err(Error::Empty { rows: 0, columns: gallery.ncols() });
    }
    if classes.len() != gallery.nrows() {
        let why = format!("the gallery has {} rows", gallery.nrows());
        return Err(Error::Size { what: "`classes`", given: classes.len(), expected: gallery.nrows(), why });
    }
    if samples.ncols() != gallery.ncols() {
        let why = format!("the gallery has {} columns", gallery.ncols());
        return Err(Error::Size { what: "a sample", given: samples.ncols(), expected: gallery.ncols(), why });
    }
    if k == 0 {
        return Err(Error::parameter("neighbors", 0, ">= 1"));
    }
    check_finite("the gallery", gallery)?;
    check_finite("the samples", samples)?;
    let known = Gallery::new(gallery, metric);
    let predict = |distances: &mut Vec<f64>, i: usize| {
        let sample: Vec<f64> = samples.row(i).iter().copied().collect();
        known.distances(&sample, distances);
        if k == 1 {
            let (j, distance) = nearest(distances);
            return Prediction { class: classes[j], distance };
        }
        let mut near: Vec<(f64, usize)> = distances.iter().copied().zip(0..).collect();
        let k = k.min(near.len());
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        near.select_nth_unstable_by(k - 1, order);
        near.truncate(k);
        near.sort_unstable_by(order);
        vote(&near, classes)
    };
    Ok((0..samples.nrows()).into_par_iter().map_init(Vec::new, predict).collect())
}

/// Known samples, one coordinate after the other, so that all distances to a sample are computed side by side: the same
/// numbers as [`Metric::distance`] of each.
struct Gallery {
    columns: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    metric: Metric,
}

impl Gallery {
    fn new(gallery: MatRef<'_, f64>, metric: Metric) -> Self {
        let columns: Vec<Vec<f64>> = gallery.col_iter().map(|x| x.iter().copied().collect()).collect();
        let mut lengths = vec![0.0; gallery.nrows()];
        for column in &columns {
            lengths.iter_mut().zip(column).for_each(|(length, x)| *length += x * x);
        }
        lengths.iter_mut().for_each(|length| *length = f64::sqrt(*length));
        Gallery { columns, lengths, metric }
    }

    fn distances(&self, sample: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.lengths.len(), 0.0);
        let length = sample.iter().map(|x| x * x).sum::<f64>().sqrt();
        vectorized(
            #[inline(always)]
            || {
                let parts = out.chunks_mut(CHUNK).zip(self.lengths.chunks(CHUNK)).enumerate();
                for (c, (out, lengths)) in parts {
                    for (x, column) in sample.iter().zip(&self.columns) {
                        let column = &column[c * CHUNK..c * CHUNK + out.len()];
                        match self.metric {
                            Metric::Euclidean => {
                                out.iter_mut().zip(column).for_each(|(out, y)| *out += (x - y) * (x - y));
                            }
                            Metric::Cosine => out.iter_mut().zip(column).for_each(|(out, y)| *out += x * y),
                        }
                    }
                    match self.metric {
                        Metric::Euclidean => out.iter_mut().for_each(|out| *out = out.sqrt()),
                        Metric::Cosine => {
                            for (out, other) in out.iter_mut().zip(lengths) {
                                let lengths = length * other;
                                *out = if lengths > 0.0 { (1.0 - *out / lengths).max(0.0) } else { 1.0 };
                            }
                        }
                    }
                }
            },
        );
    }
}

/// The smallest distance, and the first place where it is.
fn nearest(distances: &[f64]) -> (usize, f64) {
    let lowest = |values: &[f64]| values.iter().fold(f64::INFINITY, |low, &x| if x < low { x } else { low });
    let (mut part, mut least) = (0, f64::INFINITY);
    for (c, values) in distances.chunks(CHUNK).enumerate() {
        let low = lowest(values);
        if low < least {
            (part, least) = (c, low);
        }
    }
    let start = part * CHUNK;
    let place = distances[start..].iter().position(|&x| x == least).unwrap_or(0);
    (start + place, least)
}

/// The class most of the voters, nearest first, belong to.
fn vote(near: &[(f64, usize)], classes: &[usize]) -> Prediction {
    let votes = |class: usize| near.iter().filter(|&&(_, j)| classes[j] == class).count();
    let mut best = (0, 0);
    for (place, &(_, j)) in near.iter().enumerate() {
        let count = votes(classes[j]);
        if count > best.0 {
            best = (count, place);
        }
    }
    let (distance, j) = near[best.1];
    Prediction { class: classes[j], distance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn ties_go_to_the_lower_row_and_the_nearest_voter() {
        let gallery = mat![[1.0], [-1.0], [2.0], [-3.0], [3.0f64]];
        let one = |k| {
            nearest_neighbors(gallery.as_ref(), &[7, 8, 8, 7, 9], mat![[0.0]].as_ref(), k, Metric::Euclidean)
        };
        assert_eq!(one(1).unwrap(), [Prediction { class: 7, distance: 1.0 }]);
        assert_eq!(one(3).unwrap(), [Prediction { class: 8, distance: 1.0 }]);
        assert_eq!(one(4).unwrap()[0].class, 7, "two votes each: the nearest decides");
        assert_eq!(one(99).unwrap()[0].class, 7);
        assert!(one(0).is_err());
    }

    #[test]
    fn side_by_side_they_are_the_same_distances() {
        let gallery = faer::Mat::from_fn(2500, 5, |i, k| ((i * 31 + k * 17 + i * k) % 23) as f64 - 11.0);
        for metric in [Metric::Euclidean, Metric::Cosine] {
            let (known, mut found) = (Gallery::new(gallery.as_ref(), metric), Vec::new());
            for sample in [[0.0; 5], [1.0, -2.0, 0.5, 3.0, 7.0], [-11.0, 3.0, 3.0, 0.1, 0.0]] {
                known.distances(&sample, &mut found);
                let expected: Vec<f64> = gallery
                    .row_iter()
                    .map(|row| metric.distance(&sample, &row.iter().copied().collect::<Vec<_>>()))
                    .collect();
                assert_eq!(found, expected);
                let first = (0..2500).min_by(|&a, &b| expected[a].total_cmp(&expected[b])).unwrap();
                assert_eq!(nearest(&found), (first, expected[first]));
            }
        }
    }

    #[test]
    fn cosine_ignores_length() {
        assert!(Metric::Cosine.distance(&[1.0, 1.0], &[5.0, 5.0]) < 1e-15);
        assert_eq!(Metric::Cosine.distance(&[1.0, 0.0], &[0.0, 3.0]), 1.0);
        assert_eq!(Metric::Cosine.distance(&[0.0, 0.0], &[0.0, 3.0]), 1.0);
        assert_eq!(Metric::Euclidean.distance(&[0.0, 0.0], &[4.0, 3.0]), 5.0);
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let x = mat![[1.0, 2.0f64]];
        let run = |gallery: MatRef<'_, f64>, classes: &[usize], samples: MatRef<'_, f64>| {
            nearest_neighbors(gallery, classes, samples, 1, Metric::Cosine)
        };
        assert!(run(x.as_ref(), &[0, 1], x.as_ref()).is_err());
        assert!(run(x.as_ref(), &[0], x.subcols(0, 1)).is_err());
        assert!(run(x.subrows(0, 0), &[], x.as_ref()).is_err());
    }
}
