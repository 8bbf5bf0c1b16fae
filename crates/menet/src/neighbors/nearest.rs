//! Neighbours of data in several pieces: of the samples of blocks in each other, and the answers merged.
//!
//! Distances are those of the whole search, to the last bit, and ties go to the lower number, so that the merged answer is that
//! of [`neighbor_groups`](super::neighbor_groups) on all samples at once, however they are cut. That search leaves out
//! variables that are constant but for rounding; which these are, a block cannot know: [`Centre`] tells.

use rayon::prelude::*;

use super::blocks::{Block, Centre};
use super::{Neighbor, NeighborLists, NeighborScope, nearest, sparse_screen, windows};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::preprocess::Rows;

/// Samples whose lists a thread merges at a time.
const ROWS: usize = 256;

/// The nearest samples of a block's samples, as far as others have been searched.
#[derive(Debug, Clone, PartialEq)]
pub struct NearestSamples<const G: usize> {
    groups: [(NeighborScope, usize); G],
    samples: usize,
    /// For every sample the numbers of its neighbours, the groups side by side, nearest first; −1 where there are fewer.
    indices: Vec<i64>,
    /// Their squared distances; infinite where there are fewer.
    squared: Vec<f64>,
}

/// What is known of one sample.
pub(super) struct SampleNeighbors<'a> {
    indices: &'a mut [i64],
    squared: &'a mut [f64],
}

impl SampleNeighbors<'_> {
    /// Puts further neighbours into the list of `k` that begins at `from`.
    pub(super) fn put(&mut self, (from, k): (usize, usize), further: impl Iterator<Item = (f64, usize)>) {
        let list = from..from + k;
        let (indices, squared) = (&mut self.indices[list.clone()], &mut self.squared[list]);
        let known = squared.iter().zip(&*indices).filter(|(_, index)| **index >= 0);
        let all = known.map(|(&squared, &index)| (squared, index as usize)).chain(further).collect();
        for (place, (distance, index)) in nearest(all, k).into_iter().enumerate() {
            (squared[place], indices[place]) = (distance, index as i64);
        }
    }

    /// The distance of the last in such a list.
    pub(super) fn last(&self, (from, k): (usize, usize)) -> f64 {
        if k == 0 { f64::INFINITY } else { self.squared[from + k - 1] }
    }
}

/// Where the list of every group begins, and how long it is.
pub(super) fn lists<const G: usize>(groups: [(NeighborScope, usize); G]) -> [(usize, usize); G] {
    let mut from = 0;
    groups.map(|(_, k)| {
        from += k;
        (from - k, k)
    })
}

/// Neighbours of a sample in all groups.
pub(super) fn width<const G: usize>(groups: [(NeighborScope, usize); G]) -> usize {
    groups.iter().map(|&(_, k)| k).sum()
}

