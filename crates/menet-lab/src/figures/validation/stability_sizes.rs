//! Nogueira's stability index against the size of the panel.

use kuva::plot::LinePlot;
use kuva::plot::band::BandPlot;
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::super::canvas::FONT;
use super::super::rates::MARKERS;
use super::super::tuning::round_number;
use super::values::{counted, first_end, fraction};
use crate::names::plotted;
use crate::palette::look;
use crate::validate::{Interval, Validation};

/// None where no two half-samples were compared.
pub(super) fn figure(validation: &Validation) -> Option<String> {
    let found = validation.stability.as_ref()?;
    let known = |&&(size, index): &&(usize, Interval)| size > 0 && index.mean.is_finite();
    let points: Vec<(f64, Interval)> =
        found.by_size.iter().filter(known).map(|&(size, index)| (size as f64, index)).collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let end = |value: f64, mean: f64| if value.is_finite() { value } else { mean };
    let low: Vec<f64> = points.iter().map(|(_, index)| end(index.low, index.mean)).collect();
    let high: Vec<f64> = points.iter().map(|(_, index)| end(index.high, index.mean)).collect();
    let bottom = low.iter().fold(0.0_f64, |least, &value| least.min(value));
    let top = high.iter().fold(0.1_f64, |most, &value| most.max(value));
    let sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    let means: Vec<(f64, f64)> = points.iter().map(|(size, index)| (*size, index.mean)).collect();
    let colour = look(0).colour;
    let mut plots = vec![
        Plot::Band(BandPlot::new(sizes, low, high).with_color(colour).with_opacity(0.18)),
        Plot::Line(LinePlot::new().with_data(means.clone()).with_color(colour).with_stroke_width(1.8)),
    ];
    if means.len() <= 40 {
        let dots = ScatterPlot::new().with_data(means).with_color(colour).with_size(3.5);
        plots.push(Plot::Scatter(dots));
    }
    let mark = |size: usize, number: usize, label: String| {
        let (_, index) = points.iter().find(|(other, _)| *other == size as f64)?;
        let dot = ScatterPlot::new().with_data([(size as f64, index.mean)]).with_color(look(number).colour);
        let marker = MARKERS[look(number).marker];
        Some(Plot::Scatter(dot.with_size(7.0).with_marker(marker).with_legend(label)))
    };
    plots.extend(mark(found.size, 1, format!("final model: {}", found.size)));
    if found.stable_size != found.size {
        plots.extend(mark(found.stable_size, 2, format!("stable panel: {}", found.stable_size)));
    }
    let Interval { mean, low, high } = found.index;
    let index = if [low, high].iter().all(|end| end.is_finite()) {
        format!("{} ({} to {})", fraction(mean), fraction(low), fraction(high))
    } else {
        fraction(mean)
    };
    let size = counted(found.size, "variable");
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("Stability of the selection: {}", plotted(&validation.data, 28)))
        .with_subtitle(format!(
            "1: every half-sample selects the same; 0: as by chance; {index} with {size}; band: 95 % interval"
        ))
        .with_x_label("variables in the panel")
        .with_y_label("Nogueira's stability index")
        .with_log_x()
        .with_x_axis_min(first_end(first))
        .with_x_axis_max(round_number(last * 1.1, true))
        .with_y_axis_min((bottom * 10.0).floor() / 10.0)
        .with_y_axis_max((top * 10.0).ceil() / 10.0)
        .with_x_tick_format(TickFormat::Integer)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    Some(kuva::render_to_svg(plots, layout))
}
