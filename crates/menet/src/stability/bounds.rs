//! Bounds on the expected number of false selections in a stable panel.
//!
//! A stable variable is one whose frequency Π over 2B half-samples is at least τ. A false selection is a stable variable that half-samples
//! select no more often than by chance, with a probability of at most θ = q/p, where q is the mean size of the panels and p the number of
//! variables. Three bounds on their expected number, each under more assumptions than the one before:
//!
//! | bound | value | assumption |
//! |---|---|---|
//! | Meinshausen and Bühlmann, and Shah and Samworth's worst case for complementary pairs | q² / ((2τ−1) p) | none beyond the above, for complementary pairs |
//! | unimodal | C(τ, B) q² / p | Π̃ of such a variable has a unimodal distribution |
//! | r-concave | p min(D(θ², 2τ−1, B, −1/2), D(θ, τ, 2B, −1/4)) | Π̃ has a −1/2-concave one, and Π a −1/4-concave one |
//!
//! Π̃ is the fraction of the B pairs both halves of which select the variable. A pair with one selection counts ½ in Π, one with none 0, so
//! that `Π̃ ≥ 2Π − 1`; and if the two halves are independent, `E Π̃ ≤ θ²`. Markov's inequality gives the first bound:
//! `P(Π ≥ τ) ≤ P(Π̃ ≥ 2τ−1) ≤ θ²/(2τ−1)` for each of at most p variables. The other two maximise the same tail over fewer distributions.
//! C is the maximum over unimodal ones (their Theorem 2), D(η, t, B, r) that over r-concave ones on {0, 1/B, …, 1} with mean η (`concave`).
//!
//! Meinshausen and Bühlmann, "Stability selection", JRSS B 72 (2010); Shah and Samworth, "Variable selection with error control: another
//! look at stability selection", JRSS B 75 (2013).

use super::concave::largest_tail;
use crate::error::{Error, Result, check};

/// Bounds on the expected number of false selections.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Without assumptions on distributions: Meinshausen and Bühlmann's bound, and Shah and Samworth's worst case.
    pub meinshausen_buhlmann: f64,
    /// For unimodal distributions. The bound above where the theorem does not apply: a panel has too large a part of the variables.
    pub unimodal: f64,
    /// For r-concave distributions. The bound above where panels have too large a part of the variables.
    pub r_concave: f64,
}

/// Bounds for the threshold τ, panels of `size` variables on average out of `variables`, and complementary pairs of half-samples.
///
/// # Errors
/// When the threshold is not above 1/2 and at most 1, the size is not from 0 to `variables`, or there are no pairs.
pub fn bounds(threshold: f64, size: f64, variables: usize, pairs: usize) -> Result<Bounds> {
    let setting = BoundSetting::new(threshold, variables, pairs)?;
    if !(0.0..=setting.p).contains(&size) {
        let allowed = format!("from 0 to {variables}, the number of variables");
        return Err(Error::parameter("size", format!("{size:?}"), allowed));
    }
    let (worst, unimodal) = (setting.worst(size), setting.unimodal(size));
    Ok(Bounds { meinshausen_buhlmann: worst, unimodal, r_concave: setting.r_concave(size).min(unimodal) })
}

/// The largest panel size, from 1 to `variables`, whose [unimodal bound](Bounds::unimodal) is at most `false_selections`; 1 if there is none.
///
/// # Errors
/// As [`bounds`], and when `false_selections` is not above 0.
pub fn size_for(false_selections: f64, threshold: f64, variables: usize, pairs: usize) -> Result<usize> {
    check("false_selections", false_selections, "a number > 0, at most 1e100", |x| x > 0.0)?;
    let setting = BoundSetting::new(threshold, variables, pairs)?;
    // The bound grows with the size.
    let within = |&size: &usize| setting.unimodal(size as f64) <= false_selections;
    Ok((1..=variables).take_while(within).last().unwrap_or(1))
}

/// What the bounds depend on beside the size.
struct BoundSetting {
    threshold: f64,
    p: f64,
    pairs: usize,
    /// The smallest of 0, 1, …, 2B that is a frequency, times 2B, of at least the threshold.
    selections: usize,
}

impl BoundSetting {
    fn new(threshold: f64, variables: usize, pairs: usize) -> Result<Self> {
        check("threshold", threshold, "above 0.5, at most 1", |x| x > 0.5 && x <= 1.0)?;
        if pairs == 0 {
            return Err(Error::parameter("pairs", 0, ">= 1"));
        }
        if variables == 0 {
            return Err(Error::parameter("variables", 0, ">= 1"));
        }
        let halves = 2 * pairs;
        // Compared as the frequencies themselves are.
        let reached = |count: &usize| *count as f64 / halves as f64 >= threshold;
        let selections = (pairs..=halves).find(reached).unwrap_or(halves);
        Ok(BoundSetting { threshold, p: variables as f64, pairs, selections })
    }

