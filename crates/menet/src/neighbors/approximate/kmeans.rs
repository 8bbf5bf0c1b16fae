//! k-means in single precision: Lloyd's algorithm from centres that are drawn among the samples.
//!
//! With centres c and samples x the nearest centre minimises `|c|² − 2c·x`. The products are those of matrices, one block of
//! samples at a time; a mean is added up in the order of the samples. So results are the same on any number of threads.

use rand::SeedableRng;
use rand::seq::index::sample;
use rayon::prelude::*;

use super::scan::products;
use crate::numerics::linalg::vectorized;

/// Samples that are compared with all centres at a time.
pub(super) const TILE: usize = 512;

/// The seed of the draw.
const SEED: u64 = 1;

/// Centres that are compared at a time.
const LANES: usize = 16;

/// `count` centres of the samples `x`, p values each, one after the other; `count` is at most their number.
pub(super) fn centres(x: &[f32], p: usize, count: usize, turns: usize) -> Vec<f32> {
    let n = x.len() / p;
    let mut drawn = sample(&mut rand_pcg::Pcg64::seed_from_u64(SEED), n, count).into_vec();
    drawn.sort_unstable();
    let mut centres: Vec<f32> = drawn.iter().flat_map(|i| &x[i * p..(i + 1) * p]).copied().collect();
    let mut before = Vec::new();
    for _ in 0..turns {
        let cells = assign(x, p, &centres);
        if cells == before {
            break;
        }
        let mut members = vec![Vec::new(); count];
        for (i, &cell) in cells.iter().enumerate() {
            members[cell as usize].push(i);
        }
        centres.par_chunks_mut(p).zip(&members).for_each(|(centre, members)| {
            // A cell that no sample is in stays where it is.
            if !members.is_empty() {
                centre.fill(0.0);
                for &i in members {
                    for (centre, x) in centre.iter_mut().zip(&x[i * p..(i + 1) * p]) {
                        *centre += x / members.len() as f32;
                    }
                }
            }
        });
        before = cells;
    }
    centres
}

/// The nearest centre of every sample; of those equally near, the first.
pub(super) fn assign(x: &[f32], p: usize, centres: &[f32]) -> Vec<u32> {
    let lengths: Vec<f32> = centres.chunks(p).map(|centre| centre.iter().map(|x| x * x).sum()).collect();
    let tiles = x.par_chunks(TILE * p).map(|x| {
        let products = products(p, centres, x);
        (0..x.len() / p).map(|i| nearest(&lengths, products.col_as_slice(i))).collect::<Vec<u32>>()
    });
    tiles.collect::<Vec<_>>().concat()
}

/// Where the difference is smallest, first: the best of every lane, then the best of those.
fn nearest(lengths: &[f32], products: &[f32]) -> u32 {
    vectorized(
        #[inline(always)]
        || {
            let (mut least, mut place) = ([f32::INFINITY; LANES], [0; LANES]);
            let ((lengths, lengths_tail), (products, products_tail)) =
                (lengths.as_chunks::<LANES>(), products.as_chunks::<LANES>());
            for (c, (lengths, products)) in (0_u32..).zip(lengths.iter().zip(products)) {
                for l in 0..LANES {
                    let away = lengths[l] - products[l];
                    let nearer = away < least[l];
                    least[l] = if nearer { away } else { least[l] };
                    place[l] = if nearer { c } else { place[l] };
                }
            }
            let whole = (lengths.len() * LANES) as u32;
            let lanes = (0_u32..).zip(place).map(|(l, c)| c * LANES as u32 + l).zip(least);
            let tail = (whole..)
                .zip(lengths_tail.iter().zip(products_tail).map(|(length, product)| length - product));
            let best = lanes.map(|(at, away)| (away, at)).chain(tail.map(|(at, away)| (away, at)));
            best.min_by(super::scan::nearer).map_or(0, |(_, at)| at)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_found_and_the_first_of_those_equally_near() {
        for n in [1, 5, 16, 17, 40, 100] {
            let lengths: Vec<f32> = (0..n).map(|k| ((k * 7919 + k * k + 11) % 23) as f32).collect();
            let products: Vec<f32> = (0..n).map(|k| ((k * 31) % 5) as f32).collect();
            let away: Vec<f32> =
                lengths.iter().zip(&products).map(|(length, product)| length - product).collect();
            let least = away.iter().copied().fold(f32::INFINITY, f32::min);
            let first = away.iter().position(|&away| away == least).unwrap();
            assert_eq!(nearest(&lengths, &products), first as u32, "of {n}");
        }
    }

    #[test]
    fn separate_clusters_have_a_centre_each() {
        // Four corners, samples close to them; no draw is so bad that five turns do not mend it here.
        let x: Vec<f32> = (0..400)
            .flat_map(|i| {
                let noise = ((i * 7919) % 101) as f32 / 1000.0;
                [(i % 2) as f32 + noise, (i / 2 % 2) as f32 - noise]
            })
            .collect();
        let centres = centres(&x, 2, 4, 20);
        let cells = assign(&x, 2, &centres);
        let within: f32 = x
            .chunks(2)
            .zip(&cells)
            .map(|(x, &cell)| {
                x.iter().zip(&centres[2 * cell as usize..]).map(|(x, c)| (x - c).powi(2)).sum::<f32>()
            })
            .sum();
        let total: f32 = x.iter().map(|x| (x - 0.5).powi(2)).sum();
        assert!(within < 0.3 * total, "{within} of {total}");
        assert!(cells.iter().all(|&cell| cell < 4));
    }

    #[test]
    fn equal_samples_and_as_many_centres_as_samples_are_no_trouble() {
        let x = [3.0_f32; 60];
        let centres = centres(&x, 2, 30, 5);
        assert!(centres.iter().all(|&c| (c - 3.0).abs() < 1e-5));
        assert!(assign(&x, 2, &centres).iter().all(|&cell| cell < 30));
    }
}
