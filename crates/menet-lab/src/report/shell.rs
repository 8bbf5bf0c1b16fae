//! What the reports share: the document around their contents, and the places of their charts.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{charts, script};
use crate::error::Result;
use crate::names::escaped;
use crate::palette::{dark_twins, look};

/// The scripts that several pages use. [`DRAW`] comes first.
pub(super) const DRAW: &str = include_str!("draw.js");
pub(super) const CONFUSION: &str = include_str!("confusion.js");

pub(super) const NO_SCRIPT: &str =
    "<noscript><p class=\"note\">The charts need JavaScript; the tables do not.</p></noscript>\n";

/// A page.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The title of the window, not yet escaped.
    pub(super) title: &'a str,
    /// Style sheets after the common one.
    pub(super) styles: &'a [&'a str],
    /// The markup.
    pub(super) body: &'a str,
    /// What the scripts read.
    pub(super) data: &'a Value,
    /// The scripts, in their order.
    pub(super) scripts: &'a [&'a str],
}

impl Document<'_> {
    /// The whole file. The policy in it forbids the page to fetch anything.
    pub(super) fn html(&self) -> Result<String> {
        let mut out = String::with_capacity(2_000_000);
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
{css}{styles}</style>
</head>
<body>
<main>
{body}</main>
<script type="application/json" id="data">{data}</script>
<script>{plotly}</script>
<script>
{scripts}</script>
</body>
</html>
"##,
            title = escaped(self.title),
            css = include_str!("report.css"),
            styles = self.styles.concat(),
            body = self.body,
            data = script::json(self.data)?,
            plotly = charts::library()?,
            scripts = self.scripts.concat(),
        );
        Ok(out)
    }
}

/// Every colour for light grounds with its twin for dark ones, for `draw.js`.
pub(super) fn dark() -> Map<String, Value> {
    dark_twins().map(|(light, dark)| (light.to_owned(), dark.into())).collect()
}

/// Colour, dash pattern and number of the marker of the first looks.
pub(super) fn looks(count: usize) -> Value {
    (0..count).map(look).map(|look| json!([look.colour, look.dash, look.marker])).collect()
}

/// The place of a chart, wider than a phone where its marks would otherwise be too small. `title` and `note` are markup.
pub(super) fn chart(id: &str, title: &str, note: &str) -> String {
    let kind = id.split('-').next().unwrap_or_default();
    format!(
        "<figure>\n<figcaption>{title} <span class=\"note\">{note}</span></figcaption>\n<div class=\"scroll\"><div \
         class=\"chart {kind}\" id=\"{id}\"></div></div>\n</figure>\n"
    )
}

/// `run.toml`, folded.
pub(super) fn run(run: &str) -> String {
    format!(
        "<details>\n<summary>All that is needed to repeat the run</summary>\n<pre tabindex=\"0\">{}</pre>\n</details>\n",
        escaped(run)
    )
}
