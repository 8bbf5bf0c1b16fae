//! The screen before exact neighbours: single precision, and a bound on what it rounds.
//!
//! With centred samples x, squared lengths s and `t = xᵢ·xⱼ` the squared distance is `sᵢ + sⱼ − 2t`. All products are
//! computed in single precision, in square tiles, each for both of its sides; they are off by at most `eᵢ + eⱼ` with
//! `e = c s`. A sample j is dropped from the candidates of i only where k others are nearer for certain, that is, where
//!
//! ```text
//! sⱼ − eⱼ − 2t  >  θᵢ = (k-th smallest sⱼ + eⱼ − 2t so far) + 2eᵢ
//! ```
//!
//! so that the k nearest are always among them, in whatever order tiles are done. Samples are ordered by class, so that a
//! tile falls into few runs of one class.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::single_precision::{Samples, SinglePrecisionValues, TERMS, TILE};
use super::{NeighborScope, tighten};
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::linalg::vectorized;

/// Such sums that a thread adds up.
const PARTS: usize = 4;

/// Entries that are compared at a time.
const LANES: usize = 16;

/// For every sample and group at least its `k` nearest samples, in no order. `x` is centred, n×p; `class` has the class of
/// every sample.
///
/// # Errors
/// When `monitor` asks to stop.
pub(super) fn candidates<const G: usize>(
    x: &Mat<f64>,
    class: &[usize],
    groups: [(NeighborScope, usize); G],
    monitor: &dyn Monitor,
) -> Result<Vec<[Vec<usize>; G]>> {
    let (samples, values) = Samples::new(x, class);
    let n = samples.len();
    let blocks: Vec<Mutex<Block<G>>> =
        (0..n).step_by(TILE).map(|start| Mutex::new(Block::new(TILE.min(n - start)))).collect();
    let tiles = triangle(blocks.len());
    let done = AtomicUsize::new(0);
    let all = Field { samples: (&samples, &samples), values: (&values, &values), groups };
    all.each(&tiles, monitor, |tile, (a, b)| {
        let products = tile.products();
        if a == b {
            tile.scan_left(&products, &mut lock(&blocks[a]));
        } else {
            tile.scan(&products, &mut lock(&blocks[a]), &mut lock(&blocks[b]));
        }
        monitor.progress(Stage::Neighbors, done.fetch_add(1, Ordering::Relaxed) + 1, tiles.len());
    })?;
    let mut out: Vec<[Vec<usize>; G]> = vec![[const { Vec::new() }; G]; samples.len()];
    for (b, block) in blocks.into_iter().enumerate() {
        let mut block = block.into_inner().unwrap_or_else(PoisonError::into_inner);
        for row in 0..block.rows.len() {
            let at = b * TILE + row;
            for (g, &(_, k)) in groups.iter().enumerate() {
                block.tighten((&samples, &samples), at, g, k);
                let near = &block.rows[row][g].near;
                out[samples.order[at]][g] = near.iter().map(|&(_, j)| samples.order[j as usize]).collect();
            }
        }
    }
    Ok(out)
}

/// Every pair of `blocks` once, by their distance from the diagonal, so that tiles done at the same time seldom share a side.
pub(super) fn triangle(blocks: usize) -> Vec<(usize, usize)> {
    (0..blocks).flat_map(|apart| (apart..blocks).map(move |j| (j - apart, j))).collect()
}

/// Every block on the left with every one on the right, in such an order.
pub(super) fn rectangle(left: usize, right: usize) -> Vec<(usize, usize)> {
    (0..right).flat_map(|apart| (0..left).map(move |i| (i, (i + apart) % right))).collect()
}

pub(super) fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Samples on two sides, of which some values are at hand.
pub(super) struct Field<'a, const G: usize> {
    pub(super) samples: (&'a Samples, &'a Samples),
    pub(super) values: (&'a SinglePrecisionValues, &'a SinglePrecisionValues),
    pub(super) groups: [(NeighborScope, usize); G],
}

