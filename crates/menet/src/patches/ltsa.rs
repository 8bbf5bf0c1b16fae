//! Local tangent space alignment.

use faer::Mat;

use super::{Neighborhood, Patch, PatchMatrix, PatchParams, PatchRule};
use crate::error::Result;
use crate::neighbors::NeighborScope;
use crate::numerics::linalg::{column, dot, symmetric_eigen};

/// The part of the patch that no affine map of its local tangent coordinates explains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ltsa {
    /// Whether neighbours come from the same class only.
    pub supervised: bool,
}

impl PatchRule for Ltsa {
    fn name(&self) -> &'static str {
        if self.supervised { "ltsa" } else { "ltsa-unsupervised" }
    }

    fn summary(&self) -> &'static str {
        if self.supervised {
            "local tangent space alignment within classes"
        } else {
            "local tangent space alignment over all samples"
        }
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn near(&self) -> NeighborScope {
        if self.supervised { NeighborScope::Within } else { NeighborScope::All }
    }

    fn entries(&self, params: &PatchParams) -> usize {
        (params.k_within + 1) * (params.k_within + 1)
    }

    /// `Lᵢ = I − 11ᵀ/m − VVᵀ`, with V the leading left singular vectors of the centred patch.
    fn patch(&self, hood: &Neighborhood<'_>) -> Result<Patch> {
        let members = hood.near_members();
        let m = members.len();
        let dimension = hood.params.dimension.unwrap_or((m - 1) / 2).min(hood.variables);
        let differences = hood.samples.differences(&members, hood.center);
        let gram = Mat::from_fn(m, m, |i, j| dot(column(&differences, i), column(&differences, j)));
        // The Gram matrix of the centred patch, J C J with J = I − 11ᵀ/m.
        let mean: Vec<f64> = (0..m).map(|i| (0..m).map(|j| gram[(i, j)]).sum::<f64>() / m as f64).collect();
        let all = mean.iter().sum::<f64>() / m as f64;
        let centred = Mat::from_fn(m, m, |i, j| gram[(i, j)] - mean[i] - mean[j] + all);
        let (values, vectors) = symmetric_eigen(centred.as_ref())?;
        let largest = values[m - 1].max(0.0);
        let tangent: Vec<usize> =
            (0..m).rev().take(dimension.min(m - 1)).filter(|&k| values[k] > 1e-12 * largest).collect();
        let attract = Mat::from_fn(m, m, |i, j| {
            let explained: f64 = tangent.iter().map(|&k| vectors[(i, k)] * vectors[(j, k)]).sum();
            f64::from(i == j) - 1.0 / m as f64 - explained
        });
        Ok(Patch { members, attract: PatchMatrix::Dense(attract), repel: None })
    }
}