    fn worst(&self, size: f64) -> f64 {
        size * size / ((2.0 * self.threshold - 1.0) * self.p)
    }

    fn unimodal(&self, size: f64) -> f64 {
        let (b, theta) = (self.pairs as f64, size / self.p);
        let tau = self.selections as f64 / (2.0 * b);
        let square = theta * theta;
        // The theorem's range: below it, other distributions than those with the mode at 0 would have to be considered.
        let least = 0.5 + square.min(1.0 / (2.0 * b) + 0.75 * square);
        if square > 1.0 / 3.0 || tau <= least {
            return self.worst(size);
        }
        let factor = if tau <= 0.75 {
            1.0 / (2.0 * (2.0 * tau - 1.0 - 1.0 / (2.0 * b)))
        } else {
            4.0 * (1.0 - tau + 1.0 / (2.0 * b)) / (1.0 + 1.0 / b)
        };
        (factor * size * theta).min(self.worst(size))
    }

    fn r_concave(&self, size: f64) -> f64 {
        let (b, theta) = (self.pairs, size / self.p);
        // Π̃ ≥ 2τ − 1 means so many pairs; at least one, since τ is above ½.
        let both = self.selections - b;
        let simultaneous = largest_tail(theta * theta, both, b, 2);
        let frequency = largest_tail(theta, self.selections, 2 * b, 4);
        self.p * simultaneous.min(frequency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_formulas() {
        // q²/((2τ−1)p) = 900/(0.5·1000), and C(0.75, 50) = 1/(2(0.5 − 0.01)).
        let found = bounds(0.75, 30.0, 1_000, 50).unwrap();
        assert!((found.meinshausen_buhlmann - 1.8).abs() < 1e-12);
        assert!((found.unimodal - 0.9 / 0.98).abs() < 1e-12);
        // C(0.9, 50) = 4(0.1 + 0.01)/1.02.
        let found = bounds(0.9, 30.0, 1_000, 50).unwrap();
        assert!((found.unimodal - 0.9 * 0.44 / 1.02).abs() < 1e-12);
        // 0.745 is reached by no other frequencies than 0.75 is.
        assert_eq!(
            bounds(0.745, 30.0, 1_000, 50).unwrap().unimodal,
            bounds(0.75, 30.0, 1_000, 50).unwrap().unimodal
        );
    }

    #[test]
    fn more_assumptions_give_smaller_bounds_and_larger_thresholds_too() {
        for (variables, size) in
            [(1_000, 30.0), (5_000, 70.5), (50, 10.0), (10, 9.0), (3, 3.0), (1, 1.0), (40, 0.0)]
        {
            for pairs in [1, 2, 7, 50] {
                let mut before = f64::INFINITY;
                for threshold in [0.51, 0.55, 0.6, 0.75, 0.8, 0.95, 1.0] {
                    let found = bounds(threshold, size, variables, pairs).unwrap();
                    let Bounds { meinshausen_buhlmann, unimodal, r_concave } = found;
                    assert!(0.0 <= r_concave && r_concave <= unimodal && unimodal <= meinshausen_buhlmann);
                    assert!(
                        r_concave <= before * (1.0 + 1e-9),
                        "{size} of {variables}, {pairs} pairs, {threshold}"
                    );
                    before = r_concave;
                }
            }
        }
    }

    #[test]
    fn the_size_is_the_largest_within_the_bound() {
        for (variables, threshold, allowed) in [(5_000, 0.75, 1.0), (2_308, 0.6, 0.5), (100, 0.9, 3.0)] {
            let size = size_for(allowed, threshold, variables, 50).unwrap();
            let unimodal = |size: usize| bounds(threshold, size as f64, variables, 50).unwrap().unimodal;
            assert!(unimodal(size) <= allowed && unimodal(size + 1) > allowed, "{size}");
        }
        assert_eq!(size_for(1e-9, 0.75, 50, 50).unwrap(), 1, "at least one");
        assert_eq!(size_for(1e9, 0.75, 50, 50).unwrap(), 50, "at most all");
    }

    #[test]
    fn what_is_out_of_range_is_told() {
        for threshold in [0.5, 0.0, -1.0, 1.01, f64::NAN] {
            let message = bounds(threshold, 3.0, 10, 50).unwrap_err().to_string();
            assert!(message.contains("`threshold`") && message.contains("above 0.5, at most 1"), "{message}");
        }
        assert!(bounds(0.75, 11.0, 10, 50).unwrap_err().to_string().contains("from 0 to 10"));
        assert!(bounds(0.75, 3.0, 10, 0).unwrap_err().to_string().contains("`pairs`"));
        assert!(size_for(0.0, 0.75, 10, 50).unwrap_err().to_string().contains("`false_selections`"));
    }
}
