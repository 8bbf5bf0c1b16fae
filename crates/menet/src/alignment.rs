//! Whole alignment: `L = Σ SᵢᵀLᵢSᵢ` (Eq. whole1), sparse, and bounds of its spectrum.

use faer::sparse::Triplet;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::{Among, Neighbor, NeighborSearch, neighbor_groups_by};
use crate::patches::{Local, Neighborhood, PatchParams, PatchRule, Samples};
use crate::preprocess::Preprocessed;
pub use crate::sparse::SparseSymmetric;

/// How well an eigenvalue is known, relative to the largest possible one: while κ is still too large, while it is only just
/// so, once it is nearly right (with many samples), and to the last digit.
const ROUGH: f64 = 1e-4;
const BETTER: f64 = 1e-7;
const FINE: f64 = 1e-9;
const FINEST: f64 = 1e-12;

/// From so many samples on the last digits of κ are not worth their time.
const MANY: usize = 5_000;

/// The relative changes of κ below which it is only just too large, and nearly right.
const SLOW: f64 = 0.02;
const SLOWER: f64 = 1e-5;

/// The last step down leaves more than this of κ.
const LONGEST_STEP_DOWN: f64 = 0.999;

/// The aligned patches: `L(κ) = attract − κ repel`.
#[derive(Debug, Clone)]
pub struct Alignment {
    /// What keeps samples together, positive semidefinite.
    pub attract: SparseSymmetric,
    /// What pushes samples apart, positive semidefinite; none for rules without a κ.
    pub repel: Option<SparseSymmetric>,
}

impl Alignment {
    /// Builds the patches of `rule` and adds them up.
    ///
    /// # Errors
    /// When a patch cannot be built, or `monitor` asks to stop.
    pub fn new(
        data: &Dataset<'_>,
        preprocessed: &Preprocessed<'_>,
        rule: &dyn PatchRule,
        params: &PatchParams,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let ((near, far), _) = related(data, preprocessed, rule, params, NeighborSearch::Exact, monitor)?;
        Self::from_neighbors(preprocessed, rule, params, &near, &far, monitor)
    }

