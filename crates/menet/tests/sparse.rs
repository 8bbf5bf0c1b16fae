//! Sparse data: the same answer dense and sparse, whichever way it is computed.

use crate::common;
use faer::Mat;
use menet::neighbors::NeighborSearch;
use menet::operator::Definiteness;
use menet::patches;
use menet::plan::RouteRequest;
use menet::sparse::SparseMatrix;
use menet::targets::TargetKind;
use menet::{Dataset, Error, Men, MenParams, Named, fit};
use rand::RngExt;

/// Counts and others at a fifth of the places, with all that is awkward: a constant and an empty column, a full one far
/// from 0, two alike, an empty row, a class of one sample.
fn awkward(n: usize, p: usize) -> (Mat<f64>, Vec<usize>) {
    let rng = &mut common::rng(7);
    let labels: Vec<usize> = (0..n).map(|i| if i == 11 { 3 } else { i % 3 }).collect();
    let mut x = Mat::from_fn(n, p, |i, j| {
        let rate = if j % 4 == labels[i] { 0.5 } else { 0.15 };
        let value = if j % 2 == 0 { rng.random_range(1..4) as f64 } else { common::normal(rng) };
        if rng.random_bool(rate) { value } else { 0.0 }
    });
    for i in 0..n {
        (x[(i, 1)], x[(i, 2)], x[(i, 5)]) = (0.1, 0.0, 1000.0 + common::normal(rng));
        x[(i, 9)] = x[(i, 8)];
    }
    x.row_mut(4).fill(0.0);
    (x[(4, 1)], x[(4, 5)]) = (0.1, 999.0);
    (x, labels)
}

fn sparse(x: &Mat<f64>, labels: &[usize]) -> Dataset<'static> {
    Dataset::from_sparse_beyond(0, SparseMatrix::from_dense(x.as_ref()).unwrap(), labels).unwrap()
}

fn agree(dense: &Men, sparse: &Men, what: &str) {
    let (a, b) = (dense.projection(), sparse.projection());
    let difference = common::relative_difference(&a.to_dense(), &b.to_dense());
    assert!(difference < 1e-8, "{what}: {difference:e}");
    for (a, b) in a.axes().iter().zip(b.axes()) {
        assert_eq!(a.indices(), b.indices(), "{what}");
    }
    for certificate in sparse.certificates() {
        assert!(certificate.kkt < 1e-9 && certificate.scaled < 1e-9, "{what}: {certificate:?}");
    }
    let (a, b) = (dense.report().definiteness, sparse.report().definiteness);
    assert!((a.kappa_used - b.kappa_used).abs() < 1e-8, "{what}");
}

#[test]
fn two_ways_one_answer() {
    let (x, labels) = awkward(120, 60);
    let (dense, sparse) = (Dataset::new(x.as_ref(), &labels).unwrap(), sparse(&x, &labels));
    assert!(sparse.sparse().is_some());
    let base = MenParams::paper().with(|it| it.nonzeros = Some(25));
    // Of the target `whitened` r differs where columns depend on each other: see below.
    let centres = base.clone().with(|it| it.target.kind = TargetKind::Centres);
    let mut variants = vec![
        centres.clone().with(|it| it.penalty.standardize = false),
        centres.clone().with(|it| it.manifold.alpha = 0.0),
        centres.clone().with(|it| it.manifold.definiteness = Definiteness::Floor),
        centres.clone().with(|it| {
            it.components = Some(2);
            it.patch.k_within = 500;
            it.patch.k_between = 60;
        }),
        centres.clone().with(|it| it.compute.route = RouteRequest::Dense),
    ];
    for rule in patches::REGISTRY {
        let definiteness = if rule.has_kappa() { Definiteness::Shrink } else { Definiteness::Floor };
        variants.push(centres.clone().with(|it| {
            it.patch.kind = rule.name().to_owned();
            it.manifold.definiteness = definiteness;
        }));
    }
    for params in variants {
        let expected = fit(&dense, &params, &()).unwrap();
        let found = fit(&sparse, &params, &()).unwrap();
        agree(&expected, &found, &format!("{} {params:?}", params.patch.kind));
        let conjugate = params.manifold.definiteness != Definiteness::Floor
            && params.compute.route != RouteRequest::Dense;
        assert_eq!(found.report().cg_residual.is_some(), conjugate);
        assert!(found.report().cg_residual.is_none_or(|residual| residual < 1e-11));
        let z = found.transform(x.as_ref()).unwrap();
        assert_eq!(found.projection().project(&sparse).unwrap(), z, "to the last bit");
    }
}

