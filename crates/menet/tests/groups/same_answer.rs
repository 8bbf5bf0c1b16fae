//! Other solvers come to the same answer: proximal gradient, and LARS for groups of one.

use faer::Mat;
use menet::gram::FactorGram;
use menet::lars::{LarsOptions, lars_path};
use menet::penalties::groups::{GroupAxes, GroupOptions, GroupSparsity, Groups, solve, solve_levels};

use super::{groups, problem};
use crate::common::{Design, column, rng};

/// Accelerated proximal gradient on the data with a column per member of a group: slow, and of another kind.
fn reference(gram: &Mat<f64>, b: &Mat<f64>, options: &GroupOptions, level: f64) -> Mat<f64> {
    let (p, d) = b.shape();
    let all = options.groups.completed(p);
    let slots: Vec<(usize, usize)> = (all.groups().iter().enumerate())
        .flat_map(|(g, group)| group.variables.iter().map(move |&j| (g, j)))
        .collect();
    let m = slots.len();
    let h = Mat::from_fn(m, m, |s, t| {
        let (i, j) = (slots[s].1, slots[t].1);
        gram[(i, j)] + if i == j { options.ridge } else { 0.0 }
    });
    let step = 1.0 / (0..m).map(|s| (0..m).map(|t| h[(s, t)].abs()).sum()).fold(0.0, f64::max);
    let (mut u, mut y, mut t) = (Mat::<f64>::zeros(m, d), Mat::<f64>::zeros(m, d), 1.0_f64);
    for _ in 0..200_000 {
        let slope = &h * &y;
        let mut new = Mat::from_fn(m, d, |s, k| y[(s, k)] + step * (b[(slots[s].1, k)] - slope[(s, k)]));
        for (g, group) in all.groups().iter().enumerate() {
            let rows: Vec<usize> = (0..m).filter(|&s| slots[s].0 == g).collect();
            let size: f64 =
                rows.iter().map(|&s| new.row(s).iter().map(|u| u * u).sum::<f64>()).sum::<f64>().sqrt();
            let shrink = (1.0 - step * level * (group.variables.len() as f64).sqrt() / size).max(0.0);
            rows.iter().for_each(|&s| new.row_mut(s).iter_mut().for_each(|u| *u *= shrink));
        }
        let (change, next) = (&new - &u, 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt()));
        // Starts again where the momentum leads uphill.
        let uphill: f64 = (0..d).map(|k| (&y - &new).col(k).transpose() * change.col(k)).sum();
        let momentum = if uphill > 0.0 { 0.0 } else { (t - 1.0) / next };
        t = if uphill > 0.0 { 1.0 } else { next };
        y = &new + faer::Scale(momentum) * &change;
        u = new;
        if change.norm_max() < 1e-15 * u.norm_max() {
            break;
        }
    }
    Mat::from_fn(p, d, |j, k| (0..m).filter(|&s| slots[s].1 == j).map(|s| u[(s, k)]).sum())
}

#[test]
fn proximal_gradient_comes_to_the_same_coefficients() {
    let mut rng = rng(2);
    for round in 0..12 {
        let (n, p, d) = (15 + round, 8 + round, 1 + round % 3);
        let (_, gram, b) = problem(&mut rng, Design::Gaussian, (n, p, d));
        let options = GroupOptions::new(groups(&mut rng, p, 4, round % 2 == 1)).with(|it| {
            it.axes = GroupAxes::Together;
            it.ridge = 0.5;
        });
        let first =
            solve(&gram, b.as_ref(), &options, GroupSparsity::Level(1e50), &()).unwrap().first_levels[0];
        for part in [0.7, 0.2, 0.03] {
            let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Level(part * first), &()).unwrap();
            let slow = reference(&gram, &b, &options, part * first);
            for k in 0..d {
                let ours = found.coefficients[k].to_dense(p);
                let apart = (0..p).map(|j| (ours[j] - slow[(j, k)]).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-9 * (1.0 + slow.norm_max()), "{round} at {part}: {apart:e}");
            }
        }
    }
}

#[test]
fn groups_of_one_variable_are_the_lasso() {
    let mut rng = rng(3);
    for (n, p) in [(30, 10), (20, 60), (50, 50)] {
        let (x, gram, b) = problem(&mut rng, Design::Gaussian, (n, p, 1));
        let options = GroupOptions::new(Groups::default()).with(|it| it.ridge = 0.2);
        let lars = LarsOptions::default().with(|it| it.ridge = 0.2);
        let path = lars_path(&gram, &column(&b, 0), &lars, &()).unwrap();
        let first = path.knots()[0].level;
        let levels: Vec<f64> = (0..20).map(|k| first * 0.75f64.powi(k)).collect();
        let found = solve_levels(&gram, b.as_ref(), &options, &levels, &()).unwrap();
        let factor = FactorGram::new(x);
        let lazy = solve_levels(&factor, b.as_ref(), &options, &levels, &()).unwrap();
        for ((level, found), lazy) in levels.iter().zip(&found).zip(&lazy) {
            let exact = path.at_lambda(*level).unwrap().coefficients.to_dense(p);
            for ours in [found, lazy] {
                let ours = ours.coefficients[0].to_dense(p);
                let apart = ours.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-8, "{n}x{p} at {level}: {apart:e}");
            }
        }
        // So many groups is so many variables, and nearly where the path is read.
        for k in [1, 3, 7] {
            let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(k), &()).unwrap();
            let point = path.at_nonzeros(k).unwrap();
            assert!(found.exact && found.coefficients[0].nonzeros() == k);
            assert_eq!(found.coefficients[0].indices(), point.coefficients.indices());
            assert!(
                (found.levels[0] / point.level - 1.0).abs() < 2e-3,
                "{} and {}",
                found.levels[0],
                point.level
            );
        }
    }
}
