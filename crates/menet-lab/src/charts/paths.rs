//! The coefficient paths of a column against their ℓ1 norm.

use menet::Men;
use menet::lars::{Knot, Path};

use super::lines::{Axis, Lines, Series};
use crate::names::{scale, shown, variable_of};
use crate::palette::LOOKS;

/// The whole path of a column, counted from 0; none where the model has none. `what` says of which data.
pub(crate) fn whole(men: &Men, column: usize, what: &str) -> Option<Lines> {
    let path = men.paths().get(column)?;
    let title = format!("The path of column {}: {}", column + 1, shown(what, 80));
    let note =
        "the first ten variables that entered in colour, the others grey; the penalty falls to the right";
    Some(Lines { title, note: note.to_owned(), ..paths(men, path, path.knots()) })
}

/// The coefficients at some of a path's knots, those of the variables that entered first on top.
pub(crate) fn paths(men: &Men, path: &Path, knots: &[Knot]) -> Lines {
    let order = path.order_of_entry();
    let sizes: Vec<f64> = knots.iter().map(norm).collect();
    let line = |i: usize, j: usize, width: f64, step: usize| {
        // From where the variable enters; one that never moves in these knots has no line.
        let moved = knots.iter().position(|knot| knot.coefficients.get(j) != 0.0);
        let points = moved.map_or_else(Vec::new, |moved| {
            let kept = kept(moved.saturating_sub(1), knots.len(), step);
            kept.map(|k| (sizes[k], knots[k].coefficients.get(j))).collect()
        });
        Series::line(i, width, points)
    };
    // Hundreds of thin lines need not turn at every knot, which would make the file large.
    let coarse = knots.len().div_ceil(150);
    let grey = |line| Series { colour: "#c4c4c4".to_owned(), dash: "", ..line };
    let others = order.iter().skip(LOOKS).map(|&j| grey(line(0, j, 0.8, coarse)));
    let name = |i: usize, j: usize| format!("{}. {}", i + 1, shown(&variable_of(men, j), 22));
    let first = order.iter().take(LOOKS).enumerate().map(|(i, &j)| line(i, j, 2.2, 1).named(name(i, j)));
    let others: Vec<Series> = others.filter(|line| !line.points.is_empty()).collect();
    let series = first.chain(others.into_iter().rev()).collect();
    let scale = scale(men);
    Lines {
        x: Axis::new(format!("ℓ1 norm of the coefficients ({scale})")),
        y: Axis::new(format!("coefficient ({scale})")),
        series,
        first_on_top: true,
        legend: "in order of entry".to_owned(),
        ..Lines::default()
    }
}

/// Every `step`-th place from `first`, and the last.
fn kept(first: usize, end: usize, step: usize) -> impl Iterator<Item = usize> {
    (first..end).filter(move |k| (k - first).is_multiple_of(step) || k + 1 == end)
}

/// The sum of a knot's absolute coefficients.
pub(crate) fn norm(knot: &Knot) -> f64 {
    knot.coefficients.values().iter().map(|w| w.abs()).sum()
}
