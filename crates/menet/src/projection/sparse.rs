//! Projecting sparse samples.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::dataset::{Dataset, View};
use crate::error::{Error, Result};
use crate::numerics::sparse::SparseMatrix;
use crate::projection::Projection;

/// Samples that a thread takes at a time.
const ROWS: usize = 64;

impl Projection {
    /// Projects sparse samples, one at a time and to the last bit as if they were dense.
    ///
    /// # Errors
    /// When the number of columns is not p.
    pub fn transform_sparse(&self, x: &SparseMatrix) -> Result<Mat<f64>> {
        let (n, p, d) = (x.rows(), self.variables(), self.components());
        if x.columns() != p {
            let why = format!("the projection was learned from {p} variables");
            return Err(Error::Size { what: "a sample", given: x.columns(), expected: p, why });
        }
        x.check_finite()?;
        let mut z = vec![0.0; n * d];
        z.par_chunks_mut((ROWS * d).max(1)).enumerate().for_each_init(
            || vec![0.0; p],
            |sample, (block, z)| {
                for (i, z) in z.chunks_mut(d).enumerate() {
                    let row = || x.row(block * ROWS + i);
                    row().for_each(|(j, value)| sample[j] = value);
                    for (z, axis) in z.iter_mut().zip(self.axes()) {
                        for (j, weight) in axis.iter() {
                            *z += (sample[j] - self.mean()[j]) * weight;
                        }
                    }
                    row().for_each(|(j, _)| sample[j] = 0.0);
                }
            },
        );
        Ok(MatRef::from_row_major_slice(&z, n, d).to_owned())
    }

    /// Projects the samples of a data set, dense or sparse.
    ///
    /// # Errors
    /// As [`Self::transform`].
    pub fn project(&self, data: &Dataset<'_>) -> Result<Mat<f64>> {
        self.project_view(data.view())
    }

    /// Projects samples, dense or sparse.
    ///
    /// # Errors
    /// As [`Self::transform`].
    pub fn project_view(&self, x: View<'_>) -> Result<Mat<f64>> {
        match x {
            View::Double(x) => self.transform(x),
            View::Single(x) => self.transform(x),
            View::Sparse(x) => self.transform_sparse(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::sparse::SparseVector;

    #[test]
    fn sparse_samples_are_projected_like_dense_ones() {
        let x = Mat::from_fn(150, 9, |i, j| [0.0, 0.0, 0.1, 0.0, -7.3][(i * 3 + j * j) % 5]);
        let sparse = SparseMatrix::from_dense(x.as_ref()).unwrap();
        let axis =
            |k: usize| SparseVector::from_pairs((0..9).map(|j| (j, ((j + k) % 4) as f64 / 3.0)).collect());
        for d in [0, 1, 3] {
            let mean = (0..9).map(|j| j as f64 / 7.0).collect();
            let projection = Projection::new(mean, (0..d).map(axis).collect()).unwrap();
            let expected = projection.transform(x.as_ref()).unwrap();
            assert_eq!(projection.transform_sparse(&sparse).unwrap(), expected, "to the last bit");
            assert!(projection.transform_sparse(&sparse.transpose()).is_err());
        }
    }
}
