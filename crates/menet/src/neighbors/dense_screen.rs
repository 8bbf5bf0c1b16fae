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
use std::sync::{Mutex, PoisonError};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::single_precision::{Samples, TERMS, TILE};
use super::{Among, tighten};
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
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<Vec<[Vec<usize>; G]>> {
    let samples = Samples::new(x, class);
    let n = class.len();
    let blocks: Vec<Mutex<Block<G>>> =
        (0..n).step_by(TILE).map(|start| Mutex::new(Block::new(TILE.min(n - start)))).collect();
    // By their distance from the diagonal, so that tiles done at the same time seldom share a side.
    let tiles: Vec<(usize, usize)> =
        (0..blocks.len()).flat_map(|apart| (apart..blocks.len()).map(move |j| (j - apart, j))).collect();
    let done = AtomicUsize::new(0);
    tiles.par_iter().with_max_len(1).try_for_each(|&(a, b)| {
        proceed(monitor, Stage::Neighbors)?;
        let tile = Tile { left: &samples, right: &samples, groups, starts: (a * TILE, b * TILE) };
        let products = tile.products();
        let lock = |k: usize| blocks[k].lock().unwrap_or_else(PoisonError::into_inner);
        if a == b {
            tile.scan_left(&products, &mut lock(a));
        } else {
            tile.scan(&products, &mut lock(a), &mut lock(b));
        }
        monitor.progress(Stage::Neighbors, done.fetch_add(1, Ordering::Relaxed) + 1, tiles.len());
        Ok(())
    })?;
    let blocks = blocks.into_iter().map(|b| b.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(collect(&samples, &samples, groups, blocks))
}

/// For every query and group at least its `k` nearest references, in no order. Both are centred by the same means.
///
/// # Errors
/// When `monitor` asks to stop.
pub(super) fn candidates_between<const G: usize>(
    queries: &Samples,
    references: &Samples,
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<Vec<[Vec<usize>; G]>> {
    let (n, m) = (queries.class.len(), references.class.len());
    let starts: Vec<usize> = (0..n).step_by(TILE).collect();
    let search = |&start: &usize| {
        let mut block = Block::new(TILE.min(n - start));
        for other in (0..m).step_by(TILE) {
            proceed(monitor, Stage::Neighbors)?;
            let tile = Tile { left: queries, right: references, groups, starts: (start, other) };
            tile.scan_left(&tile.products(), &mut block);
        }
        Ok(block)
    };
    let blocks: Vec<Block<G>> = starts.par_iter().map(search).collect::<Result<_>>()?;
    Ok(collect(queries, references, groups, blocks.into_iter()))
}

/// What the blocks have found, in the order of the data.
fn collect<const G: usize>(
    left: &Samples,
    right: &Samples,
    groups: [(Among, usize); G],
    blocks: impl Iterator<Item = Block<G>>,
) -> Vec<[Vec<usize>; G]> {
    let mut out: Vec<[Vec<usize>; G]> = vec![[const { Vec::new() }; G]; left.class.len()];
    for (b, mut block) in blocks.enumerate() {
        for row in 0..block.rows.len() {
            let at = b * TILE + row;
            for (g, &(_, k)) in groups.iter().enumerate() {
                block.tighten((left, right), at, g, k);
                let near = &block.rows[row][g].near;
                out[left.order[at]][g] = near.iter().map(|&(_, j)| right.order[j as usize]).collect();
            }
        }
    }
    out
}

/// What is known of the samples of a block.
struct Block<const G: usize> {
    rows: Vec<[Row; G]>,
    /// θ of every sample, by group.
    theta: [Vec<f32>; G],
}

/// The candidates of a sample: `s − e − 2t`, and which.
#[derive(Clone)]
struct Row {
    near: Vec<(f32, u32)>,
    /// How many there may be before they are looked through.
    limit: usize,
}

impl<const G: usize> Block<G> {
    fn new(rows: usize) -> Self {
        let row = Row { near: Vec::new(), limit: 0 };
        Block {
            rows: vec![[(); G].map(|()| row.clone()); rows],
            theta: [(); G].map(|()| vec![f32::INFINITY; rows]),
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
        let row = &mut self.rows[at % TILE][group];
        row.near.push(candidate);
        if row.near.len() >= row.limit.max(4 * k + 2 * LANES) {
            self.tighten(samples, at, group, k);
        }
    }

    /// Drops candidates that are certainly not among the nearest.
    fn tighten(&mut self, (left, right): (&Samples, &Samples), at: usize, group: usize, k: usize) {
        let row = &mut self.rows[at % TILE][group];
        let slack = |j: usize| 2.0 * right.error[j];
        if let Some(theta) = tighten(&mut row.near, k, slack, 2.0 * left.error[at]) {
            row.limit = 2 * row.near.len();
            self.theta[group][at % TILE] = theta;
        }
    }
}

/// The products of two blocks of samples.
struct Tile<'a, const G: usize> {
    left: &'a Samples,
    right: &'a Samples,
    groups: [(Among, usize); G],
    /// Where the blocks begin.
    starts: (usize, usize),
}

impl<const G: usize> Tile<'_, G> {
    /// `2 xⱼ·xᵢ`: one row per sample of the right block, one column per sample of the left.
    fn products(&self) -> Mat<f32> {
        let variables = &self.left.variables;
        let (a, b) = (self.right.block(self.starts.1).transpose(), self.left.block(self.starts.0));
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

    /// Candidates of both blocks among each other, which are parts of the same samples.
    fn scan(&self, products: &Mat<f32>, left: &mut Block<G>, right: &mut Block<G>) {
        let (samples, (first, second)) = ((self.left, self.right), self.starts);
        self.each_run(products, |at, products, lows, run, (g, k), hits| {
            let (i, low) = (at - first, self.left.low[at]);
            either(products, lows, left.theta[g][i], low, &right.theta[g][run.clone()], hits);
            for &hit in &*hits {
                let j = second + run.start + hit;
                let (mine, theirs) = (lows[hit] - products[hit], low - products[hit]);
                if mine <= left.theta[g][i] {
                    left.add(samples, at, g, k, (mine, j as u32));
                }
                if theirs <= right.theta[g][j % TILE] {
                    right.add(samples, j, g, k, (theirs, at as u32));
                }
            }
        });
    }

    /// Candidates of the left block in the right one, which may be the same.
    fn scan_left(&self, products: &Mat<f32>, left: &mut Block<G>) {
        let (samples, (first, second)) = ((self.left, self.right), self.starts);
        let never = vec![f32::NEG_INFINITY; products.nrows()];
        self.each_run(products, |at, products, lows, run, (g, k), hits| {
            let (i, low) = (at - first, self.left.low[at]);
            either(products, lows, left.theta[g][i], low, &never[run.clone()], hits);
            for &hit in &*hits {
                let j = second + run.start + hit;
                let mine = lows[hit] - products[hit];
                if mine <= left.theta[g][i] && self.left.number(at) != self.right.number(j) {
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
