//! The within-class covariance of a few variables, shrunken.
//!
//! With `V` the samples less their class centre, every variable divided by its within-class deviation,
//!
//! ```text
//! Σ = (1−λ) VᵀV/(n−c) + λ I
//! ```
//!
//! where λ is Ledoit and Wolf's intensity: the one that is nearest to the true covariance on average, estimated from the samples
//! without a search. Shrinking after the division leaves the variances alone and pulls the correlations towards 0, so that the units of
//! the variables do not matter.

use faer::{Mat, MatRef};

use super::TrainingSums;
use crate::error::{Error, Result};
use crate::numerics::linalg::{cholesky, cholesky_solve, product, symmetric_product};
use crate::rules::{intensity, ledoit_wolf, rooted};

/// A variable that hardly varies within classes would decide alone: its variance there counts as at least this share of the
/// variance of all samples.
const LEAST_SHARE: f64 = 0.01;

/// The least intensity: keeps Σ definite where variables are copies of each other.
const LEAST_INTENSITY: f64 = 1e-6;

/// V is in units of deviations, so a mean variance as small as this is rounding: no variable varies within classes.
const ROUNDING: f64 = 1e-24;

/// Σ and the class centres, of variables divided by their within-class deviation.
#[derive(Debug)]
pub(crate) struct WithinCovariance {
    spread: WithinSpread,
    /// The class centres, c×m.
    pub(crate) centres: Mat<f64>,
    /// What every variable was divided by.
    pub(crate) scale: Vec<f64>,
    /// λ.
    pub(crate) intensity: f64,
    /// (1−λ)/(n−c), the factor on `VᵀV`.
    factor: f64,
    /// n−c, at least 1.
    degrees: f64,
}

/// What is known of V.
#[derive(Debug)]
enum WithinSpread {
    /// V, n×m, every row times the root of its weight; and the weights, if there are any.
    Samples { v: Mat<f64>, weights: Option<Vec<f64>> },
    /// `VᵀV` and `(V∘V)ᵀ(V∘V)`.
    Sums { squares: Mat<f64>, fourths: Mat<f64> },
}

impl WithinSpread {
    fn samples(v: Mat<f64>, weights: Option<&[f64]>) -> Self {
        WithinSpread::Samples { v, weights: weights.map(<[f64]>::to_vec) }
    }
}

impl WithinCovariance {
    /// Of centred columns (n×m) of samples of these classes and weights; every class has a sample.
    pub(crate) fn new(x: MatRef<'_, f64>, classes: &[usize], count: usize, weights: Option<&[f64]>) -> Self {
        let (n, m) = x.shape();
        let mut sizes = vec![0.0; count];
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        classes.iter().enumerate().for_each(|(i, &class)| sizes[class] += weight(i));
        let degrees = n.saturating_sub(count).max(1) as f64;
        let mut centres = Mat::zeros(count, m);
        let mut deviations = x.to_owned();
        let mut scale = Vec::with_capacity(m);
        for j in 0..m {
            let column = x.col(j);
            for (i, (x, &class)) in column.iter().zip(classes).enumerate() {
                centres[(class, j)] += weight(i) * x / sizes[class];
            }
            let (mut within, mut total) = (0.0, 0.0);
            for (i, &class) in classes.iter().enumerate() {
                let deviation = column[i] - centres[(class, j)];
                deviations[(i, j)] = deviation;
                within += weight(i) * deviation * deviation;
                total += weight(i) * column[i] * column[i];
            }
            let variance = f64::max(within / degrees, LEAST_SHARE * total / n as f64);
            let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
            scale.push(deviation);
            (0..n).for_each(|i| deviations[(i, j)] /= deviation);
            (0..count).for_each(|class| centres[(class, j)] /= deviation);
        }
        let deviations = if weights.is_some() { rooted(deviations.as_ref(), weights) } else { deviations };
        let found = ledoit_wolf(deviations.as_ref(), weights, degrees);
        // Without any deviation there is nothing to be said about correlations.
        let intensity =
            if found.variance > ROUNDING { found.intensity.clamp(LEAST_INTENSITY, 1.0) } else { 1.0 };
        let factor = (1.0 - intensity) / degrees;
        WithinCovariance {
            spread: WithinSpread::samples(deviations, weights),
            centres,
            scale,
            intensity,
            factor,
            degrees,
        }
    }

