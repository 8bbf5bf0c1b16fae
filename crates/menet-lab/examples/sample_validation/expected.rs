//! What a page must compute in the browser.

use faer::Mat;
use menet::{Dataset, Men};
use serde_json::{Value, json};

use super::Outcome;

/// Samples near those of the data, as text in several forms, and what the core says of them.
pub(super) fn expected(men: &Men, data: &Dataset<'_>) -> Outcome<Value> {
    let (x, n, p) = (data.x()?, data.samples(), data.variables());
    let rows = [1, n / 2, n - 1];
    let new = Mat::from_fn(rows.len() + 1, p, |i, j| match rows.get(i) {
        Some(&row) => x[(row, j)] * 1.03 + 0.001 * ((j * 31 + i) % 17) as f64,
        // Far from all others.
        None => x[(0, j)] * -7.5 + 3.0,
    });
    let z = men.transform(new.as_ref())?;
    let (given, logs) = (men.rule()?.classify(z.as_ref())?, men.rule()?.log_probabilities(z.as_ref())?);
    let line = |i: usize, columns: &[usize], separator: &str| {
        let values: Vec<String> = columns.iter().map(|&j| format!("{:?}", new[(i, j)])).collect();
        values.join(separator)
    };
    let everything: Vec<usize> = (0..p).collect();
    let mut texts = vec![line(0, &everything, ","), line(1, &everything, " ")];
    if let Some(names) = data.feature_names() {
        // In another order than the model's.
        let panel: Vec<usize> = men.panel().into_iter().rev().collect();
        let quoted: Vec<String> =
            panel.iter().map(|&j| format!("\"{}\"", names[j].replace('"', "\"\""))).collect();
        let lines: Vec<String> =
            (0..new.nrows()).map(|i| format!("new {i};{}", line(i, &panel, ";"))).collect();
        texts.push(format!("id;{}\r\n{}\r\n", quoted.join(";"), lines.join("\r\n")));
    } else {
        texts.push((0..new.nrows()).map(|i| line(i, &everything, "\t")).collect::<Vec<_>>().join("\n"));
    }
    let samples = (0..new.nrows()).map(|i| {
        json!({
            "scores": z.row(i).iter().copied().collect::<Vec<f64>>(),
            "class": given[i],
            "probabilities": logs.row(i).iter().map(|log| log.exp()).collect::<Vec<f64>>(),
        })
    });
    Ok(json!({
        "rule": men.rule()?.kind(),
        "classes": data.classes().len(),
        "variables": p,
        "named": data.feature_names().is_some(),
        "samples": samples.collect::<Value>(),
        // One sample, the next, and all of them.
        "texts": texts,
    }))
}
