//! Samples by cell, and cells by class: the index that is searched.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::{CandidateList, kmeans};
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::NeighborScope;
use crate::neighbors::single_precision::{Samples, SinglePrecisionValues};

/// Samples of a cell, about; and at most, since no one can divide equal samples.
const CELL: usize = 256;
const LARGEST_CELL: usize = 1024;

/// Samples of a cell, about, that its centre is found from; and turns of k-means.
const TRAINED: usize = 64;
const TURNS: usize = 5;

/// Samples that are assigned to cells between two questions to the monitor: whole tiles, so that nothing is rounded otherwise
/// than all at once.
const ASSIGNED: usize = 32 * kmeans::TILE;

/// Cells that would have fewer samples on the average are not worth it.
const SMALLEST_CELL: usize = 32;

/// Samples by cell, and cells by class.
pub(super) struct Index {
    pub(super) samples: Samples,
    /// Their values, one sample after the other.
    pub(super) x: Vec<f32>,
    /// Their squared lengths.
    pub(super) squares: Vec<f32>,
    pub(super) cells: Vec<Range<usize>>,
    /// The cells of the class of every cell.
    kin: Vec<Range<usize>>,
    /// The centres of cells, one after the other, and their squared lengths.
    pub(super) centres: Vec<f32>,
    lengths: Vec<f32>,
}

impl Index {
    /// None where there are too few samples for it.
    pub(super) fn new(
        x: &Mat<f64>,
        class: &[usize],
        smallest: usize,
        monitor: &dyn Monitor,
    ) -> Result<Option<Self>> {
        let n = class.len();
        if n < smallest {
            return Ok(None);
        }
        let (samples, values) = Samples::new(x, class);
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
            let cells = divide(&values.x[run.start * p..run.end * p], p, count, monitor)?;
            for (at, cell) in run.zip(cells) {
                cell_of[samples.order[at]] = first + cell as usize;
            }
            first += count;
        }
        drop((samples, values));
        Ok(Some(Self::from_cells(Samples::new(x, &cell_of), class)))
    }

    /// From samples ordered by cell.
    fn from_cells((samples, values): (Samples, SinglePrecisionValues), class: &[usize]) -> Self {
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
            for sample in values.x[cell.start * p..cell.end * p].chunks(p) {
                for (centre, x) in centre.iter_mut().zip(sample) {
                    *centre += x / cell.len() as f32;
                }
            }
        });
        let lengths = centres.chunks(p).map(|centre| centre.iter().map(|x| x * x).sum()).collect();
        let squares = samples.low.iter().zip(&samples.error).map(|(low, error)| low + error).collect();
        Index { samples, x: values.x, squares, cells, kin, centres, lengths }
    }

    /// The cell of the sample at a place.
    pub(super) fn cell_at(&self, at: usize) -> usize {
        self.cells.partition_point(|cell| cell.end <= at)
    }

    /// The cells where neighbours of the samples of a cell may be.
    pub(super) fn around(&self, cell: usize, among: NeighborScope) -> (Range<usize>, Range<usize>) {
        let (own, all) = (self.kin[cell].clone(), self.cells.len());
        match among {
            NeighborScope::Within => (own, 0..0),
            NeighborScope::Between => (0..own.start, own.end..all),
            NeighborScope::All => (0..all, 0..0),
        }
    }

    /// The cells near the sample at a place, with their distances. Its own comes first, even if another centre is nearer.
    pub(super) fn eligible(&self, at: usize, among: NeighborScope, products: &[f32]) -> CandidateList {
        let own = self.cell_at(at);
        let (these, those) = self.around(own, among);
        let away = |cell| if cell == own { f32::NEG_INFINITY } else { self.lengths[cell] - products[cell] };
        these.chain(those).map(|cell| (away(cell), cell as u32)).collect()
    }
}

/// Divides samples into cells by k-means. The centres are found without a question to the monitor.
fn divide(x: &[f32], p: usize, count: usize, monitor: &dyn Monitor) -> Result<Vec<u32>> {
    let n = x.len() / p;
    if count == 1 {
        return Ok(vec![0; n]);
    }
    let trained = n.min(count * TRAINED);
    let training: Vec<f32> = (0..trained).flat_map(|k| &x[k * n / trained * p..][..p]).copied().collect();
    let centres = kmeans::centres(&training, p, count, TURNS);
    let mut cells = Vec::with_capacity(n);
    for x in x.chunks(ASSIGNED * p) {
        proceed(monitor, Stage::Neighbors)?;
        cells.extend(kmeans::assign(x, p, &centres));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts how often it is asked.
    #[derive(Default)]
    struct CallCounter(AtomicUsize);

    impl Monitor for CallCounter {
        fn stop(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            false
        }
    }

    #[test]
    fn a_cell_has_samples_of_one_class_and_not_too_many() {
        // The last class is one sample, many times.
        let class: Vec<usize> = (0..9000).map(|i| [0, 0, 1, 2, 2, 2][i % 6]).collect();
        let x =
            Mat::from_fn(9000, 2, |i, j| if class[i] == 2 { 7.0 } else { ((i + 1) * (j + 3) % 101) as f64 });
        let index = Index::new(&x, &class, 0, &()).unwrap().unwrap();
        let mut next = 0;
        for (k, cell) in index.cells.iter().enumerate() {
            assert!(cell.start == next && (1..=LARGEST_CELL).contains(&cell.len()), "{cell:?}");
            next = cell.end;
            let of = |at: usize| class[index.samples.order[at]];
            assert!(cell.clone().all(|at| of(at) == of(cell.start) && index.cell_at(at) == k));
            let (own, none) = index.around(k, NeighborScope::Within);
            let (before, after) = index.around(k, NeighborScope::Between);
            assert!(own.clone().all(|kin| of(index.cells[kin].start) == of(cell.start)) && none.is_empty());
            assert!(before.chain(after).all(|other| of(index.cells[other].start) != of(cell.start)));
        }
        assert_eq!(next, class.len());
    }

    #[test]
    fn the_monitor_is_asked_before_every_class_and_every_block_of_samples() {
        let class: Vec<usize> = (0..2 * ASSIGNED + 1001).map(|i| usize::from(i < 1000)).collect();
        let x = Mat::from_fn(class.len(), 2, |i, j| ((i * 7919 + j * 104_729 + i * i) % 1009) as f64);
        let monitor = CallCounter::default();
        Index::new(&x, &class, 0, &monitor).unwrap().unwrap();
        // Two classes, the first of two blocks and one sample, the other of less than a block.
        assert_eq!(monitor.0.into_inner(), 2 + 3 + 1);
    }
}
