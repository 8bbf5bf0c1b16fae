//! From the manifold problem to a lasso: `(X, L, Y, α, β) → (G, b)`.
//!
//! With `M = β(αL + βI)⁻¹`, eliminating Z from the objective (Eq. Z) leaves `WᵀXᵀAXW − 2WᵀXᵀY` with
//!
//! ```text
//! A = αMᵀLM + β(M−I)ᵀ(M−I) + I = I + αLM
//! ```
//!
//! so an eigenvalue λ of L becomes `a(λ) = 1 + αβλ/(αλ + β)` of A, and LARS needs nothing but `b = XᵀY` and columns
//! of `G = XᵀAX`. The stacked X* and Y* of the paper (Eqs. newX and newY) are never formed.
//!
//! # Definiteness
//!
//! Z is a minimiser only where `αλ + β > 0`, and A is safely positive where `a(λ) ≥ f`. Together that asks of
//! every eigenvalue
//!
//! ```text
//! λ ≥ −(1−f)β / (α(1−f+β))
//! ```
//!
//! which DLA's indefinite L breaks at ordinary settings. [`Definiteness`] says what happens then.

use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

use crate::alignment::{Alignment, SparseSymmetric};
use crate::conjugate::Smoother;
use crate::error::{Error, Result, check};
use crate::gram::{FactorGram, Gram};
use crate::implicit::Columns;
use crate::linalg::{
    cholesky, cholesky_solve, inner_products, multiply_in_place, symmetric_eigen, symmetric_product,
};
use crate::monitor::Monitor;
use crate::named::Named;
use crate::regime::{DENSE_LIMIT, GRAM_LIMIT, Given, GramForm, Regime, Route, Size};
use crate::smoothed::{Operator, SmoothedGram, Variables};

/// What to do where the bound on the spectrum of L does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Definiteness {
    /// Lower κ to the largest value for which it holds.
    Shrink,
    /// Raise the offending eigenvalues of A to the floor. Needs the dense spectrum.
    Floor,
    /// Refuse, naming the largest admissible κ.
    Error,
}

impl Named for Definiteness {
    const PARAMETER: &'static str = "definiteness";
    const ALL: &'static [Self] = &[Definiteness::Shrink, Definiteness::Floor, Definiteness::Error];

    fn name(self) -> &'static str {
        match self {
            Definiteness::Shrink => "shrink",
            Definiteness::Floor => "floor",
            Definiteness::Error => "error",
        }
    }
}

/// What the policy found and did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefinitenessReport {
    /// The policy.
    pub policy: Definiteness,
    /// The floor f.
    pub floor: f64,
    /// κ as asked for.
    pub kappa_requested: f64,
    /// κ as used; 0 for rules without a κ.
    pub kappa_used: f64,
    /// How many eigenvalues of A were raised to the floor.
    pub eigenvalues_changed: usize,
    /// The smallest eigenvalue of `L(kappa_used)`; for large n a lower bound of it.
    pub lambda_min: f64,
}

/// Relative residual at which conjugate gradients stop.
const CG_TOLERANCE: f64 = 1e-12;

/// The trade-offs and the policy of the reduction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReductionParams {
    /// Weight of the manifold term, ≥ 0.
    pub alpha: f64,
    /// Weight of `‖Z − XW‖²`, > 0.
    pub beta: f64,
    /// Weight of the repelling part of the patches, ≥ 0.
    pub kappa: f64,
    /// What to do where A would not be definite.
    pub definiteness: Definiteness,
    /// The smallest eigenvalue of A that is allowed, in (0, 1].
    pub floor: f64,
    /// How A is applied.
    pub route: Route,
    /// What there is of the Gram matrix.
    pub gram: GramForm,
    /// The most axes that there can be, one less than classes. The cheapest way is chosen for them, since it must not depend on how
    /// many are computed.
    pub axes: usize,
}

impl ReductionParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        check("alpha", self.alpha, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("beta", self.beta, "a number > 0, at most 1e100", |x| x > 0.0)?;
        check("kappa", self.kappa, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("floor", self.floor, "in (0, 1]", |x| x > 0.0 && x <= 1.0)
    }
}

