//! Complementary pairs of half-samples.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{SampleGrouping, generator, together};

/// The stream of random numbers for half-samples.
const STREAM: u64 = 0x5AB1;

/// How many samples every class has in both halves, if it has twice as many.
const FEWEST: usize = 2;

/// How many times groups are dealt out anew if a class has fewer in a half.
const DEALS: usize = 20;

/// Draws `pairs` complementary pairs of half-samples, as rows of `data`, rising: places 2k and 2k+1 of the result are pair k, and hold every
/// sample once together.
///
/// Each half has half of the samples of every class. The odd sample of a class goes to either half: of the classes with one, every
/// second has it in the first half, beginning at random. So a class of one sample is in one of the two halves.
///
/// With `groups`, one number per sample, samples of one group stay together. The groups are dealt out in random order, each to the half
/// that makes the two more equal in their classes. So the halves are about equal, not exactly. Copies of a sample are such a group, too,
/// and groups that share copies are one.
///
/// Pair k depends on the data, the groups, the seed and k, not on how many pairs there are.
///
/// # Errors
/// When `pairs` is 0, there is not one group per sample, or fewer than two classes would be in both halves.
pub fn half_samples(
    data: &Dataset<'_>,
    pairs: usize,
    groups: Option<&[usize]>,
    seed: u64,
) -> Result<Vec<Vec<usize>>> {
    if pairs == 0 {
        return Err(Error::parameter("pairs", 0, ">= 1"));
    }
    let together = together(data, groups)?;
    let all: Vec<usize> = (0..data.samples()).collect();
    let distinct = together.distinct_of_classes(data, &all);
    let divisible = distinct.iter().filter(|&&count| count >= 2).count();
    if divisible < 2 {
        let samples = if together.has_copies() { "distinct samples" } else { "samples" };
        let value = format!("{divisible} of {} classes with at least 2 {samples}", data.classes().len());
        return Err(Error::parameter(
            "samples",
            value,
            "at least 2 such classes, so that both halves have two classes",
        ));
    }
    let grouped = together.units.is_some().then(|| Grouped::new(data, &together));
    let mut halves = Vec::with_capacity(2 * pairs);
    for pair in 0..pairs {
        let rng = &mut generator(seed, &[STREAM, pair as u64]);
        let in_first = match &grouped {
            Some(grouped) => grouped.deal(data, rng)?,
            None => by_class(data, rng),
        };
        let (first, second) = (0..data.samples()).partition(|&row| in_first[row]);
        halves.extend([first, second]);
    }
    Ok(halves)
}

/// Whether each sample is in the first half.
fn by_class(data: &Dataset<'_>, rng: &mut impl Rng) -> Vec<bool> {
    let mut in_first = vec![false; data.samples()];
    let mut odd_in_first: bool = rng.random();
    for class in 0..data.classes().len() {
        let mut members = data.members(class).to_vec();
        members.shuffle(rng);
        let mut count = members.len() / 2;
        if members.len() % 2 == 1 {
            count += usize::from(odd_in_first);
            odd_in_first = !odd_in_first;
        }
        for &row in &members[..count] {
            in_first[row] = true;
        }
    }
    in_first
}

/// Samples that stay together.
struct Grouped {
    /// The rows of every group.
    rows: Vec<Vec<usize>>,
    /// How many samples of every class each group has.
    counts: Vec<Vec<f64>>,
    /// Whether they are groups of the caller.
    given: bool,
}

impl Grouped {
    fn new(data: &Dataset<'_>, together: &SampleGrouping) -> Self {
        let rows = together.rows();
        let count = |rows: &Vec<usize>| {
            let mut counts = vec![0.0; data.classes().len()];
            rows.iter().for_each(|&row| counts[data.class_of(row)] += 1.0);
            counts
        };
        let counts = rows.iter().map(count).collect();
        Grouped { rows, counts, given: together.groups.is_some() }
    }

    /// Whether each sample is in the first half.
    fn deal(&self, data: &Dataset<'_>, rng: &mut impl Rng) -> Result<Vec<bool>> {
        let sizes: Vec<f64> =
            (0..data.classes().len()).map(|class| data.members(class).len() as f64).collect();
        let mut usable = None;
        for _ in 0..DEALS {
            let (in_first, ahead) = self.deal_once(data, &sizes, rng);
            // The smaller half of a class has (size − |ahead|)/2 samples.
            let smaller = |class: usize| (sizes[class] - ahead[class].abs()) / 2.0;
            let enough = |class: usize| smaller(class) >= (FEWEST as f64).min((sizes[class] / 2.0).floor());
            if (0..sizes.len()).all(enough) {
                return Ok(in_first);
            }
            if (0..sizes.len()).filter(|&class| smaller(class) >= 1.0).count() >= 2 {
                usable = Some(in_first);
            }
        }
        // Groups may not allow better.
        usable.ok_or_else(|| {
            let units = self.rows.len();
            if !self.given {
                let value =
                    format!("{units} distinct samples of which no two halves have two classes in both");
                return Error::parameter("samples", value, "at least 2 distinct samples of two classes");
            }
            let value = format!("{units} groups of which no two halves have two classes in both");
            let allowed =
                "groups that divide at least two classes: use smaller groups, or leave the groups out";
            Error::parameter("groups", value, allowed)
        })
    }

