//! The report of a validation: how good a model is on samples that it has not seen, whether that could be chance, and which
//! variables it rests on. The answer comes first; then all that it rests on.
//!
//! | file | what it adds to the page |
//! |---|---|
//! | `answer` | three sentences, the scores, the samples that are always wrong |
//! | `map` | the samples on two axes |
//! | `panel`, `boxes`, `link` | the table of the panel |
//! | `loadings` | weights as bars, as pictures, or along a spectrum |
//! | `heatmap`, `cluster` | panel × samples, in the order of a hierarchical clustering |
//! | `charts`, `frequencies` | the other charts |
//! | `model` | the numbers that project a new sample inside the page |
//! | `format` | numbers in text |

use menet::Dataset;
use serde_json::{Map, Value, json};

use super::shell::{CONFUSION, DRAW, Document, NO_SCRIPT, dark, looks};
use crate::charts::check::check;
use crate::charts::values::columns;
use crate::error::{Error, Result};
use crate::names::{escaped, name_of, shown};
use crate::palette::{LOOKS, dark_twins};
use crate::validate::{MethodResult, SampleResult, Validation};

mod answer;
mod boxes;
mod charts;
mod format;
mod frequencies;
mod heatmap;
mod link;
mod loadings;
mod map;
mod model;
mod panel;
#[cfg(test)]
mod tests;

use link::LinkTemplate;
pub use link::check_link;

/// The report of a validation of all samples in `data`. `link` is the address of a variable, with `{name}` in the place of its name.
///
/// # Errors
/// When the validation is not of these data, or the link is not an address with `{name}` in it.
pub fn html(validation: &Validation, data: &Dataset<'_>, link: Option<&str>) -> Result<String> {
    let subject = PageSubject::new(validation, data, link)?;
    let mut page = Page::default();
    answer::add(&subject, &mut page);
    map::add(&subject, &mut page)?;
    panel::add(&subject, &mut page);
    loadings::add(&subject, &mut page);
    heatmap::add(&subject, &mut page);
    charts::add(&subject, &mut page);
    page.section("methods", "What was done", "Methods", &methods(validation));
    model::add(&subject, &mut page)?;

    let title = format!("How far can I trust it? {}", shown(&validation.data, 60));
    let contents: String =
        page.contents.iter().map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>\n")).collect();
    let body = format!(
        "<h1>{}</h1>\n<p class=\"note\">{}</p>\n<nav aria-label=\"Contents\">\n{contents}</nav>\n{NO_SCRIPT}{}",
        escaped(&title),
        scope(&subject),
        page.markup
    );
    let mut values = json!({
        "charts": page.charts,
        "pictures": page.pictures,
        "classes": subject.classes,
        "looks": looks(LOOKS.max(subject.classes.len())),
        "dark": dark(),
    });
    if let Value::Object(values) = &mut values {
        values.append(&mut page.values);
    }
    let scripts = [
        DRAW,
        CONFUSION,
        include_str!("rules.js"),
        include_str!("map.js"),
        include_str!("table.js"),
        include_str!("heatmap.js"),
        include_str!("reader.js"),
        include_str!("project.js"),
    ];
    let styles = [include_str!("validation.css"), &colours()];
    Document { title: &title, styles: &styles, body: &body, data: &values, scripts: &scripts }.html()
}

/// What the parts of the page read.
#[derive(Debug)]
struct PageSubject<'a> {
    validation: &'a Validation,
    data: &'a Dataset<'a>,
    /// The samples with the values that are drawn.
    shown: Dataset<'a>,
    /// The method that the page is about.
    first: &'a MethodResult,
    /// The names of the classes, fit to be shown.
    classes: Vec<String>,
    /// The values of the panel's variables, one list per entry.
    values: Vec<Vec<f64>>,
    link: Option<LinkTemplate>,
}

impl<'a> PageSubject<'a> {
    fn new(validation: &'a Validation, data: &'a Dataset<'a>, link: Option<&str>) -> Result<Self> {
        let Some(first) = validation.methods.first() else {
            return Err(Error::Study("the validation has no method".to_owned()));
        };
        check(validation, data)?;
        let variables: Vec<usize> = validation.panel.iter().map(|entry| entry.variable).collect();
        let drawn = crate::validate::shown(validation, data)?;
        Ok(PageSubject {
            validation,
            data,
            first,
            classes: validation.classes.iter().map(|name| shown(name, 60)).collect(),
            values: columns(&drawn, &variables),
            shown: drawn,
            link: link.map(LinkTemplate::new).transpose()?,
        })
    }

