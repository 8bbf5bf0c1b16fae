//! Nogueira's stability index against the size of the panel.

use super::lines::{Axis, Lines, Series, heights, size_limits};
use crate::charts::text::{counted, fraction};
use crate::names::shown;
use crate::validate::{Interval, Validation};

/// None where no two half-samples were compared.
pub(crate) fn stability_sizes(validation: &Validation) -> Option<Lines> {
    let found = validation.stability.as_ref()?;
    let known = |&&(size, index): &&(usize, Interval)| size > 0 && index.mean.is_finite();
    let rows: Vec<&(usize, Interval)> = found.by_size.iter().filter(known).collect();
    let points: Vec<(f64, f64)> = rows.iter().map(|(size, index)| (*size as f64, index.mean)).collect();
    let limits = size_limits(points.first()?.0, points.last()?.0);
    let ends = rows.iter().map(|(_, index)| index.ends()).collect();
    let line = Series { dash: "", ..Series::line(0, 1.8, points.clone()) }.banded(0.18, ends);
    let mut series = vec![if points.len() <= 40 { line.dotted(0, 3.5) } else { line }];
    let (low, high) = heights(&series);
    let mut mark = |number, what: &str, size: usize, mean: f64| {
        let at = Some((size as f64, mean)).filter(|_| size > 0 && mean.is_finite());
        series.extend(at.map(|at| Series::dots(number, 7.0, vec![at]).named(format!("{what}: {size}"))));
    };
    mark(1, "final model", found.size, found.index.mean);
    let stable = points.iter().find(|point| point.0 == found.stable_size as f64);
    if let Some(stable) = stable.filter(|_| found.stable_size != found.size) {
        mark(2, "stable panel", found.stable_size, stable.1);
    }
    let Interval { mean, low: least, high: most } = found.index;
    let index = if least.is_finite() && most.is_finite() {
        format!("{} ({} to {})", fraction(mean), fraction(least), fraction(most))
    } else {
        fraction(mean)
    };
    let size = counted(found.size, "variable");
    Some(Lines {
        title: format!("Stability of the selection: {}", shown(&validation.data, 28)),
        note: format!(
            "1: every half-sample selects the same; 0: as by chance; {index} with {size}; band: 95 % interval"
        ),
        x: Axis::sizes("variables in the panel", limits),
        y: Axis::from_to(
            "Nogueira's stability index",
            ((low.min(0.0) * 10.0).floor() / 10.0, (high.max(0.1) * 10.0).ceil() / 10.0),
        ),
        series,
        ..Lines::default()
    })
}
