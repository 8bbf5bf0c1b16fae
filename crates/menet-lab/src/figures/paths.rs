//! The coefficient paths of the first column against their ℓ1 norm.

use kuva::plot::LinePlot;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use menet::Men;
use menet::lars::{Knot, Path};

use super::canvas::FONT;
use super::rates::style;
use crate::names::{plotted, scale, setting, variable_of};
use crate::palette::{LOOKS, look};
use crate::study::Showcase;

/// None where there is no model of MEN, or it was stored without its paths.
pub(super) fn figure(showcase: &Showcase) -> Option<String> {
    let what = format!("{}, repeat {}", setting(&showcase.data, showcase.train_per_class), showcase.repeat);
    whole(showcase.men.as_ref()?, 0, &what)
}

/// The whole path of a column, counted from 0; `what` says of which data.
pub(super) fn whole(men: &Men, column: usize, what: &str) -> Option<String> {
    let path = men.paths().get(column)?;
    let title = format!("The path of column {}: {}", column + 1, plotted(what, 80));
    let note =
        "the first ten variables that entered in colour, the others grey; the penalty falls to the right";
    Some(chart(men, path, path.knots(), (title, note), (900.0, 520.0)))
}

/// The chart of some of a path's knots.
pub(super) fn chart(
    men: &Men,
    path: &Path,
    knots: &[Knot],
    (title, note): (String, &str),
    (width, height): (f64, f64),
) -> String {
    let order = path.order_of_entry();
    let sizes: Vec<f64> = knots.iter().map(norm).collect();
    let line = |j: usize, colour: &str, dash: &str, width: f64, step: usize| {
        // From where the variable enters; one that never moves in these knots has no line.
        let first = knots.iter().position(|knot| knot.coefficients.get(j) != 0.0)?.saturating_sub(1);
        let points: Vec<(f64, f64)> =
            kept(first, knots.len(), step).map(|k| (sizes[k], knots[k].coefficients.get(j))).collect();
        let line = LinePlot::new().with_data(points).with_color(colour).with_stroke_width(width);
        Some(Plot::Line(line.with_line_style(style(dash))))
    };
    // Hundreds of thin lines need not turn at every knot, which would make the file large.
    let coarse = knots.len().div_ceil(150);
    let others = order.iter().skip(LOOKS).filter_map(|&j| line(j, "#c4c4c4", "", 0.8, coarse));
    let named = order.iter().take(LOOKS).enumerate();
    let first: Vec<Plot> =
        named.clone().rev().filter_map(|(i, &j)| line(j, look(i).colour, look(i).dash, 2.2, 1)).collect();
    let plots: Vec<Plot> = others.chain(first).collect();
    let legend = named
        .map(|(i, &j)| LegendEntry {
            label: format!("{}. {}", i + 1, plotted(&variable_of(men, j), 22)),
            color: look(i).colour.to_owned(),
            shape: LegendShape::Line,
            dasharray: Some(look(i).dash.to_owned()).filter(|dash| !dash.is_empty()),
        })
        .collect();
    let scale = scale(men);
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_subtitle(note)
        .with_x_label(format!("ℓ1 norm of the coefficients ({scale})"))
        .with_y_label(format!("coefficient ({scale})"))
        .with_legend_entries(legend)
        .with_legend_title("in order of entry")
        .with_font_family(FONT)
        .with_width(width)
        .with_height(height);
    kuva::render_to_svg(plots, layout)
}

/// Every `step`-th place from `first`, and the last.
fn kept(first: usize, end: usize, step: usize) -> impl Iterator<Item = usize> {
    (first..end).filter(move |k| (k - first).is_multiple_of(step) || k + 1 == end)
}

/// The sum of a knot's absolute coefficients.
pub(crate) fn norm(knot: &Knot) -> f64 {
    knot.coefficients.values().iter().map(|w| w.abs()).sum()
}
