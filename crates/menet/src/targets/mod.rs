//! The class target `Y`: where the samples of a class should land.
//!
//! Every sample is to be projected on the centre of its class, in a basis in which the centres spread widest:
//! the weighted PCA of the class centres (Eq. classerror), taken from the thin SVD of the c×p matrix with rows
//! `√pᵢ oᵢ`, never from the p×p covariance. `whitened` does the same after whitening by the pooled within-class
//! covariance `S_w + γ (tr S_w / r) I` in the PCA space of the data, of dimension r.

mod whitened;

use faer::Mat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Error, Result, check};
use crate::monitor::Monitor;
use crate::named::named;
use crate::numerics::linalg::left_svd;
use crate::preprocess::Centred;
use whitened::whitened_centres;
pub(crate) use whitened::{Whitened, whitened_from};

/// How the class centres are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// As they are: the paper's target.
    Centres,
    /// After whitening by the shrunken within-class covariance.
    Whitened,
}

named!(TargetKind, "target", Centres = "centres", Whitened = "whitened");

/// Which samples' covariance whitens the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetSpread {
    /// That of labelled samples, within their classes.
    #[default]
    Classes,
    /// That of all samples, with a label or without.
    All,
}

named!(TargetSpread, "target_spread", Classes = "classes", All = "all");

/// The target: where the samples of a class should be projected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TargetParams {
    /// How the class centres are placed.
    pub kind: TargetKind,
    /// Shrinkage of the within-class covariance, more than 0.
    #[schemars(extend("of" = ["whitened"]))]
    pub shrinkage: f64,
    /// Which samples' covariance whitens the target. It matters where there are samples without a label.
    #[schemars(extend("of" = ["whitened"]))]
    pub spread: TargetSpread,
}

impl Default for TargetParams {
    fn default() -> Self {
        TargetParams { kind: TargetKind::Whitened, shrinkage: 0.1, spread: TargetSpread::Classes }
    }
}

impl TargetParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        check("shrinkage", self.shrinkage, "a number > 0, at most 1e100", |x| x > 0.0)
    }
}

/// How many axes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisCount {
    /// As many as there are.
    All,
    /// This many, or fewer where there are fewer.
    AtMost(usize),
    /// This many, or an error.
    Exactly(usize),
}

impl AxisCount {
    /// All, or exactly so many.
    pub(crate) fn exactly(asked: Option<usize>) -> Self {
        asked.map_or(AxisCount::All, AxisCount::Exactly)
    }
}

/// The target, one row per sample and one column per axis.
///
/// The sign of a column is fixed so that the class farthest out along it is on the positive side. With two classes both
/// kinds are the same up to a factor, so nothing is whitened.
///
/// # Errors
/// When the class centres coincide, have fewer directions than are asked for, whitening does not converge, or `monitor`
/// asks to stop.
pub fn target(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    kind: TargetKind,
    shrinkage: f64,
    axes: AxisCount,
    monitor: &dyn Monitor,
) -> Result<Mat<f64>> {
    target_by(data, samples, None, (kind, shrinkage), axes, monitor)
}

/// The target, whitened by the covariance of `all` samples, those without a label among them, if they are given.
pub(crate) fn target_by(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    all: Option<(&Dataset<'_>, &Centred<'_>)>,
    (kind, shrinkage): (TargetKind, f64),
    axes: AxisCount,
    monitor: &dyn Monitor,
) -> Result<Mat<f64>> {
    let classes = data.classes().len();
    samples.check(data)?;
    if classes < 2 {
        return Err(Error::Classes { found: classes, samples: data.samples() });
    }
    let (centres, size) = match kind {
        TargetKind::Whitened if classes > 2 => {
            let centres = (samples.columns().class_means(data), data.masses());
            let (data, samples) = all.unwrap_or((data, samples));
            whitened_centres(data, samples, centres, shrinkage, monitor)?
        }
        TargetKind::Whitened | TargetKind::Centres => {
            (samples.columns().class_means(data), samples.total().sqrt())
        }
    };
    let placed = placed(&data.masses(), &centres, size, axes)?;
    Ok(Mat::from_fn(data.samples(), placed.ncols(), |j, k| placed[(data.class_of(j), k)]))
}

