//! Training and test samples: random splits and the folds of a cross-validation.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

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

/// Draws `per_class` samples of every class at random to learn from; the others are tested.
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

/// Draws a random part of every class to test, as near to `fraction` of it as whole samples allow. A class of two samples or more
/// is in both parts; a class of one sample is in the training part.
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
