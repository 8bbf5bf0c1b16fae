//! The values of samples: dense in either precision, or sparse.

use faer::{Mat, MatRef};

use super::DENSE_BYTES;
use crate::numerics::linalg::Matrix;
use crate::numerics::sparse::SparseMatrix;

#[derive(Debug, Clone)]
pub(super) enum SampleValues<'a> {
    Dense(Matrix<'a>),
    Single(MatRef<'a, f32>),
    Sparse(SparseMatrix),
}

/// The samples of a data set as they lie in memory.
#[derive(Debug, Clone, Copy)]
pub enum View<'a> {
    /// Dense, in double precision.
    Double(MatRef<'a, f64>),
    /// Dense, in single precision. Every computation converts them as it goes.
    Single(MatRef<'a, f32>),
    /// Sparse.
    Sparse(&'a SparseMatrix),
}

impl View<'_> {
    /// How many samples there are, and how many variables.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            View::Double(x) => x.shape(),
            View::Single(x) => x.shape(),
            View::Sparse(x) => (x.rows(), x.columns()),
        }
    }
}

impl SampleValues<'_> {
    pub(super) fn shape(&self) -> (usize, usize) {
        self.view().shape()
    }

    pub(super) fn view(&self) -> View<'_> {
        match self {
            SampleValues::Dense(x) => View::Double(x.view()),
            SampleValues::Single(x) => View::Single(*x),
            SampleValues::Sparse(x) => View::Sparse(x),
        }
    }
}

/// Samples to make a data set of, one per row: dense, borrowed or owned, or sparse.
#[derive(Debug, Clone)]
pub struct Samples<'a> {
    pub(super) values: SampleValues<'a>,
    /// Whether NaN stands for a missing value.
    pub(super) may_lack: bool,
}

impl<'a> Samples<'a> {
    fn new(values: SampleValues<'a>) -> Self {
        Samples { values, may_lack: false }
    }

    /// These samples, in which NaN stands for a missing value. A fit fills them if its parameter `impute` says how.
    #[must_use]
    pub fn with_missing(mut self) -> Self {
        self.may_lack = true;
        self
    }

    /// The samples as they lie in memory.
    pub fn view(&self) -> View<'_> {
        self.values.view()
    }
}

impl Samples<'static> {
    /// Sparse samples, made dense up to so many bytes.
    pub fn sparse_beyond(bytes: usize, x: SparseMatrix) -> Self {
        if x.dense_bytes() <= bytes as f64 { x.to_dense().into() } else { Samples::kept_sparse(x) }
    }

    /// Sparse samples of any size.
    pub(crate) fn kept_sparse(x: SparseMatrix) -> Self {
        Samples::new(SampleValues::Sparse(x))
    }
}

impl<'a> From<MatRef<'a, f64>> for Samples<'a> {
    fn from(x: MatRef<'a, f64>) -> Self {
        Samples::new(SampleValues::Dense(Matrix::Borrowed(x)))
    }
}

impl From<Mat<f64>> for Samples<'_> {
    fn from(x: Mat<f64>) -> Self {
        Samples::new(SampleValues::Dense(Matrix::Owned(x)))
    }
}

/// Borrowed, and converted where they are used: a fit takes no more memory than one in double precision.
impl<'a> From<MatRef<'a, f32>> for Samples<'a> {
    fn from(x: MatRef<'a, f32>) -> Self {
        Samples::new(SampleValues::Single(x))
    }
}

/// Made dense up to [`DENSE_BYTES`].
impl From<SparseMatrix> for Samples<'_> {
    fn from(x: SparseMatrix) -> Self {
        Samples::sparse_beyond(DENSE_BYTES, x)
    }
}
