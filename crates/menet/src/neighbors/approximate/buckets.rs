//! Buckets: near samples of data in pieces together, so that a sample looks for its neighbours in a few of them only.
//!
//! Some samples of all pieces are divided into cells by k-means, a few cells per bucket. Cells are put into buckets by cutting
//! their centres in two along the direction in which they vary most, and each part again, so that about as many samples fall
//! on each. A sample belongs to the bucket of its nearest centre, and looks into the buckets of so many of its nearest centres
//! as would hold the nearest neighbour of 95 % of the samples that the cells were made from. These are farther from each other
//! than all samples are, so that about as many of all neighbours are found, or more.

use rayon::prelude::*;

use super::choose::WANTED;
use super::kmeans;
use super::scan::products;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::blocks::{Block, Centre, SampleNumbers};
use crate::neighbors::single_precision::scale;
use crate::neighbors::{NearestSamples, NeighborScope};
use crate::preprocess::Rows;

/// Cells of a bucket, if the samples suffice; samples of a cell that are enough; and those of a bucket that are needed.
const CELLS: usize = 4;
const CELL: usize = 16;
const FEWEST: usize = 4;

/// Turns of k-means, and of the search for a direction.
const TURNS: usize = 8;

/// Where samples belong, and where their neighbours may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// The centres of cells less the mean, one after the other.
    centres: Vec<f64>,
    bucket_of: Vec<usize>,
    probes: usize,
    buckets: usize,
}

impl Buckets {
    /// As many buckets as are asked for, from some of the samples; and the share of all pairs of samples that will be
    /// compared. If that is about a half, it is no less work than to search all pairs of pieces both ways.
    ///
    /// # Errors
    /// When there are fewer than four samples per bucket, they are sparse, or `monitor` asks to stop.
    pub fn new<const G: usize>(
        sample: &Block<'_>,
        buckets: usize,
        centre: Centre<'_>,
        groups: [(NeighborScope, usize); G],
        monitor: &dyn Monitor,
    ) -> Result<(Self, f64)> {
        check(sample, centre)?;
        // By their place among the samples, and nothing known.
        let sample = &Block { numbers: SampleNumbers::From(0), known: &[], ..sample.clone() };
        let (n, p) = (sample.samples(), sample.variables);
        if buckets == 0 || n < FEWEST * buckets {
            let allowed =
                format!("from 1 to {}: there are {n} samples, and a bucket needs {FEWEST}", n / FEWEST);
            return Err(Error::parameter("buckets", buckets, allowed));
        }
        let cells = (n / CELL).clamp(buckets, CELLS * buckets);
        let scale = scale(sample.squared_lengths(centre).into_iter());
        let x = values(sample, centre, scale, 0..n);
        let centres = kmeans::centres(&x, p, cells, TURNS);
        proceed(monitor, Stage::Neighbors)?;
        let mut weights = vec![0; cells];
        for cell in kmeans::assign(&x, p, &centres) {
            weights[cell as usize] += 1;
        }
        let mut bucket_of = vec![0; cells];
        let all = (0..cells).collect();
        divide(&WeightedCells { x: &centres, p, weights: &weights }, all, 0..buckets, &mut bucket_of);
        let centres = centres.iter().map(|&x| f64::from(x) / scale).collect();
        let mut new = Buckets { centres, bucket_of, probes: 1, buckets };
        let homes: Vec<usize> = new.each(sample, centre, |_, near| new.bucket_of[near.nearest().1]);
        let nearest = NearestSamples::search_within(
            sample,
            centre,
            groups.map(|(among, k)| (among, k.min(1))),
            monitor,
        )?;
        new.probes = new.enough(sample, centre, nearest, &homes);
        let mut sizes = vec![0; buckets];
        homes.iter().for_each(|&home| sizes[home] += 1);
        let looked: Vec<usize> = new.each(sample, centre, |_, near| {
            let looks = near.looks(&new);
            looks.iter().zip(&sizes).filter(|(looks, _)| **looks).map(|(_, size)| size).sum()
        });
        Ok((new, looked.iter().sum::<usize>() as f64 / (n * n) as f64))
    }

