//! Exact nearest neighbours within a class, between classes, and among all samples.
//!
//! A blocked matrix product gives approximate squared distances, from which candidates are taken with enough
//! slack that no true neighbour is lost. Their distances are then recomputed from the samples in one fixed order
//! of summation, and ties go to the lower index: rounding of the product never decides.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::linalg::{column, dot, squared_distance};
use crate::monitor::{Monitor, Stage, proceed};
use crate::preprocess::Preprocessed;

/// Which samples may be neighbours of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Those of its own class.
    Within,
    /// Those of other classes.
    Between,
    /// All.
    All,
}

/// A neighbour and its Euclidean distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// The neighbour, as a sample.
    pub index: usize,
    /// Its distance.
    pub distance: f64,
}

/// Samples whose distances to all others are computed by one product.
const BLOCK: usize = 64;

/// For every sample its `k` nearest neighbours among `among`, nearest first; fewer where there are fewer.
///
/// # Errors
/// When the data do not belong together, or `monitor` asks to stop.
pub fn neighbors(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed,
    among: Among,
    k: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Neighbor>>> {
    let [found] = neighbor_groups(data, preprocessed, [(among, k)], monitor)?;
    Ok(found)
}

/// Several groups of neighbours, each as [`neighbors`] gives it, from one pass over the distances.
///
/// # Errors
/// As [`neighbors`].
pub fn neighbor_groups<const G: usize>(
    data: &Dataset<'_>,
    preprocessed: &Preprocessed,
    groups: [(Among, usize); G],
    monitor: &dyn Monitor,
) -> Result<[Vec<Vec<Neighbor>>; G]> {
    let n = data.samples();
    preprocessed.check(data)?;
    let x = &preprocessed.x;
    let rows = x.transpose().to_owned();
    let squares: Vec<f64> = (0..n).map(|i| dot(column(&rows, i), column(&rows, i))).collect();
    let class = data.class_indices();
    let nearest = |i: usize, inner: &[f64], among: Among, k: usize| {
        if k == 0 {
            return Vec::new();
        }
        let eligible = |j: &usize| {
            *j != i
                && match among {
                    Among::Within => class[*j] == class[i],
                    Among::Between => class[*j] != class[i],
                    Among::All => true,
                }
        };
        let approximate = |j: usize| squares[i] + squares[j] - 2.0 * inner[j];
        let mut near: Vec<(f64, usize)> = (0..n).filter(eligible).map(|j| (approximate(j), j)).collect();
        keep_candidates(&mut near, k, |j| rounding(x.ncols(), squares[i] + squares[j]));
        let sample = |i: usize| column(&preprocessed.samples, i);
        exact(near, k, |j| squared_distance(sample(i), sample(j)))
    };
    let blocks: Vec<Vec<[Vec<Neighbor>; G]>> = (0..n)
        .step_by(BLOCK)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|start| {
            proceed(monitor, Stage::Neighbors)?;
            let width = BLOCK.min(n - start);
            let mut inner = Mat::zeros(n, width);
            matmul(&mut inner, Accum::Replace, x, rows.subcols(start, width), 1.0, Par::Seq);
            let found = (0..width)
                .map(|b| groups.map(|(among, k)| nearest(start + b, column(&inner, b), among, k)))
                .collect();
            monitor.progress(Stage::Neighbors, start + width, n);
            Ok(found)
        })
        .collect::<Result<_>>()?;
    let mut out = [(); G].map(|()| Vec::with_capacity(n));
    for found in blocks.into_iter().flatten() {
        for (out, found) in out.iter_mut().zip(found) {
            out.push(found);
        }
    }
    Ok(out)
}

/// How far an approximate squared distance may be from the true one: both come from sums of `p` terms no larger
/// together than the squared lengths, and centring has rounded the samples before.
fn rounding(p: usize, squared_lengths: f64) -> f64 {
    4.0 * (p as f64 + 8.0) * f64::EPSILON * squared_lengths
}

/// Drops those that are certainly not among the `k` nearest.
fn keep_candidates(near: &mut Vec<(f64, usize)>, k: usize, rounding: impl Fn(usize) -> f64) {
    if near.len() <= k {
        return;
    }
    near.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0));
    let farthest = near[..k].iter().map(|&(d, j)| d + rounding(j)).fold(f64::NEG_INFINITY, f64::max);
    near.retain(|&(d, j)| d - rounding(j) <= farthest);
}

/// The `k` nearest by exact distance, ties to the lower index.
fn exact(near: Vec<(f64, usize)>, k: usize, squared: impl Fn(usize) -> f64) -> Vec<Neighbor> {
    let mut near: Vec<(f64, usize)> = near.into_iter().map(|(_, j)| (squared(j), j)).collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // A new list: to collect in place would keep room for all n candidates.
    near[..k.min(near.len())].iter().map(|&(d, index)| Neighbor { index, distance: d.sqrt() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(offset: f64) -> Dataset<'static> {
        // Whole numbers on a grid: nearly every distance is shared by several samples.
        let x = Mat::from_fn(150, 3, |i, j| offset + ((i * 7 + j * 13 + i * i) % 4) as f64);
        let labels: Vec<usize> = (0..150).map(|i| i % 3).collect();
        Dataset::from_owned(x, &labels).unwrap()
    }

    fn brute(data: &Dataset<'_>, among: Among, k: usize, i: usize) -> Vec<usize> {
        let x = data.x();
        let mut all: Vec<(f64, usize)> = (0..data.samples())
            .filter(|&j| j != i)
            .filter(|&j| match among {
                Among::Within => data.class_of(i) == data.class_of(j),
                Among::Between => data.class_of(i) != data.class_of(j),
                Among::All => true,
            })
            .map(|j| ((0..x.ncols()).map(|v| (x[(i, v)] - x[(j, v)]).powi(2)).sum(), j))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.into_iter().take(k).map(|(_, j)| j).collect()
    }

    #[test]
    fn ties_go_to_the_lower_index_even_far_from_the_origin() {
        for offset in [0.0, 0.1, 1e6] {
            let data = grid(offset);
            let pre = Preprocessed::new(&data, None).unwrap();
            for among in [Among::Within, Among::Between, Among::All] {
                for k in [1, 5, 49, 200] {
                    let found = neighbors(&data, &pre, among, k, &()).unwrap();
                    for (i, found) in found.iter().enumerate() {
                        assert!(found.capacity() <= 2 * k.max(4), "room for {}", found.capacity());
                        let found: Vec<usize> = found.iter().map(|n| n.index).collect();
                        assert_eq!(found, brute(&data, among, k, i), "{among:?} k {k} sample {i} + {offset}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_lonely_sample_has_no_neighbours_within() {
        let data = Dataset::from_owned(Mat::from_fn(3, 1, |i, _| i as f64), &["a", "b", "b"]).unwrap();
        let pre = Preprocessed::new(&data, None).unwrap();
        let within = neighbors(&data, &pre, Among::Within, 5, &()).unwrap();
        assert!(within[0].is_empty());
        assert_eq!(within[1], [Neighbor { index: 2, distance: 1.0 }]);
        assert!(neighbors(&data, &pre, Among::Between, 0, &()).unwrap().iter().all(Vec::is_empty));
    }
}
