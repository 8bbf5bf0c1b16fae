//! Laplacian eigenmaps and locality preserving projections.

use super::{Neighborhood, Patch, PatchMatrix, PatchRule};
use crate::error::Result;
use crate::neighbors::NeighborScope;

/// The weight of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weights {
    /// `exp(−d²/t²)` with t the bandwidth.
    Heat,
    /// 1.
    Binary,
}

/// `Σ ωⱼ ‖zᵢ − zⱼ‖²` over the `k_within` nearest samples, of the class or of all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Laplacian {
    /// How neighbours are weighed.
    pub weights: Weights,
    /// Whether neighbours come from the same class only.
    pub supervised: bool,
}

impl PatchRule for Laplacian {
    fn name(&self) -> &'static str {
        match (self.weights, self.supervised) {
            (Weights::Heat, true) => "laplacian",
            (Weights::Binary, true) => "laplacian-binary",
            (Weights::Heat, false) => "laplacian-unsupervised",
            (Weights::Binary, false) => "laplacian-binary-unsupervised",
        }
    }

    fn summary(&self) -> &'static str {
        match (self.weights, self.supervised) {
            (Weights::Heat, true) => "graph Laplacian within classes, heat-kernel weights",
            (Weights::Binary, true) => "graph Laplacian within classes, weights 0 or 1",
            (Weights::Heat, false) => "graph Laplacian over all samples, heat-kernel weights",
            (Weights::Binary, false) => "graph Laplacian over all samples, weights 0 or 1",
        }
    }

    fn near(&self) -> NeighborScope {
        if self.supervised { NeighborScope::Within } else { NeighborScope::All }
    }

    fn patch(&self, hood: &Neighborhood<'_>) -> Result<Patch> {
        let width = hood.params.bandwidth.unwrap_or(hood.median_distance);
        let weight = |distance: f64| match self.weights {
            Weights::Binary => 1.0,
            // Only duplicates: every distance is 0, and so is their median.
            Weights::Heat if distance == 0.0 => 1.0,
            Weights::Heat => (-(distance / width).powi(2)).exp(),
        };
        let weights = hood.near.iter().map(|n| weight(n.distance)).collect();
        Ok(Patch { members: hood.near_members(), attract: PatchMatrix::Star(weights), repel: None })
    }
}
