//! Recognition by the nearest neighbour, at every dimension in one pass.

use std::collections::BTreeMap;

use faer::MatRef;

use super::mistakes::Mistake;
use crate::error::{Error, Result};
use crate::numerics::finite::check_finite;
use crate::rules::Metric;

/// How well samples are recognised at one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// How many samples are right.
    pub right: usize,
    /// How many samples were tested.
    pub tested: usize,
    /// The mean, over the tested, of `(e − s)/(e + s)` for the distances s to the nearest training sample of the same
    /// class and e to the nearest of another: a measure between −1 and 1 of how clear the decisions are.
    pub margin: f64,
}

impl Score {
    /// The rate in percent.
    pub fn rate(&self) -> f64 {
        100.0 * self.right as f64 / self.tested as f64
    }
}

/// What became of the samples at one dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recognition {
    /// The dimension.
    pub dimension: usize,
    /// How many were right, and how clearly.
    pub score: Score,
    /// The others, by class and then by the class they were given.
    pub mistakes: Vec<Mistake>,
}

/// [`recognitions`] without the mistakes.
///
/// # Errors
/// As there.
pub fn scores(
    gallery: MatRef<'_, f64>,
    gallery_classes: &[usize],
    samples: MatRef<'_, f64>,
    sample_classes: &[usize],
    dimensions: &[usize],
    metric: Metric,
) -> Result<Vec<(usize, Score)>> {
    let found = recognitions(gallery, gallery_classes, samples, sample_classes, dimensions, metric)?;
    Ok(found.into_iter().map(|found| (found.dimension, found.score)).collect())
}

