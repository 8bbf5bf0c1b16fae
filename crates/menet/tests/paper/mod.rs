//! The paper's mathematics: its identities, its theorems, its slips, and three routes to one W.

mod path;
mod reduction;

use crate::common::clusters;
use faer::{Mat, Side};
use menet::patches::{PatchParams, rule};
use menet::targets::{AxisCount, target};
use menet::{Alignment, Centred, Dataset, MenParams};

/// L(κ), dense, by the public stages.
fn laplacian(data: &Dataset<'_>, params: &MenParams, kappa: f64) -> Mat<f64> {
    alignment(data, params).matrix(kappa).to_dense()
}

fn patch_params(params: &MenParams) -> PatchParams {
    PatchParams::default().with(|it| {
        it.k_within = params.patch.k_within;
        it.k_between = params.patch.k_between;
        it.bandwidth = None;
        it.regularizer = params.patch.regularizer;
        it.dimension = None;
    })
}

fn alignment(data: &Dataset<'_>, params: &MenParams) -> Alignment {
    let pre = Centred::new(data, params.pca_rank).unwrap();
    Alignment::new(data, &pre, rule(&params.patch.kind).unwrap(), &patch_params(params), &()).unwrap()
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
    let params = MenParams::paper().with(|it| {
        it.ridge = Some(ridge);
        it.manifold.kappa = 0.01;
        it.nonzeros = Some(9);
    });
    let pre = Centred::new(&data, None).unwrap();
    let y = target(&data, &pre, params.target.kind, params.target.shrinkage, AxisCount::All, &()).unwrap();
    let (x, norms) = (pre.dense().unwrap().clone(), pre.norms());
    let x = Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] / norms[j]);
    (data, params, x, y)
}