/// The Gram matrix in whichever form fits the size.
#[derive(Debug)]
pub enum GramSource {
    /// The p×p matrix.
    Full(Mat<f64>),
    /// `A^(1/2) X`, n×p.
    Factor(FactorGram<'static>),
    /// `X`, dense or sparse, and `A` as an operator.
    Smoothed(Box<SmoothedGram>),
}

impl GramSource {
    /// `FᵀF` for a factor `F` (n×p), in full or on demand.
    pub fn from_factor(factor: Mat<f64>, form: GramForm) -> Self {
        match form {
            GramForm::Columns => GramSource::Factor(FactorGram::new(factor)),
            GramForm::Auto if factor.ncols() > GRAM_LIMIT => GramSource::Factor(FactorGram::new(factor)),
            _ => GramSource::Full(symmetric_product(factor.as_ref(), factor.as_ref())),
        }
    }

    /// Its rows and columns of some variables.
    pub fn submatrix(&self, variables: &[usize]) -> Mat<f64> {
        let m = variables.len();
        match self {
            GramSource::Full(gram) => Mat::from_fn(m, m, |i, j| gram[(variables[i], variables[j])]),
            GramSource::Factor(gram) => {
                let some = gram.columns_at(variables);
                symmetric_product(some.as_ref(), some.as_ref())
            }
            GramSource::Smoothed(gram) => {
                let mut out = vec![0.0; m * m];
                gram.square(variables, &mut out);
                MatRef::from_column_major_slice(&out, m, m).to_owned()
            }
        }
    }

    fn source(&self) -> &dyn Gram {
        match self {
            GramSource::Full(gram) => gram,
            GramSource::Factor(gram) => gram,
            GramSource::Smoothed(gram) => &**gram,
        }
    }
}

impl Gram for GramSource {
    fn dim(&self) -> usize {
        self.source().dim()
    }
    fn column(&self, j: usize, out: &mut [f64]) {
        self.source().column(j, out);
    }
    fn diagonal(&self) -> Vec<f64> {
        self.source().diagonal()
    }
    fn squared_lengths(&self) -> Vec<f64> {
        self.source().squared_lengths()
    }
    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        self.source().entries(rows, j, out);
    }
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        self.source().product(support, coefficients, out);
    }
    fn block(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        self.source().block(rows, columns, out);
    }
    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        self.source().product_at(rows, support, coefficients, out);
    }
    fn check(&self) -> Result<()> {
        self.source().check()
    }
}

/// A lasso problem with one response a column of the target.
#[derive(Debug)]
pub struct LassoProblem {
    /// `XᵀAX`, without the ridge.
    pub gram: GramSource,
    /// `XᵀY`, p×d.
    pub b: Mat<f64>,
    /// What the definiteness policy did.
    pub definiteness: DefinitenessReport,
    /// Which way it went.
    pub regime: Regime,
    /// The worst relative residual of the conjugate gradients that built a full Gram matrix.
    built: Option<f64>,
}

impl LassoProblem {
    /// The worst relative residual of the conjugate gradients so far, if they were used. The certificate speaks of the
    /// Gram matrix as built; this says how well it was.
    pub fn cg_residual(&self) -> Option<f64> {
        match &self.gram {
            GramSource::Smoothed(gram) => match gram.operator() {
                Operator::Conjugate(smoother) => Some(smoother.worst_residual()),
                Operator::Factor(_) => None,
            },
            _ => self.built,
        }
    }
}

