//! The built-in data.

use menet_io::builtin::BuiltinSet;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::array;
use crate::errors::Failure;

/// Samples, labels, names of the variables, and image shape of a set.
type SampleSet<'py> = (Bound<'py, PyArray2<f64>>, Vec<String>, Option<Vec<String>>, Option<(usize, usize)>);

/// A built-in set.
#[pyfunction]
pub(crate) fn builtin_set<'py>(py: Python<'py>, name: &str) -> PyResult<SampleSet<'py>> {
    let set =
        BuiltinSet::find(name).ok_or_else(|| PyValueError::new_err(format!("no built-in set \"{name}\"")))?;
    let table = set.load().map_err(Failure::from)?;
    let values = array(py, table.matrix().map_err(Failure::from)?);
    Ok((values, table.labels.unwrap_or_default(), table.feature_names, table.image_shape))
}