    /// The same from neighbours already found.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_neighbors(
        samples: &dyn Samples,
        rule: &dyn PatchRule,
        params: &PatchParams,
        near: &[Vec<Neighbor>],
        far: &[Vec<Neighbor>],
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let n = near.len();
        if far.len() != n || samples.samples() != n {
            let why = format!("there are neighbours of {n} samples");
            return Err(Error::Size {
                what: "the other group, or the data,",
                given: far.len(),
                expected: n,
                why,
            });
        }
        let median_distance = median(near.iter().flatten().map(|neighbor| neighbor.distance));
        // A patch lives only until its entries have been placed.
        let placed: Vec<(Entries, Entries)> = (0..n)
            .into_par_iter()
            .map(|center| {
                proceed(monitor, Stage::Alignment)?;
                let patch = rule.patch(&Neighborhood {
                    center,
                    near: &near[center],
                    far: &far[center],
                    data: samples,
                    params,
                    median_distance,
                })?;
                let repel = patch.repel.as_ref().map_or_else(Vec::new, |repel| place(&patch.members, repel));
                Ok((place(&patch.members, &patch.attract), repel))
            })
            .collect::<Result<_>>()?;
        monitor.progress(Stage::Alignment, n, n);
        let (attract, repel): (Vec<Entries>, Vec<Entries>) = placed.into_iter().unzip();
        let attract = SparseSymmetric::from_triplets(n, &attract.concat())?;
        let repel =
            rule.has_kappa().then(|| SparseSymmetric::from_triplets(n, &repel.concat())).transpose()?;
        Ok(Alignment { attract, repel })
    }

    /// `L(κ)`.
    pub fn matrix(&self, kappa: f64) -> SparseSymmetric {
        match self.repel.as_ref().filter(|_| kappa != 0.0) {
            Some(repel) => self.attract.plus(-kappa, repel),
            None => self.attract.clone(),
        }
    }

    /// The largest κ ≤ `requested` for which no eigenvalue of `L(κ)` is below `−bound`, and the smallest eigenvalue
    /// there. `None` if even κ = 0 does not do.
    ///
    /// `λ_min(L(κ))` is concave in κ, so where the bound fails, the κ at which the eigenvector found just meets it,
    /// `xᵀ(attract + bound I)x / xᵀ repel x`, lies beyond the answer still, and nearer: Dinkelbach's iteration, which
    /// converges quadratically from above. Any vector gives a κ that is not below the answer, so that a rough one will do
    /// until κ hardly moves any more. The last step is one down: `λ_min(0) ≥ 0`, so that for a part t of κ concavity gives
    /// `λ_min(L(tκ)) ≥ t λ_min(L(κ))`, and where that misses the bound by a rounding, t makes up for it.
    ///
    /// # Errors
    /// When an eigenvalue cannot be found, or `monitor` asks to stop.
    pub fn largest_kappa(
        &self,
        requested: f64,
        bound: f64,
        monitor: &dyn Monitor,
    ) -> Result<Option<(f64, f64)>> {
        let size = self.attract.spectrum_bound() + bound;
        let mut kappa = requested;
        let mut start = vec![0.0; self.attract.dim()];
        let fine = if start.len() < MANY { FINEST } else { FINE };
        let mut tolerance = ROUGH;
        for _ in 0..100 {
            proceed(monitor, Stage::Reduction)?;
            let matrix = self.matrix(kappa);
            let mut smallest = matrix.smallest_eigenvalue_from(&start, tolerance)?;
            // Closer looks, until a vector shows that the bound does not hold, or the eigenvalue that it does.
            let slack = |tolerance: f64| size * if tolerance == fine { 3.0 * fine } else { FINEST };
            while matrix.quadratic(&smallest.vector) >= -bound - slack(tolerance) {
                if tolerance <= fine && smallest.value >= -bound - FINEST * size {
                    return Ok(Some((kappa, smallest.value)));
                }
                // Not where it would be a long one: the bound is 0 for a floor of 1.
                let part = bound / -smallest.value;
                if tolerance <= fine && kappa < requested && part > LONGEST_STEP_DOWN {
                    return Ok(Some((kappa * part, -bound)));
                }
                if tolerance == FINEST {
                    break;
                }
                proceed(monitor, Stage::Reduction)?;
                tolerance = if tolerance > fine { fine } else { FINEST };
                smallest = matrix.smallest_eigenvalue_from(&smallest.vector, tolerance)?;
            }
            start.copy_from_slice(&smallest.vector);
            let Some(repel) = self.repel.as_ref().filter(|_| kappa > 0.0) else { return Ok(None) };
            let x = &smallest.vector;
            let next = (self.attract.quadratic(x) + bound * dot(x, x)) / repel.quadratic(x);
            // Rounded down a little, so that the last step ends below the bound and not upon it.
            let next = next * (1.0 - 1e-12);
            let moved = 1.0 - next / kappa;
            tolerance = match moved {
                _ if moved > SLOW => ROUGH,
                _ if moved > SLOWER => BETTER,
                _ => fine,
            };
            kappa = if next < kappa { next.max(0.0) } else { kappa * (1.0 - 1e-9) };
        }
        Err(Error::Numerical {
            what: "the search for the largest kappa",
            detail: format!("stuck at {kappa}"),
        })
    }
}

/// The two groups of neighbours that `rule` asks for, the second empty for rules without a κ; and the recall of a search
/// that is not exact.
///
/// # Errors
/// When `monitor` asks to stop.
pub fn related(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed<'_>,
    rule: &dyn PatchRule,
    params: &PatchParams,
    search: NeighborSearch,
    monitor: &dyn Monitor,
) -> Result<(Groups, Option<f64>)> {
    let ([near, far], recall) =
        neighbor_groups_by(data, preprocessed, groups(rule, params), search, monitor)?;
    Ok(((near, far), recall))
}

/// The groups of neighbours that `rule` asks for.
pub(crate) fn groups(rule: &dyn PatchRule, params: &PatchParams) -> [(Among, usize); 2] {
    let k_far = if rule.has_kappa() { params.k_between } else { 0 };
    [(rule.near(), params.k_within), (Among::Between, k_far)]
}

/// For every sample its neighbours of the first and of the second group.
pub type Groups = (Vec<Vec<Neighbor>>, Vec<Vec<Neighbor>>);

type Entries = Vec<Triplet<usize, usize, f64>>;

/// `SᵀLS`: the entries of a patch's matrix, at its members.
fn place(members: &[usize], local: &Local) -> Entries {
    local.entries().into_iter().map(|(a, b, value)| Triplet::new(members[a], members[b], value)).collect()
}

/// The median, the lower one of two; 1 of nothing.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return 1.0;
    }
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
