//! Box plots over the repeats: at each of ten dimensions, one box per method.

use kuva::plot::annotations::ShadedRegion;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::{BoxPlot, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::canvas::FONT;
use crate::charts::boxes::Boxes;
use crate::names::plotted;

/// The chart as an SVG.
pub(super) fn svg(chart: &Boxes) -> String {
    let Boxes { title, dimensions, methods, limits } = chart;
    let mut boxes = BoxPlot::new().with_width(0.86).with_strip(0.0).with_overlay_size(2.0);
    let mut colours: Vec<&str> = Vec::new();
    let mut plots: Vec<Plot> = Vec::new();
    for (at, d) in dimensions.iter().enumerate() {
        boxes = boxes.with_group("", Vec::<f64>::new());
        colours.push("none");
        for (place, method) in methods.iter().enumerate() {
            let label = if place == methods.len() / 2 { d.to_string() } else { String::new() };
            colours.push(method.colour);
            plots.extend(stroke(colours.len(), &method.rates[at], method.colour));
            boxes = boxes.with_group(label, method.rates[at].clone());
        }
    }
    boxes = boxes.with_group("", Vec::<f64>::new());
    colours.push("none");
    let entry = |method: &crate::charts::boxes::BoxesOfMethod| LegendEntry {
        label: plotted(&method.name, 18),
        color: method.colour.to_owned(),
        shape: LegendShape::Rect,
        dasharray: None,
    };
    let slots = colours.len();
    plots.push(Plot::Box(boxes.with_group_colors(colours)));
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(plotted(title, usize::MAX))
        .with_subtitle("box: quartiles and median; whiskers: within 1.5 quartile ranges; one dot per repeat; boxes in the legend's order")
        .with_x_label("dimension of the projected space")
        .with_y_label("recognition rate (%)")
        .with_y_axis_min(limits.0)
        .with_y_axis_max(limits.1)
        .with_tick_length(0.0)
        .with_legend_entries(methods.iter().map(entry).collect())
        .with_font_family(FONT)
        .with_width((300.0 + 14.0 * slots as f64).max(800.0))
        .with_height(520.0);
    // Every other dimension on grey, to keep its boxes together.
    let step = (methods.len() + 1) as f64;
    for i in (1..dimensions.len()).step_by(2) {
        let left = i as f64 * step + 1.0;
        let band = ShadedRegion::vertical(left, left + step).with_color("#888888").with_opacity(0.12);
        layout = layout.with_shaded_region(band);
    }
    kuva::render_to_svg(plots, layout)
}

/// A line in the method's colour below a box that has no height, which would show as its white median alone.
fn stroke(slot: usize, rates: &[f64], colour: &str) -> Option<Plot> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The quartiles of n values lie between these.
    let n = sorted.len().checked_sub(1)?;
    let (low, high) = (sorted[n / 4], sorted[(3 * n).div_ceil(4)]);
    let (x, y) = (slot as f64, sorted[n / 2]);
    let line = LinePlot::new().with_data([(x - 0.43, y), (x + 0.43, y)]).with_color(colour);
    (low == high).then(|| Plot::Line(line.with_stroke_width(6.0)))
}
