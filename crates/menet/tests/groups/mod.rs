//! Groups of variables: the optimality conditions, computed here from dense matrices, and other ways to the same answer.

mod in_fit;
mod same_answer;

use crate::common::{Design, correlate, gaussian, normal, rng};
use faer::Mat;
use menet::gram::FactorGram;
use menet::penalties::groups::{Group, GroupAxes, GroupOptions, GroupSolution, GroupSparsity, Groups, solve};
use rand::{Rng, RngExt};

/// A random problem: `x`, the Gram matrix and the correlations.
fn problem(
    rng: &mut impl Rng,
    design: Design,
    (n, p, d): (usize, usize, usize),
) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let x = design.matrix(rng, n, p);
    let columns: Vec<Vec<f64>> = (0..d).map(|_| correlate(&x, &design.response(rng, n))).collect();
    let b = Mat::from_fn(p, d, |j, k| columns[k][j]);
    (x.clone(), x.transpose() * &x, b)
}

/// Groups of 1 to `most` neighbouring variables; with `overlap`, every second one also has some of the next variables.
fn groups(rng: &mut impl Rng, p: usize, most: usize, overlap: bool) -> Groups {
    let (mut all, mut from) = (Vec::new(), 0);
    while from < p {
        let size = rng.random_range(1..=most);
        let more = if overlap && rng.random_bool(0.5) { rng.random_range(0..=most) } else { 0 };
        let variables: Vec<usize> = (from..(from + size + more).min(p)).collect();
        all.push(Group { name: format!("group {}", all.len()), variables });
        from += size;
    }
    Groups::new(all)
}

/// The largest violation of the conditions over the weights, relative to the largest `‖b_g‖` over them. The axes `axes` choose
/// together.
fn violation(
    gram: &Mat<f64>,
    b: &Mat<f64>,
    options: &GroupOptions,
    found: &GroupSolution,
    axes: &[usize],
) -> f64 {
    let p = b.nrows();
    let all = options.groups.completed(p);
    let barred = |j: usize| options.barred.as_ref().is_some_and(|barred| barred[j]);
    let w: Vec<Vec<f64>> = axes.iter().map(|&k| found.coefficients[k].to_dense(p)).collect();
    let c: Vec<Vec<f64>> = axes
        .iter()
        .zip(&w)
        .map(|(&k, w)| {
            let image = |i: usize| (0..p).map(|j| gram[(i, j)] * w[j]).sum::<f64>();
            (0..p).map(|i| b[(i, k)] - image(i) - options.ridge * w[i]).collect()
        })
        .collect();
    let chosen = &found.chosen[axes[0]];
    for (at, &k) in axes.iter().enumerate() {
        assert_eq!((&found.chosen[k], found.levels[k]), (chosen, found.levels[axes[0]]));
        let mut sum = vec![0.0; p];
        found.parts[k].iter().flat_map(|part| part.iter()).for_each(|(j, value)| sum[j] += value);
        let apart = sum.iter().zip(&w[at]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-12 * w[at].iter().fold(0.0, |m: f64, w| m.max(w.abs())), "parts add up: {apart}");
    }
    let level = found.levels[axes[0]];
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let (mut worst, mut unit) = (0.0_f64, 0.0_f64);
    for (g, group) in all.groups().iter().enumerate() {
        let variables: Vec<usize> = group.variables.iter().copied().filter(|&j| !barred(j)).collect();
        if variables.is_empty() {
            assert!(!chosen.contains(&g));
            continue;
        }
        let v = options.weights.as_ref().map_or((variables.len() as f64).sqrt(), |weights| weights[g]);
        let flat = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..axes.len())
                .flat_map(|k| variables.iter().map(move |&j| (k, j)))
                .map(|(k, j)| of(k, j))
                .collect()
        };
        let correlations = flat(&|k, j| c[k][j]);
        let broken = match chosen.iter().position(|&other| other == g) {
            None => norm(&correlations) - level * v,
            Some(at) => {
                let u = flat(&|k, j| found.parts[axes[k]][at].get(j));
                let over = level * v / norm(&u);
                norm(&correlations.iter().zip(&u).map(|(c, u)| c - over * u).collect::<Vec<_>>())
            }
        };
        assert!(!broken.is_nan());
        worst = worst.max(broken / v);
        unit = unit.max(norm(&flat(&|k, j| b[(j, axes[k])])) / v);
    }
    if unit > 0.0 { worst / unit } else { worst }
}

/// The worst violation over the axes, however they choose.
fn worst(gram: &Mat<f64>, b: &Mat<f64>, options: &GroupOptions, found: &GroupSolution) -> f64 {
    let d = b.ncols();
    match options.axes {
        GroupAxes::Together => violation(gram, b, options, found, &(0..d).collect::<Vec<_>>()),
        GroupAxes::Each => (0..d).map(|k| violation(gram, b, options, found, &[k])).fold(0.0, f64::max),
    }
}

