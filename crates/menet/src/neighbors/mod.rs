//! Nearest neighbours within a class, between classes, and among all samples: exact, or nearly all of them (`approximate`).
//!
//! Blocked products in single precision give approximate squared distances, from which candidates are taken with enough
//! slack that no true neighbour is lost (`screen`). Their distances are then recomputed from the samples in one fixed
//! order of summation, and ties go to the lower index: rounding of the products never decides.

mod approximate;
mod recall;
mod screen;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::linalg::squared_distance;
use crate::monitor::Monitor;
use crate::named::Named;
use crate::preprocess::Preprocessed;

/// How neighbours are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NeighborSearch {
    /// All pairs are compared; no neighbour is missed.
    Exact,
    /// About one neighbour in twenty is missed, and the recall is reported. Pays from some 20,000 samples on; where it
    /// would not, with few samples or small classes, or where near samples cannot be told from the others, all pairs are
    /// compared.
    Approximate,
}

impl Named for NeighborSearch {
    const PARAMETER: &'static str = "neighbors";
    const ALL: &'static [Self] = &[NeighborSearch::Exact, NeighborSearch::Approximate];

    fn name(self) -> &'static str {
        match self {
            NeighborSearch::Exact => "exact",
            NeighborSearch::Approximate => "approximate",
        }
    }
}

/// Which samples may be neighbours of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Those of its own class.
    Within,
    /// Those of other classes.
    Between,
    /// All.
    All,
}

impl Among {
    /// Whether a sample of the same class, or of another, may be one.
    pub(crate) fn admits(self, same: bool) -> bool {
        match self {
            Among::Within => same,
            Among::Between => !same,
            Among::All => true,
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
pub type Found<const G: usize> = [Vec<Vec<Neighbor>>; G];

/// For every sample its `k` nearest neighbours among `among`, nearest first; fewer where there are fewer.
///
/// # Errors
/// When the data do not belong together, or `monitor` asks to stop.
pub fn neighbors(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed<'_>,
    among: Among,
    k: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Neighbor>>> {
    let [found] = neighbor_groups(data, preprocessed, [(among, k)], monitor)?;
    Ok(found)
}

/// Several groups of neighbours, each as [`neighbors`] gives it, from one pass over the distances.
///
/// # Errors
/// As [`neighbors`].
pub fn neighbor_groups<const G: usize>(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed<'_>,
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<Found<G>> {
    preprocessed.check(data)?;
    let screened = screen::candidates(&preprocessed.x, data.class_indices(), groups, monitor)?;
    Ok(decide(preprocessed, groups, screened))
}

/// As [`neighbor_groups`], by a search of your choice; with the recall of one that is not exact.
///
/// # Errors
/// As [`neighbors`].
pub fn neighbor_groups_by<const G: usize>(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed<'_>,
    groups: [(Among, usize); G],
    search: NeighborSearch,
    monitor: &dyn Monitor,
) -> Result<(Found<G>, Option<f64>)> {
    match search {
        NeighborSearch::Exact => Ok((neighbor_groups(data, preprocessed, groups, monitor)?, None)),
        NeighborSearch::Approximate => {
            let (found, recall) = approximate::neighbor_groups(data, preprocessed, groups, monitor)?;
            Ok((found, Some(recall)))
        }
    }
}

/// The nearest of every sample's candidates, by group.
fn decide<const G: usize>(
    preprocessed: &Preprocessed<'_>,
    groups: [(Among, usize); G],
    candidates: Vec<[Vec<usize>; G]>,
) -> Found<G> {
    let mut out = [(); G].map(|()| Vec::with_capacity(candidates.len()));
    let sample = |i: usize| preprocessed.sample(i);
    let found: Vec<[Vec<Neighbor>; G]> = candidates
        .into_par_iter()
        .enumerate()
        .map(|(i, candidates)| {
            let mut k = groups.iter().map(|&(_, k)| k);
            candidates
                .map(|near| exact(&near, k.next().unwrap_or(0), |j| squared_distance(sample(i), sample(j))))
        })
        .collect();
    for found in found {
        for (out, found) in out.iter_mut().zip(found) {
            out.push(found);
        }
    }
    out
}

/// The `k` nearest by exact distance, ties to the lower index.
pub(crate) fn exact(near: &[usize], k: usize, squared: impl Fn(usize) -> f64) -> Vec<Neighbor> {
    let mut near: Vec<(f64, usize)> = near.iter().map(|&j| (squared(j), j)).collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // A new list: to collect in place would keep room for all candidates.
    near[..k.min(near.len())].iter().map(|&(d, index)| Neighbor { index, distance: d.sqrt() }).collect()
}

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

    fn brute(data: &Dataset<'_>, among: Among, k: usize, i: usize) -> Vec<usize> {
        let x = data.x().unwrap();
        let mut all: Vec<(f64, usize)> = (0..data.samples())
            .filter(|&j| j != i)
            .filter(|&j| match among {
                Among::Within => data.class_of(i) == data.class_of(j),
                Among::Between => data.class_of(i) != data.class_of(j),
                Among::All => true,
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
            let pre = Preprocessed::new(&data, None).unwrap();
            for among in [Among::Within, Among::Between, Among::All] {
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
            let pre = Preprocessed::new(&data, None).unwrap();
            let groups = [(Among::Within, 3), (Among::Between, 4), (Among::All, 1)];
            let found = neighbor_groups(&data, &pre, groups, &()).unwrap();
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
        let pre = Preprocessed::new(&data, None).unwrap();
        let within = neighbors(&data, &pre, Among::Within, 5, &()).unwrap();
        assert!(within[0].is_empty());
        assert_eq!(within[1], [Neighbor { index: 2, distance: 1.0 }]);
        assert!(neighbors(&data, &pre, Among::Between, 0, &()).unwrap().iter().all(Vec::is_empty));
    }
}
