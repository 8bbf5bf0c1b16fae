//! How far reported coefficients are from optimal, recomputed from `G` and `b`.

use faer::Mat;

use super::problem::{LarsOptions, Method, Problem, Shared};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::sparse::SparseVector;

/// The largest violation of the optimality (Karush-Kuhn-Tucker) conditions, measured in two ways.
///
/// With `c = b − Gw`, a variable violates them by `|cⱼ − λ vⱼ sign(wⱼ)|` where `wⱼ ≠ 0` and by
/// `(|cⱼ| − λ vⱼ)₊` elsewhere (`(cⱼ − λ vⱼ)₊` if coefficients must be positive). A coefficient of a barred
/// variable, or one of a forbidden sign, is an infinite violation. For plain LARS the sign is that of `cⱼ`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Certificate {
    /// The largest violation over `max |b|`.
    pub kkt: f64,
    /// The largest violation of any variable over `√Gⱼⱼ · maxᵢ |bᵢ|/√Gᵢᵢ`: the same once every variable has
    /// length 1, so that small variables are not overlooked beside large ones.
    pub scaled: f64,
}

impl Certificate {
    /// The worse of both in each measure.
    pub fn worse(self, other: Self) -> Self {
        Certificate { kkt: self.kkt.max(other.kkt), scaled: self.scaled.max(other.scaled) }
    }
}

/// The certificate of coefficients `w` at level `lambda`, for anyone's `w`.
///
/// # Errors
/// When sizes disagree, options are out of range or values are not finite.
pub fn certify(
    gram: &dyn Gram,
    b: &[f64],
    options: &LarsOptions,
    w: &SparseVector,
    lambda: f64,
) -> Result<Certificate> {
    let shared = Shared::new(gram, options)?;
    let problem = Problem::new(&shared, b)?;
    if let Some(&index) = w.indices().last().filter(|&&index| index >= b.len()) {
        return Err(Error::parameter(
            "w",
            format!("nonzero at variable {index}"),
            format!("below {}", b.len()),
        ));
    }
    let c = correlations(&problem, &[w]);
    Ok(certificate(&problem, crate::linalg::column(&c, 0), w, lambda))
}

/// `b − G w` for several `w`, one a column, from one product with the Gram source.
pub(super) fn correlations(problem: &Problem<'_>, points: &[&SparseVector]) -> Mat<f64> {
    let p = problem.p();
    let mut place = vec![usize::MAX; p];
    let mut support = Vec::new();
    for &j in points.iter().flat_map(|w| w.indices()) {
        if place[j] == usize::MAX {
            place[j] = support.len();
            support.push(j);
        }
    }
    let mut coefficients = Mat::zeros(support.len(), points.len());
    for (k, w) in points.iter().enumerate() {
        for (j, value) in w.iter() {
            coefficients[(place[j], k)] = value;
        }
    }
    let mut c = Mat::zeros(p, points.len());
    if !support.is_empty() {
        problem.shared.gram.product(&support, coefficients.as_ref(), c.as_mut());
    }
    let ridge = problem.options().ridge;
    for (k, w) in points.iter().enumerate() {
        let c = crate::linalg::column_mut(&mut c, k);
        for (c, b) in c.iter_mut().zip(problem.b) {
            *c = b - *c;
        }
        for (j, value) in w.iter() {
            c[j] -= ridge * value;
        }
    }
    c
}

/// The certificate of `w` at `level`, given its correlations.
pub(super) fn certificate(problem: &Problem<'_>, c: &[f64], w: &SparseVector, level: f64) -> Certificate {
    let (v, scale) = (&problem.shared.v, &problem.shared.scale);
    let options = problem.options();
    let mut worst = Certificate::default();
    let mut note = |j: usize, violation: f64| {
        if violation > worst.kkt {
            worst.kkt = violation;
        }
        if violation > worst.scaled * scale[j] {
            worst.scaled = violation / scale[j];
        }
    };
    let mut nonzero = w.iter().peekable();
    for (j, &c) in c.iter().enumerate() {
        let violation = match nonzero.next_if(|&(index, _)| index == j) {
            None if v[j].is_infinite() => 0.0,
            None => problem.reach(c) - level * v[j],
            Some(_) if options.method == Method::Lars => (c.abs() - level * v[j]).abs(),
            Some((_, value)) if v[j].is_infinite() || (options.positive && value < 0.0) => f64::INFINITY,
            Some((_, value)) => (c - level * v[j] * value.signum()).abs(),
        };
        note(j, if violation.is_nan() { f64::INFINITY } else { violation });
    }
    let largest = problem.b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let over = |violation: f64, size: f64| if violation > 0.0 && size > 0.0 { violation / size } else { 0.0 };
    if largest == 0.0 && w.nonzeros() > 0 {
        return Certificate { kkt: f64::INFINITY, scaled: f64::INFINITY };
    }
    Certificate { kkt: over(worst.kkt, largest), scaled: over(worst.scaled, problem.unit) }
}