    /// Σ and the class centres from sums over the samples.
    pub(super) fn from_sums(sums: &TrainingSums) -> Self {
        let (n, m, count) = (sums.samples(), sums.variables.len(), sums.counts.len());
        let degrees = n.saturating_sub(count).max(1) as f64;
        // What is left to divide by, after the units.
        let left: Vec<f64> = (0..m)
            .map(|j| {
                let total = sums.norms[j] * sums.norms[j];
                let variance = f64::max(sums.squares[(j, j)] / degrees, LEAST_SHARE * total / n as f64);
                if variance > 0.0 { variance.sqrt() } else { 1.0 }
            })
            .collect();
        let over = |power: i32, a: &Mat<f64>| {
            Mat::from_fn(m, m, |i, j| a[(i, j)] / (left[i].powi(power) * left[j].powi(power)))
        };
        let (squares, fourths) = (over(1, &sums.squares), over(2, &sums.fourths));
        let centres = Mat::from_fn(count, m, |class, j| sums.centres[(class, j)] / left[j]);
        let scale = left.iter().zip(&sums.units).map(|(left, unit)| left * unit).collect();
        let spread = WithinSpread::Sums { squares, fourths };
        let mut within = WithinCovariance { spread, centres, scale, intensity: 1.0, factor: 0.0, degrees };
        let (gram, all) = (within.gram(), (0..m).collect::<Vec<_>>());
        within.intensity = within.intensity_of(&all, gram.as_ref());
        within.factor = (1.0 - within.intensity) / degrees;
        within
    }

    /// The inverse of Σ for some of the variables alone, with the intensity that these have, and with `gram` the `VᵀV` of all.
    ///
    /// # Errors
    /// When it is not definite in double precision.
    pub(crate) fn inverse_of(&self, kept: &[usize], gram: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let m = kept.len();
        let lambda = self.intensity_of(kept, gram);
        let factor = (1.0 - lambda) / self.degrees;
        if let WithinSpread::Samples { v, weights } = &self.spread
            && m > v.nrows()
        {
            let part = Mat::from_fn(v.nrows(), m, |i, k| v[(i, kept[k])]);
            let part = WithinCovariance {
                spread: WithinSpread::samples(part, weights.as_deref()),
                centres: Mat::zeros(0, 0),
                scale: Vec::new(),
                intensity: lambda,
                factor,
                degrees: self.degrees,
            };
            return part.solve(Mat::identity(m, m).as_ref());
        }
        let mut sigma = Mat::from_fn(m, m, |i, k| factor * gram[(kept[i], kept[k])]);
        (0..m).for_each(|i| sigma[(i, i)] += lambda);
        let mut inverse = Mat::identity(m, m);
        solve_in_place(&sigma, &mut inverse)?;
        Ok(inverse)
    }

    /// The intensity for some of the variables alone, with `gram` the `VᵀV` of all.
    fn intensity_of(&self, kept: &[usize], gram: MatRef<'_, f64>) -> f64 {
        let (degrees, mut trace, mut size) = (self.degrees, 0.0, 0.0);
        for (k, &j) in kept.iter().enumerate() {
            trace += gram[(j, j)] / degrees;
            size += kept[..k].iter().map(|&i| 2.0 * gram[(i, j)] * gram[(i, j)]).sum::<f64>();
            size += gram[(j, j)] * gram[(j, j)];
        }
        let fourth: f64 = match &self.spread {
            WithinSpread::Samples { v, weights } => {
                let mut lengths = vec![0.0; v.nrows()];
                for &j in kept {
                    lengths.iter_mut().zip(v.col(j).iter()).for_each(|(length, x)| *length += x * x);
                }
                match weights {
                    None => lengths.iter().map(|length| length * length).sum(),
                    Some(weights) => lengths.iter().zip(weights).map(|(length, d)| length * length / d).sum(),
                }
            }
            WithinSpread::Sums { fourths, .. } => {
                kept.iter().map(|&j| kept.iter().map(|&i| fourths[(i, j)]).sum::<f64>()).sum()
            }
        };
        let found = intensity(kept.len(), trace, size / (degrees * degrees), fourth, degrees);
        if trace > ROUNDING * kept.len() as f64 { found.clamp(LEAST_INTENSITY, 1.0) } else { 1.0 }
    }

    /// `VᵀV`.
    pub(crate) fn gram(&self) -> Mat<f64> {
        match &self.spread {
            WithinSpread::Samples { v, .. } => symmetric_product(v.as_ref(), v.as_ref()),
            WithinSpread::Sums { squares, .. } => squares.clone(),
        }
    }