/// Reduces the problem on the solver's columns `x` (n×p) and target `y` (n×d).
///
/// # Errors
/// When a parameter is out of range, sizes disagree, the policy refuses, a decomposition fails, or `monitor` asks to stop.
pub fn reduce(
    mut x: Mat<f64>,
    y: MatRef<'_, f64>,
    alignment: &Alignment,
    params: &ReductionParams,
    monitor: &dyn Monitor,
) -> Result<LassoProblem> {
    params.check()?;
    let n = x.nrows();
    check_sizes(n, y, alignment)?;
    let floor = params.definiteness == Definiteness::Floor;
    let given = if floor { Given::Floor } else { Given::Dense };
    let size = size(n, x.ncols(), alignment, params);
    let regime = Regime::choose(size, params.route, params.gram, given)?;
    let b = inner_products(&x, y);
    if floor {
        let (factor, definiteness) = floored_factor(alignment, params)?;
        multiply_in_place(factor.as_ref(), x.as_mut());
        let gram = GramSource::from_factor(x, regime.gram);
        return Ok(LassoProblem { gram, b, definiteness, regime, built: None });
    }
    let (laplacian, definiteness) = admissible(alignment, params, monitor)?;
    if regime.route == Route::Dense {
        let factor = dense_factor(&laplacian, params)?;
        multiply_in_place(factor.as_ref(), x.as_mut());
        let gram = GramSource::from_factor(x, regime.gram);
        return Ok(LassoProblem { gram, b, definiteness, regime, built: None });
    }
    let smoother = Smoother::new(&laplacian, params.alpha, params.beta, CG_TOLERANCE);
    if regime.gram == GramForm::Full {
        let gram = GramSource::Full(smoother.gram(x.as_ref(), monitor)?);
        let built = Some(smoother.worst_residual());
        return Ok(LassoProblem { gram, b, definiteness, regime, built });
    }
    let (x, operator) = (Variables::Dense(x), Operator::Conjugate(smoother));
    let gram = GramSource::Smoothed(Box::new(SmoothedGram::new(x, operator, params.beta, b.as_ref())));
    Ok(LassoProblem { gram, b, definiteness, regime, built: None })
}

/// The same for data that stay sparse. A is applied by conjugate gradients, except by the route [`Route::Dense`] and for the
/// policy `floor`.
///
/// # Errors
/// As [`reduce`].
pub fn reduce_sparse(
    x: Columns,
    y: MatRef<'_, f64>,
    alignment: &Alignment,
    params: &ReductionParams,
    monitor: &dyn Monitor,
) -> Result<LassoProblem> {
    params.check()?;
    check_sizes(x.rows(), y, alignment)?;
    let floor = params.definiteness == Definiteness::Floor;
    let given = if floor { Given::SparseFloor } else { Given::Sparse };
    let size = size(x.rows(), x.columns(), alignment, params);
    let regime = Regime::choose(size, params.route, params.gram, given)?;
    let b = x.correlate_all(y);
    let (operator, definiteness) = if floor {
        let (factor, definiteness) = floored_factor(alignment, params)?;
        (Operator::Factor(factor), definiteness)
    } else {
        let (laplacian, definiteness) = admissible(alignment, params, monitor)?;
        let operator = match regime.route {
            Route::Dense => Operator::Factor(dense_factor(&laplacian, params)?),
            _ => Operator::Conjugate(Smoother::new(&laplacian, params.alpha, params.beta, CG_TOLERANCE)),
        };
        (operator, definiteness)
    };
    let x = Variables::Sparse(x);
    let gram = GramSource::Smoothed(Box::new(SmoothedGram::new(x, operator, params.beta, b.as_ref())));
    Ok(LassoProblem { gram, b, definiteness, regime, built: None })
}

/// What the cheapest way depends on.
fn size(samples: usize, variables: usize, alignment: &Alignment, params: &ReductionParams) -> Size {
    let repelling = alignment.repel.as_ref().map_or(0, SparseSymmetric::nonzeros);
    Size { samples, variables, axes: params.axes, entries: alignment.attract.nonzeros() + repelling }
}

/// Refuses data or a target of another number of samples than the alignment is of.
fn check_sizes(n: usize, y: MatRef<'_, f64>, alignment: &Alignment) -> Result<()> {
    let expected = alignment.attract.dim();
    let why = format!("the alignment is of {expected} samples");
    for (what, given) in [("a column of the data", n), ("a column of the target", y.nrows())] {
        if given != expected {
            return Err(Error::Size { what, given, expected, why });
        }
    }
    Ok(())
}

/// `(1−f)β / (α(1−f+β))`: how far below zero an eigenvalue of L may lie.
pub fn eigenvalue_bound(alpha: f64, beta: f64, floor: f64) -> f64 {
    beta / alpha * ((1.0 - floor) / (1.0 - floor + beta))
}

