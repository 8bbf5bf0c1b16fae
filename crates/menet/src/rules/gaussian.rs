//! Linear discriminant analysis: normal classes with one covariance Σ.
//!
//! ```text
//! value_c = (−½ (z − m_c)ᵀ Σ⁻¹ (z − m_c) + log prior_c) / T
//! ```
//!
//! Σ is given, or the pooled within-class covariance `S / f` (f = n − c degrees of freedom) shrunken towards its mean
//! variance by [`ledoit_wolf`].
//!
//! A sample of weight d (1 unless samples have weights) that is left out, with residual r in its class of m, takes `d m / (m − d) · r rᵀ`
//! from S and d degrees of freedom.
//! With the shrinkage held, that is a change of Σ by one rank and a factor, so its inverse follows by Sherman and Morrison.

use faer::{Mat, MatRef};

use super::linear::{Linear, calibrated, check_parts, decisions, limit, means_and_residuals, without_itself};
use super::shrinkage::{ledoit_wolf, rooted};
use super::{Decision, Projected, Rule, RuleKind, RuleParams, counts_of, row};
use crate::error::{Error, Result};
use crate::numerics::linalg::{cholesky, cholesky_solve, dot, symmetric_product};

/// The least variance along any direction, relative to the mean variance: what an axis that is constant within classes gets.
/// Where no class has any spread, the covariance is the identity.
pub(crate) const VARIANCE_FLOOR: f64 = 1e-8;

/// The learned rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// The class means, one per row.
    pub means: Mat<f64>,
    /// Σ, positive definite.
    pub covariance: Mat<f64>,
    /// The logarithms of the priors.
    pub log_priors: Vec<f64>,
    /// T, >= 1.
    pub temperature: f64,
}

impl Gaussian {
    /// The rule from its parts, checked.
    ///
    /// # Errors
    /// When sizes disagree, a value is out of range, or the covariance is not positive definite.
    pub fn from_parts(
        means: Mat<f64>,
        covariance: Mat<f64>,
        log_priors: Vec<f64>,
        temperature: f64,
    ) -> Result<Self> {
        check_parts(means.as_ref(), &log_priors, temperature)?;
        check_covariance(covariance.as_ref(), means.ncols())?;
        factor(covariance.as_ref())?;
        Ok(Gaussian { means, covariance, log_priors, temperature })
    }

    pub(super) fn linear(&self) -> Result<Linear> {
        let lower = cholesky(self.covariance.as_ref()).ok_or_else(indefinite)?;
        let solve = |weights: &mut Mat<f64>| cholesky_solve(lower.as_ref(), weights.as_mut());
        Ok(Linear::of(self.means.as_ref(), &self.log_priors, self.temperature, solve))
    }
}

impl Rule for Gaussian {
    fn learn(params: &RuleParams, projected: &Projected<'_>, calibrate: bool) -> Result<Self> {
        let counts = counts_of(projected)?;
        let masses = projected.masses();
        let log_priors = params.priors.logs(&masses)?;
        let (means, residuals) = means_and_residuals(projected, &masses);
        let (n, d) = residuals.shape();
        let degrees = n as f64 - counts.len() as f64;
        // `kept` is the factor of S / f in Σ; none where Σ does not come from these samples.
        let (covariance, kept) = match projected.covariance {
            Some(given) => {
                check_covariance(given, d)?;
                (floored(given.to_owned())?.0, None)
            }
            None => {
                let rooted = rooted(residuals.as_ref(), projected.weights);
                let shrinkage = ledoit_wolf(rooted.as_ref(), projected.weights, degrees);
                let scatter = symmetric_product(rooted.as_ref(), rooted.as_ref());
                let kept = 1.0 - shrinkage.intensity;
                let mut covariance = scatter * faer::Scale(kept / degrees.max(1.0));
                (0..d).for_each(|k| covariance[(k, k)] += shrinkage.intensity * shrinkage.variance);
                let (covariance, floor) = floored(covariance)?;
                (covariance, Some(kept * (1.0 - floor)))
            }
        };
        let lower = factor(covariance.as_ref())?;
        let temperature = if !calibrate || (kept.is_some() && degrees <= 1.0) {
            // Without one of two samples there is no covariance.
            1.0
        } else {
            let squares = |i: usize| {
                let own = projected.classes[i];
                let residual = whitened(&lower, row(residuals.as_ref(), i));
                let d = projected.weight(i);
                let away = without_itself(masses[own], d);
                let (weight, scale) = match kept {
                    Some(kept) => (kept * d * away / degrees, (degrees - d).max(1.0) / degrees),
                    None => (0.0, 1.0),
                };
                // 1 − w rᵀΣ⁻¹r is positive, save for rounding.
                let left = (1.0 - weight * dot(&residual, &residual)).max(f64::EPSILON);
                let square = |c: usize| {
                    let apart = if c == own {
                        residual.iter().map(|r| away * r).collect()
                    } else {
                        let z = projected.z.row(i).iter().zip(means.row(c).iter());
                        whitened(&lower, z.map(|(z, m)| z - m).collect())
                    };
                    scale * (dot(&apart, &apart) + weight * dot(&residual, &apart).powi(2) / left)
                };
                (0..counts.len()).map(square).collect()
            };
            calibrated(projected, &counts, &masses, squares)
        };
        Ok(Gaussian { means, covariance, log_priors, temperature })
    }

