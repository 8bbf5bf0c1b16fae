//! Nearly all nearest neighbours, for data so large that to compare all pairs takes too long; and what share was found.
//!
//! Every class is divided into cells of some hundred samples by k-means: an inverted file, as such an index is called. A
//! sample is compared with the samples of those cells alone whose centres are nearest to it: cells of its own class, of
//! other classes, or of all (`cells`, `scan`). How many they must be is found out beforehand, on a few samples that are
//! compared with all (`choose`).
//!
//! Data in pieces are searched likewise, by rougher cells (`buckets`).
//!
//! Products are computed in blocks and in single precision, as in the exact search. What they find, a few more than are
//! asked for, is decided by the exact distances.

mod buckets;
mod cells;
mod choose;
mod kmeans;
mod scan;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::recall::recall;
use super::{NeighborLists, NeighborScope, NeighborSearch, decide};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::preprocess::Centred;
pub use buckets::Buckets;
use cells::Index;
use choose::SearchGroup;

/// Fewer samples are compared all with all.
const SMALLEST: usize = 10_000;

/// And so are those that would be compared with more than this share of all.
const LARGEST_SHARE: f64 = 0.4;

/// Samples that are searched for at a time.
const BLOCK: usize = 512;

/// What a search has found: a distance, up to what is the same for all, and a place.
type CandidateList = Vec<(f32, u32)>;

/// As [`super::neighbor_groups`], but some are missed; and the share of those found.
///
/// # Errors
/// As [`super::neighbors`].
pub(super) fn neighbor_groups<const G: usize>(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    groups: [(NeighborScope, usize); G],
    monitor: &dyn Monitor,
) -> Result<(NeighborLists<G>, f64)> {
    search(data, samples, groups, SMALLEST, monitor)
}

fn search<const G: usize>(
    data: &Dataset<'_>,
    samples: &Centred<'_>,
    groups: [(NeighborScope, usize); G],
    smallest: usize,
    monitor: &dyn Monitor,
) -> Result<(NeighborLists<G>, f64)> {
    let class = data.class_indices();
    if let Some(index) = Index::new(samples.dense()?, class, smallest, monitor)? {
        let chosen = index.choose(groups, monitor)?;
        if index.share(chosen) <= LARGEST_SHARE {
            let found = decide(samples.rows(), groups, index.candidates(chosen, monitor)?);
            let recall = recall(samples.rows(), class, groups, &found, monitor)?;
            return Ok((found, recall));
        }
    }
    let (found, _) = super::neighbor_groups(data, samples, groups, NeighborSearch::Exact, monitor)?;
    Ok((found, 1.0))
}

