//! What the Gram matrix costs, whole or column by column, from the size alone.
//!
//! The constants are processor nanoseconds; `plan/cost.rs` says how they were measured.

use super::GramForm;

/// Up to this many variables a p×p Gram matrix is formed, if that is cheaper than its columns on demand.
pub const GRAM_LIMIT: usize = 6_000;

/// Per np² and per p²: the products of the Gram matrix, and the room for it.
const GRAM_PRODUCTS: f64 = 0.028;
const GRAM_ROOM: f64 = 5.0;

/// Per product of two numbers in LARS without a whole Gram matrix.
const PRODUCT: f64 = 0.25;

/// Assumed number of axes, and largest assumed number of variables per axis, if neither is known.
const AXES: usize = 8;
const NONZEROS: usize = 200;

impl GramForm {
    /// The cheaper form for the paths of a few responses on n×p data. As many variables are assumed as there are samples, at
    /// most 200.
    pub(crate) fn cheapest(n: usize, p: usize) -> Self {
        let columns = AXES as f64 * path_cost(n, p as f64, NONZEROS);
        if columns < whole_cost(n as f64, p as f64) { GramForm::Columns } else { Self::reused(p) }
    }

    /// For a Gram matrix that many paths are computed from: whole, if it is not too large.
    pub(crate) fn reused(p: usize) -> Self {
        if p > GRAM_LIMIT { GramForm::Columns } else { GramForm::Full }
    }
}

/// The whole Gram matrix.
pub(crate) fn whole_cost(n: f64, p: f64) -> f64 {
    p * p * (GRAM_PRODUCTS * n + GRAM_ROOM)
}

/// One path of at most `most` variables without the Gram matrix. At every stretch of 24 knots there are products of all variables at
/// two knots, of the support and the watched ones with each other, and of the support at all knots.
pub(crate) fn path_cost(n: usize, p: f64, most: usize) -> f64 {
    let nonzeros = n.min(most) as f64;
    let stretches = nonzeros / 24.0 + 1.0;
    PRODUCT * n as f64 * stretches * (2.0 * p + 124.0 * nonzeros + 3_072.0)
}
