//! The methods beside MEN, and what every estimator needs: projection and nearest neighbour.

use menet::rules::{Metric, nearest_neighbors};
use menet::sparse::SparseVector;
use menet::{Named, Projection, Real};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Samples, View, array, matrix, vector};
use crate::errors::Failure;
use crate::run::run;
use crate::settings::{Settings, method};

/// Mean (p), axes (d×p), and what did not settle.
type Fitted<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Option<String>);

/// Fits the method called `name`; `codes` are positions in `classes`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an estimator and its data")]
pub(crate) fn fit_rival<'py>(
    py: Python<'py>,
    name: &str,
    settings: Settings,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    classes: Vec<String>,
    components: Option<usize>,
    threads: usize,
) -> PyResult<Fitted<'py>> {
    let method = method(name, settings)?;
    let (x, codes) = (x.view()?, vector(&codes)?);
    let reduced = run(py, threads, |monitor| {
        let data = x.dataset(codes, classes)?;
        Ok(method.reducer().fit(&data, components, monitor)?)
    })?;
    let projection = &reduced.projection;
    let axes = projection.to_dense();
    Ok((PyArray1::from_slice(py, projection.mean()), array(py, axes.transpose()), reduced.unsettled))
}

/// `(x − mean) axesᵀ` for axes in rows, in single precision if asked for.
#[pyfunction]
pub(crate) fn project<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    mean: PyReadonlyArray1<'_, f64>,
    axes: PyReadonlyArray2<'_, f64>,
    threads: usize,
    single: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, mean, axes) = (x.view()?, vector(&mean)?, matrix(&axes)?);
    let axes = axes.row_iter().map(|row| SparseVector::from_pairs(row.iter().copied().enumerate().collect()));
    let projection = Projection::new(mean.to_vec(), axes.collect()).map_err(Failure::from)?;
    if single {
        Ok(projected::<f32>(py, x, &projection, threads)?.into_any())
    } else {
        Ok(projected::<f64>(py, x, &projection, threads)?.into_any())
    }
}

/// Into an array of NumPy's own, whose memory comes in large pages: new small ones would cost a tenth of the time.
fn projected<'py, Z: Real + Element>(
    py: Python<'py>,
    x: View<'_>,
    projection: &Projection,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<Z>>> {
    let z = PyArray2::zeros(py, [x.samples(), projection.components()], false);
    let mut room = z.readwrite();
    let values = room.as_slice_mut()?;
    run(py, threads, |_| Ok(x.project(projection, values)?))?;
    Ok(z)
}

/// The class of the row of `gallery` that is nearest to each row of `samples`.
#[pyfunction]
pub(crate) fn nearest<'py>(
    py: Python<'py>,
    gallery: PyReadonlyArray2<'_, f64>,
    codes: PyReadonlyArray1<'_, i64>,
    samples: PyReadonlyArray2<'_, f64>,
    metric: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (gallery, codes, samples) = (matrix(&gallery)?, vector(&codes)?, matrix(&samples)?);
    let metric = Metric::from_name(metric).map_err(Failure::from)?;
    let found = run(py, threads, |_| {
        let classes: Vec<usize> = codes.iter().map(|&code| code as usize).collect();
        Ok(nearest_neighbors(gallery, &classes, samples, 1, metric)?)
    })?;
    Ok(PyArray1::from_iter(py, found.iter().map(|found| found.class as i64)))
}
