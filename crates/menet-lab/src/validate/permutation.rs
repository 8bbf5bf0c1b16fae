//! The permutation test: when it may stop, and its p-value.
//!
//! Under the null hypothesis the observed result and the permuted ones are exchangeable. After m permutations of which g are as good as
//! the observed one, the p-value is (g + 1)/(m + 1). A test that stops early stops in one of three ways, from the most to the least
//! significant:
//!
//! 1. none of the first [`FIRST`] permutations is as good: the answer is clear;
//! 2. all permutations were done, and fewer than [`ENOUGH`] are as good;
//! 3. [`ENOUGH`] are as good (Besag and Clifford): more permutations would only make a large p-value more precise.
//!
//! The p-value is the exact probability, under the null hypothesis, that the test ends at least as significantly as it did. So it is
//! valid whenever the test stops.

use super::arrangements::{Arrangements, MANY};
use super::intervals::exact;
use super::{Interval, PermutationTest};

/// If none of so many permutations is as good as what was observed, p is at most 0.01.
const FIRST: usize = 99;

/// A p-value up to this is taken for a finding.
pub(crate) const LEVEL: f64 = 0.05;

/// If so many permutations are as good as what was observed, p is known to about a fifth of itself.
const ENOUGH: usize = 20;

/// The balanced accuracy, and the log loss that decides between equals.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Statistic {
    /// From 0 to 1.
    pub(super) balanced: f64,
    pub(super) log_loss: Option<f64>,
    /// In how many folds the procedure could not learn. There, decisions are at chance.
    pub(super) failed: usize,
}

impl Statistic {
    /// Whether this is as good as `other`, or better. Rounding does not decide.
    fn as_good_as(&self, other: &Statistic) -> bool {
        if (self.balanced - other.balanced).abs() > 1e-12 {
            return self.balanced > other.balanced;
        }
        match (self.log_loss, other.log_loss) {
            (Some(own), Some(other)) => own <= other,
            _ => true,
        }
    }
}

/// The test so far.
pub(super) fn test(
    observed: Statistic,
    permuted: &[Statistic],
    arrangements: &Arrangements,
    asked: usize,
    early: bool,
) -> Option<PermutationTest> {
    let mut as_good = 0;
    for (k, statistic) in permuted.iter().enumerate() {
        as_good += usize::from(statistic.as_good_as(&observed));
        let done = k + 1;
        let clear = early && ((done == FIRST && as_good == 0) || as_good == ENOUGH);
        if done < asked && !clear {
            continue;
        }
        let (low, high) = exact(as_good, done);
        let mean = p_value(as_good, done, asked, early);
        return Some(PermutationTest {
            observed: observed.balanced,
            permuted: permuted[..done].iter().map(|found| found.balanced).collect(),
            failed: permuted[..done].iter().filter(|found| found.failed > 0).count(),
            as_good,
            p_value: Interval { mean, low: low.min(mean), high: high.max(mean) },
            asked,
            early: done < asked,
            arrangements: arrangements.count(),
            exchanged: arrangements.in_words().map(str::to_owned),
        });
    }
    None
}

impl PermutationTest {
    /// Whether there are too many arrangements of the labels to count; `arrangements` is the least number then.
    pub fn many(&self) -> bool {
        self.arrangements >= MANY
    }

    /// The smallest p-value that the test can give: the labels themselves are one of the arrangements.
    pub fn smallest(&self) -> f64 {
        (1.0 / (self.asked + 1) as f64).max(1.0 / self.arrangements.max(1) as f64)
    }

    /// Why p cannot be 0.05 or less, and what to do; none if it can.
    pub fn limit(&self) -> Option<String> {
        let smallest = self.smallest();
        if smallest <= LEVEL {
            return None;
        }
        let why = match self.arrangements as f64 * smallest > 1.5 {
            true => format!("{} permutations are too few; ask for at least 19", self.asked),
            false => {
                let unit = if self.exchanged.is_some() { "so few groups" } else { "so few samples" };
                format!(
                    "{unit} allow only {} arrangements of the labels; use more or smaller ones",
                    self.arrangements
                )
            }
        };
        Some(format!("p cannot be below {smallest:.2}: {why}"))
    }
}

