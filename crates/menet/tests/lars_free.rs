//! Penalty factors of 0: free variables.

use crate::common;
use crate::common::{Design, coordinate_descent, correlate, gaussian, largest_difference, normal, rng};
use faer::Mat;
use faer::linalg::solvers::Solve;
use menet::gram::{FactorGram, Gram};
use menet::lars::{EndReason, LarsMethod, LarsOptions, Path, certify, lars_path, quadratic_path};
use menet::sparse::SparseVector;
use rand::RngExt;

/// Factors of 1, and 0 at `free`.
fn factors(p: usize, free: &[usize]) -> Option<Vec<f64>> {
    Some((0..p).map(|j| if free.contains(&j) { 0.0 } else { 1.0 }).collect())
}

/// Data, and a response that both free and penalised variables explain.
fn problem(seed: u64, n: usize, p: usize) -> (Mat<f64>, Vec<f64>) {
    let rng = &mut rng(seed);
    let x = gaussian(rng, n, p);
    let y: Vec<f64> =
        (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, p / 2)] + 0.5 * x[(i, p - 1)] + normal(rng)).collect();
    let b = correlate(&x, &y);
    (x, b)
}

/// `(G_UU + ridge I)⁻¹ b_U`, zero elsewhere.
fn ridge_solution(gram: &Mat<f64>, b: &[f64], free: &[usize], ridge: f64) -> SparseVector {
    let u = free.len();
    let system = Mat::from_fn(u, u, |i, j| gram[(free[i], free[j])] + if i == j { ridge } else { 0.0 });
    let right = Mat::from_fn(u, 1, |i, _| b[free[i]]);
    let w = system.full_piv_lu().solve(&right);
    SparseVector::from_pairs(free.iter().enumerate().map(|(k, &j)| (j, w[(k, 0)])).collect())
}

#[test]
fn equals_coordinate_descent_between_knots() {
    for seed in 0..40 {
        let rng = &mut rng(seed);
        let (n, p) = ([40, 25][seed as usize % 2], [12, 40][seed as usize / 2 % 2]);
        let (x, b) = problem(seed, n, p);
        let gram = x.transpose() * &x;
        let free = [0, p / 3, p - 1];
        let mut v = factors(p, &free).unwrap();
        v.iter_mut().filter(|v| **v > 0.0).for_each(|v| *v = rng.random_range(0.3..2.0));
        v[1] = f64::INFINITY;
        let ridge = if p >= n { 0.5 } else { [0.0, 0.1][seed as usize % 2] };
        let options = LarsOptions::default().with(|it| {
            it.ridge = ridge;
            it.penalty_factors = Some(v);
        });
        let path = lars_path(&gram, &b, &options, &()).unwrap();
        assert_eq!((path.ended(), path.free()), (EndReason::Complete, &free[..]));
        let knots = path.knots();
        let start = ridge_solution(&gram, &b, &free, ridge);
        assert!(largest_difference(&knots[0].coefficients, &start, p) < 1e-12);
        assert_eq!(path.at_lambda(3.0 * knots[0].level).unwrap().coefficients, knots[0].coefficients);
        for _ in 0..10 {
            let (k, t) = (rng.random_range(0..knots.len() - 1), rng.random_range(0.05..0.95));
            let lambda = knots[k].level * (1.0 - t) + knots[k + 1].level * t;
            let found = path.at_lambda(lambda).unwrap().coefficients;
            let reference = coordinate_descent(&gram, &b, &options, lambda, 1e-12);
            let difference = largest_difference(&found, &reference, p);
            assert!(difference < 1e-8, "seed {seed} lambda {lambda}: {difference:e}");
            assert!(certify(&gram, &b, &options, &found, lambda).unwrap().kkt < 1e-12);
        }
    }
}

