//! Locally linear embedding and neighbourhood preserving embedding.

use faer::Mat;

use super::{Neighborhood, Patch, PatchMatrix, PatchParams, PatchRule};
use crate::error::{Error, Result};
use crate::neighbors::NeighborScope;
use crate::numerics::linalg::{cholesky, cholesky_solve, column, dot};

/// `‖zᵢ − Σ cⱼ zⱼ‖²`, where the `c`, summing to 1, are the best such reconstruction of the sample itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lle {
    /// Whether neighbours come from the same class only.
    pub supervised: bool,
}

impl PatchRule for Lle {
    fn name(&self) -> &'static str {
        if self.supervised { "lle" } else { "lle-unsupervised" }
    }

    fn summary(&self) -> &'static str {
        if self.supervised {
            "locally linear reconstruction from the same class"
        } else {
            "locally linear reconstruction from all samples"
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

    fn patch(&self, hood: &Neighborhood<'_>) -> Result<Patch> {
        let members = hood.near_members();
        let c = reconstruction(hood, &members[1..])?;
        // [1, −c] [1, −c]ᵀ; without neighbours the sample is its own reconstruction.
        let row: Vec<f64> = std::iter::once(1.0).chain(c.iter().map(|c| -c)).collect();
        let size = row.len();
        let attract =
            if size == 1 { Mat::zeros(1, 1) } else { Mat::from_fn(size, size, |i, j| row[i] * row[j]) };
        Ok(Patch { members, attract: PatchMatrix::Dense(attract), repel: None })
    }
}

/// The weights, summing to 1, that best reconstruct the centre: `(C + ε tr(C) I) c ∝ 1` for the local Gram matrix
/// `C` of the differences.
fn reconstruction(hood: &Neighborhood<'_>, near: &[usize]) -> Result<Vec<f64>> {
    let k = near.len();
    let differences = hood.samples.differences(near, hood.center);
    let mut gram = Mat::from_fn(k, k, |i, j| dot(column(&differences, i), column(&differences, j)));
    let trace: f64 = (0..k).map(|i| gram[(i, i)]).sum();
    // All neighbours are copies of the sample: any weights would do, and equal ones are the limit.
    let shift = if trace > 0.0 { hood.params.regularizer * trace } else { 1.0 };
    for i in 0..k {
        gram[(i, i)] += shift;
    }
    let factor = cholesky(gram.as_ref()).ok_or_else(|| Error::Numerical {
        what: "the local reconstruction",
        detail: format!(
            "the neighbours of sample {} (counted from 0) are dependent; raise regularizer above {}",
            hood.center, hood.params.regularizer
        ),
    })?;
    let mut c = Mat::full(k, 1, 1.0);
    cholesky_solve(factor.as_ref(), c.as_mut());
    let sum: f64 = c.col(0).iter().sum();
    Ok(c.col(0).iter().map(|c| c / sum).collect())
}
