//! Exact nearest neighbours of sparse samples.
//!
//! The products of a sample with all others come from an inverted index: of every variable it has, the samples that have it
//! too. As for dense data, they only choose candidates, with slack for their rounding; distances are then computed from
//! the samples, in the order of summation of dense ones, so that the neighbours are the same to the last bit.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Implicit;
use crate::alignment::{Groups, groups};
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::neighbors::{Among, Neighbor, exact};
use crate::patches::{PatchParams, PatchRule};
use crate::sparse::SparseMatrix;

/// Samples that a thread takes at a time.
const ROWS: usize = 64;

/// The two groups of neighbours that `rule` asks for, of samples in the classes `class`.
///
/// # Errors
/// When `monitor` asks to stop.
pub fn related(
    data: &Implicit,
    class: &[usize],
    rule: &dyn PatchRule,
    params: &PatchParams,
    monitor: &dyn Monitor,
) -> Result<Groups> {
    let [near, far] = neighbor_groups(&data.samples, class, groups(rule, params), monitor)?;
    Ok((near, far))
}

fn neighbor_groups<const G: usize>(
    samples: &SparseMatrix,
    class: &[usize],
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<[Vec<Vec<Neighbor>>; G]> {
    let n = samples.rows();
    let screen = Screen::new(samples, class, groups.map(|(among, k)| (among, k.min(n))));
    let done = AtomicUsize::new(0);
    let blocks: Vec<Vec<[Vec<Neighbor>; G]>> = (0..n.div_ceil(ROWS))
        .into_par_iter()
        .map_init(
            || vec![0.0; n],
            |products, block| {
                proceed(monitor, Stage::Neighbors)?;
                let rows = block * ROWS..n.min((block + 1) * ROWS);
                let found = rows.map(|i| screen.neighbors(i, products)).collect();
                let before = done.fetch_add(ROWS, Ordering::Relaxed);
                monitor.progress(Stage::Neighbors, n.min(before + ROWS), n);
                Ok(found)
            },
        )
        .collect::<Result<_>>()?;
    let mut out = [(); G].map(|()| Vec::with_capacity(n));
    for found in blocks.into_iter().flatten() {
        for (out, found) in out.iter_mut().zip(found) {
            out.push(found);
        }
    }
    Ok(out)
}

/// What candidates are chosen by. With squared lengths s and products t the squared distance is `sᵢ + sⱼ − 2t`, and off by
/// at most `c (sᵢ + sⱼ)`.
struct Screen<'a, const G: usize> {
    samples: &'a SparseMatrix,
    /// The samples that have a variable.
    index: SparseMatrix,
    class: &'a [usize],
    groups: [(Among, usize); G],
    /// `s − c s`, and `2 c s`.
    low: Vec<f64>,
    slack: Vec<f64>,
}

/// The candidates of a sample: `sⱼ − c sⱼ − 2t`, and which; none above `most` is one.
struct Near {
    candidates: Vec<(f64, usize)>,
    most: f64,
    limit: usize,
}

impl<'a, const G: usize> Screen<'a, G> {
    fn new(samples: &'a SparseMatrix, class: &'a [usize], groups: [(Among, usize); G]) -> Self {
        let longest = (0..samples.rows()).map(|i| samples.line(i).0.len()).max().unwrap_or(0);
        // Of lengths, products and distances, each a sum of at most twice so many terms.
        let c = (8 * longest + 32) as f64 * f64::EPSILON;
        let square = |i: usize| samples.line(i).1.iter().map(|x| x * x).sum::<f64>();
        let squares: Vec<f64> = (0..samples.rows()).map(square).collect();
        Screen {
            samples,
            index: samples.transpose(),
            class,
            groups,
            low: squares.iter().map(|s| s - c * s).collect(),
            slack: squares.iter().map(|s| 2.0 * c * s).collect(),
        }
    }

