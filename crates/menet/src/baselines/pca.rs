//! Principal component analysis.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::space::PcaSpace;
use crate::dataset::Dataset;
use crate::error::{Result, at_least_one};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::Monitor;

/// The directions of largest variance: right singular vectors of the centred data, of length 1. There are as many as the rank.
///
/// If at most a tenth of the axes is asked for and the data are large, only those axes are computed. They equal those of the
/// full decomposition, and those of any other number of axes, up to rounding: about 1e-13 divided by the gap to the next
/// singular value, both relative to the largest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pca {}

impl Reducer for Pca {
    fn name(&self) -> &'static str {
        "pca"
    }

    fn summary(&self) -> &'static str {
        "principal component analysis: the directions of largest variance"
    }

    fn check(&self, _variables: usize) -> Result<()> {
        Ok(())
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        _monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components)?;
        let space = match components {
            Some(count) => PcaSpace::leading(data, count)?,
            None => PcaSpace::new(data, None)?,
        };
        let variances: Vec<f64> = space.s.iter().map(|s| s * s).collect();
        let r = variances.len();
        Ok(space.project(&variances, &Mat::identity(r, r), components)?.into())
    }
}
