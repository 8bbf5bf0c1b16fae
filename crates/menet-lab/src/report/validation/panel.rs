//! The panel as a table, which `table.js` sorts, searches and saves. It is there without scripts too.

use std::fmt::Write;

use serde_json::{Value, json};

use super::format::{count, counted, short};
use super::{Page, PageSubject, boxes};
use crate::names::{escaped, shown};
use crate::validate::PanelEntry;

/// The most rows of the table; the file that can be saved has all.
const MOST: usize = 1000;

/// The headers, with the values they sort by.
const COLUMNS: [(&str, &str, &str); 7] = [
    ("called", "variable", "the name"),
    ("frequency", "half-samples", "how many of the half-samples select it"),
    ("folds", "folds", "how many models of the outer folds use it"),
    ("entered", "order", "its place among the variables that entered the path of an axis"),
    ("effect", "weight × sd", "the largest weight over the axes times the standard deviation"),
    (
        "higher",
        "higher in",
        "the class with the largest mean of the variable by itself, in standard deviations from the mean of all samples",
    ),
    (
        "class",
        "others fixed",
        "the class that a larger value speaks for while all other variables stay as they are",
    ),
];

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let panel = &subject.validation.panel;
    if panel.is_empty() {
        let words = "<p>The first method has no panel: it does not select variables, or its final model was not kept.</p>\n";
        page.section("panel", "The panel", "Panel", words);
        return;
    }
    let heads: String = COLUMNS
        .iter()
        .map(|(key, name, title)| {
            format!(
                "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" data-key=\"{key}\" title=\"{title}\">{name}</button></th>"
            )
        })
        .collect();
    let mut rows = String::new();
    for (k, entry) in panel.iter().take(MOST).enumerate() {
        let _ = writeln!(rows, "<tr data-row=\"{k}\">{}</tr>", cells(subject, k, entry));
    }
    let boxed = if subject.classes.len() <= boxes::CLASSES {
        "one box per class"
    } else {
        "above for the class that it is higher in, below for all others"
    };
    let cut = if panel.len() > MOST {
        format!(" The table has the first {} of {}; the file has all.", count(MOST), count(panel.len()))
    } else {
        String::new()
    };
    let markup = format!(
        "<p>The final model uses {}, the most important first.{cut}</p>\n<div class=\"controls\"><label class=\"wide\">Search \
         <input type=\"search\" id=\"panel-search\" autocomplete=\"off\" placeholder=\"name or class\"></label><button type=\"button\" \
         id=\"panel-save\">Download CSV</button></div>\n<p class=\"note\" id=\"panel-count\" role=\"status\"></p>\n{}<div class=\"scroll \
         tall\" tabindex=\"0\" role=\"region\" aria-label=\"The panel\">\n<table id=\"panel-table\">\n<thead><tr>{heads}<th \
         scope=\"col\">values per class</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n<p class=\"note\">Press a header \
         to sort, again to reverse. ★: in the stable panel. Boxes: least, quartiles, median and largest value, {boxed}; each variable \
         has its own scale. “Higher in” looks at the variable by itself; “others fixed” is the direction of its weights. They differ (≠) \
         where variables are correlated: the model then corrects others by this one. In the file, names that a spreadsheet would compute (they begin with =, +, −, @ or a tab and are no \
         numbers) have a ' in front; numbers have all digits.</p>\n",
        counted(panel.len(), "variable"),
        subject.key(),
    );
    page.section("panel", "The panel", "Panel", &markup);
    page.values.insert("panelClasses".to_owned(), json!(subject.validation.classes));
    page.values.insert("panel".to_owned(), panel.iter().map(|entry| row(subject, entry)).collect::<Value>());
}

fn cells(subject: &PageSubject<'_>, k: usize, entry: &PanelEntry) -> String {
    let name = subject.variable(entry.variable);
    let (name, full) = (escaped(&shown(&name, 40)), escaped(&shown(&name, 200)));
    let name = match &subject.link {
        Some(link) => link.anchor(&entry.name, &name),
        None => name,
    };
    let star = if entry.stable { " <span title=\"in the stable panel\">★</span>" } else { "" };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let share = |f: f64| {
        format!("<span class=\"share\" style=\"--s:{:.0}%\">{:.0}&nbsp;%</span>", 100.0 * f, 100.0 * f)
    };
    format!(
        "<th scope=\"row\" title=\"{full}\">{name}{star}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
        or_dash(entry.frequency.map(share)),
        share(entry.folds),
        or_dash(entry.entered.map(|place| place.to_string())),
        or_dash(entry.effect.map(short)),
        or_dash(entry.higher_in.map(|class| higher(subject, entry, class))),
        or_dash(entry.class.map(|class| {
            let differs = entry.higher_in.is_some_and(|higher| higher != class);
            subject.dotted(class, 30)
                + if differs { " <span title=\"not the class that it is higher in\">≠</span>" } else { "" }
        })),
        boxes::sparkline(subject, k),
    )
}

/// The class with the largest mean, that mean, and those of all classes for the reader who asks.
fn higher(subject: &PageSubject<'_>, entry: &PanelEntry, class: usize) -> String {
    let all: Vec<String> = entry
        .class_means
        .iter()
        .enumerate()
        .take(boxes::CLASSES)
        .map(|(c, mean)| format!("{} {mean:+.2}", subject.class(c, 24)))
        .collect();
    format!(
        "<span title=\"{}\">{}&nbsp;{:+.2}</span>",
        all.join(", "),
        subject.dotted(class, 30),
        entry.class_means[class]
    )
}

/// What is sorted, searched and saved, with all digits.
fn row(subject: &PageSubject<'_>, entry: &PanelEntry) -> Value {
    json!({
        "variable": entry.variable,
        "called": subject.variable(entry.variable),
        "name": entry.name,
        "frequency": entry.frequency,
        "folds": entry.folds,
        "entered": entry.entered,
        "weights": entry.weights,
        "deviation": entry.deviation,
        "effect": entry.effect,
        "higher": entry.higher_in.map(|class| subject.validation.classes[class].as_str()),
        "means": entry.class_means,
        "class": entry.class.map(|class| subject.validation.classes[class].as_str()),
        "stable": entry.stable,
    })
}