impl Index {
    /// For every sample and group its candidates.
    fn candidates<const G: usize>(
        &self,
        groups: [SearchGroup; G],
        monitor: &dyn Monitor,
    ) -> Result<Vec<[Vec<usize>; G]>> {
        let order = &self.samples.order;
        let n = order.len();
        let done = AtomicUsize::new(0);
        let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let blocks: Vec<[Vec<CandidateList>; G]> = starts
            .par_iter()
            .with_max_len(1)
            .map(|&start| {
                proceed(monitor, Stage::Neighbors)?;
                let places: Vec<usize> = (start..n.min(start + BLOCK)).collect();
                let found = self.search(&places, groups);
                let before = done.fetch_add(places.len(), Ordering::Relaxed);
                monitor.progress(Stage::Neighbors, before + places.len(), n);
                Ok(found)
            })
            .collect::<Result<_>>()?;
        let mut candidates = vec![[const { Vec::new() }; G]; n];
        for (block, start) in blocks.into_iter().zip(starts) {
            for (g, found) in block.into_iter().enumerate() {
                for (at, near) in (start..).zip(found) {
                    candidates[order[at]][g] = near.into_iter().map(|(_, j)| order[j as usize]).collect();
                }
            }
        }
        Ok(candidates)
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    use super::*;
    use crate::error::Error;

    const GROUPS: [(NeighborScope, usize); 3] =
        [(NeighborScope::Within, 5), (NeighborScope::Between, 4), (NeighborScope::All, 3)];

    /// Normal clusters in three variables, a class each, side by side.
    fn clusters(sizes: &[usize], scale: f64) -> Dataset<'static> {
        let labels: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(c, &size)| std::iter::repeat_n(c, size)).collect();
        let mut rng = rand_pcg::Pcg64::seed_from_u64(5);
        let x = Mat::from_fn(labels.len(), 3, |i, j| {
            let drawn: f64 = rng.sample(StandardNormal);
            scale * (drawn + 2.0 * ((labels[i] * (j + 3)) % 7) as f64)
        });
        Dataset::from_owned(x, &labels).unwrap()
    }

    fn pre<'a>(data: &'a Dataset<'_>) -> Centred<'a> {
        Centred::new(data, None).unwrap()
    }

    fn found(data: &Dataset<'_>) -> (NeighborLists<3>, f64) {
        search(data, &pre(data), GROUPS, 1000, &()).unwrap()
    }

    /// That every sample has as many neighbours as there are, of the right class, in order.
    fn complete(data: &Dataset<'_>, found: &NeighborLists<3>) {
        let class = data.class_indices();
        for (found, (among, k)) in found.iter().zip(GROUPS) {
            for (i, near) in found.iter().enumerate() {
                let may = |&j: &usize| j != i && among.admits(class[i] == class[j]);
                assert_eq!(near.len(), (0..class.len()).filter(may).take(k).count(), "{among:?} of {i}");
                assert!(near.iter().all(|near| may(&near.index)), "{among:?} of {i}");
                assert!(near.is_sorted_by(|a, b| a.distance <= b.distance));
            }
        }
    }

    #[test]
    fn recall_is_what_a_recount_gives_and_as_high_as_wanted() {
        let data = clusters(&[5000, 4000, 3000], 1.0);
        let (found, recall) = found(&data);
        complete(&data, &found);
        let (truth, _) =
            super::super::neighbor_groups(&data, &pre(&data), GROUPS, NeighborSearch::Exact, &()).unwrap();
        let (mut hits, mut all) = (0.0, 0.0);
        for (found, truth) in found.iter().zip(&truth) {
            for i in (0..100).map(|k| k * data.samples() / 100) {
                hits += truth[i].iter().filter(|near| found[i].contains(near)).count() as f64;
                all += truth[i].len() as f64;
            }
        }
        assert_eq!(recall, hits / all);
        assert!((0.9..1.0).contains(&recall), "{recall}");
    }

    #[test]
    fn same_bits_every_time_on_any_number_of_threads() {
        let data = clusters(&[3000, 2500, 600], 1.0);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| found(&data))
        };
        let first = on(1);
        assert_eq!(first, on(1));
        assert_eq!(first, on(2));
        assert_eq!(first, on(3));
    }

    #[test]
    fn classes_of_any_size_have_what_there_is() {
        for sizes in [&[6000, 4, 1][..], &[1, 5000], &[4000, 2, 2, 3000, 300, 1]] {
            let data = clusters(sizes, 1.0);
            let (found, recall) = found(&data);
            complete(&data, &found);
            assert!(recall > 0.9, "{recall} {sizes:?}");
            // A small class is no worse off.
            let (truth, _) =
                super::super::neighbor_groups(&data, &pre(&data), GROUPS, NeighborSearch::Exact, &())
                    .unwrap();
            let small = |i: &usize| sizes[data.class_of(*i)] < 10;
            for i in (0..data.samples()).filter(small) {
                let hits = truth[1][i].iter().filter(|near| found[1][i].contains(near)).count();
                assert!(2 * hits >= truth[1][i].len(), "{hits} of {sizes:?}");
            }
        }
    }

    #[test]
    fn few_samples_small_classes_and_many_neighbours_are_exact() {
        let many = [(NeighborScope::Within, 3000), (NeighborScope::Between, 9), (NeighborScope::All, 0)];
        let cases = [(vec![300, 300], GROUPS), (vec![20; 100], GROUPS), (vec![4000, 1000], many)];
        for (sizes, groups) in cases {
            let data = clusters(&sizes, 1.0);
            let (truth, _) =
                super::super::neighbor_groups(&data, &pre(&data), groups, NeighborSearch::Exact, &())
                    .unwrap();
            let (found, recall) = search(&data, &pre(&data), groups, 1000, &()).unwrap();
            assert!(found == truth && recall == 1.0, "{sizes:?}");
        }
    }

    #[test]
    fn equal_samples_are_neighbours_of_each_other() {
        // Each three times.
        let once = clusters(&[1500, 1500], 1.0);
        let x = Mat::from_fn(9000, 3, |i, j| once.x().unwrap()[(i / 3, j)]);
        let labels: Vec<usize> = (0..9000).map(|i| i / 4500).collect();
        let data = Dataset::from_owned(x, &labels).unwrap();
        let (near, recall) = found(&data);
        complete(&data, &near);
        assert!(recall > 0.9, "{recall}");
        assert!(near[0].iter().all(|near| near[0].distance == 0.0 && near[1].distance == 0.0));
        // A class of one sample, four thousand times, and one that is constant but for one variable.
        let x = Mat::from_fn(8000, 2, |i, j| if j == 0 { i.saturating_sub(4000) as f64 } else { 1.0 });
        let labels: Vec<usize> = (0..8000).map(|i| usize::from(i > 4000)).collect();
        let data = Dataset::from_owned(x, &labels).unwrap();
        let (near, recall) = found(&data);
        complete(&data, &near);
        assert!(recall > 0.9, "{recall}");
        assert!(near[0][..4000].iter().flatten().all(|near| near.distance == 0.0));
    }

    #[test]
    fn huge_and_tiny_values_have_the_same_neighbours() {
        let indices = |scale| {
            let (found, recall) = found(&clusters(&[5000, 4000, 3000], scale));
            let indices: Vec<usize> = found.iter().flatten().flatten().map(|near| near.index).collect();
            (indices, recall)
        };
        // About 1e-60 and 1e60; powers of two round nothing.
        let plain = indices(1.0);
        assert!(plain.1 < 1.0);
        assert_eq!(indices((-199.0_f64).exp2()), plain);
        assert_eq!(indices(199.0_f64.exp2()), plain);
    }

    /// Stops when asked for the n-th time.
    struct StopsAtCall {
        asked: AtomicUsize,
        at: usize,
    }

    impl Monitor for StopsAtCall {
        fn stop(&self) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.at
        }
    }

    #[test]
    fn it_stops_wherever_it_is_asked_to() {
        let data = clusters(&[3000, 1000], 1.0);
        let watched = |at| {
            let monitor = StopsAtCall { asked: AtomicUsize::new(0), at };
            let found = search(&data, &pre(&data), GROUPS, 1000, &monitor);
            (found, monitor.asked.into_inner())
        };
        let (whole, asked) = watched(usize::MAX);
        assert!(whole.is_ok() && asked > 12);
        for at in [1, 2, 4, 8, 12, asked] {
            assert!(matches!(watched(at).0, Err(Error::Stopped { stage: Stage::Neighbors })), "{at}");
        }
    }
}
