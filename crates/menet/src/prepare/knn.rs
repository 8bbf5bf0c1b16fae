//! Missing values from near training samples.
//!
//! The distance of samples a and b is taken over the variables that both have, and scaled up to all q variables:
//!
//! ```text
//! d(a, b)² = q / |both| · Σ over both (aⱼ − bⱼ)²
//! ```
//!
//! A missing value becomes the mean over the [`DONORS`] nearest training samples that have it. Equal training samples are one, which counts
//! by the sum of their weights. Samples that share no variable with this one are no donors. If there is no donor, the value becomes the mean of the variable. scikit-learn's `KNNImputer` does the same.

use faer::Mat;
use rayon::prelude::*;

use crate::numerics::linalg::vectorized;

/// So many training samples give a missing value.
pub const DONORS: usize = 5;

/// The training samples that give values, prepared but for missing values, which are NaN.
#[derive(Debug, Clone)]
pub struct Neighbors {
    /// The variables that were kept, rising.
    pub variables: Vec<usize>,
    /// Their values, sample after sample, no two of them equal.
    pub samples: Vec<f64>,
    /// How much every sample counts.
    pub weights: Vec<f64>,
    /// The mean of each of these variables.
    pub means: Vec<f64>,
}

/// A missing value equals a missing value.
impl PartialEq for Neighbors {
    fn eq(&self, other: &Self) -> bool {
        self.variables == other.variables
            && (&self.means, &self.weights) == (&other.means, &other.weights)
            && self.samples.len() == other.samples.len()
            && self.samples.iter().zip(&other.samples).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    }
}

impl Neighbors {
    /// From prepared training samples that still lack values.
    pub(super) fn new(
        x: &Mat<f64>,
        weight: &dyn Fn(usize) -> f64,
        variables: Vec<usize>,
        means: Vec<f64>,
    ) -> Self {
        let (mut samples, mut weights) = (Vec::new(), Vec::new());
        let mut places = std::collections::HashMap::new();
        for i in (0..x.nrows()).filter(|&i| weight(i) > 0.0) {
            let row: Vec<f64> = variables.iter().map(|&j| x[(i, j)]).collect();
            // Zeros of both signs are equal.
            let bits: Vec<u64> = row.iter().map(|&value| (value + 0.0).to_bits()).collect();
            let place = *places.entry(bits).or_insert(weights.len());
            if place == weights.len() {
                samples.extend(row);
                weights.push(0.0);
            }
            weights[place] += weight(i);
        }
        Neighbors { variables, samples, weights, means }
    }

    /// Fills the missing values of prepared samples. Each sample is treated by itself.
    pub(super) fn fill(&self, x: &mut Mat<f64>) {
        let incomplete: Vec<usize> =
            (0..x.nrows()).filter(|&i| self.variables.iter().any(|&j| x[(i, j)].is_nan())).collect();
        let seen = &*x;
        let filled: Vec<Vec<(usize, f64)>> = incomplete
            .par_iter()
            .map(|&i| self.values_for(&self.variables.iter().map(|&j| seen[(i, j)]).collect::<Vec<_>>()))
            .collect();
        for (&i, values) in incomplete.iter().zip(&filled) {
            values.iter().for_each(|&(j, value)| x[(i, j)] = value);
        }
    }

    /// What the missing variables of a sample become.
    fn values_for(&self, sample: &[f64]) -> Vec<(usize, f64)> {
        let q = self.variables.len().max(1);
        let others = self.samples.chunks(q).zip(&self.weights);
        let mut near: Vec<(f64, &[f64], f64)> = others
            .map(|(other, &weight)| (squared_distance(sample, other), other, weight))
            .filter(|(distance, ..)| !distance.is_nan())
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0)); // stable: the earlier sample comes first among equals
        let missing = (0..sample.len()).filter(|&at| sample[at].is_nan());
        let value = |at: usize| {
            let donors = near.iter().filter(|(_, other, _)| !other[at].is_nan()).take(DONORS);
            let (sum, total) = donors.fold((0.0, 0.0), |(sum, total), (_, other, weight)| {
                (sum + weight * other[at], total + weight)
            });
            if total == 0.0 { self.means[at] } else { sum / total }
        };
        missing.map(|at| (self.variables[at], value(at))).collect()
    }
}

/// The squared distance over the variables that both samples have, scaled up to all; NaN if there are none.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (sum, count) = vectorized(
        #[inline(always)]
        || {
            let (mut sums, mut counts) = ([0.0; LANES], [0.0; LANES]);
            let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
            for (a, b) in a.iter().zip(b) {
                for l in 0..LANES {
                    let difference = a[l] - b[l];
                    let there = !difference.is_nan();
                    sums[l] += if there { difference * difference } else { 0.0 };
                    counts[l] += if there { 1.0 } else { 0.0 };
                }
            }
            for (a, b) in a_tail.iter().zip(b_tail) {
                let difference = a - b;
                if !difference.is_nan() {
                    sums[0] += difference * difference;
                    counts[0] += 1.0;
                }
            }
            (sums.iter().sum::<f64>(), counts.iter().sum::<f64>())
        },
    );
    if count == 0.0 { f64::NAN } else { sum * a.len() as f64 / count }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: f64 = f64::NAN;

    #[test]
    fn distances_are_scaled_up_to_all_variables() {
        assert_eq!(squared_distance(&[1.0, 2.0, MISSING], &[3.0, MISSING, 5.0]), 12.0);
        assert!(squared_distance(&[1.0, MISSING], &[MISSING, 2.0]).is_nan());
        let (a, b): (Vec<f64>, Vec<f64>) = (0..21).map(|j| (f64::from(j), f64::from(j * j % 7))).unzip();
        let expected: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
        assert_eq!(squared_distance(&a, &b), expected);
    }

    #[test]
    fn the_nearest_samples_that_have_the_value_give_it() {
        // On a line, with a second variable that some lack.
        let x = Mat::from_fn(9, 2, |i, j| match (i, j) {
            (_, 0) => i as f64,
            (4 | 5, _) => MISSING,
            _ => (10 * i) as f64,
        });
        let neighbors = Neighbors::new(&x, &|_| 1.0, vec![0, 1], vec![4.0, 37.0]);
        let mut filled = x.clone();
        neighbors.fill(&mut filled);
        // Of 4 the nearest that have it: 3, 6, 2, 7 and then 1 before 8, the earlier of two that are as far.
        assert_eq!(filled[(4, 1)], f64::from(30 + 60 + 20 + 70 + 10) / 5.0);
        assert_eq!(filled[(0, 1)], 0.0);
        let mut new = Mat::from_fn(1, 2, |_, _| MISSING);
        neighbors.fill(&mut new);
        assert_eq!((new[(0, 0)], new[(0, 1)]), (4.0, 37.0), "nothing is known of it but the means");
    }
}