impl<const G: usize> NearestSamples<G> {
    /// The nearest `references` of every one of `queries`, by group. A sample is no neighbour of itself.
    ///
    /// # Errors
    /// When the blocks cannot be compared (one is sparse or in single precision and the other is not, or they have different
    /// variables), or `monitor` asks to stop.
    pub fn search(
        queries: &Block<'_>,
        references: &Block<'_>,
        centre: Centre<'_>,
        groups: [(NeighborScope, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        check([queries, references], centre)?;
        queries.check_known(width(groups))?;
        let mut found = Self::none(groups, queries.samples());
        match (&queries.rows, &references.rows) {
            (Rows::Sparse(_), Rows::Sparse(_)) => found.sparse(queries, references, monitor)?,
            _ => windows::one_way(queries, references, centre, &mut found, monitor)?,
        }
        Ok(found)
    }

    /// The nearest samples of each of two blocks in the other. Of dense samples, every product is computed once for both.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn search_both(
        a: &Block<'_>,
        b: &Block<'_>,
        centre: Centre<'_>,
        groups: [(NeighborScope, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<(Self, Self)> {
        check([a, b], centre)?;
        a.check_known(width(groups))?;
        b.check_known(width(groups))?;
        let (mut of_a, mut of_b) = (Self::none(groups, a.samples()), Self::none(groups, b.samples()));
        match (&a.rows, &b.rows) {
            (Rows::Sparse(_), Rows::Sparse(_)) => {
                of_a.sparse(a, b, monitor)?;
                of_b.sparse(b, a, monitor)?;
            }
            _ => windows::both_ways((a, b), centre, (&mut of_a, &mut of_b), monitor)?,
        }
        Ok((of_a, of_b))
    }

    /// The nearest samples of a block's samples in itself. Of dense samples, every product is computed once.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn search_within(
        a: &Block<'_>,
        centre: Centre<'_>,
        groups: [(NeighborScope, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        check([a, a], centre)?;
        a.check_known(width(groups))?;
        let mut found = Self::none(groups, a.samples());
        match &a.rows {
            Rows::Sparse(_) => found.sparse(a, a, monitor)?,
            _ => windows::within(a, centre, &mut found, monitor)?,
        }
        Ok(found)
    }

    /// Nothing yet.
    pub fn none(groups: [(NeighborScope, usize); G], samples: usize) -> Self {
        let all = samples * width(groups);
        NearestSamples { groups, samples, indices: vec![-1; all], squared: vec![f64::INFINITY; all] }
    }

    /// The nearest of both, which are of the same queries in different references.
    ///
    /// # Errors
    /// When they are not of as many queries, or of other groups.
    pub fn merge(mut self, other: Self) -> Result<Self> {
        if self.groups != other.groups {
            let value = format!("{:?}", other.groups);
            return Err(Error::parameter("groups", value, format!("{:?}, as the other", self.groups)));
        }
        self.add(&other.indices, &other.squared)?;
        Ok(self)
    }

    /// Adds what [`Self::into_arrays`] gives of the same queries and groups in other references.
    ///
    /// # Errors
    /// When there are not as many.
    pub fn add(&mut self, indices: &[i64], squared: &[f64]) -> Result<()> {
        let (expected, width) = (self.indices.len(), width(self.groups));
        if let Some(given) = [indices.len(), squared.len()].into_iter().find(|&given| given != expected) {
            let why = format!("there are {} queries with {width} neighbours each", self.samples);
            return Err(Error::Size { what: "one answer", given, expected, why });
        }
        if width == 0 {
            return Ok(());
        }
        let (all, lists) = (ROWS * width, lists(self.groups));
        let ours = self.indices.par_chunks_mut(all).zip(self.squared.par_chunks_mut(all));
        let both = ours.zip(indices.par_chunks(all).zip(squared.par_chunks(all)));
        both.for_each(|((ours, our_squares), (theirs, their_squares))| {
            let ours = ours.chunks_mut(width).zip(our_squares.chunks_mut(width));
            let theirs = theirs.chunks(width).zip(their_squares.chunks(width));
            for ((indices, squared), (theirs, their_squares)) in ours.zip(theirs) {
                let mut line = SampleNeighbors { indices, squared };
                for (from, k) in lists {
                    let list = their_squares[from..from + k].iter().zip(&theirs[from..from + k]);
                    let there = list.filter(|(_, index)| **index >= 0);
                    line.put((from, k), there.map(|(&squared, &index)| (squared, index as usize)));
                }
            }
        });
        Ok(())
    }

    /// The numbers of the neighbours of every sample, the groups side by side and nearest first, and their squared distances;
    /// −1 and infinity where there are fewer.
    pub fn into_arrays(self) -> (Vec<i64>, Vec<f64>) {
        (self.indices, self.squared)
    }

    /// The neighbours, by group and query; a neighbour's index is its number in the whole set.
    pub fn into_neighbors(self) -> NeighborLists<G> {
        let width = width(self.groups);
        lists(self.groups).map(|(from, k)| {
            let list = |i: usize| {
                let at = i * width + from..i * width + from + k;
                let near = self.indices[at.clone()].iter().zip(&self.squared[at]);
                let near = near.take_while(|(index, _)| **index >= 0);
                near.map(|(&index, squared)| Neighbor { index: index as usize, distance: squared.sqrt() })
                    .collect()
            };
            (0..self.samples).map(list).collect()
        })
    }

    pub(super) fn groups(&self) -> [(NeighborScope, usize); G] {
        self.groups
    }

    /// What is known of each sample, in this order.
    pub(super) fn lines(&mut self, order: &[usize]) -> Vec<SampleNeighbors<'_>> {
        let width = width(self.groups);
        if width == 0 {
            return order.iter().map(|_| SampleNeighbors { indices: &mut [], squared: &mut [] }).collect();
        }
        let each = self.indices.chunks_mut(width).zip(self.squared.chunks_mut(width));
        let mut each: Vec<Option<SampleNeighbors<'_>>> =
            each.map(|(indices, squared)| Some(SampleNeighbors { indices, squared })).collect();
        order.iter().filter_map(|&i| each[i].take()).collect()
    }

    fn sparse(&mut self, queries: &Block<'_>, references: &Block<'_>, monitor: &dyn Monitor) -> Result<()> {
        let (Rows::Sparse(x), Rows::Sparse(y)) = (&queries.rows, &references.rows) else {
            return Ok(());
        };
        let (left, right) = ((x, queries.class, queries.numbers), (y, references.class, references.numbers));
        let candidates = sparse_screen::candidates_between(left, right, self.groups, monitor)?;
        let (order, groups): (Vec<usize>, _) = ((0..self.samples).collect(), self.groups);
        self.lines(&order).into_par_iter().zip(candidates).enumerate().for_each(|(i, (mut line, near))| {
            for (near, list) in near.into_iter().zip(lists(groups)) {
                let squared = |j| (queries.squared_distance(i, references, j, &[]), references.numbers.of(j));
                let farthest = queries.farthest(i, list, width(groups));
                line.put(list, near.into_iter().map(squared).filter(|near| near.0 <= farthest));
            }
        });
        Ok(())
    }
}

fn check([a, b]: [&Block<'_>; 2], centre: Centre<'_>) -> Result<()> {
    a.check(b)?;
    centre.check(a)
}
