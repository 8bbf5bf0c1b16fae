//! Nearly all nearest neighbours, for data so large that to compare all pairs takes too long; and what share was found.
//!
//! Every class is divided into cells of some hundred samples by k-means: an inverted file, as such an index is called. A
//! sample is compared with the samples of those cells alone whose centres are nearest to it: cells of its own class, of
//! other classes, or of all. How many they must be is found out beforehand, on a few samples that are compared with all.
//!
//! Products are computed in blocks and in single precision, as in the exact search. What they find, a few more than are
//! asked for, is decided by the exact distances.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use ann_search_rs::prelude::{Dist, KMeansTrainingParams, Verbosity};
use ann_search_rs::utils::k_means_utils::{assign_all_parallel, train_centroids};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::recall::recall;
use super::screen::Samples;
use super::{Among, Found, decide};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::linalg::vectorized;
use crate::monitor::{Monitor, Stage, proceed};
use crate::preprocess::Preprocessed;

/// Samples of a cell, about; and at most, since no one can divide equal samples.
const CELL: usize = 256;
const LARGEST_CELL: usize = 1024;

/// Samples of a cell, about, that its centre is found from; turns of k-means; and its seed.
const TRAINED: usize = 64;
const TURNS: usize = 5;
const SEED: usize = 1;

/// Fewer samples are compared all with all.
const SMALLEST: usize = 10_000;

/// So are those in classes so small that cells have fewer samples on the average.
const SMALLEST_CELL: usize = 32;

/// And those that are to be compared with more than this share of all.
const LARGEST_SHARE: f64 = 0.4;

/// The share of neighbours that should be found.
const WANTED: f64 = 0.95;

/// Candidates beyond those that are asked for.
const SPARE: usize = 2;

/// Samples that are searched for at a time.
const BLOCK: usize = 512;

/// Samples on which the number of cells is chosen, and how many at a time.
const PROBES: usize = 100;
const PROBES_AT_A_TIME: usize = 25;

/// Entries that are compared at a time.
const LANES: usize = 16;

