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

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::Among;
use crate::error::Result;
use crate::linalg::{column, vectorized};
use crate::monitor::{Monitor, Stage, proceed};

/// Samples on a side of a tile.
const TILE: usize = 512;

/// Samples and variables that are copied at a time.
const SQUARE: usize = 64;

/// Terms of a product that are added up in single precision; of more, such sums are added up in double precision, since
/// what is certain of them shrinks with their number.
const TERMS: usize = 1024;

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
        let tile = Tile { samples: &samples, groups, left: a * TILE, right: b * TILE };
        let products = tile.products();
        let lock = |k: usize| blocks[k].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if a == b {
            tile.scan_square(&products, &mut lock(a));
        } else {
            tile.scan(&products, &mut lock(a), &mut lock(b));
        }
        monitor.progress(Stage::Neighbors, done.fetch_add(1, Ordering::Relaxed) + 1, tiles.len());
        Ok(())
    })?;
    let mut out: Vec<[Vec<usize>; G]> = vec![[const { Vec::new() }; G]; n];
    for (b, block) in blocks.into_iter().enumerate() {
        let mut block = block.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for row in 0..block.rows.len() {
            let at = b * TILE + row;
            for (g, &(_, k)) in groups.iter().enumerate() {
                block.tighten(&samples, at, g, k);
                let near = &block.rows[row][g].near;
                out[samples.order[at]][g] = near.iter().map(|&(_, j)| samples.order[j as usize]).collect();
            }
        }
    }
    Ok(out)
}

/// The samples in single precision, ordered by class.
pub(super) struct Samples {
    /// One after the other, scaled so that none is longer than 1.
    pub(super) x: Vec<f32>,
    pub(super) variables: usize,
    pub(super) order: Vec<usize>,
    pub(super) class: Vec<usize>,
    /// `s − e`, and `e`.
    pub(super) low: Vec<f32>,
    pub(super) error: Vec<f32>,
}

impl Samples {
    pub(super) fn new(x: &Mat<f64>, class: &[usize]) -> Self {
        let (n, p) = x.shape();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (class[i], i));
        let squares = squared_lengths(x);
        let longest = squares.iter().fold(0.0, |m: f64, s| m.max(*s)).sqrt();
        // A power of two rounds nothing.
        let scale = if longest > 0.0 { (-longest.log2().ceil()).exp2() } else { 1.0 };
        let mut single = vec![0.0; p * n];
        single.par_chunks_mut(p * SQUARE).zip(order.par_chunks(SQUARE)).for_each(|(samples, order)| {
            // In squares that the cache holds: a transposition reads or writes across.
            for start in (0..p).step_by(SQUARE) {
                let columns: Vec<&[f64]> = (start..p.min(start + SQUARE)).map(|j| column(x, j)).collect();
                for (sample, &i) in samples.chunks_mut(p).zip(order) {
                    for (to, from) in sample[start..].iter_mut().zip(&columns) {
                        *to = (scale * from[i]) as f32;
                    }
                }
            }
        });
        // Of a product of so many terms in single precision, and of x before it; doubled, for the sums around it, and
        // with what numbers too small for single precision may amount to.
        let c = 2.0 * (p.min(TERMS) as f64 + 8.0) * f64::from(f32::EPSILON);
        let s: Vec<f64> = order.iter().map(|&i| squares[i] * scale * scale).collect();
        let error: Vec<f32> = s.iter().map(|s| (c * s) as f32 + f32::MIN_POSITIVE).collect();
        let low = s.iter().zip(&error).map(|(s, e)| *s as f32 - e).collect();
        let class = order.iter().map(|&i| class[i]).collect();
        Samples { x: single, variables: p, order, class, low, error }
    }

    /// Runs of one class in `start..start + width`.
    pub(super) fn runs(&self, start: usize, width: usize) -> Vec<(usize, std::ops::Range<usize>)> {
        let mut runs: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for k in 0..width {
            match runs.last_mut() {
                Some((class, run)) if *class == self.class[start + k] => run.end = k + 1,
                _ => runs.push((self.class[start + k], k..k + 1)),
            }
        }
        runs
    }
}

