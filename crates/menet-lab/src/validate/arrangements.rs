//! How labels are permuted, and in how many ways.
//!
//! Under the null hypothesis, every arrangement of the labels that a permutation can give is as likely as any other. What may be exchanged
//! depends on the groups:
//!
//! | groups | what is exchanged |
//! |---|---|
//! | none | the classes of all samples |
//! | all have one class | the classes of whole groups |
//! | some have several classes | the lists of classes of groups of equal size; then classes inside every group |
//! | at most a quarter of those with several samples | the same, and the classes of whole groups of one class with several samples |
//!
//! Groups of different sizes do not exchange their lists, because a larger group has several classes more often. Where nearly all groups
//! have one class, the class is a property of the group, and its size says nothing about it: one relabelled sample then costs little.
//!
//! The groups that have several classes may be others afterwards, but not how many of every size, and which lists these have. So every
//! arrangement leads to the same arrangements as any other, as a permutation test needs it.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::SliceRandom;

/// More arrangements than this are not counted.
pub(super) const MANY: u64 = 1_000_000;

/// The labels and what may be exchanged.
#[derive(Debug)]
pub(super) struct Arrangements {
    codes: Vec<usize>,
    /// The rows of every group; none without groups.
    groups: Option<Vec<Vec<usize>>>,
    exchange: Exchange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exchange {
    Samples,
    Groups,
    /// `whole`: groups of one class with several samples exchange their classes, too.
    Lists {
        whole: bool,
    },
}

impl Arrangements {
    /// Of labels as numbers, with one group number per sample if there are groups.
    pub(super) fn new(codes: &[usize], groups: Option<&[usize]>) -> Self {
        let codes = codes.to_vec();
        let Some(groups) = groups else {
            return Arrangements { codes, groups: None, exchange: Exchange::Samples };
        };
        let mut rows = vec![Vec::new(); groups.iter().max().map_or(0, |&most| most + 1)];
        groups.iter().enumerate().for_each(|(i, &group)| rows[group].push(i));
        rows.retain(|rows| !rows.is_empty());
        let several = rows.iter().filter(|rows| rows.len() > 1).count();
        let mixed = rows.iter().filter(|rows| rows.iter().any(|&i| codes[i] != codes[rows[0]])).count();
        let exchange = match mixed {
            0 => Exchange::Groups,
            _ => Exchange::Lists { whole: 4 * mixed <= several },
        };
        Arrangements { codes, groups: Some(rows), exchange }
    }

    /// One of them at random.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> Vec<usize> {
        let mut codes = self.codes.clone();
        let Some(groups) = &self.groups else {
            codes.shuffle(rng);
            return codes;
        };
        if self.exchange == Exchange::Groups {
            let mut classes: Vec<usize> = groups.iter().map(|rows| codes[rows[0]]).collect();
            classes.shuffle(rng);
            for (rows, class) in groups.iter().zip(classes) {
                rows.iter().for_each(|&i| codes[i] = class);
            }
            return codes;
        }
        let mut lists = self.lists();
        for places in self.by_size().values() {
            let mut moved: Vec<Vec<usize>> = places.iter().map(|&g| std::mem::take(&mut lists[g])).collect();
            moved.shuffle(rng);
            places.iter().zip(moved).for_each(|(&g, list)| lists[g] = list);
        }
        if self.exchange == (Exchange::Lists { whole: true }) {
            let whole: Vec<usize> = (0..lists.len()).filter(|&g| is_whole(&lists[g])).collect();
            let mut classes: Vec<usize> = whole.iter().map(|&g| lists[g][0]).collect();
            classes.shuffle(rng);
            whole.iter().zip(classes).for_each(|(&g, class)| lists[g].fill(class));
        }
        for (rows, mut list) in groups.iter().zip(lists) {
            list.shuffle(rng);
            rows.iter().zip(list).for_each(|(&i, class)| codes[i] = class);
        }
        codes
    }

    /// How many there are, at most [`MANY`].
    pub(super) fn count(&self) -> u64 {
        let Some(groups) = &self.groups else { return ways(self.codes.iter()) };
        if self.exchange == Exchange::Groups {
            return ways(groups.iter().map(|rows| self.codes[rows[0]]));
        }
        let whole = self.exchange == Exchange::Lists { whole: true };
        let mut lists = self.lists();
        lists.iter_mut().for_each(|list| list.sort_unstable());
        let inside = lists.iter().map(|list| ways(list.iter()));
        // Where whole groups exchange classes, their lists are all alike until then.
        let kind = |g: &usize| if whole && is_whole(&lists[*g]) { Vec::new() } else { lists[*g].clone() };
        let sizes = self.by_size();
        let between = sizes.values().map(|places| ways(places.iter().map(kind)));
        let classes = lists.iter().filter(|list| whole && is_whole(list)).map(|list| list[0]);
        inside.chain(between).chain([ways(classes)]).fold(1, times)
    }

