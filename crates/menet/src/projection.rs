//! A fitted projection, and its application.

use faer::{ContiguousFwd, Mat, MatRef};
use rayon::prelude::*;

use crate::dataset::{all_usable, check_finite};
use crate::error::{Error, Result};
use crate::linalg::from_columns;
use crate::sparse::SparseVector;

/// Samples that a thread takes at a time, and that are projected side by side.
const ROWS: usize = 64;
const FEW: usize = 4;

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

    /// Projects samples (rows of `x`) of double or single precision, which is converted value by value: only the
    /// variables that an axis uses are read for that.
    ///
    /// # Errors
    /// When the number of columns is not p, or a value is not finite.
    pub fn transform<T: Copy + Into<f64> + Send + Sync>(&self, x: MatRef<'_, T>) -> Result<Mat<f64>> {
        if x.ncols() != self.variables() {
            let why = format!("the projection was learned from {} variables", self.variables());
            return Err(Error::Size { what: "a sample", given: x.ncols(), expected: self.variables(), why });
        }
        if let Some(z) = x.try_as_row_major().and_then(|rows| self.by_rows(rows)) {
            return Ok(z);
        }
        check_finite("the data", x)?;
        Ok(self.by_columns(x))
    }

    /// Down the columns that are used, axis by axis.
    fn by_columns<T: Copy + Into<f64> + Send + Sync>(&self, x: MatRef<'_, T>) -> Mat<f64> {
        let project = |axis: &SparseVector| {
            let mut z = vec![0.0; x.nrows()];
            for (j, weight) in axis.iter() {
                for (z, &x) in z.iter_mut().zip(x.col(j).iter()) {
                    *z += (x.into() - self.mean[j]) * weight;
                }
            }
            z
        };
        let columns: Vec<Vec<f64>> = self.axes.par_iter().map(project).collect();
        from_columns(x.nrows(), &columns)
    }

    /// Sample by sample, where those lie in memory one after the other: the same sums in the same order, and memory is read
    /// once. None where a value is not finite.
    fn by_rows<T: Copy + Into<f64> + Send + Sync>(&self, x: Rows<'_, T>) -> Option<Mat<f64>> {
        let (n, d) = (x.nrows(), self.components());
        let project = |start: usize| {
            let samples: Vec<&[T]> = (start..n.min(start + ROWS)).map(|i| x.row(i).as_slice()).collect();
            if !samples.iter().all(|sample| all_usable(sample)) {
                return None;
            }
            let mut z = vec![0.0; samples.len() * d];
            for (z, samples) in z.chunks_mut((FEW * d).max(1)).zip(samples.chunks(FEW)) {
                for (k, axis) in self.axes.iter().enumerate() {
                    let mut sums = [0.0; FEW];
                    match samples.try_into() {
                        Ok(samples) => self.along::<T, FEW>(axis, samples, &mut sums),
                        Err(_) => {
                            for (sum, sample) in sums.iter_mut().zip(samples) {
                                self.along(axis, &[sample], std::array::from_mut(sum));
                            }
                        }
                    }
                    for (r, sum) in sums[..samples.len()].iter().enumerate() {
                        z[r * d + k] = *sum;
                    }
                }
            }
            Some(z)
        };
        let starts: Vec<usize> = (0..n).step_by(ROWS).collect();
        let blocks = starts.into_par_iter().map(project).collect::<Option<Vec<Vec<f64>>>>()?;
        Some(MatRef::from_row_major_slice(&blocks.concat(), n, d).to_owned())
    }

    /// A few samples along an axis: sums that do not wait for each other.
    #[inline(always)]
    fn along<T: Copy + Into<f64>, const N: usize>(
        &self,
        axis: &SparseVector,
        samples: &[&[T]; N],
        sums: &mut [f64; N],
    ) {
        for (j, weight) in axis.iter() {
            let mean = self.mean[j];
            for r in 0..N {
                sums[r] += (samples[r][j].into() - mean) * weight;
            }
        }
    }
}

/// Samples that lie in memory one after the other.
type Rows<'a, T> = MatRef<'a, T, usize, usize, isize, ContiguousFwd>;

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
        let single = Mat::from_fn(4, 199, |j, i| by_rows[(j, i)] as f32);
        assert_eq!(
            projection.transform(single.transpose()).unwrap(),
            projection.transform(x.subrows(0, 199)).unwrap(),
            "whole numbers lose nothing in single precision"
        );
        let empty: Mat<f64> = Mat::zeros(0, 4);
        assert_eq!(projection.transform(empty.as_ref()).unwrap().shape(), (0, 3));
    }

    #[test]
    fn wrong_sizes_and_values_are_named() {
        let projection = Projection::new(vec![0.0; 3], vec![]).unwrap();
        let message = projection.transform(Mat::<f64>::zeros(2, 5).as_ref()).unwrap_err().to_string();
        assert!(message.contains('5') && message.contains("3 variables"), "{message}");
        let x = Mat::full(1, 3, f64::NAN);
        assert!(matches!(projection.transform(x.as_ref()), Err(Error::NotFinite { .. })));
        let mut rows = Mat::from_fn(3, 100, |_, _| 1.0f32);
        rows[(1, 70)] = f32::INFINITY;
        let error = projection.transform(rows.transpose()).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 70, column: 1, .. }));
        let axis = SparseVector::from_pairs(vec![(7, 1.0)]);
        assert!(Projection::new(vec![0.0; 3], vec![axis]).is_err());
    }
}
