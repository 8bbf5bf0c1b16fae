//! The ROC curve of every class against the rest, from the probabilities of held-out samples.

use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::super::canvas::FONT;
use super::super::rates::style;
use super::values::{class, fraction};
use crate::names::plotted;
use crate::palette::{LOOKS, look};
use crate::validate::roc::{area, curve};
use crate::validate::{SampleResult, Validation};

/// None without probabilities.
pub(super) fn figure(validation: &Validation) -> Option<String> {
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
    let curves: Vec<(usize, Vec<(f64, f64)>)> = drawn
        .filter_map(|class| {
            let scored = samples.iter().map(|sample| (sample.probabilities[class], sample.class == class));
            Some((class, curve(scored.collect())?))
        })
        .collect();
    if curves.is_empty() {
        return None;
    }
    let many = curves.len() > LOOKS;
    let chance = LinePlot::new().with_data([(0.0, 0.0), (1.0, 1.0)]).with_color("#bbbbbb");
    let mut plots = vec![Plot::Line(chance.with_line_style(style("4,4")).with_stroke_width(1.0))];
    for (number, points) in &curves {
        let look = look(*number);
        let (colour, width) = if many { ("#9aa8b4", 0.9) } else { (look.colour, 2.0) };
        let mut line = LinePlot::new().with_data(points.clone()).with_color(colour).with_stroke_width(width);
        if !many {
            let name = plotted(&class(validation, *number, 18), 18);
            let label = format!("{name}: {}", fraction(area(points)));
            line = line.with_line_style(style(look.dash)).with_legend(label);
        }
        plots.push(Plot::Line(line));
    }
    if many {
        let mean = mean(&curves);
        let label = format!("mean: {}", fraction(area(&mean)));
        let line = LinePlot::new().with_data(mean).with_color(look(0).colour).with_stroke_width(2.6);
        plots.push(Plot::Line(line.with_legend(label)));
    }
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(format!("ROC of held-out samples: {}", plotted(&validation.data, 28)))
        .with_subtitle(note(validation, many))
        .with_subtitle_wrap(90)
        .with_x_label("fraction of the other classes taken for the class")
        .with_y_label("fraction of the class that is found")
        .with_font_family(FONT)
        .with_width(840.0)
        .with_height(600.0);
    layout = layout.with_x_axis_min(0.0).with_x_axis_max(1.0).with_y_axis_min(0.0).with_y_axis_max(1.01);
    Some(kuva::render_to_svg(plots, layout))
}

fn note(validation: &Validation, many: bool) -> String {
    let kind = match (validation.classes.len(), many) {
        (2, _) => format!("against {}", plotted(&class(validation, 0, 24), 24)),
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
