//! Penalties in rounds: stationary, never rising, and what an independent solver finds.

use faer::Mat;

use menet::Named;
use menet::lars::{LarsOptions, PenaltyReport};
use menet::penalties::{PathPenalty, Penalised, PenaltyKind, penalised_paths};

use crate::common;
use crate::common::{gaussian, rng};
use rand_pcg::Pcg64Mcg;

/// The penalties with rounds that go on until they settle.
fn rounded() -> impl Iterator<Item = PenaltyKind> {
    let rounds = |kind: &PenaltyKind| kind.penalty().is_some_and(|penalty| !penalty.once());
    PenaltyKind::ALL.iter().copied().filter(rounds)
}

/// A regression with a few true variables, columns of length 1.
struct Regression {
    gram: Mat<f64>,
    b: Mat<f64>,
    lengths: Vec<f64>,
}

fn regression(rng: &mut Pcg64Mcg, n: usize, p: usize, truth: usize, noise: f64) -> Regression {
    let mut x = gaussian(rng, n, p);
    for j in 1..p {
        for i in 0..n {
            x[(i, j)] = 0.5 * x[(i, j - 1)] + 0.75f64.sqrt() * x[(i, j)];
        }
    }
    for j in 0..p {
        let norm = x.col(j).norm_l2();
        x.col_mut(j).iter_mut().for_each(|x| *x /= norm);
    }
    let mut y = gaussian(rng, n, 1);
    y *= faer::Scale(noise);
    for k in 0..truth {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        for i in 0..n {
            y[(i, 0)] += sign * (1.0 + k as f64 / 3.0) * x[(i, (7 * k + 3) % p)];
        }
    }
    let gram = x.transpose() * &x;
    let b = x.transpose() * &y;
    Regression { gram, b, lengths: vec![1.0; p] }
}

fn params(kind: PenaltyKind) -> PathPenalty {
    PathPenalty::default().with(|it| it.kind = kind)
}

fn solved(problem: &Regression, kind: PenaltyKind, options: &LarsOptions) -> Penalised {
    penalised_paths(&problem.gram, problem.b.as_ref(), &problem.lengths, options, &params(kind), &())
        .unwrap()
        .remove(0)
}

