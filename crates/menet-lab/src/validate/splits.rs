//! Which samples are held out, and how labels are permuted. All of it depends on the seed and the labels alone.

use menet::Dataset;
use menet::evaluate::{Split, generator, grouped_folds, leave_one_group_out, stratified_folds};
use rand::RngExt;

use super::Options;
use super::arrangements::Arrangements;
use super::procedure::Decisions;
use crate::error::Result;

/// Streams of the random generator, one per purpose.
const OUTER: u64 = 11;
const INNER: u64 = 12;
const PERMUTED: u64 = 13;
const CHANCE: u64 = 16;

/// The folds of a repeat.
pub(super) fn outer(
    data: &Dataset<'_>,
    groups: Option<&[usize]>,
    options: &Options,
    repeat: usize,
) -> Result<Vec<Split>> {
    let mut rng = generator(options.seed, &[OUTER, repeat as u64]);
    Ok(match groups {
        Some(groups) if options.leave_one_group_out => leave_one_group_out(data, groups)?,
        Some(groups) => grouped_folds(data, groups, options.folds, &mut rng)?,
        None => stratified_folds(data, options.folds, &mut rng)?,
    })
}

/// The folds by which a procedure chooses inside its training samples.
///
/// # Errors
/// When there are not enough samples.
pub fn inner(data: &Dataset<'_>, groups: Option<&[usize]>, folds: usize, seed: u64) -> Result<Vec<Split>> {
    let mut rng = generator(seed, &[INNER]);
    Ok(match groups {
        // Where a training part has one group only, its samples are all that there is to choose by.
        Some(groups) if groups.iter().any(|group| *group != groups[0]) => {
            grouped_folds(data, groups, folds, &mut rng)?
        }
        _ => stratified_folds(data, folds, &mut rng)?,
    })
}

/// The data with permuted labels: permutation number `k`.
pub(super) fn permuted<'a>(
    data: &'a Dataset<'_>,
    arrangements: &Arrangements,
    options: &Options,
    k: usize,
) -> Result<Dataset<'a>> {
    let mut rng = generator(options.seed, &[PERMUTED, k as u64]);
    Ok(data.relabelled(arrangements.draw(&mut rng))?)
}

/// Decisions at chance on the test samples of a fold, for permutation number `k` whose labels cannot be learned from: classes at random, as
/// often as in the training samples. `known`: whether probabilities are given, those of the training samples.
pub(super) fn at_chance(
    data: &Dataset<'_>,
    split: &Split,
    known: bool,
    options: &Options,
    (k, fold): (usize, usize),
) -> Decisions {
    let mut rng = generator(options.seed, &[CHANCE, k as u64, fold as u64]);
    let classes: Vec<usize> = split.train.iter().map(|&i| data.class_of(i)).collect();
    let given = split.test.iter().map(|_| classes[rng.random_range(0..classes.len())]).collect();
    let mut priors = vec![0.0; data.classes().len()];
    classes.iter().for_each(|&class| priors[class] += 1.0);
    priors.iter_mut().for_each(|prior| *prior /= classes.len() as f64);
    Decisions {
        given,
        probabilities: known.then(|| vec![priors; split.test.len()]),
        panel: Vec::new(),
        variables: 0,
        choice: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn data(labels: &[usize]) -> Dataset<'static> {
        Dataset::from_owned(Mat::from_fn(labels.len(), 2, |i, j| (i * 3 + j) as f64), labels).unwrap()
    }

    /// The labels of permutation number `k`.
    fn permuted<'a>(
        data: &'a Dataset<'_>,
        groups: Option<&[usize]>,
        options: &Options,
        k: usize,
    ) -> Result<Dataset<'a>> {
        super::permuted(data, &Arrangements::new(data.class_indices(), groups), options, k)
    }

    #[test]
    fn decisions_at_chance_follow_the_training_samples() {
        let labels: Vec<usize> = (0..400).map(|i| usize::from(i % 4 == 0)).collect();
        let data = data(&labels);
        let split = Split { train: (0..200).collect(), test: (200..400).collect() };
        let one = at_chance(&data, &split, true, &Options::default(), (3, 1));
        let often = one.given.iter().filter(|&&class| class == 1).count();
        assert!((30..70).contains(&often), "{often} of 200, 50 expected");
        assert_eq!(one.probabilities.as_ref().unwrap()[7], [0.75, 0.25]);
        assert_eq!(one, at_chance(&data, &split, true, &Options::default(), (3, 1)));
        let other = at_chance(&data, &split, false, &Options::default(), (4, 1));
        assert!(other.given != one.given && other.probabilities.is_none());
    }

    #[test]
    fn permutations_keep_the_classes_and_respect_groups() {
        let labels: Vec<usize> = (0..24).map(|i| i % 3).collect();
        let data = data(&labels);
        let options = Options::default();
        let sorted = |codes: &[usize]| {
            let mut codes = codes.to_vec();
            codes.sort_unstable();
            codes
        };
        let free = permuted(&data, None, &options, 0).unwrap();
        assert_eq!(sorted(free.class_indices()), sorted(data.class_indices()));
        assert_ne!(free.class_indices(), data.class_indices());
        assert_ne!(free.class_indices(), permuted(&data, None, &options, 1).unwrap().class_indices());
        // Batches with all classes: permuted inside.
        let batches: Vec<usize> = (0..24).map(|i| i / 6).collect();
        let inside = permuted(&data, Some(&batches), &options, 0).unwrap();
        for batch in 0..4 {
            let of = |data: &Dataset<'_>| sorted(&data.class_indices()[6 * batch..6 * batch + 6]);
            assert_eq!(of(&inside), of(&data));
        }
        assert_ne!(inside.class_indices(), data.class_indices());
    }

    /// What a fit knows of its variables by name or place, it must know of permuted samples, too.
    #[test]
    fn permutations_keep_names_and_shape() {
        let data = data(&[0, 1, 0, 1]).with_feature_names(vec!["age".to_owned(), "sex".to_owned()]).unwrap();
        let data = data.with_image_shape(1, 2).unwrap();
        let permuted = permuted(&data, None, &Options::default(), 0).unwrap();
        assert_eq!(permuted.feature_names(), data.feature_names());
        assert_eq!(permuted.image_shape(), data.image_shape());
    }

    #[test]
    fn patients_of_one_class_stay_of_one_class() {
        let labels: Vec<usize> = (0..24).map(|i| (i / 3) % 2).collect();
        let (data, patients): (_, Vec<usize>) = (data(&labels), (0..24).map(|i| i / 3).collect());
        let exchanged = permuted(&data, Some(&patients), &Options::default(), 5).unwrap();
        for patient in 0..8 {
            let codes = &exchanged.class_indices()[3 * patient..3 * patient + 3];
            assert!(codes.iter().all(|code| *code == codes[0]));
        }
    }
}
