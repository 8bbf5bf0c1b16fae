//! The reports: that of a study here, that of a validation in [`validation`]. Each is one HTML file that needs nothing else.
//!
//! It is read on phones and screens, in the light and in the dark, without a network. The tables are plain markup; the
//! charts are plotly's, whose script travels with the program and goes inside the file; the other scripts are ours: they draw,
//! follow the reader's colour scheme and run the path explorer. A content security policy forbids the page to
//! fetch anything. Names from data reach the page escaped, each in the way its place demands.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::charts::boxes::boxes;
use crate::charts::confusion::of_study;
use crate::charts::rates::rates;
use crate::curves::{TrainingSetting, settings};
use crate::error::{Error, Result};
use crate::figures;
use crate::names::{escaped, setting as named, split};
use crate::palette::LOOKS;
use crate::study::{Showcase, Study};

mod axes;
mod charts;
mod confusion;
mod explorer;
mod script;
mod shell;
mod table;
pub mod validation;
mod words;

use shell::{CONFUSION, DRAW, Document, NO_SCRIPT};

/// The report.
///
/// # Errors
/// When the study's parts do not fit together.
pub fn html(study: &Study) -> Result<String> {
    let settings = settings(study);
    let mut page = Page::default();
    for (i, setting) in settings.iter().enumerate() {
        page.setting(study, setting, i, !settings[..i].iter().any(|before| before.data == setting.data))?;
    }
    let explorer = explorer::data(study)?;
    let explorable = explorer.as_array().is_some_and(|sets| !sets.is_empty());
    let data = json!({
        "charts": page.charts,
        "pictures": page.pictures,
        "confusions": page.confusions,
        "explorer": explorer,
        "looks": shell::looks(LOOKS),
        "dark": shell::dark(),
    });
    let links: String = settings
        .iter()
        .enumerate()
        .map(|(i, s)| format!("<a href=\"#set-{i}\">{}</a>\n", escaped(&named(&s.data, s.train))))
        .collect();
    let explore = if explorable { "<a href=\"#explorer\">Path explorer</a>\n" } else { "" };
    let body = format!(
        r##"<h1>Manifold Elastic Net: report</h1>
{words}
<nav aria-label="Contents">
<a href="#table">Table</a>
{links}{explore}<a href="#run">Parameters</a>
</nav>
{NO_SCRIPT}<section id="table">
<h2>Recognition rates</h2>
{table}
</section>
{sections}
{explorer}
<section id="run">
<h2>Parameters</h2>
{choices}{run}</section>
"##,
        words = words::protocol(study) + &words::validations(study),
        table = table::rates(study, &settings),
        sections = page.markup,
        explorer = if explorable { include_str!("explorer.html") } else { "" },
        choices = table::choices(study),
        run = shell::run(&study.run),
    );
    let scripts = [DRAW, CONFUSION, include_str!("paths.js"), include_str!("explorer.js")];
    Document {
        title: "Manifold Elastic Net: report",
        styles: &[],
        body: &body,
        data: &data,
        scripts: &scripts,
    }
    .html()
}

/// What the settings add to the page.
#[derive(Debug, Default)]
struct Page {
    markup: String,
    charts: Map<String, Value>,
    /// By the number of the setting.
    confusions: Map<String, Value>,
    pictures: Vec<Value>,
}

impl Page {
    fn setting(
        &mut self,
        study: &Study,
        setting: &TrainingSetting,
        i: usize,
        first_of_data: bool,
    ) -> Result<()> {
        let title = escaped(&named(&setting.data, setting.train));
        self.push(format_args!("<section id=\"set-{i}\">\n<h2>{title}</h2>\n"));
        let over = words::repeats(study, setting);
        if let Some(chart) = rates(study, setting) {
            self.chart(
                &format!("rates-{i}"),
                "Recognition rate against dimension",
                &format!("{over}; {}", chart.note),
            );
            self.charts.insert(format!("rates-{i}"), json!({ "lines": chart }));
        }
        if let Some(chart) = boxes(study, setting) {
            self.chart(
                &format!("boxes-{i}"),
                "Rates over the repeats",
                &format!("{over}; {}", charts::BOXES_NOTE),
            );
            self.charts.insert(format!("boxes-{i}"), json!({ "boxes": chart }));
        }
        let confusions = of_study(study, setting);
        if !confusions.is_empty() {
            self.confusions.insert(i.to_string(), json!(confusions));
            self.markup += &confusion::markup(study, setting, i, &over);
        }
        let fits = |s: &&Showcase| s.data == setting.data && s.train_per_class == setting.train;
        if let Some(showcase) = study.showcases.iter().find(fits) {
            figures::check(showcase)?;
            if first_of_data {
                let samples = axes::samples(showcase, &mut self.pictures);
                self.markup += &samples;
            }
            let axes = axes::bases(showcase, &mut self.pictures);
            self.markup += &axes;
            if let Some(place) = explorer::place(study, showcase) {
                let split = escaped(&split(showcase));
                self.chart(
                    &format!("path-{i}"),
                    "The path of column 1",
                    &format!("{split}; {}", charts::PATH_NOTE),
                );
                let (kind, note) = match showcase.image_shape {
                    Some(_) => ("entries", charts::ENTRIES_NOTE),
                    None => ("entries named", charts::ENTRY_BARS_NOTE),
                };
                self.push(format_args!(
                    "<figure>\n<figcaption>The first variables to enter column 1 <span class=\"note\">{split}; {note}</span></figcaption>\n<div class=\"{kind}\" data-set=\"{place}\" data-place=\"{i}\"></div>\n</figure>\n"
                ));
            }
        }
        self.markup += "</section>\n";
        Ok(())
    }

    fn chart(&mut self, id: &str, title: &str, note: &str) {
        self.markup += &shell::chart(id, title, note);
    }

    fn push(&mut self, markup: std::fmt::Arguments<'_>) {
        let _ = self.markup.write_fmt(markup);
    }
}

/// What serde says when a value cannot be written.
fn unwritten(e: serde_json::Error) -> Error {
    Error::Study(format!("a number cannot be written to the report: {e}"))
}
