//! Centring, constant columns, and the paper's optional PCA reconstruction (Algorithm 1, step 1).

use faer::Mat;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::linalg::{column, column_mut, dot, from_columns, product, thin_svd};
use crate::patches::Samples;

/// A centred column whose norm is this small a part of its original norm is rounding: 0.1 repeated, minus its
/// mean, leaves 8e-17, which scaled to length 1 would become a variable.
const CONSTANT: f64 = 1e-12;

/// The data as the stages after this one see them: in the user's units, without the mean.
#[derive(Debug, Clone)]
pub struct Preprocessed {
    /// Centred data, n×p; constant columns are exactly 0.
    pub x: Mat<f64>,
    /// The samples as columns, p×n: what distances are computed from. Not centred unless reconstructed, so that
    /// equal distances between samples of whole numbers stay equal.
    pub samples: Mat<f64>,
    /// The mean of every variable.
    pub mean: Vec<f64>,
    /// The norm of every centred column, 0 for a constant one.
    pub norms: Vec<f64>,
}

impl Preprocessed {
    /// Centres, and if `pca_rank` is given replaces the data by their best approximation of that rank.
    ///
    /// # Errors
    /// When every column is constant, or the decomposition fails.
    pub fn new(data: &Dataset<'_>, pca_rank: Option<usize>) -> Result<Self> {
        let (n, p) = (data.samples(), data.variables());
        let raw = data.x()?;
        let columns: Vec<(Vec<f64>, f64)> =
            (0..p).into_par_iter().map(|j| centred(raw.col(j).iter().copied().collect())).collect();
        let (columns, mean): (Vec<Vec<f64>>, Vec<f64>) = columns.into_iter().unzip();
        let mut x = from_columns(n, &columns);
        let mut samples = raw.transpose().to_owned();
        if let Some(rank) = pca_rank {
            x = reconstruct(&x, rank)?;
            samples = x.transpose().to_owned();
        }
        // A column that is rounding takes no part in distances either.
        for j in (0..p).filter(|&j| column(&x, j).iter().all(|&x| x == 0.0)) {
            samples.row_mut(j).fill(0.0);
        }
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

    /// The centred data with columns of length 1 (constant ones stay 0): what the solver works on.
    pub fn unit_columns(&self) -> Mat<f64> {
        let mut x = self.x.clone();
        for (j, &norm) in self.norms.iter().enumerate().filter(|&(_, &norm)| norm > 0.0) {
            column_mut(&mut x, j).iter_mut().for_each(|x| *x /= norm);
        }
        x
    }
}

impl Samples for Preprocessed {
    fn samples(&self) -> usize {
        self.samples.ncols()
    }

    fn variables(&self) -> usize {
        self.samples.nrows()
    }

    fn differences(&self, members: &[usize], from: usize) -> Mat<f64> {
        let origin = column(&self.samples, from);
        Mat::from_fn(origin.len(), members.len(), |v, k| self.samples[(v, members[k])] - origin[v])
    }
}

/// A column without its mean, and the mean. All zero if the column is constant.
fn centred(mut column: Vec<f64>) -> (Vec<f64>, f64) {
    let n = column.len() as f64;
    let low = column.iter().copied().fold(f64::INFINITY, f64::min);
    let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rough = column.iter().sum::<f64>() / n;
    // The mean of what is left removes the rounding of the first pass.
    let mean = (rough + column.iter().map(|x| x - rough).sum::<f64>() / n).clamp(low, high);
    let original = dot(&column, &column).sqrt();
    column.iter_mut().for_each(|x| *x -= mean);
    if is_constant(low, high, dot(&column, &column).sqrt(), original) {
        column.fill(0.0);
    }
    (column, mean)
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
        let pre = Preprocessed::new(&data(), None).unwrap();
        assert_eq!(column(&pre.x, 0), [0.0; 7]);
        assert_eq!(pre.mean[0], 0.1);
        assert_eq!(column(&pre.x, 1), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert!(pre.norms[3] > 0.0, "small is not constant");
        let unit = pre.unit_columns();
        assert!((dot(column(&unit, 3), column(&unit, 3)) - 1.0).abs() < 1e-14);
        assert_eq!(column(&unit, 0), [0.0; 7]);
    }

    #[test]
    fn reconstruction_of_full_rank_changes_nothing() {
        let (plain, full) =
            (Preprocessed::new(&data(), None).unwrap(), Preprocessed::new(&data(), Some(99)).unwrap());
        assert!((&plain.x - &full.x).norm_max() < 1e-12);
        let one = Preprocessed::new(&data(), Some(1)).unwrap();
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
