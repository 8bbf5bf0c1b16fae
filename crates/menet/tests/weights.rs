//! Weights of samples: an integer weight is that many copies of a sample, 0 is none, and only ratios matter.

use crate::common::clusters;
use menet::faer::Mat;
use menet::operator::Definiteness;
use menet::plan::{GramRequest, RouteRequest};
use menet::refit::Refit;
use menet::rules::{Priors, RuleKind};
use menet::sparse::SparseMatrix;
use menet::targets::TargetKind;
use menet::{Dataset, Men, MenParams, Named, fit};

/// The weight of every sample: 0, 1, 2, 3.
fn weight(i: usize) -> usize {
    (i * 7 + i * i) % 11 % 4
}

fn labels(data: &Dataset<'_>, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|&i| data.classes()[data.class_of(i)].clone()).collect()
}

/// Some rows, dense or sparse.
fn some(data: &Dataset<'_>, rows: &[usize], sparse: bool) -> Dataset<'static> {
    let x = data.x().unwrap();
    let x = Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]);
    if sparse {
        let x = SparseMatrix::from_dense(x.as_ref()).unwrap();
        return Dataset::from_sparse_beyond(0, x, &labels(data, rows)).unwrap();
    }
    Dataset::from_owned(x, &labels(data, rows)).unwrap()
}

/// The samples with weights, and the samples as often as their weight says, in another order.
fn pair(data: &Dataset<'_>, sparse: bool) -> [Dataset<'static>; 2] {
    let n = data.samples();
    let all: Vec<usize> = (0..n).collect();
    let weights: Vec<f64> = all.iter().map(|&i| weight(i) as f64).collect();
    let mut repeated: Vec<usize> = all.iter().flat_map(|&i| vec![i; weight(i)]).collect();
    let size = repeated.len();
    repeated = (0..size).map(|k| repeated[(k * 17 + 3) % size]).collect();
    [some(data, &all, sparse).with_weights(&weights).unwrap(), some(data, &repeated, sparse)]
}

fn close(a: &Men, b: &Men, what: &str) {
    let (w, v) = (a.projection().to_dense(), b.projection().to_dense());
    assert_eq!(w.shape(), v.shape(), "{what}");
    for k in 0..w.ncols() {
        let support = |w: &Mat<f64>| (0..w.nrows()).filter(|&j| w[(j, k)] != 0.0).collect::<Vec<_>>();
        assert_eq!(support(&w), support(&v), "{what}, axis {k}");
    }
    let off = (&w - &v).norm_max() / v.norm_max();
    assert!(off < 1e-10, "{what}: {off:e}");
    let off: f64 = a
        .projection()
        .mean()
        .iter()
        .zip(b.projection().mean())
        .map(|(a, b)| (a - b).abs() / (1.0 + b.abs()))
        .fold(0.0, f64::max);
    assert!(off < 1e-12, "{what}: means differ by {off:e}");
    assert!(a.paths().iter().all(|path| path.certificate().kkt < 1e-9), "{what}");
}

/// The decisions and probabilities of both on the same samples.
fn decide_alike(a: &Men, b: &Men, samples: &Dataset<'_>, what: &str) {
    let said = |men: &Men| {
        let z = men.projection().project(samples).unwrap();
        let rule = men.rule().unwrap();
        (rule.classify(z.as_ref()).unwrap(), rule.log_probabilities(z.as_ref()).unwrap())
    };
    let ((given, logs), (expected, expected_logs)) = (said(a), said(b));
    assert_eq!(given, expected, "{what}");
    let off = (logs - expected_logs).norm_max();
    assert!(off < 1e-6, "{what}: log-probabilities differ by {off:e}");
}

#[test]
fn integer_weights_are_repeated_rows_on_every_route() {
    // Whole numbers, so that dense and sparse sums are alike, and zeros; n > p and n < p.
    for (seed, classes, per_class, p) in [(50, 3, 12, 20), (51, 4, 9, 60), (52, 2, 16, 30)] {
        let data = clusters(seed, classes, per_class, p);
        let x = data.x().unwrap();
        let x = Mat::from_fn(x.nrows(), p, |i, j| (2.0 * x[(i, j)]).round());
        let all: Vec<usize> = (0..x.nrows()).collect();
        let data = Dataset::from_owned(x, &labels(&data, &all)).unwrap();
        for sparse in [false, true] {
            let [weighted, repeated] = pair(&data, sparse);
            for (route, gram) in [
                (RouteRequest::Dense, GramRequest::Full),
                (RouteRequest::Dense, GramRequest::Columns),
                (RouteRequest::Conjugate, GramRequest::Full),
                (RouteRequest::Conjugate, GramRequest::Columns),
            ] {
                if sparse && gram == GramRequest::Full {
                    continue;
                }
                for &target in TargetKind::ALL {
                    let params = MenParams::default().with(|it| {
                        (it.compute.route, it.compute.gram, it.target.kind) = (route, gram, target);
                        it.nonzeros = Some(6);
                    });
                    let what = format!("{seed} {sparse} {route:?} {gram:?} {target:?}");
                    let fits = [&weighted, &repeated].map(|data| fit(data, &params, &()).unwrap());
                    close(&fits[0], &fits[1], &what);
                    decide_alike(&fits[0], &fits[1], &data, &what);
                }
            }
        }
    }
}

