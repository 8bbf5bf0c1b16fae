//! Samples without a label: they have weight 0 in the loss, and take part in the manifold term alone.

use crate::common::{gaussian, rng};
use menet::faer::Mat;
use menet::operator::Definiteness;
use menet::plan::{GramRequest, RouteRequest};
use menet::sparse::SparseMatrix;
use menet::targets::TargetSpread;
use menet::{Dataset, Error, Men, MenParams, fit};
use rand::RngExt;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|class| class.to_string()).collect()
}

/// Gaussian classes; every third sample has no label.
fn partly(seed: u64, n: usize, p: usize, classes: usize) -> (Mat<f64>, Vec<Option<usize>>) {
    let mut rng = rng(seed);
    let mut x = gaussian(&mut rng, n, p);
    for i in 0..n {
        x[(i, (i % classes) % p)] += 2.0;
    }
    (x, (0..n).map(|i| (i / classes % 3 != 2).then_some(i % classes)).collect())
}

fn off(a: &Men, b: &Men) -> f64 {
    let (w, v) = (a.projection().to_dense(), b.projection().to_dense());
    assert_eq!(w.shape(), v.shape());
    (&w - &v).norm_max() / v.norm_max()
}

/// Weights over six orders of magnitude and a third of the samples without a label: every route gives the same finite, certified model.
#[test]
fn any_weights_are_definite_and_three_routes_give_one_w() {
    let count = if std::env::var_os("MENET_SOAK").is_some() { 20_000 } else { 2_000 };
    for seed in 0..count {
        let mut rng = rng(90_000 + seed);
        let (n, p) = (rng.random_range(9..24), rng.random_range(3..16));
        let classes = rng.random_range(2..4);
        let (x, codes) = partly(seed, n, p, classes);
        let labelled = codes.iter().flatten().count();
        let weights: Vec<f64> = (0..labelled).map(|_| 10f64.powf(rng.random_range(-3.0..3.0))).collect();
        let data = Dataset::partly_labelled(x.as_ref(), &codes, names(classes)).unwrap();
        let data = data.with_weights(&weights).unwrap();
        let params = MenParams::default().with(|it| {
            it.nonzeros = Some(3);
            it.manifold.alpha = 10f64.powf(rng.random_range(-2.0..2.0));
            it.manifold.beta = 10f64.powf(rng.random_range(-2.0..2.0));
            it.manifold.kappa = rng.random_range(0.0..1.0);
            it.target.spread = if rng.random_bool(0.5) { TargetSpread::All } else { TargetSpread::Classes };
        });
        let fits = [
            (RouteRequest::Dense, GramRequest::Full),
            (RouteRequest::Dense, GramRequest::Columns),
            (RouteRequest::Conjugate, GramRequest::Full),
            (RouteRequest::Conjugate, GramRequest::Columns),
        ]
        .map(|(route, gram)| {
            let params = params.clone().with(|it| (it.compute.route, it.compute.gram) = (route, gram));
            fit(&data, &params, &()).unwrap_or_else(|error| panic!("{seed}: {error}"))
        });
        for men in &fits {
            assert!(men.projection().to_dense().is_all_finite(), "{seed}");
            assert!(men.paths().iter().all(|path| path.certificate().kkt <= 1e-9), "{seed}");
            let off = off(men, &fits[0]);
            assert!(off < 1e-7, "{seed}: {off:e}");
        }
    }
}

#[test]
fn without_a_manifold_term_they_change_nothing() {
    let (x, codes) = partly(7, 40, 12, 3);
    let params = MenParams::default().with(|it| {
        (it.manifold.alpha, it.penalty.standardize) = (0.0, false);
        it.nonzeros = Some(5);
    });
    let rows: Vec<usize> = (0..40).filter(|&i| codes[i].is_some()).collect();
    let alone = Mat::from_fn(rows.len(), 12, |i, j| x[(rows[i], j)]);
    let labels: Vec<usize> = rows.iter().filter_map(|&i| codes[i]).collect();
    let alone = fit(&Dataset::from_owned(alone, &labels).unwrap(), &params, &()).unwrap();
    for route in [RouteRequest::Dense, RouteRequest::Conjugate] {
        let params = params.clone().with(|it| it.compute.route = route);
        let data = Dataset::partly_labelled(x.as_ref(), &codes, names(3)).unwrap();
        assert_eq!(data.samples() + data.unlabelled(), 40);
        let men = fit(&data, &params, &()).unwrap();
        assert!(off(&men, &alone) < 1e-10, "{route:?}");
        let with_term = fit(&data, &params.with(|it| it.manifold.alpha = 1.0), &()).unwrap();
        assert!(off(&with_term, &alone) > 1e-4);
    }
}

