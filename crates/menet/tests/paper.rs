//! The paper's mathematics: its identities, its theorems, its slips, and three routes to one W.

mod common;

use common::{clusters, correlate, gaussian, normal, relative_difference, rng};
use faer::{Mat, Side};
use menet::alignment::Alignment;
use menet::gram::{Gram, GramForm, SmoothedGram};
use menet::lars::{LarsOptions, Path, certify, lars_path};
use menet::neighbors::{Among, neighbors};
use menet::operator::{Operator, Route, Smoother, eigenvalue_bound};
use menet::patches::{PatchParams, rule};
use menet::plan::{GramRequest, RouteRequest};
use menet::preprocess::Centred;
use menet::preprocess::Columns;
use menet::targets::{AxisCount, target};
use menet::{Dataset, MenParams, fit};

/// L(κ), dense, by the public stages.
fn laplacian(data: &Dataset<'_>, params: &MenParams, kappa: f64) -> Mat<f64> {
    alignment(data, params).matrix(kappa).to_dense()
}

fn patch_params(params: &MenParams) -> PatchParams {
    PatchParams {
        k_within: params.k_within,
        k_between: params.k_between,
        bandwidth: None,
        lle_regularizer: params.lle_regularizer,
        ltsa_dimension: None,
    }
}

fn alignment(data: &Dataset<'_>, params: &MenParams) -> Alignment {
    let pre = Centred::new(data, params.pca_rank).unwrap();
    Alignment::new(data, &pre, rule(&params.patch).unwrap(), &patch_params(params), &()).unwrap()
}

fn inverse(a: &Mat<f64>) -> Mat<f64> {
    use faer::linalg::solvers::DenseSolveCore;
    a.partial_piv_lu().inverse()
}

/// The paper's A, term by term.
fn literal_a(l: &Mat<f64>, alpha: f64, beta: f64) -> Mat<f64> {
    let n = l.nrows();
    let identity: Mat<f64> = Mat::identity(n, n);
    let m = inverse(&(l * faer::Scale(alpha) + &identity * faer::Scale(beta))) * faer::Scale(beta);
    m.transpose() * l * &m * faer::Scale(alpha)
        + (&m - &identity).transpose() * (&m - &identity) * faer::Scale(beta)
        + &identity
}

