//! Neighbourhood preserving embedding, supervised or not (UNPE).

use serde::{Deserialize, Serialize};

use super::space::PcaSpace;
use crate::alignment::Alignment;
use crate::dataset::Dataset;
use crate::error::{Result, at_least_one, check};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::Monitor;
use crate::numerics::linalg::symmetric_eigen;
use crate::patches::{Lle, PatchParams};

/// `min aᵀTᵀMTa / aᵀTᵀTa` with `M = (I − C)ᵀ(I − C)`: what reconstructs a sample from its neighbours also reconstructs
/// its projection.
///
/// In a PCA space of n−1 dimensions with neighbours from the same class only, class means reconstruct themselves: c−1
/// eigenvalues are 0, one eigenspace as in [`super::Lpp`]. Axes have length 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Npe {
    /// Whether neighbours come from the same class only.
    pub supervised: bool,
    /// Dimension of the PCA space; none = n−1, the paper's.
    pub pca_rank: Option<usize>,
    /// Neighbours, ≥ 1; a smaller class uses what it has.
    pub k: usize,
    /// Regularizer of the reconstruction, > 0, relative to the trace of the local Gram matrix.
    pub regularizer: f64,
}

impl Default for Npe {
    fn default() -> Self {
        Npe { supervised: true, pca_rank: None, k: 5, regularizer: 1e-3 }
    }
}

impl Reducer for Npe {
    fn name(&self) -> &'static str {
        if self.supervised { "npe" } else { "unpe" }
    }

    fn summary(&self) -> &'static str {
        if self.supervised {
            "supervised neighbourhood preserving embedding: samples are made of their class's neighbours"
        } else {
            "neighbourhood preserving embedding: samples are made of their neighbours"
        }
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("pca_rank", self.pca_rank)?;
        at_least_one("k", Some(self.k))?;
        check("regularizer", self.regularizer, "a number > 0, at most 1e100", |x| x > 0.0)
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components)?;
        self.check(data.variables())?;
        let params =
            PatchParams { k_within: self.k, regularizer: self.regularizer, ..PatchParams::default() };
        let space = PcaSpace::new(data, self.pca_rank)?;
        let rule = Lle { supervised: self.supervised };
        let m = Alignment::new(data, &space.pre, &rule, &params, monitor)?.attract;
        let (values, b) = symmetric_eigen(space.compress(&m).as_ref())?;
        let axes = space.unscaled(&b);
        Ok(space.project(&values, &axes, components)?.into())
    }
}
