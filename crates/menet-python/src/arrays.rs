//! NumPy memory as matrices, and back.

use faer::{Mat, MatRef};
use menet::sparse::SparseVector;
use menet::{Dataset, Result};
use numpy::ndarray::{Array2, ShapeBuilder};
use numpy::{
    Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Samples as NumPy has them. The package sees to it that they are contiguous, by rows or by columns.
#[derive(FromPyObject)]
pub(crate) enum Samples<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// [`Samples`] as the core sees them: double precision where it lies, single precision to be converted.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    Double(MatRef<'a, f64>),
    Single(MatRef<'a, f32>),
}

impl Samples<'_> {
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Samples::Double(x) => View::Double(matrix(x)?),
            Samples::Single(x) => View::Single(matrix(x)?),
        })
    }
}

impl<'a> View<'a> {
    /// The data with the class of every sample as a position in `classes`.
    pub(crate) fn dataset(self, codes: &[i64], classes: Vec<String>) -> Result<Dataset<'a>> {
        let data = match self {
            View::Double(x) => Dataset::new(x, codes)?,
            View::Single(x) => Dataset::from_f32(x, codes)?,
        };
        data.with_class_names(classes)
    }

    /// Calls `work` with the samples in double precision.
    pub(crate) fn with<T>(self, work: impl FnOnce(MatRef<'_, f64>) -> T) -> T {
        match self {
            View::Double(x) => work(x),
            // In the order in which they lie: by rows if NumPy has them so.
            View::Single(x) if x.try_as_row_major().is_some() => work(double(x.transpose()).transpose()),
            View::Single(x) => work(double(x).as_ref()),
        }
    }
}

fn double(x: MatRef<'_, f32>) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(x[(i, j)]))
}

/// A contiguous array as a matrix, without a copy.
pub(crate) fn matrix<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<MatRef<'a, T>> {
    let [rows, columns] = [array.shape()[0], array.shape()[1]];
    let values = array.as_slice().map_err(|_| PyTypeError::new_err("an array that is not contiguous"))?;
    Ok(if array.is_c_contiguous() {
        MatRef::from_row_major_slice(values, rows, columns)
    } else {
        MatRef::from_column_major_slice(values, rows, columns)
    })
}

/// A contiguous vector, without a copy.
pub(crate) fn vector<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyTypeError::new_err("a vector that is not contiguous"))
}

/// A matrix as a NumPy array, by rows.
pub(crate) fn array<'py>(py: Python<'py>, x: MatRef<'_, f64>) -> Bound<'py, PyArray2<f64>> {
    PyArray2::from_owned_array(py, Array2::from_shape_fn(x.shape(), |(i, j)| x[(i, j)]))
}

/// The rows of a matrix, one after the other, as a NumPy array, without a copy.
pub(crate) fn rows(
    py: Python<'_>,
    values: Vec<f64>,
    shape: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    values.into_pyarray(py).reshape(shape)
}

/// Sparse columns of `rows` entries as a NumPy array, by columns.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    rows: usize,
    columns: impl ExactSizeIterator<Item = SparseVector>,
) -> Bound<'py, PyArray2<f64>> {
    let mut out = Array2::zeros((rows, columns.len()).f());
    for (k, column) in columns.enumerate() {
        for (j, value) in column.iter() {
            out[(j, k)] = value;
        }
    }
    PyArray2::from_owned_array(py, out)
}