/// Eliminating the free variables by the Schur complement gives the same path of the others.
#[test]
fn equals_the_problem_without_its_free_variables() {
    for seed in 0..20 {
        let (p, free, ridge) = (15, [2, 3, 11], 0.2);
        let (x, b) = problem(seed, 30, p);
        let gram = x.transpose() * &x;
        let options = LarsOptions::default().with(|it| {
            it.ridge = ridge;
            it.penalty_factors = factors(p, &free);
        });
        let path = lars_path(&gram, &b, &options, &()).unwrap();
        let others: Vec<usize> = (0..p).filter(|j| !free.contains(j)).collect();
        let inner = Mat::from_fn(free.len(), free.len(), |i, j| {
            gram[(free[i], free[j])] + if i == j { ridge } else { 0.0 }
        });
        let right = Mat::from_fn(free.len(), others.len() + 1, |i, k| {
            others.get(k).map_or(b[free[i]], |&j| gram[(free[i], j)])
        });
        let solved = inner.full_piv_lu().solve(&right);
        let minus = |j: usize, k: usize| -> f64 {
            (0..free.len()).map(|i| gram[(j, free[i])] * solved[(i, k)]).sum()
        };
        let reduced = Mat::from_fn(others.len(), others.len(), |i, k| {
            gram[(others[i], others[k])] - minus(others[i], k)
        });
        let b: Vec<f64> = others.iter().map(|&j| b[j] - minus(j, others.len())).collect();
        let expected =
            lars_path(&reduced, &b, &LarsOptions::default().with(|it| it.ridge = ridge), &()).unwrap();
        let entered: Vec<usize> = expected.order_of_entry().into_iter().map(|j| others[j]).collect();
        assert_eq!(path.order_of_entry(), entered);
        assert_eq!(path.knots().len(), expected.knots().len());
        for (a, b) in path.knots().iter().zip(expected.knots()) {
            assert!((a.level - b.level).abs() < 1e-10 * expected.knots()[0].level);
            for (k, &j) in others.iter().enumerate() {
                assert!((a.coefficients.get(j) - b.coefficients.get(k)).abs() < 1e-10);
            }
        }
    }
}

/// More variables than samples, from every source of Gram columns.
#[test]
fn every_source_gives_one_path_of_many_variables() {
    #[derive(Debug)]
    struct ColumnsOnly(Mat<f64>);
    impl Gram for ColumnsOnly {
        fn dim(&self) -> usize {
            self.0.ncols()
        }
        fn column(&self, j: usize, out: &mut [f64]) {
            self.0.column(j, out);
        }
        fn squared_lengths(&self) -> Vec<f64> {
            self.diagonal().into_iter().map(|d| 1.7 * d).collect() // an upper bound, as where the diagonal is dear
        }
    }
    let (n, p, free) = (30, 900, [5, 450, 899]);
    let (x, b) = problem(3, n, p);
    let gram = x.transpose() * &x;
    for ridge in [0.0, 0.1] {
        let options = LarsOptions::default().with(|it| {
            it.ridge = ridge;
            it.penalty_factors = factors(p, &free);
            it.max_nonzeros = Some(20);
            it.working_set = 16;
        });
        let expected = lars_path(&gram, &b, &options, &()).unwrap();
        assert_eq!(expected.selected(&expected.last().coefficients), 20);
        assert_eq!(expected.last().coefficients.nonzeros(), 23);
        let sources: [&dyn Gram; 3] =
            [&FactorGram::new(x.clone()), &FactorGram::borrowed(x.as_ref()), &ColumnsOnly(gram.clone())];
        for source in sources {
            let path = lars_path(source, &b, &options, &()).unwrap();
            assert!(path.certificate().kkt < 1e-12, "{:?}", path.certificate());
            assert_eq!(path.order_of_entry(), expected.order_of_entry());
            assert!(largest_difference(&path.last().coefficients, &expected.last().coefficients, p) < 1e-9);
        }
    }
    // Without a ridge the free variables take part of the rank.
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(p, &free));
    let path = lars_path(&FactorGram::new(x.clone()), &b, &options, &()).unwrap();
    assert_eq!((path.ended(), path.selected(&path.last().coefficients)), (EndReason::Complete, n - 3));
}