/// As [`super::neighbor_groups`], but some are missed; and the share of those found.
///
/// # Errors
/// As [`super::neighbors`].
pub(super) fn neighbor_groups<const G: usize>(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed,
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<(Found<G>, f64)> {
    search(data, preprocessed, groups, SMALLEST, monitor)
}

fn search<const G: usize>(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed,
    groups: [(Among, usize); G],
    smallest: usize,
    monitor: &dyn Monitor,
) -> Result<(Found<G>, f64)> {
    preprocessed.check(data)?;
    let class = data.class_indices();
    if let Some(index) = Index::new(&preprocessed.x, class, smallest, monitor)? {
        let chosen = index.choose(groups, monitor)?;
        if index.share(chosen) <= LARGEST_SHARE {
            let found = decide(preprocessed, groups, index.candidates(chosen, monitor)?);
            let recall = recall(&preprocessed.samples, class, groups, &found, monitor)?;
            return Ok((found, recall));
        }
    }
    Ok((super::neighbor_groups(data, preprocessed, groups, monitor)?, 1.0))
}

/// Samples by cell, and cells by class.
struct Index {
    samples: Samples,
    /// Their squared lengths.
    squares: Vec<f32>,
    cells: Vec<Range<usize>>,
    /// The cells of the class of every cell.
    kin: Vec<Range<usize>>,
    /// The centres of cells, one after the other, and their squared lengths.
    centres: Vec<f32>,
    lengths: Vec<f32>,
}

/// A group of neighbours, and in how many cells they are searched for: so many, but no smaller a share of those where they
/// may be. The two differ where classes do in size; a large class alone would choose too few cells for a small one.
#[derive(Debug, Clone, Copy)]
struct Group {
    among: Among,
    k: usize,
    cells: usize,
    share: f64,
}

impl Group {
    /// Of `all` cells.
    fn count(&self, all: usize) -> usize {
        self.cells.max((self.share * all as f64).ceil() as usize).min(all)
    }
}

/// What a search has found: a distance, up to what is the same for all, and a place.
type Near = Vec<(f32, u32)>;

impl Index {
    /// None where there are too few samples for it.
    fn new(x: &Mat<f64>, class: &[usize], smallest: usize, monitor: &dyn Monitor) -> Result<Option<Self>> {
        let n = class.len();
        if n < smallest {
            return Ok(None);
        }
        let samples = Samples::new(x, class);
        let p = samples.variables;
        let classes = samples.runs(0, n);
        let counts: Vec<usize> = classes.iter().map(|(_, run)| (run.len() / CELL).max(1)).collect();
        if counts.iter().sum::<usize>() * SMALLEST_CELL > n {
            return Ok(None);
        }
        // The cells of a class are numbered one after the other.
        let mut cell_of = vec![0; n];
        let mut first = 0;
        for ((_, run), count) in classes.into_iter().zip(counts) {
            proceed(monitor, Stage::Neighbors)?;
            let cells = divide(&samples.x[run.start * p..run.end * p], p, count);
            for (at, cell) in run.zip(cells) {
                cell_of[samples.order[at]] = first + cell as usize;
            }
            first += count;
        }
        drop(samples);
        Ok(Some(Self::from_cells(Samples::new(x, &cell_of), class)))
    }

    /// From samples ordered by cell.
    fn from_cells(samples: Samples, class: &[usize]) -> Self {
        let p = samples.variables;
        let cut = |run: Range<usize>| {
            let end = run.end;
            run.step_by(LARGEST_CELL).map(move |start| start..end.min(start + LARGEST_CELL))
        };
        let cells: Vec<Range<usize>> =
            samples.runs(0, class.len()).into_iter().flat_map(|(_, run)| cut(run)).collect();
        let class_of: Vec<usize> = cells.iter().map(|cell| class[samples.order[cell.start]]).collect();
        let mut kin = Vec::with_capacity(cells.len());
        for same in class_of.chunk_by(|a, b| a == b) {
            let first = kin.len();
            kin.extend(std::iter::repeat_n(first..first + same.len(), same.len()));
        }
        let mut centres = vec![0.0; cells.len() * p];
        centres.par_chunks_mut(p).zip(&cells).for_each(|(centre, cell)| {
            for sample in samples.x[cell.start * p..cell.end * p].chunks(p) {
                for (centre, x) in centre.iter_mut().zip(sample) {
                    *centre += x / cell.len() as f32;
                }
            }
        });
        let lengths = centres.chunks(p).map(|centre| centre.iter().map(|x| x * x).sum()).collect();
        let squares = samples.low.iter().zip(&samples.error).map(|(low, error)| low + error).collect();
        Index { samples, squares, cells, kin, centres, lengths }
    }

    /// The cell of the sample at a place.
    fn cell_at(&self, at: usize) -> usize {
        self.cells.partition_point(|cell| cell.end <= at)
    }

    /// As many cells for every group as hold the wanted share of the neighbours of some samples.
    fn choose<const G: usize>(
        &self,
        groups: [(Among, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<[Group; G]> {
        let n = self.samples.order.len();
        let places: Vec<usize> = (0..PROBES).map(|probe| (2 * probe + 1) * n / (2 * PROBES)).collect();
        let everywhere = groups.map(|(among, k)| Group { among, k, cells: self.cells.len(), share: 1.0 });
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
            Group { cells, share: shares.get(enough).copied().unwrap_or(0.0), ..everywhere[g] }
        }))
    }

    /// Where the cells of some samples come when cells are ordered by distance.
    fn ranks(&self, mut cells: Near, near: &[(f32, u32)]) -> Vec<usize> {
        cells.sort_unstable_by(nearer);
        let rank = |at: usize| cells.iter().position(|cell| cell.1 as usize == self.cell_at(at));
        near.iter().filter_map(|&(_, at)| rank(at as usize)).collect()
    }

    /// The share of all pairs that are compared.
    fn share<const G: usize>(&self, groups: [Group; G]) -> f64 {
        let pairs = |cell: usize, group: &Group| {
            let (these, those) = self.around(cell, group.among);
            self.cells[cell].len() * group.count(these.len() + those.len())
        };
        let pairs: usize =
            (0..self.cells.len()).flat_map(|cell| groups.iter().map(move |group| pairs(cell, group))).sum();
        pairs as f64 / (self.samples.order.len() * self.cells.len()) as f64
    }

    /// For every sample and group its candidates.
    fn candidates<const G: usize>(
        &self,
        groups: [Group; G],
        monitor: &dyn Monitor,
    ) -> Result<Vec<[Vec<usize>; G]>> {
        let order = &self.samples.order;
        let n = order.len();
        let done = AtomicUsize::new(0);
        let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let blocks: Vec<[Vec<Near>; G]> = starts
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

    /// The nearest of the samples at some places, and a few more.
    fn search<const G: usize>(&self, places: &[usize], groups: [Group; G]) -> [Vec<Near>; G] {
        let p = self.samples.variables;
        let centres = self.centre_products(places);
        groups.map(|group| {
            let kept = group.k.saturating_add(SPARE);
            let mut found = vec![Near::new(); places.len()];
            if group.k == 0 {
                return found;
            }
            let mut searching = vec![Vec::new(); self.cells.len()];
            for (query, &at) in places.iter().enumerate() {
                let cells = self.eligible(at, group.among, centres.col_as_slice(query));
                for cell in self.nearest(cells, group, kept) {
                    searching[cell].push(query);
                }
            }
            // First where most look, which is near to most: what comes later seldom displaces anything.
            let mut cells: Vec<usize> =
                (0..self.cells.len()).filter(|&cell| !searching[cell].is_empty()).collect();
            cells.sort_by_key(|&cell| std::cmp::Reverse(searching[cell].len()));
            for cell in cells {
                let (queries, cell) = (&searching[cell], self.cells[cell].clone());
                let (squares, samples) =
                    (&self.squares[cell.clone()], &self.samples.x[cell.start * p..cell.end * p]);
                let products =
                    products(p, samples, &self.gathered(queries.iter().map(|&query| places[query])));
                for (column, &query) in queries.iter().enumerate() {
                    let products = products.col_as_slice(column);
                    keep_nearest(&mut found[query], kept, squares, products, cell.start, places[query]);
                }
            }
            found
        })
    }

    /// `2 c·x` for all centres and the samples at some places.
    fn centre_products(&self, places: &[usize]) -> Mat<f32> {
        products(self.samples.variables, &self.centres, &self.gathered(places.iter().copied()))
    }

    fn gathered(&self, places: impl Iterator<Item = usize>) -> Vec<f32> {
        let p = self.samples.variables;
        places.flat_map(|at| &self.samples.x[at * p..(at + 1) * p]).copied().collect()
    }

    /// The cells where neighbours of the samples of a cell may be.
    fn around(&self, cell: usize, among: Among) -> (Range<usize>, Range<usize>) {
        let (own, all) = (self.kin[cell].clone(), self.cells.len());
        match among {
            Among::Within => (own, 0..0),
            Among::Between => (0..own.start, own.end..all),
            Among::All => (0..all, 0..0),
        }
    }

    /// The same for the sample at a place, with their distances. Its own comes first, even if another centre is nearer.
    fn eligible(&self, at: usize, among: Among, products: &[f32]) -> Near {
        let own = self.cell_at(at);
        let (these, those) = self.around(own, among);
        let away = |cell| if cell == own { f32::NEG_INFINITY } else { self.lengths[cell] - products[cell] };
        these.chain(those).map(|cell| (away(cell), cell as u32)).collect()
    }

    /// As many of the nearest of some cells as `group` asks for; more if these have no more than `kept` samples.
    fn nearest(&self, mut cells: Near, group: Group, kept: usize) -> impl Iterator<Item = usize> {
        let mut count = group.count(cells.len());
        if count < cells.len() {
            cells.select_nth_unstable_by(count, nearer);
            let size = |cell: &(f32, u32)| self.cells[cell.1 as usize].len();
            let mut samples: usize = cells[..count].iter().map(size).sum();
            if samples <= kept {
                cells[count..].sort_unstable_by(nearer);
            }
            while samples <= kept && count < cells.len() {
                samples += size(&cells[count]);
                count += 1;
            }
        }
        cells.into_iter().take(count).map(|(_, cell)| cell as usize)
    }
}

fn nearer(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Divides samples into cells by k-means.
fn divide(x: &[f32], p: usize, count: usize) -> Vec<u32> {
    let n = x.len() / p;
    if count == 1 {
        return vec![0; n];
    }
    let trained = n.min(count * TRAINED);
    let training: Vec<f32> = (0..trained).flat_map(|k| &x[k * n / trained * p..][..p]).copied().collect();
    let (metric, params) = (Dist::SquaredEuclidean, KMeansTrainingParams::new(TURNS, None, None));
    match train_centroids(&training, p, trained, count, &metric, Some(params), SEED, Verbosity::Quiet) {
        Ok(centres) => assign_all_parallel(x, &[], p, n, &centres, &[], count, &metric),
        // It refuses only what is not asked for here: fewer samples than cells.
        Err(_) => vec![0; n],
    }
}

/// `2 aᵀ b`, samples one after the other.
fn products(p: usize, a: &[f32], b: &[f32]) -> Mat<f32> {
    let a = MatRef::from_column_major_slice(a, p, a.len() / p);
    let b = MatRef::from_column_major_slice(b, p, b.len() / p);
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    matmul(&mut out, Accum::Replace, a.transpose(), b, 2.0, Par::Seq);
    out
}

/// Puts samples from `start` on among the `kept` nearest of the sample at `own`, which are in order.
fn keep_nearest(near: &mut Near, kept: usize, squares: &[f32], products: &[f32], start: usize, own: usize) {
    vectorized(
        #[inline(always)]
        || {
            let worst = |near: &Near| if near.len() < kept { f32::INFINITY } else { near[kept - 1].0 };
            let mut limit = worst(near);
            let mut keep = |away: f32, at: usize, limit: &mut f32| {
                if away < *limit && at != own {
                    near.insert(near.partition_point(|other| other.0 <= away), (away, at as u32));
                    near.truncate(kept);
                    *limit = worst(near);
                }
            };
            let ((squares, squares_tail), (products, products_tail)) =
                (squares.as_chunks::<LANES>(), products.as_chunks::<LANES>());
            for (c, (squares, products)) in squares.iter().zip(products).enumerate() {
                let mut hits = 0;
                for l in 0..LANES {
                    hits += i32::from(squares[l] - products[l] < limit);
                }
                if hits > 0 {
                    for l in 0..LANES {
                        keep(squares[l] - products[l], start + c * LANES + l, &mut limit);
                    }
                }
            }
            let tail = start + squares.len() * LANES;
            for (l, (square, product)) in squares_tail.iter().zip(products_tail).enumerate() {
                keep(square - product, tail + l, &mut limit);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    use super::*;
    use crate::error::Error;

    const GROUPS: [(Among, usize); 3] = [(Among::Within, 5), (Among::Between, 4), (Among::All, 3)];

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

    fn pre(data: &Dataset<'_>) -> Preprocessed {
        Preprocessed::new(data, None).unwrap()
    }

    fn found(data: &Dataset<'_>) -> (Found<3>, f64) {
        search(data, &pre(data), GROUPS, 1000, &()).unwrap()
    }

    /// That every sample has as many neighbours as there are, of the right class, in order.
    fn complete(data: &Dataset<'_>, found: &Found<3>) {
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
        let truth = super::super::neighbor_groups(&data, &pre(&data), GROUPS, &()).unwrap();
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
            let truth = super::super::neighbor_groups(&data, &pre(&data), GROUPS, &()).unwrap();
            let small = |i: &usize| sizes[data.class_of(*i)] < 10;
            for i in (0..data.samples()).filter(small) {
                let hits = truth[1][i].iter().filter(|near| found[1][i].contains(near)).count();
                assert!(2 * hits >= truth[1][i].len(), "{hits} of {sizes:?}");
            }
        }
    }

    #[test]
    fn few_samples_small_classes_and_many_neighbours_are_exact() {
        let many = [(Among::Within, 3000), (Among::Between, 9), (Among::All, 0)];
        let cases = [(vec![300, 300], GROUPS), (vec![20; 100], GROUPS), (vec![4000, 1000], many)];
        for (sizes, groups) in cases {
            let data = clusters(&sizes, 1.0);
            let truth = super::super::neighbor_groups(&data, &pre(&data), groups, &()).unwrap();
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
    struct Stops {
        asked: AtomicUsize,
        at: usize,
    }

    impl Monitor for Stops {
        fn stop(&self) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.at
        }
    }

    #[test]
    fn it_stops_wherever_it_is_asked_to() {
        let data = clusters(&[3000, 1000], 1.0);
        let watched = |at| {
            let monitor = Stops { asked: AtomicUsize::new(0), at };
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
