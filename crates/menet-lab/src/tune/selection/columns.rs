//! The parameters that the grid searches, as columns of `trials.csv`.

use menet::rules::RuleKind;
use menet::{MenParams, Named};

/// The names of the columns.
pub(crate) const COLUMNS: [&str; 11] = [
    "beta",
    "target_shrinkage",
    "ridge",
    "nonzeros",
    "panel_size",
    "refit",
    "refit_ridge",
    "rule",
    "voters",
    "metric",
    "priors",
];

/// The values of a setting in the order of [`COLUMNS`].
pub(crate) fn cells(params: &MenParams) -> [String; 11] {
    let count = |value: Option<usize>| value.map_or_else(String::new, |value| value.to_string());
    let rule = params.rule.on_several();
    let nearest = rule.kind == RuleKind::Nearest;
    let priors = toml::Value::try_from(&rule.priors).map_or_else(
        |_| String::new(),
        |priors| match priors {
            toml::Value::String(name) => name,
            other => other.to_string(),
        },
    );
    [
        params.manifold.beta.to_string(),
        params.target.shrinkage.to_string(),
        params.ridge().to_string(),
        count(params.nonzeros),
        count(params.panel_size),
        params.refit.kind().name().to_owned(),
        // Only refits that solve the problem again have a ridge.
        if params.refit.kind().needs_gram() { params.refit_ridge().to_string() } else { String::new() },
        rule.kind.name().to_owned(),
        // Only the rule nearest has voters and a metric.
        if nearest { rule.neighbors.to_string() } else { String::new() },
        if nearest { rule.metric.name().to_owned() } else { String::new() },
        priors,
    ]
}
