//! NumPy memory as matrices, and back.

use faer::{Mat, MatRef};
use menet::dataset::{Samples as CoreSamples, View as CoreView};
use menet::sparse::{SparseMatrix, SparseVector};
use menet::{Dataset, Error, Men, Projection, Real, Result};
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
    data: NumberArray<'py>,
}

#[derive(FromPyObject)]
enum Integers<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

#[derive(FromPyObject)]
enum NumberArray<'py> {
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
    places: IndexArrays<'a>,
    values: ValueArray<'a>,
}

/// Where lines begin, and the indices in them: of one type, as SciPy has them.
#[derive(Clone, Copy)]
enum IndexArrays<'a> {
    Short(&'a [i32], &'a [i32]),
    Long(&'a [i64], &'a [i64]),
}

#[derive(Clone, Copy)]
enum ValueArray<'a> {
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
                IndexArrays::Short(vector(starts)?, vector(indices)?)
            }
            (Integers::Long(starts), Integers::Long(indices)) => {
                IndexArrays::Long(vector(starts)?, vector(indices)?)
            }
            _ => return Err(PyTypeError::new_err("a sparse matrix with indices of two types")),
        };
        let values = match &self.data {
            NumberArray::Double(data) => ValueArray::Double(vector(data)?),
            NumberArray::Single(data) => ValueArray::Single(vector(data)?),
        };
        Ok(CompressedView { by_columns, shape: self.shape, places, values })
    }
}

impl CompressedView<'_> {
    pub(crate) fn matrix(self) -> Result<SparseMatrix> {
        self.made(false)
    }

    /// The matrix of the core. `lacking`: NaN stands for a missing value.
    fn made(self, lacking: bool) -> Result<SparseMatrix> {
        match (self.places, self.values) {
            (IndexArrays::Short(starts, indices), ValueArray::Double(values)) => {
                self.build(starts, indices, values, lacking)
            }
            (IndexArrays::Short(starts, indices), ValueArray::Single(values)) => {
                self.build(starts, indices, values, lacking)
            }
            (IndexArrays::Long(starts, indices), ValueArray::Double(values)) => {
                self.build(starts, indices, values, lacking)
            }
            (IndexArrays::Long(starts, indices), ValueArray::Single(values)) => {
                self.build(starts, indices, values, lacking)
            }
        }
    }

    fn build<I, T>(self, starts: &[I], indices: &[I], values: &[T], lacking: bool) -> Result<SparseMatrix>
    where
        I: Copy + TryInto<usize> + std::fmt::Display,
        T: Copy + Into<f64>,
    {
        match (self.by_columns, lacking) {
            (true, true) => SparseMatrix::from_columns_with_missing(self.shape, starts, indices, values),
            (true, false) => SparseMatrix::from_columns(self.shape, starts, indices, values),
            (false, true) => SparseMatrix::from_rows_with_missing(self.shape, starts, indices, values),
            (false, false) => SparseMatrix::from_rows(self.shape, starts, indices, values),
        }
    }
}

impl<'a> View<'a> {
    /// The data with the class of every sample as a position in `classes`, or -1 for a sample without a label.
    pub(crate) fn dataset(self, codes: &[i64], classes: Vec<String>) -> Result<Dataset<'a>> {
        if codes.contains(&-1) {
            let codes: Vec<Option<usize>> = codes.iter().map(|&code| usize::try_from(code).ok()).collect();
            return match self {
                View::Double(x) => Dataset::partly_labelled(x, &codes, classes),
                View::Single(x) => Dataset::partly_labelled(x, &codes, classes),
                View::Sparse(x) => Dataset::partly_labelled(x.matrix()?, &codes, classes),
            };
        }
        // A negative code is out of range, which is told.
        let codes = codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect();
        match self {
            View::Double(x) => Dataset::from_codes(x, codes, classes),
            View::Single(x) => Dataset::from_codes(x, codes, classes),
            View::Sparse(x) => Dataset::from_codes(x.matrix()?, codes, classes),
        }
    }

    /// A data set for a fit that may fill missing values, and may have batches; a fit that does not refuses them.
    pub(crate) fn lacking(
        self,
        codes: &[i64],
        classes: Vec<String>,
        batches: Option<&[String]>,
    ) -> Result<Dataset<'a>> {
        let samples = self.samples_with_missing()?;
        let data = if codes.contains(&-1) {
            let codes: Vec<Option<usize>> = codes.iter().map(|&code| usize::try_from(code).ok()).collect();
            Dataset::partly_labelled(samples, &codes, classes)?
        } else {
            let codes = codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect();
            Dataset::from_codes(samples, codes, classes)?
        };
        match batches {
            Some(batches) => data.with_batches(batches),
            None => Ok(data),
        }
    }

    /// A data set whose classes go by their codes.
    pub(crate) fn plain_dataset(self, codes: &[i64], batches: Option<&[String]>) -> Result<Dataset<'a>> {
        if codes.contains(&-1) {
            let mut known: Vec<i64> = codes.iter().copied().filter(|&code| code >= 0).collect();
            known.sort_unstable();
            known.dedup();
            let place = |code: &i64| known.binary_search(code).map_or(-1, |place| place as i64);
            let codes: Vec<i64> = codes.iter().map(place).collect();
            return self.lacking(&codes, known.iter().map(i64::to_string).collect(), batches);
        }
        let data = Dataset::with_missing(self.samples_with_missing()?, codes)?;
        match batches {
            Some(batches) => data.with_batches(batches),
            None => Ok(data),
        }
    }

    pub(crate) fn samples_with_missing(self) -> Result<CoreSamples<'a>> {
        let samples: CoreSamples<'a> = match self {
            View::Double(x) => x.into(),
            View::Single(x) => x.into(),
            View::Sparse(x) => x.made(true)?.into(),
        };
        Ok(samples.with_missing())
    }

    /// The samples as a model projects them, which prepares them first if it was fitted so.
    pub(crate) fn project_by<Z: Real>(
        self,
        men: &Men,
        batches: Option<&[String]>,
        z: &mut [Z],
    ) -> Result<()> {
        if men.preparation().is_none() {
            return self.project(men.projection(), z);
        }
        let projected = men.transform_batches(self.samples_with_missing()?.view(), batches)?;
        let values = projected.row_iter().flat_map(|row| row.iter());
        z.iter_mut().zip(values).for_each(|(z, &value)| *z = Z::nearest(value));
        Ok(())
    }

    /// The samples as a model prepares them.
    pub(crate) fn prepared_by(self, men: &Men, batches: Option<&[String]>) -> Result<Mat<f64>> {
        let samples = self.samples_with_missing()?;
        let prepared = match men.preparation() {
            Some(preparation) => preparation.apply(samples.view(), batches)?,
            None => samples,
        };
        Ok(match prepared.view() {
            CoreView::Double(x) => x.to_owned(),
            CoreView::Single(x) => double(x),
            CoreView::Sparse(x) => x.to_dense(),
        })
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
            View::Sparse(x) => Ok(fingerprint::of_sparse(&x.made(true)?)),
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