/// Recognition by the nearest gallery sample, at each of `dimensions`: a dimension d uses the first d columns. Dimensions beyond
/// the columns are left out. One pass over the pairs serves all.
///
/// The gallery sample chosen is that of [`crate::rules::nearest_neighbors`].
///
/// # Errors
/// When sizes disagree, a value is not finite, or there is nothing to compare.
pub fn recognitions(
    gallery: MatRef<'_, f64>,
    gallery_classes: &[usize],
    samples: MatRef<'_, f64>,
    sample_classes: &[usize],
    dimensions: &[usize],
    metric: Metric,
) -> Result<Vec<Recognition>> {
    let d = gallery.ncols();
    for (what, given, expected, of) in [
        ("a sample", samples.ncols(), d, "columns"),
        ("`gallery_classes`", gallery_classes.len(), gallery.nrows(), "rows"),
    ] {
        if given != expected {
            let why = format!("the gallery has {expected} {of}");
            return Err(Error::Size { what, given, expected, why });
        }
    }
    if sample_classes.len() != samples.nrows() {
        let (given, expected) = (sample_classes.len(), samples.nrows());
        let why = format!("there are {expected} samples");
        return Err(Error::Size { what: "`sample_classes`", given, expected, why });
    }
    if gallery.nrows() == 0 || samples.nrows() == 0 {
        return Err(Error::Empty { rows: gallery.nrows().min(samples.nrows()), columns: d });
    }
    check_finite("the gallery", gallery)?;
    check_finite("the samples", samples)?;
    let wanted: Vec<usize> = dimensions.iter().copied().filter(|&dim| (1..=d).contains(&dim)).collect();
    let row = |x: MatRef<'_, f64>, i: usize| -> Vec<f64> { x.row(i).iter().copied().collect() };
    let known: Vec<Vec<f64>> = (0..gallery.nrows()).map(|i| row(gallery, i)).collect();
    let mut totals = vec![Score { right: 0, tested: 0, margin: 0.0 }; d];
    let mut mistakes: Vec<BTreeMap<(usize, usize), usize>> = vec![BTreeMap::new(); d];
    // By dimension, the nearest of the own class and of others: distance and place.
    let far = (f64::INFINITY, usize::MAX);
    let mut nearest = vec![[far; 2]; d];
    for i in 0..samples.nrows() {
        let sample = row(samples, i);
        nearest.fill([far; 2]);
        for (place, known) in known.iter().enumerate() {
            let other = usize::from(gallery_classes[place] != sample_classes[i]);
            let mut distances = metric.distances_by_dimension(&sample, known);
            for near in &mut nearest {
                let found = (distances.next().unwrap_or(f64::INFINITY), place);
                if found.0 < near[other].0 {
                    near[other] = found;
                }
            }
        }
        for (k, [own, other]) in nearest.iter().enumerate() {
            let right = own.0 < other.0 || (own.0 == other.0 && own.1 < other.1);
            if !right {
                *mistakes[k].entry((sample_classes[i], gallery_classes[other.1])).or_insert(0) += 1;
            }
            let total = &mut totals[k];
            total.right += usize::from(right);
            total.tested += 1;
            total.margin += match (own.0.is_finite(), other.0.is_finite()) {
                (true, true) if own.0 + other.0 > 0.0 => (other.0 - own.0) / (other.0 + own.0),
                (true, false) => 1.0,
                (false, _) => -1.0,
                _ => 0.0,
            };
        }
    }
    let found = |dimension: usize| {
        let Score { right, tested, margin } = totals[dimension - 1];
        let score = Score { right, tested, margin: margin / tested as f64 };
        let counted = mistakes[dimension - 1].iter();
        let mistakes = counted.map(|(&(class, taken_for), &count)| Mistake { class, taken_for, count });
        Recognition { dimension, score, mistakes: mistakes.collect() }
    };
    Ok(wanted.into_iter().map(found).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;
    use crate::named::Named;
    use crate::rules::nearest_neighbors;
    use faer::Mat;

    #[test]
    fn scores_at_every_dimension_are_those_of_the_nearest_neighbour_rule() {
        // Whole numbers: many distances tie.
        let (gallery, samples) = (data(&[9, 9, 9]), data(&[5, 6, 7]));
        for &metric in Metric::ALL {
            let found = scores(
                gallery.x().unwrap(),
                gallery.class_indices(),
                samples.x().unwrap(),
                samples.class_indices(),
                &[1, 2, 3, 4],
                metric,
            )
            .unwrap();
            assert_eq!(found.iter().map(|(dim, _)| *dim).collect::<Vec<_>>(), [1, 2, 3]);
            for (dim, score) in found {
                let (known, asked) =
                    (gallery.x().unwrap().subcols(0, dim), samples.x().unwrap().subcols(0, dim));
                let predicted = nearest_neighbors(known, gallery.class_indices(), asked, 1, metric).unwrap();
                let right = predicted
                    .iter()
                    .zip(samples.class_indices())
                    .filter(|(p, class)| p.class == **class)
                    .count();
                assert_eq!((score.right, score.tested), (right, 18), "{metric:?} at {dim}");
                assert!((-1.0..=1.0).contains(&score.margin));
                let found = recognitions(
                    known,
                    gallery.class_indices(),
                    asked,
                    samples.class_indices(),
                    &[dim],
                    metric,
                )
                .unwrap();
                let mut wrong: Vec<(usize, usize)> = samples
                    .class_indices()
                    .iter()
                    .zip(&predicted)
                    .map(|(&class, p)| (class, p.class))
                    .filter(|(class, given)| class != given)
                    .collect();
                wrong.sort_unstable();
                let listed: Vec<(usize, usize)> =
                    found[0].mistakes.iter().flat_map(|m| vec![(m.class, m.taken_for); m.count]).collect();
                assert_eq!(listed, wrong, "{metric:?} at {dim}");
                assert_eq!(listed.len(), 18 - right);
            }
        }
    }

    #[test]
    fn a_class_without_gallery_is_never_right() {
        let (gallery, samples) = (data(&[3]), data(&[3, 3]));
        let found = scores(
            gallery.x().unwrap(),
            gallery.class_indices(),
            samples.x().unwrap(),
            samples.class_indices(),
            &[3],
            Metric::Euclidean,
        )
        .unwrap();
        assert_eq!((found[0].1.right, found[0].1.tested), (3, 6));
        let wrong = scores(
            gallery.x().unwrap(),
            &[0],
            samples.x().unwrap(),
            samples.class_indices(),
            &[1],
            Metric::Cosine,
        );
        assert!(wrong.is_err());
    }

    /// If a distance overflowed, a sample would have no class.
    #[test]
    fn values_whose_distance_overflows_are_refused_as_in_the_rule() {
        let fine = Mat::from_fn(2, 1, |i, _| i as f64);
        for value in [1e300, f64::NAN, f64::INFINITY] {
            let far = Mat::from_fn(2, 1, |_, _| value);
            for (known, seen) in [(&fine, &far), (&far, &fine)] {
                let (known, seen) = (known.as_ref(), seen.as_ref());
                assert!(recognitions(known, &[1, 0], seen, &[0, 1], &[1], Metric::Euclidean).is_err());
                assert!(nearest_neighbors(known, &[1, 0], seen, 1, Metric::Euclidean).is_err());
            }
        }
    }
}