    /// Buckets from their parts: the centres of cells less the mean, one after the other, the bucket of each, and of how many
    /// of the nearest a sample looks into the buckets.
    ///
    /// # Errors
    /// When there is not one bucket per centre.
    pub fn from_parts(centres: Vec<f64>, bucket_of: Vec<usize>, probes: usize) -> Result<Self> {
        let cells = bucket_of.len();
        if cells == 0 || centres.is_empty() || !centres.len().is_multiple_of(cells) {
            let why = "there must be as many values of every centre".to_string();
            return Err(Error::Size {
                what: "the list of centres",
                given: centres.len(),
                expected: cells,
                why,
            });
        }
        if !(1..=cells).contains(&probes) {
            return Err(Error::parameter(
                "probes",
                probes,
                format!("from 1 to {cells}, the number of centres"),
            ));
        }
        let buckets = bucket_of.iter().max().map_or(0, |last| last + 1);
        Ok(Buckets { centres, bucket_of, probes, buckets })
    }

    /// The centres of cells less the mean, one after the other, the bucket of each, and the number of probes.
    pub fn into_parts(self) -> (Vec<f64>, Vec<usize>, usize) {
        (self.centres, self.bucket_of, self.probes)
    }

    /// How many buckets there are.
    pub fn count(&self) -> usize {
        self.buckets
    }

    /// The bucket that every sample belongs to, and for every sample whether it looks into each of the buckets.
    ///
    /// # Errors
    /// When the samples have other variables, or are sparse.
    pub fn assign(&self, samples: &Block<'_>, centre: Centre<'_>) -> Result<(Vec<usize>, Vec<bool>)> {
        check(samples, centre)?;
        let (given, expected) = (self.centres.len(), self.bucket_of.len() * samples.variables);
        if given != expected {
            let why = format!("a sample has {} variables", samples.variables);
            return Err(Error::Size { what: "the list of centres", given, expected, why });
        }
        let found =
            self.each(samples, centre, |_, near| (self.bucket_of[near.nearest().1], near.looks(self)));
        let (homes, looks): (Vec<usize>, Vec<Vec<bool>>) = found.into_iter().unzip();
        Ok((homes, looks.concat()))
    }

    /// Calls `look` with what every sample is away from every centre.
    fn each<T: Send>(
        &self,
        samples: &Block<'_>,
        centre: Centre<'_>,
        look: impl Fn(usize, CentreDistances<'_>) -> T + Sync,
    ) -> Vec<T> {
        let (n, p) = (samples.samples(), samples.variables);
        let lengths: Vec<f64> = self.centres.chunks(p).map(|x| x.iter().map(|x| x * x).sum()).collect();
        let scale = scale(samples.squared_lengths(centre).into_iter().chain(lengths.iter().copied()));
        let centres: Vec<f32> = self.centres.iter().map(|&x| (x * scale) as f32).collect();
        let lengths: Vec<f32> = lengths.iter().map(|&s| (s * scale * scale) as f32).collect();
        let starts: Vec<usize> = (0..n).step_by(kmeans::TILE).collect();
        let tiles = starts.into_par_iter().map(|start| {
            let x = values(samples, centre, scale, start..n.min(start + kmeans::TILE));
            let products = products(p, &centres, &x);
            let away = |i| CentreDistances { lengths: &lengths, products: products.col_as_slice(i) };
            (0..products.ncols()).map(|i| look(start + i, away(i))).collect::<Vec<T>>()
        });
        tiles.flatten_iter().collect()
    }

    /// Of how many centres the buckets hold the nearest neighbour of the wanted share of samples, in every group.
    fn enough<const G: usize>(
        &self,
        sample: &Block<'_>,
        centre: Centre<'_>,
        nearest: NearestSamples<G>,
        homes: &[usize],
    ) -> usize {
        let enough = nearest.into_neighbors().map(|found| {
            let counts = self.each(sample, centre, |i, near| {
                found[i].first().map(|neighbor| near.place(self, homes[neighbor.index]) + 1)
            });
            let mut counts: Vec<usize> = counts.into_iter().flatten().collect();
            counts.sort_unstable();
            counts.get((WANTED * counts.len() as f64) as usize).copied().unwrap_or(1)
        });
        enough.into_iter().max().unwrap_or(1)
    }
}

/// The squared distances of a sample from all centres, up to what is the same for all.
#[derive(Clone, Copy)]
struct CentreDistances<'a> {
    lengths: &'a [f32],
    products: &'a [f32],
}

