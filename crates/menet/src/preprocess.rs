//! Centring, constant columns, and the paper's optional PCA reconstruction (Algorithm 1, step 1).

use faer::{ContiguousFwd, Mat, MatRef};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::linalg::{
    ParColumnTiles, TILE, column, dot, product, slice_mut, thin_svd, transpose_into, vectorized,
};
use crate::patches::Samples;

/// A centred column whose norm is this small a part of its original norm is rounding: 0.1 repeated, minus its
/// mean, leaves 8e-17, which scaled to length 1 would become a variable.
const CONSTANT: f64 = 1e-12;

/// Entries of a column that are looked at side by side.
const LANES: usize = 8;

/// The data as the stages after this one see them: in the user's units, without the mean.
#[derive(Debug, Clone)]
pub struct Preprocessed<'a> {
    /// Centred data, n×p; constant columns are exactly 0.
    pub x: Mat<f64>,
    samples: Rows<'a>,
    /// The mean of every variable.
    pub mean: Vec<f64>,
    /// The norm of every centred column, 0 for a constant one.
    pub norms: Vec<f64>,
}

/// The samples, each in one piece.
#[derive(Debug, Clone)]
enum Rows<'a> {
    /// As the data have them.
    Given(MatRef<'a, f64, usize, usize, isize, ContiguousFwd>),
    /// As columns, p×n.
    Copied(Mat<f64>),
}

impl<'a> Preprocessed<'a> {
    /// Centres, and if `pca_rank` is given replaces the data by their best approximation of that rank.
    ///
    /// # Errors
    /// When every column is constant, or the decomposition fails.
    pub fn new(data: &'a Dataset<'_>, pca_rank: Option<usize>) -> Result<Self> {
        let (n, p) = (data.samples(), data.variables());
        let raw = data.x()?;
        let mut x = Mat::zeros(n, p);
        let centred: Vec<Vec<Centred>> = x
            .as_mut()
            .par_column_tiles()
            .zip(raw.par_column_tiles())
            .map(|(mut tile, raw)| {
                transpose_into(tile.as_mut(), raw.transpose());
                tile.col_iter_mut().map(|column| centre(slice_mut(column))).collect()
            })
            .collect();
        let centred = centred.concat();
        let mean = centred.iter().map(|column| column.mean).collect();
        let samples = match (pca_rank, raw.try_as_row_major()) {
            (Some(rank), _) => {
                x = reconstruct(&x, rank)?;
                Rows::Copied(transposed(x.as_ref()))
            }
            (None, Some(rows)) if centred.iter().all(|column| !column.rounding) => Rows::Given(rows),
            (None, _) => {
                let mut samples = transposed(raw);
                // A column that is rounding takes no part in distances either.
                for j in (0..p).filter(|&j| centred[j].rounding) {
                    samples.row_mut(j).fill(0.0);
                }
                Rows::Copied(samples)
            }
        };
        let norms: Vec<f64> = (0..p).map(|j| dot(column(&x, j), column(&x, j)).sqrt()).collect();
        if norms.iter().all(|&norm| norm == 0.0) {
            return Err(Error::Degenerate(format!("all {p} variables are constant over the {n} samples")));
        }
        Ok(Preprocessed { x, samples, mean, norms })
    }

    /// Refuses data of another size than these were made from.
    pub(crate) fn check(&self, data: &Dataset<'_>) -> Result<()> {
        let expected = data.samples() * data.variables();
        if self.x.shape() == (data.samples(), data.variables()) {
            return Ok(());
        }
        let why = format!("the data are {} x {}", data.samples(), data.variables());
        Err(Error::Size {
            what: "the preprocessed data",
            given: self.x.nrows() * self.x.ncols(),
            expected,
            why,
        })
    }

    /// A sample as distances see it. Not centred unless reconstructed, so that equal distances between samples of whole
    /// numbers stay equal.
    pub fn sample(&self, i: usize) -> &[f64] {
        match &self.samples {
            Rows::Given(rows) => rows.row(i).as_slice(),
            Rows::Copied(columns) => column(columns, i),
        }
    }

    /// The same with columns of length 1 (constant ones stay 0): what the solver works on.
    #[must_use]
    pub fn with_unit_columns(mut self) -> Self {
        self.x.as_mut().par_column_tiles().zip(self.norms.par_chunks(TILE)).for_each(|(tile, norms)| {
            for (column, &norm) in tile.col_iter_mut().zip(norms).filter(|&(_, &norm)| norm > 0.0) {
                slice_mut(column).iter_mut().for_each(|x| *x /= norm);
            }
        });
        self
    }
}

impl Samples for Preprocessed<'_> {
    fn samples(&self) -> usize {
        self.x.nrows()
    }

    fn variables(&self) -> usize {
        self.x.ncols()
    }

    fn differences(&self, members: &[usize], from: usize) -> Mat<f64> {
        let origin = self.sample(from);
        let members: Vec<&[f64]> = members.iter().map(|&i| self.sample(i)).collect();
        Mat::from_fn(origin.len(), members.len(), |v, k| members[k][v] - origin[v])
    }
}

