//! The interactive charts, built with plotly's types; `draw.js` draws and colours them.

use plotly::box_plot::{BoxPoints, QuartileMethod};
use plotly::color::NamedColor;
use plotly::common::{DashType, Fill, HoverInfo, Line, Marker, MarkerSymbol, Mode, Orientation, Title};
use plotly::layout::{Axis, AxisType, BoxMode, HoverMode, Legend, Margin, RangeMode};
use plotly::{BoxPlot, Layout, Plot, Scatter, Traces};
use serde_json::{Value, json};

use super::unwritten;
use crate::curves::{Curve, mean_and_sd, shown_dimensions};
use crate::error::{Error, Result};
use crate::names::shown;
use crate::palette::look;

/// What stands beside the charts' titles.
pub(super) const BANDS_NOTE: &str = "; bands: ± one standard deviation";
pub(super) const BOXES_NOTE: &str = "boxes: quartiles and median; one dot per repeat";
pub(super) const PATH_NOTE: &str =
    "the first ten variables that entered in colour; the penalty falls to the right";
pub(super) const ENTRIES_NOTE: &str = "the axis at the end of the step that each entry begins: ring, the variable that \
    entered; crosses, the others in use; colours of the lines above";
pub(super) const ENTRY_BARS_NOTE: &str = "coefficients at the end of the step that each entry begins; in the \
    colour of its line, the variable that entered";

/// The text of plotly.min.js, which the crate carries.
pub(super) fn library() -> Result<String> {
    let sources = Plot::offline_js_sources();
    // Its first script; the second is MathJax, which nothing here needs.
    let first = sources.split_once('>').and_then(|(_, rest)| rest.split_once("</script"));
    match first {
        Some((script, _)) if script.contains("plotly.js") => Ok(script.to_owned()),
        _ => Err(Error::Study("the plotly crate no longer holds plotly.min.js where it did".to_owned())),
    }
}

/// A name in plotly's texts, which read a little HTML and `%{...}`.
fn text(name: &str, most: usize) -> String {
    shown(name, most)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace("%{", "%\u{200b}{")
}

/// One line a method, a band about it where there are repeats.
pub(super) fn rates(curves: &[(usize, String, Curve)]) -> Result<Value> {
    let mut bands = Traces::new();
    let mut lines = Vec::new();
    for (place, method, curve) in curves {
        let (look, group) = (look(*place), format!("m{place}"));
        let dimensions: Vec<usize> = curve.keys().copied().collect();
        let rates: Vec<(f64, f64)> = curve
            .values()
            .map(|rates| {
                let (mean, sd) = mean_and_sd(rates);
                (mean, sd.unwrap_or(0.0))
            })
            .collect();
        let edge = |sign: f64| {
            let edge = rates.iter().map(|(mean, sd)| two(mean + sign * sd).clamp(0.0, 100.0)).collect();
            Scatter::new(dimensions.clone(), edge)
                .mode(Mode::Lines)
                .line(Line::new().width(0.0))
                .legend_group(group.clone())
                .show_legend(false)
                .hover_info(HoverInfo::Skip)
        };
        if rates.iter().any(|&(_, sd)| sd > 0.0) {
            bands.push(edge(-1.0));
            // Hexadecimal with opacity, so that the script can exchange the colour and keep the rest.
            bands.push(edge(1.0).fill(Fill::ToNextY).fill_color(format!("{}22", look.colour)));
        }
        let spread = rates.iter().map(|(_, sd)| if *sd > 0.0 { format!("± {sd:.1}") } else { String::new() });
        let line = Scatter::new(dimensions.clone(), rates.iter().map(|(mean, _)| two(*mean)).collect())
            .name(text(method, 30))
            .mode(Mode::LinesMarkers)
            .line(Line::new().color(look.colour).width(2.0).dash(dash(look.dash)))
            .marker(Marker::new().color(look.colour).size(7).symbol(symbol(look.marker)))
            .text_array(spread.collect::<Vec<_>>())
            .hover_template("dimension %{x}: %{y:.1f} % %{text}")
            .legend_group(group);
        lines.push(line);
    }
    for line in lines {
        bands.push(line);
    }
    let most = curves.iter().filter_map(|(_, _, curve)| curve.keys().last()).max().copied().unwrap_or(0);
    let mut axis = axis("dimension of the projected space");
    if most <= 8 {
        // Left to itself, plotly would mark halves.
        axis = axis.dtick(1.0);
    }
    let layout = layout("", "recognition rate (%)").x_axis(axis).hover_mode(HoverMode::Closest);
    Ok(json!({ "data": value(&bands)?, "layout": value(&layout)? }))
}

