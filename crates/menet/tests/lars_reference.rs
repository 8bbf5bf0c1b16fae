//! The path against an independent solver, its certificate against wrong answers, and its own promises.

use crate::common;
use crate::common::{Design, coordinate_descent, correlate, gaussian, largest_difference, normal, rng};
use faer::Mat;
use menet::lars::{EndReason, LarsMethod, LarsOptions, certify, lars_path, lars_paths, quadratic_path};
use menet::sparse::SparseVector;
use menet::{Error, Monitor};
use rand::RngExt;

/// A regression with a few strong variables among correlated ones.
fn problem(seed: u64, n: usize, p: usize) -> (Mat<f64>, Vec<f64>) {
    let rng = &mut rng(seed);
    let x = gaussian(rng, n, p);
    let y: Vec<f64> =
        (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, p / 2)] + 0.5 * x[(i, p - 1)] + normal(rng)).collect();
    let b = correlate(&x, &y);
    (x.transpose() * &x, b)
}

#[test]
fn equals_coordinate_descent_between_knots() {
    for seed in 0..60 {
        let rng = &mut rng(seed);
        let (n, p) = ([40, 25][seed as usize % 2], [12, 40][seed as usize / 2 % 2]);
        let (gram, b) = problem(seed, n, p);
        let options = LarsOptions::default().with(|it| {
            // Without a ridge coordinate descent crawls where p is not well below n.
            it.ridge = if p >= n { 0.5 } else { [0.0, 0.1][seed as usize % 2] };
            it.positive = seed % 5 == 0;
            it.penalty_factors =
                (seed % 3 == 0).then(|| (0..p).map(|_| rng.random_range(0.3..2.0)).collect());
        });
        let path = lars_path(&gram, &b, &options, &()).unwrap();
        assert_eq!(path.ended(), EndReason::Complete);
        let knots = path.knots();
        for _ in 0..10 {
            let k = rng.random_range(0..knots.len() - 1);
            let t = rng.random_range(0.05..0.95);
            let lambda = knots[k].level * (1.0 - t) + knots[k + 1].level * t;
            let found = path.at_lambda(lambda).unwrap().coefficients;
            let reference = coordinate_descent(&gram, &b, &options, lambda, 1e-12);
            let difference = largest_difference(&found, &reference, p);
            assert!(difference < 1e-8, "seed {seed} lambda {lambda}: {difference:e}");
            assert!(certify(&gram, &b, &options, &found, lambda).unwrap().kkt < 1e-12);
        }
    }
}

#[test]
fn the_certificate_catches_what_is_wrong() {
    let (gram, b) = problem(3, 50, 10);
    let options = LarsOptions::default().with(|it| it.ridge = 0.1);
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    let lambda = 0.3 * path.knots()[0].level;
    let right = path.at_lambda(lambda).unwrap().coefficients;
    let kkt = |w: &SparseVector, lambda: f64| certify(&gram, &b, &options, w, lambda).unwrap();
    assert!(kkt(&right, lambda).kkt < 1e-14 && kkt(&right, lambda).scaled < 1e-14);

    let flipped = right.map(|j, w| if j == right.indices()[0] { -w } else { w });
    assert!(kkt(&flipped, lambda).kkt > 0.1, "a wrong sign");
    assert!(kkt(&right, 0.99 * lambda).kkt > 1e-3, "a wrong level");
    let without = right.map(|j, w| if j == right.indices()[0] { 0.0 } else { w });
    assert!(kkt(&without, lambda).kkt > 1e-3, "a missing variable");
    let moved = right.map(|j, w| if j == right.indices()[0] { w * (1.0 + 1e-6) } else { w });
    assert!(kkt(&moved, lambda).kkt > 1e-8, "a coefficient off by a millionth");
    let extra = SparseVector::from_dense(&right.to_dense(10).iter().map(|w| w + 1e-6).collect::<Vec<_>>());
    assert!(kkt(&extra, lambda).kkt > 1e-8, "variables that should be zero");
    assert!(kkt(&SparseVector::from_pairs(vec![(2, f64::NAN)]), lambda).kkt.is_infinite());

    let positive = options.clone().with(|it| it.positive = true);
    let negative = SparseVector::from_pairs(vec![(5, -1e-9)]);
    assert!(certify(&gram, &b, &positive, &negative, lambda).unwrap().kkt.is_infinite());
    let mut factors = vec![1.0; 10];
    factors[right.indices()[0]] = f64::INFINITY;
    let barred = options.clone().with(|it| it.penalty_factors = Some(factors));
    assert!(certify(&gram, &b, &barred, &right, lambda).unwrap().kkt.is_infinite());
    assert!(certify(&gram, &b, &options, &SparseVector::from_pairs(vec![(10, 1.0)]), lambda).is_err());
}

