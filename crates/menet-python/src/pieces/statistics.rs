//! Means, norms, class centres and the target.

use menet::pieces::{ClassSums, Moments, Outline, Target};
use menet::plan::{DataShape, Plan};
use menet::targets::AxisCount;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::{Piece, View, in_precision, numbers, params};
use crate::arrays::{array, matrix, vector};
use crate::errors::Failure;
use crate::run::run;
use crate::settings::Settings;

/// Refuses parameters that cannot be used for samples in pieces of this size.
#[pyfunction]
pub(crate) fn check_pieces(
    settings: Settings,
    samples: usize,
    variables: usize,
    classes: usize,
) -> PyResult<()> {
    let shape = DataShape { samples, variables, classes, nonzeros: None };
    Plan::of_pieces(shape, &params(settings)?).map_err(Failure::from)?;
    Ok(())
}

/// Lows, highs, sums, sums of squares; row, column and value of the first that is not finite.
type OutlineArrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<(usize, usize, f64)>,
);

/// A first look at the rows of a piece.
#[pyfunction]
pub(crate) fn outline<'py>(py: Python<'py>, x: Piece<'_>, threads: usize) -> PyResult<OutlineArrays<'py>> {
    let x = x.view()?;
    let found = run(py, threads, |_| Ok(in_precision!(x, x => menet::pieces::outline(x))))?;
    let list = |values: Vec<f64>| PyArray1::from_vec(py, values);
    Ok((list(found.low), list(found.high), list(found.sum), list(found.squares), found.bad))
}

/// Sums of every class (c×p), and sums of squares.
type ClassSumArrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// A second look, about a point.
#[pyfunction]
pub(crate) fn class_sums<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    count: usize,
    about: PyReadonlyArray1<'_, f64>,
    threads: usize,
) -> PyResult<ClassSumArrays<'py>> {
    let (x, codes, about) = (x.view()?, numbers(&codes)?, vector(&about)?);
    let found =
        run(py, threads, |_| Ok(in_precision!(x, x => menet::pieces::class_sums(x, &codes, count, about)?)))?;
    Ok((array(py, found.sums.as_ref()), PyArray1::from_vec(py, found.squares)))
}

/// Mean, norms, centres (c×p), the variables that are constant but for rounding, and those that are too small to be squared.
type MomentArrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Vec<usize>,
);

/// The moments of all samples, from sums over both looks.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the sums of two looks")]
pub(crate) fn moments<'py>(
    py: Python<'py>,
    counts: Vec<usize>,
    low: Vec<f64>,
    high: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
    about: Vec<f64>,
    class_sums: PyReadonlyArray2<'_, f64>,
    squares_about: Vec<f64>,
) -> PyResult<MomentArrays<'py>> {
    let first = Outline { low, high, sum, squares, bad: None };
    let second = ClassSums { sums: matrix(&class_sums)?.to_owned(), squares: squares_about };
    let found = Moments::new(counts, &first, &second, &about).map_err(Failure::from)?;
    Ok((
        PyArray1::from_vec(py, found.mean),
        PyArray1::from_vec(py, found.norms),
        array(py, found.centres.as_ref()),
        PyArray1::from_iter(py, found.rounding.into_iter().map(|j| j as i64)),
        found.too_small,
    ))
}

/// The target of every class, c×d; none where the rank of the samples must be given.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the moments")]
pub(crate) fn target<'py>(
    py: Python<'py>,
    settings: Settings,
    counts: Vec<usize>,
    mean: PyReadonlyArray1<'_, f64>,
    norms: PyReadonlyArray1<'_, f64>,
    centres: PyReadonlyArray2<'_, f64>,
    scatter: Option<PyReadonlyArray2<'_, f64>>,
    rank: Option<usize>,
    threads: usize,
) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let params = params(settings)?;
    let (mean, norms) = (vector(&mean)?.to_vec(), vector(&norms)?.to_vec());
    let moments = Moments::known(counts, mean, norms, matrix(&centres)?.to_owned()).map_err(Failure::from)?;
    let scatter = scatter.as_ref().map(matrix).transpose()?;
    let axes = params.components.map_or(AxisCount::All, AxisCount::Exactly);
    let found = run(py, threads, |_| {
        Ok(moments.target(params.target.kind, params.target.shrinkage, axes, scatter, rank)?)
    })?;
    Ok(match found {
        Target::Placed(target) => Some(array(py, target.as_ref())),
        Target::RankUnclear => None,
    })
}
