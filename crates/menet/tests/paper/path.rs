//! The path: its direction, the block inverse, Theorem 2, and how many variables it has.

use faer::Mat;
use menet::lars::{LarsOptions, Path, lars_path};
use menet::{MenParams, fit};

use super::inverse;
use crate::common::{clusters, correlate, gaussian, normal, rng};

/// A regression whose path, at its fifth knot, has coefficients of both signs.
struct Halfway {
    gram: Mat<f64>,
    b: Vec<f64>,
    path: Path,
    active: Vec<usize>,
    signs: Mat<f64>,
}

impl Halfway {
    const KNOT: usize = 4;

    fn new() -> Self {
        let rng = &mut rng(21);
        let x = gaussian(rng, 40, 10);
        let y: Vec<f64> = (0..40).map(|i| x[(i, 0)] - x[(i, 3)] + 0.5 * x[(i, 5)] + normal(rng)).collect();
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let path = lars_path(&gram, &b, &LarsOptions::default(), &()).unwrap();
        let w = &path.knots()[Self::KNOT].coefficients;
        assert!(w.values().iter().any(|w| *w > 0.0) && w.values().iter().any(|w| *w < 0.0));
        let active = w.indices().to_vec();
        let signs = Mat::from_fn(active.len(), 1, |i, _| w.values()[i].signum());
        Halfway { gram, b, path, active, signs }
    }

    fn active_gram(&self) -> Mat<f64> {
        let k = self.active.len();
        Mat::from_fn(k, k, |i, j| self.gram[(self.active[i], self.active[j])])
    }

    /// How far apart the sizes of the active correlations are, and the largest, after a step along `direction`.
    fn after(&self, direction: &Mat<f64>, step: f64) -> (f64, f64) {
        let mut w = self.path.knots()[Self::KNOT].coefficients.to_dense(10);
        for (a, &j) in self.active.iter().enumerate() {
            w[j] += step * direction[(a, 0)];
        }
        let correlation = |j: usize| self.b[j] - (0..10).map(|i| self.gram[(j, i)] * w[i]).sum::<f64>();
        let sizes: Vec<f64> = self.active.iter().map(|&j| correlation(j).abs()).collect();
        let (low, high) = sizes.iter().fold((f64::MAX, 0.0f64), |(l, h), &s| (l.min(s), h.max(s)));
        (high - low, high)
    }
}

#[test]
fn slip_the_direction_solves_for_the_signs() {
    let half = Halfway::new();
    let k = half.active.len();
    let inverse = inverse(&half.active_gram());
    let right = &inverse * &half.signs;
    let of_ones = &inverse * Mat::full(k, 1, 1.0);
    let wrong = Mat::from_fn(k, 1, |i, _| half.signs[(i, 0)] * of_ones[(i, 0)]);
    let level = half.path.knots()[Halfway::KNOT].level;
    // Eq. Ck: correlations fall as coefficients grow, all by the step.
    let (spread, size) = half.after(&right, 1e-3);
    assert!(spread < 1e-10 && (level - 1e-3 - size).abs() < 1e-10);
    let (spread, _) = half.after(&wrong, 1e-3);
    assert!(spread > 1e-5, "s·G⁻¹1 does not keep them equal");
}

#[test]
fn the_block_inverse_gives_the_same_direction() {
    // Eq. FastLARS: the inverse grown by one variable at a time, through the Schur complement.
    let half = Halfway::new();
    let gram = half.active_gram();
    let mut known = Mat::from_fn(1, 1, |_, _| 1.0 / gram[(0, 0)]);
    for k in 1..half.active.len() {
        let column = Mat::from_fn(k, 1, |i, _| gram[(i, k)]);
        let reach = &known * &column;
        let schur = gram[(k, k)] - (column.transpose() * &reach)[(0, 0)];
        known = Mat::from_fn(k + 1, k + 1, |i, j| match (i == k, j == k) {
            (false, false) => known[(i, j)] + reach[(i, 0)] * reach[(j, 0)] / schur,
            (true, true) => 1.0 / schur,
            (false, true) => -reach[(i, 0)] / schur,
            (true, false) => -reach[(j, 0)] / schur,
        });
    }
    let block = &known * &half.signs;
    // On the stretch that leads to the knot our path has this active set: its direction is its slope.
    let (before, knot) = (&half.path.knots()[Halfway::KNOT - 1], &half.path.knots()[Halfway::KNOT]);
    for (a, &j) in half.active.iter().enumerate() {
        let slope = (knot.coefficients.get(j) - before.coefficients.get(j)) / (before.level - knot.level);
        assert!((slope - block[(a, 0)]).abs() < 1e-10);
    }
}

#[test]
fn theorem_2_the_smooth_part_never_rises() {
    let mut drops = 0;
    let mut against = 0;
    for seed in 0..60 {
        let rng = &mut rng(seed);
        let x = gaussian(rng, 15, 12);
        let y: Vec<f64> = (0..15).map(|_| normal(rng)).collect();
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let path = lars_path(&gram, &b, &LarsOptions::default().with(|it| it.ridge = 0.01), &()).unwrap();
        let smooth = |w: &[f64]| -> f64 {
            let quadratic: f64 = (0..12)
                .map(|i| w[i] * ((0..12).map(|j| gram[(i, j)] * w[j]).sum::<f64>() + 0.01 * w[i]))
                .sum();
            quadratic - 2.0 * (0..12).map(|i| b[i] * w[i]).sum::<f64>()
        };
        let points: Vec<Vec<f64>> = path.knots().iter().map(|knot| knot.coefficients.to_dense(12)).collect();
        for pair in points.windows(2) {
            assert!(smooth(&pair[1]) <= smooth(&pair[0]) + 1e-12 * (1.0 + smooth(&pair[0]).abs()));
        }
        // Slip: the proof takes sign ω = sign c. Before a drop a coefficient moves against its correlation.
        for (k, knot) in path.knots().iter().enumerate() {
            drops += knot.left.len();
            for &j in &knot.left {
                let before = &points[k - 1];
                let c = b[j] - (0..12).map(|i| gram[(j, i)] * before[i]).sum::<f64>() - 0.01 * before[j];
                against += usize::from((points[k][j] - before[j]) * c < 0.0);
            }
        }
    }
    assert!(drops > 20 && against == drops, "{drops} drops, {against} against the sign");
}

#[test]
fn slip_k_loops_are_not_k_nonzeros() {
    let worst = (0..60)
        .map(|seed| {
            let rng = &mut rng(seed);
            let x = gaussian(rng, 15, 12);
            let y: Vec<f64> = (0..15).map(|_| normal(rng)).collect();
            let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(10));
            let path = lars_path(&(x.transpose() * &x), &correlate(&x, &y), &options, &()).unwrap();
            path.knots()[path.knots().len().min(11) - 1].coefficients.nonzeros()
        })
        .min();
    assert!(worst < Some(10), "ten loops always gave ten nonzeros");
}

#[test]
fn slip_the_bases_are_not_orthogonal() {
    let men = fit(&clusters(3, 5, 8, 20), &MenParams::paper(), &()).unwrap();
    let w = men.projection().to_dense();
    let cosine = (w.col(0).transpose() * w.col(1)) / (w.col(0).norm_l2() * w.col(1).norm_l2());
    assert!(cosine.abs() > 1e-3, "cosine {cosine}");
}
