//! Seeded random problems and an independent solver, shared by the integration tests.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

#[path = "../../examples/support/faces.rs"]
pub mod drawn;

use faer::Mat;
use menet::Dataset;
use menet::lars::LarsOptions;
use menet::sparse::SparseVector;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

pub fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

pub fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub fn gaussian(rng: &mut impl Rng, n: usize, p: usize) -> Mat<f64> {
    Mat::from_fn(n, p, |_, _| normal(rng))
}

pub fn column(x: &Mat<f64>, j: usize) -> Vec<f64> {
    x.col(j).iter().copied().collect()
}

/// `Xᵀ y`.
pub fn correlate(x: &Mat<f64>, y: &[f64]) -> Vec<f64> {
    (0..x.ncols()).map(|j| x.col(j).iter().zip(y).map(|(x, y)| x * y).sum()).collect()
}

/// The kinds of design on which a LARS implementation goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    Gaussian,
    Ternary,
    Binary,
    Duplicates,
    NearDuplicates,
    ZeroAndConstant,
    Scaled,
}

impl Design {
    pub const ALL: [Design; 7] = [
        Design::Gaussian,
        Design::Ternary,
        Design::Binary,
        Design::Duplicates,
        Design::NearDuplicates,
        Design::ZeroAndConstant,
        Design::Scaled,
    ];

    pub fn matrix(self, rng: &mut impl Rng, n: usize, p: usize) -> Mat<f64> {
        let mut x = match self {
            Design::Ternary => Mat::from_fn(n, p, |_, _| rng.random_range(-1..=1) as f64),
            Design::Binary => Mat::from_fn(n, p, |_, _| rng.random_range(0..=1) as f64),
            // Half of the duplicates, and of the zero columns, come from discrete data: ties on ties.
            Design::Duplicates | Design::ZeroAndConstant if rng.random_bool(0.5) => {
                Mat::from_fn(n, p, |_, _| rng.random_range(-1..=1) as f64)
            }
            _ => gaussian(rng, n, p),
        };
        for j in 0..p {
            let from = rng.random_range(0..p);
            match self {
                Design::Duplicates if rng.random_bool(0.4) => {
                    let sign = if rng.random_bool(0.3) { -1.0 } else { 1.0 };
                    for i in 0..n {
                        x[(i, j)] = sign * x[(i, from)];
                    }
                }
                Design::NearDuplicates if rng.random_bool(0.4) => {
                    let size = 10f64.powf(rng.random_range(-10.0..-2.0));
                    for i in 0..n {
                        x[(i, j)] = x[(i, from)] + size * normal(rng);
                    }
                }
                Design::ZeroAndConstant if rng.random_bool(0.4) => {
                    let value = [0.0, 1.0, 0.1][rng.random_range(0..3)];
                    x.col_mut(j).fill(value);
                }
                Design::Scaled => {
                    let size = 10f64.powf(rng.random_range(-6.0..6.0));
                    for i in 0..n {
                        x[(i, j)] *= size;
                    }
                }
                _ => {}
            }
        }
        x
    }

    pub fn response(self, rng: &mut impl Rng, n: usize) -> Vec<f64> {
        let discrete = !matches!(self, Design::Gaussian | Design::Scaled) && rng.random_bool(0.7);
        (0..n).map(|_| if discrete { rng.random_range(-1..=1) as f64 } else { normal(rng) }).collect()
    }
}

/// `½wᵀ(G+λ2)w − bᵀw + λΣv|w|` minimised by coordinate descent, to a relative change of `tolerance`.
pub fn coordinate_descent(
    gram: &Mat<f64>,
    b: &[f64],
    options: &LarsOptions,
    lambda: f64,
    tolerance: f64,
) -> SparseVector {
    let p = b.len();
    let mut w = vec![0.0; p];
    let mut c = b.to_vec(); // b − (G + λ2) w
    for _ in 0..1_000_000 {
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for j in 0..p {
            let diagonal = gram[(j, j)] + options.ridge;
            let v = options.penalty_factors.as_ref().map_or(1.0, |v| v[j]);
            if diagonal == 0.0 || v.is_infinite() {
                continue;
            }
            let pull = c[j] + diagonal * w[j];
            let mut new = (pull.abs() - lambda * v).max(0.0).copysign(pull) / diagonal;
            if options.positive {
                new = new.max(0.0);
            }
            let step = new - w[j];
            if step != 0.0 {
                for i in 0..p {
                    c[i] -= step * gram[(i, j)];
                }
                c[j] -= step * options.ridge;
                w[j] = new;
            }
            change = change.max(step.abs() * diagonal.sqrt());
            size = size.max(new.abs() * diagonal.sqrt());
        }
        if change <= tolerance * size {
            break;
        }
    }
    SparseVector::from_dense(&w)
}

/// Gaussian classes with distinct centres: `per_class` samples of each of `classes`, p variables.
pub fn clusters(seed: u64, classes: usize, per_class: usize, p: usize) -> Dataset<'static> {
    let rng = &mut rng(seed);
    let centres = gaussian(rng, classes, p);
    let n = classes * per_class;
    let x = Mat::from_fn(n, p, |i, j| centres[(i % classes, j)] + 0.7 * normal(rng));
    Dataset::from_owned(x, &(0..n).map(|i| i % classes).collect::<Vec<_>>()).unwrap()
}

/// The largest difference of two equally shaped matrices, relative to the larger one.
pub fn relative_difference(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).norm_max() / a.norm_max().max(b.norm_max())
}

/// The largest difference of two sparse vectors of `p` entries.
pub fn largest_difference(a: &SparseVector, b: &SparseVector, p: usize) -> f64 {
    a.to_dense(p).iter().zip(b.to_dense(p)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
