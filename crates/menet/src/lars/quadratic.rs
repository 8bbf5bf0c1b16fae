//! Theorem 1 of the paper: LARS for a general quadratic.

use faer::{Mat, MatRef};

use super::{LarsOptions, Path, lars_path};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// The path of `min βᵀAβ + βᵀB + t‖β‖₁` over all t ≥ 0, for a square `A` that need not be symmetric.
///
/// Only the symmetric part of `A` matters. The problem is that of [`lars_path`] with `G = (A + Aᵀ)/2` and
/// `b = −B/2`, so a level λ of the path is `t = 2λ`. `G` must be positive semidefinite; where it is singular
/// and `B` leaves its range, the path ends at the level below which there is no minimum, and says so in
/// [`Path::ended`](super::Path::ended).
///
/// # Errors
/// When `A` is not square or sizes disagree, and as [`lars_path`].
pub fn quadratic_path(
    a: MatRef<'_, f64>,
    b: &[f64],
    options: &LarsOptions,
    monitor: &dyn Monitor,
) -> Result<Path> {
    let p = a.ncols();
    if a.nrows() != p {
        let why = format!("`A` has {p} columns and must be square");
        return Err(Error::Size { what: "each column of `A`", given: a.nrows(), expected: p, why });
    }
    let gram = Mat::from_fn(p, p, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
    let b: Vec<f64> = b.iter().map(|x| -0.5 * x).collect();
    lars_path(&gram, &b, options, monitor)
}
