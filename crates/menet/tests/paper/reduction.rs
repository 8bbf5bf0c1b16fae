//! From the objective to a lasso: the matrix A, the stacked data, and the routes that avoid both.

use faer::{Mat, Side};
use menet::gram::GramForm;
use menet::lars::{LarsOptions, certify, lars_path};
use menet::neighbors::{NeighborScope, neighbors};
use menet::operator::{Route, eigenvalue_bound};
use menet::plan::{GramRequest, RouteRequest};
use menet::{Centred, Dataset, MenParams, fit};

use super::{eigen_root, inverse, laplacian, literal_a, literal_stack, small_problem};
use crate::common::{self, clusters, correlate, relative_difference};

#[test]
fn three_routes_one_w() {
    for (seed, ridge) in [(1, 0.1), (2, 0.0), (3, 2.0)] {
        let (data, params, x, y) = small_problem(seed, ridge);
        let dense =
            fit(&data, &params.clone().with(|it| it.compute.route = RouteRequest::Dense), &()).unwrap();
        let sparse =
            fit(&data, &params.clone().with(|it| it.compute.route = RouteRequest::Conjugate), &()).unwrap();
        assert_eq!(dense.report().definiteness.kappa_used, 0.01, "the problem must be definite as it is");
        assert!(sparse.report().cg_residual.unwrap() <= 1e-11, "{:?}", sparse.report().cg_residual);

        // The literal route: stacked data, eigenvalue square root, plain lasso, then Eq. updateW.
        let root = eigen_root(&literal_a(&laplacian(&data, &params, 0.01), 1.0, 1.0));
        let (stacked, response) = literal_stack(&root, &x, &y, ridge);
        let gram = stacked.transpose() * &stacked;
        let norms = Centred::new(&data, None).unwrap().norms().to_vec();
        let mut literal = Mat::zeros(14, 3);
        for k in 0..3 {
            let b = correlate(&stacked, &common::column(&response, k));
            let path = lars_path(&gram, &b, &LarsOptions::default(), &()).unwrap();
            for (j, value) in path.at_nonzeros(9).unwrap().coefficients.iter() {
                literal[(j, k)] = (1.0 + ridge).sqrt() * value / norms[j];
            }
        }
        let (dense, sparse) = (dense.projection().to_dense(), sparse.projection().to_dense());
        assert!(relative_difference(&literal, &dense) < 1e-8);
        assert!(relative_difference(&sparse, &dense) < 1e-8);
    }
}

#[test]
fn four_ways_one_answer() {
    let (data, params, ..) = small_problem(9, 0.1);
    let by = |route, gram| {
        fit(
            &data,
            &params.clone().with(|it| {
                it.compute.route = route;
                it.compute.gram = gram;
            }),
            &(),
        )
        .unwrap()
    };
    let first = by(RouteRequest::Dense, GramRequest::Full);
    let chosen = fit(&data, &params, &()).unwrap().report().regime.clone().unwrap();
    assert_eq!((chosen.route, chosen.gram), (Route::Dense, GramForm::Full), "{chosen}");
    for (asked, expected) in [
        ((RouteRequest::Dense, GramRequest::Columns), (Route::Dense, GramForm::Columns)),
        ((RouteRequest::Conjugate, GramRequest::Full), (Route::Conjugate, GramForm::Full)),
        ((RouteRequest::Conjugate, GramRequest::Columns), (Route::Conjugate, GramForm::Columns)),
    ] {
        let (route, gram) = asked;
        let other = by(route, gram);
        let regime = other.report().regime.as_ref().unwrap();
        assert_eq!((regime.route, regime.gram), expected);
        assert_eq!(other.report().cg_residual.is_some(), route == RouteRequest::Conjugate);
        let (a, b) = (first.projection().to_dense(), other.projection().to_dense());
        assert!(relative_difference(&a, &b) < 1e-8, "{route:?} {gram:?}");
        assert!(other.certificates().iter().all(|c| c.kkt < 1e-9 && c.scaled < 1e-9));
    }
}

#[test]
fn the_long_a_collapses() {
    for (alpha, beta) in [(1.0, 1.0), (0.3, 2.0), (5.0, 0.5)] {
        let (data, params, ..) = small_problem(7, 0.1);
        let l = laplacian(&data, &params, 0.02);
        let n = l.nrows();
        let identity: Mat<f64> = Mat::identity(n, n);
        let m = inverse(&(&l * faer::Scale(alpha) + &identity * faer::Scale(beta))) * faer::Scale(beta);
        let literal = literal_a(&l, alpha, beta);
        assert!((&literal - (&identity + (&identity - &m) * faer::Scale(beta))).norm_max() < 1e-12);
        assert!((&literal - (&identity + &l * &m * faer::Scale(alpha))).norm_max() < 1e-12);
        // Called asymmetric in the paper; with a symmetric L it is symmetric.
        assert!((&literal - literal.transpose()).norm_max() < 1e-12);
        let a = |lambda: f64| 1.0 + alpha * beta * lambda / (alpha * lambda + beta);
        let mut expected: Vec<f64> =
            l.self_adjoint_eigenvalues(Side::Lower).unwrap().into_iter().map(a).collect();
        expected.sort_by(f64::total_cmp);
        let mut found = literal.self_adjoint_eigenvalues(Side::Lower).unwrap();
        found.sort_by(f64::total_cmp);
        assert!(expected.iter().zip(&found).all(|(e, f)| (e - f).abs() < 1e-10));
    }
}

