//! Which samples stay on one side of every split: those of one group, and copies of each other.
//!
//! A model that has learned from a copy of a sample has seen the sample. So samples that are equal in every variable stay together, with
//! the same class or with another one. Where groups share copies, they are one group.
//!
//! Where variables have few values, different samples are often equal: with a single marker that is 0 or 1, half of all pairs are. Such
//! samples are no copies. They are told apart by the number of equal pairs: it is at least a quarter of what would be expected if the
//! variables were independent of each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::{Dataset, View, chance_of_equality, first_alike};
use crate::error::{Error, Result};

/// Equal pairs are chance if at least this part of them is to be expected.
const EXPECTED: f64 = 0.25;

/// Which samples stay together, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleGrouping {
    /// One number per sample: samples with equal numbers stay together. None where every sample stands for itself.
    pub units: Option<Vec<usize>>,
    /// How many samples equal an earlier one in every variable.
    pub copies: usize,
    /// How many of these have another class than the first of their kind.
    pub contradicting: usize,
    /// Whether so many equal samples are to be expected of variables with so few values: they do not stay together then.
    pub expected: bool,
    /// How many groups were given, and how many there are where those that share copies count as one; none without groups.
    pub groups: Option<(usize, usize)>,
    /// For every sample the first one that it is a copy of.
    first: Vec<usize>,
}

/// Which samples of `data` stay together, with these groups if there are any: one number per sample.
///
/// # Errors
/// When `groups` has not one number per sample.
pub fn together(data: &Dataset<'_>, groups: Option<&[usize]>) -> Result<SampleGrouping> {
    together_in(data.view(), data.class_indices(), groups)
}

/// As [`together`], of samples with these classes.
///
/// # Errors
/// When there is not one class and, with groups, not one group per sample.
pub fn together_in(
    samples: View<'_>,
    class_of: &[usize],
    groups: Option<&[usize]>,
) -> Result<SampleGrouping> {
    let mut first = first_alike(samples);
    let n = first.len();
    for (what, given) in [("`class_of`", Some(class_of)), ("`groups`", groups)] {
        let given = given.map_or(n, <[usize]>::len);
        if given != n {
            return Err(Error::Size { what, given, expected: n, why: format!("there are {n} samples") });
        }
    }
    let copies = (0..n).filter(|&i| first[i] != i);
    let contradicting = copies.clone().filter(|&i| class_of[i] != class_of[first[i]]).count();
    let copies = copies.count();
    let expected = copies > 0 && by_chance(samples, &first);
    if expected {
        first = (0..n).collect();
    }
    let (units, groups) = match groups {
        None => ((copies > 0 && !expected).then(|| numbered(first.iter().copied())), None),
        Some(groups) => {
            let joined = joined(groups, &first);
            let (given, left) = (distinct(groups), distinct(&joined));
            // The caller's numbers where nothing is joined, so that nothing changes.
            (Some(if left == given { groups.to_vec() } else { joined }), Some((given, left)))
        }
    };
    Ok(SampleGrouping { units, copies, contradicting, expected, groups, first })
}

impl SampleGrouping {
    /// What a reader should know of equal samples; none if there are none.
    pub fn in_words(&self) -> Option<String> {
        let SampleGrouping { copies, contradicting, expected, groups, ref first, .. } = *self;
        let n = first.len();
        if copies == 0 {
            return None;
        }
        if expected {
            return Some(format!(
                "{copies} of {n} samples equal an earlier one in every variable, which is likely where so few variables have so few \
                 values: they count as different samples and do not stay together"
            ));
        }
        let other = match contradicting {
            0 => String::new(),
            some => format!(" ({some} of them with another class)"),
        };
        let fewer = match groups {
            Some((given, left)) if left < given => {
                format!("; groups that share copies count as one, so {left} of {given} groups are left")
            }
            _ => String::new(),
        };
        Some(format!(
            "{copies} of {n} samples are copies of others{other}; copies stay on one side of every split{fewer}"
        ))
    }

    /// The rows of every unit.
    pub(crate) fn rows(&self) -> Vec<Vec<usize>> {
        let own: Vec<usize>;
        let units = match &self.units {
            Some(units) => units,
            None => {
                own = (0..self.first.len()).collect();
                &own
            }
        };
        let mut rows = vec![Vec::new(); units.iter().max().map_or(0, |&most| most + 1)];
        units.iter().enumerate().for_each(|(i, &unit)| rows[unit].push(i));
        rows.retain(|rows| !rows.is_empty());
        rows
    }

    /// How many distinct samples of every class are among `rows`.
    pub(crate) fn distinct_of_classes(&self, data: &Dataset<'_>, rows: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; data.classes().len()];
        let kinds: BTreeSet<(usize, usize)> =
            rows.iter().map(|&i| (data.class_of(i), self.first[i])).collect();
        kinds.into_iter().for_each(|(class, _)| counts[class] += 1);
        counts
    }