fn transposed(x: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(x.ncols(), x.nrows());
    transpose_into(out.as_mut(), x);
    out
}

/// What was found of a column.
#[derive(Debug, Clone, Copy)]
struct Centred {
    mean: f64,
    /// Whether it is constant but for rounding, and not altogether.
    rounding: bool,
}

/// Takes its mean off a column; all is zero then if it is constant.
fn centre(column: &mut [f64]) -> Centred {
    let n = column.len() as f64;
    let (low, high) = extent(column);
    let rough = sum_less(column, 0.0) / n;
    // The mean of what is left removes the rounding of the first pass.
    let mean = (rough + sum_less(column, rough) / n).clamp(low, high);
    let original = dot(column, column).sqrt();
    column.iter_mut().for_each(|x| *x -= mean);
    let constant = is_constant(low, high, dot(column, column).sqrt(), original);
    if constant {
        column.fill(0.0);
    }
    Centred { mean, rounding: constant && low < high }
}

/// The smallest and the largest entry.
fn extent(x: &[f64]) -> (f64, f64) {
    vectorized(
        #[inline(always)]
        || {
            let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
            let (lanes, tail) = x.as_chunks::<LANES>();
            for x in lanes {
                for l in 0..LANES {
                    low[l] = if x[l] < low[l] { x[l] } else { low[l] };
                    high[l] = if x[l] > high[l] { x[l] } else { high[l] };
                }
            }
            let smallest = low.iter().chain(tail).copied().fold(f64::INFINITY, f64::min);
            (smallest, high.iter().chain(tail).copied().fold(f64::NEG_INFINITY, f64::max))
        },
    )
}

/// `Σ (xᵢ − less)`, in one fixed order.
fn sum_less(x: &[f64], less: f64) -> f64 {
    vectorized(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (lanes, tail) = x.as_chunks::<LANES>();
            for x in lanes {
                for l in 0..LANES {
                    sums[l] += x[l] - less;
                }
            }
            sums.iter().sum::<f64>() + tail.iter().map(|x| x - less).sum::<f64>()
        },
    )
}

/// Whether a column from `low` to `high` is constant, by its norms when centred and before.
pub(crate) fn is_constant(low: f64, high: f64, centred: f64, original: f64) -> bool {
    low == high || centred <= CONSTANT * original
}

/// The best approximation of `x` of the given rank: projected on its principal axes and mapped back.
fn reconstruct(x: &Mat<f64>, rank: usize) -> Result<Mat<f64>> {
    let svd = thin_svd(x.as_ref())?;
    let r = rank.min(svd.s.len());
    let scores = Mat::from_fn(x.nrows(), r, |i, k| svd.u[(i, k)] * svd.s[k]);
    let mut out = product(scores.as_ref(), svd.v.subcols(0, r).transpose());
    for j in (0..x.ncols()).filter(|&j| column(x, j).iter().all(|&x| x == 0.0)) {
        out.col_mut(j).fill(0.0);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset<'static> {
        let x = Mat::from_fn(7, 4, |i, j| match j {
            0 => 0.1,
            1 => 1e8 + i as f64,
            2 => (i * i) as f64,
            _ => 1e-9 * (i as f64).sin(),
        });
        Dataset::from_owned(x, &[0, 1, 0, 1, 0, 1, 0]).unwrap()
    }

    #[test]
    fn constant_columns_become_exactly_zero() {
        let data = data();
        let pre = Preprocessed::new(&data, None).unwrap();
        assert_eq!(column(&pre.x, 0), [0.0; 7]);
        assert_eq!(pre.mean[0], 0.1);
        assert_eq!(column(&pre.x, 1), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert!(pre.norms[3] > 0.0, "small is not constant");
        let unit = pre.with_unit_columns().x;
        assert!((dot(column(&unit, 3), column(&unit, 3)) - 1.0).abs() < 1e-14);
        assert_eq!(column(&unit, 0), [0.0; 7]);
    }

    #[test]
    fn reconstruction_of_full_rank_changes_nothing() {
        let data = data();
        let (plain, full) =
            (Preprocessed::new(&data, None).unwrap(), Preprocessed::new(&data, Some(99)).unwrap());
        assert!((&plain.x - &full.x).norm_max() < 1e-12);
        let one = Preprocessed::new(&data, Some(1)).unwrap();
        assert_eq!(thin_svd(one.x.as_ref()).unwrap().s.len(), 1);
        assert_eq!(column(&one.x, 0), [0.0; 7]);
    }

    #[test]
    fn nothing_but_constants_is_an_error() {
        let x = Mat::from_fn(3, 2, |_, j| j as f64);
        let data = Dataset::from_owned(x, &[0, 1, 1]).unwrap();
        assert!(matches!(Preprocessed::new(&data, None), Err(Error::Degenerate(_))));
    }
}