#[test]
fn the_alignment_is_the_sum_of_selected_patches() {
    // Z_i = S_i Z (the paper has Z S_i), with k2 members in the second group (the paper has k1).
    let data = clusters(11, 3, 6, 5);
    let params = MenParams::paper().with(|it| {
        it.patch.k_within = 3;
        it.patch.k_between = 4;
    });
    let kappa = 0.3;
    let pre = Centred::new(&data, None).unwrap();
    let near = neighbors(&data, &pre, NeighborScope::Within, 3, &()).unwrap();
    let far = neighbors(&data, &pre, NeighborScope::Between, 4, &()).unwrap();
    let mut expected: Mat<f64> = Mat::zeros(18, 18);
    for i in 0..18 {
        let members: Vec<usize> =
            std::iter::once(i).chain(near[i].iter().chain(&far[i]).map(|n| n.index)).collect();
        let omega: Vec<f64> = (0..7).map(|j| if j < 3 { 1.0 } else { -kappa }).collect();
        let local = Mat::from_fn(8, 8, |a, b| match (a, b) {
            (0, 0) => omega.iter().sum(),
            (0, k) | (k, 0) => -omega[k - 1],
            (a, b) if a == b => omega[a - 1],
            _ => 0.0,
        });
        let select = Mat::from_fn(8, 18, |row, q| f64::from(u8::from(members[row] == q)));
        expected += select.transpose() * local * &select;
    }
    let found = laplacian(&data, &params, kappa);
    assert!((&found - &expected).norm_max() < 1e-12);
    for i in 0..18 {
        assert!((0..18).map(|j| found[(i, j)]).sum::<f64>().abs() < 1e-12, "rows sum to 0");
    }
}

#[test]
fn slip_the_lasso_weight_is_divided_by_the_root() {
    let (data, params, x, y) = small_problem(13, 0.8);
    let ridge: f64 = 0.8;
    let a = literal_a(&laplacian(&data, &params, 0.01), 1.0, 1.0);
    let (stacked, response) = literal_stack(&eigen_root(&a), &x, &y, ridge);
    // Slip of Fast LARS: the Gram matrix is (XᵀAX + λ2 I)/(1+λ2), not XᵀX + 2 λ2 I.
    let gram = x.transpose() * &a * &x;
    let star = stacked.transpose() * &stacked;
    for i in 0..14 {
        for j in 0..14 {
            let with_ridge = gram[(i, j)] + if i == j { ridge } else { 0.0 };
            assert!((star[(i, j)] - with_ridge / (1.0 + ridge)).abs() < 1e-12);
        }
    }
    let plain = x.transpose() * &x;
    assert!((star[(0, 0)] - plain[(0, 0)] - 2.0 * ridge).abs() > 0.1);

    let b = correlate(&stacked, &common::column(&response, 0));
    let b_men = correlate(&x, &common::column(&y, 0));
    let lambda1 = 0.3 * b_men.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let men = LarsOptions::default().with(|it| it.ridge = ridge);
    let kkt_with = |penalty: f64| {
        // ‖Y*−X*W*‖² + λ‖W*‖₁ has level λ/2; W = W*/√(1+λ2) must be optimal for MEN at λ1, level λ1/2.
        let path = lars_path(&star, &b, &LarsOptions::default(), &()).unwrap();
        let w = path.at_lambda(penalty / 2.0).unwrap().coefficients.map(|_, w| w / (1.0 + ridge).sqrt());
        certify(&gram, &b_men, &men, &w, lambda1 / 2.0).unwrap().kkt
    };
    assert!(kkt_with(lambda1 / (1.0 + ridge).sqrt()) < 1e-12, "λ = λ1/√(1+λ2)");
    assert!(kkt_with(lambda1 / (1.0 + ridge)) > 1e-3, "and not λ1/(1+λ2)");
}

#[test]
fn slip_definiteness_fails_at_ordinary_settings() {
    // 40 × 40 faces, κ = 0.1, k1 = 4, k2 = 5: many eigenvalues of L break the bound at f = 0.5.
    let labels: Vec<usize> = (0..200).map(|i| i / 5).collect();
    let data = Dataset::from_owned(common::drawn::faces(2, 40, 5, 40), &labels).unwrap();
    let params = MenParams::paper().with(|it| it.patch.k_within = 4);
    let values = laplacian(&data, &params, 0.1).self_adjoint_eigenvalues(Side::Lower).unwrap();
    let bound = eigenvalue_bound(1.0, 1.0, 0.5);
    assert!((bound - 1.0 / 3.0).abs() < 1e-15);
    let broken = values.iter().filter(|&&lambda| lambda < -bound).count();
    assert!(broken > 10, "{broken} of 200");
    assert!(values.iter().any(|&lambda| lambda < -1.0), "αL + βI is indefinite too");
}