    /// Whether copies are what keeps samples together.
    pub(crate) fn has_copies(&self) -> bool {
        self.copies > 0 && !self.expected
    }
}

/// Whether variables with so few values make so many pairs equal.
fn by_chance(samples: View<'_>, first: &[usize]) -> bool {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    first.iter().for_each(|&kind| *sizes.entry(kind).or_default() += 1);
    let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let enough = EXPECTED * sizes.values().map(|&size| pairs(size)).sum::<f64>() / pairs(first.len());
    chance_of_equality(samples, enough) >= enough
}

/// The groups where those that share copies are one: numbers from 0 in the order in which they first appear.
fn joined(groups: &[usize], first: &[usize]) -> Vec<usize> {
    let groups = numbered(groups.iter().copied());
    let mut parent: Vec<usize> = (0..groups.iter().max().map_or(0, |&most| most + 1)).collect();
    fn root(parent: &mut [usize], mut group: usize) -> usize {
        while parent[group] != group {
            parent[group] = parent[parent[group]];
            group = parent[group];
        }
        group
    }
    for (i, &kind) in first.iter().enumerate() {
        let (one, other) = (root(&mut parent, groups[i]), root(&mut parent, groups[kind]));
        parent[one.max(other)] = one.min(other);
    }
    numbered(groups.iter().map(|&group| root(&mut parent, group)).collect::<Vec<_>>().into_iter())
}

/// Numbers from 0 in the order in which values first appear.
fn numbered(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut known: BTreeMap<usize, usize> = BTreeMap::new();
    let number = |value: usize| {
        let next = known.len();
        *known.entry(value).or_insert(next)
    };
    values.map(number).collect()
}

fn distinct(values: &[usize]) -> usize {
    values.iter().collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::RngExt;

    use super::super::generator;
    use super::*;

    /// Noise, in which sample i has the values of row `source[i]`.
    fn data(source: &[usize], labels: &[usize]) -> Dataset<'static> {
        let mut rng = generator(8, &[]);
        let noise = Mat::from_fn(source.len(), 6, |_, _| rng.random::<f64>());
        Dataset::from_owned(Mat::from_fn(source.len(), 6, |i, j| noise[(source[i], j)]), labels).unwrap()
    }

    #[test]
    fn copies_are_one_unit_and_groups_that_share_them_are_one_group() {
        let none = together(&data(&[0, 1, 2, 3], &[0, 1, 0, 1]), None).unwrap();
        assert_eq!((none.units.as_ref(), none.in_words()), (None, None));
        let data = data(&[0, 1, 0, 3, 1, 5], &[0, 1, 0, 1, 0, 1]);
        let alone = together(&data, None).unwrap();
        assert_eq!(alone.units, Some(vec![0, 1, 0, 2, 1, 3]));
        assert_eq!((alone.copies, alone.contradicting, alone.groups), (2, 1, None));
        assert!(alone.in_words().unwrap().starts_with("2 of 6 samples are copies of others (1 of them"));
        // The groups 7 and 4 share a copy, and 4 and 9 another.
        let grouped = together(&data, Some(&[7, 9, 4, 2, 4, 2])).unwrap();
        assert_eq!(grouped.units, Some(vec![0, 0, 0, 1, 0, 1]));
        assert_eq!(grouped.groups, Some((4, 2)));
        assert!(grouped.in_words().unwrap().contains("2 of 4 groups are left"));
        // Nothing changes where copies are in one group anyway.
        let given = [7, 9, 7, 2, 9, 2];
        assert_eq!(together(&data, Some(&given)).unwrap().units, Some(given.to_vec()));
        assert!(together(&data, Some(&[0])).unwrap_err().to_string().contains("6 samples"));
    }

    #[test]
    fn equal_samples_of_few_values_are_no_copies() {
        let labels: Vec<usize> = (0..60).map(|i| i % 2).collect();
        let marker = Mat::from_fn(60, 1, |i, _| (i % 2) as f64);
        let mut rng = generator(2, &[]);
        let markers = Mat::from_fn(60, 5, |_, _| f64::from(rng.random_range(0..2)));
        for x in [marker, markers.clone()] {
            let found = together(&Dataset::from_owned(x, &labels).unwrap(), None).unwrap();
            assert!(found.expected && found.units.is_none(), "{found:?}");
            assert!(found.in_words().unwrap().contains("count as different samples"));
        }
        // Of 60 markers, equal samples are copies.
        let wide = Mat::from_fn(60, 60, |i, j| f64::from((i / 2 * 37 + j * 101 + i / 2 * j * 13) % 97 > 48));
        let found = together(&Dataset::from_owned(wide, &labels).unwrap(), None).unwrap();
        assert_eq!((found.copies, found.contradicting, found.expected), (30, 30, false));
    }
}