fn rounds(found: &Penalised) -> (usize, bool, f64) {
    match found.path.report() {
        Some(PenaltyReport::Rounds { count, settled, stationarity: Some(stationarity) }) => {
            (*count, *settled, *stationarity)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn rounds_end_at_a_stationary_point_with_at_most_k_variables_and_never_rise() {
    let mut rng = rng(19);
    let (mut settled, mut total, mut counts, mut stayed) = (0, 0, 0, 0);
    for trial in 0..60 {
        let (n, p) = [(40, 25), (30, 80), (60, 200), (50, 13)][trial % 4];
        let problem = regression(&mut rng, n, p, 5, 0.3);
        for kind in rounded() {
            for (k, ridge) in [(1, 0.0), (5, 0.0), (12, 0.0), (8, 0.3), (p, 0.1)] {
                // With all variables allowed the level is given, and no round moves it.
                let options = LarsOptions::default().with(|it| match k == p {
                    true => it.lambda_min = 0.2 * problem.b.norm_max(),
                    false => it.max_nonzeros = Some(k),
                });
                let options = options.with(|it| it.ridge = ridge);
                let found = solved(&problem, kind, &options);
                for round in &found.history {
                    let size = 1e-12 * round.before.abs();
                    assert!(round.moved || round.after <= round.before + size, "{kind:?} {round:?}");
                    assert!(round.descended <= round.after + size, "{kind:?} {round:?}");
                    assert!(round.nonzeros <= k);
                    stayed += usize::from(!round.moved);
                }
                // And from one round to the next, at one level: each begins where the one before has ended.
                for pair in found.history.windows(2).filter(|pair| pair[0].level == pair[1].level) {
                    let (ended, begun) = (pair[0].descended, pair[1].before);
                    assert!(begun <= ended + 1e-12 * ended.abs(), "{kind:?} {pair:?}");
                }
                let (count, is_settled, stationarity) = rounds(&found);
                let end = found.path.last();
                assert!(end.coefficients.nonzeros() <= k && end.certificate.kkt < 1e-9);
                assert!(!is_settled || stationarity < 1e-9, "{kind:?} k {k}: {stationarity:e}");
                assert_eq!(found.path.at_nonzeros(k).unwrap().coefficients, end.coefficients);
                (settled, total, counts) = (settled + usize::from(is_settled), total + 1, counts + count);
            }
        }
    }
    println!(
        "{settled} of {total} settled, {:.2} rounds each, {stayed} at the level before",
        counts as f64 / total as f64
    );
    assert!(stayed >= 100, "{stayed} rounds did not move the level");
    assert!(settled * 100 >= total * 97, "{settled} of {total} settled");
}

/// Coordinate descent on the penalised objective itself, for variables of length 1 (ridge included): each step is the exact minimum in one
/// coordinate, as in ncvreg.
fn coordinate_descent(
    problem: &Regression,
    kind: PenaltyKind,
    level: f64,
    start: Vec<f64>,
) -> Option<Vec<f64>> {
    let p = start.len();
    let soft = |z: f64, by: f64| (z.abs() - by).max(0.0).copysign(z);
    let threshold = |z: f64| match kind {
        PenaltyKind::Scad => match 3.7 {
            _ if z.abs() <= 2.0 * level => soft(z, level),
            a if z.abs() <= a * level => ((a - 1.0) * z - (a * level).copysign(z)) / (a - 2.0),
            _ => z,
        },
        PenaltyKind::Mcp if z.abs() <= 3.0 * level => soft(z, level) / (1.0 - 1.0 / 3.0),
        _ => z,
    };
    let mut w = start;
    for _ in 0..200_000 {
        let mut change = 0.0f64;
        for j in 0..p {
            let others: f64 = (0..p).map(|k| problem.gram[(j, k)] * w[k]).sum::<f64>() - w[j];
            let next = threshold(problem.b[(j, 0)] - others);
            change = change.max((next - w[j]).abs());
            w[j] = next;
        }
        if change < 1e-14 {
            return Some(w);
        }
    }
    None
}

fn objective(problem: &Regression, kind: PenaltyKind, level: f64, w: &[f64]) -> f64 {
    let penalty = kind.penalty().unwrap();
    let tuning = menet::penalties::Tuning::new(penalty.default_gamma().unwrap(), 1.0);
    let p = w.len();
    let smooth: f64 = (0..p)
        .map(|j| w[j] * (0.5 * (0..p).map(|k| problem.gram[(j, k)] * w[k]).sum::<f64>() - problem.b[(j, 0)]))
        .sum();
    smooth + w.iter().map(|w| penalty.value(w.abs(), level, tuning)).sum::<f64>()
}

/// At a given level, started from the same lasso solution, both solvers find the same coefficients. Where several points are stationary they
/// may end at different ones; there the other solver must agree that ours is one.
#[test]
fn scad_and_mcp_agree_with_coordinate_descent() {
    let mut rng = rng(2);
    let (mut equal, mut other) = (0, 0);
    for trial in 0..150 {
        let (n, p) = [(120, 10), (80, 16), (30, 60)][trial % 3];
        let problem = regression(&mut rng, n, p, 4, 0.2);
        let largest = problem.b.norm_max();
        for kind in [PenaltyKind::Scad, PenaltyKind::Mcp] {
            let level = largest * [0.5, 0.25, 0.12][trial / 3 % 3];
            let options = LarsOptions::default().with(|it| it.lambda_min = level);
            let found = solved(&problem, kind, &options);
            let (_, settled, stationarity) = rounds(&found);
            let ours = found.path.last().coefficients.to_dense(p);
            let lasso =
                menet::lars::lars_path(&problem.gram, &common::column(&problem.b, 0), &options, &()).unwrap();
            let start = lasso.at_lambda(level).unwrap().coefficients.to_dense(p);
            let Some(theirs) = coordinate_descent(&problem, kind, level, start).filter(|_| settled) else {
                continue;
            };
            assert!(stationarity < 1e-9);
            let off = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if off(&ours, &theirs) <= 1e-8 {
                equal += 1;
                continue;
            }
            other += 1;
            assert!(p > n, "one minimum, two answers: {kind:?}, trial {trial}");
            let gap = objective(&problem, kind, level, &ours) - objective(&problem, kind, level, &theirs);
            assert!(gap.abs() > 1e-10, "the same objective at another point");
            let again = coordinate_descent(&problem, kind, level, ours.clone()).unwrap();
            assert!(off(&again, &ours) <= 1e-8, "not stationary");
        }
    }
    println!("{equal} equal, {other} at another stationary point");
    assert!(equal >= 200, "{equal} equal, {other} at another stationary point");
}

/// The adaptive path is the lasso path with the weights of its first fit; it does not depend on how far it is computed.
#[test]
fn adaptive_is_one_weighted_path() {
    let mut rng = rng(4);
    for _ in 0..10 {
        let problem = regression(&mut rng, 50, 120, 6, 0.3);
        let run = |k: usize| {
            let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(k));
            let params = params(PenaltyKind::Adaptive).with(|it| it.first_nonzeros = Some(30));
            penalised_paths(&problem.gram, problem.b.as_ref(), &problem.lengths, &options, &params, &())
                .unwrap()
                .remove(0)
                .path
        };
        // Also where it goes farther than the first path.
        let (long, short) = (run(40), run(8));
        assert_eq!(long.truncated(8).unwrap(), short);
        let long = run(20);
        let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(30));
        let b = common::column(&problem.b, 0);
        let first = menet::lars::lars_path(&problem.gram, &b, &options, &()).unwrap();
        let w = first.last().coefficients.to_dense(120);
        let epsilon = 0.05 * w.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let factors: Vec<f64> = w.iter().map(|w| (epsilon / (w.abs() + epsilon)).powf(1.0)).collect();
        let options = LarsOptions::default().with(|it| {
            it.max_nonzeros = Some(20);
            it.penalty_factors = Some(factors);
        });
        let second = menet::lars::lars_path(&problem.gram, &b, &options, &()).unwrap();
        assert_eq!(second.knots(), long.knots());
    }
}

/// Units do not matter: variables of other lengths give the same models.
#[test]
fn lengths_of_variables_change_the_units_alone() {
    let mut rng = rng(8);
    for trial in 0..100 {
        let problem = regression(&mut rng, 40, 60, 5, 0.3);
        let factor = [1e-20, 1e20, 3.0, 0.2][trial % 4];
        let (gram, b) = (&problem.gram * faer::Scale(factor * factor), &problem.b * faer::Scale(factor));
        let scaled = Regression { gram, b, lengths: vec![factor * factor; 60] };
        let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(9));
        for kind in rounded() {
            let (plain, other) = (solved(&problem, kind, &options), solved(&scaled, kind, &options));
            let (plain, other) = (&plain.path.last().coefficients, &other.path.last().coefficients);
            assert_eq!(plain.indices(), other.indices(), "{kind:?} {trial}");
            for ((_, a), (_, b)) in plain.iter().zip(other.iter()) {
                // Rounds settle where the next one changes 1e-10; where the level creeps, several more would change more than that.
                assert!((a - factor * b).abs() < 1e-7 * a.abs().max(1.0), "{kind:?}: {a} {}", factor * b);
            }
        }
    }
}