/// D^(1/2) Uᵀ of (A + Aᵀ)/2, which must be positive definite.
fn eigen_root(a: &Mat<f64>) -> Mat<f64> {
    let symmetric = Mat::from_fn(a.nrows(), a.nrows(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
    let eigen = symmetric.self_adjoint_eigen(Side::Lower).unwrap();
    let (u, s) = (eigen.U(), eigen.S());
    Mat::from_fn(a.nrows(), a.nrows(), |i, j| s[i].sqrt() * u[(j, i)])
}

/// The stacked X* (Eq. newX) and Y* (Eq. newY).
fn literal_stack(root: &Mat<f64>, x: &Mat<f64>, y: &Mat<f64>, ridge: f64) -> (Mat<f64>, Mat<f64>) {
    let (n, p) = x.shape();
    let top = root * x;
    let stacked = Mat::from_fn(n + p, p, |i, j| {
        let value = if i < n { top[(i, j)] } else { ridge.sqrt() * f64::from(u8::from(i - n == j)) };
        value / (1.0 + ridge).sqrt()
    });
    let target = inverse(&root.transpose().to_owned()) * y;
    let response = Mat::from_fn(n + p, y.ncols(), |i, k| if i < n { target[(i, k)] } else { 0.0 });
    (stacked, response)
}

/// A problem on which A is definite, its solver columns and its target.
fn small_problem(seed: u64, ridge: f64) -> (Dataset<'static>, MenParams, Mat<f64>, Mat<f64>) {
    let data = clusters(seed, 4, 9, 14);
    let params = MenParams { ridge: Some(ridge), kappa: 0.01, nonzeros: Some(9), ..MenParams::paper() };
    let pre = Centred::new(&data, None).unwrap();
    let y = target(&data, &pre, params.target, params.target_shrinkage, AxisCount::All, &()).unwrap();
    let (Columns::Dense(x), ..) = pre.into_solver(true) else { panic!("sparse") };
    (data, params, x, y)
}

#[test]
fn three_routes_one_w() {
    for (seed, ridge) in [(1, 0.1), (2, 0.0), (3, 2.0)] {
        let (data, params, x, y) = small_problem(seed, ridge);
        let dense = fit(&data, &MenParams { route: RouteRequest::Dense, ..params.clone() }, &()).unwrap();
        let sparse =
            fit(&data, &MenParams { route: RouteRequest::Conjugate, ..params.clone() }, &()).unwrap();
        assert_eq!(dense.definiteness().kappa_used, 0.01, "the problem must be definite as it is");
        assert!(sparse.cg_residual().unwrap() <= 1e-11, "{:?}", sparse.cg_residual());

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
    let by = |route, gram| fit(&data, &MenParams { route, gram, ..params.clone() }, &()).unwrap();
    let first = by(RouteRequest::Dense, GramRequest::Full);
    let chosen = fit(&data, &params, &()).unwrap().regime().unwrap().clone();
    assert_eq!((chosen.route, chosen.gram), (Route::Dense, GramForm::Full), "{chosen}");
    for (asked, expected) in [
        ((RouteRequest::Dense, GramRequest::Columns), (Route::Dense, GramForm::Columns)),
        ((RouteRequest::Conjugate, GramRequest::Full), (Route::Conjugate, GramForm::Full)),
        ((RouteRequest::Conjugate, GramRequest::Columns), (Route::Conjugate, GramForm::Columns)),
    ] {
        let (route, gram) = asked;
        let other = by(route, gram);
        let regime = other.regime().unwrap();
        assert_eq!((regime.route, regime.gram), expected);
        assert_eq!(other.cg_residual().is_some(), route == RouteRequest::Conjugate);
        let (a, b) = (first.projection().to_dense(), other.projection().to_dense());
        assert!(relative_difference(&a, &b) < 1e-8, "{route:?} {gram:?}");
        assert!(other.certificates().iter().all(|c| c.kkt < 1e-9 && c.scaled < 1e-9));
    }
}

#[test]
fn conjugate_gram_equals_the_dense_one() {
    let (data, params, x, _) = small_problem(5, 0.1);
    let a = literal_a(&laplacian(&data, &params, 0.01), 0.7, 1.3);
    let dense = x.transpose() * a * &x;
    let l = alignment(&data, &params).matrix(0.01);
    let operator = Operator::Conjugate(Smoother::new(&l, 0.7, 1.3, 1e-13));
    let b = Mat::from_fn(14, 1, |j, _| j as f64);
    let gram = SmoothedGram::new(Columns::Dense(x.clone()), operator, 1.3, b.as_ref());
    let mut column = vec![0.0; 14];
    for j in 0..14 {
        gram.column(j, &mut column);
        for i in 0..14 {
            assert!((column[i] - dense[(i, j)]).abs() < 1e-11);
        }
        assert!((gram.diagonal()[j] - dense[(j, j)]).abs() < 1e-11);
    }
    let coefficients = Mat::from_fn(3, 2, |i, j| (i + j) as f64 - 1.0);
    let mut out = Mat::zeros(14, 2);
    gram.product(&[4, 0, 9], coefficients.as_ref(), out.as_mut());
    let chosen = Mat::from_fn(14, 3, |i, k| dense[(i, [4, 0, 9][k])]);
    assert!((out - chosen * coefficients).norm_max() < 1e-11);
    assert!((0..14).all(|j| gram.squared_lengths()[j] >= dense[(j, j)]), "an upper bound");
    assert!(gram.residual().unwrap() < 1e-12);
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
    let params = MenParams { k_within: 3, k_between: 4, ..MenParams::paper() };
    let kappa = 0.3;
    let pre = Centred::new(&data, None).unwrap();
    let near = neighbors(&data, &pre, Among::Within, 3, &()).unwrap();
    let far = neighbors(&data, &pre, Among::Between, 4, &()).unwrap();
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
    let men = LarsOptions { ridge, ..LarsOptions::default() };
    let kkt_with = |penalty: f64| {
        // ‖Y*−X*W*‖² + λ‖W*‖₁ has level λ/2; W = W*/√(1+λ2) must be optimal for MEN at λ1, level λ1/2.
        let path = lars_path(&star, &b, &LarsOptions::default(), &()).unwrap();
        let w = path.at_lambda(penalty / 2.0).unwrap().coefficients.map(|_, w| w / (1.0 + ridge).sqrt());
        certify(&gram, &b_men, &men, &w, lambda1 / 2.0).unwrap().kkt
    };
    assert!(kkt_with(lambda1 / (1.0 + ridge).sqrt()) < 1e-12, "λ = λ1/√(1+λ2)");
    assert!(kkt_with(lambda1 / (1.0 + ridge)) > 1e-3, "and not λ1/(1+λ2)");
}

/// A regression whose path, at its fifth knot, has coefficients of both signs.
struct Halfway {
    gram: Mat<f64>,
    b: Vec<f64>,
    path: Path,
    active: Vec<usize>,
    signs: Mat<f64>,
}

impl Halfway {
    const KNOT: usize = 4;

    fn new() -> Self {
        let rng = &mut rng(21);
        let x = gaussian(rng, 40, 10);
        let y: Vec<f64> = (0..40).map(|i| x[(i, 0)] - x[(i, 3)] + 0.5 * x[(i, 5)] + normal(rng)).collect();
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let path = lars_path(&gram, &b, &LarsOptions::default(), &()).unwrap();
        let w = &path.knots()[Self::KNOT].coefficients;
        assert!(w.values().iter().any(|w| *w > 0.0) && w.values().iter().any(|w| *w < 0.0));
        let active = w.indices().to_vec();
        let signs = Mat::from_fn(active.len(), 1, |i, _| w.values()[i].signum());
        Halfway { gram, b, path, active, signs }
    }

    fn active_gram(&self) -> Mat<f64> {
        let k = self.active.len();
        Mat::from_fn(k, k, |i, j| self.gram[(self.active[i], self.active[j])])
    }

    /// How far apart the sizes of the active correlations are, and the largest, after a step along `direction`.
    fn after(&self, direction: &Mat<f64>, step: f64) -> (f64, f64) {
        let mut w = self.path.knots()[Self::KNOT].coefficients.to_dense(10);
        for (a, &j) in self.active.iter().enumerate() {
            w[j] += step * direction[(a, 0)];
        }
        let correlation = |j: usize| self.b[j] - (0..10).map(|i| self.gram[(j, i)] * w[i]).sum::<f64>();
        let sizes: Vec<f64> = self.active.iter().map(|&j| correlation(j).abs()).collect();
        let (low, high) = sizes.iter().fold((f64::MAX, 0.0f64), |(l, h), &s| (l.min(s), h.max(s)));
        (high - low, high)
    }
}

#[test]
fn slip_the_direction_solves_for_the_signs() {
    let half = Halfway::new();
    let k = half.active.len();
    let inverse = inverse(&half.active_gram());
    let right = &inverse * &half.signs;
    let of_ones = &inverse * Mat::full(k, 1, 1.0);
    let wrong = Mat::from_fn(k, 1, |i, _| half.signs[(i, 0)] * of_ones[(i, 0)]);
    let level = half.path.knots()[Halfway::KNOT].level;
    // Eq. Ck: correlations fall as coefficients grow, all by the step.
    let (spread, size) = half.after(&right, 1e-3);
    assert!(spread < 1e-10 && (level - 1e-3 - size).abs() < 1e-10);
    let (spread, _) = half.after(&wrong, 1e-3);
    assert!(spread > 1e-5, "s·G⁻¹1 does not keep them equal");
}

#[test]
fn the_block_inverse_gives_the_same_direction() {
    // Eq. FastLARS: the inverse grown by one variable at a time, through the Schur complement.
    let half = Halfway::new();
    let gram = half.active_gram();
    let mut known = Mat::from_fn(1, 1, |_, _| 1.0 / gram[(0, 0)]);
    for k in 1..half.active.len() {
        let column = Mat::from_fn(k, 1, |i, _| gram[(i, k)]);
        let reach = &known * &column;
        let schur = gram[(k, k)] - (column.transpose() * &reach)[(0, 0)];
        known = Mat::from_fn(k + 1, k + 1, |i, j| match (i == k, j == k) {
            (false, false) => known[(i, j)] + reach[(i, 0)] * reach[(j, 0)] / schur,
            (true, true) => 1.0 / schur,
            (false, true) => -reach[(i, 0)] / schur,
            (true, false) => -reach[(j, 0)] / schur,
        });
    }
    let block = &known * &half.signs;
    // On the stretch that leads to the knot our path has this active set: its direction is its slope.
    let (before, knot) = (&half.path.knots()[Halfway::KNOT - 1], &half.path.knots()[Halfway::KNOT]);
    for (a, &j) in half.active.iter().enumerate() {
        let slope = (knot.coefficients.get(j) - before.coefficients.get(j)) / (before.level - knot.level);
        assert!((slope - block[(a, 0)]).abs() < 1e-10);
    }
}

#[test]
fn theorem_2_the_smooth_part_never_rises() {
    let mut drops = 0;
    let mut against = 0;
    for seed in 0..60 {
        let rng = &mut rng(seed);
        let x = gaussian(rng, 15, 12);
        let y: Vec<f64> = (0..15).map(|_| normal(rng)).collect();
        let (gram, b) = (x.transpose() * &x, correlate(&x, &y));
        let path = lars_path(&gram, &b, &LarsOptions { ridge: 0.01, ..LarsOptions::default() }, &()).unwrap();
        let smooth = |w: &[f64]| -> f64 {
            let quadratic: f64 = (0..12)
                .map(|i| w[i] * ((0..12).map(|j| gram[(i, j)] * w[j]).sum::<f64>() + 0.01 * w[i]))
                .sum();
            quadratic - 2.0 * (0..12).map(|i| b[i] * w[i]).sum::<f64>()
        };
        let points: Vec<Vec<f64>> = path.knots().iter().map(|knot| knot.coefficients.to_dense(12)).collect();
        for pair in points.windows(2) {
            assert!(smooth(&pair[1]) <= smooth(&pair[0]) + 1e-12 * (1.0 + smooth(&pair[0]).abs()));
        }
        // Slip: the proof takes sign ω = sign c. Before a drop a coefficient moves against its correlation.
        for (k, knot) in path.knots().iter().enumerate() {
            drops += knot.left.len();
            for &j in &knot.left {
                let before = &points[k - 1];
                let c = b[j] - (0..12).map(|i| gram[(j, i)] * before[i]).sum::<f64>() - 0.01 * before[j];
                against += usize::from((points[k][j] - before[j]) * c < 0.0);
            }
        }
    }
    assert!(drops > 20 && against == drops, "{drops} drops, {against} against the sign");
}

#[test]
fn slip_k_loops_are_not_k_nonzeros() {
    let worst = (0..60)
        .map(|seed| {
            let rng = &mut rng(seed);
            let x = gaussian(rng, 15, 12);
            let y: Vec<f64> = (0..15).map(|_| normal(rng)).collect();
            let options = LarsOptions { max_nonzeros: Some(10), ..LarsOptions::default() };
            let path = lars_path(&(x.transpose() * &x), &correlate(&x, &y), &options, &()).unwrap();
            path.knots()[path.knots().len().min(11) - 1].coefficients.nonzeros()
        })
        .min();
    assert!(worst < Some(10), "ten loops always gave ten nonzeros");
}

#[test]
fn slip_the_bases_are_not_orthogonal() {
    let men = fit(&clusters(3, 5, 8, 20), &MenParams::paper(), &()).unwrap();
    let w = men.projection().to_dense();
    let cosine = (w.col(0).transpose() * w.col(1)) / (w.col(0).norm_l2() * w.col(1).norm_l2());
    assert!(cosine.abs() > 1e-3, "cosine {cosine}");
}

#[test]
fn slip_definiteness_fails_at_ordinary_settings() {
    // 40 × 40 faces, κ = 0.1, k1 = 4, k2 = 5: many eigenvalues of L break the bound at f = 0.5.
    let labels: Vec<usize> = (0..200).map(|i| i / 5).collect();
    let data = Dataset::from_owned(common::drawn::faces(2, 40, 5, 40), &labels).unwrap();
    let params = MenParams { k_within: 4, ..MenParams::paper() };
    let values = laplacian(&data, &params, 0.1).self_adjoint_eigenvalues(Side::Lower).unwrap();
    let bound = eigenvalue_bound(1.0, 1.0, 0.5);
    assert!((bound - 1.0 / 3.0).abs() < 1e-15);
    let broken = values.iter().filter(|&&lambda| lambda < -bound).count();
    assert!(broken > 10, "{broken} of 200");
    assert!(values.iter().any(|&lambda| lambda < -1.0), "αL + βI is indefinite too");
}
