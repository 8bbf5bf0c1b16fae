//! How far reported coefficients are from optimal, recomputed from `G` and `b`.

use faer::Mat;

use super::problem::{LarsOptions, Method, Problem, Shared};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::linalg::vectorized;
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
    crate::error::check("lambda", lambda, "a number from 0 to 1e100", |x| x >= 0.0)?;
    let c = correlations(&problem, &[w], 1);
    Ok(certificate(&problem, crate::linalg::column(&c, 0), w, lambda))
}

/// `b − G w` for several `w`, one a column, from one product with the Gram source. The product is always of `width`
/// columns or more, so that the bits of a column do not depend on how many stand beside it.
pub(super) fn correlations(problem: &Problem<'_>, points: &[&SparseVector], width: usize) -> Mat<f64> {
    let width = width.max(points.len());
    let p = problem.p();
    let mut place = vec![usize::MAX; p];
    let mut support = Vec::new();
    for &j in points.iter().flat_map(|w| w.indices()) {
        if place[j] == usize::MAX {
            place[j] = support.len();
            support.push(j);
        }
    }
    let mut coefficients = Mat::zeros(support.len(), width);
    for (k, w) in points.iter().enumerate() {
        for (j, value) in w.iter() {
            coefficients[(place[j], k)] = value;
        }
    }
    let mut c = Mat::zeros(p, width);
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
    let none = vec![f64::NEG_INFINITY; c.len()];
    examine(problem, c, w, level, &none).0
}

/// The certificate, and how far the correlation of any variable with `bias` 0, rather than −∞, rises above the
/// level, relative to its length.
pub(super) fn examine(
    problem: &Problem<'_>,
    c: &[f64],
    w: &SparseVector,
    level: f64,
    bias: &[f64],
) -> (Certificate, f64) {
    let (v, scale) = (&problem.shared.v, &problem.shared.scale);
    let options = problem.options();
    let Excess { mut plain, mut scaled, outside, finite } = excess(problem, c, level, bias);
    // What holds where a coefficient is nonzero is never less than what was just asked of all.
    for (j, value) in w.iter() {
        let violation = if options.method == Method::Lars {
            (c[j].abs() - level * v[j]).abs()
        } else if v[j].is_infinite() || (options.positive && value < 0.0) {
            f64::INFINITY
        } else {
            (c[j] - level * v[j] * value.signum()).abs()
        };
        plain = plain.max(violation);
        scaled = scaled.max(violation / scale[j]);
    }
    let largest = problem.largest;
    let over = |violation: f64, size: f64| if violation > 0.0 { violation / size } else { 0.0 };
    let certificate = if !finite || (largest == 0.0 && w.nonzeros() > 0) {
        Certificate { kkt: f64::INFINITY, scaled: f64::INFINITY }
    } else {
        Certificate { kkt: over(plain, largest), scaled: over(scaled, problem.unit) }
    };
    (certificate, outside)
}

/// Largest values over all variables.
struct Excess {
    /// Of the correlation above the level.
    plain: f64,
    /// Of the same over the length of the variable.
    scaled: f64,
    /// Of the latter where the bias is 0.
    outside: f64,
    /// Whether all correlations are finite.
    finite: bool,
}

/// How far correlations rise above the level. All variables at every knot: eight at a time, without branches.
fn excess(problem: &Problem<'_>, c: &[f64], level: f64, bias: &[f64]) -> Excess {
    const LANES: usize = 8;
    let max = |a: f64, b: f64| if a > b { a } else { b };
    let positive = problem.options().positive;
    let (v, inverse) = (&problem.shared.v[..], &problem.shared.inverse_scale[..]);
    vectorized(
        #[inline(always)]
        || {
            let mut best = [[f64::NEG_INFINITY; LANES]; 3];
            let mut nothing = [0.0; LANES]; // unless a correlation is infinite or NaN
            let mut look = |l: usize, c: f64, v: f64, inverse: f64, bias: f64| {
                let above = (if positive { c } else { c.abs() }) - level * v;
                nothing[l] += 0.0 * c;
                best[0][l] = max(above, best[0][l]);
                best[1][l] = max(above * inverse, best[1][l]);
                best[2][l] = max(above * inverse + bias, best[2][l]);
            };
            let (c, c_tail) = c.as_chunks::<LANES>();
            let (v, v_tail) = v.as_chunks::<LANES>();
            let (inverse, inverse_tail) = inverse.as_chunks::<LANES>();
            let (bias, bias_tail) = bias.as_chunks::<LANES>();
            for (((c, v), inverse), bias) in c.iter().zip(v).zip(inverse).zip(bias) {
                for l in 0..LANES {
                    look(l, c[l], v[l], inverse[l], bias[l]);
                }
            }
            for l in 0..c_tail.len() {
                look(l, c_tail[l], v_tail[l], inverse_tail[l], bias_tail[l]);
            }
            let [plain, scaled, outside] = best.map(|lanes| lanes.into_iter().fold(f64::NEG_INFINITY, max));
            Excess { plain, scaled, outside, finite: nothing == [0.0; LANES] }
        },
    )
}
