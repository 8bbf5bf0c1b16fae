//! `discriminant`: the axes along which the classes lie farthest apart, by the shrunken within-class covariance of the panel.
//!
//! With Σ that covariance, and the rows of B the class centres times the root of their share of the samples, the axes solve
//!
//! ```text
//! BᵀB w = μ Σ w,    WᵀΣW = I
//! ```
//!
//! They come from the eigenvectors of the c×c matrix `B Σ⁻¹ Bᵀ`. Scores then have a within-class variance of 1 on every axis.

use faer::{Mat, MatRef};

use super::within::WithinCovariance;
use crate::error::{Error, Result};
use crate::numerics::linalg::{product, symmetric_eigen};
use crate::targets::sign_of_farthest;

/// Eigenvalues below this share of the largest are rounding.
const RANK: f64 = 1e-10;

/// The discriminants of a panel.
pub(super) struct Discriminants {
    /// One column per axis, in the units of [`WithinCovariance`].
    pub(super) w: Mat<f64>,
    /// How far they are from solving their equation, relative to its largest entry.
    pub(super) residual: f64,
}

/// The best `components` axes, fewer where there are fewer.
pub(super) fn discriminants(
    within: &WithinCovariance,
    shares: &[f64],
    components: usize,
) -> Result<Discriminants> {
    let (c, m) = within.centres.shape();
    let b = Mat::from_fn(c, m, |class, j| shares[class].sqrt() * within.centres[(class, j)]);
    let solved = within.solve(b.transpose())?;
    let inner = product(b.as_ref(), solved.as_ref());
    let inner = Mat::from_fn(c, c, |i, j| 0.5 * (inner[(i, j)] + inner[(j, i)]));
    let (values, vectors) = symmetric_eigen(inner.as_ref())?;
    let largest = values[c - 1];
    if !largest.is_finite() || largest <= 0.0 {
        return Err(Error::Degenerate("the class centres coincide on the panel".to_owned()));
    }
    // They rise; there are at most c−1 directions among c centres.
    let places: Vec<usize> =
        (1..c).rev().filter(|&k| values[k] > RANK * largest).take(components.min(m)).collect();
    let signs: Vec<f64> = places
        .iter()
        .map(|&k| {
            let centres: Vec<f64> = (0..c).map(|i| vectors[(i, k)] / shares[i].sqrt()).collect();
            sign_of_farthest(&centres)
        })
        .collect();
    let turn =
        Mat::from_fn(c, places.len(), |i, k| signs[k] * vectors[(i, places[k])] / values[places[k]].sqrt());
    let w = product(solved.as_ref(), turn.as_ref());
    let residual =
        residual(within, b.as_ref(), w.as_ref(), &places.iter().map(|&k| values[k]).collect::<Vec<_>>());
    Ok(Discriminants { w, residual })
}

/// `max |BᵀB w − μ Σ w|` over `max |BᵀB w|`.
fn residual(within: &WithinCovariance, b: MatRef<'_, f64>, w: MatRef<'_, f64>, values: &[f64]) -> f64 {
    let between = product(b.transpose(), product(b, w).as_ref());
    let inside = within.apply(w);
    let difference = Mat::from_fn(w.nrows(), w.ncols(), |i, k| between[(i, k)] - values[k] * inside[(i, k)]);
    difference.norm_max() / between.norm_max().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(scale: impl Fn(usize) -> f64) -> (Mat<f64>, Vec<usize>) {
        let classes: Vec<usize> = (0..40).map(|i| i % 4).collect();
        let value = |i: usize, j: usize| {
            ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0 + (classes[i] * (j + 1) % 3) as f64
        };
        let mut x = Mat::from_fn(40, 9, |i, j| scale(j) * value(i, j));
        for j in 0..9 {
            let mean = x.col(j).iter().sum::<f64>() / 40.0;
            (0..40).for_each(|i| x[(i, j)] -= mean);
        }
        (x, classes)
    }

    /// Scores of the samples on the axes, and the axes in the units of [`WithinCovariance`].
    fn scores(x: &Mat<f64>, classes: &[usize]) -> (Mat<f64>, Mat<f64>, WithinCovariance) {
        let within = WithinCovariance::new(x.as_ref(), classes, 4, None);
        let found = discriminants(&within, &[0.25; 4], 3).unwrap();
        assert!(found.residual < 1e-10, "{}", found.residual);
        let w = Mat::from_fn(9, found.w.ncols(), |j, k| found.w[(j, k)] / within.scale[j]);
        (x * &w, found.w, within)
    }

    #[test]
    fn axes_have_unit_covariance_and_do_not_depend_on_units() {
        let (x, classes) = samples(|_| 1.0);
        let (z, w, within) = scores(&x, &classes);
        assert_eq!(w.ncols(), 3, "one fewer than classes");
        let covariance = within.of_scores(w.as_ref());
        assert!((&covariance - Mat::<f64>::identity(3, 3)).norm_max() < 1e-10);
        let (scaled, _) = samples(|j| 10f64.powi(j as i32 - 4));
        let (other, ..) = scores(&scaled, &classes);
        assert!((&z - &other).norm_max() < 1e-8 * z.norm_max());
    }

    #[test]
    fn centres_that_coincide_are_refused() {
        let x = Mat::from_fn(8, 2, |i, j| if (i / 4 + i + j) % 2 == 0 { 1.0 } else { -1.0 });
        let classes = [0, 0, 1, 1, 0, 0, 1, 1];
        let within = WithinCovariance::new(x.as_ref(), &classes, 2, None);
        assert!(discriminants(&within, &[0.5, 0.5], 1).is_err());
    }
}
