//! Which samples are held out, and how labels are permuted. All of it depends on the seed and the labels alone.

use menet::Dataset;
use menet::evaluate::{Split, generator, grouped_folds, leave_one_group_out, stratified_folds};
use rand::seq::SliceRandom;

use super::Options;
use crate::error::Result;

/// Streams of the random generator, one per purpose.
const OUTER: u64 = 11;
const INNER: u64 = 12;
const PERMUTED: u64 = 13;

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
///
/// Where every group has one class, whole groups exchange their classes. Otherwise samples exchange classes inside their group, so
/// that what the groups have in common explains nothing.
pub(super) fn permuted<'a>(
    data: &'a Dataset<'_>,
    groups: Option<&[usize]>,
    options: &Options,
    k: usize,
) -> Result<Dataset<'a>> {
    let mut rng = generator(options.seed, &[PERMUTED, k as u64]);
    let mut codes = data.class_indices().to_vec();
    let rows_of = |groups: &[usize]| {
        let mut rows = vec![Vec::new(); groups.iter().max().map_or(0, |&most| most + 1)];
        groups.iter().enumerate().for_each(|(i, &group)| rows[group].push(i));
        rows
    };
    match groups.map(rows_of) {
        None => codes.shuffle(&mut rng),
        Some(rows) => {
            let pure = |rows: &Vec<usize>| rows.iter().all(|&i| codes[i] == codes[rows[0]]);
            if rows.iter().all(pure) {
                let full = || rows.iter().filter(|rows| !rows.is_empty());
                let mut classes: Vec<usize> = full().map(|rows| codes[rows[0]]).collect();
                classes.shuffle(&mut rng);
                for (rows, class) in full().zip(classes) {
                    rows.iter().for_each(|&i| codes[i] = class);
                }
            } else {
                for rows in &rows {
                    let mut classes: Vec<usize> = rows.iter().map(|&i| codes[i]).collect();
                    classes.shuffle(&mut rng);
                    rows.iter().zip(classes).for_each(|(&i, class)| codes[i] = class);
                }
            }
        }
    }
    Ok(data.relabelled(codes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn data(labels: &[usize]) -> Dataset<'static> {
        Dataset::from_owned(Mat::from_fn(labels.len(), 2, |i, j| (i * 3 + j) as f64), labels).unwrap()
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
