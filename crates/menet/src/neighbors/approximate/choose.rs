//! In how many cells to look: as few as will do, found out on some samples that are compared with all.

use rayon::prelude::*;

use super::CandidateList;
use super::cells::Index;
use super::scan::nearer;
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::NeighborScope;

/// The share of neighbours that should be found.
pub(super) const WANTED: f64 = 0.95;

/// Samples on which the number of cells is chosen, and how many at a time.
const PROBES: usize = 100;
const PROBES_AT_A_TIME: usize = 25;

/// A group of neighbours, and in how many cells they are searched for: so many, but no smaller a share of those where they
/// may be. The two differ where classes do in size; a large class alone would choose too few cells for a small one.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchGroup {
    pub(super) among: NeighborScope,
    pub(super) k: usize,
    cells: usize,
    share: f64,
}

impl SearchGroup {
    /// Of `all` cells.
    pub(super) fn count(&self, all: usize) -> usize {
        self.cells.max((self.share * all as f64).ceil() as usize).min(all)
    }
}

impl Index {
    /// As many cells for every group as hold the wanted share of the neighbours of some samples.
    pub(super) fn choose<const G: usize>(
        &self,
        groups: [(NeighborScope, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<[SearchGroup; G]> {
        let n = self.samples.order.len();
        let places: Vec<usize> = (0..PROBES).map(|probe| (2 * probe + 1) * n / (2 * PROBES)).collect();
        let everywhere =
            groups.map(|(among, k)| SearchGroup { among, k, cells: self.cells.len(), share: 1.0 });
        let searched: Vec<[Vec<Vec<usize>>; G]> = places
            .par_chunks(PROBES_AT_A_TIME)
            .map(|places| {
                proceed(monitor, Stage::Neighbors)?;
                let centres = self.centre_products(places);
                let found = self.search(places, everywhere);
                Ok(std::array::from_fn(|g| {
                    let each = places.iter().zip(&found[g]).enumerate();
                    each.map(|(query, (&at, near))| {
                        let cells = self.eligible(at, groups[g].0, centres.col_as_slice(query));
                        self.ranks(cells, &near[..near.len().min(groups[g].1)])
                    })
                    .collect()
                }))
            })
            .collect::<Result<_>>()?;
        Ok(std::array::from_fn(|g| {
            let among = groups[g].0;
            let each = places.iter().zip(searched.iter().flat_map(|searched| &searched[g]));
            let (mut counts, mut shares) = (Vec::new(), Vec::new());
            for (&at, ranks) in each {
                let (own, others) = self.around(self.cell_at(at), among);
                counts.extend(ranks.iter().map(|rank| rank + 1));
                shares.extend(ranks.iter().map(|rank| (rank + 1) as f64 / (own.len() + others.len()) as f64));
            }
            counts.sort_unstable();
            shares.sort_unstable_by(f64::total_cmp);
            let enough = ((WANTED * counts.len() as f64) as usize).min(counts.len().saturating_sub(1));
            let cells = counts.get(enough).copied().unwrap_or(0);
            SearchGroup { cells, share: shares.get(enough).copied().unwrap_or(0.0), ..everywhere[g] }
        }))
    }

    /// Where the cells of some samples come when cells are ordered by distance.
    fn ranks(&self, mut cells: CandidateList, near: &[(f32, u32)]) -> Vec<usize> {
        cells.sort_unstable_by(nearer);
        let rank = |at: usize| cells.iter().position(|cell| cell.1 as usize == self.cell_at(at));
        near.iter().filter_map(|&(_, at)| rank(at as usize)).collect()
    }

    /// The share of all pairs that are compared.
    pub(super) fn share<const G: usize>(&self, groups: [SearchGroup; G]) -> f64 {
        let pairs = |cell: usize, group: &SearchGroup| {
            let (these, those) = self.around(cell, group.among);
            self.cells[cell].len() * group.count(these.len() + those.len())
        };
        let pairs: usize =
            (0..self.cells.len()).flat_map(|cell| groups.iter().map(move |group| pairs(cell, group))).sum();
        pairs as f64 / (self.samples.order.len() * self.cells.len()) as f64
    }
}
