//! Training and test samples: random splits and the folds of a cross-validation.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::groups::unit_folds;
use super::{SampleGrouping, together};
use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// Samples to learn from and samples to test, as rows of a data set, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to test.
    pub test: Vec<usize>,
}

/// A random generator for one purpose: different `stream`s give different numbers under the same seed.
pub fn generator(seed: u64, stream: &[u64]) -> Pcg64 {
    // SplitMix64's finalizer over seed and stream, so that similar numbers give unrelated generators.
    let stir = |state: u64, x: u64| {
        let mut z =
            state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(x.wrapping_mul(0xD129_0D3B_36B1_5F6F));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Pcg64::seed_from_u64(stream.iter().fold(stir(0, seed), |state, &x| stir(state, x)))
}

/// Draws `per_class` samples of every class at random to learn from; the others are tested. Copies of a sample count once, and are on its
/// side. Where copies have several classes, a class may get more than `per_class`.
///
/// # Errors
/// When `per_class` is 0, or a class would have no sample left to test.
pub fn random_split(data: &Dataset<'_>, per_class: usize, rng: &mut impl Rng) -> Result<Split> {
    if per_class == 0 {
        return Err(Error::parameter("train_per_class", 0, ">= 1"));
    }
    let together = together(data, None)?;
    if together.has_copies() {
        return random_split_of_units(data, &together, per_class, rng);
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

/// [`random_split`] of samples that stay together.
fn random_split_of_units(
    data: &Dataset<'_>,
    together: &SampleGrouping,
    per_class: usize,
    rng: &mut impl Rng,
) -> Result<Split> {
    let mut units = together.rows();
    let all: Vec<usize> = (0..data.samples()).collect();
    let sizes = together.distinct_of_classes(data, &all);
    if let Some(class) = sizes.iter().position(|&size| size <= per_class) {
        let allowed = format!(
            "below {}, the number of distinct samples of class {:?} (leave small classes out with --min-per-class)",
            sizes[class],
            data.classes()[class]
        );
        return Err(Error::parameter("train_per_class", per_class, allowed));
    }
    units.shuffle(rng);
    let mut learned = vec![0; sizes.len()];
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for rows in units {
        let mut classes: Vec<usize> = rows.iter().map(|&i| data.class_of(i)).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.iter().any(|&class| learned[class] < per_class) {
            classes.iter().for_each(|&class| learned[class] += 1);
            train.extend(rows);
        } else {
            test.extend(rows);
        }
    }
    if test.is_empty() {
        let allowed = "samples that are not all copies with several classes, so that some are left to test";
        return Err(Error::parameter("train_per_class", per_class, allowed));
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok(Split { train, test })
}

/// Draws a random part of every class to test, as near to `fraction` of it as whole samples allow. A class of two samples or more
/// is in both parts; a class of one sample is in the training part.
///
/// Samples that stay together, as [`together_in`](super::together_in) says, are in one part. A class is then in both parts if that is possible.
///
/// # Errors
/// When `fraction` is not in (0, 1), or no class has two samples, or two that need not stay together.
pub fn stratified_split(
    labels: &[String],
    together: &SampleGrouping,
    fraction: f64,
    rng: &mut impl Rng,
) -> Result<Split> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Error::parameter("fraction", fraction, "between 0 and 1"));
    }
    let mut members: BTreeMap<&str, Vec<usize>> = Default::default();
    for (i, label) in labels.iter().enumerate() {
        members.entry(label).or_default().push(i);
    }
    if together.units.is_some() {
        let mut class_of = vec![0; labels.len()];
        members.values().enumerate().for_each(|(class, rows)| rows.iter().for_each(|&i| class_of[i] = class));
        return stratified_split_of_units(&class_of, together.rows(), fraction, rng);
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

/// [`stratified_split`] of samples that stay together.
fn stratified_split_of_units(
    class_of: &[usize],
    mut units: Vec<Vec<usize>>,
    fraction: f64,
    rng: &mut impl Rng,
) -> Result<Split> {
    let classes = class_of.iter().max().map_or(0, |&most| most + 1);
    let counted = |rows: &[usize]| {
        let mut counts = vec![0.0; classes];
        rows.iter().for_each(|&i| counts[class_of[i]] += 1.0);
        counts
    };
    units.shuffle(rng);
    let counts: Vec<Vec<f64>> = units.iter().map(|rows| counted(rows)).collect();
    let sizes = counted(&(0..class_of.len()).collect::<Vec<_>>());
    // Units of every class that are still to learn from.
    let mut left: Vec<usize> =
        (0..classes).map(|class| counts.iter().filter(|counts| counts[class] > 0.0).count()).collect();
    let wanted: Vec<f64> =
        sizes.iter().map(|size| (fraction * size).round().clamp(1.0, size.max(2.0) - 1.0)).collect();
    let (mut have, mut tested) = (vec![0.0; classes], vec![false; units.len()]);
    let spare =
        |left: &[usize], counts: &[f64]| (0..classes).all(|class| counts[class] == 0.0 || left[class] >= 2);
    let mut test = |unit: usize, left: &mut [usize], have: &mut [f64]| {
        tested[unit] = true;
        (0..classes).for_each(|class| {
            have[class] += counts[unit][class];
            left[class] -= usize::from(counts[unit][class] > 0.0);
        });
    };
    for unit in 0..units.len() {
        let gain = |class: usize| {
            let (short, added) = (wanted[class] - have[class], counts[unit][class]);
            added * (2.0 * short - added) / (sizes[class] * sizes[class])
        };
        if (0..classes).map(gain).sum::<f64>() > 0.0 && spare(&left, &counts[unit]) {
            test(unit, &mut left, &mut have);
        }
    }
    // Classes whose units are all too large.
    for class in 0..classes {
        let of_class = |unit: &usize| counts[*unit][class] > 0.0 && spare(&left, &counts[*unit]);
        let smallest = (0..units.len()).filter(of_class).min_by_key(|&unit| units[unit].len());
        if let Some(unit) = smallest.filter(|_| have[class] == 0.0) {
            test(unit, &mut left, &mut have);
        }
    }
    let part = |wanted: bool| {
        let rows = units.iter().zip(&tested).filter(|(_, tested)| **tested == wanted);
        let mut rows: Vec<usize> = rows.flat_map(|(rows, _)| rows.iter().copied()).collect();
        rows.sort_unstable();
        rows
    };
    match part(true) {
        test if test.is_empty() => Err(Error::Degenerate(
            "no class has two samples that are no copies of each other, so that none can be split".to_owned(),
        )),
        test => Ok(Split { train: part(false), test }),
    }
}

/// Cross-validation: every sample is tested once, in one of `folds` stratified folds, unless its class is too small to
/// keep two samples to learn from without it; such classes are only learned from. Copies of a sample are tested together.
///
/// # Errors
/// When `folds` is below 2, or no class is large enough.
pub fn stratified_folds(data: &Dataset<'_>, folds: usize, rng: &mut impl Rng) -> Result<Vec<Split>> {
    if folds < 2 {
        return Err(Error::parameter("folds", folds, ">= 2"));
    }
    let together = together(data, None)?;
    if together.has_copies() {
        return unit_folds(data, &together, folds, rng);
    }
    let folds = folds.min(data.samples());
    let mut fold_of = vec![None; data.samples()];
    let mut next = 0;
    for class in 0..data.classes().len() {
        let mut members = data.members(class).to_vec();
        members.shuffle(rng);
        // Enough folds that one takes at most m − 2 of m samples.
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

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;

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

    /// Noise with some rows many times: sample i has the values of row `source[i]`.
    fn copied(source: &[usize], labels: &[usize]) -> Dataset<'static> {
        use rand::RngExt;
        let mut rng = generator(17, &[]);
        let noise = faer::Mat::from_fn(source.len(), 8, |_, _| rng.random::<f64>());
        let x = faer::Mat::from_fn(source.len(), 8, |i, j| noise[(source[i], j)]);
        Dataset::from_owned(x, labels).unwrap()
    }

    /// Whether no copy is on the other side, and every sample is on one.
    fn honest(split: &Split, source: &[usize]) -> bool {
        let of = |rows: &[usize]| rows.iter().map(|&i| source[i]).collect::<std::collections::BTreeSet<_>>();
        of(&split.train).is_disjoint(&of(&split.test))
    }

    #[test]
    fn copies_are_on_one_side_of_every_split() {
        // Every row twice; then some three times, with another class in some copies.
        let twice: (Vec<usize>, Vec<usize>) = (0..40).map(|i| (i / 2, (i / 2) % 2)).unzip();
        let mixed: (Vec<usize>, Vec<usize>) =
            (0..45).map(|i| if i < 30 { (i / 3, usize::from(i % 7 == 0)) } else { (i, i % 2) }).unzip();
        for (source, labels) in [twice, mixed] {
            let data = copied(&source, &labels);
            for seed in 0..20 {
                let rng = &mut generator(seed, &[]);
                let split = random_split(&data, 4, rng).unwrap();
                assert!(honest(&split, &source));
                let known = together(&data, None).unwrap();
                let learned = known.distinct_of_classes(&data, &split.train);
                assert!(learned.iter().all(|&count| count >= 4), "{learned:?}");
                for fold in stratified_folds(&data, 5, rng).unwrap() {
                    assert!(honest(&fold, &source));
                    assert!(fold.test.len() >= 4, "{fold:?}");
                }
                let names: Vec<String> = labels.iter().map(usize::to_string).collect();
                let split = stratified_split(&names, &known, 0.3, rng).unwrap();
                assert!(honest(&split, &source));
                for class in 0..2 {
                    let of = |rows: &[usize]| rows.iter().filter(|&&i| labels[i] == class).count() as f64;
                    let part = of(&split.test) / (of(&split.test) + of(&split.train));
                    assert!((0.15..=0.45).contains(&part), "{part}");
                }
                for pair in crate::stability::half_samples(&data, 2, None, seed).unwrap().chunks_exact(2) {
                    assert!(honest(&Split { train: pair[0].clone(), test: pair[1].clone() }, &source));
                }
            }
            let groups: Vec<usize> = (0..labels.len()).map(|i| i % 15).collect();
            for fold in
                super::super::grouped_folds(&data, &groups, 3, &mut generator(0, &[])).unwrap_or_default()
            {
                assert!(honest(&fold, &source));
            }
        }
        let shared: Vec<usize> = (0..20).map(|i| i / 2).collect();
        let chained: Vec<usize> = (0..20_usize).map(|i| i.div_ceil(2) % 10).collect();
        let one = super::super::grouped_folds(
            &copied(&shared, &shared.iter().map(|i| i % 2).collect::<Vec<_>>()),
            &chained,
            3,
            &mut generator(0, &[]),
        );
        assert!(one.unwrap_err().to_string().contains("all groups share copies"));
        let few = copied(&[0, 0, 0, 3, 3, 3, 6, 6, 8, 8], &[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
        let message = random_split(&few, 2, &mut generator(0, &[])).unwrap_err().to_string();
        assert!(message.contains("below 2, the number of distinct samples"), "{message}");
        assert!(
            stratified_folds(&few, 3, &mut generator(0, &[])).unwrap_err().to_string().contains("distinct")
        );
    }

    #[test]
    fn a_class_of_large_units_is_in_both_parts() {
        // Class 0 is five copies of one sample, and another one; class 1 is two units of four.
        let source = [0, 0, 0, 0, 0, 5, 6, 6, 6, 6, 10, 10, 10, 10];
        let labels: Vec<usize> = (0..14).map(|i| usize::from(i > 5)).collect();
        let (data, names) =
            (copied(&source, &labels), labels.iter().map(usize::to_string).collect::<Vec<_>>());
        let known = together(&data, None).unwrap();
        for seed in 0..10 {
            for fraction in [0.1, 0.3, 0.9] {
                let split = stratified_split(&names, &known, fraction, &mut generator(seed, &[])).unwrap();
                assert!(honest(&split, &source) && split.train.len() + split.test.len() == 14);
                for part in [&split.train, &split.test] {
                    assert!((0..2).all(|class| part.iter().any(|&i| labels[i] == class)), "{split:?}");
                }
            }
        }
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
}
