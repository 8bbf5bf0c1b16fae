//! Models for other programs.

use menet_io::export::{self, Precision};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Failure;
use crate::model::Model;

/// The bytes of an ONNX file.
#[pyfunction]
pub(crate) fn to_onnx<'py>(py: Python<'py>, model: &Model, double: bool) -> PyResult<Bound<'py, PyBytes>> {
    let precision = if double { Precision::Double } else { Precision::Single };
    let bytes = export::to_onnx(&model.file, precision).map_err(Failure::from)?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
pub(crate) fn to_json(model: &Model) -> PyResult<String> {
    Ok(export::to_json(&model.file).map_err(Failure::from)?)
}

#[pyfunction]
pub(crate) fn to_sql(model: &Model, table: &str) -> PyResult<String> {
    Ok(export::to_sql(&model.file, table).map_err(Failure::from)?)
}
