//! The exact lasso and elastic-net path, with a certificate at every knot.
//!
//! # The problem
//!
//! For a Gram matrix `G₀` (p×p, positive semidefinite), a vector `b`, a ridge `λ2 ≥ 0` and penalty factors
//! `v`, the path is the minimiser, for every level λ ≥ 0, of
//!
//! ```text
//! ½ wᵀ(G₀ + λ2 I) w − bᵀw + λ Σⱼ vⱼ |wⱼ|
//! ```
//!
//! With `G₀ = XᵀX` and `b = Xᵀy` that is `½‖y − Xw‖² + ½λ2‖w‖² + λ‖w‖₁`, or in the paper's units, where
//! no term has a factor ½, the penalty is `λ1 = 2λ`. Nothing is centred, scaled or divided by n, and the
//! coefficients are the naive ones. `lambda` and `level` mean this λ everywhere.
//!
//! # The method
//!
//! With `G = G₀ + λ2 I` and correlations `c = b − Gw`, `w` is optimal at λ when `cⱼ = λ vⱼ sign(wⱼ)` where
//! `wⱼ ≠ 0` and `|cⱼ| ≤ λ vⱼ` elsewhere. As λ falls, `w` moves on straight lines between *knots*. At a knot a
//! variable arrives at the level, or one leaves at zero, or, on discrete data, several do both at once; the
//! new direction is then the answer of a small non-negative least-squares problem, which decides exactly
//! which of the tied variables move (`walk.rs`).
//!
//! A variable with `vⱼ = 0` is *free*: it is never penalised, is part of every model and does not count towards the
//! number of nonzeros at which a path stops. Free variables are active from the start (`free.rs`).
//!
//! Plain LARS reads all p variables at every step. Here the path runs some steps ahead on a working set. Then all variables
//! are checked at all those knots (`solve.rs`), most of them by a bound between two knots at which they are computed
//! (`check.rs`). If an outsider should have entered, the path goes back, admits it, and goes on.
//! The same check is the certificate, computed from `G`, `b` and the reported coefficients.
//!
//! ```
//! use faer::mat;
//! use menet::lars::{LarsOptions, lars_path};
//!
//! let x = mat![[1.0, 0.5], [0.0, 1.0], [1.0, 0.0f64]];
//! let y = mat![[2.0], [1.0], [1.0]];
//! let (gram, b) = (x.transpose() * &x, x.transpose() * &y);
//! let path = lars_path(&gram, &[b[(0, 0)], b[(1, 0)]], &LarsOptions::default(), &())?;
//! assert_eq!(path.knots()[0].level, 3.0); // the largest correlation
//! assert!(path.certificate().kkt < 1e-12);
//! assert_eq!(path.at_nonzeros(1)?.coefficients.indices(), [0]);
//! # Ok::<(), menet::Error>(())
//! ```

mod certificate;
mod check;
pub(crate) mod cholesky;
mod free;
mod path;
mod problem;
mod quadratic;
mod solve;
mod state;
mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

pub(crate) use certificate::EXACT;
pub use certificate::{Certificate, certify, violation};
pub(crate) use certificate::{certificate_at, correlations};
pub use path::{EndReason, Knot, Path, PathPoint, PenaltyReport};
pub use problem::{LarsMethod, LarsOptions};
pub(crate) use problem::{Problem, SharedProblem, check_penalty_factors};
pub use quadratic::quadratic_path;
pub(crate) use solve::solve as path_of;

use crate::error::{Error, Result};
use crate::gram::{FactorGram, Gram, GramForm};
use crate::monitor::{Monitor, Stage};
use crate::numerics::finite::{check_finite, usable};
use crate::numerics::linalg::{inner_each, symmetric_product_into};

/// The path for one response.
///
/// # Errors
/// When an option is out of range, sizes disagree, a value is not finite, or `monitor` asks to stop.
pub fn lars_path(gram: &dyn Gram, b: &[f64], options: &LarsOptions, monitor: &dyn Monitor) -> Result<Path> {
    let shared = SharedProblem::new(gram, options)?;
    solve::solve(&Problem::new(&shared, &shared.v, b)?, monitor)
}

/// The paths of many responses that share one Gram matrix: one per column of `b` (p×d), in its order.
///
/// Responses are spread over rayon's threads; each is computed exactly as by [`lars_path`], so the bits do
/// not depend on the number of threads.
///
/// # Errors
/// As [`lars_path`].
pub fn lars_paths(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    options: &LarsOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    if b.ncols() == 0 {
        return Err(Error::Empty { rows: b.nrows(), columns: 0 });
    }
    spread(&SharedProblem::new(gram, options)?, b, None, monitor)
}

/// As [`lars_paths`], with penalty factors for every response: column k of `factors` (p×d) belongs to column k of `b`.
///
/// Each path has the bits that [`lars_path`] gives with these factors as its
/// [`penalty_factors`](LarsOptions::penalty_factors), which must be none here.
///
/// # Errors
/// As [`lars_path`], and when `options` have penalty factors of their own.
pub fn lars_paths_each(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    factors: MatRef<'_, f64>,
    options: &LarsOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    if b.ncols() == 0 {
        return Err(Error::Empty { rows: b.nrows(), columns: 0 });
    }
    check_each(factors, (gram.dim(), b.ncols()), options)?;
    spread(&SharedProblem::new(gram, options)?, b, Some(factors), monitor)
}