/// One box a method at each of ten dimensions.
pub(super) fn boxes(curves: &[(usize, String, Curve)]) -> Result<Value> {
    let dimensions = shown_dimensions(curves);
    let mut traces = Traces::new();
    for (place, method, curve) in curves {
        let look = look(*place);
        let points =
            dimensions.iter().flat_map(|d| curve.get(d).into_iter().flatten().map(move |rate| (*d, *rate)));
        let (x, y): (Vec<String>, Vec<f64>) = points.map(|(d, rate)| (d.to_string(), two(rate))).unzip();
        if y.is_empty() {
            continue;
        }
        traces.push(
            BoxPlot::new_xy(x, y)
                .name(text(method, 30))
                .line(Line::new().color(look.colour).width(1.5))
                .fill_color(format!("{}44", look.colour))
                .marker(Marker::new().color(look.colour).size(4).symbol(symbol(look.marker)))
                .box_points(BoxPoints::All)
                .jitter(0.0)
                .point_pos(0.0)
                // As in the static figure for the paper's five repeats.
                .quartile_method(QuartileMethod::Inclusive),
        );
    }
    let categories: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
    let axis = axis("dimension of the projected space").type_(AxisType::Category).category_array(categories);
    let layout = layout("", "recognition rate (%)").x_axis(axis).box_mode(BoxMode::Group);
    Ok(json!({ "data": value(&traces)?, "layout": value(&layout)? }))
}

/// The layout of the explorer's chart of a path.
pub(super) fn path_layout() -> Result<Value> {
    let x = "ℓ1 norm of the coefficients";
    value(&layout(x, "coefficient").hover_mode(HoverMode::Closest))
}

/// The layout of the explorer's chart of the rate against the number of variables.
pub(super) fn sparsity_layout() -> Result<Value> {
    let x = axis("variables an axis may use").range_mode(RangeMode::ToZero);
    value(&layout("", "rate on this split (%)").x_axis(x).show_legend(false))
}

/// What all charts share: transparent, little margin, the legend below the axis.
fn layout(x: &str, y: &str) -> Layout {
    Layout::new()
        .paper_background_color(NamedColor::Transparent)
        .plot_background_color(NamedColor::Transparent)
        .margin(Margin::new().left(56).right(12).top(12).bottom(48))
        .legend(Legend::new().orientation(Orientation::Horizontal).x(0.0))
        .x_axis(axis(x))
        .y_axis(axis(y))
}

fn axis(title: &str) -> Axis {
    Axis::new().title(Title::with_text(title)).auto_margin(true).zero_line(false)
}

/// A dash pattern of the palette by plotly's name.
pub(super) fn dash_name(pattern: &str) -> &'static str {
    match pattern {
        "8,4" => "dash",
        "2,3" => "dot",
        "8,3,2,3" => "dashdot",
        _ => "solid",
    }
}

fn dash(pattern: &str) -> DashType {
    match dash_name(pattern) {
        "dash" => DashType::Dash,
        "dot" => DashType::Dot,
        "dashdot" => DashType::DashDot,
        _ => DashType::Solid,
    }
}

/// The markers, in the order of the palette's numbers.
fn symbol(marker: usize) -> MarkerSymbol {
    match marker {
        0 => MarkerSymbol::Circle,
        1 => MarkerSymbol::Square,
        2 => MarkerSymbol::TriangleUp,
        3 => MarkerSymbol::Diamond,
        4 => MarkerSymbol::TriangleDown,
        5 => MarkerSymbol::Cross,
        6 => MarkerSymbol::X,
        _ => MarkerSymbol::Star,
    }
}

/// Two decimals are plenty for a percentage.
fn two(rate: f64) -> f64 {
    (rate * 100.0).round() / 100.0
}

fn value(of: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(unwritten)
}