    /// How a class is called in markup.
    fn class(&self, class: usize, most: usize) -> String {
        escaped(&shown(&self.validation.classes[class], most))
    }

    /// How a variable is called: by its name, by its place in the image, or by its number from 0.
    fn variable(&self, j: usize) -> String {
        let (names, shape) = (self.data.feature_names(), self.data.image_shape());
        if names.is_none() && shape.is_none() { j.to_string() } else { name_of(names, shape, j) }
    }

    /// A dot in the colour of a class, and its name.
    fn dotted(&self, class: usize, most: usize) -> String {
        let (colour, full) = (class % LOOKS, self.class(class, 200));
        format!(
            "<span class=\"dotted\" title=\"{full}\"><i style=\"background:var(--k{colour})\"></i>{}</span>",
            self.class(class, most)
        )
    }

    /// All classes with their colours.
    fn key(&self) -> String {
        const MOST: usize = 40;
        let classes: String = (0..self.classes.len().min(MOST)).map(|class| self.dotted(class, 40)).collect();
        let rest = self.classes.len().saturating_sub(MOST);
        let rest =
            if rest > 0 { format!("<span>and {rest} more; colours repeat</span>") } else { String::new() };
        format!("<p class=\"classes\">{classes}{rest}</p>\n")
    }
}

/// What the page is made of, as its parts add to it.
#[derive(Debug, Default)]
struct Page {
    markup: String,
    /// The sections' places and names.
    contents: Vec<(&'static str, &'static str)>,
    charts: Map<String, Value>,
    pictures: Vec<Value>,
    /// What scripts read besides charts and pictures.
    values: Map<String, Value>,
}

impl Page {
    /// A section with its place in the table of contents.
    fn section(&mut self, id: &'static str, title: &str, name: &'static str, markup: &str) {
        self.contents.push((id, name));
        self.markup += &format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{markup}</section>\n");
    }
}

/// What was validated, in a line.
fn scope(subject: &PageSubject<'_>) -> String {
    let Validation { variables, design, .. } = subject.validation;
    let groups = match design.groups {
        Some(groups) if design.leave_one_group_out => {
            format!("; each fold leaves out one of {groups} groups")
        }
        Some(groups) => format!("; samples of each of {groups} groups stay together"),
        None => String::new(),
    };
    let copies = match design.copies {
        0 => String::new(),
        copies => format!("; copies of a sample stay together ({copies} of all)"),
    };
    let folds = format::counted(design.folds, "fold");
    let repeats = format::counted(design.repeats, "repeat");
    format!(
        "{} of {} classes, {}; cross-validation with {folds}, {repeats}{groups}{copies}; seed {}",
        format::counted(subject.data.samples(), "sample"),
        subject.classes.len(),
        format::counted(*variables, "variable"),
        design.seed,
    )
}

/// What was done, to be pasted into a methods section.
fn methods(validation: &Validation) -> String {
    let words: String = validation.words.iter().map(|words| format!("<p>{}</p>\n", escaped(words))).collect();
    let words = if words.is_empty() { "<p>No description was recorded.</p>\n".to_owned() } else { words };
    format!(
        "<div id=\"words\">\n{words}</div>\n<div class=\"controls\"><button type=\"button\" id=\"words-copy\">Copy</button><span \
         class=\"note\" id=\"words-copied\" role=\"status\"></span></div>\n{}",
        super::shell::run(&validation.run)
    )
}

/// The colours of the classes as properties, in both colour schemes.
fn colours() -> String {
    let set = |of: fn((&'static str, &'static str)) -> &'static str| -> String {
        dark_twins().enumerate().map(|(i, pair)| format!("--k{i}:{};", of(pair))).collect()
    };
    let (light, dark) = (set(|(light, _)| light), set(|(_, dark)| dark));
    format!(":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n")
}

/// How a sample is called.
fn sample_name(sample: &SampleResult) -> String {
    sample.name.as_ref().map_or_else(|| format!("row {}", sample.row), |name| shown(name, 60))
}

/// At most `most` of `0..n`, evenly spaced.
fn spaced(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|k| k * n / count).collect()
}
