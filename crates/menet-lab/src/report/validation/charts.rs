//! The other charts: ROC curves, confusion, stability, panel sizes, permuted labels, methods.

use serde_json::{Value, json};

use super::format::{count, percent, probability};
use super::{Page, Subject, frequencies, roc};
use crate::charts::confusion::of_validation;
use crate::palette::look;
use crate::report::charts::{layout, text};
use crate::report::script::number;
use crate::report::{confusion, shell};
use crate::validate::{Interval, PermutationTest, SizeRow, StabilityFound};

/// From which ratio of the largest to the smallest size on the axis is logarithmic.
const LOGARITHMIC: f64 = 20.0;

/// The most bins of the histogram.
const BINS: usize = 40;

pub(super) fn add(subject: &Subject<'_>, page: &mut Page) {
    let validation = subject.validation;
    let mut markup = String::new();
    if let Some((chart, note)) = roc::chart(subject) {
        markup += &placed(page, "roc", "ROC curves", &note, chart);
    }
    page.values.insert("confusions".to_owned(), json!({ "0": of_validation(validation) }));
    markup += &confusion::place(0, "held-out samples of all repeats");
    if validation.methods.len() > 1 {
        let note = "balanced accuracy on held-out samples with 95&nbsp;% intervals; the same splits for all; the dotted line is chance";
        markup += &placed(page, "comparison", "Methods side by side", note, comparison(subject));
    }
    page.section("errors", "Right and wrong", "Right and wrong", &markup);

    let mut markup = String::new();
    match &validation.stability {
        Some(found) => {
            markup += &frequencies::markup(subject, found);
            if !found.by_size.is_empty() {
                let note = "Nogueira's index with its 95&nbsp;% interval; below 0.4 poor, above 0.75 excellent; the ring is the size of the final model";
                markup += &placed(page, "index", "Stability against panel size", note, index(found));
            }
        }
        None => {
            markup += "<p>No half-samples were asked for, so nothing is known of the stability of the selection.</p>\n";
        }
    }
    page.section("stability", "Would other samples select the same?", "Stability", &markup);

    if !validation.sizes.is_empty() {
        let note = "cross-validation on all samples, which chose the final model; band: ± one standard error; dashed: the best less one standard error";
        let markup =
            placed(page, "sizes", "Balanced accuracy against panel size", note, sizes(&validation.sizes));
        page.section("size", "How many variables?", "Panel size", &markup);
    }

    let markup = match &validation.permutation {
        Some(test) if !test.permuted.is_empty() => {
            let stopped =
                if test.early { format!(", stopped early of {}", count(test.asked)) } else { String::new() };
            let note = format!(
                "balanced accuracy of the whole procedure with permuted labels, {} times{stopped}; line: with the true labels, {} (first repeat); p = {}",
                count(test.permuted.len()),
                percent(test.observed),
                probability(test.p_value.mean)
            );
            placed(
                page,
                "permutation",
                "Permuted labels",
                &note,
                histogram(test, subject.validation.chance()),
            )
        }
        _ => "<p>No permutation test was asked for.</p>\n".to_owned(),
    };
    page.section("chance", "Could it be chance?", "Chance", &markup);
}

fn placed(page: &mut Page, id: &str, title: &str, note: &str, chart: Value) -> String {
    page.charts.insert(id.to_owned(), chart);
    shell::chart(id, title, note)
}

/// A line in the colour of series `i`, with a band.
fn banded(i: usize, name: &str, points: &[(f64, Interval)], hover: &str) -> Vec<Value> {
    let colour = look(i).colour;
    let x: Vec<Value> = points.iter().map(|(x, _)| number(*x)).collect();
    let edge = |of: fn(&Interval) -> f64| {
        json!({
            "type": "scatter", "mode": "lines", "x": x, "y": points.iter().map(|(_, y)| number(of(y))).collect::<Value>(),
            "line": { "width": 0 }, "showlegend": false, "hoverinfo": "skip",
        })
    };
    let mut upper = edge(|y| y.high);
    upper["fill"] = "tonexty".into();
    upper["fillcolor"] = format!("{colour}22").into();
    let line = json!({
        "type": "scatter", "mode": "lines+markers", "name": name, "x": x,
        "y": points.iter().map(|(_, y)| number(y.mean)).collect::<Value>(),
        "line": { "color": colour, "width": 2 }, "marker": { "color": colour, "size": 6 },
        "hovertemplate": hover,
    });
    vec![edge(|y| y.low), upper, line]
}

