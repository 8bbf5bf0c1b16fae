//! How good models are against how many variables they use, with the choice by one standard error.

use kuva::plot::LinePlot;

use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::super::canvas::FONT;
use super::super::rates::{AxesExtent, MARKERS, style};
use super::super::tuning::round_number;
use super::values::first_end;
use crate::names::plotted;
use crate::palette::look;
use crate::validate::{SizeRow, Validation};

/// None where no sizes were compared.
pub(super) fn figure(validation: &Validation) -> Option<String> {
    let known = |row: &&SizeRow| row.balanced.is_finite() && row.variables.is_finite();
    let rows: Vec<&SizeRow> = validation.sizes.iter().filter(known).collect();
    let place = |row: &SizeRow| (row.variables.max(1.0), 100.0 * row.balanced);
    let (first, last) = (place(rows.first()?).0, place(rows.last()?).0);
    let mut extent = AxesExtent::default();
    // An error bar beyond 100 % would have no meaning.
    let errors: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| {
            let error = if row.standard_error.is_finite() { 100.0 * row.standard_error } else { 0.0 };
            let mean = 100.0 * row.balanced;
            (error.min(mean), error.min(100.0 - mean).max(0.0))
        })
        .collect();
    let points: Vec<(f64, f64)> = rows.iter().map(|row| place(row)).collect();
    for (&(_, mean), &(below, above)) in points.iter().zip(&errors) {
        extent.rate(mean - below);
        extent.rate(mean + above);
    }
    let colour = look(0).colour;
    let dots = ScatterPlot::new().with_data(points.clone()).with_y_err_asymmetric(errors);
    let mut plots = vec![
        Plot::Line(LinePlot::new().with_data(points).with_color(colour).with_stroke_width(1.8)),
        Plot::Scatter(dots.with_color(colour).with_size(4.0)),
    ];
    let mut mark = |number: usize, label: String, row: &SizeRow| {
        let look = look(number);
        let dot = ScatterPlot::new().with_data([place(row)]).with_color(look.colour).with_size(8.0);
        plots.push(Plot::Scatter(dot.with_marker(MARKERS[look.marker]).with_legend(label)));
    };
    let best = rows.iter().find(|row| row.best);
    let chosen = rows.iter().find(|row| row.chosen);
    for (number, what, row) in [(1, "best", best), (6, "chosen", chosen)] {
        if let Some(row) = row {
            mark(
                number,
                format!("{what}: {:.0} variables, {:.1} %", row.variables, 100.0 * row.balanced),
                row,
            );
        }
    }
    let bound =
        best.map(|best| 100.0 * (best.balanced - best.standard_error)).filter(|bound| bound.is_finite());
    let (left, right) = (first_end(first), round_number(last * 1.1, true));
    if let Some(bound) = bound {
        extent.rate(bound);
        let line = LinePlot::new().with_data([(left, bound), (right, bound)]).with_color("#555555");
        let line = line.with_line_style(style("6,4")).with_stroke_width(1.2);
        plots.push(Plot::Line(line.with_legend("best less one standard error")));
    }
    let (bottom, top) = extent.rates();
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("How many variables: {}", plotted(&validation.data, 28)))
        .with_subtitle("in the cross-validation on all samples that chose the final model: at every size the best of all other settings; bars: one standard error")
        .with_subtitle_wrap(110)
        .with_x_label("distinct variables of all axes together, mean over the folds")
        .with_y_label("balanced accuracy (%)")
        .with_log_x()
        .with_x_axis_min(left)
        .with_x_axis_max(right)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_format(TickFormat::Integer)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);

    Some(kuva::render_to_svg(plots, layout))
}
