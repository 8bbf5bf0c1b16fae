//! Discriminative locality alignment, the paper's patch (Eqs. part1 and part2).

use super::{Neighborhood, Patch, PatchMatrix, PatchRule};
use crate::error::Result;
use crate::neighbors::NeighborScope;

/// `Σ ‖zᵢ − zⱼ‖²` over the `k_within` nearest of the same class, minus κ times the same over the `k_between`
/// nearest of other classes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dla;

impl PatchRule for Dla {
    fn name(&self) -> &'static str {
        "dla"
    }

    fn summary(&self) -> &'static str {
        "discriminative locality alignment: near samples of the class together, near ones of others apart"
    }

    fn near(&self) -> NeighborScope {
        NeighborScope::Within
    }

    fn has_kappa(&self) -> bool {
        true
    }

    fn patch(&self, hood: &Neighborhood<'_>) -> Result<Patch> {
        let (near, far) = (hood.near.len(), hood.far.len());
        let members = hood.near_members().into_iter().chain(hood.far.iter().map(|n| n.index)).collect();
        let star =
            |within: f64, between: f64| PatchMatrix::Star([vec![within; near], vec![between; far]].concat());
        Ok(Patch { members, attract: star(1.0, 0.0), repel: Some(star(0.0, 1.0)) })
    }
}
