//! How a model prepares samples, in words and as JSON.

use menet::prepare::Scale;
use menet::{Men, Named};
use serde_json::{Value, json};

use super::variable;
use crate::text;

/// How many variables the summary names.
const NAMED: usize = 5;

/// One line per step that the model takes.
pub(super) fn lines(men: &Men) -> String {
    let Some(learned) = men.preparation() else { return String::new() };
    let params = &learned.params;
    let mut lines = String::new();
    if params.scale != Scale::None {
        lines += &format!("scale: {}\n", params.scale.name());
    }
    if let Some(batches) = &learned.batches {
        let scaled = if params.batch_scale { ", and divided by their deviation there" } else { "" };
        lines +=
            &format!("batches: values less the mean of their batch, of {}{scaled}\n", batches.names.len());
    }
    if let Some(impute) = params.impute {
        let mut lacking: Vec<usize> =
            (0..learned.missing.len()).filter(|&j| learned.missing[j] > 0.0).collect();
        let share = learned.missing.iter().sum::<f64>() / learned.missing.len().max(1) as f64;
        lacking.sort_by(|&a, &b| learned.missing[b].total_cmp(&learned.missing[a]).then(a.cmp(&b)));
        let named = lacking.iter().take(NAMED).map(|&j| {
            format!("{} {:.1} %", text::shortened(&variable(men, j), 40), 100.0 * learned.missing[j])
        });
        let most: Vec<String> = named.collect();
        let most = if most.is_empty() { String::new() } else { format!("; most in {}", most.join(", ")) };
        lines += &format!(
            "missing values: {:.1} % of all, in {} variables, filled by {}{most}\n",
            100.0 * share,
            lacking.len(),
            impute.name()
        );
    }
    lines
}

/// What was learned, but for numbers of every variable that lacks nothing; or null.
pub(super) fn json(men: &Men) -> Value {
    let Some(learned) = men.preparation() else { return Value::Null };
    let lacking = (0..learned.missing.len()).filter(|&j| learned.missing[j] > 0.0);
    json!({
        "impute": learned.params.impute,
        "max_missing": learned.params.max_missing,
        "scale": learned.params.scale,
        "batch_scale": learned.params.batch_scale,
        "batches": learned.batches.as_ref().map(|batches| &batches.names),
        "dropped": learned.dropped.iter().map(|&j| variable(men, j)).collect::<Vec<_>>(),
        "missing": lacking.map(|j| (variable(men, j), json!(learned.missing[j]))).collect::<serde_json::Map<_, _>>(),
    })
}
