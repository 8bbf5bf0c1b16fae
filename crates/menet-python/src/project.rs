//! Projection of samples into NumPy arrays.

use menet::sparse::SparseVector;
use menet::{Men, Projection, Real};
use numpy::{Element, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Samples, View, vector};
use crate::errors::Failure;
use crate::run::run;

/// The projected samples as an array, in single precision if `single`.
pub(crate) fn project_with<'py>(
    py: Python<'py>,
    projection: &Projection,
    x: View<'_>,
    threads: usize,
    single: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if single {
        Ok(projected::<f32>(py, x, projection, threads)?.into_any())
    } else {
        Ok(projected::<f64>(py, x, projection, threads)?.into_any())
    }
}

/// Projects samples by a model, which may prepare them first.
pub(crate) fn project_by<'py>(
    py: Python<'py>,
    men: &Men,
    x: View<'_>,
    batches: Option<&[String]>,
    threads: usize,
    single: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (samples, axes) = (x.samples(), men.projection().components());
    if single {
        let into = |z: &mut [f32]| x.project_by(men, batches, z);
        Ok(filled(py, samples, axes, threads, into)?.into_any())
    } else {
        let into = |z: &mut [f64]| x.project_by(men, batches, z);
        Ok(filled(py, samples, axes, threads, into)?.into_any())
    }
}

/// Into an array of NumPy's own, whose memory comes in large pages: new small ones would cost a tenth of the time.
fn projected<'py, Z: Real + Element>(
    py: Python<'py>,
    x: View<'_>,
    projection: &Projection,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<Z>>> {
    filled(py, x.samples(), projection.components(), threads, |z| x.project(projection, z))
}

fn filled<Z: Real + Element>(
    py: Python<'_>,
    samples: usize,
    axes: usize,
    threads: usize,
    project: impl FnOnce(&mut [Z]) -> menet::Result<()> + Send,
) -> PyResult<Bound<'_, PyArray2<Z>>> {
    let z = PyArray2::zeros(py, [samples, axes], false);
    let mut room = z.readwrite();
    let values = room.as_slice_mut()?;
    run(py, threads, |_| Ok(project(values)?))?;
    Ok(z)
}

/// `(x − mean) axisᵀ` for one axis whose nonzeros are `weights` at `variables`, which rise.
#[pyfunction]
pub(crate) fn project<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    variables: PyReadonlyArray1<'_, i64>,
    weights: PyReadonlyArray1<'_, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let variables = vector(&variables)?.iter().map(|&j| j as usize);
    let axis = SparseVector::from_pairs(variables.zip(vector(&weights)?.iter().copied()).collect());
    let projection = Projection::new(vector(&mean)?.to_vec(), vec![axis]).map_err(Failure::from)?;
    project_with(py, &projection, x.view()?, threads, false)
}

/// `(x − mean) W` for several axes, each its variables, which rise, and their weights.
#[pyfunction]
pub(crate) fn project_all<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    axes: Vec<(PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, f64>)>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let axis = |(variables, weights): &(PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, f64>)| {
        let variables = vector(variables)?.iter().map(|&j| j as usize);
        Ok(SparseVector::from_pairs(variables.zip(vector(weights)?.iter().copied()).collect()))
    };
    let axes: Vec<SparseVector> = axes.iter().map(axis).collect::<PyResult<_>>()?;
    let projection = Projection::new(vector(&mean)?.to_vec(), axes).map_err(Failure::from)?;
    project_with(py, &projection, x.view()?, threads, false)
}