impl<const G: usize> Field<'_, G> {
    /// Calls `work` for tiles, each given by the numbers of its blocks.
    ///
    /// # Errors
    /// When `monitor` asks to stop.
    pub(super) fn each(
        &self,
        tiles: &[(usize, usize)],
        monitor: &dyn Monitor,
        work: impl Fn(&Tile<'_, G>, (usize, usize)) + Sync,
    ) -> Result<()> {
        let ((left, right), groups) = (self.samples, self.groups);
        tiles.par_iter().with_max_len(1).try_for_each(|&(a, b)| {
            proceed(monitor, Stage::Neighbors)?;
            let starts = (self.values.0.first + a * left.side, self.values.1.first + b * right.side);
            let x = (self.values.0.block(starts.0, left.side), self.values.1.block(starts.1, right.side));
            work(&Tile { left, right, x, groups, starts }, (a, b));
            Ok(())
        })
    }
}

/// What is known of the samples of a block.
pub(super) struct Block<const G: usize> {
    pub(super) rows: Vec<[SampleCandidates; G]>,
    /// θ of every sample, by group.
    pub(super) theta: [Vec<f32>; G],
    /// The most candidates that a sample was left with.
    pub(super) most: usize,
}

/// The candidates of a sample: `s − e − 2t`, and which.
#[derive(Clone, Default)]
pub(super) struct SampleCandidates {
    pub(super) near: Vec<(f32, u32)>,
    /// How many there may be before they are looked through.
    limit: usize,
}

impl<const G: usize> Block<G> {
    pub(super) fn new(rows: usize) -> Self {
        Block {
            rows: vec![[(); G].map(|()| SampleCandidates::default()); rows],
            theta: [(); G].map(|()| vec![f32::INFINITY; rows]),
            most: 0,
        }
    }

    /// Adds a candidate from the second samples to the one of the first at position `at`.
    fn add(
        &mut self,
        samples: (&Samples, &Samples),
        at: usize,
        group: usize,
        k: usize,
        candidate: (f32, u32),
    ) {
        let row = &mut self.rows[at % samples.0.side][group];
        row.near.push(candidate);
        if row.near.len() >= row.limit.max(4 * k + 2 * LANES) {
            self.tighten(samples, at, group, k);
        }
    }

    /// Drops candidates that are certainly not among the nearest.
    pub(super) fn tighten(&mut self, (left, right): (&Samples, &Samples), at: usize, group: usize, k: usize) {
        let row = &mut self.rows[at % left.side][group];
        let slack = |j: usize| 2.0 * right.error[j];
        if let Some(theta) = tighten(&mut row.near, k, slack, 2.0 * left.error[at]) {
            row.limit = 2 * row.near.len();
            self.most = self.most.max(row.near.len());
            let best = &mut self.theta[group][at % left.side];
            *best = best.min(theta);
        }
    }
}

/// The products of two blocks of samples.
pub(super) struct Tile<'a, const G: usize> {
    left: &'a Samples,
    right: &'a Samples,
    /// The values of both, one sample per column.
    x: (MatRef<'a, f32>, MatRef<'a, f32>),
    groups: [(NeighborScope, usize); G],
    /// Where the blocks begin.
    starts: (usize, usize),
}

