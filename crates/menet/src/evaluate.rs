//! Splits, folds, and recognition rates at every dimension.
//!
//! The protocol of the paper's section 3: of every class some samples, drawn at random, to learn from, the others to test,
//! each given the class of its nearest training sample in the projected space. Parameters are chosen by cross-validation
//! inside the training samples. Whatever is drawn depends on the seed alone.

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::numerics::finite::check_finite;
use crate::rules::{Learned, Metric};
use crate::scores::{Scores, scores_of};

/// Samples to learn from and samples to test, as rows of a data set, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to test.
    pub test: Vec<usize>,
}

/// A generator for one purpose: `stream` tells apart what is drawn under the same seed.
pub fn generator(seed: u64, stream: &[u64]) -> Pcg64 {
    // SplitMix64's finalizer over seed and stream, so that near numbers give far generators.
    let stir = |state: u64, x: u64| {
        let mut z =
            state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(x.wrapping_mul(0xD129_0D3B_36B1_5F6F));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Pcg64::seed_from_u64(stream.iter().fold(stir(0, seed), |state, &x| stir(state, x)))
}

/// Of every class `per_class` samples drawn at random to learn from, the others to test.
///
/// # Errors
/// When `per_class` is 0, or a class would have no sample left to test.
pub fn random_split(data: &Dataset<'_>, per_class: usize, rng: &mut impl Rng) -> Result<Split> {
    if per_class == 0 {
        return Err(Error::parameter("train_per_class", 0, ">= 1"));
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (class, name) in data.classes().iter().enumerate() {
        let mut members = data.members(class).to_vec();
        if members.len() <= per_class {
            let allowed = format!(
                "below {}, the number of samples of class {name:?} (leave small classes out with --min-per-class)",
                members.len()
            );
            return Err(Error::parameter("train_per_class", per_class, allowed));
        }
        members.shuffle(rng);
        train.extend_from_slice(&members[..per_class]);
        test.extend_from_slice(&members[per_class..]);
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok(Split { train, test })
}

/// A random part of every class to test, as near to `fraction` of it as whole samples allow; a class of two samples or more is
/// in both parts, one of a single sample in the training part.
///
/// # Errors
/// When `fraction` is not in (0, 1), or no class has two samples.
pub fn stratified_split(labels: &[String], fraction: f64, rng: &mut impl Rng) -> Result<Split> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Error::parameter("fraction", fraction, "between 0 and 1"));
    }
    let mut members: BTreeMap<&str, Vec<usize>> = Default::default();
    for (i, label) in labels.iter().enumerate() {
        members.entry(label).or_default().push(i);
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for rows in members.values_mut() {
        rows.shuffle(rng);
        let most = rows.len() - 1;
        let count = ((fraction * rows.len() as f64).round() as usize).clamp(1.min(most), most);
        test.extend_from_slice(&rows[..count]);
        train.extend_from_slice(&rows[count..]);
    }
    if test.is_empty() {
        return Err(Error::Degenerate("no class has two samples, so that none can be split".to_owned()));
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok(Split { train, test })
}

/// Cross-validation: every sample is tested once, in one of `folds` stratified folds, unless its class is too small to
/// keep two samples to learn from without it; such classes are only learned from.
///
/// # Errors
/// When `folds` is below 2, or no class is large enough.
pub fn stratified_folds(data: &Dataset<'_>, folds: usize, rng: &mut impl Rng) -> Result<Vec<Split>> {
    if folds < 2 {
        return Err(Error::parameter("folds", folds, ">= 2"));
    }
    let folds = folds.min(data.samples());
    let mut fold_of = vec![None; data.samples()];
    let mut next = 0;
    for class in 0..data.classes().len() {
        let mut members = data.members(class).to_vec();
        members.shuffle(rng);
        // So many folds that one takes at most m − 2 of m samples.
        let most = members.len().saturating_sub(2);
        if most == 0 {
            continue;
        }
        for (at, &row) in members.iter().enumerate() {
            // The share of a fold of a small class is limited: what is beyond is only learned from.
            if at / folds < most {
                fold_of[row] = Some((next + at) % folds);
            }
        }
        next += members.len();
    }
    let splits: Vec<Split> = (0..folds)
        .map(|fold| {
            let (test, train) = (0..data.samples()).partition(|&row| fold_of[row] == Some(fold));
            Split { train, test }
        })
        .filter(|split: &Split| !split.test.is_empty())
        .collect();
    if splits.is_empty() {
        return Err(Error::Degenerate("cross-validation needs a class of at least 3 samples".to_owned()));
    }
    Ok(splits)
}

/// How well samples are recognised at one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// How many.
    pub right: usize,
    /// Of how many.
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

/// Samples of one class that were given another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(usize, usize, usize)", into = "(usize, usize, usize)")]
pub struct Mistake {
    /// Their class.
    pub class: usize,
    /// The class they were given.
    pub taken_for: usize,
    /// How many there are, 1 or more.
    pub count: usize,
}

// Three numbers in place of three named fields: a journal holds many of them.
impl From<(usize, usize, usize)> for Mistake {
    fn from((class, taken_for, count): (usize, usize, usize)) -> Self {
        Mistake { class, taken_for, count }
    }
}

impl From<Mistake> for (usize, usize, usize) {
    fn from(mistake: Mistake) -> Self {
        (mistake.class, mistake.taken_for, mistake.count)
    }
}

/// What became of the samples at one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognition {
    /// The dimension.
    pub dimension: usize,
    /// How many were right, and how clearly.
    pub score: Score,
    /// The others, by class and then by the class they were given.
    pub mistakes: Vec<Mistake>,
}

/// The percentage of every class that is right, where `tested` is how many samples each class has; none for a class without samples.
pub fn recalls(tested: &[usize], mistakes: &[Mistake]) -> Vec<Option<f64>> {
    let mut right = tested.to_vec();
    for mistake in mistakes {
        if let Some(right) = right.get_mut(mistake.class) {
            *right = right.saturating_sub(mistake.count);
        }
    }
    let percent =
        |(&right, &tested): (&usize, &usize)| (tested > 0).then(|| 100.0 * right as f64 / tested as f64);
    right.iter().zip(tested).map(percent).collect()
}

/// The mean over classes of the percentage that is right, where `tested` is how many samples each class has. Classes without
/// samples do not count; none where no class has any.
pub fn balanced_rate(tested: &[usize], mistakes: &[Mistake]) -> Option<f64> {
    let recalls: Vec<f64> = recalls(tested, mistakes).into_iter().flatten().collect();
    (!recalls.is_empty()).then(|| recalls.iter().sum::<f64>() / recalls.len() as f64)
}

/// How well a learned rule decides on samples at each of `dimensions`: from the first so many columns of `z`. Dimensions that the
/// rule does not have are left out. `class_of` gives the place of each of the rule's classes among all `classes`, as `truth` counts
/// them.
///
/// # Errors
/// When sizes disagree, a value is not finite, or there is nothing to decide on.
pub fn decisions(
    rule: &Learned,
    class_of: &[usize],
    classes: usize,
    z: MatRef<'_, f64>,
    truth: &[usize],
    dimensions: &[usize],
) -> Result<Vec<(usize, Scores)>> {
    let (given, expected) = (class_of.len(), rule.class_count());
    if given != expected {
        let why = format!("the rule knows {expected} classes");
        return Err(Error::Size { what: "`class_of`", given, expected, why });
    }
    let mut found = Vec::new();
    for &d in dimensions.iter().filter(|&&d| (1..=rule.dimension()).contains(&d)) {
        let Some(rule) = rule.first(d) else { continue };
        let z = z.get(.., ..d);
        let decided = rule.classify(z)?.into_iter().map(|class| class_of[class]).collect::<Vec<_>>();
        let known = rule.log_probabilities(z)?;
        // A class that was not learned has probability 0.
        let mut all = Mat::from_fn(z.nrows(), classes, |_, _| f64::NEG_INFINITY);
        for (k, &class) in class_of.iter().enumerate() {
            all.col_mut(class).copy_from(known.col(k));
        }
        found.push((d, scores_of(truth, &decided, classes, Some(all.as_ref()))?));
    }
    Ok(found)
}

/// Who was taken for whom, from the counts of true and given classes.
pub fn mistakes(confusion: &[Vec<usize>]) -> Vec<Mistake> {
    let pairs = confusion.iter().enumerate().flat_map(|(class, row)| {
        row.iter().enumerate().map(move |(taken_for, &count)| Mistake { class, taken_for, count })
    });
    pairs.filter(|mistake| mistake.class != mistake.taken_for && mistake.count > 0).collect()
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

/// Recognition by the nearest gallery sample, at each of `dimensions`: of the first so many columns. Dimensions beyond the
/// columns are left out. One pass over the pairs serves all.
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

/// The rows of a data set as a data set of their own, with its names and image shape.
///
/// # Errors
/// When there are none.
pub fn subset(data: &Dataset<'_>, rows: &[usize]) -> Result<Dataset<'static>> {
    let labels: Vec<&str> = rows.iter().map(|&i| data.classes()[data.class_of(i)].as_str()).collect();
    let mut out = match data.sparse() {
        Some(x) => Dataset::from_sparse(x.select(rows), &labels)?,
        None => {
            let x = data.x()?;
            Dataset::from_owned(Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]), &labels)?
        }
    };
    if let Some(names) = data.feature_names() {
        out = out.with_feature_names(names.to_vec())?;
    }
    if let Some((height, width)) = data.image_shape() {
        out = out.with_image_shape(height, width)?;
    }
    Ok(out)
}

/// The classes of `rows`, as positions in the classes of `data`.
pub fn classes_of(data: &Dataset<'_>, rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|&row| data.class_of(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;
    use crate::rules::nearest_neighbors;

    fn data(sizes: &[usize]) -> Dataset<'static> {
        let labels: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
        let x =
            Mat::from_fn(labels.len(), 3, |i, j| ((i * 7 + j * 13 + i * i) % 5) as f64 + labels[i] as f64);
        Dataset::from_owned(x, &labels).unwrap()
    }

    #[test]
    fn a_split_takes_so_many_of_every_class_and_all_are_used_once() {
        let data = data(&[4, 7, 5]);
        let split = random_split(&data, 3, &mut generator(0, &[1])).unwrap();
        let mut all = [split.train.clone(), split.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..16).collect::<Vec<_>>());
        for class in 0..3 {
            assert_eq!(split.train.iter().filter(|&&row| data.class_of(row) == class).count(), 3);
        }
        assert_eq!(split, random_split(&data, 3, &mut generator(0, &[1])).unwrap());
        assert_ne!(split, random_split(&data, 3, &mut generator(0, &[2])).unwrap());
        assert_ne!(split, random_split(&data, 3, &mut generator(1, &[1])).unwrap());
        let message = random_split(&data, 4, &mut generator(0, &[])).unwrap_err().to_string();
        assert!(message.contains("\"0\"") && message.contains('4'), "{message}");
        assert!(random_split(&data, 0, &mut generator(0, &[])).is_err());
    }

    #[test]
    fn every_class_keeps_two_samples_in_every_fold() {
        for sizes in [vec![5; 4], vec![3, 4, 5, 9], vec![1, 2, 3, 20], vec![3, 3]] {
            let data = data(&sizes);
            for count in [2, 3, 5, 7] {
                let folds = stratified_folds(&data, count, &mut generator(0, &[])).unwrap();
                let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
                tested.sort_unstable();
                let distinct = tested.len();
                tested.dedup();
                assert_eq!(distinct, tested.len(), "no sample is tested twice");
                for fold in &folds {
                    assert_eq!(fold.train.len() + fold.test.len(), data.samples());
                    for (class, &size) in sizes.iter().enumerate() {
                        let kept = fold.train.iter().filter(|&&row| data.class_of(row) == class).count();
                        assert!(kept >= size.min(2), "{sizes:?}, {count} folds: class {class} keeps {kept}");
                    }
                }
                let whole = sizes.iter().filter(|&&size| size >= 3 && size.div_ceil(count) <= size - 2);
                assert!(tested.len() >= whole.sum::<usize>());
            }
        }
        assert!(stratified_folds(&data(&[2, 2, 1]), 5, &mut generator(0, &[])).is_err());
        assert!(stratified_folds(&data(&[5, 5]), 1, &mut generator(0, &[])).is_err());
    }

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

    #[test]
    fn decisions_are_those_of_the_rule_on_the_first_axes() {
        use crate::rules::{Priors, Projected, RuleKind, RuleParams, learn};
        let (gallery, samples) = (data(&[9, 9, 9]), data(&[5, 6, 7]));
        let z = gallery.x().unwrap();
        for &kind in RuleKind::ALL {
            let params = RuleParams { kind, neighbors: 1, metric: Metric::Euclidean, priors: Priors::Train };
            let projected = Projected { z, classes: gallery.class_indices(), count: 3, covariance: None };
            let rule = learn(&params, &projected).unwrap();
            // The rule's classes are 1, 2 and 0 of four.
            let (order, count) = ([1, 2, 0], 4);
            let truth: Vec<usize> = samples.class_indices().iter().map(|&class| order[class]).collect();
            let x = samples.x().unwrap();
            let found = decisions(&rule, &order, count, x, &truth, &[1, 2, 3, 7]).unwrap();
            assert_eq!(found.last().unwrap().0, 3, "{kind:?}");
            for (d, scores) in found {
                let given = rule.first(d).unwrap().classify(x.get(.., ..d)).unwrap();
                let right = given.iter().zip(samples.class_indices()).filter(|(a, b)| a == b).count();
                assert!((scores.rate - 100.0 * right as f64 / 18.0).abs() < 1e-12, "{kind:?} at {d}");
                let wrong = mistakes(&scores.confusion);
                assert_eq!(wrong.iter().map(|m| m.count).sum::<usize>(), 18 - right);
                assert_eq!(balanced_rate(&[7, 5, 6, 0], &wrong), Some(scores.balanced));
                assert_eq!(recalls(&[7, 5, 6, 0], &wrong), scores.recalls);
                assert!(scores.log_loss.is_some_and(f64::is_finite) && scores.auc.is_some());
            }
            assert!(decisions(&rule, &[0, 1], 3, x, &truth, &[1]).is_err());
        }
    }

    #[test]
    fn the_balanced_rate_counts_every_class_alike() {
        let mistakes = [Mistake { class: 0, taken_for: 1, count: 5 }, Mistake::from((1, 0, 1))];
        // 95 of 100, 1 of 2, and a class without samples.
        assert_eq!(balanced_rate(&[100, 2, 0], &mistakes), Some((95.0 + 50.0) / 2.0));
        assert_eq!(balanced_rate(&[4, 6], &[]), Some(100.0));
        assert_eq!(balanced_rate(&[0, 0], &[]), None);
    }

    /// A distance that overflows would leave a sample without a class.
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
