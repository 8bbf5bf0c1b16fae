//! A fitted projection, and its application.

mod sparse;

use faer::{ContiguousFwd, Mat, MatRef};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::numerics::finite::{Real, check_finite};
use crate::numerics::linalg::{from_columns, vectorized};
use crate::numerics::sparse::SparseVector;
use crate::panel::union;

/// Samples that a thread takes at a time, and that are projected side by side.
const ROWS: usize = 128;
const LANES: usize = 8;

/// Up to this many samples are projected one by one: preparing the axes for many samples would take longer.
const FEW: usize = 4;

/// Axes that a thread takes at a time, of one sample.
const AXES: usize = 16;

/// Axes whose sums are formed side by side.
const TOGETHER: usize = 3;

/// Bytes of samples that are checked before they are projected. They are read in order, which is fastest, and fit into the
/// cache of a core.
const LOOKED_THROUGH: usize = 1 << 18;

/// Samples whose values lie side by side.
type RowMajor<'a, T> = MatRef<'a, T, usize, usize, isize, ContiguousFwd>;

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

    /// The projection on the first `d` axes.
    ///
    /// # Errors
    /// When there are none.
    pub fn first(&self, d: usize) -> Result<Self> {
        Self::new(self.mean.clone(), self.axes[..d.min(self.axes.len())].to_vec())
    }

    /// Number of variables p.
    pub fn variables(&self) -> usize {
        self.mean.len()
    }

    /// Number of axes d.
    pub fn components(&self) -> usize {
        self.axes.len()
    }

    /// The mean that is subtracted before the projection.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The columns of W.
    pub fn axes(&self) -> &[SparseVector] {
        &self.axes
    }

    /// The distinct variables that the axes use, rising.
    pub fn panel(&self) -> Vec<usize> {
        union(&self.axes)
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
    pub fn transform<T: Real>(&self, x: MatRef<'_, T>) -> Result<Mat<f64>> {
        let Some(rows) = x.try_as_row_major() else { return self.by_columns(x) };
        let mut z = vec![0.0; x.nrows() * self.components()];
        self.by_rows(rows, &mut z)?;
        Ok(MatRef::from_row_major_slice(&z, x.nrows(), self.components()).to_owned())
    }

    /// Projects samples one after the other into `z` (n d numbers), computed in double precision and given in either.
    ///
    /// # Errors
    /// As [`Self::transform`], or when `z` is of another length. What `z` holds then has no meaning.
    pub fn transform_into<T: Real, Z: Real>(&self, x: MatRef<'_, T>, z: &mut [Z]) -> Result<()> {
        let (n, d) = (x.nrows(), self.components());
        if z.len() != n * d {
            let why = format!("there are {n} samples and {d} axes");
            return Err(Error::Size {
                what: "the room for projections",
                given: z.len(),
                expected: n * d,
                why,
            });
        }
        if let Some(rows) = x.try_as_row_major() {
            return self.by_rows(rows, z);
        }
        let columns = self.by_columns(x)?;
        for (z, row) in z.chunks_mut(d.max(1)).zip(columns.row_iter()) {
            for (z, &value) in z.iter_mut().zip(row.iter()) {
                *z = Z::nearest(value);
            }
        }
        Ok(())
    }

    /// Refuses samples of another number of variables.
    fn check_variables(&self, given: usize) -> Result<()> {
        let expected = self.variables();
        if given == expected {
            return Ok(());
        }
        let why = format!("the projection was learned from {expected} variables");
        Err(Error::Size { what: "a sample", given, expected, why })
    }

    /// Down the columns that are used, axis by axis.
    fn by_columns<T: Real>(&self, x: MatRef<'_, T>) -> Result<Mat<f64>> {
        self.check_variables(x.ncols())?;
        check_finite("the data", x)?;
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
        Ok(from_columns(x.nrows(), &columns))
    }

    /// Sample by sample, where the values of each lie side by side: the same sums in the same order, and memory is read once.
    fn by_rows<T: Real, Z: Real>(&self, x: RowMajor<'_, T>, z: &mut [Z]) -> Result<()> {
        self.check_variables(x.ncols())?;
        let (n, d) = (x.nrows(), self.components());
        let sample = |i: usize| x.row(i).as_slice();
        if n <= FEW && (0..n).all(|i| T::all_usable(sample(i))) {
            (0..n).for_each(|i| self.one(sample(i), &mut z[i * d..(i + 1) * d]));
            return Ok(());
        }
        let used = UsedVariables::new(self);
        let together = LOOKED_THROUGH / (LANES * x.ncols() * size_of::<T>()).max(1);
        let together = LANES * together.clamp(1, ROWS / LANES);
        let project = |(block, z): (usize, &mut [Z])| {
            let samples: Vec<&[T]> = (block * ROWS..n.min((block + 1) * ROWS)).map(sample).collect();
            let mut centred = vec![[0.0; LANES]; used.variables.len() + 1];
            samples.chunks(together).zip(z.chunks_mut((together * d).max(1))).all(|(samples, z)| {
                let usable = samples.iter().all(|sample| T::all_usable(sample));
                if usable {
                    for (samples, z) in samples.chunks(LANES).zip(z.chunks_mut((LANES * d).max(1))) {
                        used.project(samples, &mut centred, z);
                    }
                }
                usable
            })
        };
        let usable = match d {
            0 => (0..n).all(|i| T::all_usable(sample(i))),
            _ => z.par_chunks_mut(ROWS * d).enumerate().all(project),
        };
        if usable { Ok(()) } else { check_finite("the data", x.as_dyn_stride()) }
    }

    /// One sample, axis by axis: the same sums in the same order.
    fn one<T: Real, Z: Real>(&self, sample: &[T], z: &mut [Z]) {
        z.par_iter_mut().zip(&self.axes).with_min_len(AXES).for_each(|(z, axis)| {
            let terms = axis.iter().map(|(j, weight)| (sample[j].into() - self.mean[j]) * weight);
            *z = Z::nearest(terms.fold(0.0, |sum, term| sum + term));
        });
    }
}

