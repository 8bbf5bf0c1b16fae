//! The neighbours of dense blocks, which may be larger than what can be copied.
//!
//! Of both blocks some samples at a time, a window, are in single precision. Tiles of their products give candidates, as in the
//! search of all samples; before the window moves on they are decided by exact distances, and what has been found says how
//! near a further candidate must be. With `D` the exact squared distance of the k-th so far, in the units of the screen, a
//! candidate is one only if
//!
//! ```text
//! sⱼ − eⱼ − 2t  ≤  θᵢ = D − sᵢ + 2eᵢ
//! ```
//!
//! of which one `eᵢ` is for the products and the other for what `D` and θ are rounded by. Neighbours do not depend on the order
//! in which tiles are done, since nothing is lost and exact distances decide.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::NeighborScope;
use super::blocks::{Block, Centre};
use super::dense_screen::{Block as Screen, Field, lock, rectangle, triangle};
use super::nearest::{NearestSamples, SampleNeighbors, lists, width};
use super::single_precision::{Samples, SinglePrecisionValues, TILE, scale};
use crate::error::Result;
use crate::monitor::Monitor;

/// The values of a window: at most so many bytes, unless a few samples have more, and at most so many samples. Tests have small data,
/// and yet several windows.
const BYTES: usize = if cfg!(test) { 64 << 10 } else { 20 << 20 };
const ROWS: usize = if cfg!(test) { 1024 } else { 4096 };
const FEWEST: usize = 16;

/// Candidates of a sample that are decided at once, where equal distances make for very many.
const CROWD: usize = 256;

/// The neighbours of `queries` in `references`.
pub(super) fn one_way<const G: usize>(
    queries: &Block<'_>,
    references: &Block<'_>,
    centre: Centre<'_>,
    found: &mut NearestSamples<G>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (groups, [left, right]) = (found.groups(), WindowedBlock::together([queries, references], centre));
    let (mut xs, mut ys, mut lines) =
        (SinglePrecisionValues::none(), SinglePrecisionValues::none(), found.lines(&left.samples.order));
    for (window, lines) in left.each(&mut lines) {
        left.load(&window, &mut xs);
        let parts = left.parts(&window, lines, groups);
        for window in right.windows() {
            right.load(&window, &mut ys);
            let samples = (&left.samples, &right.samples);
            let field = Field { samples, values: (&xs, &ys), groups };
            let tiles = rectangle(parts.len(), right.count(&window));
            field.each(&tiles, monitor, |tile, (a, _)| {
                let products = tile.products();
                let mut part = lock(&parts[a]);
                tile.scan_left(&products, &mut part.screen);
                part.relieve(&left, &right, groups);
            })?;
        }
        settle(parts, &left, &right, groups);
    }
    Ok(())
}

/// The neighbours of each of two blocks in the other.
pub(super) fn both_ways<const G: usize>(
    (a, b): (&Block<'_>, &Block<'_>),
    centre: Centre<'_>,
    (of_a, of_b): (&mut NearestSamples<G>, &mut NearestSamples<G>),
    monitor: &dyn Monitor,
) -> Result<()> {
    let (groups, [left, right]) = (of_a.groups(), WindowedBlock::together([a, b], centre));
    let (mut xs, mut ys) = (SinglePrecisionValues::none(), SinglePrecisionValues::none());
    let (mut of_a, mut of_b) = (of_a.lines(&left.samples.order), of_b.lines(&right.samples.order));
    for (window, lines) in left.each(&mut of_a) {
        left.load(&window, &mut xs);
        let ours = left.parts(&window, lines, groups);
        for (window, lines) in right.each(&mut of_b) {
            right.load(&window, &mut ys);
            let theirs = right.parts(&window, lines, groups);
            between((&left, &xs, &ours), (&right, &ys, &theirs), groups, monitor)?;
            settle(theirs, &right, &left, groups);
        }
        settle(ours, &left, &right, groups);
    }
    Ok(())
}