impl<const G: usize> Tile<'_, G> {
    /// `2 xⱼ·xᵢ`: one row per sample of the right block, one column per sample of the left.
    pub(super) fn products(&self) -> Mat<f32> {
        let variables = &self.left.variables;
        let (a, b) = (self.x.1.transpose(), self.x.0);
        let (left, right) = (b.ncols(), a.nrows());
        let part = |start: usize| {
            let terms = TERMS.min(variables - start);
            let mut out = Mat::zeros(right, left);
            matmul(&mut out, Accum::Replace, a.subcols(start, terms), b.subrows(start, terms), 2.0, Par::Seq);
            out
        };
        if *variables <= TERMS {
            return part(0);
        }
        let starts: Vec<usize> = (0..*variables).step_by(TERMS).collect();
        let sum = |starts: &[usize]| {
            let mut total: Mat<f64> = Mat::zeros(right, left);
            for &start in starts {
                let part: Mat<f32> = part(start);
                for i in 0..left {
                    for (total, part) in total.col_as_slice_mut(i).iter_mut().zip(part.col_as_slice(i)) {
                        *total += f64::from(*part);
                    }
                }
            }
            total
        };
        // There may be a single tile, of very many variables.
        let sums = starts.par_chunks(PARTS).map(sum);
        let total = sums.reduce_with(|a, b| a + b).unwrap_or_else(|| Mat::zeros(right, left));
        Mat::from_fn(right, left, |j, i| total[(j, i)] as f32)
    }

    /// Candidates of both blocks among each other.
    pub(super) fn scan(&self, products: &Mat<f32>, left: &mut Block<G>, right: &mut Block<G>) {
        let (first, second) = self.starts;
        self.each_run(products, |at, products, lows, run, (g, k), hits| {
            let (i, low) = (at - first, self.left.low[at]);
            either(products, lows, left.theta[g][i], low, &right.theta[g][run.clone()], hits);
            for &hit in &*hits {
                let j = second + run.start + hit;
                if self.left.number[at] == self.right.number[j] {
                    continue;
                }
                let (mine, theirs) = (lows[hit] - products[hit], low - products[hit]);
                if mine <= left.theta[g][i] {
                    left.add((self.left, self.right), at, g, k, (mine, j as u32));
                }
                if theirs <= right.theta[g][run.start + hit] {
                    right.add((self.right, self.left), j, g, k, (theirs, at as u32));
                }
            }
        });
    }

    /// Candidates of the left block in the right one, which may be the same.
    pub(super) fn scan_left(&self, products: &Mat<f32>, left: &mut Block<G>) {
        let (samples, (first, second)) = ((self.left, self.right), self.starts);
        let never = vec![f32::NEG_INFINITY; products.nrows()];
        self.each_run(products, |at, products, lows, run, (g, k), hits| {
            let (i, low) = (at - first, self.left.low[at]);
            either(products, lows, left.theta[g][i], low, &never[run.clone()], hits);
            for &hit in &*hits {
                let j = second + run.start + hit;
                let mine = lows[hit] - products[hit];
                if mine <= left.theta[g][i] && self.left.number[at] != self.right.number[j] {
                    left.add(samples, at, g, k, (mine, j as u32));
                }
            }
        });
    }

    /// Calls `look` for every run of one class on the right, every sample on the left and every group that the two are of:
    /// with the place of the sample, the products and lower bounds of the run, where it is, the group and its k.
    fn each_run(
        &self,
        products: &Mat<f32>,
        mut look: impl FnMut(usize, &[f32], &[f32], std::ops::Range<usize>, (usize, usize), &mut Vec<usize>),
    ) {
        let (first, second) = self.starts;
        let mut hits = Vec::new();
        for (run_class, run) in self.right.runs(second, products.nrows()) {
            for i in 0..products.ncols() {
                let products = &products.col_as_slice(i)[run.clone()];
                let lows = &self.right.low[second + run.start..second + run.end];
                for group in self.eligible(self.left.class[first + i] == run_class) {
                    hits.clear();
                    look(first + i, products, lows, run.clone(), group, &mut hits);
                }
            }
        }
    }

    /// The groups, and their k, to which a pair of the same class or of different classes belongs.
    fn eligible(&self, same: bool) -> impl Iterator<Item = (usize, usize)> {
        let groups = self.groups.into_iter().enumerate();
        groups.filter(move |&(_, (among, k))| k > 0 && among.admits(same)).map(|(g, (_, k))| (g, k))
    }
}

/// The places where one of two comes near enough: `lows − products ≤ theta` or `low − products ≤ thetas`.
fn either(products: &[f32], lows: &[f32], theta: f32, low: f32, thetas: &[f32], hits: &mut Vec<usize>) {
    vectorized(
        #[inline(always)]
        || {
            let near = |l: usize| (lows[l] - products[l] <= theta) | (low - products[l] <= thetas[l]);
            let whole = products.len() - products.len() % LANES;
            for start in (0..whole).step_by(LANES) {
                let (products, lows, thetas) = (
                    &products[start..start + LANES],
                    &lows[start..start + LANES],
                    &thetas[start..start + LANES],
                );
                let mut count = 0;
                for l in 0..LANES {
                    count += i32::from((lows[l] - products[l] <= theta) | (low - products[l] <= thetas[l]));
                }
                if count > 0 {
                    hits.extend((start..start + LANES).filter(|&l| near(l)));
                }
            }
            hits.extend((whole..products.len()).filter(|&l| near(l)));
        },
    );
}
