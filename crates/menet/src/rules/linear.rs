//! What `centroid` and `gaussian` share: class means, and classes told apart by linear functions of the sample.
//!
//! In coordinates in which the within-class covariance is the identity, with sample y and means `u_c`, the value is
//! `(−½ ‖y − u_c‖² + log prior_c) / T`: T changes how sure the rule is, never what it decides. Far from all means these squares are nearly equal. Their differences are linear in y
//! and keep all digits if they are computed as such, from the nearest mean b:
//!
//! ```text
//! ½ ‖y − u_b‖² − ½ ‖y − u_c‖² = (u_c − u_b) · ((y − u_b) − ½ (u_c − u_b))
//! ```

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::calibration::{Trial, calibration_rows, temperature};
use super::{Decision, Projected, largest, row};
use crate::error::{Error, Result, check};
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::{dot, squared_distance};

/// Largest whitened coordinate: products of two, summed, stay finite.
const FARTHEST: f64 = 1e140;

/// Mean of each class, one per row, and each sample minus the mean of its class.
pub(super) fn means_and_residuals(projected: &Projected<'_>, masses: &[f64]) -> (Mat<f64>, Mat<f64>) {
    let Projected { z, classes, count, .. } = *projected;
    let mut first = vec![0; count];
    classes.iter().enumerate().rev().for_each(|(i, &class)| first[class] = i);
    // Counted from a sample of the class, so that the mean of equal samples is that sample exactly.
    let mut means = Mat::zeros(count, z.ncols());
    for k in 0..z.ncols() {
        for (i, &class) in classes.iter().enumerate() {
            means[(class, k)] += projected.weight(i) * (z[(i, k)] - z[(first[class], k)]);
        }
        for class in 0..count {
            means[(class, k)] = z[(first[class], k)] + means[(class, k)] / masses[class];
        }
    }
    let residuals = Mat::from_fn(z.nrows(), z.ncols(), |i, k| z[(i, k)] - means[(classes[i], k)]);
    (means, residuals)
}

/// Decision values, but for a number that all classes of a sample share, as linear functions of the sample:
/// `(z − reference) weights + offsets`. Far from all means they have fewer digits than those of the rule itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// What z is counted from: a point between the means.
    pub reference: Vec<f64>,
    /// One column per class.
    pub weights: Mat<f64>,
    /// One per class.
    pub offsets: Vec<f64>,
}

impl Linear {
    /// With `solve` for `Σ⁻¹ y`, column by column.
    pub(super) fn of(
        means: MatRef<'_, f64>,
        log_priors: &[f64],
        temperature: f64,
        solve: impl Fn(&mut Mat<f64>),
    ) -> Self {
        let reference = middle(means);
        let apart = Mat::from_fn(means.ncols(), means.nrows(), |k, c| means[(c, k)] - reference[k]);
        let mut weights = apart.clone();
        solve(&mut weights);
        let offset = |c: usize| {
            let square: f64 = apart.col(c).iter().zip(weights.col(c).iter()).map(|(m, w)| m * w).sum();
            (log_priors[c] - 0.5 * square) / temperature
        };
        let offsets = (0..log_priors.len()).map(offset).collect();
        weights.col_iter_mut().for_each(|column| column.iter_mut().for_each(|w| *w /= temperature));
        Linear { reference, weights, offsets }
    }
}

/// Refuses parts of a rule that do not fit together.
pub(super) fn check_parts(means: MatRef<'_, f64>, log_priors: &[f64], temperature: f64) -> Result<()> {
    if means.nrows() == 0 || means.ncols() == 0 {
        return Err(Error::Empty { rows: means.nrows(), columns: means.ncols() });
    }
    if log_priors.len() != means.nrows() {
        let why = format!("there are {} class means", means.nrows());
        let (given, expected) = (log_priors.len(), means.nrows());
        return Err(Error::Size { what: "`log_priors`", given, expected, why });
    }
    check_finite("the class means", means)?;
    for &log in log_priors {
        check("log_priors", log, "finite and at most 0", |log| log <= 1e-9)?;
    }
    // A temperature is a quotient of squares, and may be larger than what is squared.
    if (1.0..=1e300).contains(&temperature) {
        Ok(())
    } else {
        Err(Error::parameter("temperature", format!("{temperature:?}"), "from 1 to 1e300"))
    }
}

