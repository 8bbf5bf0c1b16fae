//! The model as one JSON object: the panel with means and weights, and the rule. Numbers have all their digits.

use menet::Named;
use menet::rules::LearnedRule;
use serde_json::{Value, json};

use super::{ExportedModel, rows};
use crate::error::Result;
use crate::model::ModelFile;

/// The model as JSON.
///
/// # Errors
/// When the model has no rule, centres batches, or fills missing values from neighbours.
pub fn to_json(file: &ModelFile) -> Result<String> {
    let flat = ExportedModel::of(file)?;
    let variable = |place: usize| {
        let weights: Vec<f64> = flat.weights.row(place).iter().copied().collect();
        let mut variable =
            json!({ "index": flat.panel[place], "mean": flat.mean[place], "weights": weights });
        let optional = [
            ("name", flat.names.as_ref().map(|names| json!(names[place]))),
            ("divisor", flat.divisors.as_ref().map(|divisors| json!(divisors[place]))),
            ("fill", flat.fill.as_ref().map(|fill| json!(fill[place]))),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                variable[key] = value;
            }
        }
        variable
    };
    let model = json!({
        "menet": env!("CARGO_PKG_VERSION"),
        "variables_in_all": flat.men.projection().variables(),
        "axes": flat.axes(),
        "classes": flat.men.classes(),
        "label_kind": flat.kind,
        "log1p": flat.logarithm,
        "variables": (0..flat.panel.len()).map(variable).collect::<Vec<_>>(),
        "rule": rule(flat.rule),
    });
    Ok(format!("{model:#}\n"))
}

fn rule(rule: &LearnedRule) -> Value {
    let mut value = match rule {
        LearnedRule::Nearest(rule) => json!({
            "metric": rule.metric.name(),
            "neighbors": rule.neighbors,
            "gallery": rows(&rule.gallery),
            "gallery_classes": rule.classes,
            "temperature": rule.temperature,
            "shifts": rule.shifts,
        }),
        LearnedRule::Centroid(rule) => json!({
            "means": rows(&rule.means),
            "variance": rule.variance,
            "log_priors": rule.log_priors,
            "temperature": rule.temperature,
        }),
        LearnedRule::Gaussian(rule) => json!({
            "means": rows(&rule.means),
            "covariance": rows(&rule.covariance),
            "log_priors": rule.log_priors,
            "temperature": rule.temperature,
        }),
    };
    value["kind"] = json!(rule.kind().name());
    value
}
