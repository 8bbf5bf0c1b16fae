//! The centred variables, dense or sparse.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::sparse::SparseColumns;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::numerics::linalg::{
    ParColumnTiles, TILE, column, dot, inner_combinations, inner_products, slice_mut,
};

/// One centred variable per column, n×p.
#[derive(Debug, Clone)]
pub(crate) enum Columns {
    /// As they are.
    Dense(Mat<f64>),
    /// Sparse, and centred implicitly.
    Sparse(SparseColumns),
}

impl Columns {
    /// Number of samples n.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Columns::Dense(x) => x.nrows(),
            Columns::Sparse(x) => x.rows(),
        }
    }

    /// Number of variables p.
    pub(crate) fn count(&self) -> usize {
        match self {
            Columns::Dense(x) => x.ncols(),
            Columns::Sparse(x) => x.count(),
        }
    }

    /// As a dense matrix, n×p.
    ///
    /// # Errors
    /// When they are sparse.
    pub(crate) fn dense(&self) -> Result<&Mat<f64>> {
        match self {
            Columns::Dense(x) => Ok(x),
            Columns::Sparse(x) => Err(Error::sparse_of(x.rows(), x.count())),
        }
    }

    /// The dense matrix itself.
    ///
    /// # Errors
    /// As [`Self::dense`].
    pub(crate) fn into_dense(self) -> Result<Mat<f64>> {
        match self {
            Columns::Dense(x) => Ok(x),
            Columns::Sparse(x) => Err(Error::sparse_of(x.rows(), x.count())),
        }
    }

    /// All entries of variable `j`.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        match self {
            Columns::Dense(x) => column(x, j).to_vec(),
            Columns::Sparse(x) => x.column(j),
        }
    }

    /// The product of variable `j` with a vector whose entries sum to `total`.
    pub(crate) fn dot(&self, j: usize, v: &[f64], total: f64) -> f64 {
        match self {
            Columns::Dense(x) => dot(column(x, j), v),
            Columns::Sparse(x) => x.dot(j, v, total),
        }
    }

    /// The squared length of every variable.
    pub(crate) fn squared_lengths(&self) -> Vec<f64> {
        match self {
            Columns::Dense(x) => {
                (0..x.ncols()).into_par_iter().map(|j| dot(column(x, j), column(x, j))).collect()
            }
            Columns::Sparse(x) => x.squared_lengths(),
        }
    }

    /// `out = Xᵀ y`.
    pub(crate) fn correlate(&self, y: &Mat<f64>, out: MatMut<'_, f64>) {
        match self {
            Columns::Dense(x) => inner_combinations((0..x.ncols()).map(|j| column(x, j)), y, out),
            Columns::Sparse(x) => x.correlate(y, out),
        }
    }

    /// `XᵀY`. A column of it does not depend on how many others there are.
    pub(crate) fn correlate_all(&self, y: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Columns::Dense(x) => inner_products(x, y),
            Columns::Sparse(x) => x.correlate_all(y),
        }
    }

    /// The mean of every variable over every class, one row per class.
    pub(crate) fn class_means(&self, data: &Dataset<'_>) -> Mat<f64> {
        match self {
            Columns::Dense(x) => class_means(data, x),
            Columns::Sparse(x) => x.class_means(data),
        }
    }

    /// These columns, each divided by its norm; a column with norm 0 stays as it is.
    pub(super) fn over(self, norms: &[f64]) -> Self {
        match self {
            Columns::Sparse(x) => Columns::Sparse(x.over(norms)),
            Columns::Dense(mut x) => {
                x.as_mut().par_column_tiles().zip(norms.par_chunks(TILE)).for_each(|(tile, norms)| {
                    for (column, &norm) in tile.col_iter_mut().zip(norms).filter(|&(_, &norm)| norm > 0.0) {
                        slice_mut(column).iter_mut().for_each(|x| *x /= norm);
                    }
                });
                Columns::Dense(x)
            }
        }
    }
}

/// Class means of the rows of a dense matrix, one row per class.
pub(crate) fn class_means(data: &Dataset<'_>, x: &Mat<f64>) -> Mat<f64> {
    let masses = data.masses();
    let means: Vec<Vec<f64>> = (0..x.ncols())
        .into_par_iter()
        .map(|v| {
            let mut sums = vec![0.0; masses.len()];
            let samples = column(x, v).iter().zip(data.class_indices());
            match data.weights() {
                None => samples.for_each(|(x, &class)| sums[class] += x),
                Some(weights) => {
                    samples.zip(weights).for_each(|((x, &class), weight)| sums[class] += weight * x);
                }
            }
            sums.iter_mut().zip(&masses).for_each(|(sum, mass)| *sum /= mass);
            sums
        })
        .collect();
    Mat::from_fn(data.classes().len(), x.ncols(), |class, v| means[v][class])
}
