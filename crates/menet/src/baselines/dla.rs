//! Discriminative locality alignment.

use serde::{Deserialize, Serialize};

use super::space::PcaSpace;
use crate::alignment::Alignment;
use crate::dataset::Dataset;
use crate::error::{Result, at_least_one, check};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::Monitor;
use crate::numerics::linalg::symmetric_eigen;
use crate::patches::{self, PatchParams};

/// `min tr(AᵀTᵀLTA)` over orthonormal A, with L of the paper's patch: the eigenvectors of `TᵀLT` with the smallest
/// eigenvalues. L is not definite, and need not be. Axes are orthonormal, as many as the PCA space has dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dla {
    /// Dimension of the PCA space; none = n−1, the paper's.
    pub pca_rank: Option<usize>,
    /// Neighbours of the same class, ≥ 1; a smaller class uses what it has.
    pub k_within: usize,
    /// Neighbours of other classes, ≥ 0.
    pub k_between: usize,
    /// κ ≥ 0, how strongly near samples of other classes are pushed apart.
    pub kappa: f64,
}

impl Default for Dla {
    fn default() -> Self {
        Dla { pca_rank: None, k_within: 5, k_between: 5, kappa: 0.1 }
    }
}

impl Dla {
    fn patch_params(&self) -> PatchParams {
        PatchParams { k_within: self.k_within, k_between: self.k_between, ..PatchParams::default() }
    }
}

impl Reducer for Dla {
    fn name(&self) -> &'static str {
        "dla"
    }

    fn summary(&self) -> &'static str {
        "discriminative locality alignment: the manifold part of MEN alone, dense"
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("pca_rank", self.pca_rank)?;
        check("kappa", self.kappa, "a number from 0 to 1e100", |x| x >= 0.0)?;
        self.patch_params().check()
    }

    fn fit(
        &self,
        data: &Dataset<'_>,
        components: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<LearnedReduction> {
        at_least_one("components", components)?;
        self.check(data.variables())?;
        let space = PcaSpace::new(data, self.pca_rank)?;
        let alignment =
            Alignment::new(data, &space.pre, patches::rule("dla")?, &self.patch_params(), monitor)?;
        let mut n = space.compress(&alignment.matrix(self.kappa));
        for k in 0..n.ncols() {
            for i in 0..n.nrows() {
                n[(i, k)] *= space.s[i] * space.s[k];
            }
        }
        let (values, axes) = symmetric_eigen(n.as_ref())?;
        Ok(space.project(&values, &axes, components)?.into())
    }
}
