//! The final model inside the page, with all digits, so that `project.js` computes what the command computes.

use faer::MatRef;
use menet::rules::{LearnedRule, Metric};
use menet::{Men, Named};
use serde_json::{Value, json};

use super::format::count;
use super::{Page, PageSubject};
use crate::error::Result;
use crate::names::shown;

/// The most numbers that a rule may keep inside the page: about 20 MB of text.
const MOST: usize = 1_000_000;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) -> Result<()> {
    let Some(models) = &subject.validation.models else { return Ok(()) };
    if models.all.preparation().is_some_and(|preparation| preparation.batches.is_some()) {
        let markup = "<p>The model subtracts the mean of every batch, so a new sample needs its batch: use <code>menet predict \
                      --batch</code>.</p>\n";
        page.section("project", "Project a new sample", "New sample", markup);
        return Ok(());
    }
    page.values.insert("projection".to_owned(), projection(subject, &models.all));
    let named = subject.data.feature_names().is_some();
    let markup = include_str!("project.html")
        .replace("{how}", if named {
            "Paste numbers of one or more samples, one sample per line, separated by commas, semicolons, tabs or spaces: either all \
             {p} variables in the order of the data, or below a line of names. With names, only the {panel} variables of the panel \
             are needed, in any order."
        } else {
            "Paste numbers of one or more samples, one sample per line, separated by commas, semicolons, tabs or spaces: all {p} \
             variables in the order of the data."
        })
        .replace("{p}", &count(subject.data.variables()))
        .replace("{panel}", &count(models.all.panel().len()));
    page.section("project", "Project a new sample", "New sample", &markup);
    Ok(())
}

/// The projection: variables in use with names and means, and the axes by places among them.
fn projection(subject: &PageSubject<'_>, men: &Men) -> Value {
    let panel = men.panel();
    let place = |j: usize| panel.binary_search(&j).unwrap_or_default();
    let names = subject.data.feature_names();
    let (logs, divisors) = match men.preparation() {
        Some(own) => (own.params.scale.logs(), own.divisors.as_ref()),
        None => (false, None),
    };
    let axes = men
        .projection()
        .axes()
        .iter()
        .map(|axis| -> Value { axis.iter().map(|(j, weight)| json!([place(j), weight])).collect() });
    json!({
        "variables": panel,
        "all": subject.data.variables(),
        // As they are, for they are compared with the names in the reader's file; the others are shown.
        "names": names.map(|names| panel.iter().map(|&j| names[j].as_str()).collect::<Vec<_>>()),
        "shown": panel.iter().map(|&j| names.map_or_else(|| format!("variable {j} (from 0)"), |names| shown(&names[j], 60))).collect::<Value>(),
        // What is done to the values first.
        "logs": logs,
        "divisors": panel.iter().map(|&j| divisors.map_or(1.0, |all| all[j])).collect::<Value>(),
        "means": panel.iter().map(|&j| men.projection().mean()[j]).collect::<Value>(),
        "axes": axes.collect::<Value>(),
    })
}

/// The rule with the numbers of its formula, or why it is not here. `classes` has the place of each of its classes in the page.
pub(super) fn rule(subject: &PageSubject<'_>, men: &Men) -> Value {
    let all = &subject.validation.classes;
    let classes: Value =
        men.classes().iter().map(|name| json!(all.iter().position(|other| other == name))).collect();
    let rows = |x: MatRef<'_, f64>| -> Value {
        x.row_iter().map(|row| row.iter().copied().collect::<Vec<f64>>()).map(Value::from).collect()
    };
    let mut out = match men.rule() {
        Err(error) => return json!({ "missing": error.to_string() }),
        Ok(LearnedRule::Nearest(rule)) if rule.gallery.nrows() * rule.gallery.ncols() > MOST => {
            let samples = count(rule.gallery.nrows());
            return json!({ "missing": format!(
                "the rule nearest compares with {samples} samples, which are too many for a page; use `menet predict`"
            ) });
        }
        Ok(LearnedRule::Nearest(rule)) => json!({
            "gallery": rows(rule.gallery.as_ref()),
            "owners": rule.classes,
            "neighbors": rule.neighbors,
            "cosine": rule.metric == Metric::Cosine,
            "temperature": rule.temperature,
            "shifts": rule.shifts,
        }),
        Ok(LearnedRule::Centroid(rule)) => json!({
            "means": rows(rule.means.as_ref()),
            "variance": rule.variance,
            "logPriors": rule.log_priors,
            "temperature": rule.temperature,
        }),
        Ok(LearnedRule::Gaussian(rule)) => json!({
            "means": rows(rule.means.as_ref()),
            "covariance": rows(rule.covariance.as_ref()),
            "logPriors": rule.log_priors,
            "temperature": rule.temperature,
        }),
    };
    if let Ok(rule) = men.rule() {
        out["kind"] = rule.kind().name().into();
    }
    out["classes"] = classes;
    out
}
