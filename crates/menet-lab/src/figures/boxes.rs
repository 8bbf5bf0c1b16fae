//! Box plots over the repeats: at each of ten dimensions, one box per method.

use kuva::plot::annotations::ShadedRegion;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::{BoxPlot, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::canvas::FONT;
use super::rates::AxesExtent;
use crate::curves::{TrainingSetting, curves, shown_dimensions};
use crate::names::{plotted, setting as named};
use crate::palette::look;
use crate::study::Study;

/// None where the setting has no results.
pub(super) fn figure(study: &Study, setting: &TrainingSetting) -> Option<String> {
    let curves = curves(study, setting);
    let dimensions = shown_dimensions(&curves);
    if dimensions.is_empty() {
        return None;
    }
    let mut boxes = BoxPlot::new().with_width(0.86).with_strip(0.0).with_overlay_size(2.0);
    let mut colours: Vec<&str> = Vec::new();
    let mut flat: Vec<Plot> = Vec::new();
    let mut extent = AxesExtent::default();
    let middle = curves.len() / 2;
    for d in &dimensions {
        boxes = boxes.with_group("", Vec::<f64>::new());
        colours.push("none");
        for (place, (number, _, curve)) in curves.iter().enumerate() {
            let label = if place == middle { d.to_string() } else { String::new() };
            let rates = curve.get(d).cloned().unwrap_or_default();
            rates.iter().for_each(|&rate| extent.rate(rate));
            colours.push(look(*number).colour);
            flat.extend(stroke(colours.len(), &rates, look(*number).colour));
            boxes = boxes.with_group(label, rates);
        }
    }
    boxes = boxes.with_group("", Vec::<f64>::new());
    colours.push("none");
    let legend = curves
        .iter()
        .map(|(number, method, _)| LegendEntry {
            label: plotted(method, 18),
            color: look(*number).colour.to_owned(),
            shape: LegendShape::Rect,
            dasharray: None,
        })
        .collect();
    let slots = colours.len();
    let mut plots = vec![Plot::Box(boxes.with_group_colors(colours))];
    plots.splice(0..0, flat);
    let (low, high) = extent.rates();
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(format!("Rates over the repeats: {}", plotted(&named(&setting.data, setting.train), 80)))
        .with_subtitle("box: quartiles and median; whiskers: within 1.5 quartile ranges; one dot per repeat; boxes in the legend's order")
        .with_x_label("dimension of the projected space")
        .with_y_label("recognition rate (%)")
        .with_y_axis_min(low)
        .with_y_axis_max(high)
        .with_tick_length(0.0)
        .with_legend_entries(legend)
        .with_font_family(FONT)
        .with_width((300.0 + 14.0 * slots as f64).max(800.0))
        .with_height(520.0);
    // Every other dimension on grey, to keep its boxes together.
    let step = (curves.len() + 1) as f64;
    for i in (1..dimensions.len()).step_by(2) {
        let left = i as f64 * step + 1.0;
        let band = ShadedRegion::vertical(left, left + step).with_color("#888888").with_opacity(0.12);
        layout = layout.with_shaded_region(band);
    }
    Some(kuva::render_to_svg(plots, layout))
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
