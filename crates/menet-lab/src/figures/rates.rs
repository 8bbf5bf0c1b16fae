//! The recognition rate against the dimension, one line per method, a band of one standard deviation about it.

use kuva::plot::LinePlot;
use kuva::plot::band::BandPlot;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::line::LineStyle;
use kuva::plot::scatter::{MarkerShape, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::canvas::FONT;
use crate::curves::{TrainingSetting, curves, has_spread, mean_and_sd};
use crate::names::{plotted, setting as named};
use crate::palette::look;
use crate::study::Study;

/// None where the setting has no results.
pub(super) fn figure(study: &Study, setting: &TrainingSetting) -> Option<String> {
    let curves = curves(study, setting);
    if curves.is_empty() {
        return None;
    }
    let mut bands = Vec::new();
    let mut lines = Vec::new();
    let mut legend = Vec::new();
    let mut extent = AxesExtent::default();
    let mut cut = false;
    for (place, method, curve) in &curves {
        let look = look(*place);
        let points: Vec<(f64, f64, f64)> = curve
            .iter()
            .map(|(&d, rates)| {
                let (mean, sd) = mean_and_sd(rates);
                (d as f64, mean, sd.unwrap_or(0.0))
            })
            .collect();
        let low: Vec<f64> = points.iter().map(|&(_, m, sd)| (m - sd).max(0.0)).collect();
        let high: Vec<f64> = points.iter().map(|&(_, m, sd)| (m + sd).min(100.0)).collect();
        cut |= points.iter().any(|&(_, m, sd)| m - sd < 0.0 || m + sd > 100.0);
        low.iter().chain(&high).for_each(|&rate| extent.rate(rate));
        points.iter().for_each(|&(d, _, _)| extent.dimension(d));
        let xs: Vec<f64> = points.iter().map(|&(d, _, _)| d).collect();
        if points.iter().any(|&(_, _, sd)| sd > 0.0) {
            let band = BandPlot::new(xs, low, high).with_color(look.colour).with_opacity(0.13);
            bands.push(Plot::Band(band));
        }
        let means: Vec<(f64, f64)> = points.iter().map(|&(d, m, _)| (d, m)).collect();
        let line = LinePlot::new().with_data(means.clone()).with_color(look.colour).with_stroke_width(1.8);
        lines.push(Plot::Line(line.with_line_style(style(look.dash))));
        let marker = MARKERS[look.marker];
        let dots = ScatterPlot::new().with_data(means).with_color(look.colour).with_size(4.0);
        lines.push(Plot::Scatter(dots.with_marker(marker)));
        legend.push(LegendEntry {
            label: plotted(method, 18),
            color: look.colour.to_owned(),
            shape: LegendShape::Marker(marker),
            dasharray: None,
        });
    }
    // Bands below all lines.
    bands.extend(lines);
    let (x, y) = (extent.dimensions(), extent.rates());
    let note = if curves.iter().any(|(_, _, curve)| has_spread(curve)) {
        let cut = if cut { ", cut at 0 and 100 %" } else { "" };
        format!("mean over the repeats ± one standard deviation{cut}")
    } else {
        "one split, so there is no standard deviation".to_owned()
    };
    let layout = Layout::auto_from_plots(&bands)
        .with_title(format!("Recognition rate: {}", plotted(&named(&setting.data, setting.train), 80)))
        .with_subtitle(note)
        .with_x_label("dimension of the projected space")
        .with_y_label("recognition rate (%)")
        .with_x_axis_min(x.0)
        .with_x_axis_max(x.1)
        .with_y_axis_min(y.0)
        .with_y_axis_max(y.1)
        .with_x_tick_step(x.2)
        .with_x_tick_format(TickFormat::Integer)
        .with_legend_entries(legend)
        .with_font_family(FONT)
        .with_width(900.0)
        .with_height(520.0);
    Some(kuva::render_to_svg(bands, layout))
}

/// The markers, in the order of the palette's numbers.
pub(super) const MARKERS: [MarkerShape; 8] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Plus,
    MarkerShape::Cross,
    MarkerShape::Star,
];

/// A dash pattern as kuva's line style.
pub(super) fn style(dash: &str) -> LineStyle {
    if dash.is_empty() { LineStyle::Solid } else { LineStyle::Custom(dash.to_owned()) }
}

/// What the axes must show.
#[derive(Debug)]
pub(super) struct AxesExtent {
    dimensions: (f64, f64),
    rates: (f64, f64),
}

impl Default for AxesExtent {
    fn default() -> Self {
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        AxesExtent { dimensions: nothing, rates: nothing }
    }
}

impl AxesExtent {
    pub(super) fn dimension(&mut self, d: f64) {
        self.dimensions = (self.dimensions.0.min(d), self.dimensions.1.max(d));
    }

    pub(super) fn rate(&mut self, rate: f64) {
        self.rates = (self.rates.0.min(rate), self.rates.1.max(rate));
    }

    /// The ends of the axis of dimensions, and a step that gives whole numbers, at most about sixteen.
    fn dimensions(&self) -> (f64, f64, f64) {
        let (low, high) = self.dimensions;
        let steps = (0..).flat_map(|power| [1.0, 2.0, 5.0].map(|unit| unit * 10_f64.powi(power)));
        let step = steps.take(60).find(|step| (high - low) / step <= 16.0).unwrap_or(high);
        let low = ((low - 0.5) / step).floor() * step;
        let high = ((high + 0.5) / step).ceil() * step;
        (low, high, step)
    }

    /// The values with a twentieth of their range about them, for scores that are no percentages; never below 0.
    pub(super) fn padded(&self) -> (f64, f64) {
        let pad = ((self.rates.1 - self.rates.0) / 20.0).max(1e-3);
        ((self.rates.0 - pad).max(0.0), self.rates.1 + pad)
    }

    /// Multiples of 5 %, a little away from the data, but hardly above 100 %.
    pub(super) fn rates(&self) -> (f64, f64) {
        let low = ((self.rates.0 - 1.0) / 5.0).floor() * 5.0;
        let high = ((self.rates.1 + 1.0) / 5.0).ceil() * 5.0;
        (low.max(0.0), high.min(102.0))
    }
}