/// A mark on a line.
fn mark(name: &str, symbol: &str, size: usize, i: usize, at: (f64, f64)) -> Value {
    json!({
        "type": "scatter", "mode": "markers", "name": name, "x": [number(at.0)], "y": [number(at.1)],
        "marker": { "color": look(i).colour, "size": size, "symbol": symbol, "line": { "width": 2.5, "color": look(i).colour } },
        "hovertemplate": "%{x:.4g} variables: %{y:.3f}",
    })
}

/// A horizontal line across the chart.
fn level(y: f64, dash: &str) -> Value {
    json!({
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": number(y), "y1": number(y),
        "line": { "color": "#808080", "width": 1.2, "dash": dash }, "layer": "below",
    })
}

/// A vertical line across the chart.
fn upright(x: f64, colour: &str, width: f64, dash: &str) -> Value {
    json!({
        "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": number(x), "x1": number(x),
        "line": { "color": colour, "width": width, "dash": dash },
    })
}

fn by_size(layout: &mut Value, sizes: impl Iterator<Item = f64> + Clone) {
    let least = sizes.clone().fold(f64::INFINITY, f64::min);
    let most = sizes.fold(0.0, f64::max);
    if least > 0.0 && most / least > LOGARITHMIC {
        // Left to itself, plotly writes 2 for 20.
        let ticks: Vec<u64> =
            (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power))).collect();
        layout["xaxis"]["type"] = "log".into();
        layout["xaxis"]["tickmode"] = "array".into();
        layout["xaxis"]["tickvals"] = json!(ticks);
        layout["xaxis"]["ticktext"] = ticks.iter().map(u64::to_string).collect();
    }
    layout["hovermode"] = "closest".into();
    // A band would turn the order round.
    layout["legend"]["traceorder"] = "normal".into();
}

fn index(found: &StabilityFound) -> Value {
    let points: Vec<(f64, Interval)> =
        found.by_size.iter().map(|&(size, index)| (size as f64, index)).collect();
    let mut traces = banded(0, "index", &points, "%{x} variables: %{y:.3f}<extra></extra>");
    traces.push(mark("the final model", "circle-open", 13, 1, (found.size as f64, found.index.mean)));
    let mut layout = layout("variables in the panel", "stability index");
    by_size(&mut layout, points.iter().map(|(size, _)| *size));
    layout["shapes"] = json!([level(0.4, "dash"), level(0.75, "dash")]);
    layout["yaxis"]["rangemode"] = "tozero".into();
    json!({ "data": traces, "layout": layout })
}

fn sizes(rows: &[SizeRow]) -> Value {
    let band = |row: &SizeRow| {
        let SizeRow { variables, balanced, standard_error, .. } = *row;
        let (low, high) = (balanced - standard_error, balanced + standard_error);
        (variables, Interval { mean: balanced, low: low.max(0.0), high: high.min(1.0) })
    };
    let points: Vec<(f64, Interval)> = rows.iter().map(band).collect();
    let mut traces = banded(0, "balanced accuracy", &points, "%{x:.4g} variables: %{y:.3f}<extra></extra>");
    let mut layout = layout("variables (mean over folds)", "balanced accuracy");
    if let Some(best) = rows.iter().find(|row| row.best) {
        traces.push(mark("the best", "diamond", 10, 2, (best.variables, best.balanced)));
        layout["shapes"] = json!([level(best.balanced - best.standard_error, "dash")]);
    }
    if let Some(chosen) = rows.iter().find(|row| row.chosen) {
        traces.push(mark("the choice", "circle-open", 15, 1, (chosen.variables, chosen.balanced)));
    }
    by_size(&mut layout, points.iter().map(|(size, _)| *size));
    layout["yaxis"]["tickformat"] = ".0%".into();
    json!({ "data": traces, "layout": layout })
}