impl CentreDistances<'_> {
    fn each(&self) -> impl Iterator<Item = (f32, usize)> {
        self.lengths.iter().zip(self.products).enumerate().map(|(cell, (s, t))| (s - t, cell))
    }

    /// The nearest centre; of those equally near, the first.
    fn nearest(&self) -> (f32, usize) {
        self.each().min_by(nearer).unwrap_or_default()
    }

    /// Into which buckets the sample looks.
    fn looks(&self, buckets: &Buckets) -> Vec<bool> {
        let mut cells: Vec<(f32, usize)> = self.each().collect();
        if buckets.probes < cells.len() {
            cells.select_nth_unstable_by(buckets.probes, nearer);
        }
        let mut looks = vec![false; buckets.buckets];
        cells.iter().take(buckets.probes).for_each(|&(_, cell)| looks[buckets.bucket_of[cell]] = true);
        looks
    }

    /// How many centres are nearer than the nearest of a bucket.
    fn place(&self, buckets: &Buckets, bucket: usize) -> usize {
        let there = self.each().filter(|&(_, cell)| buckets.bucket_of[cell] == bucket).min_by(nearer);
        there.map_or(buckets.bucket_of.len() - 1, |there| {
            self.each().filter(|it| nearer(it, &there).is_lt()).count()
        })
    }
}

fn nearer(a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Cells by their centres, and how many samples are in each.
struct WeightedCells<'a> {
    x: &'a [f32],
    p: usize,
    weights: &'a [usize],
}

/// Puts `cells` into `buckets`, each of which gets one at least.
fn divide(
    all: &WeightedCells<'_>,
    mut cells: Vec<usize>,
    buckets: std::ops::Range<usize>,
    bucket_of: &mut [usize],
) {
    if buckets.len() <= 1 {
        cells.iter().for_each(|&cell| bucket_of[cell] = buckets.start);
        return;
    }
    let places = all.along(&cells);
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]).then(cells[a].cmp(&cells[b])));
    cells = order.into_iter().map(|k| cells[k]).collect();
    let (first, total) = (buckets.len() / 2, cells.iter().map(|&cell| all.weights[cell]).sum::<usize>());
    let (wanted, mut sum, mut cut) = (total * first / buckets.len(), 0, 0);
    while cut < cells.len() && sum + all.weights[cells[cut]] / 2 < wanted {
        sum += all.weights[cells[cut]];
        cut += 1;
    }
    let cut = cut.clamp(first, cells.len() - (buckets.len() - first));
    let rest = cells.split_off(cut);
    let middle = buckets.start + first;
    divide(all, cells, buckets.start..middle, bucket_of);
    divide(all, rest, middle..buckets.end, bucket_of);
}

impl WeightedCells<'_> {
    /// Where centres lie along the direction in which they vary most, by powers of their covariance.
    fn along(&self, cells: &[usize]) -> Vec<f64> {
        let p = self.p;
        let total = cells.iter().map(|&cell| self.weights[cell]).sum::<usize>().max(1) as f64;
        let weight = |cell: usize| self.weights[cell] as f64 / total;
        let row = |cell: usize| self.x[cell * p..(cell + 1) * p].iter().map(|&x| f64::from(x));
        let mut mean = vec![0.0; p];
        for &cell in cells {
            mean.iter_mut().zip(row(cell)).for_each(|(mean, x)| *mean += weight(cell) * x);
        }
        let centred: Vec<Vec<f64>> =
            cells.iter().map(|&cell| row(cell).zip(&mean).map(|(x, mean)| x - mean).collect()).collect();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let longest = centred.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
        let mut direction = longest.cloned().unwrap_or_default();
        for _ in 0..TURNS {
            let mut next = vec![0.0; p];
            for (x, &cell) in centred.iter().zip(cells) {
                let along = weight(cell) * dot(x, &direction);
                next.iter_mut().zip(x).for_each(|(next, x)| *next += along * x);
            }
            let length = dot(&next, &next).sqrt();
            // All at one place: any direction will do.
            if length <= 0.0 {
                break;
            }
            direction = next.iter().map(|x| x / length).collect();
        }
        centred.iter().map(|x| dot(x, &direction)).collect()
    }
}

/// Samples in single precision, one after the other.
fn values(samples: &Block<'_>, centre: Centre<'_>, scale: f64, which: std::ops::Range<usize>) -> Vec<f32> {
    let p = samples.variables;
    let mut out = vec![0.0; which.len() * p];
    out.chunks_mut(p).zip(which).for_each(|(out, i)| samples.centred(i, centre, scale, out));
    out
}