#[test]
fn conditions_hold_on_problems_of_every_kind() {
    let mut rng = rng(1);
    let mut cases = 0;
    for round in 0..10 {
        for design in Design::ALL {
            for overlap in [false, true] {
                for axes in [GroupAxes::Each, GroupAxes::Together] {
                    let (n, p, d) =
                        (rng.random_range(4..40), rng.random_range(2..60), rng.random_range(1..4));
                    let (_, gram, b) = problem(&mut rng, design, (n, p, d));
                    let options = GroupOptions::new(groups(&mut rng, p, 5, overlap)).with(|it| {
                        it.axes = axes;
                        it.ridge = [0.0, 0.1, 1.0][round % 3];
                    });
                    let size = match round % 2 {
                        0 => GroupSparsity::Groups(rng.random_range(1..12)),
                        _ => {
                            let all = b.col_iter().map(|b| b.norm_max()).fold(0.0, f64::max);
                            GroupSparsity::Level((all * 10f64.powf(rng.random_range(-2.0..0.0))).max(1e-3))
                        }
                    };
                    let found = solve(&gram, b.as_ref(), &options, size, &()).unwrap();
                    let what = format!("{design:?} {n}x{p}x{d} overlap {overlap} {axes:?} {size:?} {round}");
                    let broken = worst(&gram, &b, &options, &found);
                    assert!(broken <= 1e-9, "{what}: {broken:e}");
                    let claimed = found.certificates.iter().map(|c| c.kkt).fold(0.0, f64::max);
                    assert!(
                        claimed <= 1e-9 && (claimed - broken).abs() < 1e-10,
                        "{what}: told {claimed:e}, {broken:e}"
                    );
                    if let GroupSparsity::Groups(g) = size {
                        assert!(found.chosen.iter().all(|chosen| chosen.len() <= g), "{what}");
                        assert_eq!(
                            found.exact,
                            found.chosen.iter().all(|chosen| chosen.len() == g),
                            "{what}"
                        );
                    }
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 280);
}

#[test]
fn all_axes_together_choose_rows() {
    let mut rng = rng(4);
    let (x, gram, b) = problem(&mut rng, Design::Gaussian, (40, 200, 5));
    let options = GroupOptions::new(Groups::default()).with(|it| it.axes = GroupAxes::Together);
    for gram in [&gram as &dyn menet::gram::Gram, &FactorGram::new(x)] {
        for g in [1, 5, 20] {
            let found = solve(gram, b.as_ref(), &options, GroupSparsity::Groups(g), &()).unwrap();
            assert!(found.exact);
            let rows = found.coefficients[0].indices();
            assert!(rows.len() == g && found.coefficients.iter().all(|axis| axis.indices() == rows));
        }
    }
    let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(20), &()).unwrap();
    assert!(worst(&gram, &b, &options, &found) < 1e-10);
}

#[test]
fn groups_that_tie_are_left_out_together_and_it_is_told() {
    let mut rng = rng(5);
    let mut x = gaussian(&mut rng, 20, 6);
    for i in 0..20 {
        x[(i, 1)] = x[(i, 0)];
        x[(i, 4)] = x[(i, 3)];
    }
    // Two groups with the same columns, far ahead of the others.
    let y: Vec<f64> = (0..20).map(|i| 10.0 * (x[(i, 0)] + x[(i, 3)]) + 0.1 * normal(&mut rng)).collect();
    let b = Mat::from_fn(6, 1, |j, _| correlate(&x, &y)[j]);
    let gram = x.transpose() * &x;
    let pairs = [(0, "a"), (3, "a"), (1, "b"), (4, "b")];
    let options = GroupOptions::new(Groups::from_pairs(pairs)).with(|it| it.ridge = 0.1);
    let one = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(1), &()).unwrap();
    assert!(!one.exact && one.chosen[0].is_empty() && one.next[0] >= Some(2), "{one:?}");
    let two = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(2), &()).unwrap();
    assert!(two.exact && two.coefficients[0].nonzeros() == 4, "{two:?}");
    assert!(worst(&gram, &b, &options, &two) < 1e-10);
}

#[test]
fn more_groups_than_there_are_means_all_that_can_be_had() {
    let mut rng = rng(6);
    let (_, gram, b) = problem(&mut rng, Design::Gaussian, (30, 9, 2));
    let options = GroupOptions::new(groups(&mut rng, 9, 3, false)).with(|it| it.ridge = 0.3);
    let all = options.groups.len();
    let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(1000), &()).unwrap();
    assert!(!found.exact && found.chosen.iter().all(|chosen| chosen.len() == all));
    assert!(worst(&gram, &b, &options, &found) < 1e-9);
    // Fewer samples than groups, and no ridge.
    let (_, gram, b) = problem(&mut rng, Design::Gaussian, (5, 40, 1));
    let options = GroupOptions::new(Groups::default());
    let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(40), &()).unwrap();
    assert!(!found.exact && found.chosen[0].len() <= 5);
    assert!(worst(&gram, &b, &options, &found) < 1e-9);
}

