//! ROC curves, one class against the rest, from the mean probabilities of held-out samples.

use serde_json::{Value, json};

use super::Subject;
use super::format::count;
use crate::palette::look;
use crate::report::charts::{dash_name, layout, text};
use crate::report::script::number;
use crate::validate::SampleResult;

/// The most classes with a curve, and points of a curve.
pub(super) const CLASSES: usize = 20;
const POINTS: usize = 1000;

/// A curve from (0, 0) to (1, 1).
#[derive(Debug, PartialEq)]
struct Curve {
    points: Vec<(f64, f64)>,
    area: f64,
}

/// The curve of scores with the truth; none unless there are both kinds. Equal scores make one slanted step, which counts them half.
fn curve(mut scored: Vec<(f64, bool)>) -> Option<Curve> {
    let positive = scored.iter().filter(|(_, own)| *own).count() as f64;
    let negative = scored.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut points, mut area, mut right, mut wrong) = (vec![(0.0, 0.0)], 0.0, 0.0, 0.0);
    for equal in scored.chunk_by(|a, b| a.0 == b.0) {
        let own = equal.iter().filter(|(_, own)| *own).count() as f64;
        let others = equal.len() as f64 - own;
        area += others * (right + own / 2.0);
        right += own;
        wrong += others;
        points.push((wrong / negative, right / positive));
    }
    Some(Curve { points, area: area / (positive * negative) })
}

/// The chart and what to say of it; none without probabilities.
pub(super) fn chart(subject: &Subject<'_>) -> Option<(Value, String)> {
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
        let Some(Curve { points, area }) = curve(scored) else { continue };
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
            "name": format!("{} (AUC {area:.3})", text(&subject.validation.classes[class], 24)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_count_pairs() {
        let scored = vec![(0.9, true), (0.8, false), (0.7, true), (0.7, false), (0.1, false)];
        // Of six pairs: 0.9 wins 3, 0.7 wins 1 and ties 1.
        let found = curve(scored).unwrap();
        assert!((found.area - 4.5 / 6.0).abs() < 1e-15);
        assert_eq!(found.points[0], (0.0, 0.0));
        assert_eq!(*found.points.last().unwrap(), (1.0, 1.0));
        assert_eq!(curve(vec![(0.5, true)]), None);
        assert_eq!(curve(vec![(1.0, true), (0.0, false)]).unwrap().area, 1.0);
    }
}
