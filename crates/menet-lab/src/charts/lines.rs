//! Lines, bands, points and columns in one pair of axes: the value of every chart that consists of these.

use serde::Serialize;

use crate::palette::look;

/// Lines, bands, points and columns in one pair of axes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Lines {
    /// What is shown, and of which data.
    pub(crate) title: String,
    /// What a reader should know, in a line or two.
    pub(crate) note: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// What is drawn, in this order. Bands lie below everything else.
    pub(crate) series: Vec<Series>,
    /// Whether the first series is drawn last, above the others.
    pub(crate) first_on_top: bool,
    /// The title of the legend.
    pub(crate) legend: String,
    /// Vertical lines across the chart.
    pub(crate) uprights: Vec<Upright>,
    /// Names at places.
    pub(crate) places: Vec<(String, f64, f64)>,
}

/// Some charts under one title.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Panels {
    /// What is shown, and of which data.
    pub(crate) title: String,
    /// What a reader should know, in a line.
    pub(crate) note: String,
    /// The charts. Those side by side have one legend, that of the last.
    pub(crate) charts: Vec<Lines>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Axis {
    /// What is measured.
    pub(crate) label: String,
    /// The ends; none: as far as the series reach.
    pub(crate) limits: Option<(f64, f64)>,
    /// Whether the scale is logarithmic.
    pub(crate) log: bool,
    /// Whether only whole numbers are marked.
    pub(crate) whole: bool,
    /// The distance of the marks.
    pub(crate) step: Option<f64>,
    /// Names instead of the numbers from 1.
    pub(crate) names: Vec<String>,
}

/// A line, points, or both, in one colour.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Series {
    /// The name in the legend; empty: not in the legend.
    pub(crate) name: String,
    /// The colour for light backgrounds.
    pub(crate) colour: String,
    /// Whether it is drawn pale.
    pub(crate) faint: bool,
    /// The width of the line; 0: no line.
    pub(crate) width: f64,
    /// The dash pattern; empty: solid.
    pub(crate) dash: &'static str,
    /// The size of the points; 0: no points.
    pub(crate) size: f64,
    /// The number of the marker.
    pub(crate) marker: usize,
    /// The points.
    pub(crate) points: Vec<(f64, f64)>,
    /// The ends of the interval of every point; empty: no intervals.
    pub(crate) ends: Vec<(f64, f64)>,
    /// How intervals are drawn: the opacity of their band; 0: as bars.
    pub(crate) band: f64,
    /// Whether points are the left ends and heights of columns, the last one the right end of all.
    pub(crate) columns: bool,
}

/// A vertical line across a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Upright {
    /// The name in the legend; empty: not in the legend.
    pub(crate) name: String,
    /// Its place on the horizontal axis.
    pub(crate) at: f64,
    /// The colour.
    pub(crate) colour: &'static str,
    /// The dash pattern; empty: solid.
    pub(crate) dash: &'static str,
}

impl Series {
    /// A line through points, with colour and dash of look number `number`.
    pub(crate) fn line(number: usize, width: f64, points: Vec<(f64, f64)>) -> Self {
        let look = look(number);
        Series { colour: look.colour.to_owned(), dash: look.dash, width, points, ..Self::default() }
    }

    /// Points with colour and marker of look number `number`.
    pub(crate) fn dots(number: usize, size: f64, points: Vec<(f64, f64)>) -> Self {
        let look = look(number);
        Series { colour: look.colour.to_owned(), size, marker: look.marker, points, ..Self::default() }
    }

    /// The series with a name in the legend.
    pub(crate) fn named(self, name: impl Into<String>) -> Self {
        Series { name: name.into(), ..self }
    }

    /// The series with points of its look's marker on its line.
    pub(crate) fn dotted(self, number: usize, size: f64) -> Self {
        Series { size, marker: look(number).marker, ..self }
    }

    /// The series with a band between ends, which is so opaque.
    pub(crate) fn banded(self, band: f64, ends: Vec<(f64, f64)>) -> Self {
        Series { band, ends, ..self }
    }
}

impl Axis {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Self::default() }
    }

    pub(crate) fn from_to(label: impl Into<String>, limits: (f64, f64)) -> Self {
        Axis { limits: Some(limits), ..Self::new(label) }
    }

    /// A logarithmic axis of whole numbers.
    pub(crate) fn sizes(label: &str, limits: (f64, f64)) -> Self {
        Axis { log: true, whole: true, ..Self::from_to(label, limits) }
    }
}

/// The least and the largest height of some series, intervals included.
pub(crate) fn heights(series: &[Series]) -> (f64, f64) {
    let points = series.iter().filter(|it| it.ends.is_empty()).flat_map(|it| it.points.iter().map(|p| p.1));
    let ends = series.iter().flat_map(|it| it.ends.iter().flat_map(|&(low, high)| [low, high]));
    points.chain(ends).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
}

/// The ends of an axis of percentages: multiples of 5 %, a little away from the data, but hardly above 100 %.
pub(crate) fn percentages((low, high): (f64, f64)) -> (f64, f64) {
    let end = |value: f64| value * 5.0;
    (end(((low - 1.0) / 5.0).floor()).max(0.0), end(((high + 1.0) / 5.0).ceil()).min(102.0))
}

/// The next of 1, 2, 5, 10, 20, ... below or above, so that the axis has ticks about all points.
pub(crate) fn round_number(value: f64, up: bool) -> f64 {
    let power = 10_f64.powi(value.max(1.0).log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = if up {
        steps.into_iter().find(|&step| step >= value)
    } else {
        steps.into_iter().rev().find(|&step| step <= value)
    };
    found.unwrap_or(1.0)
}

/// The ends of a logarithmic axis of sizes: round numbers, or a little below 1 so that a point at 1 is drawn whole.
pub(crate) fn size_limits(least: f64, most: f64) -> (f64, f64) {
    (if least < 1.1 { 0.85 } else { round_number(least / 1.1, false) }, round_number(most * 1.1, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let ends = |value: f64| (round_number(value, false), round_number(value, true));
        assert_eq!((ends(26.0), ends(63.0), ends(9.5)), ((20.0, 50.0), (50.0, 100.0), (5.0, 10.0)));
        assert_eq!((ends(1.0), ends(0.9), ends(200.0)), ((1.0, 1.0), (1.0, 1.0), (200.0, 200.0)));
        assert_eq!(percentages((71.0, 99.5)), (70.0, 102.0));
    }
}