#[test]
fn a_path_holds_every_smaller_path_bit_for_bit() {
    for seed in 0..30 {
        for design in [Design::Gaussian, Design::Ternary, Design::Duplicates] {
            let rng = &mut rng(seed);
            let (n, p) = (rng.random_range(5..30), rng.random_range(6..40));
            let x = design.matrix(rng, n, p);
            let b = correlate(&x, &design.response(rng, n));
            let gram = x.transpose() * &x;
            let with = |max_nonzeros: Option<usize>| {
                let options = LarsOptions::default().with(|it| {
                    it.ridge = 0.05;
                    it.penalty_factors = factors(p, &[1, 4]);
                    it.max_nonzeros = max_nonzeros;
                    it.working_set = 6;
                });
                lars_path(&gram, &b, &options, &()).unwrap()
            };
            let whole = with(None);
            for k in 1..=p {
                let direct = with(Some(k));
                let point = whole.at_nonzeros(k).unwrap();
                assert_eq!(point, direct.at_nonzeros(k).unwrap(), "{design:?} {seed} {k}");
                assert!(whole.selected(&point.coefficients) <= k);
                let cut = whole.truncated(k).unwrap();
                assert_eq!((cut.knots(), cut.free()), (direct.knots(), &[1, 4][..]), "{design:?} {seed} {k}");
            }
        }
    }
}

/// A free variable whose coefficient is 0, at a point or all along, is not one that entered or left.
#[test]
fn a_free_variable_may_cross_zero() {
    // It has no correlation with the response and its correlation with the other two differs in sign.
    let x = faer::mat![[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0f64]];
    let y = [1.0, 3.0, 0.5, -1.0];
    let b = correlate(&x, &y);
    assert_eq!(b[0], 0.0);
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(3, &[0]));
    let path = lars_path(&(x.transpose() * &x), &b, &options, &()).unwrap();
    assert_eq!(path.knots()[0].coefficients.nonzeros(), 0);
    assert!(path.last().coefficients.get(0) < -0.1, "{:?}", path.last());
    assert_eq!(path.order_of_entry(), [1, 2]);
    assert!(path.knots().iter().all(|knot| knot.left.is_empty()));

    let found = (0..200).any(|seed| {
        let (x, b) = problem(seed, 20, 10);
        let options = LarsOptions::default().with(|it| it.penalty_factors = factors(10, &[3]));
        let path = lars_path(&(x.transpose() * &x), &b, &options, &()).unwrap();
        assert!(path.certificate().kkt < 1e-12);
        let signs: Vec<f64> = path.knots().iter().map(|knot| knot.coefficients.get(3).signum()).collect();
        assert!(path.knots().iter().all(|knot| !knot.left.contains(&3)));
        signs.contains(&1.0) && signs.contains(&-1.0)
    });
    assert!(found, "no free coefficient changed its sign");
}

#[test]
fn penalised_copies_of_a_free_variable_stay_out() {
    let (mut x, _) = problem(6, 25, 8);
    for i in 0..25 {
        x[(i, 5)] = -x[(i, 2)]; // a copy
        x[(i, 6)] = x[(i, 2)] + x[(i, 3)]; // in the span of two
    }
    let y: Vec<f64> = (0..25).map(|i| x[(i, 2)] + x[(i, 0)] + 0.3 * x[(i, 7)]).collect();
    let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(8, &[2, 3]));
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    assert_eq!(path.ended(), EndReason::Complete);
    assert!(path.certificate().kkt < 1e-12);
    assert!(path.order_of_entry().iter().all(|j| ![5, 6].contains(j)), "{:?}", path.order_of_entry());
}

