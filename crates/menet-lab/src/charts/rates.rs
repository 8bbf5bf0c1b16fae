//! The recognition rate against the dimension, one line per method, a band of one standard deviation about it.

use super::lines::{Axis, Lines, Series, heights, percentages};
use crate::curves::{TrainingSetting, curves, has_spread, mean_and_sd};
use crate::names::{setting as named, shown};
use crate::study::Study;

/// The rates of a setting; none where it has no results.
pub(crate) fn rates(study: &Study, setting: &TrainingSetting) -> Option<Lines> {
    let curves = curves(study, setting);
    let mut series = Vec::new();
    let mut cut = false;
    for (place, method, curve) in &curves {
        let rates = curve.values().map(|rates| mean_and_sd(rates));
        let spread: Vec<(f64, f64)> = rates.map(|(mean, sd)| (mean, sd.unwrap_or(0.0))).collect();
        let ends = spread.iter().map(|(mean, sd)| ((mean - sd).max(0.0), (mean + sd).min(100.0))).collect();
        cut |= spread.iter().any(|(mean, sd)| mean - sd < 0.0 || mean + sd > 100.0);
        let points = curve.keys().zip(&spread).map(|(&d, &(mean, _))| (d as f64, mean)).collect();
        let line = Series::line(*place, 1.8, points).dotted(*place, 4.0).named(shown(method, 18));
        let banded = spread.iter().any(|&(_, sd)| sd > 0.0);
        series.push(if banded { line.banded(0.13, ends) } else { line });
    }
    let note = if curves.iter().any(|(_, _, curve)| has_spread(curve)) {
        let cut = if cut { ", cut at 0 and 100 %" } else { "" };
        format!("mean over the repeats ± one standard deviation{cut}")
    } else {
        "one split, so there is no standard deviation".to_owned()
    };
    let (low, high, step) = dimensions(&series)?;
    let x = Axis::from_to("dimension of the projected space", (low, high));
    Some(Lines {
        title: format!("Recognition rate: {}", named(&setting.data, setting.train)),
        note,
        x: Axis { step: Some(step), whole: true, ..x },
        y: Axis::from_to("recognition rate (%)", percentages(heights(&series))),
        series,
        ..Lines::default()
    })
}

/// The ends of the axis of dimensions, and a step that gives whole numbers, at most about sixteen.
fn dimensions(series: &[Series]) -> Option<(f64, f64, f64)> {
    let all = || series.iter().flat_map(|it| it.points.iter().map(|point| point.0));
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let steps = (0..).flat_map(|power| [1.0, 2.0, 5.0].map(|unit| unit * 10_f64.powi(power)));
    let step = steps.take(60).find(|step| (high - low) / step <= 16.0).unwrap_or(high);
    Some((((low - 0.5) / step).floor() * step, ((high + 0.5) / step).ceil() * step, step))
}
