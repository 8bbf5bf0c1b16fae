//! What every rule promises.

use faer::{Mat, mat};

use super::*;
use crate::named::Named;

/// Samples of `sizes` of each class, around means `apart` from each other, in an order that mixes the classes.
fn sample(sizes: &[usize], d: usize, apart: f64) -> (Mat<f64>, Vec<usize>) {
    let mut classes: Vec<usize> = sizes.iter().enumerate().flat_map(|(c, &size)| vec![c; size]).collect();
    let n = classes.len();
    classes = (0..n).map(|i| (i * 7) % n).map(|i| classes[i]).collect();
    let z = Mat::from_fn(n, d, |i, k| {
        let noise = ((i * 7919 + k * 104_729 + i * k * 31 + i * i * 17) % 1009) as f64 / 500.0 - 1.0;
        noise + apart * ((classes[i] * (k + 1)) % sizes.len()) as f64
    });
    (z, classes)
}

fn every_params() -> Vec<RuleParams> {
    let mut all = Vec::new();
    for &kind in RuleKind::ALL {
        for priors in [Priors::Train, Priors::Equal] {
            all.push(RuleParams { kind, priors, ..RuleParams::default() });
        }
    }
    for (neighbors, metric) in [(1, Metric::Cosine), (3, Metric::Euclidean), (4, Metric::Cosine)] {
        for priors in [Priors::Train, Priors::Equal] {
            all.push(RuleParams { kind: RuleKind::Nearest, neighbors, metric, priors });
        }
    }
    all
}

fn learned(params: &RuleParams, z: &Mat<f64>, classes: &[usize], count: usize) -> LearnedRule {
    learn(params, &Projected { z: z.as_ref(), classes, count, weights: None, covariance: None }).unwrap()
}