    fn kind(&self) -> RuleKind {
        RuleKind::Gaussian
    }

    fn log_priors(&self) -> Vec<f64> {
        self.log_priors.clone()
    }

    fn dimension(&self) -> usize {
        self.means.ncols()
    }

    fn class_count(&self) -> usize {
        self.means.nrows()
    }

    fn first(&self, d: usize) -> Self {
        Gaussian {
            means: self.means.subcols(0, d).to_owned(),
            covariance: self.covariance.submatrix(0, 0, d, d).to_owned(),
            ..self.clone()
        }
    }

    fn decisions(&self, z: MatRef<'_, f64>) -> Result<Vec<Decision>> {
        let lower = factor(self.covariance.as_ref())?;
        let whiten = |y: &mut [f64]| solve(&lower, y);
        Ok(decisions(z, self.means.as_ref(), &self.log_priors, self.temperature, whiten))
    }
}

fn check_covariance(covariance: MatRef<'_, f64>, d: usize) -> Result<()> {
    for given in [covariance.nrows(), covariance.ncols()] {
        if given != d {
            let why = format!("samples have {d} columns");
            return Err(Error::Size { what: "a row or column of `covariance`", given, expected: d, why });
        }
    }
    // Entries are squares of what is at most 1e100, so `check_finite` is too strict.
    for k in 0..d {
        for j in 0..d {
            let value = covariance[(j, k)];
            if value.is_nan() || value.abs() > 1e205 {
                return Err(Error::NotFinite { what: "`covariance`", row: j, column: k, value });
            }
        }
    }
    let largest = covariance.norm_max();
    let skew =
        (0..d).any(|k| (0..k).any(|j| (covariance[(j, k)] - covariance[(k, j)]).abs() > 1e-8 * largest));
    if skew {
        return Err(Error::parameter("covariance", "not symmetric", "symmetric"));
    }
    Ok(())
}

/// The covariance, with [`VARIANCE_FLOOR`] where it needs that, and the share of the identity that was mixed in.
fn floored(covariance: Mat<f64>) -> Result<(Mat<f64>, f64)> {
    let d = covariance.ncols();
    let mean = (0..d).map(|k| covariance[(k, k)]).sum::<f64>() / d as f64;
    if covariance.norm_max() < f64::MIN_POSITIVE / f64::EPSILON {
        return Ok((Mat::identity(d, d), 1.0));
    }
    let definite = |a: &Mat<f64>| {
        cholesky(a.as_ref())
            .is_some_and(|l| (0..d).all(|k| l[(k, k)] * l[(k, k)] >= 0.5 * VARIANCE_FLOOR * mean))
    };
    if mean <= 0.0 {
        return Err(indefinite());
    }
    if definite(&covariance) {
        return Ok((covariance, 0.0));
    }
    let mut raised = covariance * faer::Scale(1.0 - VARIANCE_FLOOR);
    (0..d).for_each(|k| raised[(k, k)] += VARIANCE_FLOOR * mean);
    if definite(&raised) { Ok((raised, VARIANCE_FLOOR)) } else { Err(indefinite()) }
}

