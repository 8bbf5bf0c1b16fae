//! A fit of samples in pieces, as Dask's workers call it: one function per step of [`menet::pieces`].
//!
//! | room | what |
//! |---|---|
//! | `statistics` | means, norms, class centres; the target |
//! | `products` | products of variables, and images under A |
//! | `alignment` | L from neighbours |
//! | `solved` | paths, axes and the rule |

mod alignment;
mod products;
mod solved;
mod statistics;

pub(crate) use alignment::{align, needs_samples, patches};
pub(crate) use products::{basis, gram, images, reconstructed, spread, stacked, triangle, triangle_rank};
pub(crate) use solved::{GivenSums, ModelWithoutRule, fingerprints, solve};
pub(crate) use statistics::{check_pieces, class_sums, moments, outline, target};

use faer::{Mat, MatRef};
use menet::{MenParams, Method};
use numpy::ndarray::{Array2, ShapeBuilder};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{matrix, vector};
use crate::settings::{Settings, method};

/// The rows or columns of a piece, as NumPy has them: contiguous, by rows or by columns.
#[derive(FromPyObject)]
pub(crate) enum Piece<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// [`Piece`] as the core sees it.
#[derive(Clone, Copy)]
enum View<'a> {
    Double(MatRef<'a, f64>),
    Single(MatRef<'a, f32>),
}

impl Piece<'_> {
    fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Piece::Double(x) => View::Double(matrix(x)?),
            Piece::Single(x) => View::Single(matrix(x)?),
        })
    }
}

/// Does the same in either precision.
macro_rules! in_precision {
    ($view:expr, $x:ident => $work:expr) => {
        match $view {
            View::Double($x) => $work,
            View::Single($x) => $work,
        }
    };
}
use in_precision;

/// The parameters of MEN that `settings` spell out.
fn params(settings: Settings) -> PyResult<MenParams> {
    match method("men", settings)? {
        Method::Men(params) => Ok(params),
        _ => Err(PyTypeError::new_err("the parameters of another method")),
    }
}

/// Whole numbers that are not negative.
fn numbers(array: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    // A negative one is out of range, which is told.
    Ok(vector(array)?.iter().map(|&number| usize::try_from(number).unwrap_or(usize::MAX)).collect())
}

/// A matrix as a NumPy array, by columns, as it lies.
fn by_columns<'py>(py: Python<'py>, x: MatRef<'_, f64>) -> Bound<'py, PyArray2<f64>> {
    let mut out = Array2::zeros(x.shape().f());
    for (mut column, values) in out.columns_mut().into_iter().zip(x.col_iter()) {
        column.iter_mut().zip(values.iter()).for_each(|(out, value)| *out = *value);
    }
    PyArray2::from_owned_array(py, out)
}

/// The matrix of which the lower half is given.
fn mirrored(lower: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(lower.nrows(), lower.ncols(), |i, j| if i >= j { lower[(i, j)] } else { lower[(j, i)] })
}
