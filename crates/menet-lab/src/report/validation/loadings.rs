//! The weights of every axis, times the standard deviation of the variable: weights alone make the quietest variables the heaviest. As
//! bars; as pictures where samples are images; along the spectrum where names are numbers in order.

use serde_json::json;

use super::format::count;
use super::{Page, PageSubject};
use crate::charts::effects::{VariableEffect, effects};
use crate::charts::spectrum::spectrum;
use crate::names::escaped;
use crate::palette::LOOKS;
use crate::report::axes::{KEY, bar, canvas, figure, levels};
use crate::report::shell;

/// The most bars per axis, axes, and axes with bars.
const BARS: usize = 25;
const AXES: usize = 10;
const BARRED: usize = 6;

pub(super) fn add(subject: &PageSubject<'_>, page: &mut Page) {
    let effects = effects(subject.validation, &subject.shown);
    let axes = effects.len();
    if axes == 0 {
        return;
    }
    let what = "weight × sd";
    let shown = axes.min(AXES);
    let mut markup = String::new();
    if let Some(shape) = subject.data.image_shape() {
        let mut rows = String::from("<tr>");
        (1..=shown).for_each(|a| rows += &format!("<th scope=\"col\">axis {a}</th>"));
        rows += "</tr>\n<tr>";
        for (a, effects) in effects.iter().take(shown).enumerate() {
            let weights: Vec<(usize, f64)> = effects.iter().map(|it| (it.variable, it.value)).collect();
            let name = format!("axis {}: {} pixels count", a + 1, weights.len());
            let levels = levels(subject.data.variables(), &weights);
            rows += &canvas(&mut page.pictures, "axis", shape, levels, &name);
        }
        rows += "</tr>\n";
        let caption = format!(
            "The panel as a picture <span class=\"note\">{what}; plain pixels do not count, blue count against, orange count for</span>"
        );
        markup += &figure(&caption, &rows);
        markup += &format!("{KEY}<p class=\"note\">{what} over the axis's largest, square-root scale</p>\n");
    }
    if let Some(panels) = spectrum(subject.validation, &subject.shown) {
        for (a, chart) in panels.charts.into_iter().enumerate() {
            let id = format!("spectrum-{a}");
            let points = "points in the colour of the class that a larger value speaks for, all others fixed";
            let note = escaped(&format!("{}; {}; {points}", chart.title, panels.note));
            markup += &shell::chart(&id, &format!("Axis {} along the spectrum", a + 1), &note);
            page.charts.insert(id, json!({ "lines": chart }));
        }
    }
    markup += &subject.key();
    markup += "<div class=\"panes\">\n";
    for (a, effects) in effects.iter().take(BARRED).enumerate() {
        let largest = effects.first().map_or(1.0, |effect| effect.value.abs());
        let one = |effect: &VariableEffect| {
            let colour =
                effect.class.map_or_else(|| "var(--faint)".to_owned(), |c| format!("var(--k{})", c % LOOKS));
            let (name, style) = (subject.variable(effect.variable), format!(";background:{colour}"));
            bar(&name, effect.value, largest, "class=\"by-class\"", &style)
        };
        let bars: String = effects.iter().take(BARS).map(one).collect();
        let cut = if effects.len() > BARS {
            format!("the {BARS} heaviest of {}", count(effects.len()))
        } else {
            count(effects.len()) + " in all"
        };
        markup += &format!(
            "<figure class=\"loadings\">\n<figcaption>Axis {} <span class=\"note\">{what}; {cut}</span></figcaption>\n<ul class=\"bars\">{bars}</ul>\n</figure>\n",
            a + 1
        );
    }
    markup += "</div>\n<p class=\"note\">Each bar has the colour of the class that a larger value of the variable speaks for while all other variables stay as they are.</p>\n";
    if axes > BARRED {
        markup += &format!("<p class=\"note\">The first of {axes} axes are shown.</p>\n");
    }
    page.section("loadings", "Weights", "Weights", &markup);
}