fn check_rows(rule: &LearnedRule, z: MatRef<'_, f64>, what: &str) {
    let classes = rule.classify(z).unwrap();
    let (values, logs) = (rule.decision_values(z).unwrap(), rule.log_probabilities(z).unwrap());
    for i in 0..z.nrows() {
        let total: f64 = logs.row(i).iter().map(|log| log.exp()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{what}, row {i}: {total}");
        for matrix in [&values, &logs] {
            assert!(matrix.row(i).iter().all(|x| x.is_finite()), "{what}, row {i}: {:?}", matrix.row(i));
            let line: Vec<f64> = matrix.row(i).iter().copied().collect();
            assert_eq!(largest(&line), classes[i], "{what}, row {i}: {line:?}");
        }
        // Probabilities have the same largest entry as their logarithms.
        let line: Vec<f64> = logs.row(i).iter().map(|log| log.exp()).collect();
        assert_eq!(largest(&line), classes[i], "{what}, row {i}: {line:?}");
    }
}

#[test]
fn contract_of_every_rule() {
    for params in every_params() {
        for (sizes, d, apart) in [
            (&[9, 4, 6][..], 2, 1.5),
            (&[5, 5], 1, 2.0),
            (&[6, 1, 7, 2], 3, 1.0),
            (&[4, 8], 5, 30.0),
            (&[3, 3], 2, 0.0),
        ] {
            let (z, classes) = sample(sizes, d, apart);
            let rule = learned(&params, &z, &classes, sizes.len());
            assert_eq!((rule.kind(), rule.dimension(), rule.class_count()), (params.kind, d, sizes.len()));
            let (asked, _) = sample(&[10, 10, 10], d, 0.7 * apart);
            let what = format!("{params:?} {sizes:?}");
            check_rows(&rule, asked.as_ref(), &what);
            check_rows(&rule, z.as_ref(), &what);
            // Whatever the scale: far away, with or without offset.
            for far in [1e3, 1e30, 1e98] {
                check_rows(&rule, (&asked * faer::Scale(far)).as_ref(), &what);
            }
            for scale in [1e-150, 1e-9, 1e9, 1e98] {
                let z = &z * faer::Scale(scale);
                let rule = learned(&params, &z, &classes, sizes.len());
                check_rows(&rule, (&asked * faer::Scale(scale)).as_ref(), &what);
                check_rows(&rule, asked.as_ref(), &what);
            }
            // A row does not depend on the others.
            let one = rule.log_probabilities(asked.subrows(7, 1)).unwrap();
            assert_eq!(one.row(0), rule.log_probabilities(asked.as_ref()).unwrap().row(7));
        }
    }
}

#[test]
fn scale_does_not_matter_to_well_posed_rules() {
    let (z, classes) = sample(&[9, 4, 6], 2, 1.5);
    let (asked, _) = sample(&[10, 10, 10], 2, 1.0);
    for params in every_params() {
        let expected = learned(&params, &z, &classes, 3).log_probabilities(asked.as_ref()).unwrap();
        for scale in [2.0_f64.powi(-60), 1024.0, 2.0_f64.powi(100)] {
            let rule = learned(&params, &(&z * faer::Scale(scale)), &classes, 3);
            let found = rule.log_probabilities((&asked * faer::Scale(scale)).as_ref()).unwrap();
            assert!((&found - &expected).norm_max() < 1e-8, "{params:?} {scale}");
        }
    }
}

#[test]
fn priors_shift_probabilities_their_way() {
    let (z, classes) = sample(&[9, 5, 6], 2, 1.0);
    let (asked, _) = sample(&[8, 8, 8], 2, 1.0);
    for params in every_params() {
        let with = |priors: &[f64]| {
            let params = RuleParams { priors: Priors::Given(priors.to_vec()), ..params.clone() };
            let rule = learned(&params, &z, &classes, 3);
            check_rows(&rule, asked.as_ref(), &format!("{params:?}"));
            rule.log_probabilities(asked.as_ref()).unwrap()
        };
        let (even, second) = (with(&[1.0, 1.0, 1.0]), with(&[0.2, 0.6, 0.2]));
        let train = with(&[9.0, 5.0, 6.0]);
        let rule = learned(&RuleParams { priors: Priors::Train, ..params.clone() }, &z, &classes, 3);
        assert!((&train - &rule.log_probabilities(asked.as_ref()).unwrap()).norm_max() < 1e-12, "{params:?}");
        for i in 0..asked.nrows() {
            assert!(second[(i, 1)] > even[(i, 1)] && second[(i, 0)] < even[(i, 0)], "{params:?}, row {i}");
            let odds = (second[(i, 1)] - second[(i, 2)]) - (even[(i, 1)] - even[(i, 2)]);
            // Of the linear rules, what the priors say is tempered like the rest.
            let t = match &rule {
                LearnedRule::Nearest(_) => 1.0,
                LearnedRule::Centroid(rule) => rule.temperature,
                LearnedRule::Gaussian(rule) => rule.temperature,
            };
            assert!(
                (odds - 3.0_f64.ln() / t).abs() < 1e-10,
                "{params:?}: the odds change by the priors' ratio"
            );
        }
    }
}

#[test]
fn names_of_classes_and_order_of_rows_do_not_matter() {
    let (z, classes) = sample(&[7, 1, 6, 4], 3, 1.2);
    let n = classes.len();
    let (asked, _) = sample(&[9, 9, 9], 3, 1.0);
    let other = [2, 0, 3, 1];
    for params in every_params() {
        let expected = learned(&params, &z, &classes, 4).log_probabilities(asked.as_ref()).unwrap();
        let renamed: Vec<usize> = classes.iter().map(|&c| other[c]).collect();
        let found = learned(&params, &z, &renamed, 4).log_probabilities(asked.as_ref()).unwrap();
        for c in 0..4 {
            assert!((found.col(other[c]) - expected.col(c)).norm_max() < 1e-9, "{params:?}");
        }
        let order: Vec<usize> = (0..n).map(|i| (i * 5 + 3) % n).collect();
        let moved = Mat::from_fn(n, 3, |i, k| z[(order[i], k)]);
        let moved_classes: Vec<usize> = order.iter().map(|&i| classes[i]).collect();
        let found = learned(&params, &moved, &moved_classes, 4).log_probabilities(asked.as_ref()).unwrap();
        assert!((&found - &expected).norm_max() < 1e-9, "{params:?}");
    }
}

#[test]
fn awkward_samples_give_numbers() {
    let far = 1e100;
    let cases: Vec<(&str, Mat<f64>, Vec<usize>)> = vec![
        ("one sample per class", mat![[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], vec![0, 1, 2]),
        ("duplicates", mat![[0.1], [0.1], [0.1], [0.7], [0.7], [0.7]], vec![0, 0, 0, 1, 1, 1]),
        ("duplicates of two classes", mat![[0.1], [0.1], [0.7], [0.1], [0.1], [0.7]], vec![0, 0, 0, 1, 1, 1]),
        ("all equal", Mat::from_fn(6, 2, |_, _| 0.3), vec![0, 0, 0, 1, 1, 1]),
        ("all zero", Mat::zeros(6, 2), vec![0, 0, 0, 1, 1, 1]),
        ("equal means", mat![[1.0], [-1.0], [2.0], [-2.0]], vec![0, 0, 1, 1]),
        ("a far sample", mat![[0.0], [1.0], [far], [5.0], [6.0]], vec![0, 0, 0, 1, 1]),
        ("a far class", mat![[0.0], [1.0], [0.5], [5.0], [6.0], [far]], vec![0, 0, 0, 1, 1, 2]),
        ("one pair", mat![[0.0], [1.0], [4.0]], vec![0, 0, 1]),
        ("a constant axis", mat![[0.0, 3.0], [1.0, 3.0], [4.0, 3.0], [5.0, 3.0]], vec![0, 0, 1, 1]),
        ("one class", mat![[0.0], [1.0], [4.0]], vec![0, 0, 0]),
    ];
    for params in every_params() {
        for (what, z, classes) in &cases {
            let count = classes.iter().max().unwrap() + 1;
            let rule = learned(&params, z, classes, count);
            check_rows(&rule, z.as_ref(), &format!("{what}, {params:?}"));
            let asked = Mat::from_fn(5, z.ncols(), |i, k| [0.0, 0.4, -3.0, 1e100, -1e100][(i + k) % 5]);
            check_rows(&rule, asked.as_ref(), &format!("{what}, {params:?}"));
        }
        // One far class makes T large, so that priors decide among the others; without them, distances still do.
        let (_, z, classes) = &cases[7];
        if params == RuleParams::default() {
            let near = learned(&params, z, classes, 3).classify(mat![[0.4], [5.4]].as_ref()).unwrap();
            assert_eq!(near, [0, 1]);
        }
    }
}

#[test]
fn a_far_sample_belongs_to_the_side_it_is_on() {
    let z = mat![[0.0, 0.0], [1.0, 0.5], [0.0, 1.0], [5.0, 0.0], [6.0, 0.5], [5.0, 1.0f64]];
    for kind in [RuleKind::Centroid, RuleKind::Gaussian] {
        let params = RuleParams { kind, ..RuleParams::default() };
        let rule = learned(&params, &z, &[0, 0, 0, 1, 1, 1], 2);
        let asked = mat![[-1e90, 0.0], [1e90, 0.0], [1e20, 0.0], [-1e20, 0.0]];
        assert_eq!(rule.classify(asked.as_ref()).unwrap(), [0, 1, 1, 0], "{kind:?}");
    }
}

#[test]
fn probabilities_are_honest_on_new_samples() {
    // Where classes overlap, what is said with probability p is right in about p of the cases.
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    let mut rng = rand_pcg::Pcg64::seed_from_u64(5);
    let mut draw = |n: usize| {
        let classes: Vec<usize> = (0..n).map(|i| i % 3).collect();
        let z = Mat::from_fn(n, 2, |i, k| {
            let noise: f64 = StandardNormal.sample(&mut rng);
            noise + if classes[i] == k { 1.8 } else { 0.0 }
        });
        (z, classes)
    };
    let ((z, classes), (asked, truth)) = (draw(240), draw(3000));
    for params in every_params().into_iter().filter(|params| params.metric == Metric::Euclidean) {
        let rule = learned(&params, &z, &classes, 3);
        let logs = rule.log_probabilities(asked.as_ref()).unwrap();
        let (mut said, mut right, mut loss) = (0.0, 0.0, 0.0);
        for (i, &given) in rule.classify(asked.as_ref()).unwrap().iter().enumerate() {
            said += logs[(i, given)].exp() / 3000.0;
            right += f64::from(u8::from(given == truth[i])) / 3000.0;
            loss -= logs[(i, truth[i])] / 3000.0;
        }
        assert!((said - right).abs() < 0.06, "{params:?}: said {said}, right {right}");
        assert!(loss < 0.9 * 3.0_f64.ln(), "{params:?}: {loss}");
    }
}

#[test]
fn wrong_input_is_an_error() {
    let (z, classes) = sample(&[4, 4], 2, 1.0);
    for params in every_params() {
        let run = |z: MatRef<'_, f64>, classes: &[usize], count: usize| {
            learn(&params, &Projected { z, classes, count, weights: None, covariance: None })
        };
        assert!(matches!(run(z.as_ref(), &classes[1..], 2), Err(Error::Size { .. })));
        assert!(matches!(run(z.as_ref(), &classes, 1), Err(Error::Parameter { .. })));
        assert!(matches!(run(z.as_ref(), &classes, 3), Err(Error::Degenerate(_))));
        assert!(matches!(run(z.subrows(0, 0), &[], 2), Err(Error::Empty { .. })));
        assert!(matches!(run(z.subcols(0, 0), &classes, 2), Err(Error::Empty { .. })));
        let mut bad = z.clone();
        for value in [f64::NAN, f64::INFINITY, 1e150] {
            bad[(3, 1)] = value;
            assert!(matches!(
                run(bad.as_ref(), &classes, 2),
                Err(Error::NotFinite { row: 3, column: 1, .. })
            ));
        }
        let rule = run(z.as_ref(), &classes, 2).unwrap();
        assert!(matches!(rule.classify(bad.as_ref()), Err(Error::NotFinite { .. })));
        assert!(matches!(
            rule.log_probabilities(z.subcols(0, 1)),
            Err(Error::Size { given: 1, expected: 2, .. })
        ));
        assert!(rule.classify(z.subrows(0, 0)).unwrap().is_empty());
    }
    let run = |params: RuleParams| {
        learn(
            &params,
            &Projected { z: z.as_ref(), classes: &classes, count: 2, weights: None, covariance: None },
        )
    };
    assert!(run(RuleParams { neighbors: 0, ..RuleParams::default() }).is_err());
    assert!(run(RuleParams { priors: Priors::Given(vec![1.0]), ..RuleParams::default() }).is_err());
}

#[test]
fn results_do_not_depend_on_threads() {
    let (z, classes) = sample(&[90, 40, 60], 4, 0.5);
    for params in every_params() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let rule = learned(&params, &z, &classes, 3);
                let logs = rule.log_probabilities(z.as_ref()).unwrap();
                (rule, logs)
            })
        };
        assert_eq!(on(1), on(3), "{params:?}");
    }
}
