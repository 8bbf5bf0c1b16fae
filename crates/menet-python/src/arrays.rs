//! NumPy memory as matrices, and back.

use faer::{Mat, MatRef};
use menet::sparse::{SparseMatrix, SparseVector};
use menet::{Dataset, Error, Projection, Real, Result};
use menet_io::fingerprint;
use numpy::ndarray::{Array2, ShapeBuilder};
use numpy::{Element, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Samples as NumPy has them, or SciPy. The package sees to it that they are contiguous, by rows or by columns.
#[derive(FromPyObject)]
pub(crate) enum Samples<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Sparse(Compressed<'py>),
}

/// A sparse matrix or array of SciPy, compressed by rows (`csr`) or by columns (`csc`).
#[derive(FromPyObject)]
pub(crate) struct Compressed<'py> {
    format: String,
    shape: (usize, usize),
    indptr: Integers<'py>,
    indices: Integers<'py>,
    data: Numbers<'py>,
}

#[derive(FromPyObject)]
enum Integers<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

#[derive(FromPyObject)]
enum Numbers<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
}

/// [`Samples`] as the core sees them: double precision where it lies, single precision to be converted.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    Double(MatRef<'a, f64>),
    Single(MatRef<'a, f32>),
    Sparse(CompressedView<'a>),
}

/// [`Compressed`] as the core sees it.
#[derive(Clone, Copy)]
pub(crate) struct CompressedView<'a> {
    by_columns: bool,
    shape: (usize, usize),
    places: Places<'a>,
    values: Values<'a>,
}

/// Where lines begin, and the indices in them: of one type, as SciPy has them.
#[derive(Clone, Copy)]
enum Places<'a> {
    Short(&'a [i32], &'a [i32]),
    Long(&'a [i64], &'a [i64]),
}

#[derive(Clone, Copy)]
enum Values<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

impl Samples<'_> {
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Samples::Double(x) => View::Double(matrix(x)?),
            Samples::Single(x) => View::Single(matrix(x)?),
            Samples::Sparse(x) => View::Sparse(x.view()?),
        })
    }
}

impl Compressed<'_> {
    fn view(&self) -> PyResult<CompressedView<'_>> {
        let by_columns = match self.format.as_str() {
            "csr" => false,
            "csc" => true,
            other => return Err(PyTypeError::new_err(format!("a sparse matrix in the format {other}"))),
        };
        let places = match (&self.indptr, &self.indices) {
            (Integers::Short(starts), Integers::Short(indices)) => {
                Places::Short(vector(starts)?, vector(indices)?)
            }
            (Integers::Long(starts), Integers::Long(indices)) => {
                Places::Long(vector(starts)?, vector(indices)?)
            }
            _ => return Err(PyTypeError::new_err("a sparse matrix with indices of two types")),
        };
        let values = match &self.data {
            Numbers::Double(data) => Values::Double(vector(data)?),
            Numbers::Single(data) => Values::Single(vector(data)?),
        };
        Ok(CompressedView { by_columns, shape: self.shape, places, values })
    }
}

impl CompressedView<'_> {
    pub(crate) fn matrix(self) -> Result<SparseMatrix> {
        match (self.places, self.values) {
            (Places::Short(starts, indices), Values::Double(values)) => self.build(starts, indices, values),
            (Places::Short(starts, indices), Values::Single(values)) => self.build(starts, indices, values),
            (Places::Long(starts, indices), Values::Double(values)) => self.build(starts, indices, values),
            (Places::Long(starts, indices), Values::Single(values)) => self.build(starts, indices, values),
        }
    }

    fn build<I, T>(self, starts: &[I], indices: &[I], values: &[T]) -> Result<SparseMatrix>
    where
        I: Copy + TryInto<usize> + std::fmt::Display,
        T: Copy + Into<f64>,
    {
        if self.by_columns {
            SparseMatrix::from_columns(self.shape, starts, indices, values)
        } else {
            SparseMatrix::from_rows(self.shape, starts, indices, values)
        }
    }
}

impl<'a> View<'a> {
    /// The data with the class of every sample as a position in `classes`.
    pub(crate) fn dataset(self, codes: &[i64], classes: Vec<String>) -> Result<Dataset<'a>> {
        // A negative code is out of range, which is told.
        let codes = codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect();
        match self {
            View::Double(x) => Dataset::from_codes(x, codes, classes),
            View::Single(x) => Dataset::from_codes(x, codes, classes),
            View::Sparse(x) => Dataset::from_codes(x.matrix()?, codes, classes),
        }
    }

    /// The data with classes that go by their codes.
    pub(crate) fn plain_dataset(self, codes: &[i64]) -> Result<Dataset<'a>> {
        match self {
            View::Double(x) => Dataset::new(x, codes),
            View::Single(x) => Dataset::from_f32(x, codes),
            View::Sparse(x) => Dataset::from_sparse(x.matrix()?, codes),
        }
    }

    /// The samples as `projection` projects them, one after the other into `z`.
    pub(crate) fn project<Z: Real>(self, projection: &Projection, z: &mut [Z]) -> Result<()> {
        match self {
            View::Double(x) => projection.transform_into(x, z),
            View::Single(x) => projection.transform_into(x, z),
            View::Sparse(x) => {
                let dense = projection.transform_sparse(&x.matrix()?)?;
                let values = dense.row_iter().flat_map(|row| row.iter());
                z.iter_mut().zip(values).for_each(|(z, &value)| *z = Z::nearest(value));
                Ok(())
            }
        }
    }

    /// What the samples are recognised by.
    pub(crate) fn fingerprints(self) -> Result<Vec<u64>> {
        match self {
            View::Sparse(x) => Ok(fingerprint::of_sparse(&x.matrix()?)),
            dense => dense.with(|x| Ok(fingerprint::of_rows(x))),
        }
    }

    /// How many samples there are.
    pub(crate) fn samples(self) -> usize {
        match self {
            View::Double(x) => x.nrows(),
            View::Single(x) => x.nrows(),
            View::Sparse(x) => x.shape.0,
        }
    }

    /// Calls `work` with the samples in double precision; sparse ones the package makes dense.
    pub(crate) fn with<T>(self, work: impl FnOnce(MatRef<'_, f64>) -> Result<T>) -> Result<T> {
        match self {
            View::Sparse(x) => Err(Error::sparse(&x.matrix()?)),
            View::Double(x) => work(x),
            // In the order in which they lie: by rows if NumPy has them so.
            View::Single(x) if x.try_as_row_major().is_some() => work(double(x.transpose()).transpose()),
            View::Single(x) => work(double(x).as_ref()),
        }
    }
}

/// Converted tile by tile, so that a matrix by rows is read and written in the cache.
fn double(x: MatRef<'_, f32>) -> Mat<f64> {
    const TILE: usize = 64;
    let mut out = Mat::zeros(x.nrows(), x.ncols());
    for column in (0..x.ncols()).step_by(TILE) {
        for row in (0..x.nrows()).step_by(TILE) {
            for j in column..x.ncols().min(column + TILE) {
                for i in row..x.nrows().min(row + TILE) {
                    out[(i, j)] = f64::from(x[(i, j)]);
                }
            }
        }
    }
    out
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
