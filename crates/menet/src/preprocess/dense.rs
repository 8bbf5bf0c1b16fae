//! Centring dense samples.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::{Centred, Columns, Rows, Weighing, is_constant, is_too_small};
use crate::error::Result;
use crate::numerics::finite::Real;
use crate::numerics::linalg::{
    ParColumnTiles, TILE, column, dot, product, slice_mut, thin_svd, transpose_into, vectorized,
};

/// Entries of a column that are looked at side by side.
const LANES: usize = 8;

/// Rows that are converted at a time.
const STRIP: usize = 64;

/// Centres `raw`, and if `pca_rank` is given replaces it by its best approximation of that rank.
pub(super) fn centred<'a, T: Samples>(
    raw: MatRef<'a, T>,
    pca_rank: Option<usize>,
    weighing: Option<Weighing<'_>>,
) -> Result<Centred<'a>> {
    let (n, p) = raw.shape();
    let mut x = Mat::zeros(n, p);
    let found: Vec<Vec<ColumnSummary>> = x
        .as_mut()
        .par_column_tiles()
        .enumerate()
        .map(|(t, mut tile)| {
            let some = raw.subcols(t * TILE, tile.ncols());
            T::copy_into(tile.as_mut(), some.transpose());
            tile.col_iter_mut().map(|column| centre(slice_mut(column), weighing)).collect()
        })
        .collect();
    let found = found.concat();
    let mean = found.iter().map(|column| column.mean).collect();
    let rows = match (pca_rank, T::rows(raw)) {
        (Some(rank), _) => {
            x = reconstruct(&x, rank, weighing)?;
            Rows::Copied(transposed(x.as_ref()))
        }
        (None, Some(rows)) if found.iter().all(|column| !column.rounding) => rows,
        (None, _) => {
            let mut samples = transposed(raw);
            // A column that is rounding takes no part in distances either.
            for j in (0..p).filter(|&j| found[j].rounding) {
                samples.row_mut(j).fill(0.0);
            }
            Rows::Copied(samples)
        }
    };
    let norms = (0..p).map(|j| length(column(&x, j), weighing)).collect();
    let too_small = (0..p).filter(|&j| found[j].too_small).collect();
    Ok(Centred { rows, columns: Columns::Dense(x), mean, norms, too_small })
}

/// Samples in double or single precision.
pub(super) trait Samples: Real {
    /// The samples as they lie in memory, if each is in one piece.
    fn rows(x: MatRef<'_, Self>) -> Option<Rows<'_>>;

    /// Writes the transpose of `x`.
    fn copy_into(out: MatMut<'_, f64>, x: MatRef<'_, Self>);
}

impl Samples for f64 {
    fn rows(x: MatRef<'_, f64>) -> Option<Rows<'_>> {
        x.try_as_row_major().map(Rows::Given)
    }

    fn copy_into(out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
        transpose_into(out, x);
    }
}

impl Samples for f32 {
    fn rows(x: MatRef<'_, f32>) -> Option<Rows<'_>> {
        x.try_as_row_major().map(Rows::Single)
    }

    fn copy_into(mut out: MatMut<'_, f64>, x: MatRef<'_, f32>) {
        // In strips that the cache holds: a transposition reads or writes across.
        for start in (0..out.nrows()).step_by(STRIP) {
            for i in start..out.nrows().min(start + STRIP) {
                for j in 0..out.ncols() {
                    out[(i, j)] = f64::from(x[(j, i)]);
                }
            }
        }
    }
}

fn transposed<T: Samples>(x: MatRef<'_, T>) -> Mat<f64> {
    let mut out = Mat::zeros(x.ncols(), x.nrows());
    T::copy_into(out.as_mut(), x);
    out
}

/// What was found of a column.
#[derive(Debug, Clone, Copy)]
struct ColumnSummary {
    mean: f64,
    /// Whether it is constant but for rounding, and not altogether.
    rounding: bool,
    /// Whether it counts as constant for nothing but its size.
    too_small: bool,
}

/// Takes its mean off a column; all is zero then if it is constant.
fn centre(column: &mut [f64], weighing: Option<Weighing<'_>>) -> ColumnSummary {
    let (low, high) = extent(column);
    let total = weighing.map_or(column.len() as f64, |weighing| weighing.mean.iter().sum());
    let sum = |less: f64| match weighing {
        None => sum_less(column, less),
        Some(weighing) => column.iter().zip(weighing.mean).map(|(x, weight)| weight * (x - less)).sum(),
    };
    let rough = sum(0.0) / total;
    // The mean of what is left removes the rounding of the first pass.
    let mean = (rough + sum(rough) / total).clamp(low, high);
    let original = length(column, weighing);
    column.iter_mut().for_each(|x| *x -= mean);
    let centred = length(column, weighing);
    let constant = is_constant(low, high, centred, original);
    if constant {
        column.fill(0.0);
    }
    ColumnSummary { mean, rounding: constant && low < high, too_small: is_too_small(low, high, centred) }
}

/// The length of a column, every square counted by the weight of its sample.
fn length(column: &[f64], weighing: Option<Weighing<'_>>) -> f64 {
    match weighing {
        None => dot(column, column).sqrt(),
        Some(weighing) => {
            column.iter().zip(weighing.norm).map(|(x, weight)| weight * x * x).sum::<f64>().sqrt()
        }
    }
}

/// The smallest and the largest entry.
fn extent(x: &[f64]) -> (f64, f64) {
    vectorized(
        #[inline(always)]
        || {
            let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
            let (lanes, tail) = x.as_chunks::<LANES>();
            for x in lanes {
                for l in 0..LANES {
                    low[l] = if x[l] < low[l] { x[l] } else { low[l] };
                    high[l] = if x[l] > high[l] { x[l] } else { high[l] };
                }
            }
            let smallest = low.iter().chain(tail).copied().fold(f64::INFINITY, f64::min);
            (smallest, high.iter().chain(tail).copied().fold(f64::NEG_INFINITY, f64::max))
        },
    )
}

/// `Σ (xᵢ − less)`, in one fixed order.
fn sum_less(x: &[f64], less: f64) -> f64 {
    vectorized(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (lanes, tail) = x.as_chunks::<LANES>();
            for x in lanes {
                for l in 0..LANES {
                    sums[l] += x[l] - less;
                }
            }
            sums.iter().sum::<f64>() + tail.iter().map(|x| x - less).sum::<f64>()
        },
    )
}

/// The best approximation of `x` of the given rank: projected on its principal axes and mapped back.
fn reconstruct(x: &Mat<f64>, rank: usize, weighing: Option<Weighing<'_>>) -> Result<Mat<f64>> {
    let (scores, axes) = match weighing {
        None => {
            let svd = thin_svd(x.as_ref())?;
            let r = rank.min(svd.s.len());
            let scores = Mat::from_fn(x.nrows(), r, |i, k| svd.u[(i, k)] * svd.s[k]);
            (scores, svd.v.subcols(0, r).to_owned())
        }
        Some(Weighing { norm, .. }) => {
            let svd =
                thin_svd(Mat::from_fn(x.nrows(), x.ncols(), |i, j| norm[i].sqrt() * x[(i, j)]).as_ref())?;
            let axes = svd.v.subcols(0, rank.min(svd.s.len())).to_owned();
            (product(x.as_ref(), axes.as_ref()), axes)
        }
    };
    let mut out = product(scores.as_ref(), axes.transpose());
    for j in (0..x.ncols()).filter(|&j| column(x, j).iter().all(|&x| x == 0.0)) {
        out.col_mut(j).fill(0.0);
    }
    Ok(out)
}