/// The p-value of a test that ended after `done` permutations.
fn p_value(as_good: usize, done: usize, asked: usize, early: bool) -> f64 {
    if !early {
        return (as_good + 1) as f64 / (done + 1) as f64;
    }
    // The test ends at least as significantly if at most `good` of `of` permutations are as good, or in the first way.
    let (good, of) = if as_good == ENOUGH { (ENOUGH - 1, done - 1) } else { (as_good, done) };
    let plain = (good + 1) as f64 / (of + 1) as f64;
    if asked <= FIRST || of < FIRST || (of == FIRST && good == 0) {
        return plain.min(1.0);
    }
    // Of the results with at most `good` of `of`, those whose first `FIRST` are all worse are counted in the first way already:
    // Σ C(of − FIRST, i) i! (of − i)! / (of + 1)! over i ≤ good.
    let (mut both, mut term) = (0.0, 1.0 / (of + 1) as f64);
    for i in 0..=good.min(of - FIRST) {
        both += term;
        term *= (of - FIRST - i) as f64 / (of - i) as f64;
    }
    (1.0 / (FIRST + 1) as f64 + plain - both).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(values: &[f64]) -> Vec<Statistic> {
        values.iter().map(|&balanced| Statistic { balanced, log_loss: None, failed: 0 }).collect()
    }

    /// Of labels that have many arrangements.
    fn test(
        observed: Statistic,
        permuted: &[Statistic],
        asked: usize,
        early: bool,
    ) -> Option<PermutationTest> {
        let codes: Vec<usize> = (0..60).map(|i| i % 2).collect();
        super::test(observed, permuted, &Arrangements::new(&codes, None), asked, early)
    }

    /// The probability of every end of the test under the null hypothesis, with its p-value: Pólya's urn, by counting.
    fn ends(asked: usize) -> Vec<(f64, f64)> {
        let mut found = Vec::new();
        // The chances of the numbers of as good permutations so far, among tests that go on.
        let mut chances = vec![1.0];
        for done in 1..=asked {
            let mut next = vec![0.0; chances.len() + 1];
            for (good, chance) in chances.iter().enumerate() {
                let up = (good + 1) as f64 / (done + 1) as f64;
                next[good + 1] += chance * up;
                next[good] += chance * (1.0 - up);
            }
            for (good, chance) in next.iter_mut().enumerate() {
                let ends = done == asked || (done == FIRST && good == 0) || good == ENOUGH;
                // More than enough cannot be reached.
                if ends && *chance > 0.0 {
                    found.push((p_value(good, done, asked, true), std::mem::take(chance)));
                }
            }
            chances = next;
        }
        found
    }

    #[test]
    fn the_p_value_is_exactly_valid_whenever_the_test_stops() {
        for asked in [30, 99, 100, 250, 1000] {
            let mut ends = ends(asked);
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            let total: f64 = ends.iter().map(|(_, chance)| chance).sum();
            assert!((total - 1.0).abs() < 1e-9);
            let mut below = 0.0;
            for (at, (p, chance)) in ends.iter().enumerate() {
                below += chance;
                // P(p-value ≤ p) = p at every p that occurs.
                if ends.get(at + 1).is_none_or(|next| next.0 > p + 1e-12) {
                    assert!((below - p).abs() < 1e-9, "{asked}: {below} at {p}");
                }
            }
        }
    }

    #[test]
    fn a_test_stops_when_its_answer_is_clear() {
        let observed = Statistic { balanced: 0.9, log_loss: None, failed: 0 };
        let worse = statistics(&[0.5; 1000]);
        let found = test(observed, &worse, 1000, true).unwrap();
        assert_eq!((found.permuted.len(), found.as_good, found.early), (99, 0, true));
        assert!((found.p_value.mean - 0.01).abs() < 1e-12 && found.p_value.high < 0.04);
        let full = test(observed, &worse, 1000, false).unwrap();
        assert_eq!((full.permuted.len(), full.early), (1000, false));
        assert!((full.p_value.mean - 1.0 / 1001.0).abs() < 1e-12);
        let mixed: Vec<f64> = (0..1000).map(|k| if k % 2 == 0 { 0.95 } else { 0.5 }).collect();
        let found = test(observed, &statistics(&mixed), 1000, true).unwrap();
        assert_eq!((found.permuted.len(), found.as_good), (39, 20));
        assert!((found.p_value.mean - 20.0 / 39.0).abs() < 1e-12);
        assert!(test(observed, &worse[..50], 1000, true).is_none(), "not enough to tell");
    }

    #[test]
    fn the_log_loss_decides_between_equals_and_failures_are_counted() {
        let of = |balanced, log_loss| Statistic { balanced, log_loss, failed: 0 };
        let observed = of(0.8, Some(0.5));
        assert!(of(0.8, Some(0.5)).as_good_as(&observed) && of(0.8, Some(0.4)).as_good_as(&observed));
        assert!(!of(0.8, Some(0.6)).as_good_as(&observed) && of(0.9, Some(9.0)).as_good_as(&observed));
        assert!(of(0.8, None).as_good_as(&observed) && !of(0.7, None).as_good_as(&observed));
        let permuted = [Statistic { failed: 2, ..of(0.5, None) }, of(0.9, None)];
        let found = test(observed, &permuted, 2, true).unwrap();
        assert_eq!((found.as_good, found.failed), (1, 1));
    }

    #[test]
    fn a_p_value_that_cannot_be_small_is_told() {
        let observed = Statistic { balanced: 0.9, log_loss: None, failed: 0 };
        let of = |asked: usize, codes: &[usize], groups: Option<&[usize]>| {
            let worse = statistics(&vec![0.5; asked]);
            super::test(observed, &worse, &Arrangements::new(codes, groups), asked, false).unwrap().limit()
        };
        let codes = [0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1];
        assert_eq!(of(19, &codes, None), None);
        assert!(of(18, &codes, None).unwrap().contains("18 permutations are too few"));
        let pairs = [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 4, 5];
        assert_eq!(of(99, &codes, Some(&pairs)), None, "20 arrangements of six groups");
        let sentence = of(99, &codes, Some(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 2, 3])).unwrap();
        assert!(sentence.contains("below 0.17") && sentence.contains("only 6 arrangements"), "{sentence}");
    }
}