#[test]
fn zero_columns_barred_variables_and_no_signal() {
    let mut rng = rng(7);
    let mut x = gaussian(&mut rng, 25, 12);
    for j in [2, 3, 8] {
        x.col_mut(j).fill(0.0);
    }
    let gram = x.transpose() * &x;
    let y: Vec<f64> = (0..25).map(|_| normal(&mut rng)).collect();
    let b = Mat::from_fn(12, 1, |j, _| correlate(&x, &y)[j]);
    let groups = Groups::from_pairs([(0, "a"), (2, "a"), (2, "z"), (3, "z"), (7, "c"), (8, "c"), (9, "c")]);
    for ridge in [0.0, 0.5] {
        for barred in [None, Some((0..12).map(|j| [2, 3, 8, 9].contains(&j)).collect::<Vec<bool>>())] {
            let options = GroupOptions::new(groups.clone()).with(|it| {
                it.ridge = ridge;
                it.barred.clone_from(&barred);
            });
            for g in [1, 4, 8] {
                let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(g), &()).unwrap();
                assert!(worst(&gram, &b, &options, &found) < 1e-9, "{ridge} {barred:?} {g}");
                let w = &found.coefficients[0];
                assert!([2, 3, 8].iter().all(|&j| w.get(j) == 0.0));
                assert!(barred.is_none() || w.get(9) == 0.0);
                assert!(!found.chosen[0].contains(&1), "the group of zero columns is never chosen");
            }
        }
    }
    let nothing = Mat::<f64>::zeros(12, 1);
    let found =
        solve(&gram, nothing.as_ref(), &GroupOptions::new(groups), GroupSparsity::Groups(2), &()).unwrap();
    assert!(!found.exact && found.coefficients[0].nonzeros() == 0 && found.levels[0] == 0.0);
}

#[test]
fn scale_does_not_matter() {
    let mut rng = rng(8);
    let (_, gram, b) = problem(&mut rng, Design::Gaussian, (30, 40, 3));
    let groups = groups(&mut rng, 40, 4, true);
    for axes in [GroupAxes::Each, GroupAxes::Together] {
        let options = GroupOptions::new(groups.clone()).with(|it| {
            it.axes = axes;
            it.ridge = 0.25;
        });
        let plain = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(6), &()).unwrap();
        // X times 2^e, and y as it is: the same coefficients over 2^e.
        for e in [-60, 60] {
            let s = 2f64.powi(e);
            let (gram, b) = (faer::Scale(s * s) * &gram, faer::Scale(s) * &b);
            let options = options.clone().with(|it| it.ridge = 0.25 * s * s);
            let scaled = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(6), &()).unwrap();
            assert_eq!(plain.chosen, scaled.chosen);
            for (a, b) in plain.coefficients.iter().zip(&scaled.coefficients) {
                assert_eq!(*a, b.map(|_, value| value * s), "powers of two leave all digits");
            }
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let mut rng = rng(9);
    let (x, gram, b) = problem(&mut rng, Design::Gaussian, (60, 400, 6));
    let factor = FactorGram::new(x);
    for axes in [GroupAxes::Each, GroupAxes::Together] {
        let options = GroupOptions::new(groups(&mut rng, 400, 6, true)).with(|it| it.axes = axes);
        for gram in [&gram as &dyn menet::gram::Gram, &factor] {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| solve(gram, b.as_ref(), &options, GroupSparsity::Groups(8), &()).unwrap())
            };
            assert_eq!(on(1), on(2));
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (gram, b) = (Mat::<f64>::identity(3, 3), Mat::from_fn(3, 1, |j, _| j as f64));
    let refused = |options: GroupOptions, size: GroupSparsity, expected: &str| {
        let message = solve(&gram, b.as_ref(), &options, size, &()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    let of = |groups: &[(usize, &str)]| GroupOptions::new(Groups::from_pairs(groups.iter().copied()));
    let one = GroupSparsity::Groups(1);
    refused(of(&[(3, "g")]), one, "variable 3 in group \"g\"");
    refused(of(&[(1, "g"), (1, "g")]), one, "twice");
    refused(of(&[]), GroupSparsity::Groups(0), "groups");
    refused(of(&[]), GroupSparsity::Level(0.0), "level");
    refused(of(&[]).with(|it| it.ridge = -1.0), one, "ridge");
    refused(of(&[]).with(|it| it.weights = Some(vec![1.0])), one, "weights");
    refused(of(&[]).with(|it| it.weights = Some(vec![1.0, 0.0, 1.0])), one, "0.0 at group 1");
    refused(of(&[]).with(|it| it.barred = Some(vec![])), one, "barred");
    let short = Mat::<f64>::zeros(2, 1);
    assert!(solve(&gram, short.as_ref(), &of(&[]), one, &()).is_err());
    // A variable without length that has a correlation all the same.
    let flat = Mat::<f64>::zeros(3, 3);
    let message = solve(&flat, b.as_ref(), &of(&[]), one, &()).unwrap_err().to_string();
    assert!(message.contains("no minimum"), "{message}");
}
