//! The values of charts, for matplotlib to draw.

use menet_lab::charts::confusion::Confusion;
use menet_lab::charts::heatmap::Heatmap;
use menet_lab::charts::permutation::bins;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The chart of a matrix of counts as JSON: rows are true classes, columns are given classes.
#[pyfunction]
pub(crate) fn confusion_chart(counts: Vec<Vec<f64>>, classes: Vec<String>) -> PyResult<String> {
    let chart = Confusion::new("", &classes, &counts);
    serde_json::to_string(&chart).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Variables and samples of a heat map in their order, and its values, one list per variable. Samples are rows of `x`.
#[pyfunction]
pub(crate) fn heatmap_chart(
    x: PyReadonlyArray2<'_, f64>,
    codes: Vec<usize>,
    classes: usize,
) -> (Vec<usize>, Vec<usize>, Vec<Vec<f64>>) {
    let columns: Vec<Vec<f64>> = x.as_array().columns().into_iter().map(|column| column.to_vec()).collect();
    let Heatmap { variables, samples, values, .. } = Heatmap::new(&columns, &codes, classes);
    (variables, samples, values)
}

/// Left ends and heights of the columns of some values, which also reach some more places; the last has the right end of all.
#[pyfunction]
pub(crate) fn histogram(values: Vec<f64>, more: Vec<f64>) -> Vec<(f64, f64)> {
    bins(&values, &more)
}