#[test]
fn the_scaled_certificate_sees_small_columns() {
    // Variable 1 is a millionth of the size of variable 0; leaving it out is invisible beside max |b|.
    let gram = faer::mat![[1.0, 0.0], [0.0, 1e-12]];
    let b = [1.0, 1e-6];
    let w = SparseVector::from_pairs(vec![(0, 1.0)]);
    let certificate = certify(&gram, &b, &LarsOptions::default(), &w, 0.0).unwrap();
    assert!(certificate.kkt <= 1e-6 && certificate.scaled > 0.9, "{certificate:?}");
}

#[test]
fn a_path_holds_every_smaller_path_bit_for_bit() {
    for seed in 0..40 {
        for design in [Design::Gaussian, Design::Ternary, Design::Duplicates] {
            let rng = &mut rng(seed);
            let (n, p) = (rng.random_range(5..40), rng.random_range(5..60));
            let x = design.matrix(rng, n, p);
            let b = correlate(&x, &design.response(rng, n));
            let gram = x.transpose() * &x;
            let with = |max_nonzeros: Option<usize>| {
                let options = LarsOptions::default().with(|it| {
                    it.ridge = 0.05;
                    it.max_nonzeros = max_nonzeros;
                    it.working_set = 6;
                });
                lars_path(&gram, &b, &options, &()).unwrap()
            };
            let whole = with(None);
            for k in 1..=p {
                let direct = with(Some(k));
                assert_eq!(
                    whole.at_nonzeros(k).unwrap(),
                    direct.at_nonzeros(k).unwrap(),
                    "{design:?} {seed} {k}"
                );
                assert_eq!(whole.truncated(k).unwrap().knots(), direct.knots(), "{design:?} {seed} {k}");
            }
        }
    }
}

#[test]
fn asking_beyond_the_end_is_an_error() {
    let (gram, b) = problem(1, 30, 8);
    let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(3));
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    assert_eq!(path.ended(), EndReason::MaxNonzeros { needed: 4 });
    assert_eq!(path.at_nonzeros(3).unwrap().coefficients.nonzeros(), 3);
    let message = path.at_nonzeros(4).unwrap_err().to_string();
    assert!(message.contains("support of 4") && message.contains("3 nonzeros"), "{message}");
    assert!(matches!(path.at_lambda(0.0), Err(Error::PathTooShort { .. })));
    assert!(path.at_lambda(-1.0).is_err() && path.at_lambda(f64::NAN).is_err());
    assert!(path.at_nonzeros(0).is_err());
    let above = path.at_lambda(2.0 * path.knots()[0].level).unwrap();
    assert_eq!(above.coefficients.nonzeros(), 0);
    let exact = path.at_lambda(path.knots()[2].level).unwrap();
    assert_eq!(exact.coefficients, path.knots()[2].coefficients);
}

#[test]
fn ties_that_jump_past_k_give_fewer() {
    // Two orthonormal variables with the same correlation enter together: there is no point with one nonzero.
    let gram: Mat<f64> = Mat::identity(2, 2);
    let path = lars_path(&gram, &[1.0, -1.0], &LarsOptions::default(), &()).unwrap();
    assert_eq!(path.knots()[0].entered, [0, 1]);
    assert_eq!(path.at_nonzeros(1).unwrap().coefficients.nonzeros(), 0);
    assert_eq!(path.at_nonzeros(2).unwrap().coefficients.to_dense(2), [1.0, -1.0]);
}

#[test]
fn exact_duplicates_share_their_weight() {
    let rng = &mut rng(9);
    let mut x = gaussian(rng, 30, 6);
    for i in 0..30 {
        x[(i, 4)] = x[(i, 1)];
        x[(i, 5)] = -x[(i, 1)];
    }
    let y: Vec<f64> = (0..30).map(|i| 2.0 * x[(i, 1)] + 0.3 * x[(i, 0)]).collect();
    let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
    let ridge = LarsOptions::default().with(|it| it.ridge = 0.1);
    for knot in lars_path(&gram, &b, &ridge, &()).unwrap().knots() {
        let w = knot.coefficients.to_dense(6);
        assert!((w[1] - w[4]).abs() < 1e-12 && (w[1] + w[5]).abs() < 1e-12, "{w:?}");
    }
    // Without a ridge one of them is enough; the path is complete all the same.
    let path = lars_path(&gram, &b, &LarsOptions::default(), &()).unwrap();
    assert_eq!(path.ended(), EndReason::Complete);
    assert!(path.certificate().kkt < 1e-12 && path.last().coefficients.nonzeros() <= 4);
}

