//! The table in the paper's layout: one row per set and training size, one column per method.

use std::fmt::Write;

use crate::curves::{TrainingSetting, methods};
use crate::names::{escaped, shown};
use crate::study::{ChoiceRow, Study, SummaryRow};

/// Rates, and below them the seconds, folded.
pub(super) fn rates(study: &Study, settings: &[TrainingSetting]) -> String {
    let spread = if study.summary.iter().any(|row| row.sd.is_some()) { " ± standard deviation" } else { "" };
    let choice = if study.tuned {
        "tuned inside the training samples"
    } else {
        "<em>optimistic</em>: best dimension on the test samples"
    };
    let kind = format!(
        "Rate in %{spread}, {choice}; best of a row in bold. Below it the balanced accuracy in %, the log loss and the AUC \
         where the rule gives probabilities, the dimension, and the number of distinct variables that the axes use together \
         (mean over the repeats)"
    );
    let best = |row: &[Option<&SummaryRow>]| {
        row.iter().flatten().map(|cell| tenths(cell.rate)).max().filter(|_| row.iter().flatten().count() > 1)
    };
    let rate = |cell: &SummaryRow, best: Option<i64>| {
        let spread = cell.sd.map_or_else(String::new, |sd| format!("&nbsp;±&nbsp;{sd:.1}"));
        let text = format!("{:.1}{spread}", cell.rate);
        let text = if best == Some(tenths(cell.rate)) { format!("<strong>{text}</strong>") } else { text };
        let balanced = format!("balanced {:.1}", cell.balanced);
        let scores = [("log loss", cell.log_loss), ("AUC", cell.auc)]
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {:.3}<br>", value?)))
            .collect::<String>();
        let axes = counted(cell.dimension as f64, "dimension");
        let variables = counted(cell.variables, "variable");
        format!("{text}<span class=\"more\">{balanced}<br>{scores}{axes}<br>{variables}</span>")
    };
    let mut out = table(study, settings, &kind, &best, &rate);
    if study.summary.iter().any(|row| row.seconds > 0.0) {
        let kind = "Mean seconds of fit, projection and classification";
        let seconds = table(study, settings, kind, &|_| None, &|cell, _| format!("{:.2}", cell.seconds));
        let _ = write!(out, "\n<details><summary>Seconds</summary>\n{seconds}\n</details>");
    }
    out
}

/// What tuning chose in every split, folded; nothing without tuning.
pub(super) fn choices(study: &Study) -> String {
    if study.choices.is_empty() {
        return String::new();
    }
    let line = |tag: &str, cells: &[String]| {
        let cells: String =
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(&shown(cell, 600)))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let header = line("th", &ChoiceRow::COLUMNS.map(|name| name.replace('_', " ")));
    let rows: String = study.choices.iter().map(|row| line("td", &row.cells())).collect();
    format!(
        "<details>\n<summary>What tuning chose in every split</summary>\n<div class=\"scroll\" tabindex=\"0\">\n<table>\n\
         <thead>{header}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</details>\n"
    )
}

fn counted(count: f64, what: &str) -> String {
    let count = format!("{count:.0}");
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A rate as it is printed, so that what looks equal is equally bold.
fn tenths(rate: f64) -> i64 {
    (rate * 10.0).round() as i64
}

fn table(
    study: &Study,
    settings: &[TrainingSetting],
    caption: &str,
    best: &dyn Fn(&[Option<&SummaryRow>]) -> Option<i64>,
    cell: &dyn Fn(&SummaryRow, Option<i64>) -> String,
) -> String {
    let methods = methods(study);
    let mut out = format!(
        "<p class=\"note\">{caption}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n<table>\n<thead><tr><th scope=\"col\">set</th><th scope=\"col\">training samples per class</th>"
    );
    for method in &methods {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(&shown(method, 30)));
    }
    out += "</tr></thead>\n<tbody>\n";
    for setting in settings {
        let find = |method: &String| {
            let fits = |row: &&SummaryRow| {
                row.data == setting.data && row.train_per_class == setting.train && row.method == *method
            };
            study.summary.iter().find(fits)
        };
        let row: Vec<Option<&SummaryRow>> = methods.iter().map(find).collect();
        let best = best(&row);
        let (data, train) = (escaped(&shown(&setting.data, 60)), setting.train);
        let _ = write!(out, "<tr><th scope=\"row\">{data}</th><td>{train}</td>");
        for found in row {
            let text = found.map_or_else(|| "–".to_owned(), |row| cell(row, best));
            let _ = write!(out, "<td>{text}</td>");
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n</div>"
}