fn indefinite() -> Error {
    Error::parameter("covariance", "not positive semidefinite", "positive semidefinite")
}

/// The rows of the lower Cholesky factor, each up to its diagonal.
fn factor(covariance: MatRef<'_, f64>) -> Result<Vec<Vec<f64>>> {
    let lower = cholesky(covariance).ok_or_else(indefinite)?;
    Ok((0..lower.nrows()).map(|j| (0..=j).map(|k| lower[(j, k)]).collect()).collect())
}

/// `y ← L⁻¹ y`, for one sample: it must not depend on the samples beside it.
fn solve(lower: &[Vec<f64>], y: &mut [f64]) {
    for (j, line) in lower.iter().enumerate() {
        let known = dot(&line[..j], &y[..j]);
        y[j] = (y[j] - known) / line[j];
    }
}

fn whitened(lower: &[Vec<f64>], mut y: Vec<f64>) -> Vec<f64> {
    solve(lower, &mut y);
    limit(&mut y);
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{LearnedRule, learn, ledoit_wolf};
    use faer::mat;

    fn sample(n: usize, d: usize, c: usize) -> (Mat<f64>, Vec<usize>) {
        let entry = |i: usize, k: usize| ((i * 7919 + k * 104_729 + i * k * 31 + i * i * 17) % 1009) as f64;
        let z = Mat::from_fn(n, d, |i, k| {
            entry(i, k) / 300.0 * (k + 1) as f64 + ((i % c) * (k + 2) % 3) as f64 + entry(i, 0) / 200.0
        });
        (z, (0..n).map(|i| i % c).collect())
    }

    fn mahalanobis(covariance: &Mat<f64>, x: &[f64]) -> f64 {
        let y = whitened(&factor(covariance.as_ref()).unwrap(), x.to_vec());
        dot(&y, &y)
    }

    #[test]
    fn the_values_are_those_of_the_formula() {
        let (z, classes) = sample(40, 3, 4);
        let projected =
            Projected { z: z.as_ref(), classes: &classes, count: 4, weights: None, covariance: None };
        let params = RuleParams { kind: RuleKind::Gaussian, ..RuleParams::default() };
        let learned = learn(&params, &projected).unwrap();
        let LearnedRule::Gaussian(rule) = &learned else { panic!("{learned:?}") };
        let (asked, _) = sample(17, 3, 5);
        let values = learned.decision_values(asked.as_ref()).unwrap();
        for i in 0..17 {
            for c in 0..4 {
                let apart: Vec<f64> = (0..3).map(|k| asked[(i, k)] - rule.means[(c, k)]).collect();
                let square = mahalanobis(&rule.covariance, &apart);
                let expected = (-0.5 * square + 0.25_f64.ln()) / rule.temperature;
                assert!((values[(i, c)] - expected).abs() < 1e-11 * (1.0 + expected.abs()));
            }
        }
        let parts = (rule.means.clone(), rule.covariance.clone(), rule.log_priors.clone());
        assert_eq!(
            &Gaussian::from_parts(parts.0.clone(), parts.1, parts.2.clone(), rule.temperature).unwrap(),
            rule
        );
        assert!(Gaussian::from_parts(parts.0.clone(), Mat::zeros(3, 3), parts.2.clone(), 1.0).is_err());
        assert!(Gaussian::from_parts(parts.0, Mat::identity(2, 2), parts.2, 1.0).is_err());
    }

    #[test]
    fn left_out_distances_are_those_of_a_fit_without_the_sample() {
        let (z, classes) = sample(24, 3, 3);
        let counts = [8.0, 8.0, 8.0];
        let all = Projected { z: z.as_ref(), classes: &classes, count: 3, weights: None, covariance: None };
        let (_, residuals) = means_and_residuals(&all, &counts);
        let (degrees, d) = (21.0, 3);
        let shrinkage = ledoit_wolf(residuals.as_ref(), None, degrees);
        let target = shrinkage.intensity * shrinkage.variance;
        let scatter = residuals.transpose() * &residuals;
        let build = |scatter: &Mat<f64>, factor: f64| {
            let mut out = scatter * faer::Scale(factor * (1.0 - shrinkage.intensity) / degrees);
            (0..d).for_each(|k| out[(k, k)] += factor * target);
            out
        };
        let sigma = build(&scatter, 1.0);
        let lower = factor(sigma.as_ref()).unwrap();
        for i in 0..24 {
            let keep: Vec<usize> = (0..24).filter(|&j| j != i).collect();
            let rest = Mat::from_fn(23, d, |j, k| z[(keep[j], k)]);
            let rest_classes: Vec<usize> = keep.iter().map(|&j| classes[j]).collect();
            let mut rest_counts = counts;
            rest_counts[classes[i]] -= 1.0;
            let without = Projected {
                z: rest.as_ref(),
                classes: &rest_classes,
                count: 3,
                weights: None,
                covariance: None,
            };
            let (means, left) = means_and_residuals(&without, &rest_counts);
            let covariance = build(&(left.transpose() * &left), degrees / (degrees - 1.0));
            // The same numbers as in `learn`.
            let own = classes[i];
            let residual = whitened(&lower, row(residuals.as_ref(), i));
            let away = without_itself(counts[own], 1.0);
            let weight = (1.0 - shrinkage.intensity) * away / degrees;
            let rest = 1.0 - weight * dot(&residual, &residual);
            for c in 0..3 {
                let apart: Vec<f64> = (0..d).map(|k| z[(i, k)] - means[(c, k)]).collect();
                let y = whitened(&lower, apart.clone());
                let quick =
                    (degrees - 1.0) / degrees * (dot(&y, &y) + weight * dot(&residual, &y).powi(2) / rest);
                let slow = mahalanobis(&covariance, &apart);
                assert!((quick - slow).abs() < 1e-10 * (1.0 + slow), "{i} {c}: {quick} {slow}");
                if c == own {
                    let r: Vec<f64> = residual.iter().map(|r| away * r).collect();
                    assert!((dot(&r, &r) - dot(&y, &y)).abs() < 1e-10 * (1.0 + dot(&y, &y)));
                }
            }
        }
    }

    #[test]
    fn a_singular_covariance_gets_the_floor() {
        let params = RuleParams::default();
        // One axis is constant within classes, and so is every axis in the second set.
        let constant = mat![[0.0, 5.0], [1.0, 5.0], [3.0, 5.0], [7.0, 6.0], [8.0, 6.0], [9.0, 6.0f64]];
        let none = mat![[0.1, 5.0], [0.1, 5.0], [0.1, 5.0], [7.0, 6.0], [7.0, 6.0], [7.0, 6.0f64]];
        let given = mat![[4.0, 0.0], [0.0, 0.0f64]];
        let twin = mat![[1.0, 1.0], [1.0, 1.0f64]];
        let learn = |z: &Mat<f64>, covariance: Option<&Mat<f64>>| {
            let covariance = covariance.map(|covariance| covariance.as_ref());
            let projected = Projected {
                z: z.as_ref(),
                classes: &[0, 0, 0, 1, 1, 1],
                count: 2,
                weights: None,
                covariance,
            };
            Gaussian::learn(&params, &projected, true)
        };
        assert_eq!(learn(&none, None).unwrap().covariance, Mat::<f64>::identity(2, 2));
        assert_eq!(learn(&constant, Some(&Mat::zeros(2, 2))).unwrap().covariance, Mat::<f64>::identity(2, 2));
        let floor = learn(&constant, Some(&given)).unwrap().covariance;
        assert_eq!(floor[(1, 1)], VARIANCE_FLOOR * 2.0);
        assert!((floor[(0, 0)] - 4.0).abs() < 1e-7);
        for rule in [learn(&constant, None), learn(&constant, Some(&twin))] {
            let rule = rule.unwrap();
            let least = crate::numerics::linalg::symmetric_eigen(rule.covariance.as_ref()).unwrap().0[0];
            assert!(least >= 0.9 * VARIANCE_FLOOR, "{least}");
            assert!(factor(rule.covariance.as_ref()).is_ok());
        }
        for bad in
            [mat![[1.0, 0.0], [0.0, -1.0]], mat![[1.0, 0.5], [0.0, 1.0]], mat![[f64::NAN]], mat![[1.0]]]
        {
            assert!(learn(&constant, Some(&bad)).is_err(), "{bad:?}");
        }
    }
}
