//! Whole alignment: `L = Σ SᵢᵀLᵢSᵢ` (Eq. whole1), sparse, and bounds of its spectrum.

use faer::sparse::Triplet;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::{Neighbor, NeighborLists, NeighborScope, NeighborSearch, neighbor_groups};
use crate::numerics::sparse::SparseSymmetric;
use crate::numerics::spectrum::{Operator, ShiftSearch, SmallestEigenvalue};
use crate::patches::{Neighborhood, Patch, PatchMatrix, PatchParams, PatchRule};
use crate::preprocess::{Centred, Rows};

/// How well an eigenvalue is known when κ has been found, relative to the largest possible one: to the last digit, and where
/// there are so many samples that the last digits are not worth their time.
const FINEST: f64 = 1e-12;
const FINE: f64 = 1e-9;
const MANY: usize = 5_000;

/// Patches that a thread makes at a time.
const CENTRES: usize = 2048;

/// The aligned patches: `L(κ) = attract − κ repel`, and what samples without a label add.
#[derive(Debug, Clone)]
pub struct Alignment {
    /// What keeps labelled samples together, positive semidefinite.
    pub attract: SparseSymmetric,
    /// What pushes labelled samples apart, positive semidefinite; none for rules without a κ.
    pub repel: Option<SparseSymmetric>,
    /// The patches of samples without a label, over all samples: the labelled ones first, then the others.
    pub(crate) unlabelled: Option<SparseSymmetric>,
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