    /// The neighbours of sample `i`; `products` is 0 before and after.
    fn neighbors(&self, i: usize, products: &mut [f64]) -> [Vec<Neighbor>; G] {
        for (v, x) in self.samples.row(i) {
            self.index.row(v).for_each(|(j, y)| products[j] += 2.0 * x * y);
        }
        let mut near =
            self.groups.map(|(_, k)| Near { candidates: Vec::new(), most: f64::INFINITY, limit: 4 * k });
        for (j, (low, product)) in self.low.iter().zip(products.iter()).enumerate() {
            let (low, same) = (low - product, self.class[j] == self.class[i]);
            for (near, &(among, k)) in near.iter_mut().zip(&self.groups) {
                if low <= near.most && k > 0 && j != i && among.admits(same) {
                    near.candidates.push((low, j));
                    if near.candidates.len() > near.limit {
                        self.tighten(near, i, k);
                    }
                }
            }
        }
        for (v, _) in self.samples.row(i) {
            self.index.row(v).for_each(|(j, _)| products[j] = 0.0);
        }
        let mut k = self.groups.iter().map(|&(_, k)| k);
        near.map(|mut near| {
            let k = k.next().unwrap_or(0);
            self.tighten(&mut near, i, k);
            let chosen: Vec<usize> = near.candidates.iter().map(|&(_, j)| j).collect();
            exact(&chosen, k, |j| self.squared_distance(i, j))
        })
    }

    /// Drops candidates of sample `i` that are certainly not among the `k` nearest.
    fn tighten(&self, near: &mut Near, i: usize, k: usize) {
        let Near { candidates, most, limit } = near;
        if candidates.len() <= k {
            return;
        }
        let high = |&(low, j): &(f64, usize)| low + self.slack[j];
        candidates.select_nth_unstable_by(k - 1, |a, b| high(a).total_cmp(&high(b)));
        *most = high(&candidates[k - 1]) + self.slack[i];
        candidates.retain(|&(low, _)| low <= *most);
        *limit = 2 * candidates.len().max(2 * k);
    }

    /// As [`crate::linalg::squared_distance`] adds it up of dense samples.
    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        const LANES: usize = 8;
        let whole = self.samples.columns() / LANES * LANES;
        let (mut sums, mut tail) = ([0.0; LANES], 0.0);
        let mut add = |v: u32, d: f64| match v as usize {
            v if v < whole => sums[v % LANES] += d * d,
            _ => tail += d * d,
        };
        let ((mut a, mut x), (mut b, mut y)) = (self.samples.line(i), self.samples.line(j));
        while let (Some(&v), Some(&w)) = (a.first(), b.first()) {
            add(v.min(w), if v <= w { x[0] } else { 0.0 } - if w <= v { y[0] } else { 0.0 });
            if v <= w {
                (a, x) = (&a[1..], &x[1..]);
            }
            if w <= v {
                (b, y) = (&b[1..], &y[1..]);
            }
        }
        for (&v, x) in a.iter().zip(x).chain(b.iter().zip(y)) {
            add(v, *x);
        }
        sums.iter().sum::<f64>() + tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::preprocess::Preprocessed;
    use faer::Mat;

    /// Whole numbers, of which nearly every distance is shared, and others; with a constant column and empty samples.
    #[test]
    fn neighbours_are_those_of_dense_samples_to_the_last_bit() {
        for (n, p, scale) in [(150, 19, 1.0), (150, 16, 0.1), (90, 201, 1e-60), (90, 7, 1e60)] {
            let x = Mat::from_fn(n, p, |i, j| match (i * 7919 + j * 104_729 + i * j * 31) % 11 {
                _ if j == 3 => 5.0 * scale,
                _ if i % 17 == 4 => 0.0,
                at @ 0..=2 => scale * (1 + at) as f64,
                _ => 0.0,
            });
            let labels: Vec<usize> =
                (0..n).map(|i| usize::from(i % 5 > 1) + 2 * usize::from(i == 8)).collect();
            let data = Dataset::new(x.as_ref(), &labels).unwrap();
            let dense = Preprocessed::new(&data, None).unwrap();
            let implicit = Implicit::new(&SparseMatrix::from_dense(x.as_ref()).unwrap()).unwrap();
            for k in [1, 5, 40, usize::MAX / 8] {
                let groups = [(Among::Within, k), (Among::Between, k), (Among::All, k), (Among::All, 0)];
                let expected = crate::neighbors::neighbor_groups(&data, &dense, groups, &()).unwrap();
                let found = neighbor_groups(&implicit.samples, data.class_indices(), groups, &()).unwrap();
                assert_eq!(found, expected, "{n} x {p}, k {k}");
            }
        }
    }
}
