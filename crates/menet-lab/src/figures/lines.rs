//! Draws the value of a chart of lines with kuva.

use kuva::plot::annotations::{ReferenceLine, TextAnnotation};
use kuva::plot::band::BandPlot;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::line::LineStyle;
use kuva::plot::scatter::{MarkerShape, ScatterPlot};
use kuva::plot::{Histogram, LinePlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::canvas::{Canvas, FONT, TextAnchor};
use crate::charts::lines::{Axis, Lines, Panels, Series, Upright};
use crate::charts::values::rgb;
use crate::names::plotted;

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

/// The width of the legend beside charts.
const LEGEND: f64 = 210.0;

/// How large a chart is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) size: (f64, f64),
    pub(super) title: Option<u32>,
    /// From how many letters on the note is broken.
    pub(super) wrap: Option<usize>,
    /// The width of the legend.
    pub(super) legend: Option<f64>,
}

impl Default for Frame {
    fn default() -> Self {
        Frame { size: (900.0, 520.0), title: None, wrap: None, legend: None }
    }
}

/// The chart as an SVG.
pub(super) fn svg(chart: &Lines, frame: Frame) -> String {
    let bands = chart.series.iter().filter(|series| series.band > 0.0).map(band);
    let mut drawn: Vec<&Series> = chart.series.iter().filter(|series| !series.points.is_empty()).collect();
    if chart.first_on_top {
        drawn.reverse();
    }
    let plots: Vec<Plot> = bands.chain(drawn.into_iter().flat_map(marks)).collect();
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(kuvas(&chart.title))
        .with_x_label(&chart.x.label)
        .with_y_label(&chart.y.label)
        .with_font_family(FONT)
        .with_width(frame.size.0)
        .with_height(frame.size.1);
    if !chart.note.is_empty() {
        layout = layout.with_subtitle(chart.note.lines().map(kuvas).collect::<Vec<_>>().join("\n"));
    }
    if let Some(size) = frame.title {
        layout = layout.with_title_size(size);
    }
    if let Some(letters) = frame.wrap {
        layout = layout.with_subtitle_wrap(letters);
    }
    layout = axes(layout, &chart.x, &chart.y);
    for Upright { at, colour, dash, .. } in &chart.uprights {
        let line = ReferenceLine::vertical(*at).with_color(*colour).with_dasharray(*dash);
        let line = if dash.is_empty() { line.with_stroke_width(2.4) } else { line };
        layout = layout.with_reference_line(line);
    }
    for (name, x, y) in &chart.places {
        layout = layout.with_annotation(TextAnnotation::new(kuvas(name), *x, *y).with_font_size(10));
    }
    let entries: Vec<LegendEntry> =
        chart.series.iter().filter_map(entry).chain(chart.uprights.iter().filter_map(upright)).collect();
    if !entries.is_empty() {
        layout = layout.with_legend_entries(entries);
        if !chart.legend.is_empty() {
            layout = layout.with_legend_title(&chart.legend);
        }
        if let Some(width) = frame.legend {
            layout = layout.with_legend_width(width);
        }
    }
    kuva::render_to_svg(plots, layout)
}

/// Charts under one title, side by side; the legend of the last is beside it.
pub(super) fn beside(panels: &Panels, (width, height): (f64, f64)) -> String {
    let legend = panels.charts.last().is_some_and(|chart| chart.series.iter().any(|it| !it.name.is_empty()));
    let legend = if legend { LEGEND } else { 0.0 };
    let last = panels.charts.len() - 1;
    let mut canvas = headed(panels, (panels.charts.len() as f64 * width + legend, 58.0 + height));
    for (k, chart) in panels.charts.iter().enumerate() {
        let size = (if k == last { width + legend } else { width }, height);
        let frame = Frame { size, title: Some(14), legend: Some(LEGEND - 20.0), ..Frame::default() };
        canvas.embed((k as f64 * width, 58.0), &svg(chart, frame));
    }
    canvas.finish()
}

/// Charts under one title, one below the other.
pub(super) fn below(panels: &Panels, (width, height): (f64, f64)) -> String {
    let mut canvas = headed(panels, (width, 62.0 + panels.charts.len() as f64 * height));
    for (k, chart) in panels.charts.iter().enumerate() {
        let frame = Frame { size: (width, height), title: Some(13), ..Frame::default() };
        canvas.embed((0.0, 62.0 + k as f64 * height), &svg(chart, frame));
    }
    canvas.finish()
}