    /// The alignment from neighbours already found.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_neighbors(
        samples: &Centred<'_>,
        rule: &dyn PatchRule,
        params: &PatchParams,
        [near, far]: &NeighborLists<2>,
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
        let (rows, variables) = (samples.rows(), samples.variables());
        Self::from_patches(&PatchInputs { rows, variables, rule, params, found: (near, far) }, monitor)
    }

    /// Adds the patches of samples without a label, which come last among `all`. Their neighbours are the nearest of all samples, and nothing
    /// pushes them apart.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn join_unlabelled(
        &mut self,
        all: &Dataset<'_>,
        samples: &Centred<'_>,
        rule: &dyn PatchRule,
        params: &PatchParams,
        search: NeighborSearch,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let (n, labelled) = (all.samples(), self.attract.dim());
        let groups = [(NeighborScope::All, params.k_within)];
        let ([near], _) = neighbor_groups(all, samples, groups, search, monitor)?;
        let near = &near[labelled..];
        let (rows, variables, far) = (samples.rows(), samples.variables(), vec![Vec::new(); near.len()]);
        let patched = PatchInputs { rows, variables, rule, params, found: (near, &far) };
        let median_distance = median(near.iter().flatten().map(|neighbor| neighbor.distance));
        let entries = patched.attract(&|at| labelled + at, median_distance, monitor)?;
        self.unlabelled = Some(SparseSymmetric::from_triplets(n, &entries)?);
        Ok(())
    }

    pub(crate) fn from_patches(patched: &PatchInputs<'_>, monitor: &dyn Monitor) -> Result<Self> {
        let (near, _) = patched.found;
        let n = near.len();
        let median_distance = median(near.iter().flatten().map(|neighbor| neighbor.distance));
        // One part after the other: the entries of both, before they are added up, take several times the room of L.
        let mut alignment = Self::from_entries(n, &patched.attract(&|at| at, median_distance, monitor)?)?;
        if patched.rule.has_kappa() {
            let entries = patched.repel(&|at| at, median_distance, monitor)?;
            alignment.repel = Some(SparseSymmetric::from_triplets(n, &entries)?);
        }
        monitor.progress(Stage::Alignment, n, n);
        Ok(alignment)
    }

    /// From the entries of all patches of a rule without a κ.
    pub(crate) fn from_entries(n: usize, attract: &Entries) -> Result<Self> {
        Ok(Alignment { attract: SparseSymmetric::from_triplets(n, attract)?, repel: None, unlabelled: None })
    }

    /// Number of samples, those without a label among them.
    pub fn samples(&self) -> usize {
        self.unlabelled.as_ref().unwrap_or(&self.attract).dim()
    }

    /// How many samples without a label no chain of neighbours joins to a labelled one: the loss has no say in where they land.
    pub(crate) fn unreached(&self) -> usize {
        let Some(unlabelled) = &self.unlabelled else { return 0 };
        let (n, labelled) = (unlabelled.dim(), self.attract.dim());
        let mut reached: Vec<bool> = (0..n).map(|i| i < labelled).collect();
        let mut open: Vec<usize> = (0..labelled).collect();
        while let Some(i) = open.pop() {
            for (k, value) in unlabelled.column(i) {
                if value != 0.0 && !reached[k] {
                    reached[k] = true;
                    open.push(k);
                }
            }
        }
        reached.iter().filter(|&&reached| !reached).count()
    }

    /// `L(κ)`.
    pub fn matrix(&self, kappa: f64) -> SparseSymmetric {
        let labelled = match self.repel.as_ref().filter(|_| kappa != 0.0) {
            Some(repel) => self.attract.plus(-kappa, repel),
            None => self.attract.clone(),
        };
        match &self.unlabelled {
            Some(unlabelled) => unlabelled.plus(1.0, &labelled.enlarged(unlabelled.dim())),
            None => labelled,
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
        self.largest_kappa_beyond(requested, bound, &[], monitor)
    }

    /// The largest κ for `L(κ)` plus a diagonal of numbers ≥ 0, if there are any.
    pub(crate) fn largest_kappa_beyond(
        &self,
        requested: f64,
        bound: f64,
        diagonal: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<Option<(f64, f64)>> {
        let most = diagonal.iter().copied().fold(0.0, f64::max);
        let (n, size) = (self.attract.dim(), self.attract.spectrum_bound() + bound + most);
        let Some(repel) = self.repel.as_ref().filter(|_| requested > 0.0) else {
            let SmallestEigenvalue { below, above } = self.attract.lowest()?;
            // The patches that pull are positive semidefinite: where the iteration leaves the eigenvalue open, their sum is not refused
            // for that. The lower bound is for the report alone then.
            let value = if above - below > FINEST * size { above } else { below };
            return Ok((value >= -bound - FINEST * size).then_some((requested, below)));
        };
        let tolerance = if n < MANY { FINEST } else { FINE };
        let attract = |x: &[f64], out: &mut [f64]| {
            self.attract.apply(x, out);
            out.iter_mut().zip(x).zip(diagonal).for_each(|((out, x), extra)| *out += extra * x);
        };
        let parts: [&Operator<'_>; 2] = [&attract, &|x, out| repel.apply(x, out)];
        ShiftSearch { size, tolerance, bound, most: requested }
            .run(n, parts, &|| proceed(monitor, Stage::Reduction))
    }
}

/// The two groups of neighbours that `rule` asks for, the second empty for rules without a κ; and the recall of a search
/// that is not exact.
///
/// # Errors
/// When `monitor` asks to stop.
pub(crate) fn related(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    rule: &dyn PatchRule,
    params: &PatchParams,
    search: NeighborSearch,
    monitor: &dyn Monitor,
) -> Result<(NeighborLists<2>, Option<f64>)> {
    neighbor_groups(data, samples, groups(rule, params), search, monitor)
}

/// The groups of neighbours that `rule` asks for.
pub fn groups(rule: &dyn PatchRule, params: &PatchParams) -> [(NeighborScope, usize); 2] {
    let k_far = if rule.has_kappa() { params.k_between } else { 0 };
    [(rule.near(), params.k_within), (NeighborScope::Between, k_far)]
}

pub(crate) type Entries = Vec<Triplet<usize, usize, f64>>;

/// Samples with their neighbours, and the rule that makes patches of them.
pub(crate) struct PatchInputs<'a> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) variables: usize,
    pub(crate) rule: &'a dyn PatchRule,
    pub(crate) params: &'a PatchParams,
    /// Of every centre the neighbours, near and far.
    pub(crate) found: (&'a [Vec<Neighbor>], &'a [Vec<Neighbor>]),
}

impl PatchInputs<'_> {
    /// The entries of L that keep samples together. `sample` says which sample the centre at a place is.
    pub(crate) fn attract(
        &self,
        sample: &(dyn Fn(usize) -> usize + Sync),
        median_distance: f64,
        monitor: &dyn Monitor,
    ) -> Result<Entries> {
        self.entries(sample, median_distance, monitor, |patch| Some(&patch.attract))
    }

    /// The entries that push samples apart.
    fn repel(
        &self,
        sample: &(dyn Fn(usize) -> usize + Sync),
        median_distance: f64,
        monitor: &dyn Monitor,
    ) -> Result<Entries> {
        self.entries(sample, median_distance, monitor, |patch| patch.repel.as_ref())
    }

    fn entries(
        &self,
        sample: &(dyn Fn(usize) -> usize + Sync),
        median_distance: f64,
        monitor: &dyn Monitor,
        part: impl Fn(&Patch) -> Option<&PatchMatrix> + Sync,
    ) -> Result<Entries> {
        let (near, far) = self.found;
        let starts: Vec<usize> = (0..near.len()).step_by(CENTRES).collect();
        // A patch lives only until its entries have been placed.
        let placed: Vec<Entries> = starts
            .into_par_iter()
            .map(|start| {
                proceed(monitor, Stage::Alignment)?;
                let mut entries = Entries::new();
                for at in start..near.len().min(start + CENTRES) {
                    let patch = self.rule.patch(&Neighborhood {
                        center: sample(at),
                        near: &near[at],
                        far: &far[at],
                        samples: self.rows,
                        variables: self.variables,
                        params: self.params,
                        median_distance,
                    })?;
                    if let Some(local) = part(&patch) {
                        place(&patch.members, local, &mut entries);
                    }
                }
                Ok(entries)
            })
            .collect::<Result<_>>()?;
        // Each part is freed once it is appended: all of them twice would be the most memory that a fit takes at a time.
        let mut entries = Entries::with_capacity(placed.iter().map(Vec::len).sum());
        placed.into_iter().for_each(|mut part| entries.append(&mut part));
        Ok(entries)
    }
}

/// `SᵀLS`: adds the entries of a patch's matrix, at its members.
fn place(members: &[usize], local: &PatchMatrix, entries: &mut Entries) {
    let placed = local.entries().into_iter().map(|(a, b, value)| Triplet::new(members[a], members[b], value));
    entries.extend(placed);
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
