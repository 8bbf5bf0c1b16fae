//! Fisher's linear discriminant analysis after PCA, "Fisherfaces".

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::space::PcaSpace;
use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one, check};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::Monitor;
use crate::numerics::linalg::thin_svd;

/// `max aᵀS_b a / aᵀ(S_w + ρ (tr S_w / r) I) a` in the PCA space of dimension r; at most c−1 axes.
///
/// Solved with the total scatter `S_t = S_b + S_w`, which is diagonal in PCA space, in place of S_w: the axes are the
/// same, and a singular S_w (more dimensions than n−c, or duplicates) needs no ridge. Directions in which no class
/// varies then come first, as one eigenspace. Axes have length 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flda {
    /// Dimension of the PCA space; none = n−c, the paper's.
    pub pca_rank: Option<usize>,
    /// ρ ≥ 0, the ridge on S_w relative to its mean eigenvalue.
    pub ridge: f64,
}

impl Reducer for Flda {
    fn name(&self) -> &'static str {
        "flda"
    }

    fn summary(&self) -> &'static str {
        "Fisher's linear discriminant analysis: classes far apart for their width, after PCA"
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("pca_rank", self.pca_rank)?;
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        _monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components)?;
        self.check(data.variables())?;
        let (n, c) = (data.samples(), data.classes().len());
        if c < 2 {
            return Err(Error::Classes { found: c, samples: n });
        }
        // One sample a class leaves n−c = 0 dimensions, and nothing within classes to divide by: all n−1 then.
        let paper = if n == c { n - 1 } else { n - c };
        let space = PcaSpace::new(data, Some(self.pca_rank.unwrap_or(paper)))?;
        let centres = weighted_centres(data, &space.scores());
        let total: f64 = space.s.iter().map(|s| s * s).sum();
        let within = (total - centres.norm_l2().powi(2)).max(0.0);
        let shift = self.ridge * within / space.s.len() as f64;
        // S_t + ρI is diagonal here: divided by its root, the problem is that of singular values.
        let root: Vec<f64> = space.s.iter().map(|s| (s * s + shift).sqrt()).collect();
        let svd = thin_svd(Mat::from_fn(c, root.len(), |i, k| centres[(i, k)] / root[k]).as_ref())?;
        let d = svd.s.len().min(c - 1);
        if d == 0 || svd.s[0] <= 1e-7 {
            return Err(Error::Degenerate("the class centres coincide".to_owned()));
        }
        let values: Vec<f64> = svd.s[..d].iter().map(|s| s * s).collect();
        let axes = Mat::from_fn(root.len(), d, |i, k| svd.v[(i, k)] / root[i]);
        Ok(space.project(&values, &axes, components)?.into())
    }
}

/// The class centres of the scores, each times the root of its class's size: `MᵀM = S_b`.
fn weighted_centres(data: &Dataset<'_>, scores: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(data.classes().len(), scores.ncols(), |class, k| {
        let members = data.members(class);
        members.iter().map(|&i| scores[(i, k)]).sum::<f64>() / (members.len() as f64).sqrt()
    })
}