/// The target of every class from class centres, one row per class, of samples of this size altogether. A class has the sum of the
/// weights of its samples.
pub(crate) fn placed(masses: &[f64], centres: &Mat<f64>, size: f64, axes: AxisCount) -> Result<Mat<f64>> {
    let (classes, samples) = (masses.len(), masses.iter().sum::<f64>());
    let proportion = |class: usize| masses[class] / samples;
    let weighted = Mat::from_fn(classes, centres.ncols(), |i, v| proportion(i).sqrt() * centres[(i, v)]);
    let svd = left_svd(weighted.as_ref())?;
    let limit = svd.s.len().min(classes - 1);
    if limit == 0 || svd.s[0] <= 1e-13 * size / samples.sqrt() {
        return Err(Error::Degenerate("the class centres coincide".to_owned()));
    }
    let d = match axes {
        AxisCount::All => limit,
        AxisCount::AtMost(d) => d.min(limit),
        AxisCount::Exactly(d) if d > limit => {
            return Err(Error::Components { requested: d, limit, classes });
        }
        AxisCount::Exactly(d) => d,
    };
    // The centre of class i in that basis is row i of U S, less the weight.
    let placed: Vec<Vec<f64>> = (0..d)
        .map(|k| {
            let u: Vec<f64> = svd.u.col(k).iter().copied().collect();
            let sign = sign_of_farthest(&u);
            (0..classes).map(|i| sign * u[i] * svd.s[k] / proportion(i).sqrt()).collect()
        })
        .collect();
    Ok(Mat::from_fn(classes, d, |class, k| placed[k][class]))
}

/// The sign of the largest entry; among nearly equal ones the first, so that rounding does not choose.
pub(crate) fn sign_of_farthest(u: &[f64]) -> f64 {
    let largest = u.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    u.iter().find(|x| x.abs() >= (1.0 - 1e-8) * largest).map_or(1.0, |x| x.signum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    fn data(n: usize, p: usize, classes: usize) -> Dataset<'static> {
        let x = Mat::from_fn(n, p, |i, j| {
            ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0
                + ((i % classes) * (j + 1)) as f64 % 3.0
        });
        Dataset::from_owned(x, &(0..n).map(|i| i % classes).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn centres_equal_the_weighted_pca_of_the_covariance() {
        let data = data(30, 5, 4);
        let pre = Centred::new(&data, None).unwrap();
        let y = target(&data, &pre, TargetKind::Centres, 1.0, AxisCount::All, &()).unwrap();
        assert_eq!(y.ncols(), 3);
        // The paper's way: eigenvectors of V = Σ pᵢ oᵢᵀoᵢ.
        let centres = pre.columns().class_means(&data);
        let share = |i: usize| data.members(i).len() as f64 / 30.0;
        let v = Mat::from_fn(5, 5, |a, b| (0..4).map(|i| share(i) * centres[(i, a)] * centres[(i, b)]).sum());
        let (_, vectors) = crate::numerics::linalg::symmetric_eigen(v.as_ref()).unwrap();
        for k in 0..3 {
            let axis = vectors.col(4 - k);
            let expected: Vec<f64> = (0..30).map(|j| centres.row(data.class_of(j)) * axis).collect();
            let sign = expected[0].signum() * y[(0, k)].signum();
            for j in 0..30 {
                assert!((y[(j, k)] - sign * expected[j]).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn columns_are_the_same_however_many_are_asked_for() {
        let data = data(30, 6, 5);
        let pre = Centred::new(&data, None).unwrap();
        for &kind in TargetKind::ALL {
            let all = target(&data, &pre, kind, 1.0, AxisCount::All, &()).unwrap();
            let two = target(&data, &pre, kind, 1.0, AxisCount::Exactly(2), &()).unwrap();
            assert_eq!(all.subcols(0, 2), two);
            let error = target(&data, &pre, kind, 1.0, AxisCount::Exactly(5), &()).unwrap_err();
            assert_eq!(error, Error::Components { requested: 5, limit: 4, classes: 5 });
        }
    }

    #[test]
    fn classes_without_spread_are_not_whitened() {
        let x = Mat::from_fn(4, 2, |i, j| [[0.0, 1.0], [4.0, 2.0]][i % 2][j]);
        let data = Dataset::from_owned(x, &["a", "b", "a", "b"]).unwrap();
        let pre = Centred::new(&data, None).unwrap();
        let plain = target(&data, &pre, TargetKind::Centres, 1.0, AxisCount::All, &()).unwrap();
        let white = target(&data, &pre, TargetKind::Whitened, 1.0, AxisCount::All, &()).unwrap();
        assert!((plain - white).norm_max() < 1e-12);
    }

    #[test]
    fn equal_centres_are_an_error() {
        for size in [1e-30, 1e-8, 1.0, 1e30] {
            let x = Mat::from_fn(6, 2, |i, j| size * [[0.1, 0.7], [1.3, 0.2], [0.4, 0.9]][i % 3][j]);
            let data = Dataset::from_owned(x, &[0, 0, 0, 1, 1, 1]).unwrap();
            let pre = Centred::new(&data, None).unwrap();
            for &kind in TargetKind::ALL {
                assert!(
                    matches!(target(&data, &pre, kind, 1.0, AxisCount::All, &()), Err(Error::Degenerate(_))),
                    "{size}"
                );
            }
        }
    }
}