    /// Whether each sample is in the first half, and how many more samples of every class that has than the second.
    fn deal_once(&self, data: &Dataset<'_>, sizes: &[f64], rng: &mut impl Rng) -> (Vec<bool>, Vec<f64>) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        // Not by size: the halves would be the same in every pair where sizes differ.
        order.shuffle(rng);
        let mut in_first = vec![false; data.samples()];
        let mut ahead = vec![0.0; sizes.len()];
        for group in order {
            let counts = &self.counts[group];
            // Half the change of Σ (ahead/size)² if the group goes to the first half, less what does not depend on the half.
            let lean: f64 = counts
                .iter()
                .zip(&ahead)
                .zip(sizes)
                .map(|((count, ahead), size)| count * ahead / (size * size))
                .sum();
            let coin: bool = rng.random();
            let first = if lean == 0.0 { coin } else { lean < 0.0 };
            for (ahead, count) in ahead.iter_mut().zip(counts) {
                *ahead += if first { *count } else { -count };
            }
            for &row in &self.rows[group] {
                in_first[row] = first;
            }
        }
        (in_first, ahead)
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    fn data(sizes: &[usize]) -> Dataset<'static> {
        let labels: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
        Dataset::from_owned(Mat::from_fn(labels.len(), 1, |i, _| i as f64), &labels).unwrap()
    }

    fn count(data: &Dataset<'_>, rows: &[usize], class: usize) -> usize {
        rows.iter().filter(|&&row| data.class_of(row) == class).count()
    }

    fn complementary(data: &Dataset<'_>, pair: &[Vec<usize>]) -> bool {
        let mut all = pair.concat();
        all.sort_unstable();
        pair.iter().all(|half| half.is_sorted()) && all.into_iter().eq(0..data.samples())
    }

    #[test]
    fn each_half_has_half_of_every_class_and_a_pair_has_all() {
        let sizes = [4, 5, 7, 9, 12];
        let data = data(&sizes);
        let halves = half_samples(&data, 40, None, 7).unwrap();
        assert_eq!(halves.len(), 80);
        let mut odd_in_first = [0; 5];
        for pair in halves.chunks_exact(2) {
            assert!(complementary(&data, pair));
            // Three odd classes: the totals differ by one.
            assert_eq!(pair[0].len().abs_diff(pair[1].len()), 1);
            for (class, &size) in sizes.iter().enumerate() {
                let first = count(&data, &pair[0], class);
                assert!((size / 2..=size.div_ceil(2)).contains(&first), "class {class} has {first}");
                odd_in_first[class] += usize::from(first > size / 2);
            }
        }
        assert!(odd_in_first[1..4].iter().all(|count| (8..=32).contains(count)), "{odd_in_first:?}");
    }

    #[test]
    fn a_pair_depends_on_the_seed_and_its_place_alone() {
        let data = data(&[8, 9]);
        let groups: Vec<usize> = (0..17).map(|row| row / 2).collect();
        for groups in [None, Some(groups.as_slice())] {
            let (few, many) = (half_samples(&data, 3, groups, 1), half_samples(&data, 9, groups, 1));
            assert_eq!(few.unwrap()[..], many.clone().unwrap()[..6]);
            assert_ne!(many.unwrap(), half_samples(&data, 9, groups, 2).unwrap());
        }
    }

    #[test]
    fn groups_stay_together_and_halves_are_about_equal() {
        let sizes = [30, 24, 18];
        let data = data(&sizes);
        // Groups across classes, of one to three samples.
        let groups: Vec<usize> = (0..72).map(|row| 1_000 * ((row * 29) % 37)).collect();
        let halves = half_samples(&data, 25, Some(&groups), 0).unwrap();
        for pair in halves.chunks_exact(2) {
            assert!(complementary(&data, pair));
            for row in 0..72 {
                let same = |half: &Vec<usize>| {
                    let of_group = half.iter().filter(|&&other| groups[other] == groups[row]).count();
                    of_group == 0 || of_group == groups.iter().filter(|&&group| group == groups[row]).count()
                };
                assert!(pair.iter().all(same));
            }
            for (class, &size) in sizes.iter().enumerate() {
                let first = count(&data, &pair[0], class);
                assert!(first.abs_diff(size / 2) <= 3, "class {class} has {first} of {size}");
            }
        }
        let distinct: std::collections::BTreeSet<_> = halves.iter().collect();
        assert_eq!(distinct.len(), 50);
    }

    #[test]
    fn small_classes_are_in_as_many_halves_as_they_can() {
        let data = data(&[9, 5, 3, 2, 1]);
        for pair in half_samples(&data, 10, None, 3).unwrap().chunks_exact(2) {
            let of = |class: usize| pair.iter().map(|half| count(&data, half, class)).collect::<Vec<_>>();
            assert!(of(1).iter().all(|&count| count >= 2) && of(2).iter().all(|&count| count >= 1));
            assert_eq!(of(3), [1, 1]);
            assert_eq!(of(4).iter().sum::<usize>(), 1);
        }
    }

    #[test]
    fn too_few_samples_are_told() {
        let message = |result: Result<Vec<Vec<usize>>>| result.unwrap_err().to_string();
        let small = message(half_samples(&data(&[6, 1, 1]), 5, None, 0));
        assert!(small.contains("1 of 3 classes"), "{small}");
        let data = data(&[6, 6]);
        let together = message(half_samples(&data, 5, Some(&[0, 1, 2, 3, 4, 5, 9, 9, 9, 9, 9, 9]), 0));
        assert!(together.contains("7 groups"), "{together}");
        assert!(message(half_samples(&data, 5, Some(&[0]), 0)).contains("12 samples"));
        assert!(message(half_samples(&data, 0, None, 0)).contains("`pairs` is 0"));
    }
}
