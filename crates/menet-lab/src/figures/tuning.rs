//! What tuning saw: the cross-validated rate against the number of variables an axis may use.

use std::collections::BTreeMap;

use kuva::plot::LinePlot;
use kuva::plot::band::BandPlot;
use kuva::plot::scatter::ScatterPlot;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::canvas::FONT;
use super::rates::{Extent, MARKERS, style};
use crate::names::plotted;
use crate::palette::look;
use crate::tune::{Trial, Tuned};

/// The chosen setting at its dimension, with a band of one standard error, and the best over all settings and dimensions. A
/// method without a number of variables is shown against the dimension.
pub(super) fn figure(tuned: &Tuned, source: &str) -> String {
    let sparse = tuned.best.support().is_some();
    let place = |trial: &Trial| if sparse { trial.support().unwrap_or(0) } else { trial.dimension };
    let same_kind = |trial: &&Trial| trial.metric == tuned.metric;
    let chosen: BTreeMap<usize, &Trial> = tuned
        .trials
        .iter()
        .filter(same_kind)
        .filter(|trial| trial.without_support() == tuned.best.without_support())
        .filter(|trial| !sparse || trial.dimension == tuned.dimension)
        .map(|trial| (place(trial), trial))
        .collect();
    let mut best: BTreeMap<usize, f64> = BTreeMap::new();
    for trial in tuned.trials.iter().filter(same_kind) {
        let most = best.entry(place(trial)).or_insert(0.0);
        *most = most.max(trial.score.rate());
    }
    let mut extent = Extent::default();
    best.values().for_each(|&rate| extent.rate(rate));
    let (mut xs, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for (&x, trial) in &chosen {
        let (rate, error) = (trial.score.rate(), trial.standard_error);
        xs.push(x as f64);
        low.push((rate - error).max(0.0));
        high.push((rate + error).min(100.0));
    }
    low.iter().chain(&high).for_each(|&rate| extent.rate(rate));
    let own = if sparse {
        format!("the chosen setting, {} dimensions", tuned.dimension)
    } else {
        "the chosen setting".to_owned()
    };
    let of_chosen: Vec<(f64, f64)> =
        chosen.iter().map(|(&x, trial)| (x as f64, trial.score.rate())).collect();
    let of_best = best.iter().map(|(&x, &rate)| (x as f64, rate)).collect();
    let mut plots =
        vec![Plot::Band(BandPlot::new(xs, low, high).with_color(look(0).colour).with_opacity(0.15))];
    let all = "the best of all settings".to_owned();
    for (number, label, points) in [(1, all, of_best), (0, own, of_chosen)] {
        let look = look(number);
        let line = LinePlot::new().with_data(points.clone()).with_color(look.colour).with_stroke_width(1.8);
        plots.push(Plot::Line(line.with_line_style(style(look.dash)).with_legend(label)));
        let dots = ScatterPlot::new().with_data(points).with_color(look.colour).with_size(4.0);
        plots.push(Plot::Scatter(dots.with_marker(MARKERS[look.marker])));
    }
    let at = (place(&tuned.best) as f64, tuned.best.score.rate());
    let ring = ScatterPlot::new().with_data(vec![at]).with_color(look(6).colour).with_size(8.0);
    plots.push(Plot::Scatter(ring.with_marker(MARKERS[6]).with_legend("chosen")));
    let x_label = if sparse { "variables an axis may use (K)" } else { "dimension of the projected space" };
    let (bottom, top) = extent.rates();
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("Tuning {} on {}", tuned.method.name(), plotted(source, 60)))
        .with_subtitle("cross-validated rate; the band is one standard error over the folds")
        .with_x_label(x_label)
        .with_y_label("recognition rate (%)")
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_format(TickFormat::Integer)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    kuva::render_to_svg(plots, layout)
}
