//! The interactive charts as plotly's JSON; `draw.js` draws and colours them.

use std::io::Read;

use serde_json::{Value, json};

use crate::curves::{Curve, mean_and_sd, shown_dimensions};
use crate::error::{Error, Result};
use crate::names::shown;
use crate::palette::look;

/// plotly.js with the traces that are drawn here, compressed: `scripts/plotly_bundle.sh` makes it.
const LIBRARY: &[u8] = include_bytes!("plotly/plotly.js.gz");

/// What stands beside the charts' titles.
pub(super) const BANDS_NOTE: &str = "; bands: ± one standard deviation";
pub(super) const BOXES_NOTE: &str = "boxes: quartiles and median; one dot per repeat";
pub(super) const PATH_NOTE: &str =
    "the first ten variables that entered in colour; the penalty falls to the right";
pub(super) const ENTRIES_NOTE: &str = "the axis at the end of the step that each entry begins: ring, the variable that \
    entered; crosses, the others in use; colours of the lines above";
pub(super) const ENTRY_BARS_NOTE: &str = "coefficients at the end of the step that each entry begins; in the \
    colour of its line, the variable that entered";

/// The text of plotly.js.
pub(super) fn library() -> Result<String> {
    let mut script = String::new();
    let read = flate2::read::GzDecoder::new(LIBRARY).read_to_string(&mut script);
    read.map_err(|e| Error::Study(format!("the charting script inside the program is damaged: {e}")))?;
    Ok(script)
}

/// A name in plotly's texts, which read a little HTML and `%{...}`.
pub(super) fn text(name: &str, most: usize) -> String {
    shown(name, most)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace("%{", "%\u{200b}{")
}

/// One line per method, a band about it where there are repeats.
pub(super) fn rates(curves: &[(usize, String, Curve)]) -> Value {
    let mut bands = Vec::new();
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
            let edge = rates.iter().map(|(mean, sd)| two(mean + sign * sd).clamp(0.0, 100.0));
            json!({
                "type": "scatter",
                "x": dimensions,
                "y": edge.collect::<Vec<_>>(),
                "mode": "lines",
                "line": { "width": 0 },
                "legendgroup": group,
                "showlegend": false,
                "hoverinfo": "skip",
            })
        };
        if rates.iter().any(|&(_, sd)| sd > 0.0) {
            bands.push(edge(-1.0));
            let mut upper = edge(1.0);
            upper["fill"] = "tonexty".into();
            // Hexadecimal with opacity, so that the script can exchange the colour and keep the rest.
            upper["fillcolor"] = format!("{}22", look.colour).into();
            bands.push(upper);
        }
        let spread = rates.iter().map(|(_, sd)| if *sd > 0.0 { format!("± {sd:.1}") } else { String::new() });
        lines.push(json!({
            "type": "scatter",
            "x": dimensions,
            "y": rates.iter().map(|(mean, _)| two(*mean)).collect::<Vec<_>>(),
            "name": text(method, 30),
            "mode": "lines+markers",
            "line": { "color": look.colour, "width": 2, "dash": dash_name(look.dash) },
            "marker": { "color": look.colour, "size": 7, "symbol": symbol(look.marker) },
            "text": spread.collect::<Vec<_>>(),
            "hovertemplate": "dimension %{x}: %{y:.1f} % %{text}",
            "legendgroup": group,
        }));
    }
    bands.append(&mut lines);
    let mut layout = layout("dimension of the projected space", "recognition rate (%)");
    let most = curves.iter().filter_map(|(_, _, curve)| curve.keys().last()).max().copied().unwrap_or(0);
    if most <= 8 {
        // Left to itself, plotly would mark halves.
        layout["xaxis"]["dtick"] = 1.into();
    }
    layout["hovermode"] = "closest".into();
    json!({ "data": bands, "layout": layout })
}

/// One box per method at each of ten dimensions.
pub(super) fn boxes(curves: &[(usize, String, Curve)]) -> Value {
    let dimensions = shown_dimensions(curves);
    let mut traces = Vec::new();
    for (place, method, curve) in curves {
        let look = look(*place);
        let points =
            dimensions.iter().flat_map(|d| curve.get(d).into_iter().flatten().map(move |rate| (*d, *rate)));
        let (x, y): (Vec<String>, Vec<f64>) = points.map(|(d, rate)| (d.to_string(), two(rate))).unzip();
        if y.is_empty() {
            continue;
        }
        traces.push(json!({
            "type": "box",
            "x": x,
            "y": y,
            "name": text(method, 30),
            "line": { "color": look.colour, "width": 1.5 },
            "fillcolor": format!("{}44", look.colour),
            "marker": { "color": look.colour, "size": 4, "symbol": symbol(look.marker) },
            "boxpoints": "all",
            "jitter": 0,
            "pointpos": 0,
            // As in the static figure for the paper's five repeats.
            "quartilemethod": "inclusive",
        }));
    }
    let mut layout = layout("dimension of the projected space", "recognition rate (%)");
    layout["xaxis"]["type"] = "category".into();
    layout["xaxis"]["categoryarray"] = dimensions.iter().map(ToString::to_string).collect();
    layout["boxmode"] = "group".into();
    json!({ "data": traces, "layout": layout })
}

/// The layout of the explorer's chart of a path.
pub(super) fn path_layout() -> Value {
    let mut layout = layout("ℓ1 norm of the coefficients", "coefficient");
    layout["hovermode"] = "closest".into();
    layout
}

/// The layout of the explorer's chart of the rate against the number of variables.
pub(super) fn sparsity_layout() -> Value {
    let mut layout = layout("variables an axis may use", "rate on this split (%)");
    layout["xaxis"]["rangemode"] = "tozero".into();
    layout["showlegend"] = false.into();
    layout
}

/// What all charts share: transparent, little margin, the legend below the axis.
pub(super) fn layout(x: &str, y: &str) -> Value {
    let axis = |title| json!({ "title": { "text": title }, "automargin": true, "zeroline": false });
    json!({
        "paper_bgcolor": "transparent",
        "plot_bgcolor": "transparent",
        "margin": { "l": 56, "r": 12, "t": 12, "b": 48 },
        "legend": { "orientation": "h", "x": 0 },
        "xaxis": axis(x),
        "yaxis": axis(y),
    })
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

/// The markers by plotly's names, in the order of the palette's numbers.
pub(super) fn symbol(marker: usize) -> &'static str {
    match marker {
        0 => "circle",
        1 => "square",
        2 => "triangle-up",
        3 => "diamond",
        4 => "triangle-down",
        5 => "cross",
        6 => "x",
        _ => "star",
    }
}

/// Two decimals are plenty for a percentage.
fn two(rate: f64) -> f64 {
    (rate * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn the_script_fits_into_a_page() {
        let script = library().unwrap();
        assert!(script.is_ascii() && script.contains("plotly.js") && script.len() < 1_500_000);
        assert!(!script.to_ascii_lowercase().contains("</script"));
    }
}
