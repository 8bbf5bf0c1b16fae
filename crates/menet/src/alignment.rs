//! Whole alignment: `L = Σ SᵢᵀLᵢSᵢ` (Eq. whole1), sparse, and bounds of its spectrum.

use faer::sparse::Triplet;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::{Among, Found, NeighborSearch, neighbor_groups};
use crate::numerics::sparse::SparseSymmetric;
use crate::numerics::spectrum::{Operator, Search};
use crate::patches::{Local, Neighborhood, PatchParams, PatchRule};
use crate::preprocess::Centred;

/// How well an eigenvalue is known when κ has been found, relative to the largest possible one: to the last digit, and where
/// there are so many samples that the last digits are not worth their time.
const FINEST: f64 = 1e-12;
const FINE: f64 = 1e-9;
const MANY: usize = 5_000;

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
        samples: &Centred<'_>,
        rule: &dyn PatchRule,
        params: &PatchParams,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let (found, _) = related(data, samples, rule, params, NeighborSearch::Exact, monitor)?;
        Self::from_neighbors(samples, rule, params, &found, monitor)
    }

    /// The same from neighbours already found.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_neighbors(
        samples: &Centred<'_>,
        rule: &dyn PatchRule,
        params: &PatchParams,
        [near, far]: &Found<2>,
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
                    samples: samples.rows(),
                    variables: samples.variables(),
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
    /// there, from below. `None` if even κ = 0 does not do.
    ///
    /// # Errors
    /// When an eigenvalue cannot be found, or `monitor` asks to stop.
    pub fn largest_kappa(
        &self,
        requested: f64,
        bound: f64,
        monitor: &dyn Monitor,
    ) -> Result<Option<(f64, f64)>> {
        let (n, size) = (self.attract.dim(), self.attract.spectrum_bound() + bound);
        let Some(repel) = self.repel.as_ref().filter(|_| requested > 0.0) else {
            let value = self.attract.smallest_eigenvalue()?;
            return Ok((value >= -bound - FINEST * size).then_some((requested, value)));
        };
        let tolerance = if n < MANY { FINEST } else { FINE };
        let parts: [&Operator<'_>; 2] = [&|x, out| self.attract.apply(x, out), &|x, out| repel.apply(x, out)];
        Search { size, tolerance, bound, most: requested }
            .run(n, parts, &|| proceed(monitor, Stage::Reduction))
    }
}

/// The two groups of neighbours that `rule` asks for, the second empty for rules without a κ; and the recall of a search
/// that is not exact.
///
/// # Errors
/// When `monitor` asks to stop.
pub fn related(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    rule: &dyn PatchRule,
    params: &PatchParams,
    search: NeighborSearch,
    monitor: &dyn Monitor,
) -> Result<(Found<2>, Option<f64>)> {
    neighbor_groups(data, samples, groups(rule, params), search, monitor)
}

/// The groups of neighbours that `rule` asks for.
pub fn groups(rule: &dyn PatchRule, params: &PatchParams) -> [(Among, usize); 2] {
    let k_far = if rule.has_kappa() { params.k_between } else { 0 };
    [(rule.near(), params.k_within), (Among::Between, k_far)]
}

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
