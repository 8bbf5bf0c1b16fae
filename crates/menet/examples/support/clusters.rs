//! Drawn classes that overlap: seeded, as many samples as one likes.

#![allow(unreachable_pub, reason = "included by examples and benchmarks")]

use faer::Mat;
use menet::Dataset;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

/// Normal clusters, a class each, of `q` variables; or of as many factors that are seen in `p` variables, each weaker than
/// the one before.
pub fn clusters(n: usize, q: usize, classes: usize, p: Option<usize>) -> Dataset<'static> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
    let mut normal = |scale: f64| scale * rng.sample::<f64, _>(StandardNormal);
    let centres = Mat::from_fn(classes, q, |_, _| normal(0.5));
    let z = Mat::from_fn(n, q, |i, k| centres[(i % classes, k)] + normal(1.0));
    let x = match p {
        None => z,
        Some(p) => {
            let factors = Mat::from_fn(q, p, |k, _| normal(1.0 / (1.0 + k as f64).sqrt()));
            let mut x = z * factors;
            for j in 0..p {
                x.col_as_slice_mut(j).iter_mut().for_each(|x| *x += normal(0.3));
            }
            x
        }
    };
    let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
    Dataset::from_owned(x, &labels).expect("data that are finite")
}
