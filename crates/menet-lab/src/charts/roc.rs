//! The ROC curve of every class against the rest, from the probabilities of held-out samples.

use super::lines::{Axis, Lines, Series};
use super::text::fraction;
use crate::names::{named, shown};
use crate::palette::LOOKS;
use crate::validate::roc::{area, curve};
use crate::validate::{SampleResult, Validation};

/// The most points of a curve.
const POINTS: usize = 1000;

/// None without probabilities.
pub(crate) fn roc(validation: &Validation) -> Option<Lines> {
    let method = validation.methods.first()?;
    let usable = |sample: &&SampleResult| {
        sample.tested > 0
            && !sample.probabilities.is_empty()
            && sample.probabilities.iter().all(|probability| probability.is_finite())
    };
    let samples: Vec<&SampleResult> = method.samples.iter().filter(usable).collect();
    let classes = validation.classes.len();
    // The curves of two classes are each other's mirror image.
    let drawn = if classes == 2 { 1..2 } else { 0..classes };
    let of_class = |class: usize| {
        let scored = samples.iter().map(|sample| (sample.probabilities[class], sample.class == class));
        Some((class, curve(scored.collect())?))
    };
    let curves: Vec<(usize, Vec<(f64, f64)>)> = drawn.filter_map(of_class).collect();
    if curves.is_empty() {
        return None;
    }
    let many = curves.len() > LOOKS;
    let line = |number, width, points, colour: &str, dash| Series {
        colour: colour.to_owned(),
        dash,
        ..Series::line(number, width, points)
    };
    let mut series = vec![line(0, 1.0, vec![(0.0, 0.0), (1.0, 1.0)], "#bbbbbb", "4,4")];
    for (number, points) in &curves {
        series.push(if many {
            line(0, 0.9, thinned(points), "#9aa8b4", "")
        } else {
            let name = shown(&named(&validation.classes[*number]), 18);
            Series::line(*number, 2.0, thinned(points)).named(format!("{name}: {}", fraction(area(points))))
        });
    }
    if many {
        let mean = mean(&curves);
        let label = format!("mean: {}", fraction(area(&mean)));
        series.push(Series { dash: "", ..Series::line(0, 2.6, mean) }.named(label));
    }
    Some(Lines {
        title: format!("ROC of held-out samples: {}", shown(&validation.data, 28)),
        note: note(validation, many),
        x: Axis::from_to("fraction of the other classes taken for the class", (0.0, 1.0)),
        y: Axis::from_to("fraction of the class that is found", (0.0, 1.01)),
        series,
        ..Lines::default()
    })
}

/// The points of a curve, every few where they are many, and the last.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(POINTS).max(1);
    let kept = |i: usize| i.is_multiple_of(step) || i + 1 == points.len();
    points.iter().enumerate().filter(|&(i, _)| kept(i)).map(|(_, &point)| point).collect()
}

fn note(validation: &Validation, many: bool) -> String {
    let kind = match (validation.classes.len(), many) {
        (2, _) => format!("against {}", shown(&named(&validation.classes[0]), 24)),
        (_, true) => "each class against the rest, and their mean".to_owned(),
        (_, false) => "each class against the rest".to_owned(),
    };
    let auc = validation.methods.first().and_then(|method| method.auc).filter(|auc| auc.mean.is_finite());
    let interval = match auc {
        Some(auc) if auc.low.is_finite() && auc.high.is_finite() => {
            let (mean, low, high) = (fraction(auc.mean), fraction(auc.low), fraction(auc.high));
            format!("; mean area over the repeats: {mean} ({low} to {high})")
        }
        _ => String::new(),
    };
    format!(
        "{kind}; probabilities of a sample are averaged over the repeats; beside a class: the area{interval}"
    )
}

/// The mean height of curves at equal steps.
fn mean(curves: &[(usize, Vec<(f64, f64)>)]) -> Vec<(f64, f64)> {
    let height = |points: &[(f64, f64)], x: f64| {
        let after = points.partition_point(|point| point.0 <= x);
        match (points.get(after.wrapping_sub(1)), points.get(after)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0),
            (Some(a), None) => a.1,
            _ => 0.0,
        }
    };
    let step = |i: i32| f64::from(i) / 100.0;
    let at = |x: f64| curves.iter().map(|(_, points)| height(points, x)).sum::<f64>() / curves.len() as f64;
    std::iter::once((0.0, 0.0)).chain((0..=100).map(|i| (step(i), at(step(i))))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_equal_curves_is_nearly_the_curve() {
        let scored: Vec<(f64, bool)> = (0..60).map(|i| (f64::from(i * 7 % 11), (i * 5 % 7) > 3)).collect();
        let points = curve(scored).unwrap();
        let same = mean(&[(0, points.clone()), (1, points.clone())]);
        assert!((area(&same) - area(&points)).abs() < 0.01);
    }
}