/// Bars as a filled line of steps, since the charting script inside the page has no bars.
fn histogram(test: &PermutationTest, chance: f64) -> Value {
    let least = test.permuted.iter().copied().fold(chance, f64::min);
    let most = test.permuted.iter().copied().fold(chance, f64::max);
    let bins = ((2.0 * (test.permuted.len() as f64).sqrt()).ceil() as usize).clamp(5, BINS);
    let width = if most > least { (most - least) / bins as f64 } else { 0.01 };
    let mut counts = vec![0_usize; bins];
    for &value in &test.permuted {
        counts[(((value - least) / width) as usize).min(bins - 1)] += 1;
    }
    let edge = |bin: usize| number(least + width * bin as f64);
    // Each bin: up its left side, along its top, down its right side.
    let x: Value = (0..bins).flat_map(|bin| [edge(bin), edge(bin), edge(bin + 1), edge(bin + 1)]).collect();
    let y: Value = counts.iter().flat_map(|&n| [json!(0), json!(n), json!(n), json!(0)]).collect();
    let colour = look(0).colour;
    let mut layout = layout("balanced accuracy", "permutations");
    let observed = look(1).colour;
    let middle = (least + most.max(test.observed)) / 2.0;
    let note = |x: f64, label: String, at: f64| {
        let (side, shift) = if x > middle { ("right", -6) } else { ("left", 6) };
        json!({
            "x": number(x), "y": at, "yref": "paper", "text": label, "showarrow": false, "xanchor": side, "xshift": shift,
        })
    };
    layout["shapes"] =
        json!([upright(chance, "#808080", 1.2, "dot"), upright(test.observed, observed, 3.0, "solid")]);
    layout["annotations"] = json!([
        note(test.observed, format!("true labels: {:.1} %", 100.0 * test.observed), 1.0),
        note(chance, format!("chance: {:.1} %", 100.0 * chance), 0.9),
    ]);
    let (low, high) = (least.min(test.observed), most.max(test.observed));
    let margin = 0.04 * (high - low).max(0.01);
    layout["xaxis"]["range"] = json!([number(low - margin), number(high + margin)]);
    layout["xaxis"]["tickformat"] = ".0%".into();
    layout["yaxis"]["rangemode"] = "tozero".into();
    layout["showlegend"] = false.into();
    layout["hovermode"] = "closest".into();
    json!({
        "data": [{
            "type": "scatter", "mode": "lines", "x": x, "y": y, "fill": "tozeroy", "fillcolor": format!("{colour}66"),
            "line": { "color": colour, "width": 1 }, "hovertemplate": "%{x:.1%}: %{y}<extra></extra>",
        }],
        "layout": layout,
    })
}

fn comparison(subject: &Subject<'_>) -> Value {
    let methods = &subject.validation.methods;
    let rows = methods.iter().enumerate().map(|(i, method)| {
        let Interval { mean, low, high } = method.balanced;
        let colour = look(i).colour;
        json!({
            "type": "scatter", "mode": "markers", "showlegend": false, "x": [number(mean)], "y": [i],
            "error_x": {
                "type": "data", "symmetric": false, "array": [number((high - mean).max(0.0))], "arrayminus": [number((mean - low).max(0.0))],
                "color": colour, "thickness": 2, "width": 6,
            },
            "marker": { "color": colour, "size": 11, "symbol": crate::report::charts::symbol(look(i).marker) },
            "hovertemplate": format!("{}: {:.1} % ({:.1} to {:.1})<extra></extra>", text(&method.name, 40), 100.0 * mean, 100.0 * low, 100.0 * high),
        })
    });
    let traces: Vec<Value> = rows.collect();
    let mut layout = layout("balanced accuracy", "");
    let chance = subject.validation.chance();
    let low = methods.iter().map(|method| method.balanced.low).fold(chance, f64::min);
    let high = methods.iter().map(|method| method.balanced.high).fold(chance, f64::max);
    layout["xaxis"]["range"] = json!([number(low - 0.03), number(high + 0.03)]);
    layout["xaxis"]["tickformat"] = ".0%".into();
    layout["yaxis"]["tickmode"] = "array".into();
    layout["yaxis"]["tickvals"] = (0..methods.len()).collect();
    layout["yaxis"]["ticktext"] = methods.iter().map(|method| text(&method.name, 18)).collect();
    layout["yaxis"]["range"] = json!([methods.len() as f64 - 0.5, -0.5]);
    layout["shapes"] = json!([upright(chance, "#808080", 1.2, "dot")]);
    layout["hovermode"] = "closest".into();
    json!({ "data": traces, "layout": layout })
}
