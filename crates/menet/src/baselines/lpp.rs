//! Locality preserving projections, supervised (SLPP) or not.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::space::{PcaSpace, constrained_eigen};
use crate::alignment::Alignment;
use crate::dataset::Dataset;
use crate::error::{Result, at_least_one};
use crate::methods::{LearnedReduction, Reducer};
use crate::monitor::Monitor;
use crate::numerics::linalg::symmetric_product;
use crate::patches::{Laplacian, PatchParams, Weights};

/// `min aᵀTᵀLTa / aᵀTᵀDTa`: neighbours stay near, for a graph Laplacian L with degrees D.
///
/// The graph is that of the Laplacian patches: i and j are tied by the sum of the weights each gives the other. With
/// neighbours from the same class only, in a PCA space of n−1 dimensions, c−1 eigenvalues are 0 (more where the graph of a
/// class falls into parts). They form one eigenspace, whose axes are then ordered by total variance (see the module `space`). Samples without a neighbour (alone in their
/// class) are left out of the constraint. Axes have length 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lpp {
    /// Whether neighbours come from the same class only.
    pub supervised: bool,
    /// Dimension of the PCA space; none = n−1, the paper's.
    pub pca_rank: Option<usize>,
    /// Neighbours, ≥ 1; a smaller class uses what it has.
    pub k: usize,
    /// Width of the heat kernel, > 0; none = the median distance to the neighbours.
    pub bandwidth: Option<f64>,
    /// Whether all neighbours have weight 1 instead of the heat kernel's.
    pub binary: bool,
}

impl Default for Lpp {
    fn default() -> Self {
        Lpp { supervised: true, pca_rank: None, k: 5, bandwidth: None, binary: false }
    }
}

impl Lpp {
    fn patch_params(&self) -> PatchParams {
        PatchParams { k_within: self.k, bandwidth: self.bandwidth, ..PatchParams::default() }
    }
}

impl Reducer for Lpp {
    fn name(&self) -> &'static str {
        if self.supervised { "slpp" } else { "lpp" }
    }

    fn summary(&self) -> &'static str {
        if self.supervised {
            "supervised locality preserving projections: neighbours of a class stay near"
        } else {
            "locality preserving projections: neighbours stay near"
        }
    }

    fn check(&self, _variables: usize) -> Result<()> {
        at_least_one("pca_rank", self.pca_rank)?;
        at_least_one("k", Some(self.k))?;
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
        let weights = if self.binary { Weights::Binary } else { Weights::Heat };
        let rule = Laplacian { weights, supervised: self.supervised };
        let space = PcaSpace::new(data, self.pca_rank)?;
        let laplacian = Alignment::new(data, &space.pre, &rule, &self.patch_params(), monitor)?.attract;
        // The degree of a sample is its entry on the diagonal of L.
        let degrees: Vec<f64> = (0..laplacian.dim())
            .map(|j| laplacian.column(j).filter(|&(i, _)| i == j).map(|(_, value)| value).sum())
            .collect();
        let u = &space.u;
        let weighted = Mat::from_fn(u.nrows(), u.ncols(), |i, k| degrees[i] * u[(i, k)]);
        let constraint = symmetric_product(u.as_ref(), weighted.as_ref());
        let (values, b) = constrained_eigen(&space.compress(&laplacian), &constraint)?;
        let axes = space.unscaled(&b);
        Ok(space.project(&values, &axes, components)?.into())
    }
}
