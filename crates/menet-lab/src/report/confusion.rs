//! Who is taken for whom: a heat map of the chosen method, which `confusion.js` draws, and the recall of every class under every
//! method as a plain table.

use std::fmt::Write;

use crate::charts::confusion::of_setting;
use crate::curves::TrainingSetting;
use crate::names::{escaped, shown};
use crate::study::{Confusion, Study};

/// How many classes are shown without folding the table.
const UNFOLDED: usize = 12;

/// The markup of setting number `i`: a place for the heat map, and the table. `over` says which repeats are counted.
pub(super) fn markup(study: &Study, setting: &TrainingSetting, i: usize, over: &str) -> String {
    let found = of_setting(study, setting);
    if found.is_empty() {
        return String::new();
    }
    let over_all = format!("all test samples of {over}, at the dimension of the table");
    place(i, &over_all) + &recalls(&found, over)
}

/// The place of heat map number `i`, for `confusion.js`. `over` says which samples are counted.
pub(super) fn place(i: usize, over: &str) -> String {
    format!(
        "<figure>\n<figcaption>Who is taken for whom <span class=\"note\">{over}; one row per class, one column per class it is \
         given; blue: recognised, orange: taken for another; colour: share of the class's samples, square-root \
         scale</span></figcaption>\n<div class=\"controls\"><label>Method <select \
         id=\"confusion-method-{i}\"></select></label></div>\n<p class=\"note\" id=\"confusion-note-{i}\" \
         aria-live=\"polite\"></p>\n<div class=\"scroll\" tabindex=\"0\"><div class=\"chart confusion\" id=\"confusion-{i}\">\
         </div></div>\n</figure>\n"
    )
}

/// The recall of every class under every method.
fn recalls(found: &[&Confusion], over: &str) -> String {
    let classes = &found[0].classes;
    let columns: Vec<Vec<Option<f64>>> = found.iter().map(|confusion| confusion.recalls()).collect();
    let percent = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
    let mut rows = String::new();
    for (class, name) in classes.iter().enumerate() {
        let _ = write!(rows, "<tr><th scope=\"row\">{}</th>", escaped(&shown(name, 60)));
        let _ = write!(rows, "<td>{}</td>", found[0].tested[class]);
        for column in &columns {
            let _ = write!(rows, "<td>{}</td>", percent(column[class]));
        }
        rows += "</tr>\n";
    }
    rows += "<tr><th scope=\"row\">balanced accuracy: the mean</th><td></td>";
    for confusion in found {
        let _ = write!(rows, "<td>{}</td>", percent(confusion.balanced()));
    }
    rows += "</tr>\n";
    let heads: String = found
        .iter()
        .map(|confusion| format!("<th scope=\"col\">{}</th>", escaped(&shown(&confusion.method, 30))))
        .collect();
    let open = if classes.len() <= UNFOLDED { " open" } else { "" };
    format!(
        "<details class=\"recalls\"{open}>\n<summary>Recall of every class</summary>\n<p class=\"note\">percent of the class's \
         test samples that are recognised, over {over}</p>\n<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Recall of every class\">\n<table>\n<thead><tr><th scope=\"col\">class</th><th \
         scope=\"col\">tested</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</details>\n"
    )
}
