//! The recall of a search that is not exact.

use rayon::prelude::*;

use super::{NeighborLists, NeighborScope};
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};
use crate::preprocess::Rows;

/// Samples that recall is counted on, and how many at a time.
const PROBES: usize = 100;
const PROBES_AT_A_TIME: usize = 25;

/// Samples they are compared with between two questions to the monitor.
const BLOCK: usize = 512;

/// The share of the true neighbours of some samples, evenly spaced, that were found. One that is as near as the last true
/// one counts as well: which of the two it is has no meaning.
///
/// # Errors
/// When `monitor` asks to stop.
pub(super) fn recall<const G: usize>(
    samples: &Rows<'_>,
    class: &[usize],
    groups: [(NeighborScope, usize); G],
    found: &NeighborLists<G>,
    monitor: &dyn Monitor,
) -> Result<f64> {
    let (n, probes) = (class.len(), PROBES.min(class.len()));
    let probes: Vec<usize> = (0..probes).map(|probe| probe * n / probes).collect();
    let counts: Vec<(usize, usize)> = probes
        .par_chunks(PROBES_AT_A_TIME)
        .map(|probes| {
            let mut near = vec![[const { Vec::new() }; G]; probes.len()];
            for j in 0..n {
                if j % BLOCK == 0 {
                    proceed(monitor, Stage::Neighbors)?;
                }
                for (&i, near) in probes.iter().zip(&mut near).filter(|(i, _)| **i != j) {
                    let distance = samples.squared_distance(i, j).sqrt();
                    for (near, (among, k)) in near.iter_mut().zip(groups) {
                        if among.admits(class[i] == class[j]) {
                            keep(near, k, distance);
                        }
                    }
                }
            }
            let mut count = (0, 0);
            for (&i, near) in probes.iter().zip(&near) {
                for (found, near) in found.iter().zip(near) {
                    let farthest = near.last().copied().unwrap_or(0.0);
                    count.0 += found[i].iter().filter(|near| near.distance <= farthest).count();
                    count.1 += near.len();
                }
            }
            Ok(count)
        })
        .collect::<Result<_>>()?;
    let (hits, all) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    Ok(if all == 0 { 1.0 } else { hits as f64 / all as f64 })
}

/// Puts a distance among the `k` smallest, which are in order.
fn keep(near: &mut Vec<f64>, k: usize, distance: f64) {
    if near.len() < k || near.last().is_some_and(|&last| distance < last) {
        near.insert(near.partition_point(|&other| other <= distance), distance);
        near.truncate(k);
    }
}