fn headed(panels: &Panels, size: (f64, f64)) -> Canvas {
    let mut canvas = Canvas::new(size.0, size.1);
    canvas.title((16.0, 26.0), 17.0, TextAnchor::Start, &panels.title);
    canvas.text((16.0, 46.0), 12.0, TextAnchor::Start, &panels.note);
    canvas
}

fn axes(mut layout: Layout, x: &Axis, y: &Axis) -> Layout {
    if x.log {
        layout = layout.with_log_x();
    }
    if x.whole {
        layout = layout.with_x_tick_format(TickFormat::Integer);
    }
    if let Some((low, high)) = x.limits {
        layout = layout.with_x_axis_min(low).with_x_axis_max(high);
    }
    if let Some((low, high)) = y.limits {
        layout = layout.with_y_axis_min(low).with_y_axis_max(high);
    }
    if let Some(step) = x.step {
        layout = layout.with_x_tick_step(step);
    }
    if let Some(step) = y.step {
        layout = layout.with_y_tick_step(step);
    }
    if y.names.is_empty() {
        layout
    } else {
        layout.with_y_categories(y.names.iter().map(|it| kuvas(it)).collect())
    }
}

fn band(series: &Series) -> Plot {
    let (low, high) = series.ends.iter().copied().unzip::<f64, f64, Vec<_>, Vec<_>>();
    let x: Vec<f64> = series.points.iter().map(|point| point.0).collect();
    Plot::Band(BandPlot::new(x, low, high).with_color(&series.colour).with_opacity(series.band))
}

fn marks(series: &Series) -> Vec<Plot> {
    let Series { width, size, points, ends, .. } = series;
    let colour = if series.faint { &faded(&series.colour) } else { &series.colour };
    if series.columns {
        let edges = points.iter().map(|point| point.0).collect();
        let counts = points[..points.len().saturating_sub(1)].iter().map(|point| point.1).collect();
        return vec![Plot::Histogram(Histogram::from_bins(edges, counts).with_color(colour))];
    }
    let mut out = Vec::new();
    if *width > 0.0 {
        let line = LinePlot::new().with_data(points.clone()).with_color(colour).with_stroke_width(*width);
        let dash =
            if series.dash.is_empty() { LineStyle::Solid } else { LineStyle::Custom(series.dash.to_owned()) };
        out.push(Plot::Line(line.with_line_style(dash)));
    }
    if *size > 0.0 {
        let mut dots = ScatterPlot::new().with_data(points.clone());
        if series.band == 0.0 && !ends.is_empty() {
            let errors = points.iter().zip(ends).map(|(point, &(low, high))| (point.1 - low, high - point.1));
            dots = dots.with_y_err_asymmetric(errors.collect::<Vec<_>>());
        }
        out.push(Plot::Scatter(dots.with_color(colour).with_size(*size).with_marker(MARKERS[series.marker])));
    }
    out
}

/// The entry of a series in the legend: its marker, if it has one.
fn entry(series: &Series) -> Option<LegendEntry> {
    let shape = match series.size > 0.0 {
        _ if series.columns => LegendShape::Rect,
        true => LegendShape::Marker(MARKERS[series.marker]),
        false => LegendShape::Line,
    };
    let dash = Some(series.dash.to_owned()).filter(|dash| !dash.is_empty() && series.size == 0.0);
    let (label, color) = (kuvas(&series.name), series.colour.clone());
    (!label.is_empty()).then_some(LegendEntry { label, color, shape, dasharray: dash })
}

fn upright(line: &Upright) -> Option<LegendEntry> {
    let Upright { name, colour, dash, .. } = line;
    let dash = Some((*dash).to_owned()).filter(|dash| !dash.is_empty());
    let (label, color, shape) = (kuvas(name), (*colour).to_owned(), LegendShape::Line);
    (!name.is_empty()).then_some(LegendEntry { label, color, shape, dasharray: dash })
}

/// A text for kuva, whole.
fn kuvas(text: &str) -> String {
    plotted(text, usize::MAX)
}

/// A colour `#rrggbb` most of the way to white: kuva makes only some markers transparent.
fn faded(colour: &str) -> String {
    let [red, green, blue] = rgb(colour).map(|part| ((u16::from(part) + 2 * 255) / 3) as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}