#[test]
fn dense_and_sparse_samples_give_the_same() {
    let (x, codes) = partly(8, 60, 15, 3);
    let x = Mat::from_fn(60, 15, |i, j| x[(i, j)].round());
    let sparse = SparseMatrix::from_dense(x.as_ref()).unwrap();
    let params = MenParams::default().with(|it| {
        it.nonzeros = Some(5);
        it.target.spread = TargetSpread::All;
    });
    let dense = fit(&Dataset::partly_labelled(x.as_ref(), &codes, names(3)).unwrap(), &params, &()).unwrap();
    let data = Dataset::partly_sparse(0, sparse, &codes, names(3)).unwrap();
    assert!(data.sparse().is_some());
    assert!(off(&fit(&data, &params, &()).unwrap(), &dense) < 1e-9);
}

#[test]
fn groups_far_from_any_label_do_no_harm() {
    // Two clouds without any label, far away: A has eigenvalues of 0.
    let (mut x, mut codes) = partly(9, 60, 8, 2);
    for i in 30..60 {
        codes[i] = None;
        (0..8).for_each(|j| x[(i, j)] += if i < 45 { 1e3 } else { -1e3 });
    }
    let data = Dataset::partly_labelled(x.as_ref(), &codes, names(2)).unwrap();
    let fits = [RouteRequest::Dense, RouteRequest::Conjugate].map(|route| {
        let params = MenParams::default().with(|it| (it.compute.route, it.nonzeros) = (route, Some(4)));
        fit(&data, &params, &()).unwrap()
    });
    assert!(off(&fits[0], &fits[1]) < 1e-7);
    assert!(fits.iter().all(|men| men.paths().iter().all(|path| path.certificate().kkt <= 1e-9)));
    assert!(fits[0].doubts().iter().any(|doubt| doubt.contains("label")), "{:?}", fits[0].doubts());
}

#[test]
fn what_cannot_be_used_is_refused() {
    let (x, codes) = partly(10, 12, 4, 2);
    assert!(matches!(
        Dataset::partly_labelled(x.as_ref(), &[None; 12], names(2)),
        Err(Error::Classes { found: 0, samples: 12 })
    ));
    assert!(Dataset::partly_labelled(x.as_ref(), &codes[1..], names(2)).is_err());
    // A class that no labelled sample is of.
    let message = Dataset::partly_labelled(x.as_ref(), &codes, names(3)).unwrap_err().to_string();
    assert!(message.contains("\"2\""), "{message}");
    let data = Dataset::partly_labelled(x.as_ref(), &codes, names(2)).unwrap();
    let floor = MenParams::default().with(|it| it.manifold.definiteness = Definiteness::Floor);
    let message = fit(&data, &floor, &()).unwrap_err().to_string();
    assert!(message.contains("floor") && message.contains("label"), "{message}");
}

#[test]
fn the_plan_counts_samples_without_a_label() {
    let (x, mut codes) = partly(3, 6_000, 5, 2);
    codes[40..].fill(None);
    let data = Dataset::partly_labelled(x.as_ref(), &codes, names(2)).unwrap();
    let plan = menet::Plan::new(&data, &MenParams::default()).unwrap();
    assert_eq!(plan.shape.samples, 6_000);
    // A dense A would have 6,000 x 6,000 entries.
    assert!(plan.bytes < 8.0 * 6_000.0 * 6_000.0, "{}", plan.bytes);
}