/// `L(κ)` with κ as the policy `shrink` or `error` allows it.
fn admissible(
    alignment: &Alignment,
    params: &ReductionParams,
    monitor: &dyn Monitor,
) -> Result<(SparseSymmetric, DefinitenessReport)> {
    let kappa = if alignment.repel.is_some() { params.kappa } else { 0.0 };
    let mut report = DefinitenessReport {
        policy: params.definiteness,
        floor: params.floor,
        kappa_requested: params.kappa,
        kappa_used: kappa,
        eigenvalues_changed: 0,
        lambda_min: f64::NAN,
    };
    if params.alpha == 0.0 {
        let laplacian = alignment.matrix(kappa);
        report.lambda_min = laplacian.smallest_eigenvalue()?;
        return Ok((laplacian, report));
    }
    let bound = eigenvalue_bound(params.alpha, params.beta, params.floor);
    let found = alignment.largest_kappa(kappa, bound, monitor)?;
    let refuse = |lambda_min: f64, largest_kappa: Option<f64>| Error::Indefinite {
        kappa,
        lambda_min,
        bound,
        largest_kappa,
    };
    match found {
        Some((used, lambda_min)) if used == kappa || params.definiteness == Definiteness::Shrink => {
            (report.kappa_used, report.lambda_min) = (used, lambda_min);
            Ok((alignment.matrix(used), report))
        }
        Some((used, _)) => Err(refuse(alignment.matrix(kappa).smallest_eigenvalue()?, Some(used))),
        None => Err(refuse(alignment.attract.smallest_eigenvalue()?, None)),
    }
}

/// `F` with `FᵀF = A`, by Cholesky; A's definiteness must have been seen to.
fn dense_factor(laplacian: &SparseSymmetric, params: &ReductionParams) -> Result<Mat<f64>> {
    let n = laplacian.dim();
    let ReductionParams { alpha, beta, .. } = *params;
    let broken = |what: &'static str| Error::Numerical {
        what,
        detail: "it is not positive definite in double precision; raise floor or beta".to_owned(),
    };
    let mut shifted = laplacian.to_dense();
    for j in 0..n {
        for i in 0..n {
            shifted[(i, j)] = alpha * shifted[(i, j)] + if i == j { beta } else { 0.0 };
        }
    }
    let factor = cholesky(shifted.as_ref()).ok_or_else(|| broken("the factorization of alpha L + beta I"))?;
    let mut inverse = Mat::identity(n, n);
    cholesky_solve(factor.as_ref(), inverse.as_mut());
    // A = I + αβ L (αL + βI)⁻¹
    let mut a = laplacian.product(inverse.as_ref());
    for j in 0..n {
        for i in 0..n {
            a[(i, j)] = alpha * beta * a[(i, j)] + if i == j { 1.0 } else { 0.0 };
        }
    }
    let factor = cholesky(a.as_ref()).ok_or_else(|| broken("the factorization of A"))?;
    Ok(factor.transpose().to_owned())
}

/// `F` with `FᵀF = A`, the eigenvalues of A raised to the floor where they, or the minimum over Z, fail.
fn floored_factor(alignment: &Alignment, params: &ReductionParams) -> Result<(Mat<f64>, DefinitenessReport)> {
    let n = alignment.attract.dim();
    if n > DENSE_LIMIT {
        return Err(Error::parameter(
            "definiteness",
            format!("\"floor\" with {n} samples"),
            format!("\"shrink\" or \"error\" above {DENSE_LIMIT} samples: floor needs the dense spectrum"),
        ));
    }
    let ReductionParams { alpha, beta, floor, .. } = *params;
    let kappa = if alignment.repel.is_some() { params.kappa } else { 0.0 };
    let (values, vectors) = symmetric_eigen(alignment.matrix(kappa).to_dense().as_ref())?;
    let mut changed = 0;
    let roots: Vec<f64> = values
        .iter()
        .map(|&lambda| {
            let a = 1.0 + alpha * beta * lambda / (alpha * lambda + beta);
            let kept = alpha * lambda + beta > 0.0 && a >= floor * (1.0 - 1e-12);
            changed += usize::from(!kept);
            if kept { a.sqrt() } else { floor.sqrt() }
        })
        .collect();
    let factor = Mat::from_fn(n, n, |i, j| roots[i] * vectors[(j, i)]);
    let report = DefinitenessReport {
        policy: params.definiteness,
        floor,
        kappa_requested: params.kappa,
        kappa_used: kappa,
        eigenvalues_changed: changed,
        lambda_min: values[0],
    };
    Ok((factor, report))
}
