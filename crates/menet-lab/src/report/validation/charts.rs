//! The other charts: ROC curves, confusion, stability, panel sizes, permuted labels, methods.

use serde_json::{Value, json};

use super::format::{counted, probability};
use super::{Page, PageSubject, frequencies};
use crate::charts::comparison::comparison;
use crate::charts::confusion::of_validation;
use crate::charts::permutation::permutation;
use crate::charts::roc::roc;
use crate::charts::selection::selection;
use crate::charts::stability_sizes::stability_sizes;
use crate::names::escaped;
use crate::report::{confusion, shell};

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let validation = subject.validation;
    let mut markup = String::new();
    if let Some(chart) = roc(validation) {
        let tested =
            subject.first.samples.iter().filter(|it| it.tested > 0 && !it.probabilities.is_empty()).count();
        let note = escaped(&format!("{}; {}", counted(tested, "sample"), chart.note));
        markup += &placed(page, "roc", "ROC curves", &note, json!({ "lines": chart }));
    }
    page.values.insert("confusions".to_owned(), json!({ "0": of_validation(validation) }));
    markup += &confusion::place(0, "held-out samples of all repeats");
    if let Some(chart) = comparison(validation) {
        let chart = json!({ "comparison": chart });
        let note = "balanced accuracy on held-out samples with 95&nbsp;% intervals; the same splits for all; the dotted line is chance";
        markup += &placed(page, "comparison", "Methods side by side", note, chart);
    }
    page.section("errors", "Right and wrong", "Right and wrong", &markup);

    let mut markup = String::new();
    match &validation.stability {
        Some(found) => {
            markup += &frequencies::markup(subject, found);
            if let Some(chart) = stability_sizes(validation) {
                let note =
                    "Nogueira's index with its 95&nbsp;% interval; below 0.4 poor, above 0.75 excellent";
                markup +=
                    &placed(page, "index", "Stability against panel size", note, json!({ "lines": chart }));
            }
        }
        None => {
            markup += "<p>No half-samples were asked for, so nothing is known of the stability of the selection.</p>\n";
        }
    }
    page.section("stability", "Would other samples select the same?", "Stability", &markup);

    if let Some(chart) = selection(validation) {
        let note = escaped(&chart.note);
        let markup =
            placed(page, "sizes", "Balanced accuracy against panel size", &note, json!({ "lines": chart }));
        page.section("size", "How many variables?", "Panel size", &markup);
    }

    let markup = match (permutation(validation), &validation.permutation) {
        (Some(chart), Some(test)) => {
            let p = probability(test.p_value.mean);
            let note = format!(
                "balanced accuracy of the whole procedure with permuted labels: {}; p = {p}",
                chart.note
            );
            placed(page, "permutation", "Permuted labels", &escaped(&note), json!({ "lines": chart }))
        }
        _ => "<p>No permutation test was asked for.</p>\n".to_owned(),
    };
    page.section("chance", "Could it be chance?", "Chance", &markup);
}

fn placed(page: &mut Page, id: &str, title: &str, note: &str, chart: Value) -> String {
    page.charts.insert(id.to_owned(), chart);
    shell::chart(id, title, note)
}