    /// `Σ w`.
    pub(crate) fn apply(&self, w: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = match &self.spread {
            WithinSpread::Samples { v, .. } => product(v.transpose(), product(v.as_ref(), w).as_ref()),
            WithinSpread::Sums { squares, .. } => product(squares.as_ref(), w),
        };
        for (out, w) in out.col_iter_mut().zip(w.col_iter()) {
            for (out, w) in out.iter_mut().zip(w.iter()) {
                *out = self.factor * *out + self.intensity * w;
            }
        }
        out
    }

    /// `wᵀ Σ w`.
    pub(crate) fn of_scores(&self, w: MatRef<'_, f64>) -> Mat<f64> {
        let image = self.apply(w);
        let product = product(w.transpose(), image.as_ref());
        // Symmetric to the last bit.
        Mat::from_fn(w.ncols(), w.ncols(), |i, j| 0.5 * (product[(i, j)] + product[(j, i)]))
    }

    /// `Σ⁻¹ b`, through the smaller of n×n and m×m.
    ///
    /// # Errors
    /// When Σ is not definite in double precision.
    pub(crate) fn solve(&self, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (lambda, m) = (self.intensity, b.nrows());
        let samples = match &self.spread {
            WithinSpread::Samples { v, .. } if v.nrows() < m => Some(v.as_ref()),
            _ => None,
        };
        let Some(v) = samples else {
            let mut sigma = self.gram();
            for j in 0..m {
                for i in 0..m {
                    sigma[(i, j)] = self.factor * sigma[(i, j)] + if i == j { lambda } else { 0.0 };
                }
            }
            let mut out = b.to_owned();
            solve_in_place(&sigma, &mut out)?;
            return Ok(out);
        };
        if self.factor == 0.0 {
            return Ok(Mat::from_fn(m, b.ncols(), |i, j| b[(i, j)] / lambda));
        }
        // Woodbury: Σ⁻¹ = (I − Vᵀ(λ/a I + VVᵀ)⁻¹V)/λ with a the factor on VᵀV.
        let rows = v.transpose();
        let mut inner = symmetric_product(rows, rows);
        (0..v.nrows()).for_each(|i| inner[(i, i)] += lambda / self.factor);
        let mut images = product(v, b);
        solve_in_place(&inner, &mut images)?;
        let back = product(rows, images.as_ref());
        Ok(Mat::from_fn(m, b.ncols(), |i, j| (b[(i, j)] - back[(i, j)]) / lambda))
    }
}

fn solve_in_place(a: &Mat<f64>, b: &mut Mat<f64>) -> Result<()> {
    let factor = cholesky(a.as_ref()).ok_or_else(|| Error::Numerical {
        what: "the factorization of the within-class covariance",
        detail: "it is not positive definite in double precision".to_owned(),
    })?;
    cholesky_solve(factor.as_ref(), b.as_mut());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(n: usize, m: usize, count: usize) -> (Mat<f64>, Vec<usize>) {
        let classes: Vec<usize> = (0..n).map(|i| i % count).collect();
        let mut x = Mat::from_fn(n, m, |i, j| {
            ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0 + (classes[i] * (j + 1) % 3) as f64
        });
        for j in 0..m {
            let mean = x.col(j).iter().sum::<f64>() / n as f64;
            (0..n).for_each(|i| x[(i, j)] -= mean);
        }
        (x, classes)
    }

    #[test]
    fn both_ways_to_solve_undo_the_covariance() {
        for (n, m) in [(40, 7), (12, 30), (9, 9)] {
            let (x, classes) = samples(n, m, 3);
            let within = WithinCovariance::new(x.as_ref(), &classes, 3, None);
            let b = Mat::from_fn(m, 2, |i, j| ((i * 5 + j * 3) % 7) as f64 - 3.0);
            let back = within.apply(within.solve(b.as_ref()).unwrap().as_ref());
            assert!((&back - &b).norm_max() < 1e-9, "{n} x {m}");
        }
    }

    #[test]
    fn copies_constants_and_lone_samples_stay_definite() {
        let (x, classes) = samples(30, 4, 3);
        // A copy, a column that only says the class, and a constant one.
        let x = Mat::from_fn(30, 7, |i, j| match j {
            4 => x[(i, 0)],
            5 => classes[i] as f64 - 1.0,
            6 => 0.0,
            _ => x[(i, j)],
        });
        let within = WithinCovariance::new(x.as_ref(), &classes, 3, None);
        assert!(within.solve(Mat::identity(7, 7).as_ref()).unwrap().is_all_finite());
        let lone: Vec<usize> = (0..30).collect();
        let within = WithinCovariance::new(x.as_ref(), &lone, 30, None);
        assert_eq!(within.intensity, 1.0);
        assert!(within.solve(Mat::identity(7, 7).as_ref()).unwrap().is_all_finite());
    }
}