/// Refuses factors that are not one column of `shape.0` factors for each of `shape.1` responses.
fn check_each(factors: MatRef<'_, f64>, shape: (usize, usize), options: &LarsOptions) -> Result<()> {
    let (p, d) = shape;
    if options.penalty_factors.is_some() {
        let allowed = "left out where every response has factors of its own";
        return Err(Error::parameter("penalty_factors", "given in the options, too", allowed));
    }
    if factors.ncols() != d {
        let why = format!("there are {d} responses, and each has a column of factors");
        return Err(Error::Size { what: "a row of `factors`", given: factors.ncols(), expected: d, why });
    }
    for k in 0..d {
        options.check_factors(&entries(factors, k), p)?;
    }
    Ok(())
}

/// Column `k`.
fn entries(matrix: MatRef<'_, f64>, k: usize) -> Vec<f64> {
    matrix.col(k).iter().copied().collect()
}

/// The paths of the columns of `b`, spread over rayon's threads; each with its own column of `factors`, if there are any.
fn spread(
    shared: &SharedProblem<'_>,
    b: MatRef<'_, f64>,
    factors: Option<MatRef<'_, f64>>,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    let (done, total) = (AtomicUsize::new(0), b.ncols());
    (0..b.ncols())
        .into_par_iter()
        .with_max_len(1)
        .map(|k| {
            let (b, own) = (entries(b, k), factors.map(|factors| entries(factors, k)));
            let v = own.as_ref().unwrap_or(&shared.v);
            let path = solve::solve(&Problem::new(shared, v, &b)?, monitor)?;
            monitor.progress(Stage::Lars, done.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(path)
        })
        .collect()
}

/// The paths of the regressions of every column of `y` (n×d) on the columns of `x` (n×p): `G = XᵀX` and `b = XᵀY`.
///
/// Nothing is centred or scaled. Up to [`GRAM_LIMIT`](crate::gram::GRAM_LIMIT) variables the Gram matrix is formed if that is cheaper; otherwise its
/// entries are computed from `x`, which is copied only if its columns are not contiguous.
///
/// # Errors
/// As [`lars_path`].
pub fn regression_paths(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    options: &LarsOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Path>> {
    of_regression(x, y, |gram, b, usable| {
        let shared =
            if usable { SharedProblem::checked(gram, options) } else { SharedProblem::new(gram, options) };
        spread(&shared?, b, None, monitor)
    })
}

/// Solves with `G = XᵀX` and `b = XᵀY`. The last argument of `solve` says whether `G` needs no check.
pub(crate) fn of_regression<T>(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    solve: impl FnOnce(&dyn Gram, MatRef<'_, f64>, bool) -> Result<T>,
) -> Result<T> {
    let (n, p) = x.shape();
    if n == 0 || p == 0 {
        return Err(Error::Empty { rows: n, columns: p });
    }
    if y.nrows() != n {
        let why = format!("there are {n} rows of {p} columns");
        return Err(Error::Size { what: "`y`", given: y.nrows(), expected: n, why });
    }
    check_finite("the data", x)?;
    check_finite("`y`", y)?;
    if y.ncols() == 0 {
        return Err(Error::Empty { rows: p, columns: 0 });
    }
    let b = right_sides(x, y);
    if GramForm::cheapest(n, p) == GramForm::Full {
        // Room that all threads make: new pages, and old ones that have to be zeroed, cost as much as an axis.
        let mut gram = Vec::new();
        rayon::iter::repeat_n(0.0, p * p).collect_into_vec(&mut gram);
        symmetric_product_into(MatMut::from_column_major_slice_mut(&mut gram, p, p), x, x);
        let gram = MatRef::from_column_major_slice(&gram, p, p);
        // No entry of XᵀX is larger than the largest on its diagonal: the others need not be looked through.
        solve(&gram, b.as_ref(), (0..p).all(|j| usable(gram[(j, j)])))
    } else {
        solve(&FactorGram::borrowed(x), b.as_ref(), false)
    }
}

/// `XᵀY`, entry by entry: a column does not depend on those beside it.
pub(crate) fn right_sides(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Mat<f64> {
    /// Columns of `x` that stay in the cache while all of `y` goes by.
    const COLUMNS: usize = 4;
    let (p, d) = (x.ncols(), y.ncols());
    let responses: Vec<Vec<f64>> = y.col_iter().map(|y| y.iter().copied().collect()).collect();
    let (fours, rest) = responses.as_chunks::<4>();
    let parts: Vec<Vec<f64>> = (0..p.div_ceil(COLUMNS))
        .into_par_iter()
        .map(|part| {
            let columns = COLUMNS * part..(COLUMNS * (part + 1)).min(p);
            let columns: Vec<Vec<f64>> = columns.map(|j| x.col(j).iter().copied().collect()).collect();
            let mut products = vec![0.0; columns.len() * d];
            for (k, y) in fours.iter().enumerate() {
                for (x, out) in columns.iter().zip(products.chunks_exact_mut(d)) {
                    out[4 * k..4 * (k + 1)].copy_from_slice(&inner_each(y.each_ref().map(Vec::as_slice), x));
                }
            }
            for (k, y) in (d - rest.len()..).zip(rest) {
                for (x, out) in columns.iter().zip(products.chunks_exact_mut(d)) {
                    [out[k]] = inner_each([y.as_slice()], x);
                }
            }
            products
        })
        .collect();
    Mat::from_fn(p, d, |j, k| parts[j / COLUMNS][j % COLUMNS * d + k])
}
