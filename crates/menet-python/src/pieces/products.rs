//! Products of variables over pieces, images under A, and triangles.

use menet::operator::{CG_TOLERANCE, Smoother};
use menet::pieces::{self, SolverUnits, WithinProducts};
use menet::sparse::SparseSymmetric;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::{Piece, View, by_columns, in_precision, numbers};
use crate::arrays::{array, matrix, vector};
use crate::run::run;

/// The products of some variables within classes, and those of their squares if asked for.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a piece and its units")]
#[expect(clippy::type_complexity, reason = "two matrices")]
pub(crate) fn spread<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    variables: PyReadonlyArray1<'_, i64>,
    mean: PyReadonlyArray1<'_, f64>,
    centres: PyReadonlyArray2<'_, f64>,
    factor: PyReadonlyArray1<'_, f64>,
    fourths: bool,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray2<f64>>>)> {
    let (x, codes, variables) = (x.view()?, numbers(&codes)?, numbers(&variables)?);
    let (centres, units) =
        (matrix(&centres)?, SolverUnits { mean: vector(&mean)?, factor: vector(&factor)? });
    let found = run(py, threads, |_| {
        Ok(in_precision!(x, x => WithinProducts::of(x, &codes, &variables, centres, units, fourths)?))
    })?;
    let fourths = found.fourths.map(|fourths| by_columns(py, fourths.as_ref()));
    Ok((by_columns(py, found.squares.as_ref()), fourths))
}

/// `A X` for a few columns, and the worst relative residual.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "columns, their units, and L")]
pub(crate) fn images<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    factor: PyReadonlyArray1<'_, f64>,
    starts: PyReadonlyArray1<'_, i64>,
    indices: PyReadonlyArray1<'_, u32>,
    values: PyReadonlyArray1<'_, f64>,
    alpha: f64,
    beta: f64,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
    let (x, units) = (x.view()?, SolverUnits { mean: vector(&mean)?, factor: vector(&factor)? });
    let (starts, indices, values) = (numbers(&starts)?, vector(&indices)?, vector(&values)?);
    let (images, residual) = run(py, threads, |_| {
        let laplacian = SparseSymmetric::from_rows(starts, indices.to_vec(), values.to_vec())?;
        let smoother = Smoother::from_owned(laplacian, alpha, beta, CG_TOLERANCE);
        let images = in_precision!(x, x => pieces::images(x, units, &smoother)?);
        Ok((images, smoother.worst_residual()))
    })?;
    Ok((by_columns(py, images.as_ref()), residual))
}

/// The part of the lower half of `XᵀAX` that the rows of a piece make, for the columns from `first` on that `images` has.
#[pyfunction]
pub(crate) fn gram<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    factor: PyReadonlyArray1<'_, f64>,
    images: PyReadonlyArray2<'_, f64>,
    first: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (x, units) = (x.view()?, SolverUnits { mean: vector(&mean)?, factor: vector(&factor)? });
    let images = matrix(&images)?;
    let gram = run(py, threads, |_| Ok(in_precision!(x, x => pieces::gram(x, units, images, first)?)))?;
    Ok(by_columns(py, gram.as_ref()))
}

/// R of the rows of a piece.
#[pyfunction]
pub(crate) fn triangle<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    factor: PyReadonlyArray1<'_, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (x, units) = (x.view()?, SolverUnits { mean: vector(&mean)?, factor: vector(&factor)? });
    let found = run(py, threads, |_| Ok(in_precision!(x, x => pieces::triangle(x, units))))?;
    Ok(array(py, found.as_ref()))
}

/// R of two triangles.
#[pyfunction]
pub(crate) fn stacked<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (a, b) = (matrix(&a)?, matrix(&b)?);
    let found = run(py, threads, |_| Ok(pieces::stacked(a, b)))?;
    Ok(array(py, found.as_ref()))
}

/// The rank of all samples.
#[pyfunction]
pub(crate) fn triangle_rank(
    py: Python<'_>,
    triangle: PyReadonlyArray2<'_, f64>,
    threads: usize,
) -> PyResult<usize> {
    let triangle = matrix(&triangle)?;
    run(py, threads, |_| Ok(pieces::rank(triangle)?))
}

/// The first principal axes, p×r.
#[pyfunction]
pub(crate) fn basis<'py>(
    py: Python<'py>,
    triangle: PyReadonlyArray2<'_, f64>,
    rank: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let triangle = matrix(&triangle)?;
    let found = run(py, threads, |_| Ok(pieces::basis(triangle, rank)?))?;
    Ok(array(py, found.as_ref()))
}

/// The rows of a piece, centred, projected on principal axes and mapped back.
#[pyfunction]
pub(crate) fn reconstructed<'py>(
    py: Python<'py>,
    x: Piece<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    factor: PyReadonlyArray1<'_, f64>,
    basis: PyReadonlyArray2<'_, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (x, units) = (x.view()?, SolverUnits { mean: vector(&mean)?, factor: vector(&factor)? });
    let basis = matrix(&basis)?;
    let found = run(py, threads, |_| Ok(in_precision!(x, x => pieces::reconstructed(x, units, basis))))?;
    Ok(array(py, found.as_ref()))
}
