//! Which rule, and what it is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Metric;
use crate::error::{Error, Result, at_least_one, check};
use crate::named::named;

/// The rules there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// The class of the nearest samples, the paper's rule.
    #[default]
    Nearest,
    /// The class whose mean is nearest.
    Centroid,
    /// The most probable class if all are normal with one covariance: linear discriminant analysis.
    Gaussian,
}

named!(RuleKind, "rule", Nearest = "nearest", Centroid = "centroid", Gaussian = "gaussian");

/// How frequent the classes are where the rule will be used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "PriorsInFile", into = "PriorsInFile")]
pub enum Priors {
    /// As among the samples that were learned from: `"train"`.
    #[default]
    Train,
    /// All alike: `"equal"`.
    Equal,
    /// These numbers, one per class, in proportion: `[0.2, 0.8]`.
    Given(Vec<f64>),
}

/// Priors as they are written in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PriorsInFile {
    Name(String),
    Numbers(Vec<f64>),
}

impl TryFrom<PriorsInFile> for Priors {
    type Error = Error;

    fn try_from(written: PriorsInFile) -> Result<Self> {
        match written {
            PriorsInFile::Numbers(numbers) => Ok(Priors::Given(numbers)),
            PriorsInFile::Name(name) => match name.as_str() {
                "train" => Ok(Priors::Train),
                "equal" => Ok(Priors::Equal),
                _ => {
                    let allowed = "\"train\", \"equal\" or a list of one number per class";
                    Err(Error::parameter("priors", format!("\"{name}\""), allowed))
                }
            },
        }
    }
}

impl From<Priors> for PriorsInFile {
    fn from(priors: Priors) -> Self {
        match priors {
            Priors::Train => PriorsInFile::Name("train".to_owned()),
            Priors::Equal => PriorsInFile::Name("equal".to_owned()),
            Priors::Given(numbers) => PriorsInFile::Numbers(numbers),
        }
    }
}

impl Priors {
    /// Refuses priors that are out of range, or not one per class.
    ///
    /// # Errors
    /// Naming what was given and what is allowed.
    pub fn check(&self, classes: usize) -> Result<()> {
        let Priors::Given(numbers) = self else { return Ok(()) };
        if numbers.len() != classes {
            let why = format!("there are {classes} classes");
            return Err(Error::Size { what: "`rule.priors`", given: numbers.len(), expected: classes, why });
        }
        numbers.iter().try_for_each(|&x| check("priors", x, "numbers > 0, at most 1e100", |x| x > 0.0))
    }

    /// The logarithms of the priors, which sum to 1, where the classes have so many samples, or samples of this weight.
    ///
    /// # Errors
    /// As for [`Self::check`].
    pub fn logs(&self, masses: &[f64]) -> Result<Vec<f64>> {
        self.check(masses.len())?;
        let weights: Vec<f64> = match self {
            Priors::Train => masses.to_vec(),
            Priors::Equal => vec![1.0; masses.len()],
            Priors::Given(numbers) => numbers.clone(),
        };
        let total = weights.iter().sum::<f64>().ln();
        // Logarithms first: the quotient may be too small for a number.
        Ok(weights.iter().map(|weight| weight.ln() - total).collect())
    }
}

/// The rule: how the class of a projected sample is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RuleRequest {
    /// Which rule; none: `nearest`, but `gaussian` on a single axis.
    #[schemars(extend("common" = true))]
    pub kind: Option<RuleKind>,
    /// How many of the nearest training samples vote, at least 1.
    #[schemars(extend("of" = ["nearest"]))]
    pub k: usize,
    /// How samples are compared; none: by the cosine, but by the Euclidean distance on a single axis, where the angle between samples
    /// says no more than their sign.
    #[schemars(extend("of" = ["nearest"]))]
    pub metric: Option<Metric>,
    /// How frequent the classes are where the model is used: "train" (as in the training samples), "equal", or one number per class.
    #[schemars(with = "String", extend("kind" = "priors"))]
    pub priors: Priors,
}

impl Default for RuleRequest {
    fn default() -> Self {
        RuleRequest { kind: None, k: 1, metric: None, priors: Priors::Train }
    }
}

impl RuleRequest {
    /// The rule that decides on several axes.
    pub fn on_several(&self) -> RuleParams {
        self.on(2)
    }

    /// The rule that decides in a space of so many axes.
    pub fn on(&self, axes: usize) -> RuleParams {
        let (kind, metric) = match axes {
            1 => (RuleKind::Gaussian, Metric::Euclidean),
            _ => (RuleKind::Nearest, Metric::Cosine),
        };
        RuleParams {
            kind: self.kind.unwrap_or(kind),
            neighbors: self.k,
            metric: if axes == 1 { metric } else { self.metric.unwrap_or(metric) },
            priors: self.priors.clone(),
        }
    }

    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        at_least_one("k", Some(self.k))
    }
}

/// Which rule, and what it is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RuleParams {
    /// The rule.
    #[serde(rename = "rule")]
    pub kind: RuleKind,
    /// How many neighbours vote, for `nearest`.
    pub neighbors: usize,
    /// How samples are compared, for `nearest`.
    pub metric: Metric,
    /// How frequent the classes are.
    pub priors: Priors,
}

impl Default for RuleParams {
    fn default() -> Self {
        RuleParams {
            kind: RuleKind::default(),
            neighbors: 1,
            metric: Metric::default(),
            priors: Priors::default(),
        }
    }
}

impl RuleParams {
    /// Refuses parameters that are out of range for so many classes.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self, classes: usize) -> Result<()> {
        at_least_one("neighbors", Some(self.neighbors))?;
        self.priors.check(classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    #[test]
    fn priors_are_written_as_a_name_or_a_list() {
        for (priors, text) in [
            (Priors::Train, "\"train\""),
            (Priors::Equal, "\"equal\""),
            (Priors::Given(vec![0.2, 0.8]), "[0.2,0.8]"),
        ] {
            assert_eq!(serde_json::to_string(&priors).unwrap(), text);
            assert_eq!(serde_json::from_str::<Priors>(text).unwrap(), priors);
        }
        let message = serde_json::from_str::<Priors>("\"even\"").unwrap_err().to_string();
        assert!(message.contains("even") && message.contains("equal"), "{message}");
        let params: RuleParams = serde_json::from_str(r#"{"rule": "gaussian", "priors": "equal"}"#).unwrap();
        assert_eq!((params.kind, params.priors, params.neighbors), (RuleKind::Gaussian, Priors::Equal, 1));
    }

    #[test]
    fn priors_are_positive_one_per_class_and_sum_to_one() {
        let given = |numbers: &[f64]| Priors::Given(numbers.to_vec());
        for bad in [&[0.0, 1.0][..], &[-1.0, 1.0], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0], &[1.0], &[1.0; 3]]
        {
            assert!(given(bad).check(2).is_err(), "{bad:?}");
        }
        for priors in [Priors::Train, Priors::Equal, given(&[3.0, 5.0]), given(&[1e-300, 1e100])] {
            let logs = priors.logs(&[4.0, 1.0]).unwrap();
            assert!(logs.iter().all(|log| log.is_finite()), "{logs:?}");
            assert!((logs.iter().map(|log| log.exp()).sum::<f64>() - 1.0).abs() < 1e-13);
        }
        assert!((Priors::Train.logs(&[4.0, 1.0]).unwrap()[1] - 0.2_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn every_rule_is_found_by_its_name() {
        for &kind in RuleKind::ALL {
            assert_eq!(RuleKind::from_name(kind.name()).unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