    /// What is exchanged, as part of a sentence; none where samples exchange their classes.
    pub(super) fn in_words(&self) -> Option<&'static str> {
        match self.exchange {
            Exchange::Samples => None,
            Exchange::Groups => Some("whole groups exchanged their classes"),
            Exchange::Lists { whole: false } => Some(
                "groups of equal size exchanged the classes of their samples, and samples exchanged them inside each group",
            ),
            Exchange::Lists { whole: true } => Some(
                "groups of one class exchanged it, groups of equal size exchanged the classes of their samples, and samples exchanged \
                 them inside each group",
            ),
        }
    }

    /// The classes of the samples of every group.
    fn lists(&self) -> Vec<Vec<usize>> {
        let list = |rows: &Vec<usize>| rows.iter().map(|&i| self.codes[i]).collect();
        self.groups.iter().flatten().map(list).collect()
    }

    /// The groups of every size.
    fn by_size(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut sizes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let groups = self.groups.iter().flatten().enumerate();
        groups.for_each(|(g, rows)| sizes.entry(rows.len()).or_default().push(g));
        sizes
    }
}

/// Whether a group has several samples, all of one class.
fn is_whole(list: &[usize]) -> bool {
    list.len() > 1 && list.iter().all(|class| *class == list[0])
}

/// In how many ways things can be put in a row, equal ones being the same.
fn ways<T: Ord>(things: impl Iterator<Item = T>) -> u64 {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    things.for_each(|thing| *counts.entry(thing).or_default() += 1);
    let (mut all, mut ways) = (0, 1);
    for count in counts.into_values() {
        // The places of these among all so far.
        let mut places = 1_u64;
        for k in 1..=count.min(all) {
            // Exact, since it is a binomial coefficient at every step.
            let of = all + count - count.min(all) + k;
            let next = u128::from(places) * u128::from(of) / u128::from(k);
            places = u64::try_from(next).unwrap_or(u64::MAX);
            if places >= MANY {
                return MANY;
            }
        }
        all += count;
        ways = times(ways, places);
    }
    ways
}

fn times(a: u64, b: u64) -> u64 {
    a.saturating_mul(b).min(MANY)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use menet::evaluate::generator;

    use super::*;

    /// The arrangements that occur, with how often.
    fn drawn(from: &Arrangements, times: u64) -> BTreeMap<Vec<usize>, u64> {
        let mut found: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        let mut rng = generator(3, &[]);
        (0..times).for_each(|_| *found.entry(from.draw(&mut rng)).or_default() += 1);
        found
    }

    type LabelsAndGroups = (&'static [usize], Option<&'static [usize]>);

    /// Labels and groups: none; whole ones; one mixed group of three among whole ones; all mixed; sizes that differ.
    const CASES: [LabelsAndGroups; 6] = [
        (&[0, 0, 0, 1, 1, 2], None),
        (&[0, 0, 0, 1, 1, 1, 1, 2], Some(&[0, 0, 1, 2, 2, 2, 3, 4])),
        (&[0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1], Some(&[0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4])),
        (&[0, 1, 0, 0, 1, 1, 0, 1], Some(&[0, 0, 1, 1, 2, 2, 3, 3])),
        (&[0, 1, 0, 1, 1, 0, 0], Some(&[0, 0, 1, 1, 1, 2, 3])),
        (&[0, 1, 1, 0, 0, 1, 1, 1, 2, 2], Some(&[0, 0, 0, 1, 1, 2, 2, 3, 3, 3])),
    ];

    #[test]
    fn all_arrangements_are_counted_and_equally_likely() {
        for (codes, groups) in CASES {
            let from = Arrangements::new(codes, groups);
            let count = from.count();
            let found = drawn(&from, 400 * count);
            assert_eq!(found.len() as u64, count, "{codes:?} {groups:?}");
            // 400 are expected of each; the standard deviation is 20.
            assert!(
                found.values().all(|&times| (290..510).contains(&times)),
                "{codes:?} {groups:?} {found:?}"
            );
            assert!(found.contains_key(codes), "the labels themselves are one of them");
        }
    }

    #[test]
    fn every_arrangement_leads_to_the_same_ones() {
        for (codes, groups) in CASES {
            let from = Arrangements::new(codes, groups);
            let all: BTreeSet<Vec<usize>> = drawn(&from, 400 * from.count()).into_keys().collect();
            for start in all.iter().take(12) {
                let again = Arrangements::new(start, groups);
                assert_eq!((again.count(), again.exchange), (from.count(), from.exchange));
                assert!(drawn(&again, 50).keys().all(|arrangement| all.contains(arrangement)));
            }
        }
    }

    #[test]
    fn a_relabelled_sample_costs_little() {
        // Eight patients of two to nine samples, one of which is mixed.
        let groups: Vec<usize> = (0..8).flat_map(|g| vec![g; g + 2]).collect();
        let mut codes: Vec<usize> = groups.iter().map(|g| g % 2).collect();
        codes[2] = 1 - codes[2];
        let found = Arrangements::new(&codes, Some(&groups));
        assert_eq!(found.count(), 35 * 3);
        assert!(found.in_words().unwrap().starts_with("groups of one class exchanged it"));
    }

    #[test]
    fn many_are_many() {
        assert_eq!(ways([0; 30].iter()), 1);
        assert_eq!(ways([0, 0, 0, 1, 1, 2].iter()), 60);
        assert_eq!(ways((0..9).collect::<Vec<_>>().iter()), 362_880);
        assert_eq!(ways((0..10_000).map(|i| i % 2)), MANY);
        assert_eq!(ways((0..10_000).map(|i| usize::from(i == 0))), 10_000);
        assert_eq!(Arrangements::new(&[0; 40], None).count(), 1);
    }
}
