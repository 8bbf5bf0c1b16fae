//! The nearest class mean.
//!
//! ```text
//! value_c = (−‖z − m_c‖² / (2 σ²) + log prior_c) / T
//! ```
//!
//! σ² is the pooled within-class variance per dimension.

use faer::{Mat, MatRef};

use super::linear::{Linear, calibrated, check_parts, decisions, limit, means_and_residuals, without_itself};
use super::{Decision, Projected, Rule, RuleKind, RuleParams, counts_of, row};
use crate::error::{Result, check};
use crate::numerics::linalg::dot;

/// The learned rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Centroid {
    /// The class means, one per row.
    pub means: Mat<f64>,
    /// σ², > 0.
    pub variance: f64,
    /// The logarithms of the priors.
    pub log_priors: Vec<f64>,
    /// T, >= 1.
    pub temperature: f64,
}

impl Centroid {
    /// The rule from its parts, checked.
    ///
    /// # Errors
    /// When sizes disagree or a value is out of range.
    pub fn from_parts(
        means: Mat<f64>,
        variance: f64,
        log_priors: Vec<f64>,
        temperature: f64,
    ) -> Result<Self> {
        check_parts(means.as_ref(), &log_priors, temperature)?;
        // The variance of usable samples may be the square of the largest of them.
        check("variance", variance.sqrt(), "a number > 0, at most 1e200", |sigma| sigma > 0.0)?;
        Ok(Centroid { means, variance, log_priors, temperature })
    }

    pub(super) fn linear(&self) -> Linear {
        let divide = |weights: &mut Mat<f64>| {
            weights.col_iter_mut().for_each(|column| column.iter_mut().for_each(|w| *w /= self.variance));
        };
        Linear::of(self.means.as_ref(), &self.log_priors, self.temperature, divide)
    }
}

impl Rule for Centroid {
    fn learn(params: &RuleParams, projected: &Projected<'_>, calibrate: bool) -> Result<Self> {
        let counts = counts_of(projected)?;
        let masses = projected.masses();
        let log_priors = params.priors.logs(&masses)?;
        let (means, residuals) = means_and_residuals(projected, &masses);
        let (n, d) = residuals.shape();
        let scatter = match projected.weights {
            None => residuals.squared_norm_l2(),
            Some(weights) => {
                residuals.row_iter().zip(weights).map(|(row, weight)| weight * row.squared_norm_l2()).sum()
            }
        };
        let variance = scatter / ((n - counts.len()).max(1) * d) as f64;
        // No spread at all says nothing of how far is far.
        let variance = if variance >= f64::MIN_POSITIVE { variance } else { 1.0 };
        let sigma = variance.sqrt();
        let squares = |i: usize| {
            let (z, own) = (row(projected.z, i), projected.classes[i]);
            let square = |c: usize| {
                let mut y: Vec<f64> =
                    z.iter().zip(means.row(c).iter()).map(|(z, m)| (z - m) / sigma).collect();
                limit(&mut y);
                let square = dot(&y, &y);
                if c == own {
                    square * without_itself(masses[c], projected.weight(i)).powi(2)
                } else {
                    square
                }
            };
            (0..counts.len()).map(square).collect()
        };
        let temperature = if calibrate { calibrated(projected, &counts, &masses, squares) } else { 1.0 };
        Ok(Centroid { means, variance, log_priors, temperature })
    }

    fn kind(&self) -> RuleKind {
        RuleKind::Centroid
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
        Centroid { means: self.means.subcols(0, d).to_owned(), ..self.clone() }
    }

    fn decisions(&self, z: MatRef<'_, f64>) -> Result<Vec<Decision>> {
        let sigma = self.variance.sqrt();
        let whiten = |y: &mut [f64]| y.iter_mut().for_each(|y| *y /= sigma);
        Ok(decisions(z, self.means.as_ref(), &self.log_priors, self.temperature, whiten))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{LearnedRule, learn};
    use faer::mat;

    #[test]
    fn values_are_those_of_the_formula() {
        let z = mat![[0.0, 0.0], [2.0, 0.0], [1.0, 3.0], [10.0, 1.0], [12.0, 1.0f64]];
        let classes = [0, 0, 0, 1, 1];
        let projected =
            Projected { z: z.as_ref(), classes: &classes, count: 2, weights: None, covariance: None };
        let params = RuleParams { kind: RuleKind::Centroid, ..RuleParams::default() };
        let learned = learn(&params, &projected).unwrap();
        let LearnedRule::Centroid(rule) = &learned else { panic!("{learned:?}") };
        // Scatter: (1 + 1 + 0) + (1 + 1 + 4) and 1 + 1, over (5 − 2) · 2.
        assert!((rule.variance - 10.0 / 6.0).abs() < 1e-14);
        assert_eq!(rule.means, mat![[1.0, 1.0], [11.0, 1.0]]);
        let asked = mat![[5.0, 2.0], [-7.0, 80.0f64]];
        let values = learned.decision_values(asked.as_ref()).unwrap();
        for i in 0..2 {
            for c in 0..2 {
                let square = (asked[(i, 0)] - rule.means[(c, 0)]).powi(2)
                    + (asked[(i, 1)] - rule.means[(c, 1)]).powi(2);
                let prior = [0.6_f64, 0.4][c].ln();
                let expected = (-square / (2.0 * rule.variance) + prior) / rule.temperature;
                assert!((values[(i, c)] - expected).abs() < 1e-12 * expected.abs());
            }
        }
        let again = Centroid::from_parts(
            rule.means.clone(),
            rule.variance,
            rule.log_priors.clone(),
            rule.temperature,
        );
        assert_eq!(&again.unwrap(), rule);
        assert!(Centroid::from_parts(rule.means.clone(), 0.0, rule.log_priors.clone(), 1.0).is_err());
        assert!(Centroid::from_parts(rule.means.clone(), 1.0, vec![0.0], 1.0).is_err());
        assert!(Centroid::from_parts(rule.means.clone(), 1.0, rule.log_priors.clone(), 0.5).is_err());
    }

    #[test]
    fn without_spread_the_variance_is_one() {
        let z = mat![[0.1, 0.3], [0.1, 0.3], [0.1, 0.3], [0.7, 0.9f64]];
        let projected =
            Projected { z: z.as_ref(), classes: &[0, 0, 0, 1], count: 2, weights: None, covariance: None };
        let rule = Centroid::learn(&RuleParams::default(), &projected, true).unwrap();
        assert_eq!(rule.variance, 1.0);
        assert!(rule.temperature >= 1.0);
    }
}