fn check(samples: &Block<'_>, centre: Centre<'_>) -> Result<()> {
    centre.check(samples)?;
    match samples.rows {
        Rows::Sparse(_) => {
            Err(Error::parameter("patch.search", "\"approximate\" with sparse samples", "\"exact\""))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use faer::{Mat, MatRef};
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    use super::*;

    const GROUPS: [(NeighborScope, usize); 2] = [(NeighborScope::Within, 5), (NeighborScope::Between, 5)];
    const P: usize = 6;

    /// Samples one after the other in overlapping clusters, and the class of each.
    fn drawn(n: usize) -> (Vec<f32>, Vec<usize>) {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let centres = Mat::from_fn(5, P, |_, _| 2.0 * normal());
        let x = (0..n * P).map(|k| (100.0 + centres[(k / P % 5, k % P)] + normal()) as f32).collect();
        (x, (0..n).map(|i| i % 5).collect())
    }

    fn block<'a>(x: &'a [f32], class: &'a [usize]) -> Block<'a> {
        Block::single(MatRef::from_row_major_slice(x, class.len(), P), class, 0).unwrap()
    }

    /// Nineteen of twenty neighbours are found in a small share of the pairs, and buckets are of about one size.
    #[test]
    fn few_buckets_hold_most_neighbours() {
        let (n, buckets, mean) = (6000, 24, [100.0; P]);
        let ((x, class), centre) = (drawn(n), Centre::new(&mean, &[]).unwrap());
        let all = block(&x, &class);
        let some = block(&x[..1500 * P], &class[..1500]);
        let (made, share) = Buckets::new(&some, buckets, centre, GROUPS, &()).unwrap();
        assert_eq!(made.count(), buckets);
        let (homes, looks) = made.assign(&all, centre).unwrap();
        let mut sizes = vec![0; buckets];
        homes.iter().for_each(|&home| sizes[home] += 1);
        assert!(sizes.iter().all(|&size| (n / buckets / 4..3 * n / buckets).contains(&size)), "{sizes:?}");
        let compared: usize =
            looks.chunks(buckets).flat_map(|l| l.iter().zip(&sizes)).filter(|l| *l.0).map(|l| l.1).sum();
        let compared = compared as f64 / (n * n) as f64;
        assert!(compared < 0.4 && (compared - share).abs() < 0.05, "{compared}, {share}");
        let found = NearestSamples::search_within(&all, centre, GROUPS, &()).unwrap().into_neighbors();
        for found in found {
            let pairs =
                found.iter().enumerate().flat_map(|(i, near)| near.iter().map(move |near| (i, near.index)));
            let hits = pairs.clone().filter(|&(i, j)| looks[i * buckets + homes[j]]).count();
            let recall = hits as f64 / pairs.count() as f64;
            assert!(recall > 0.93, "{recall}");
        }
        assert!((0..n).all(|i| looks[i * buckets + homes[i]]), "a sample looks where it is");
    }

    #[test]
    fn the_same_on_any_number_of_threads_and_from_parts() {
        let (mean, (x, class)) = ([99.0; P], drawn(1300));
        let (centre, all) = (Centre::new(&mean, &[2]).unwrap(), block(&x, &class));
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Buckets::new(&all, 7, centre, GROUPS, &()).unwrap())
        };
        let first = on(1);
        assert_eq!(first, on(3));
        let (centres, bucket_of, probes) = first.0.clone().into_parts();
        let again = Buckets::from_parts(centres, bucket_of, probes).unwrap();
        assert_eq!(again.assign(&all, centre).unwrap(), first.0.assign(&all, centre).unwrap());
    }

    #[test]
    fn equal_samples_and_sizes_that_do_not_fit() {
        let (mean, class) = ([0.0; P], vec![0; 40]);
        let centre = Centre::new(&mean, &[]).unwrap();
        let x = vec![1.0; 40 * P];
        let all = block(&x, &class);
        // Some buckets are empty, and all look into the first.
        let (made, share) = Buckets::new(&all, 10, centre, GROUPS, &()).unwrap();
        let (homes, looks) = made.assign(&all, centre).unwrap();
        assert!(homes.iter().all(|&home| home == homes[0] && looks[home]));
        assert_eq!(share, 1.0);
        assert!(Buckets::new(&all, 11, centre, GROUPS, &()).is_err());
        assert!(Buckets::new(&all, 0, centre, GROUPS, &()).is_err());
        assert!(Buckets::from_parts(vec![0.0; 7], vec![0, 1], 1).is_err());
        assert!(Buckets::from_parts(vec![0.0; 6], vec![0, 1], 3).is_err());
        let narrow = Buckets::from_parts(vec![0.0; 6], vec![0, 1], 1).unwrap();
        assert!(narrow.assign(&all, centre).is_err());
    }
}
