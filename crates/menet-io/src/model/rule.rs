//! The decision rule in a model file: an entry in its JSON, and tensors.

use menet::rules::{Centroid, Gaussian, LearnedRule, Metric, Nearest};
use serde::{Deserialize, Serialize};

use super::tensors::{Packer, Problem, Unpacker};

/// The entry of a rule in the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum RuleEntry {
    Nearest { voters: usize, metric: Metric },
    Centroid,
    Gaussian,
}

pub(super) fn pack_rule(pack: &mut Packer, rule: &LearnedRule) -> RuleEntry {
    match rule {
        LearnedRule::Nearest(rule) => {
            pack.dense("gallery", rule.gallery.as_ref());
            pack.indices("gallery.classes", &rule.classes);
            pack.floats("rule.temperature", &[rule.temperature]);
            pack.floats("rule.shifts", &rule.shifts);
            RuleEntry::Nearest { voters: rule.neighbors, metric: rule.metric }
        }
        LearnedRule::Centroid(rule) => {
            pack.dense("rule.means", rule.means.as_ref());
            pack.floats("rule.variance", &[rule.variance]);
            pack.floats("rule.log_priors", &rule.log_priors);
            pack.floats("rule.temperature", &[rule.temperature]);
            RuleEntry::Centroid
        }
        LearnedRule::Gaussian(rule) => {
            pack.dense("rule.means", rule.means.as_ref());
            pack.dense("rule.covariance", rule.covariance.as_ref());
            pack.floats("rule.log_priors", &rule.log_priors);
            pack.floats("rule.temperature", &[rule.temperature]);
            RuleEntry::Gaussian
        }
    }
}

/// The rule of a model with `d` axes.
pub(super) fn unpack_rule(
    unpack: &Unpacker<'_>,
    words: &RuleEntry,
    d: usize,
) -> Result<LearnedRule, Problem> {
    let temperature = unpack.number("rule.temperature")?;
    let rule = match *words {
        RuleEntry::Nearest { voters, metric } => Nearest::from_parts(
            unpack.dense("gallery", d)?,
            unpack.indices("gallery.classes")?,
            voters,
            metric,
            temperature,
            unpack.floats("rule.shifts")?,
        )
        .map(LearnedRule::Nearest),
        RuleEntry::Centroid => Centroid::from_parts(
            unpack.dense("rule.means", d)?,
            unpack.number("rule.variance")?,
            unpack.floats("rule.log_priors")?,
            temperature,
        )
        .map(LearnedRule::Centroid),
        RuleEntry::Gaussian => Gaussian::from_parts(
            unpack.dense("rule.means", d)?,
            unpack.dense("rule.covariance", d)?,
            unpack.floats("rule.log_priors")?,
            temperature,
        )
        .map(LearnedRule::Gaussian),
    };
    rule.map_err(|e| e.to_string())
}
