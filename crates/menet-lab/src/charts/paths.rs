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
    Some(Lines { title, note: note.to_owned(), ..paths(men, path, path.knots().len()) })
}

/// A path at some of its knots.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    pub(crate) knots: Vec<&'a Knot>,
    /// The ℓ1 norms of the coefficients.
    pub(crate) norms: Vec<f64>,
    /// The variables in order of entry: from which knot on, and the coefficients there. A variable that never moves has none.
    pub(crate) lines: Vec<(usize, usize, Vec<f64>)>,
}

/// The column at some knots, which are counted from 0.
pub(crate) fn column(path: &Path, knots: impl Iterator<Item = usize>) -> Column<'_> {
    let knots: Vec<&Knot> = knots.map(|k| &path.knots()[k]).collect();
    let line = |j: usize| {
        let moved = knots.iter().position(|knot| knot.coefficients.get(j) != 0.0).unwrap_or(usize::MAX);
        let from = moved.saturating_sub(1).min(knots.len());
        (j, from, knots[from..].iter().map(|knot| knot.coefficients.get(j)).collect())
    };
    let lines = path.order_of_entry().into_iter().map(line).collect();
    let norms = knots.iter().map(|knot| knot.coefficients.values().iter().map(|w| w.abs()).sum()).collect();
    Column { knots, norms, lines }
}

/// The coefficients at the first knots of a path, those of the variables that entered first on top.
pub(crate) fn paths(men: &Men, path: &Path, knots: usize) -> Lines {
    let Column { norms, lines, .. } = column(path, 0..knots);
    let line = |i: usize, (_, from, coefficients): &(usize, usize, Vec<f64>), width: f64, step: usize| {
        let last = coefficients.len().saturating_sub(1);
        let kept = |k: &usize| k.is_multiple_of(step) || *k == last;
        let points = (0..coefficients.len()).filter(kept).map(|k| (norms[from + k], coefficients[k]));
        Series::line(i, width, points.collect())
    };
    // Hundreds of thin lines need not turn at every knot, which would make the file large.
    let coarse = knots.div_ceil(150);
    let grey = |line| Series { colour: "#c4c4c4".to_owned(), dash: "", ..line };
    let others = lines.iter().skip(LOOKS).map(|of| grey(line(0, of, 0.8, coarse)));
    let others: Vec<Series> = others.filter(|line| !line.points.is_empty()).collect();
    let name = |i: usize, j: usize| format!("{}. {}", i + 1, shown(&variable_of(men, j), 22));
    let first = lines.iter().take(LOOKS).enumerate().map(|(i, of)| line(i, of, 2.2, 1).named(name(i, of.0)));
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
