//! Nearest neighbours within a class, between classes, and among all samples: exact, or nearly all of them (`approximate`).
//!
//! Blocked products in single precision give approximate squared distances, from which candidates are taken with enough
//! slack that no true neighbour is lost (`dense_screen`). Their distances are then recomputed from the samples in one fixed
//! order of summation, and ties go to the lower index: rounding of the products never decides. Candidates among sparse
//! samples come from an inverted index instead (`sparse_screen`); the rest is the same, and so are the neighbours, to the last bit.
//!
//! Data in several pieces are searched one pair of pieces at a time, and the answers merged: [`NearestSamples`].

mod approximate;
mod blocks;
mod dense_screen;
mod nearest;
mod recall;
mod single_precision;
mod sparse_screen;
mod windows;

use std::cmp::Ordering;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::named::named;
use crate::numerics::sparse::Precision;
pub use approximate::Buckets;
pub use blocks::{Block, Centre};
pub use nearest::NearestSamples;

use crate::preprocess::{Centred, Rows};

/// How neighbours are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeighborSearch {
    /// All pairs are compared; no neighbour is missed.
    Exact,
    /// About one neighbour in twenty is missed, and the recall is reported. Pays from some 20,000 samples on; where it
    /// would not, with few samples or small classes, or where near samples cannot be told from the others, all pairs are
    /// compared.
    Approximate,
}

named!(NeighborSearch, "neighbors", Exact = "exact", Approximate = "approximate");

/// Which samples may be neighbours of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighborScope {
    /// Those of its own class.
    Within,
    /// Those of other classes.
    Between,
    /// All.
    All,
}

impl NeighborScope {
    /// Whether a sample of the same class, or of another, may be one.
    pub(crate) fn admits(self, same: bool) -> bool {
        match self {
            NeighborScope::Within => same,
            NeighborScope::Between => !same,
            NeighborScope::All => true,
        }
    }
}

/// A neighbour and its Euclidean distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// The neighbour, as a sample.
    pub index: usize,
    /// Its distance.
    pub distance: f64,
}

/// By group, for every sample its neighbours.
pub type NeighborLists<const G: usize> = [Vec<Vec<Neighbor>>; G];