/// The neighbours of the samples of a block in itself.
pub(super) fn within<const G: usize>(
    block: &Block<'_>,
    centre: Centre<'_>,
    found: &mut NearestSamples<G>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (groups, [side]) = (found.groups(), WindowedBlock::together([block], centre));
    let (mut xs, mut ys, mut lines) =
        (SinglePrecisionValues::none(), SinglePrecisionValues::none(), found.lines(&side.samples.order));
    let mut rest = &mut lines[..];
    for window in side.windows() {
        let (here, after) = rest.split_at_mut(window.len());
        side.load(&window, &mut xs);
        let ours = side.parts(&window, here, groups);
        let field = Field { samples: (&side.samples, &side.samples), values: (&xs, &xs), groups };
        field.each(&triangle(ours.len()), monitor, |tile, (a, b)| {
            let products = tile.products();
            let mut left = lock(&ours[a]);
            if a == b {
                tile.scan_left(&products, &mut left.screen);
            } else {
                let mut right = lock(&ours[b]);
                tile.scan(&products, &mut left.screen, &mut right.screen);
                right.relieve(&side, &side, groups);
            }
            left.relieve(&side, &side, groups);
        })?;
        let mut lines = &mut *after;
        for other in side.windows().filter(|other| other.start >= window.end) {
            let (here, after) = lines.split_at_mut(other.len());
            side.load(&other, &mut ys);
            let theirs = side.parts(&other, here, groups);
            between((&side, &xs, &ours), (&side, &ys, &theirs), groups, monitor)?;
            settle(theirs, &side, &side, groups);
            lines = after;
        }
        settle(ours, &side, &side, groups);
        rest = after;
    }
    Ok(())
}

/// A side, its values in the window, and its samples there.
type OpenedWindow<'a, 'r, 'n, const G: usize> =
    (&'a WindowedBlock<'a>, &'a SinglePrecisionValues, &'a [Mutex<TileSide<'r, 'n, G>>]);

/// Candidates of the samples of two windows among each other.
fn between<const G: usize>(
    (left, xs, ours): OpenedWindow<'_, '_, '_, G>,
    (right, ys, theirs): OpenedWindow<'_, '_, '_, G>,
    groups: [(NeighborScope, usize); G],
    monitor: &dyn Monitor,
) -> Result<()> {
    let field = Field { samples: (&left.samples, &right.samples), values: (xs, ys), groups };
    field.each(&rectangle(ours.len(), theirs.len()), monitor, |tile, (a, b)| {
        let products = tile.products();
        let (mut our, mut their) = (lock(&ours[a]), lock(&theirs[b]));
        tile.scan(&products, &mut our.screen, &mut their.screen);
        our.relieve(left, right, groups);
        their.relieve(right, left, groups);
    })
}

/// One of the blocks, in windows.
struct WindowedBlock<'a> {
    block: &'a Block<'a>,
    centre: Centre<'a>,
    samples: Samples,
    scale: f64,
    /// Samples of a window, a multiple of those of a tile.
    window: usize,
}

impl<'a> WindowedBlock<'a> {
    /// Blocks of as many variables, on one scale.
    fn together<const S: usize>(blocks: [&'a Block<'a>; S], centre: Centre<'a>) -> [Self; S] {
        let p = centre.mean.len();
        let most = (BYTES / (size_of::<f32>() * p)).clamp(FEWEST, ROWS);
        let side = most.min(TILE);
        let squares = blocks.map(|block| block.squared_lengths(centre));
        let scale = scale(squares.iter().flatten().copied());
        let mut squares = squares.iter();
        blocks.map(|block| {
            let squares = squares.next().map_or(&[][..], |squares| squares);
            let samples = Samples::known(p, block.class, |i| block.numbers.of(i), squares, scale, side);
            // Windows of about the same size.
            let tiles = block.samples().div_ceil(side).max(1);
            let window = side * tiles.div_ceil(tiles.div_ceil(most / side));
            WindowedBlock { block, centre, samples, scale, window }
        })
    }

