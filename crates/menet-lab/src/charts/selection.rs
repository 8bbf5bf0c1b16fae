//! How good models are against how many variables they use, with the choice by one standard error.

use super::lines::{Axis, Lines, Series, heights, percentages, size_limits};
use crate::names::shown;
use crate::validate::{SizeRow, Validation};

/// None where no sizes were compared.
pub(crate) fn selection(validation: &Validation) -> Option<Lines> {
    let known = |row: &&SizeRow| row.balanced.is_finite() && row.variables.is_finite();
    let rows: Vec<&SizeRow> = validation.sizes.iter().filter(known).collect();
    let place = |row: &SizeRow| (row.variables.max(1.0), 100.0 * row.balanced);
    // An interval beyond 0 or 100 % would have no meaning.
    let ends = |row: &&SizeRow| {
        let error = if row.standard_error.is_finite() { 100.0 * row.standard_error } else { 0.0 };
        let mean = 100.0 * row.balanced;
        (mean - error.min(mean), mean + error.min(100.0 - mean).max(0.0))
    };
    let points: Vec<(f64, f64)> = rows.iter().map(|row| place(row)).collect();
    let limits = size_limits(points.first()?.0, points.last()?.0);
    let line = Series { dash: "", ..Series::line(0, 1.8, points) }.dotted(0, 4.0);
    let mut series = vec![line.banded(0.0, rows.iter().map(ends).collect())];
    let best = rows.iter().find(|row| row.best);
    let chosen = rows.iter().find(|row| row.chosen);
    for (number, what, row) in [(1, "best", best), (6, "chosen", chosen)] {
        let Some(row) = row else { continue };
        let label = format!("{what}: {:.0} variables, {:.1} %", row.variables, 100.0 * row.balanced);
        series.push(Series::dots(number, 8.0, vec![place(row)]).named(label));
    }
    let bound = best.map(|best| 100.0 * (best.balanced - best.standard_error));
    if let Some(bound) = bound.filter(|bound| bound.is_finite()) {
        let line = Series::line(0, 1.2, vec![(limits.0, bound), (limits.1, bound)]);
        let line = Series { colour: "#555555".to_owned(), dash: "6,4", ..line };
        series.push(line.named("best less one standard error"));
    }
    Some(Lines {
        title: format!("How many variables: {}", shown(&validation.data, 28)),
        note: "in the cross-validation on all samples that chose the final model: at every size the best of all other settings; bars: one standard error".to_owned(),
        x: Axis::sizes("distinct variables of all axes together, mean over the folds", limits),
        y: Axis::from_to("balanced accuracy (%)", percentages(heights(&series))),
        series,
        ..Lines::default()
    })
}
