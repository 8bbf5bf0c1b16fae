//! Folds that keep groups of samples together: all samples of one patient, batch or study are either learned from or tested. Copies of
//! a sample are such a group, too ([`together`]).

use rand::Rng;
use rand::seq::SliceRandom;

use super::{SampleGrouping, Split, together};
use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// Cross-validation in which no group is in both parts of a fold. Groups are spread so that every fold has about the same number of
/// samples of every class. A sample is tested only if its class keeps two samples to learn from, copies not counted. Groups that share
/// copies of a sample are one group.
///
/// # Errors
/// When `folds` is below 2, `groups` has not one number per sample, there is only one group, or nothing can be tested.
pub fn grouped_folds(
    data: &Dataset<'_>,
    groups: &[usize],
    folds: usize,
    rng: &mut impl Rng,
) -> Result<Vec<Split>> {
    if folds < 2 {
        return Err(Error::parameter("folds", folds, ">= 2"));
    }
    unit_folds(data, &together(data, Some(groups))?, folds, rng)
}

/// As [`grouped_folds`], of at least 2 folds, with the units that stay together.
pub(super) fn unit_folds(
    data: &Dataset<'_>,
    together: &SampleGrouping,
    folds: usize,
    rng: &mut impl Rng,
) -> Result<Vec<Split>> {
    let members = units(together)?;
    let folds = folds.min(members.len());
    let sizes: Vec<f64> = (0..data.classes().len()).map(|class| data.members(class).len() as f64).collect();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.shuffle(rng);
    // Large groups first, so that small ones even out what is left.
    order.sort_by_key(|&group| std::cmp::Reverse(members[group].len()));
    // The share of every class that a fold tests.
    let mut shares = vec![vec![0.0; sizes.len()]; folds];
    let mut fold_of = vec![0; members.len()];
    for group in order {
        let mut added = vec![0.0; sizes.len()];
        members[group].iter().for_each(|&i| added[data.class_of(i)] += 1.0 / sizes[data.class_of(i)]);
        // The growth of the sum of squares is least where the shares are most even afterwards.
        let growth = |fold: &Vec<f64>| -> f64 {
            fold.iter().zip(&added).map(|(share, added)| added * (2.0 * share + added)).sum()
        };
        let best = (0..folds).min_by(|&a, &b| growth(&shares[a]).total_cmp(&growth(&shares[b]))).unwrap_or(0);
        shares[best].iter_mut().zip(&added).for_each(|(share, added)| *share += added);
        fold_of[group] = best;
    }
    let mut held_out = vec![Vec::new(); folds];
    for (group, rows) in members.iter().enumerate() {
        held_out[fold_of[group]].extend_from_slice(rows);
    }
    splits(data, together, held_out)
}

/// Cross-validation in which every fold tests one group. A sample is tested only if its class keeps two samples to learn from, copies
/// not counted. Groups that share copies of a sample are one group.
///
/// # Errors
/// When `groups` has not one number per sample, there is only one group, or nothing can be tested.
pub fn leave_one_group_out(data: &Dataset<'_>, groups: &[usize]) -> Result<Vec<Split>> {
    let together = together(data, Some(groups))?;
    splits(data, &together, units(&together)?)
}

/// The rows of every unit, of which there must be two.
fn units(together: &SampleGrouping) -> Result<Vec<Vec<usize>>> {
    let units = together.rows();
    if units.len() >= 2 {
        return Ok(units);
    }
    let why = match together.groups {
        Some((given, _)) if given > 1 => {
            "all groups share copies of samples, so that none can be held out; remove the copies, or use other groups"
        }
        _ => {
            "all samples are in one group, so that none can be held out; use a column with at least 2 values"
        }
    };
    Err(Error::Degenerate(why.to_owned()))
}

/// The folds that hold out these rows.
fn splits(data: &Dataset<'_>, together: &SampleGrouping, held_out: Vec<Vec<usize>>) -> Result<Vec<Split>> {
    let split = |mut rows: Vec<usize>| {
        rows.sort_unstable();
        let train: Vec<usize> = (0..data.samples()).filter(|i| rows.binary_search(i).is_err()).collect();
        let learned = together.distinct_of_classes(data, &train);
        rows.retain(|&i| learned[data.class_of(i)] >= 2);
        let classes = learned.iter().filter(|&&count| count > 0).count();
        (classes >= 2 && !rows.is_empty()).then_some(Split { train, test: rows })
    };
    let splits: Vec<Split> = held_out.into_iter().filter_map(split).collect();
    if splits.is_empty() {
        let (what, samples) = match (together.groups, together.has_copies()) {
            (Some(_), false) => ("group", "samples"),
            (Some(_), true) => ("group", "distinct samples"),
            (None, _) => ("sample", "distinct samples"),
        };
        return Err(Error::Degenerate(format!(
            "no {what} can be tested: without any one of them, fewer than two classes, or fewer than two {samples} of the tested \
             classes, are left to learn from"
        )));
    }
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use super::super::{generator, tests::data};
    use super::*;

    #[test]
    fn no_group_is_in_both_parts_and_every_sample_is_tested_once() {
        let data = data(&[20, 12, 8]);
        let groups: Vec<usize> = (0..40).map(|i| (i * 7) % 13).collect();
        for folds in
            [grouped_folds(&data, &groups, 4, &mut generator(3, &[])), leave_one_group_out(&data, &groups)]
        {
            let folds = folds.unwrap();
            let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
            tested.sort_unstable();
            assert_eq!(tested, (0..40).collect::<Vec<_>>());
            for fold in &folds {
                let of = |rows: &[usize]| rows.iter().map(|&i| groups[i]).collect::<Vec<_>>();
                assert!(of(&fold.test).iter().all(|group| !of(&fold.train).contains(group)));
            }
        }
        assert_eq!(leave_one_group_out(&data, &groups).unwrap().len(), 13);
    }

    #[test]
    fn classes_are_spread_over_the_folds() {
        let data = data(&[40, 20]);
        // Twenty patients of three samples each; every patient has one class, or all would be even by chance.
        let groups: Vec<usize> = (0..60).map(|i| if i < 40 { i / 2 } else { 20 + (i - 40) / 2 }).collect();
        for fold in grouped_folds(&data, &groups, 5, &mut generator(1, &[])).unwrap() {
            let of = |class: usize| fold.test.iter().filter(|&&i| data.class_of(i) == class).count();
            assert_eq!((of(0), of(1)), (8, 4));
        }
    }

    #[test]
    fn what_cannot_be_learned_is_not_tested() {
        let data = data(&[6, 6, 2]);
        // The third class is in one group alone.
        let groups = [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 2, 2];
        let folds = leave_one_group_out(&data, &groups).unwrap();
        assert_eq!(folds.iter().map(|fold| fold.test.len()).sum::<usize>(), 12);
        assert_eq!(folds[2].train, [0, 1, 2, 3, 6, 7, 8, 9]);
        for (groups, word) in [(vec![0; 14], "one group"), (vec![0; 3], "groups")] {
            let message = leave_one_group_out(&data, &groups).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        let by_class: Vec<usize> = data.class_indices().to_vec();
        assert!(leave_one_group_out(&data, &by_class).unwrap_err().to_string().contains("no group"));
        assert!(grouped_folds(&data, &groups, 1, &mut generator(0, &[])).is_err());
    }
}