/// For every sample its `k` nearest neighbours among `among`, nearest first; fewer where there are fewer.
///
/// # Errors
/// When the data do not belong together, or `monitor` asks to stop.
pub fn neighbors(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    among: NeighborScope,
    k: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Neighbor>>> {
    let ([found], _) = neighbor_groups(data, samples, [(among, k)], NeighborSearch::Exact, monitor)?;
    Ok(found)
}

/// Several groups of neighbours, each as [`neighbors`] gives it, from one pass over the distances; and the recall of a
/// search that is not exact.
///
/// # Errors
/// As [`neighbors`], or when the search is not exact and the samples are sparse.
pub fn neighbor_groups<const G: usize>(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    groups: [(NeighborScope, usize); G],
    search: NeighborSearch,
    monitor: &dyn Monitor,
) -> Result<(NeighborLists<G>, Option<f64>)> {
    samples.check(data)?;
    if search == NeighborSearch::Approximate {
        let (found, recall) = approximate::neighbor_groups(data, samples, groups, monitor)?;
        return Ok((found, Some(recall)));
    }
    let class = data.class_indices();
    let candidates = match samples.rows() {
        Rows::Sparse(x) => sparse_screen::candidates(x, class, groups, monitor)?,
        _ => dense_screen::candidates(samples.dense()?, class, groups, monitor)?,
    };
    Ok((decide(samples.rows(), groups, candidates), None))
}

/// The nearest of every sample's candidates, by group.
fn decide<const G: usize>(
    rows: &Rows<'_>,
    groups: [(NeighborScope, usize); G],
    candidates: Vec<[Vec<usize>; G]>,
) -> NeighborLists<G> {
    let candidates = candidates.into_par_iter().enumerate();
    let found = candidates.map(|(i, near)| exact(near, groups, |j| rows.squared_distance(i, j)));
    by_group(found.collect())
}

/// Squared distances and samples: of each group the `k` nearest of `near`, ties to the lower index.
fn exact<const G: usize>(
    near: [Vec<usize>; G],
    groups: [(NeighborScope, usize); G],
    squared: impl Fn(usize) -> f64,
) -> [Vec<(f64, usize)>; G] {
    let mut k = groups.iter().map(|&(_, k)| k);
    near.map(|near| nearest(near.into_iter().map(|j| (squared(j), j)).collect(), k.next().unwrap_or(0)))
}

/// The first `k` by distance, ties to the lower index.
fn nearest(mut near: Vec<(f64, usize)>, k: usize) -> Vec<(f64, usize)> {
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // A new list: the old one has room for all candidates.
    near[..k.min(near.len())].to_vec()
}

/// From lists of squared distances by sample to neighbours by group.
fn by_group<const G: usize>(found: Vec<[Vec<(f64, usize)>; G]>) -> NeighborLists<G> {
    let mut out = [(); G].map(|()| Vec::with_capacity(found.len()));
    for lists in found {
        for (out, list) in out.iter_mut().zip(lists) {
            let neighbor = |&(squared, index): &(f64, usize)| Neighbor { index, distance: squared.sqrt() };
            out.push(list.iter().map(neighbor).collect());
        }
    }
    out
}

/// Drops candidates, each a lower bound of its distance and a sample, that are certainly not among the `k` nearest. The
/// bound is at most `slack` of the sample too low, and `own` for the sample that they are candidates of. Returns the
/// largest lower bound that a further candidate may have.
fn tighten<T: Precision + PartialOrd>(
    near: &mut Vec<(T, u32)>,
    k: usize,
    slack: impl Fn(usize) -> T,
    own: T,
) -> Option<T> {
    if near.len() <= k {
        return None;
    }
    let high = |&(low, j): &(T, u32)| low + slack(j as usize);
    let order = |a: &(T, u32), b: &(T, u32)| high(a).partial_cmp(&high(b)).unwrap_or(Ordering::Equal);
    near.select_nth_unstable_by(k - 1, order);
    let most = high(&near[k - 1]) + own;
    near.retain(|&(low, _)| low <= most);
    Some(most)
}

#[cfg(test)]
mod pieces;

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn grid(offset: f64) -> Dataset<'static> {
        // Whole numbers on a grid: nearly every distance is shared by several samples.
        let x = Mat::from_fn(150, 3, |i, j| offset + ((i * 7 + j * 13 + i * i) % 4) as f64);
        let labels: Vec<usize> = (0..150).map(|i| i % 3).collect();
        Dataset::from_owned(x, &labels).unwrap()
    }

    fn brute(data: &Dataset<'_>, among: NeighborScope, k: usize, i: usize) -> Vec<usize> {
        let x = data.x().unwrap();
        let mut all: Vec<(f64, usize)> = (0..data.samples())
            .filter(|&j| j != i)
            .filter(|&j| match among {
                NeighborScope::Within => data.class_of(i) == data.class_of(j),
                NeighborScope::Between => data.class_of(i) != data.class_of(j),
                NeighborScope::All => true,
            })
            .map(|j| ((0..x.ncols()).map(|v| (x[(i, v)] - x[(j, v)]).powi(2)).sum(), j))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.into_iter().take(k).map(|(_, j)| j).collect()
    }

    #[test]
    fn ties_go_to_the_lower_index_even_far_from_the_origin() {
        for offset in [0.0, 0.1, 1e6] {
            let data = grid(offset);
            let pre = Centred::new(&data, None).unwrap();
            for among in [NeighborScope::Within, NeighborScope::Between, NeighborScope::All] {
                for k in [1, 5, 49, 200] {
                    let found = neighbors(&data, &pre, among, k, &()).unwrap();
                    for (i, found) in found.iter().enumerate() {
                        assert!(found.capacity() <= 2 * k.max(4), "room for {}", found.capacity());
                        let found: Vec<usize> = found.iter().map(|n| n.index).collect();
                        assert_eq!(found, brute(&data, among, k, i), "{among:?} k {k} sample {i} + {offset}");
                    }
                }
            }
        }
    }

    /// Clusters of near neighbours far apart, in several tiles, at scales that single precision does not have.
    #[test]
    fn the_screen_loses_no_neighbour() {
        // The last with more variables than are added up in single precision.
        for (scale, n, p) in [(1.0, 1100, 6), (1e-60, 1100, 6), (1e60, 1100, 6), (1.0, 600, 2500)] {
            let x = Mat::from_fn(n, p, |i, j| {
                let cluster = ((i % 7) * (j + 1)) as f64 * 1e3;
                scale * (cluster + ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0)
            });
            let labels: Vec<usize> = (0..n).map(|i| i % 4).collect();
            let data = Dataset::from_owned(x, &labels).unwrap();
            let pre = Centred::new(&data, None).unwrap();
            let groups = [(NeighborScope::Within, 3), (NeighborScope::Between, 4), (NeighborScope::All, 1)];
            let (found, _) = neighbor_groups(&data, &pre, groups, NeighborSearch::Exact, &()).unwrap();
            for (found, (among, k)) in found.iter().zip(groups) {
                for i in (0..n).step_by(13) {
                    let found: Vec<usize> = found[i].iter().map(|n| n.index).collect();
                    assert_eq!(found, brute(&data, among, k, i), "{among:?} sample {i} scale {scale}");
                }
            }
        }
    }

    #[test]
    fn a_lonely_sample_has_no_neighbours_within() {
        let data = Dataset::from_owned(Mat::from_fn(3, 1, |i, _| i as f64), &["a", "b", "b"]).unwrap();
        let pre = Centred::new(&data, None).unwrap();
        let within = neighbors(&data, &pre, NeighborScope::Within, 5, &()).unwrap();
        assert!(within[0].is_empty());
        assert_eq!(within[1], [Neighbor { index: 2, distance: 1.0 }]);
        assert!(neighbors(&data, &pre, NeighborScope::Between, 0, &()).unwrap().iter().all(Vec::is_empty));
    }
}
