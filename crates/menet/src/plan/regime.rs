//! What was chosen, as data. The sentence for users is made from it.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::gram::GramForm;
use crate::operator::Route;

/// The way of a fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Regime {
    /// How A is applied.
    pub route: Route,
    /// Which part of the Gram matrix is computed.
    pub gram: GramForm,
    /// Why.
    pub why: RegimeReason,
}

/// Why a way was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RegimeReason {
    /// For data of this size.
    Chosen {
        /// Number of samples.
        samples: usize,
        /// Number of variables.
        variables: usize,
        /// Number of classes.
        classes: usize,
        /// Why this route.
        route: ChoiceReason,
        /// Why this form of the Gram matrix.
        gram: ChoiceReason,
    },
    /// The sentence of a version that stored nothing else.
    Sentence(String),
}

/// Why one of two was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChoiceReason {
    /// It was asked for.
    Asked,
    /// The data stay sparse.
    Sparse,
    /// The policy `floor` needs the spectrum of A.
    Floor,
    /// There are more samples, or variables, than this.
    Many {
        /// The most for which the other is considered.
        limit: usize,
    },
    /// The samples are in pieces, which no process holds at once.
    Pieces,
    /// It is cheaper.
    Cost,
}

impl Regime {
    /// This regime with its reasons as one sentence, for other programs.
    #[must_use]
    pub fn with_sentence(&self) -> Self {
        Regime { why: RegimeReason::Sentence(self.to_string()), ..self.clone() }
    }
}

impl Display for Regime {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (&samples, &variables, &classes, route, gram) = match &self.why {
            RegimeReason::Sentence(sentence) => return f.write_str(sentence),
            RegimeReason::Chosen { samples, variables, classes, route, gram } => {
                (samples, variables, classes, route, gram)
            }
        };
        let because = |reason: &ChoiceReason, many: String| match reason {
            ChoiceReason::Asked => "as asked".to_owned(),
            ChoiceReason::Sparse => "since the data stay sparse".to_owned(),
            ChoiceReason::Floor => "since the policy floor needs its spectrum".to_owned(),
            ChoiceReason::Pieces => "since the samples are in pieces".to_owned(),
            ChoiceReason::Many { limit } => format!("since {many} are more than {limit}"),
            ChoiceReason::Cost => {
                format!(
                    "which is cheaper for {samples} samples of {variables} variables in {classes} classes"
                )
            }
        };
        let operator = match self.route {
            Route::Dense => "A as a dense matrix",
            Route::Conjugate => "A by conjugate gradients",
        };
        let columns = match self.gram {
            GramForm::Full => "the whole Gram matrix",
            GramForm::Columns => "Gram columns on demand",
        };
        let (route, gram) =
            (because(route, format!("{samples} samples")), because(gram, format!("{variables} variables")));
        write!(f, "{operator}, {route}; {columns}, {gram}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_kept_as_data_and_old_sentences_are_read() {
        let why = RegimeReason::Chosen {
            samples: 9_000,
            variables: 70,
            classes: 3,
            route: ChoiceReason::Many { limit: 5_000 },
            gram: ChoiceReason::Cost,
        };
        let regime = Regime { route: Route::Conjugate, gram: GramForm::Full, why };
        let json = serde_json::to_string(&regime).unwrap();
        assert_eq!(serde_json::from_str::<Regime>(&json).unwrap(), regime, "{json}");
        let sentence = "A by conjugate gradients, since 9000 samples are more than 5000; the whole Gram matrix, which is \
                        cheaper for 9000 samples of 70 variables in 3 classes";
        assert_eq!(regime.to_string(), sentence);
        let old: Regime =
            serde_json::from_str(r#"{"route":"dense","gram":"columns","why":"as it was"}"#).unwrap();
        assert_eq!((old.route, old.to_string()), (Route::Dense, "as it was".to_owned()));
        assert_eq!(regime.with_sentence().to_string(), sentence);
    }
}