/// The variables that axes use, and the axes in terms of them.
struct UsedVariables {
    /// With their means.
    variables: Vec<(usize, f64)>,
    /// A few axes at a time, since each sum must wait for its last term: places among the variables, and weights. A shorter
    /// axis is padded with the place after the last variable, where everything is 0.
    axes: Vec<Vec<[(usize, f64); TOGETHER]>>,
    components: usize,
}

impl UsedVariables {
    fn new(projection: &Projection) -> Self {
        // By a table over all variables: with dense axes, a search for each entry would take longer than a sample.
        let mut places = vec![usize::MAX; projection.variables()];
        projection.axes.iter().flat_map(|axis| axis.indices()).for_each(|&j| places[j] = 0);
        let variables: Vec<usize> = (0..places.len()).filter(|&j| places[j] == 0).collect();
        variables.iter().enumerate().for_each(|(place, &j)| places[j] = place);
        let nothing = (variables.len(), 0.0);
        let together = |axes: &[SparseVector]| {
            let longest = axes.iter().map(SparseVector::nonzeros).max().unwrap_or(0);
            let mut steps = vec![[nothing; TOGETHER]; longest];
            for (a, axis) in axes.iter().enumerate() {
                for (step, (j, weight)) in steps.iter_mut().zip(axis.iter()) {
                    step[a] = (places[j], weight);
                }
            }
            steps
        };
        let axes = projection.axes.chunks(TOGETHER).map(together).collect();
        let components = projection.axes.len();
        UsedVariables {
            variables: variables.iter().map(|&j| (j, projection.mean[j])).collect(),
            axes,
            components,
        }
    }

    /// Projects up to [`LANES`] samples side by side. `centred` is room for the variables.
    fn project<T: Real, Z: Real>(&self, samples: &[&[T]], centred: &mut [[f64; LANES]], z: &mut [Z]) {
        let (d, last) = (self.components, samples.len() - 1);
        // The last sample takes the place of missing ones.
        let samples: [&[T]; LANES] = std::array::from_fn(|r| samples[r.min(last)]);
        vectorized(
            #[inline(always)]
            || {
                // All eight have the same length, so one bounds check is enough. Compilers see that only if each has a name.
                let p = samples[0].len();
                let [s0, s1, s2, s3, s4, s5, s6, s7] = samples;
                let (s0, s1, s2, s3) = (&s0[..p], &s1[..p], &s2[..p], &s3[..p]);
                let (s4, s5, s6, s7) = (&s4[..p], &s5[..p], &s6[..p], &s7[..p]);
                for (centred, &(j, mean)) in centred.iter_mut().zip(&self.variables) {
                    let values = [s0[j], s1[j], s2[j], s3[j], s4[j], s5[j], s6[j], s7[j]];
                    for r in 0..LANES {
                        centred[r] = values[r].into() - mean;
                    }
                }
                for (g, steps) in self.axes.iter().enumerate() {
                    let [mut s0, mut s1, mut s2] = [[0.0; LANES]; TOGETHER];
                    for &[(p0, w0), (p1, w1), (p2, w2)] in steps {
                        let (c0, c1, c2) = (&centred[p0], &centred[p1], &centred[p2]);
                        for r in 0..LANES {
                            s0[r] += c0[r] * w0;
                        }
                        for r in 0..LANES {
                            s1[r] += c1[r] * w1;
                        }
                        for r in 0..LANES {
                            s2[r] += c2[r] * w2;
                        }
                    }
                    for (k, sums) in (g * TOGETHER..d).zip([s0, s1, s2]) {
                        for r in 0..=last {
                            z[r * d + k] = Z::nearest(sums[r]);
                        }
                    }
                }
            },
        );
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
        let single = Mat::from_fn(4, 199, |j, i| by_rows[(j, i)] as f32);
        assert_eq!(
            projection.transform(single.transpose()).unwrap(),
            projection.transform(x.subrows(0, 199)).unwrap(),
            "whole numbers lose nothing in single precision"
        );
        let given = single.transpose();
        let (mut exact, mut rounded) = (vec![0f64; 3 * 199], vec![0f32; 3 * 199]);
        projection.transform_into(given, &mut exact).unwrap();
        let expected: Vec<f32> = exact.iter().map(|&z| z as f32).collect();
        projection.transform_into(given, &mut rounded).unwrap();
        assert_eq!(rounded, expected, "only the result is rounded");
        projection.transform_into(given.to_owned().as_ref(), &mut rounded).unwrap();
        assert_eq!(rounded, expected, "by columns");
        let error = projection.transform_into(given, &mut rounded[1..]).unwrap_err();
        assert!(matches!(error, Error::Size { given: 596, expected: 597, .. }));
        for few in 1..8 {
            let expected = projection.transform(x.as_ref()).unwrap();
            let found = projection.transform(by_rows.subcols(0, few).transpose()).unwrap();
            assert_eq!(found, expected.subrows(0, few), "{few} of them, to the last bit");
        }
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
        let axes = vec![SparseVector::from_pairs(vec![(0, 1.0)])];
        let error = Projection::new(vec![0.0; 3], axes)
            .unwrap()
            .transform_into(rows.transpose(), &mut [0f32; 100])
            .unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 70, column: 1, .. }), "an unused variable, too");
        let axis = SparseVector::from_pairs(vec![(7, 1.0)]);
        assert!(Projection::new(vec![0.0; 3], vec![axis]).is_err());
    }
}
