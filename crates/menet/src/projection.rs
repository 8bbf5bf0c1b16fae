//! A fitted projection, and its application.

use faer::{ContiguousFwd, Mat, MatRef};
use rayon::prelude::*;

use crate::dataset::check_finite;
use crate::error::{Error, Result};
use crate::linalg::from_columns;
use crate::sparse::SparseVector;

/// Samples that a thread takes at a time.
const ROWS: usize = 64;

/// `z = (x − mean) W` with sparse columns of W, in the units of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    mean: Vec<f64>,
    axes: Vec<SparseVector>,
}

impl Projection {
    /// From the mean of every variable and the columns of W.
    ///
    /// # Errors
    /// When a column has an entry beyond the variables.
    pub fn new(mean: Vec<f64>, axes: Vec<SparseVector>) -> Result<Self> {
        let p = mean.len();
        match axes.iter().filter_map(|axis| axis.indices().last()).max() {
            Some(&index) if index >= p => {
                let why = format!("an axis uses variable {index}");
                Err(Error::Size { what: "`mean`", given: p, expected: index + 1, why })
            }
            _ => Ok(Projection { mean, axes }),
        }
    }

    /// Number of variables p.
    pub fn variables(&self) -> usize {
        self.mean.len()
    }

    /// Number of components d.
    pub fn components(&self) -> usize {
        self.axes.len()
    }

    /// The mean that is taken off before projecting.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The columns of W.
    pub fn axes(&self) -> &[SparseVector] {
        &self.axes
    }

    /// W as a dense p×d matrix.
    pub fn to_dense(&self) -> Mat<f64> {
        let mut w = Mat::zeros(self.variables(), self.components());
        for (k, axis) in self.axes.iter().enumerate() {
            for (j, value) in axis.iter() {
                w[(j, k)] = value;
            }
        }
        w
    }

    /// Projects samples (rows of `x`): only the variables that an axis uses are read.
    ///
    /// # Errors
    /// When the number of columns is not p, or a value is not finite.
    pub fn transform(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if x.ncols() != self.variables() {
            let why = format!("the projection was learned from {} variables", self.variables());
            return Err(Error::Size { what: "a sample", given: x.ncols(), expected: self.variables(), why });
        }
        check_finite("the data", x)?;
        Ok(match x.try_as_row_major() {
            Some(rows) => self.by_rows(rows),
            None => self.by_columns(x),
        })
    }

    /// Down the columns that are used, axis by axis.
    fn by_columns(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let project = |axis: &SparseVector| {
            let mut z = vec![0.0; x.nrows()];
            for (j, weight) in axis.iter() {
                for (z, x) in z.iter_mut().zip(x.col(j).iter()) {
                    *z += (x - self.mean[j]) * weight;
                }
            }
            z
        };
        let columns: Vec<Vec<f64>> = self.axes.par_iter().map(project).collect();
        from_columns(x.nrows(), &columns)
    }

    /// Sample by sample, where those lie in memory one after the other: the same sums in the same order.
    fn by_rows(&self, x: MatRef<'_, f64, usize, usize, isize, ContiguousFwd>) -> Mat<f64> {
        let d = self.components();
        let project = |i: usize| {
            let sample = x.row(i).as_slice();
            let along = |axis: &SparseVector| {
                axis.iter().fold(0.0, |z, (j, weight)| z + (sample[j] - self.mean[j]) * weight)
            };
            self.axes.iter().map(along).collect::<Vec<f64>>()
        };
        let rows: Vec<f64> =
            (0..x.nrows()).into_par_iter().with_min_len(ROWS).flat_map_iter(project).collect();
        MatRef::from_row_major_slice(&rows, x.nrows(), d).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transform_is_the_centred_product() {
        let x = Mat::from_fn(200, 4, |i, j| (i * 3 + j * j) as f64);
        let axes = vec![
            SparseVector::from_pairs(vec![(1, 2.0), (3, -1.0)]),
            SparseVector::default(),
            SparseVector::from_pairs(vec![(0, 0.5)]),
        ];
        let projection = Projection::new(vec![1.0, 2.0, 3.0, 4.0], axes).unwrap();
        let centred = Mat::from_fn(200, 4, |i, j| x[(i, j)] - (j + 1) as f64);
        assert_eq!(projection.transform(x.as_ref()).unwrap(), centred * projection.to_dense());
        let by_rows = x.transpose().to_owned();
        assert_eq!(
            projection.transform(by_rows.transpose()).unwrap(),
            projection.transform(x.as_ref()).unwrap(),
            "to the last bit"
        );
        let empty: Mat<f64> = Mat::zeros(0, 4);
        assert_eq!(projection.transform(empty.as_ref()).unwrap().shape(), (0, 3));
    }

    #[test]
    fn wrong_sizes_and_values_are_named() {
        let projection = Projection::new(vec![0.0; 3], vec![]).unwrap();
        let message = projection.transform(Mat::zeros(2, 5).as_ref()).unwrap_err().to_string();
        assert!(message.contains('5') && message.contains("3 variables"), "{message}");
        let x = Mat::full(1, 3, f64::NAN);
        assert!(matches!(projection.transform(x.as_ref()), Err(Error::NotFinite { .. })));
        let axis = SparseVector::from_pairs(vec![(7, 1.0)]);
        assert!(Projection::new(vec![0.0; 3], vec![axis]).is_err());
    }
}