#[test]
fn whitened_targets_agree_where_ranks_do() {
    // More samples than variables, and fewer.
    for (n, p) in [(150, 40), (40, 90)] {
        let rng = &mut common::rng(n as u64);
        let labels: Vec<usize> = (0..n).map(|i| i % 7).collect();
        let x = Mat::from_fn(n, p, |i, j| {
            let shown = rng.random_bool(if (i + j) % 7 == 0 { 0.6 } else { 0.2 });
            if shown { 1.0 + common::normal(rng) } else { 0.0 }
        });
        let params = MenParams::paper().with(|it| it.nonzeros = Some(12));
        let expected = fit(&Dataset::new(x.as_ref(), &labels).unwrap(), &params, &()).unwrap();
        let found = fit(&sparse(&x, &labels), &params, &()).unwrap();
        agree(&expected, &found, &format!("{n} x {p}"));
    }
}

#[test]
fn classes_without_spread_are_not_whitened() {
    let labels = [0, 1, 2, 0, 1, 2];
    let x = Mat::from_fn(6, 4, |i, j| [[0.0, 1.0, 0.0, 3.0], [4.0, 0.0, 0.0, 0.0], [0.0; 4]][i % 3][j]);
    for &target in TargetKind::ALL {
        let params = MenParams::paper().with(|it| it.target.kind = target);
        let expected = fit(&Dataset::new(x.as_ref(), &labels).unwrap(), &params, &()).unwrap();
        agree(&expected, &fit(&sparse(&x, &labels), &params, &()).unwrap(), target.name());
    }
}

#[test]
fn small_sparse_data_are_dense_data() {
    let (x, labels) = awkward(60, 30);
    let small = Dataset::from_sparse(SparseMatrix::from_dense(x.as_ref()).unwrap(), &labels).unwrap();
    let dense = Dataset::new(x.as_ref(), &labels).unwrap();
    let params = MenParams::paper().with(|it| it.nonzeros = Some(10));
    let (a, b) = (fit(&dense, &params, &()).unwrap(), fit(&small, &params, &()).unwrap());
    assert_eq!((a.projection(), a.paths()), (b.projection(), b.paths()), "to the last bit");
}

#[test]
fn same_bits_on_any_number_of_threads() {
    let (x, labels) = awkward(300, 90);
    let data = sparse(&x, &labels);
    let params = MenParams::paper().with(|it| it.nonzeros = Some(20));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&data, &params, &()).unwrap())
    };
    let one = on(1);
    for threads in [2, 4] {
        let many = on(threads);
        assert_eq!((one.projection(), one.paths()), (many.projection(), many.paths()), "{threads} threads");
        assert_eq!(
            (one.report().definiteness, one.report().cg_residual),
            (many.report().definiteness, many.report().cg_residual)
        );
    }
}

#[test]
fn what_needs_dense_data_says_so() {
    let (x, labels) = awkward(40, 20);
    let data = sparse(&x, &labels);
    let message = |error: Error| error.to_string();
    let rank = MenParams::paper().with(|it| it.pca_rank = Some(3));
    let refused = message(fit(&data, &rank, &()).unwrap_err());
    assert!(refused.contains("`pca_rank` is 3 with sparse samples, 40 x 20"), "{refused}");
    let approximate = MenParams::paper().with(|it| it.patch.search = NeighborSearch::Approximate);
    let refused = message(fit(&data, &approximate, &()).unwrap_err());
    assert!(refused.contains("`patch.search` is \"approximate\" with sparse samples"), "{refused}");
    assert!(refused.contains("\"exact\" for data that stay sparse"), "{refused}");
    for method in menet::Method::all() {
        match method.reducer().fit(&data, Some(1), &()) {
            Ok(_) => assert!(method.name().starts_with("men"), "{}", method.name()),
            Err(error) => assert!(matches!(error, Error::Sparse { rows: 40, .. }), "{}", method.name()),
        }
    }
    let one =
        Dataset::from_sparse_beyond(0, SparseMatrix::from_dense(x.as_ref()).unwrap(), &[1; 40]).unwrap();
    assert!(matches!(fit(&one, &MenParams::paper(), &()), Err(Error::Classes { found: 1, .. })));
}