#[test]
fn a_tie_beside_a_free_variable_enters_at_once() {
    let gram: Mat<f64> = Mat::identity(4, 4);
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(4, &[0]));
    let path = lars_path(&gram, &[5.0, 1.0, -1.0, 0.5], &options, &()).unwrap();
    assert_eq!((path.knots()[0].level, &path.knots()[0].entered[..]), (1.0, &[1, 2][..]));
    let one = path.at_nonzeros(1).unwrap();
    assert_eq!(one.coefficients.to_dense(4), [5.0, 0.0, 0.0, 0.0]);
    assert_eq!(path.at_nonzeros(2).unwrap().coefficients.to_dense(4), [5.0, 0.5, -0.5, 0.0]);
    let few = options.with(|it| it.max_nonzeros = Some(1));
    let path = lars_path(&gram, &[5.0, 1.0, -1.0, 0.5], &few, &()).unwrap();
    assert_eq!(path.ended(), EndReason::MaxNonzeros { needed: 2 });
}

#[test]
fn without_a_penalised_variable_the_path_is_one_knot() {
    let (x, b) = problem(2, 20, 6);
    let gram = x.transpose() * &x;
    for (ridge, v) in
        [(0.0, vec![0.0; 6]), (0.3, vec![0.0; 6]), (0.3, vec![0.0, 0.0, f64::INFINITY, 0.0, 0.0, 0.0])]
    {
        let free: Vec<usize> = (0..6).filter(|&j| v[j] == 0.0).collect();
        let options = LarsOptions::default().with(|it| {
            it.ridge = ridge;
            it.penalty_factors = Some(v);
        });
        let path = lars_path(&gram, &b, &options, &()).unwrap();
        assert_eq!((path.knots().len(), path.ended(), path.last().level), (1, EndReason::Complete, 0.0));
        let expected = ridge_solution(&gram, &b, &free, ridge);
        assert!(largest_difference(&path.last().coefficients, &expected, 6) < 1e-12);
        for level in [0.0, 1.0, 1e6] {
            assert_eq!(path.at_lambda(level).unwrap().coefficients, path.last().coefficients);
        }
        assert_eq!(path.at_nonzeros(1).unwrap().coefficients, path.last().coefficients);
        assert!(path.certificate().kkt < 1e-12);
    }
    // A response that the free variables explain leaves nothing for the others.
    let b = correlate(&x, &common::column(&x, 1));
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(6, &[1]));
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    assert_eq!((path.ended(), path.order_of_entry()), (EndReason::Complete, Vec::<usize>::new()));
    assert!((path.last().coefficients.get(1) - 1.0).abs() < 1e-12);
}

#[test]
fn the_certificate_covers_free_variables() {
    let (x, b) = problem(4, 40, 9);
    let gram = x.transpose() * &x;
    let options = LarsOptions::default().with(|it| {
        it.ridge = 0.1;
        it.penalty_factors = factors(9, &[0, 7]);
    });
    let path = lars_path(&gram, &b, &options, &()).unwrap();
    let lambda = 0.4 * path.knots()[0].level;
    let right = path.at_lambda(lambda).unwrap().coefficients;
    let kkt = |w: &SparseVector| certify(&gram, &b, &options, w, lambda).unwrap().kkt;
    assert!(kkt(&right) < 1e-14);
    for free in [0, 7] {
        assert!(kkt(&right.map(|j, w| if j == free { w * (1.0 + 1e-6) } else { w })) > 1e-9);
        assert!(kkt(&right.map(|j, w| if j == free { 0.0 } else { w })) > 1e-4);
    }
}