/// The squared length of every row.
fn squared_lengths(x: &Mat<f64>) -> Vec<f64> {
    let sum = |start: usize| {
        let mut squares = vec![0.0; x.nrows()];
        for j in start..x.ncols().min(start + TERMS) {
            for (square, x) in squares.iter_mut().zip(column(x, j)) {
                *square += x * x;
            }
        }
        squares
    };
    let starts: Vec<usize> = (0..x.ncols()).step_by(TERMS).collect();
    let sums: Vec<Vec<f64>> = starts.into_par_iter().map(sum).collect();
    (0..x.nrows()).map(|i| sums.iter().map(|sum| sum[i]).sum()).collect()
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

    /// Adds a candidate to the sample at position `at`.
    fn add(&mut self, samples: &Samples, at: usize, group: usize, k: usize, candidate: (f32, u32)) {
        let row = &mut self.rows[at % TILE][group];
        row.near.push(candidate);
        if row.near.len() >= row.limit.max(4 * k + 2 * LANES) {
            self.tighten(samples, at, group, k);
        }
    }

    /// Drops candidates that are certainly not among the nearest.
    fn tighten(&mut self, samples: &Samples, at: usize, group: usize, k: usize) {
        let row = &mut self.rows[at % TILE][group];
        if row.near.len() <= k {
            return;
        }
        let high = |&(low, j): &(f32, u32)| low + 2.0 * samples.error[j as usize];
        row.near.select_nth_unstable_by(k - 1, |a, b| high(a).total_cmp(&high(b)));
        let theta = high(&row.near[k - 1]) + 2.0 * samples.error[at];
        row.near.retain(|&(low, _)| low <= theta);
        row.limit = 2 * row.near.len();
        self.theta[group][at % TILE] = theta;
    }
}

/// The products of two blocks of samples.
struct Tile<'a, const G: usize> {
    samples: &'a Samples,
    groups: [(Among, usize); G],
    /// Where the blocks begin.
    left: usize,
    right: usize,
}

impl<const G: usize> Tile<'_, G> {
    fn width(&self, start: usize) -> usize {
        TILE.min(self.samples.class.len() - start)
    }

    /// `2 xⱼ·xᵢ`: a row a sample of the right block, a column one of the left.
    fn products(&self) -> Mat<f32> {
        let Samples { x, variables, class, .. } = self.samples;
        let x = MatRef::from_column_major_slice(x, *variables, class.len());
        let (left, right) = (self.width(self.left), self.width(self.right));
        let (a, b) = (x.subcols(self.right, right).transpose(), x.subcols(self.left, left));
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
    fn scan(&self, products: &Mat<f32>, left: &mut Block<G>, right: &mut Block<G>) {
        let Samples { low, class, .. } = self.samples;
        let mut hits = Vec::new();
        for (run_class, run) in self.samples.runs(self.right, products.nrows()) {
            for i in 0..products.ncols() {
                let at = self.left + i;
                let products = &products.col_as_slice(i)[run.clone()];
                let lows = &low[self.right + run.start..self.right + run.end];
                for (g, k) in self.eligible(class[at] == run_class) {
                    let thetas = &right.theta[g][run.clone()];
                    hits.clear();
                    either(products, lows, left.theta[g][i], low[at], thetas, &mut hits);
                    for &hit in &hits {
                        let j = self.right + run.start + hit;
                        let (mine, theirs) = (lows[hit] - products[hit], low[at] - products[hit]);
                        if mine <= left.theta[g][i] {
                            left.add(self.samples, at, g, k, (mine, j as u32));
                        }
                        if theirs <= right.theta[g][j % TILE] {
                            right.add(self.samples, j, g, k, (theirs, at as u32));
                        }
                    }
                }
            }
        }
    }

    /// Candidates of a block within itself: every pair is there twice.
    fn scan_square(&self, products: &Mat<f32>, block: &mut Block<G>) {
        let Samples { low, class, .. } = self.samples;
        let never = vec![f32::NEG_INFINITY; products.nrows()];
        let mut hits = Vec::new();
        for (run_class, run) in self.samples.runs(self.right, products.nrows()) {
            for i in 0..products.ncols() {
                let at = self.left + i;
                let products = &products.col_as_slice(i)[run.clone()];
                let lows = &low[self.right + run.start..self.right + run.end];
                for (g, k) in self.eligible(class[at] == run_class) {
                    hits.clear();
                    either(products, lows, block.theta[g][i], low[at], &never[run.clone()], &mut hits);
                    for &hit in &hits {
                        let j = self.right + run.start + hit;
                        let mine = lows[hit] - products[hit];
                        if j != at && mine <= block.theta[g][i] {
                            block.add(self.samples, at, g, k, (mine, j as u32));
                        }
                    }
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