#[test]
fn every_refit_rule_and_patch_counts_weights() {
    let data = clusters(53, 3, 14, 25);
    let [weighted, repeated] = pair(&data, false);
    for &refit in Refit::ALL {
        for &rule in RuleKind::ALL {
            for (voters, patch, panel_size, pca_rank, priors) in [
                (1, "dla", None, None, Priors::Train),
                (3, "lle", Some(7), None, Priors::Equal),
                (1, "laplacian", None, Some(9), Priors::Train),
            ] {
                let params = MenParams::default().with(|it| {
                    (it.refit.kind, it.rule.kind, it.rule.k) = (Some(refit), Some(rule), voters);
                    (it.panel_size, it.pca_rank, it.rule.priors) = (panel_size, pca_rank, priors.clone());
                    it.nonzeros = Some(5);
                    it.patch.kind = patch.to_owned();
                });
                let what = format!("{refit:?} {rule:?} {patch}");
                let fits = [&weighted, &repeated].map(|data| fit(data, &params, &()).unwrap());
                close(&fits[0], &fits[1], &what);
                decide_alike(&fits[0], &fits[1], &data, &what);
            }
        }
    }
}

#[test]
fn only_ratios_matter_and_equal_weights_change_nothing() {
    let data = clusters(54, 3, 12, 20);
    let params = MenParams::default().with(|it| it.nonzeros = Some(6));
    let plain = fit(&data, &params, &()).unwrap();
    for each in [1.0, 3.0, 1e-9] {
        let weighted = data.clone().with_weights(&vec![each; data.samples()]).unwrap();
        assert_eq!(fit(&weighted, &params, &()).unwrap().projection(), plain.projection());
    }
    let weights: Vec<f64> = (0..data.samples()).map(|i| 1.0 + (i % 3) as f64).collect();
    let scaled: Vec<f64> = weights.iter().map(|weight| 1e-12 * weight).collect();
    let fits = [weights, scaled]
        .map(|weights| fit(&data.clone().with_weights(&weights).unwrap(), &params, &()).unwrap());
    close(&fits[0], &fits[1], "scaled");
    assert!((fits[0].projection().to_dense() - plain.projection().to_dense()).norm_max() > 1e-3);
}

#[test]
fn a_copy_is_not_a_neighbour() {
    // Every sample twice is every sample once.
    let data = clusters(55, 3, 10, 15);
    let n = data.samples();
    let twice = some(&data, &(0..n).flat_map(|i| [i, i]).collect::<Vec<_>>(), false);
    let params = MenParams::default().with(|it| it.nonzeros = Some(6));
    let (once, twice) = (fit(&data, &params, &()).unwrap(), fit(&twice, &params, &()).unwrap());
    assert_eq!(once.projection(), twice.projection());
    assert_eq!(once.rule(), twice.rule());
}

#[test]
fn weights_that_cannot_be_used_are_refused() {
    let data = clusters(56, 2, 5, 4);
    let message = |weights: &[f64]| data.clone().with_weights(weights).unwrap_err().to_string();
    assert!(message(&[1.0; 9]).contains("weights"), "{}", message(&[1.0; 9]));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut weights = [1.0; 10];
        weights[3] = bad;
        let message = message(&weights);
        assert!(message.contains("sample 3 (counted from 0)") && message.contains("weights"), "{message}");
    }
    assert!(message(&[0.0; 10]).contains("every sample"));
    let of_first: Vec<f64> = data.class_indices().iter().map(|&class| class as f64).collect();
    assert!(message(&of_first).contains("class"), "{}", message(&of_first));
    let weights: Vec<f64> = (0..10).map(|i| 1.0 + i as f64).collect();
    let weighted = data.clone().with_weights(&weights).unwrap();
    // A policy that works on the spectrum of A takes weights too.
    let params = MenParams::default().with(|it| it.manifold.definiteness = Definiteness::Floor);
    let men = fit(&weighted, &params, &()).unwrap();
    assert!(men.report().definiteness.eigenvalues_changed > 0);
    assert!(men.paths().iter().all(|path| path.certificate().kkt < 1e-9));
}
