//! ROC curves, one class against the rest, from the mean probabilities of held-out samples.

use serde_json::{Value, json};

use super::PageSubject;
use super::format::count;
use crate::palette::look;
use crate::report::charts::{dash_name, layout, text};
use crate::report::script::number;
use crate::validate::SampleResult;
use crate::validate::roc::{area, curve};

/// The most classes with a curve, and points of a curve.
pub(super) const CLASSES: usize = 20;
const POINTS: usize = 1000;

/// The chart and what to say of it; none without probabilities.
pub(super) fn chart(subject: &PageSubject<'_>) -> Option<(Value, String)> {
    let classes = subject.classes.len();
    let with = |sample: &&SampleResult| sample.tested > 0 && sample.probabilities.len() == classes;
    let samples: Vec<&SampleResult> = subject.first.samples.iter().filter(with).collect();
    let mut traces = vec![json!({
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "name": "chance", "hoverinfo": "skip",
        "line": { "color": "#808080", "width": 1, "dash": "dot" },
    })];
    for class in 0..classes.min(CLASSES) {
        // Of two classes, the second curve is the first one mirrored.
        let scored = samples.iter().map(|s| (s.probabilities[class], s.class == class)).collect();
        let Some(points) = curve(scored) else { continue };
        let step = points.len().div_ceil(POINTS).max(1);
        let kept: Vec<&(f64, f64)> = points
            .iter()
            .enumerate()
            .filter(|(i, _)| i % step == 0 || *i == points.len() - 1)
            .map(|(_, point)| point)
            .collect();
        let look = look(class);
        traces.push(json!({
            "type": "scatter", "mode": "lines",
            "x": kept.iter().map(|point| number(point.0)).collect::<Value>(),
            "y": kept.iter().map(|point| number(point.1)).collect::<Value>(),
            "name": format!("{} (AUC {:.3})", text(&subject.validation.classes[class], 24), area(&points)),
            "line": { "color": look.colour, "width": 2, "dash": dash_name(look.dash) },
            "hovertemplate": "%{x:.2f}, %{y:.2f}",
        }));
    }
    if traces.len() == 1 {
        return None;
    }
    let mut layout = layout("share of the other samples", "share of the class");
    layout["xaxis"]["range"] = json!([-0.02, 1.02]);
    layout["yaxis"]["range"] = json!([-0.02, 1.02]);
    layout["hovermode"] = "closest".into();
    let cut =
        if classes > CLASSES { format!("; the first {CLASSES} of {classes} classes") } else { String::new() };
    let note = format!(
        "one class against the rest, by the mean probability of each of {} samples over the times it was held out{cut}",
        count(samples.len())
    );
    Some((json!({ "data": traces, "layout": layout }), note))
}
