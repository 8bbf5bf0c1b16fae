//! Candidates for the nearest neighbours of sparse samples.
//!
//! The products of a sample with all others come from an inverted index: of every variable it has, the samples that have it
//! too. As for dense data, they only choose candidates, with slack for their rounding.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::blocks::SampleNumbers;
use super::{NeighborScope, tighten};
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::sparse::SparseMatrix;

/// Samples that a thread takes at a time.
const ROWS: usize = 64;

/// Samples, the class of each, and their numbers, where they are a part of others.
pub(super) type SamplePart<'a> = (&'a SparseMatrix, &'a [usize], SampleNumbers<'a>);

/// For every sample and group at least its `k` nearest samples, in no order.
///
/// # Errors
/// When `monitor` asks to stop.
pub(super) fn candidates<const G: usize>(
    samples: &SparseMatrix,
    class: &[usize],
    groups: [(NeighborScope, usize); G],
    monitor: &dyn Monitor,
) -> Result<Vec<[Vec<usize>; G]>> {
    let all = (samples, class, SampleNumbers::From(0));
    candidates_between(all, all, groups, monitor)
}

/// For every query and group at least its `k` nearest references, in no order.
///
/// # Errors
/// When `monitor` asks to stop.
pub(super) fn candidates_between<const G: usize>(
    queries: SamplePart<'_>,
    references: SamplePart<'_>,
    groups: [(NeighborScope, usize); G],
    monitor: &dyn Monitor,
) -> Result<Vec<[Vec<usize>; G]>> {
    let (n, m) = (queries.0.rows(), references.0.rows());
    let screen = Screen::new(queries, references, groups.map(|(among, k)| (among, k.min(m))));
    let done = AtomicUsize::new(0);
    let blocks: Vec<Vec<[Vec<usize>; G]>> = (0..n.div_ceil(ROWS))
        .into_par_iter()
        .map_init(
            || vec![0.0; m],
            |products, block| {
                proceed(monitor, Stage::Neighbors)?;
                let rows = block * ROWS..n.min((block + 1) * ROWS);
                let found = rows.map(|i| screen.candidates(i, products)).collect();
                let before = done.fetch_add(ROWS, Ordering::Relaxed);
                monitor.progress(Stage::Neighbors, n.min(before + ROWS), n);
                Ok(found)
            },
        )
        .collect::<Result<_>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

/// What candidates are chosen by. With squared lengths s and products t the squared distance is `sᵢ + sⱼ − 2t`, and off by
/// at most `c (sᵢ + sⱼ)`.
struct Screen<'a, const G: usize> {
    queries: SamplePart<'a>,
    references: SamplePart<'a>,
    /// The references that have a variable.
    index: SparseMatrix,
    groups: [(NeighborScope, usize); G],
    /// `s − c s` of every reference, and `2 c s` of every query and reference.
    low: Vec<f64>,
    own: Vec<f64>,
    slack: Vec<f64>,
}

/// The candidates of a sample: `sⱼ − c sⱼ − 2t`, and which; none above `most` is one.
struct BoundedCandidates {
    candidates: Vec<(f64, u32)>,
    most: f64,
    limit: usize,
}

impl<'a, const G: usize> Screen<'a, G> {
    fn new(queries: SamplePart<'a>, references: SamplePart<'a>, groups: [(NeighborScope, usize); G]) -> Self {
        let longest =
            |samples: &SparseMatrix| (0..samples.rows()).map(|i| samples.line(i).0.len()).max().unwrap_or(0);
        // Of lengths, products and distances, each a sum of at most twice so many terms.
        let c = (8 * longest(queries.0).max(longest(references.0)) + 32) as f64 * f64::EPSILON;
        let squares = |samples: &SparseMatrix| -> Vec<f64> {
            (0..samples.rows()).map(|i| samples.line(i).1.iter().map(|x| x * x).sum::<f64>()).collect()
        };
        let slack = |squares: &[f64]| squares.iter().map(|s| 2.0 * c * s).collect();
        let (own, of_references) = (squares(queries.0), squares(references.0));
        Screen {
            queries,
            references,
            index: references.0.transpose(),
            groups,
            low: of_references.iter().map(|s| s - c * s).collect(),
            own: slack(&own),
            slack: slack(&of_references),
        }
    }

    /// The candidates of query `i`; `products` is 0 before and after.
    fn candidates(&self, i: usize, products: &mut [f64]) -> [Vec<usize>; G] {
        let ((queries, query_class, numbers), (_, class, others)) = (self.queries, self.references);
        let own = numbers.of(i);
        for (v, x) in queries.row(i) {
            self.index.row(v).for_each(|(j, y)| products[j] += 2.0 * x * y);
        }
        let mut near = self.groups.map(|(_, k)| BoundedCandidates {
            candidates: Vec::new(),
            most: f64::INFINITY,
            limit: 4 * k,
        });
        for (j, (low, product)) in self.low.iter().zip(products.iter()).enumerate() {
            let (low, same) = (low - product, class[j] == query_class[i]);
            for (near, &(among, k)) in near.iter_mut().zip(&self.groups) {
                if low <= near.most && k > 0 && others.of(j) != own && among.admits(same) {
                    near.candidates.push((low, j as u32));
                    if near.candidates.len() > near.limit {
                        self.tighten(near, i, k);
                    }
                }
            }
        }
        for (v, _) in queries.row(i) {
            self.index.row(v).for_each(|(j, _)| products[j] = 0.0);
        }
        let mut k = self.groups.iter().map(|&(_, k)| k);
        near.map(|mut near| {
            self.tighten(&mut near, i, k.next().unwrap_or(0));
            near.candidates.iter().map(|&(_, j)| j as usize).collect()
        })
    }

    /// Drops candidates of query `i` that are certainly not among the `k` nearest.
    fn tighten(&self, near: &mut BoundedCandidates, i: usize, k: usize) {
        if let Some(most) = tighten(&mut near.candidates, k, |j| self.slack[j], self.own[i]) {
            near.most = most;
            near.limit = 2 * near.candidates.len().max(2 * k);
        }
    }
}
