//! The trap at the heart of MEN: κ so large that A, or the minimum over Z, is not definite.

use crate::common;
use crate::common::clusters;
use faer::Side;
use menet::operator::{Definiteness, eigenvalue_bound};
use menet::patches::{PatchParams, rule};
use menet::{Alignment, Centred, Dataset, Error, Men, MenParams, Named, fit};

fn params(kappa: f64, definiteness: Definiteness) -> MenParams {
    MenParams::paper().with(|it| {
        it.manifold.kappa = kappa;
        it.manifold.definiteness = definiteness;
        it.nonzeros = Some(12);
    })
}

fn data() -> Dataset<'static> {
    clusters(1, 5, 14, 30)
}

fn alignment(data: &Dataset<'_>) -> Alignment {
    let patch = PatchParams::default().with(|it| {
        it.k_within = 5;
        it.k_between = 5;
        it.bandwidth = None;
        it.regularizer = 1e-3;
        it.dimension = None;
    });
    let pre = Centred::new(data, None).unwrap();
    Alignment::new(data, &pre, rule("dla").unwrap(), &patch, &()).unwrap()
}

fn smallest(data: &Dataset<'_>, kappa: f64) -> f64 {
    let dense = alignment(data).matrix(kappa).to_dense();
    dense.self_adjoint_eigenvalues(Side::Lower).unwrap()[0]
}

fn assert_certified(men: &Men) {
    assert!(men.projection().to_dense().col_iter().all(|w| w.iter().all(|x| x.is_finite())));
    assert!(men.certificates().iter().all(|c| c.kkt <= 1e-9 && c.scaled <= 1e-9));
    assert!(men.support_sizes().iter().all(|&k| k > 0 && k <= 12));
}

#[test]
fn shrink_finds_the_largest_kappa() {
    let data = data();
    let bound = eigenvalue_bound(1.0, 1.0, 0.5);
    for kappa in [0.1, 1.0, 50.0] {
        let men = fit(&data, &params(kappa, Definiteness::Shrink), &()).unwrap();
        assert_certified(&men);
        let report = men.report().definiteness;
        assert_eq!((report.policy, report.kappa_requested), (Definiteness::Shrink, kappa));
        assert!(report.kappa_used < kappa && report.kappa_used > 0.0);
        assert_eq!(report.eigenvalues_changed, 0);
        let lambda_min = smallest(&data, report.kappa_used);
        assert!((lambda_min + bound).abs() < 1e-9, "the bound is just met: {lambda_min} and -{bound}");
        assert!((report.lambda_min - lambda_min).abs() < 1e-9);
        assert!(smallest(&data, 1.01 * report.kappa_used) < -bound);
    }
}

#[test]
fn shrink_leaves_an_admissible_kappa_alone() {
    let men = fit(&data(), &params(1e-3, Definiteness::Shrink), &()).unwrap();
    assert_eq!(men.report().definiteness.kappa_used, 1e-3);
}

#[test]
fn floor_changes_and_counts_eigenvalues() {
    let data = data();
    let bound = eigenvalue_bound(1.0, 1.0, 0.5);
    for kappa in [0.1, 50.0] {
        let men = fit(&data, &params(kappa, Definiteness::Floor), &()).unwrap();
        assert_certified(&men);
        let report = men.report().definiteness;
        let dense = alignment(&data).matrix(kappa).to_dense();
        let values = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
        assert_eq!(report.eigenvalues_changed, values.iter().filter(|&&l| l < -bound).count());
        assert!(report.eigenvalues_changed > 0);
        assert_eq!(report.kappa_used, kappa);
        assert!((report.lambda_min - values[0]).abs() < 1e-9 * values[0].abs());
    }
}

#[test]
fn floor_and_shrink_agree_where_nothing_is_wrong() {
    let data = data();
    let shrunk = fit(&data, &params(1e-3, Definiteness::Shrink), &()).unwrap();
    let floored = fit(&data, &params(1e-3, Definiteness::Floor), &()).unwrap();
    assert_eq!(floored.report().definiteness.eigenvalues_changed, 0);
    let (a, b) = (shrunk.projection().to_dense(), floored.projection().to_dense());
    assert!(common::relative_difference(&a, &b) < 1e-10);
}

#[test]
fn error_names_the_largest_kappa_and_it_works() {
    let data = data();
    let error = fit(&data, &params(0.7, Definiteness::Error), &()).unwrap_err();
    let Error::Indefinite { kappa, largest_kappa: Some(largest), .. } = error else { panic!("{error}") };
    assert_eq!(kappa, 0.7);
    assert!(error.to_string().contains(&format!("{largest:?}")), "{error}");
    let men = fit(&data, &params(largest, Definiteness::Error), &()).unwrap();
    assert_eq!(men.report().definiteness.kappa_used, largest);
    assert_certified(&men);
    assert!(fit(&data, &params(1.01 * largest, Definiteness::Error), &()).is_err());
}

#[test]
fn the_singular_case_exactly() {
    // κ at which αL + βI is singular: its smallest eigenvalue is −β/α.
    let data = data();
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if smallest(&data, middle) > -1.0 { low = middle } else { high = middle }
    }
    for policy in [Definiteness::Shrink, Definiteness::Floor] {
        assert_certified(&fit(&data, &params(low, policy), &()).unwrap());
    }
    assert!(fit(&data, &params(low, Definiteness::Error), &()).is_err());
}

#[test]
fn a_floor_of_one_allows_no_repulsion() {
    let strict = params(0.5, Definiteness::Shrink).with(|it| it.manifold.floor = 1.0);
    let men = fit(&data(), &strict, &()).unwrap();
    assert!(men.report().definiteness.kappa_used < 1e-6, "{}", men.report().definiteness.kappa_used);
    assert_certified(&men);
}

#[test]
fn rules_without_kappa_need_no_policy() {
    for name in ["laplacian", "laplacian-binary-unsupervised", "lle", "ltsa"] {
        for &policy in Definiteness::ALL {
            let params = params(9.0, policy).with(|it| it.patch.kind = name.to_owned());
            let men = fit(&data(), &params, &()).unwrap();
            assert_certified(&men);
            assert_eq!(
                (men.report().definiteness.kappa_used, men.report().definiteness.eigenvalues_changed),
                (0.0, 0),
                "{name}"
            );
        }
    }
}

#[test]
fn lanczos_agrees_with_the_dense_spectrum() {
    // Above the size at which the spectrum is decomposed whole.
    let data = clusters(4, 6, 60, 12);
    for kappa in [0.0, 0.02, 0.5] {
        let matrix = alignment(&data).matrix(kappa);
        let dense = matrix.to_dense().self_adjoint_eigenvalues(Side::Lower).unwrap()[0];
        let lanczos = matrix.smallest_eigenvalue().unwrap();
        assert!((lanczos - dense).abs() < 1e-8 * matrix.spectrum_bound(), "{kappa}: {lanczos} and {dense}");
        assert!(lanczos <= dense + 1e-13 * matrix.spectrum_bound(), "a bound from below");
    }
}