/// What the rows of `z` are, by means in whitened coordinates.
pub(super) fn decisions(
    z: MatRef<'_, f64>,
    means: MatRef<'_, f64>,
    log_priors: &[f64],
    temperature: f64,
    whiten: impl Fn(&mut [f64]) + Sync,
) -> Vec<Decision> {
    let reference = middle(means);
    let whitened = |x: MatRef<'_, f64>, i: usize| {
        let mut y = row(x, i);
        y.iter_mut().zip(&reference).for_each(|(y, r)| *y -= r);
        whiten(&mut y);
        limit(&mut y);
        y
    };
    let centres: Vec<Vec<f64>> = (0..means.nrows()).map(|c| whitened(means, c)).collect();
    let decide = |i: usize| {
        let y = whitened(z, i);
        let squares: Vec<f64> = centres.iter().map(|centre| -squared_distance(&y, centre)).collect();
        let near = largest(&squares);
        let from_near: Vec<f64> = y.iter().zip(&centres[near]).map(|(y, u)| y - u).collect();
        let value = |(centre, log_prior): (&Vec<f64>, &f64)| {
            let apart: Vec<f64> = centre.iter().zip(&centres[near]).map(|(u, near)| u - near).collect();
            let middle: Vec<f64> = from_near.iter().zip(&apart).map(|(y, a)| y - 0.5 * a).collect();
            (dot(&apart, &middle) + log_prior) / temperature
        };
        let values: Vec<f64> = centres.iter().zip(log_priors).map(value).collect();
        Decision { class: largest(&values), values, shared: 0.5 * squares[near] / temperature }
    };
    (0..z.nrows()).into_par_iter().map(decide).collect()
}

/// T, at least 1, from samples left out in turn. `squares` gives their squared Mahalanobis distances from all means, without
/// the sample.
pub(super) fn calibrated(
    projected: &Projected<'_>,
    counts: &[usize],
    masses: &[f64],
    squares: impl Fn(usize) -> Vec<f64> + Sync,
) -> f64 {
    // The left-out samples are as frequent as the training samples, whatever the rule will meet.
    let (classes, n) = (projected.classes, masses.iter().sum::<f64>());
    let logs: Vec<f64> = masses.iter().map(|&mass| (mass / n).ln()).collect();
    let trial = |i: usize| {
        let scores = squares(i).into_iter().zip(&logs);
        let scores = scores.map(|(square, log)| log - 0.5 * square.min(FARTHEST * FARTHEST)).collect();
        Trial { own: classes[i], weight: projected.weight(i), scores }
    };
    let trials: Vec<Trial> = calibration_rows(counts, classes).into_par_iter().map(trial).collect();
    temperature(&trials, masses, Some(1.0)).unwrap_or(1.0)
}

/// How much farther a sample is from the mean of its class once its weight no longer counts in that mean.
pub(super) fn without_itself(mass: f64, weight: f64) -> f64 {
    mass / (mass - weight)
}

/// A point in the middle of the means that one far class does not move: the median of each coordinate.
fn middle(means: MatRef<'_, f64>) -> Vec<f64> {
    let median = |k: usize| {
        let mut values: Vec<f64> = means.col(k).iter().copied().collect();
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    (0..means.ncols()).map(median).collect()
}

/// Brings whitened coordinates into the range in which products are finite.
pub(super) fn limit(y: &mut [f64]) {
    y.iter_mut().for_each(|y| *y = y.clamp(-FARTHEST, FARTHEST));
}