    fn windows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (n, window) = (self.samples.len(), self.window);
        (0..n).step_by(window).map(move |start| start..n.min(start + window))
    }

    /// Every window, with what belongs to its samples.
    fn each<'l, T>(
        &self,
        all: &'l mut [T],
    ) -> impl Iterator<Item = (Range<usize>, &'l mut [T])> + use<'l, T> {
        self.windows().zip(all.chunks_mut(self.window))
    }

    /// Tiles on a side of a window.
    fn count(&self, window: &Range<usize>) -> usize {
        window.len().div_ceil(self.samples.side)
    }

    /// The values of the samples of a window.
    fn load(&self, window: &Range<usize>, into: &mut SinglePrecisionValues) {
        let p = self.samples.variables;
        (into.first, into.variables) = (window.start, p);
        into.x.resize(window.len() * p, 0.0);
        let samples = into.x.par_chunks_mut(p).zip(&self.samples.order[window.clone()]);
        samples.for_each(|(sample, &i)| self.block.centred(i, self.centre, self.scale, sample));
    }

    /// The samples of a window, of which `lines` are known.
    fn parts<'r, 'n, const G: usize>(
        &self,
        window: &Range<usize>,
        lines: &'r mut [SampleNeighbors<'n>],
        groups: [(NeighborScope, usize); G],
    ) -> Vec<Mutex<TileSide<'r, 'n, G>>> {
        let starts = window.clone().step_by(self.samples.side);
        let part = |(first, lines): (usize, &'r mut [SampleNeighbors<'n>])| {
            let mut part = TileSide { screen: Screen::new(lines.len()), lines, first };
            for (g, list) in lists(groups).into_iter().enumerate() {
                for (row, line) in part.lines.iter().enumerate() {
                    part.screen.theta[g][row] = self.theta(first + row, line, list, groups);
                }
            }
            Mutex::new(part)
        };
        starts.zip(lines.chunks_mut(self.samples.side)).map(part).collect()
    }

    /// θ of the sample at a place, by what has been found.
    fn theta<const G: usize>(
        &self,
        at: usize,
        line: &SampleNeighbors<'_>,
        list: (usize, usize),
        groups: [(NeighborScope, usize); G],
    ) -> f32 {
        let squared = line.last(list).min(self.farthest(at, list, groups));
        let (low, error) = (f64::from(self.samples.low[at]), f64::from(self.samples.error[at]));
        ((squared * self.scale * self.scale - low + error) as f32).next_up()
    }

    /// How far a neighbour of the sample at a place may be.
    fn farthest<const G: usize>(
        &self,
        at: usize,
        list: (usize, usize),
        groups: [(NeighborScope, usize); G],
    ) -> f64 {
        self.block.farthest(self.samples.order[at], list, width(groups))
    }
}

/// Samples on a side of a tile: their candidates, and what has been decided.
struct TileSide<'r, 'n, const G: usize> {
    screen: Screen<G>,
    lines: &'r mut [SampleNeighbors<'n>],
    /// The place of the first.
    first: usize,
}

impl<const G: usize> TileSide<'_, '_, G> {
    /// Decides the candidates of samples that have many, so that they take little memory.
    fn relieve(
        &mut self,
        own: &WindowedBlock<'_>,
        other: &WindowedBlock<'_>,
        groups: [(NeighborScope, usize); G],
    ) {
        if self.screen.most > CROWD {
            self.decide(own, other, groups, CROWD);
            self.screen.most = 0;
        }
    }

    /// Decides the candidates of samples that have more than `few`, by exact distances.
    fn decide(
        &mut self,
        own: &WindowedBlock<'_>,
        other: &WindowedBlock<'_>,
        groups: [(NeighborScope, usize); G],
        few: usize,
    ) {
        for row in 0..self.lines.len() {
            let at = self.first + row;
            for (g, list) in lists(groups).into_iter().enumerate() {
                if self.screen.rows[row][g].near.len() <= few {
                    continue;
                }
                self.screen.tighten((&own.samples, &other.samples), at, g, list.1);
                let near = std::mem::take(&mut self.screen.rows[row][g]).near;
                let squared = |&(_, j): &(f32, u32)| {
                    let (i, j) = (own.samples.order[at], other.samples.order[j as usize]);
                    let squared = own.block.squared_distance(i, other.block, j, own.centre.dropped);
                    (squared, other.block.numbers.of(j))
                };
                let (line, farthest) = (&mut self.lines[row], own.farthest(at, list, groups));
                line.put(list, near.iter().map(squared).filter(|near| near.0 <= farthest));
                self.screen.theta[g][row] = own.theta(at, line, list, groups);
            }
        }
    }
}

/// Decides all that is left.
fn settle<const G: usize>(
    parts: Vec<Mutex<TileSide<'_, '_, G>>>,
    own: &WindowedBlock<'_>,
    other: &WindowedBlock<'_>,
    groups: [(NeighborScope, usize); G],
) {
    parts.into_par_iter().for_each(|part| {
        part.into_inner().unwrap_or_else(PoisonError::into_inner).decide(own, other, groups, 0);
    });
}
