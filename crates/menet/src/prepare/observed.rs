//! Statistics of the values of one variable that are there, each with a weight.

use crate::preprocess::SQUARABLE;

/// So small a part of their size are deviations that rounding makes.
const CONSTANT: f64 = 1e-12;

/// Values that are not missing, and their weights, which are positive.
#[derive(Debug, Clone, Default)]
pub(super) struct ObservedValues(Vec<(f64, f64)>);

impl FromIterator<(f64, f64)> for ObservedValues {
    /// From values and weights; missing values, and those of weight 0, are left out.
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(values: I) -> Self {
        ObservedValues(
            values.into_iter().filter(|(value, weight)| !value.is_nan() && *weight > 0.0).collect(),
        )
    }
}

impl ObservedValues {
    /// The sum of the weights.
    pub(super) fn weight(&self) -> f64 {
        self.0.iter().map(|(_, weight)| weight).sum()
    }

    /// The mean; NaN if there is no value.
    pub(super) fn mean(&self) -> f64 {
        match self.0.first() {
            None => f64::NAN,
            // Exactly that value, which a sum of many would miss by rounding.
            Some(&(first, _)) if self.0.iter().all(|&(value, _)| value == first) => first,
            Some(_) => self.0.iter().map(|(value, weight)| value * weight).sum::<f64>() / self.weight(),
        }
    }

    /// The standard deviation, the mean square over all values; 0 if they are constant up to rounding, or too small to be squared.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let mean_of = |of: &dyn Fn(f64) -> f64| {
            self.0.iter().map(|&(value, weight)| weight * of(value)).sum::<f64>() / self.weight()
        };
        let deviation = mean_of(&|value| (value - mean) * (value - mean)).sqrt();
        let size = mean_of(&|value| value * value).sqrt();
        if deviation > CONSTANT * size && deviation >= SQUARABLE { deviation } else { 0.0 }
    }

    /// The median: half of the weight is below, half above; NaN if there is no value.
    pub(super) fn median(mut self) -> f64 {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = self.weight() / 2.0;
        let mut below = 0.0;
        for (at, &(value, weight)) in self.0.iter().enumerate() {
            below += weight;
            // Sums of weights may be off by rounding.
            if (below - half).abs() <= 1e-12 * half {
                let next = self.0.get(at + 1).map_or(value, |next| next.0);
                return value / 2.0 + next / 2.0;
            }
            if below > half {
                return value;
            }
        }
        self.0.last().map_or(f64::NAN, |last| last.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(f64, f64)]) -> ObservedValues {
        pairs.iter().copied().collect()
    }

    #[test]
    fn whole_weights_are_repeated_values() {
        let pairs = [(3.0, 2.0), (f64::NAN, 5.0), (1.0, 1.0), (9.0, 0.0), (4.0, 3.0), (2.5, 2.0)];
        let repeated: Vec<(f64, f64)> =
            pairs.iter().flat_map(|&(value, weight)| vec![(value, 1.0); weight as usize]).collect();
        let (weighted, plain) = (of(&pairs), of(&repeated));
        assert!((weighted.mean() - plain.mean()).abs() < 1e-15);
        assert!((weighted.deviation() - plain.deviation()).abs() < 1e-15);
        assert_eq!(weighted.weight(), 8.0);
        assert_eq!(weighted.median(), plain.median());
    }

    #[test]
    fn known_values() {
        let plain = |values: &[f64]| values.iter().map(|&value| (value, 1.0)).collect::<ObservedValues>();
        assert_eq!(plain(&[1.0, 2.0, 3.0, 10.0]).median(), 2.5);
        assert_eq!(plain(&[10.0, 2.0, 1.0]).median(), 2.0);
        assert_eq!(plain(&[1.0, 3.0]).deviation(), 1.0);
        assert_eq!(plain(&[0.1; 7]).deviation(), 0.0);
        assert_eq!(plain(&[0.1; 7]).mean(), 0.1);
        assert!(plain(&[f64::NAN]).mean().is_nan() && plain(&[]).median().is_nan());
    }
}