/// A variable that the caller frees is in, whatever the limit, and a barred one is not; copies of a variable do no harm.
#[test]
fn free_and_barred_variables_and_copies_are_respected() {
    let mut rng = rng(11);
    for trial in 0..20 {
        let mut problem = regression(&mut rng, 50, 40, 5, 0.3);
        for k in 0..40 {
            let from = problem.gram[(3, k)];
            (problem.gram[(20, k)], problem.gram[(k, 20)]) = (from, from);
        }
        problem.gram[(20, 20)] = 1.0;
        (problem.gram[(20, 3)], problem.gram[(3, 20)]) = (1.0, 1.0);
        problem.b[(20, 0)] = problem.b[(3, 0)];
        let mut factors = vec![1.0; 40];
        (factors[1], factors[10]) = (0.0, f64::INFINITY);
        let options = LarsOptions::default().with(|it| {
            it.max_nonzeros = Some(4);
            it.penalty_factors = Some(factors.clone());
            it.ridge = if trial % 2 == 0 { 0.1 } else { 0.0 };
        });
        for kind in rounded() {
            let found = solved(&problem, kind, &options);
            let end = &found.path.last().coefficients;
            assert!(end.get(1) != 0.0 && end.get(10) == 0.0, "{kind:?}");
            assert!(found.path.selected(end) <= 4 && found.path.free() == [1], "{kind:?}");
            assert!(found.path.certificate().kkt < 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_solved_in_rounds_is_refused() {
    let problem = regression(&mut rng(1), 20, 10, 3, 0.1);
    let refusal = |options: &LarsOptions, kind| {
        penalised_paths(&problem.gram, problem.b.as_ref(), &problem.lengths, options, &params(kind), &())
            .unwrap_err()
            .to_string()
    };
    let open = LarsOptions::default();
    assert!(refusal(&open, PenaltyKind::Scad).contains("lambda_min"));
    let positive = open.clone().with(|it| (it.positive, it.max_nonzeros) = (true, Some(3)));
    assert!(refusal(&positive, PenaltyKind::Mcp).contains("positive"));
    let both = open.clone().with(|it| (it.lambda_min, it.max_nonzeros) = (0.1, Some(3)));
    assert!(refusal(&both, PenaltyKind::Scad).contains("lambda_min"));
    assert!(refusal(&open.with(|it| it.max_nonzeros = Some(3)), PenaltyKind::L1).contains("rounds"));
    let subsets = |change: fn(&mut LarsOptions)| {
        let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(3)).with(change);
        let l0 = params(PenaltyKind::L0);
        menet::penalties::paths(&problem.gram, problem.b.as_ref(), &problem.lengths, &options, &l0, &())
            .unwrap_err()
            .to_string()
    };
    assert!(subsets(|it| it.lambda_min = 0.1).contains("lambda_min"));
    assert!(subsets(|it| it.method = menet::lars::LarsMethod::Lars).contains("lasso"));
    assert!(subsets(|it| it.penalty_factors = Some(vec![2.0; 10])).contains("counts variables"));
    // Only the end of a path that was made for one size is an answer.
    let found = solved(
        &problem,
        PenaltyKind::Reweighted,
        &LarsOptions::default().with(|it| it.max_nonzeros = Some(6)),
    );
    let has = found.path.selected(&found.path.last().coefficients);
    assert!(has > 1 && found.path.at_nonzeros(has).is_ok());
    assert!(found.path.at_nonzeros(has - 1).unwrap_err().to_string().contains("one size"));
}
