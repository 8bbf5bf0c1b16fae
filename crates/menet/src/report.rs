//! What a fit found and did, in one structure. Model files, JSON and Python carry it whole, so a new diagnostic is one field here, and where
//! it is found.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check};
use crate::monitor::Stage;
use crate::operator::DefinitenessReport;
use crate::plan::Regime;

/// What a fit found and did on its way to the paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FitReport {
    /// What the definiteness policy found and did.
    pub definiteness: DefinitenessReport,
    /// Which way the fit went, and why; none if that is not known.
    #[serde(default)]
    pub regime: Option<Regime>,
    /// The share of the true neighbours that an approximate search found; none if the search was exact.
    #[serde(default)]
    pub neighbor_recall: Option<f64>,
    /// The worst relative residual of the conjugate gradients, if they built the Gram matrix.
    #[serde(default)]
    pub cg_residual: Option<f64>,
    /// Samples without a label that took part.
    #[serde(default)]
    pub unlabelled: usize,
    /// How many of these no chain of neighbours joins to a labelled sample.
    #[serde(default)]
    pub unreached: usize,
    /// The variables that vary in the training samples, but so little that they count as constant, rising.
    #[serde(default)]
    pub too_small: Vec<usize>,
    /// Seconds that every stage took, in order.
    #[serde(default, with = "by_stage")]
    pub seconds: Vec<(Stage, f64)>,
}

impl FitReport {
    /// With nothing but what the definiteness policy found and did.
    pub fn new(definiteness: DefinitenessReport) -> Self {
        FitReport {
            definiteness,
            regime: None,
            neighbor_recall: None,
            cg_residual: None,
            unlabelled: 0,
            unreached: 0,
            too_small: Vec::new(),
            seconds: Vec::new(),
        }
    }

    /// This report with the reasons of the regime as one sentence, for other programs.
    #[must_use]
    pub fn in_words(&self) -> Self {
        FitReport { regime: self.regime.as_ref().map(Regime::with_sentence), ..self.clone() }
    }

    /// The seconds of all stages together.
    pub fn total_seconds(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Refuses what no fit of `p` variables reports.
    pub(crate) fn check(&self, p: usize) -> Result<()> {
        if self.unreached > self.unlabelled {
            let value = format!("{} of {} samples without a label", self.unreached, self.unlabelled);
            return Err(Error::parameter(
                "unreached",
                value,
                "at most the number of samples without a label",
            ));
        }
        let rises = self.too_small.windows(2).all(|pair| pair[0] < pair[1]);
        if let Some(last) = self.too_small.last().filter(|&&last| last >= p || !rises) {
            return Err(Error::parameter(
                "too_small",
                format!("variable {last}"),
                format!("rising, below {p}"),
            ));
        }
        let DefinitenessReport { floor, kappa_requested, kappa_used, .. } = self.definiteness;
        let (fraction, amount) = ("from 0 to 1", "0 or more");
        let numbers = [
            ("neighbor_recall", self.neighbor_recall, fraction),
            ("floor", Some(floor), fraction),
            ("cg_residual", self.cg_residual.filter(|residual| residual.is_finite()), amount),
            ("kappa_requested", Some(kappa_requested), amount),
            ("kappa_used", Some(kappa_used), amount),
        ];
        for (name, number, allowed) in numbers {
            let most = if allowed == fraction { 1.0 } else { f64::MAX };
            check(name, number.unwrap_or(0.0), allowed, |x| (0.0..=most).contains(&x))?;
        }
        for (stage, seconds) in &self.seconds {
            check("seconds", *seconds, "0 or more in every stage", |x| x >= 0.0)
                .map_err(|error| Error::Degenerate(format!("{}: {error}", stage.name())))?;
        }
        Ok(())
    }
}

/// Seconds as a map from stages, in the order of the stages.
mod by_stage {
    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use super::Stage;

    pub(super) fn serialize<S: Serializer>(seconds: &[(Stage, f64)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(seconds.iter().map(|(stage, seconds)| (stage, seconds)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Stage, f64)>, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(Stage, f64)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("seconds by stage")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs: Self::Value = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                // Writers of JSON may sort the names.
                pairs.sort_by_key(|(stage, _)| Stage::ALL.iter().position(|other| other == stage));
                Ok(pairs)
            }
        }
        from.deserialize_map(Pairs)
    }
}