#[test]
fn dependent_free_variables_are_refused_without_a_ridge() {
    let (mut x, _) = problem(8, 20, 6);
    for i in 0..20 {
        x[(i, 4)] = x[(i, 1)] - x[(i, 3)];
    }
    let b = correlate(&x, &common::column(&x, 0));
    let gram = x.transpose() * &x;
    let with = |ridge: f64, v: Option<Vec<f64>>| {
        lars_path(
            &gram,
            &b,
            &LarsOptions::default().with(|it| {
                it.ridge = ridge;
                it.penalty_factors = v;
            }),
            &(),
        )
    };
    let message = with(0.0, factors(6, &[1, 3, 4])).unwrap_err().to_string();
    assert!(message.contains("0 at variable 4") && message.contains("`ridge` larger than 0"), "{message}");
    assert!(with(0.1, factors(6, &[1, 3, 4])).unwrap().certificate().kkt < 1e-12);
    assert!(with(0.0, factors(6, &[1, 3])).is_ok());
    let wide = x.subrows(0, 3).to_owned();
    let options = LarsOptions::default().with(|it| it.penalty_factors = Some(vec![0.0; 6]));
    let more = lars_path(&FactorGram::new(wide), &b, &options, &()).unwrap_err().to_string();
    assert!(more.contains("depends on others"), "{more}");
    let indefinite = faer::mat![[1.0, 3.0], [3.0, 1.0f64]];
    let all = LarsOptions::default().with(|it| it.penalty_factors = Some(vec![0.0; 2]));
    let message = lars_path(&indefinite, &[1.0; 2], &all, &()).unwrap_err().to_string();
    assert!(message.contains("not positive semidefinite"), "{message}");
    let signs = LarsOptions::default().with(|it| {
        it.positive = true;
        it.penalty_factors = factors(6, &[2]);
    });
    let message = lars_path(&gram, &b, &signs, &()).unwrap_err().to_string();
    assert!(message.contains("0 at variable 2") && message.contains("`positive`"), "{message}");
}

/// Plain LARS has no drops, so a free variable is one more that never leaves.
#[test]
fn plain_lars_takes_free_variables_too() {
    for seed in 0..20 {
        let (x, b) = problem(seed, 20, 10);
        let gram = x.transpose() * &x;
        let options = LarsOptions::default().with(|it| {
            it.method = LarsMethod::Lars;
            it.penalty_factors = factors(10, &[2, 9]);
        });
        let path = lars_path(&gram, &b, &options, &()).unwrap();
        assert_eq!((path.knots().len(), path.ended()), (9, EndReason::Complete));
        assert!(path.certificate().kkt < 1e-12);
        let end = ridge_solution(&gram, &b, &(0..10).collect::<Vec<_>>(), 0.0);
        assert!(largest_difference(&path.last().coefficients, &end, 10) < 1e-9);
    }
}

#[test]
fn a_general_quadratic_has_free_variables_too() {
    let (x, b) = problem(5, 20, 6);
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(6, &[3]));
    let expected = lars_path(&(x.transpose() * &x), &b, &options, &()).unwrap();
    let linear: Vec<f64> = b.iter().map(|b| -2.0 * b).collect();
    let skew = Mat::from_fn(6, 6, |i, j| i as f64 - j as f64);
    let path = quadratic_path((x.transpose() * &x + skew).as_ref(), &linear, &options, &()).unwrap();
    assert_eq!((path.free(), path.order_of_entry()), (expected.free(), expected.order_of_entry()));
    assert!(largest_difference(&path.last().coefficients, &expected.last().coefficients, 6) < 1e-9);
}

#[test]
fn a_path_read_from_its_knots_knows_its_free_variables() {
    let (x, b) = problem(9, 30, 8);
    let options = LarsOptions::default().with(|it| it.penalty_factors = factors(8, &[6, 1]));
    let path = lars_path(&(x.transpose() * &x), &b, &options, &()).unwrap();
    let again = Path::from_knots(path.knots().to_vec(), path.ended(), path.max_nonzeros()).unwrap();
    assert_ne!(again, path);
    assert_eq!(again.with_free(vec![6, 1, 6]), path);
}