#[test]
fn correlated_variables_are_grouped() {
    // λ2 (wᵢ − wⱼ) = (xᵢ − xⱼ)ᵀr where both are active with one sign, so the weights of unit columns with correlation ρ
    // differ by at most √(2(1−ρ)) ‖y‖/λ2.
    let rng = &mut rng(17);
    let mut x = gaussian(rng, 25, 12);
    for j in 6..12 {
        for i in 0..25 {
            x[(i, j)] = x[(i, j - 6)] + 0.1 * x[(i, j)];
        }
    }
    for j in 0..12 {
        let norm = x.col(j).norm_l2();
        x.col_mut(j).iter_mut().for_each(|x| *x /= norm);
    }
    let y: Vec<f64> = (0..25).map(|i| x[(i, 0)] + x[(i, 6)] - x[(i, 3)] + 0.1 * normal(rng)).collect();
    let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    let mut compared = 0;
    for ridge in [0.05, 0.5, 5.0] {
        let path = lars_path(&gram, &b, &LarsOptions::default().with(|it| it.ridge = ridge), &()).unwrap();
        for knot in path.knots() {
            for (i, wi) in knot.coefficients.iter() {
                for (j, wj) in knot.coefficients.iter().filter(|&(j, wj)| j > i && wi * wj > 0.0) {
                    let bound = (2.0 * (1.0 - gram[(i, j)])).sqrt() * length / ridge;
                    assert!((wi - wj).abs() <= bound + 1e-12, "{i} {j}: {wi} {wj} {bound}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100);
}

#[test]
fn without_a_ridge_the_support_stops_at_the_rank() {
    let rng = &mut rng(4);
    let x = gaussian(rng, 8, 50);
    let y: Vec<f64> = (0..8).map(|_| normal(rng)).collect();
    let path = lars_path(&(x.transpose() * &x), &correlate(&x, &y), &LarsOptions::default(), &()).unwrap();
    assert_eq!(path.ended(), EndReason::Complete);
    assert_eq!(path.last().coefficients.nonzeros(), 8);
    assert!(path.certificate().kkt < 1e-12);
}

#[test]
fn plain_lars_lets_coefficients_cross_zero() {
    // A problem whose lasso path drops a variable: plain LARS keeps it, and it changes sign.
    let found = (0..200).any(|seed| {
        let (gram, b) = problem(seed, 20, 10);
        let lasso = lars_path(&gram, &b, &LarsOptions::default(), &()).unwrap();
        let plain = LarsOptions::default().with(|it| it.method = LarsMethod::Lars);
        let plain = lars_path(&gram, &b, &plain, &()).unwrap();
        assert_eq!(plain.knots().len(), 11, "plain LARS takes one step a variable");
        assert!(plain.certificate().kkt < 1e-12);
        let end = largest_difference(&plain.last().coefficients, &lasso.last().coefficients, 10);
        assert!(end < 1e-9, "both end in least squares");
        lasso.knots().iter().any(|knot| !knot.left.is_empty())
    });
    assert!(found, "no problem had a drop");
}

#[test]
fn theorem_1_with_an_asymmetric_matrix() {
    for seed in 0..20 {
        let rng = &mut rng(seed);
        let p = 8;
        let x = gaussian(rng, 20, p);
        let noise = gaussian(rng, p, p);
        // An antisymmetric part of any size changes nothing.
        let a = x.transpose() * &x + (&noise - noise.transpose()) * faer::Scale(3.0);
        let linear: Vec<f64> = (0..p).map(|_| 10.0 * normal(rng)).collect();
        let path = quadratic_path(a.as_ref(), &linear, &LarsOptions::default(), &()).unwrap();
        let value = |beta: &[f64], t: f64| -> f64 {
            let quadratic: f64 =
                (0..p).map(|i| (0..p).map(|j| beta[i] * a[(i, j)] * beta[j]).sum::<f64>()).sum();
            quadratic + (0..p).map(|i| beta[i] * linear[i] + t * beta[i].abs()).sum::<f64>()
        };
        for t in [0.5, 4.0, 15.0] {
            let beta = path.at_lambda(t / 2.0).unwrap().coefficients.to_dense(p);
            let best = value(&beta, t);
            for _ in 0..200 {
                let other: Vec<f64> = beta.iter().map(|b| b + 1e-3 * normal(rng)).collect();
                assert!(value(&other, t) >= best - 1e-12, "a better point near by");
            }
            assert!(value(&vec![0.0; p], t) >= best);
        }
    }
}

#[test]
fn theorem_1_ends_where_the_problem_is_unbounded() {
    // (β₀ − β₁)² has no curvature along (1, 1), and B pulls there: unbounded once 2t < |B₀ + B₁| = 6.
    let a = faer::mat![[1.0, -1.0], [-1.0, 1.0]];
    let path = quadratic_path(a.as_ref(), &[-4.0, -2.0], &LarsOptions::default(), &()).unwrap();
    assert!(matches!(path.ended(), EndReason::Unbounded { .. }), "{:?}", path.ended());
    assert!((2.0 * path.last().level - 3.0).abs() < 1e-12, "level {}", path.last().level);
    assert!(path.ended().to_string().contains("unbounded"));
    let zero = faer::mat![[0.0]];
    let path = quadratic_path(zero.as_ref(), &[2.0], &LarsOptions::default(), &()).unwrap();
    assert!(matches!(path.ended(), EndReason::Unbounded { variable: 0 }));
    let indefinite = faer::mat![[1.0, 3.0], [3.0, 1.0]];
    let path = quadratic_path(indefinite.as_ref(), &[-4.0, -3.9], &LarsOptions::default(), &()).unwrap();
    assert!(matches!(path.ended(), EndReason::Indefinite { .. }), "{:?}", path.ended());
    assert!(quadratic_path(Mat::zeros(2, 3).as_ref(), &[1.0; 3], &LarsOptions::default(), &()).is_err());
}

#[test]
fn a_thousand_equal_columns_share_too() {
    let rng = &mut rng(8);
    let (n, p) = (10, 1000);
    let column: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x = Mat::from_fn(n, p, |i, _| column[i]);
    let gram = x.transpose() * &x;
    let b = correlate(&x, &column);
    let options = LarsOptions::default().with(|it| it.ridge = 0.1);
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    assert_eq!(path.knots()[0].entered.len(), p);
    assert_eq!((path.ended(), path.knots().len()), (EndReason::Complete, 2));
    let w = path.last().coefficients.to_dense(p);
    assert!(w.iter().all(|x| (x - w[0]).abs() < 1e-9 * w[0].abs()));
    let few = options.with(|it| it.max_nonzeros = Some(5));
    let path = lars_path(&gram, &b, &few, &()).unwrap();
    assert_eq!(path.ended(), EndReason::MaxNonzeros { needed: p });
}

#[test]
fn many_responses_equal_one_at_a_time() {
    let rng = &mut rng(5);
    let x = gaussian(rng, 40, 30);
    let (gram, b) = (x.transpose() * &x, x.transpose() * gaussian(rng, 40, 7));
    let options = LarsOptions::default().with(|it| {
        it.ridge = 0.2;
        it.max_nonzeros = Some(12);
        it.working_set = 5;
    });
    let together = lars_paths(&gram, b.as_ref(), &options, &()).unwrap();
    assert_eq!(together.len(), 7);
    for (k, path) in together.iter().enumerate() {
        assert_eq!(*path, lars_path(&gram, &common::column(&b, k), &options, &()).unwrap());
    }
    assert!(lars_paths(&gram, b.subcols(0, 0), &options, &()).is_err());
}

#[test]
fn a_small_working_set_gives_the_same_path() {
    for seed in 0..30 {
        let (gram, b) = problem(seed, 60, 50);
        let with = |working_set| {
            lars_path(&gram, &b, &LarsOptions::default().with(|it| it.working_set = working_set), &())
                .unwrap()
        };
        let (all, few) = (with(1000), with(1));
        assert_eq!(all.knots().len(), few.knots().len());
        for (a, b) in all.knots().iter().zip(few.knots()) {
            assert_eq!((&a.entered, &a.left), (&b.entered, &b.left));
            assert!(
                (a.level - b.level).abs() < 1e-9
                    && largest_difference(&a.coefficients, &b.coefficients, 50) < 1e-9
            );
        }
    }
}

#[test]
fn degenerate_inputs() {
    let gram: Mat<f64> = Mat::identity(3, 3);
    let nothing = lars_path(&gram, &[0.0; 3], &LarsOptions::default(), &()).unwrap();
    assert_eq!((nothing.knots().len(), nothing.ended()), (1, EndReason::Complete));
    assert_eq!(nothing.certificate().kkt, 0.0);
    let positive = LarsOptions::default().with(|it| it.positive = true);
    let downhill = lars_path(&gram, &[-1.0, -2.0, 0.0], &positive, &()).unwrap();
    assert_eq!(downhill.last().coefficients.nonzeros(), 0);
    let barred = LarsOptions::default().with(|it| it.penalty_factors = Some(vec![f64::INFINITY; 3]));
    assert_eq!(lars_path(&gram, &[1.0; 3], &barred, &()).unwrap().last().coefficients.nonzeros(), 0);
    let early = LarsOptions::default().with(|it| it.lambda_min = 5.0);
    let path = lars_path(&gram, &[1.0; 3], &early, &()).unwrap();
    assert_eq!((path.knots().len(), path.ended()), (1, EndReason::LambdaMin));
}

#[test]
fn bad_input_is_named() {
    let gram: Mat<f64> = Mat::identity(2, 2);
    let run = |b: &[f64], options: LarsOptions| lars_path(&gram, b, &options, &()).unwrap_err().to_string();
    let default = LarsOptions::default;
    assert!(run(&[1.0], default()).contains("1 entries"));
    assert!(run(&[1.0, f64::NAN], default()).contains("NaN"));
    assert!(run(&[1.0; 2], default().with(|it| it.ridge = -1.0)).contains("`ridge` is -1"));
    assert!(run(&[1.0; 2], default().with(|it| it.ridge = f64::NAN)).contains("NaN"));
    assert!(run(&[1.0; 2], default().with(|it| it.lambda_min = f64::INFINITY)).contains("lambda_min"));
    assert!(run(&[1.0; 2], default().with(|it| it.max_nonzeros = Some(0))).contains("max_nonzeros"));
    assert!(
        run(&[1.0; 2], default().with(|it| it.penalty_factors = Some(vec![1.0]))).contains("2 variables")
    );
    for bad in [-1e-9, -1.0, f64::NAN] {
        let factors = Some(vec![1.0, bad]);
        assert!(run(&[1.0; 2], default().with(|it| it.penalty_factors = factors)).contains("at variable 1"));
    }
    let beside = faer::mat![[1.0, f64::NAN], [f64::NAN, 1.0]];
    assert!(matches!(lars_path(&beside, &[1.0; 2], &default(), &()), Err(Error::NotFinite { .. })));
    let wide: Mat<f64> = Mat::zeros(2, 3);
    assert!(lars_path(&wide, &[1.0; 3], &default(), &()).unwrap_err().to_string().contains("square"));
    assert!(lars_path(&wide.transpose(), &[1.0; 2], &default(), &()).is_err());
    // Halves that differ by rounding are those of a Gram matrix; others are not, and the path would depend on which half it reads.
    for (off, allowed) in [(1e-12, true), (1e-6, false), (0.5, false)] {
        let gram = faer::mat![[4.0, 0.5 + off], [0.5, 1.0]];
        match lars_path(&gram, &[1.0; 2], &default(), &()) {
            Ok(_) => assert!(allowed, "{off}"),
            Err(error) => {
                assert!(!allowed && error.to_string().contains("at row 0, column 1"), "{error}");
                assert!(error.to_string().contains("symmetric"), "{error}");
            }
        }
    }
    assert!(run(&[1e200, 1.0], default()).contains("rescale"));
    assert!(run(&[1e-200, 0.0], default()).contains("rescale"));
    let signs = default().with(|it| {
        it.positive = true;
        it.method = LarsMethod::Lars;
    });
    assert!(run(&[1.0; 2], signs).contains("`positive`"));
    let w = SparseVector::default();
    assert!(certify(&gram, &[1.0; 2], &default(), &w, f64::NAN).is_err());
    let empty: Mat<f64> = Mat::zeros(0, 0);
    assert!(lars_path(&empty, &[], &default(), &()).is_err());
}

#[test]
fn a_monitor_can_stop_a_path() {
    struct StopsAtOnce;
    impl Monitor for StopsAtOnce {
        fn stop(&self) -> bool {
            true
        }
    }
    let (gram, b) = problem(1, 30, 8);
    assert!(matches!(
        lars_path(&gram, &b, &LarsOptions::default(), &StopsAtOnce),
        Err(Error::Stopped { .. })
    ));
}
