//! How far to shrink a covariance (Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance
//! matrices", 2004).
//!
//! Of n centred samples `x_i` of p variables, `S = Σ x_i x_iᵀ / f` and `μ = tr S / p`, the estimate is
//! `(1 − ρ) S + ρ μ I` with
//!
//! ```text
//! ρ = min(1, b / e),   b = (Σ ‖x_i‖⁴ / f − ‖S‖²) / f,   e = ‖S‖² − p μ²
//! ```
//!
//! `f` is n where the centre is known (scikit-learn's), n − c where c class means were subtracted.

use faer::{Mat, MatRef};

use crate::numerics::linalg::symmetric_product;

/// The estimate is `(1 − intensity) S + intensity · variance · I`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shrinkage {
    /// ρ, from 0 (the covariance as it is) to 1 (a multiple of the identity).
    pub intensity: f64,
    /// μ, the mean variance of a variable.
    pub variance: f64,
}

/// The rows times the roots of their weights, if they have any.
pub(crate) fn rooted(x: MatRef<'_, f64>, weights: Option<&[f64]>) -> Mat<f64> {
    let roots: Vec<f64> = weights.unwrap_or(&[]).iter().map(|weight| weight.sqrt()).collect();
    let rooted = |i: usize, j: usize| if roots.is_empty() { x[(i, j)] } else { roots[i] * x[(i, j)] };
    Mat::from_fn(x.nrows(), x.ncols(), rooted)
}

/// How far to shrink the covariance of these centred samples, one per row, with so many degrees of freedom. A sample with a weight counts as
/// often as its weight says, and is given times the root of it ([`rooted`]).
///
/// It forms the smaller of the n×n and the p×p matrix. Both numbers are 0 where there is nothing to estimate from: no entry
/// that is not 0, or no degree of freedom. The intensity is 0 where the covariance is a multiple of the identity.
pub(crate) fn ledoit_wolf(centred: MatRef<'_, f64>, weights: Option<&[f64]>, degrees: f64) -> Shrinkage {
    let (n, p) = centred.shape();
    let scale = centred.norm_max();
    if n == 0 || p == 0 || !(degrees > 0.0 && scale > 0.0 && scale.is_finite()) {
        return Shrinkage { intensity: 0.0, variance: 0.0 };
    }
    // Fourth powers overflow long before squares do.
    let x = centred * faer::Scale(1.0 / scale);
    let squares: Vec<f64> = x.row_iter().map(|row| row.squared_norm_l2()).collect();
    let trace = squares.iter().sum::<f64>() / degrees;
    // d‖x‖⁴ of a sample x of weight d, from d‖x‖².
    let fourth: f64 = match weights {
        None => squares.iter().map(|square| square * square).sum(),
        Some(weights) => squares.iter().zip(weights).map(|(square, weight)| square * square / weight).sum(),
    };
    let small = if n < p { x.transpose() } else { x.as_ref() };
    let size = symmetric_product(small, small).squared_norm_l2() / (degrees * degrees);
    let intensity = intensity(p, trace, size, fourth, degrees);
    Shrinkage { intensity, variance: trace / p as f64 * scale * scale }
}

/// ρ from the trace and the squared length of S, and the sum of the samples' fourth powers of length.
pub(crate) fn intensity(p: usize, trace: f64, size: f64, fourth: f64, degrees: f64) -> f64 {
    let noise = (fourth / degrees - size) / degrees;
    let excess = size - trace * trace / p as f64;
    if p > 1 && excess > 1e-14 * size { (noise / excess).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the recipe below.
    fn sample(n: usize, p: usize) -> Mat<f64> {
        let entry = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31 + i * i * 17) % 1009) as f64;
        let x = Mat::from_fn(n, p, |i, j| (entry(i, j) / 500.0 - 1.0) * (1 + j) as f64);
        let mean = |j: usize| x.col(j).iter().sum::<f64>() / n as f64;
        Mat::from_fn(n, p, |i, j| x[(i, j)] - mean(j))
    }

    #[test]
    fn the_numbers_are_those_of_scikit_learn() {
        // scikit-learn 1.9.1, no seed is needed:
        //   i = np.arange(n)[:, None]; j = np.arange(p)[None, :]
        //   x = (((i*7919 + j*104729 + i*j*31 + i*i*17) % 1009) / 500.0 - 1.0) * (1 + j); x = x - x.mean(0)
        //   ledoit_wolf(x, assume_centered=True)[1], np.trace(x.T @ x / n) / p
        for (n, p, intensity, variance) in [
            (40, 6, 0.20180573043948566, 4.739007680833333),
            (12, 30, 0.579083293979113, 111.80818705648149),
            (60, 8, 0.15016866833652145, 8.7060274325),
            (200, 3, 0.02613766665449775, 1.5976286323333344),
            (9, 1, 0.0, 0.2461775802469137),
        ] {
            let x = sample(n, p);
            for scale in [1.0, 1e-70, 1e100] {
                let found = ledoit_wolf((&x * faer::Scale(scale)).as_ref(), None, n as f64);
                assert!((found.intensity - intensity).abs() < 1e-12, "{n} x {p}: {found:?}");
                assert!(
                    (found.variance / (variance * scale * scale) - 1.0).abs() < 1e-12,
                    "{n} x {p}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_gives_zero() {
        let nothing = Shrinkage { intensity: 0.0, variance: 0.0 };
        assert_eq!(ledoit_wolf(Mat::zeros(5, 3).as_ref(), None, 4.0), nothing);
        assert_eq!(ledoit_wolf(Mat::zeros(0, 3).as_ref(), None, 4.0), nothing);
        assert_eq!(ledoit_wolf(sample(5, 3).as_ref(), None, 0.0), nothing);
        let fewer = ledoit_wolf(sample(12, 30).as_ref(), None, 3.0);
        assert!((0.0..=1.0).contains(&fewer.intensity), "{fewer:?}");
    }
}
