//! Samples and axes as pictures, which `draw.js` paints in the reader's colours, or as bars of named variables.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::figures::{by_class, heaviest};
use crate::names::{escaped, shown, split, variable};
use crate::palette::strength;
use crate::study::Showcase;

/// How many axes are shown as pictures, and how many as bars.
const PICTURES: usize = 10;
const BARS: usize = 4;

/// A few samples, one row per class; nothing where they are not images.
pub(super) fn samples(showcase: &Showcase, pictures: &mut Vec<Value>) -> String {
    let Some(shape) = showcase.image_shape.filter(|_| !showcase.samples.is_empty()) else {
        return String::new();
    };
    let all = || showcase.samples.iter().flat_map(|(_, values)| values.iter().copied());
    let low = all().fold(f64::INFINITY, f64::min);
    let span = all().fold(f64::NEG_INFINITY, f64::max) - low;
    let span = if span > 0.0 { span } else { 1.0 };
    let rows = by_class(&showcase.samples).into_iter().map(|(class, samples)| {
        let class = escaped(&shown(class, 40));
        let cells = samples.into_iter().enumerate().map(|(i, values)| {
            let greys = values.iter().map(|v| ((v - low) / span * 255.0).clamp(0.0, 255.0) as u8).collect();
            canvas(pictures, "grey", shape, greys, &format!("sample {} of class {class}", i + 1))
        });
        let cells: String = cells.collect();
        format!("<tr><th scope=\"row\">{class}</th>{cells}</tr>\n")
    });
    let rows: String = rows.collect();
    let note = "the first samples of the first classes, whatever the split; one row per class, one grey scale for all";
    figure(&format!("Samples <span class=\"note\">{note}</span>"), &rows)
}

/// The first axes of every method.
pub(super) fn bases(showcase: &Showcase, pictures: &mut Vec<Value>) -> String {
    let most = if showcase.image_shape.is_some() { PICTURES } else { BARS };
    let columns = showcase.bases.iter().map(|(_, w)| w.components()).max().unwrap_or(0).min(most);
    if columns == 0 {
        return String::new();
    }
    let mut rows = String::from("<tr><td></td>");
    for c in 1..=columns {
        let _ = write!(rows, "<th scope=\"col\">axis {c}</th>");
    }
    rows += "</tr>\n";
    for (method, w) in &showcase.bases {
        let method = escaped(&shown(method, 30));
        let _ = write!(rows, "<tr><th scope=\"row\">{method}</th>");
        for (c, axis) in w.axes().iter().take(columns).enumerate() {
            let name = format!("axis {} of {method}: {} weights", c + 1, axis.nonzeros());
            rows += &match showcase.image_shape {
                Some(shape) => canvas(
                    pictures,
                    "axis",
                    shape,
                    levels(w.variables(), &axis.iter().collect::<Vec<_>>()),
                    &name,
                ),
                None => format!("<td>{}</td>", bars(showcase, &heaviest(axis))),
            };
        }
        rows += "</tr>\n";
    }
    let split = escaped(&split(showcase));
    let note = if showcase.image_shape.is_some() {
        "columns of W; plain pixels do not count, blue count against, orange count for"
    } else {
        "the heaviest weights of each axis, in the units of W; blue: against, orange: for"
    };
    let key = if showcase.image_shape.is_some() {
        &format!(
            "{KEY}<p class=\"note\">weight over the axis's largest absolute weight, square-root scale</p>\n"
        )
    } else {
        ""
    };
    format!(
        "{}{key}",
        figure(&format!("The first axes of every method <span class=\"note\">{split}; {note}</span>"), &rows)
    )
}

/// The colour key of the pictures of axes.
pub(super) const KEY: &str = "<div class=\"key\"><canvas class=\"scale\" role=\"img\" aria-label=\"Colour key from −1 to 1\" \
    width=\"201\" height=\"1\"></canvas><span>−1</span><span>−¼</span><span>0</span><span>¼</span><span>1</span></div>";

/// The weights of an axis as the levels of a picture.
pub(super) fn levels(variables: usize, weights: &[(usize, f64)]) -> Vec<u8> {
    let largest = weights.iter().fold(0.0, |m: f64, (_, w)| m.max(w.abs()));
    let mut levels = vec![0; variables];
    for &(j, weight) in weights {
        levels[j] = level(strength(weight, largest)).cast_unsigned();
    }
    levels
}

/// A strength from −1 to 1 in 127 steps either way; whatever is not zero stays so.
fn level(strength: f64) -> i8 {
    let level = (strength * 127.0).round() as i8;
    if level == 0 && strength != 0.0 { strength.signum() as i8 } else { level }
}

/// A figure whose rows are rows of pictures.
pub(super) fn figure(caption: &str, rows: &str) -> String {
    format!(
        "<figure>\n<figcaption>{caption}</figcaption>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"pictures\">\n{rows}</table></div>\n</figure>\n"
    )
}

/// A table cell whose picture the script paints; `name` is markup already.
pub(super) fn canvas(
    pictures: &mut Vec<Value>,
    kind: &str,
    (height, width): (usize, usize),
    levels: Vec<u8>,
    name: &str,
) -> String {
    pictures.push(json!([kind, STANDARD.encode(levels)]));
    let place = pictures.len() - 1;
    format!(
        "<td><canvas class=\"picture\" data-picture=\"{place}\" role=\"img\" aria-label=\"{name}\" width=\"{width}\" height=\"{height}\"></canvas></td>"
    )
}

/// Weights as bars about a zero in the middle.
fn bars(showcase: &Showcase, weights: &[(usize, f64)]) -> String {
    let largest = weights.first().map_or(1.0, |(_, weight)| weight.abs());
    let mut out = String::from("<ul class=\"bars\">");
    for &(j, weight) in weights {
        let side = if weight < 0.0 { "against" } else { "for" };
        out += &bar(&variable(showcase, j), weight, largest, &format!("class=\"{side}\""), "");
    }
    out + "</ul>"
}

/// One bar about a zero in the middle. `paint` is an attribute that colours it, `style` declarations that follow.
pub(super) fn bar(full: &str, weight: f64, largest: f64, paint: &str, style: &str) -> String {
    let share = if largest > 0.0 { weight.abs() / largest * 50.0 } else { 0.0 };
    let left = if weight < 0.0 { 50.0 - share } else { 50.0 };
    let plain = (0.01..1000.0).contains(&weight.abs());
    let value = if plain { format!("{weight:.3}") } else { format!("{weight:.2e}") }.replace('-', "−");
    let (name, full) = (escaped(&shown(full, 20)), escaped(&shown(full, 200)));
    format!(
        "<li><span class=\"name\" title=\"{full}\">{name}</span><span class=\"track\"><span {paint} \
         style=\"left:{left:.1}%;width:{share:.1}%{style}\"></span></span><span class=\"value\">{value}</span></li>"
    )
}
