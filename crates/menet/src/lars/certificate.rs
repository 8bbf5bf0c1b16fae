//! How far reported coefficients are from optimal, recomputed from `G` and `b`.

use faer::{Mat, MatRef};

use super::problem::{LarsMethod, LarsOptions, Problem, SharedProblem};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::numerics::linalg::{column, vectorized};
use crate::numerics::sparse::SparseVector;

/// The largest violation of the optimality (Karush-Kuhn-Tucker) conditions, measured in two ways.
///
/// With `c = b − Gw`, a variable violates them by `|cⱼ − λ vⱼ sign(wⱼ)|` where `wⱼ ≠ 0` and by
/// `(|cⱼ| − λ vⱼ)₊` elsewhere (`(cⱼ − λ vⱼ)₊` if coefficients must be positive). For a free variable, whose
/// factor is 0, that is `|cⱼ|` in either case. A coefficient of a barred variable, or one of a forbidden sign, is
/// an infinite violation. For plain LARS the sign is that of `cⱼ`.
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

/// A violation of the optimality conditions up to this is rounding. We call such a path exact.
pub(crate) const EXACT: f64 = 1e-9;

/// A sentence about a violation above `EXACT`; none for smaller ones.
pub fn violation(kkt: f64) -> Option<String> {
    // NaN is no proof of optimality either.
    (kkt.is_nan() || kkt > EXACT).then(|| {
        format!(
            "violates the optimality conditions by {kkt:.1e}, relative to the largest correlation, where up to {EXACT:e} is \
             rounding: scale the variables to similar lengths, or use a larger ridge"
        )
    })
}

/// The certificate of any coefficients `w` at level `lambda`, from a path or not.
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
    let shared = SharedProblem::new(gram, options)?;
    let problem = Problem::new(&shared, &shared.v, b)?;
    if let Some(&index) = w.indices().last().filter(|&&index| index >= b.len()) {
        return Err(Error::parameter(
            "w",
            format!("nonzero at variable {index}"),
            format!("below {}", b.len()),
        ));
    }
    crate::error::check("lambda", lambda, "a number from 0 to 1e100", |x| x >= 0.0)?;
    Ok(certificate(&problem, &correlations(&problem, w), w, lambda))
}

/// The certificate of coefficients `w` of a problem at `level`.
pub(crate) fn certificate_at(problem: &Problem<'_>, w: &SparseVector, level: f64) -> Certificate {
    certificate(problem, &correlations(problem, w), w, level)
}

/// `b − G w` at all variables.
pub(crate) fn correlations(problem: &Problem<'_>, w: &SparseVector) -> Vec<f64> {
    let mut c = Mat::zeros(problem.p(), 1);
    if w.nonzeros() > 0 {
        let coefficients = MatRef::from_column_major_slice(w.values(), w.nonzeros(), 1);
        problem.shared.gram.product(w.indices(), coefficients, c.as_mut());
    }
    let mut c: Vec<f64> = problem.b.iter().zip(column(&c, 0)).map(|(b, image)| b - image).collect();
    for (j, value) in w.iter() {
        c[j] -= problem.options().ridge * value;
    }
    c
}

/// The certificate of `w` at `level`, given its correlations.
pub(super) fn certificate(problem: &Problem<'_>, c: &[f64], w: &SparseVector, level: f64) -> Certificate {
    let mut worst = WorstViolation::new(problem, level);
    let (v, inverse_scale) = (problem.v, &problem.shared.inverse_scale[..]);
    worst.look(MeasuredVariables { v, inverse_scale }, c, &w.to_dense(c.len()));
    worst.certificate()
}

/// What the measures need to know of some variables.
#[derive(Clone, Copy)]
pub(super) struct MeasuredVariables<'a> {
    pub(super) v: &'a [f64],
    pub(super) inverse_scale: &'a [f64],
}

/// The largest violations met so far at a knot.
pub(super) struct WorstViolation<'a> {
    problem: &'a Problem<'a>,
    level: f64,
    plain: f64,
    scaled: f64,
    finite: bool,
    any_nonzero: bool,
}

impl<'a> WorstViolation<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, level: f64) -> Self {
        WorstViolation { problem, level, plain: 0.0, scaled: 0.0, finite: true, any_nonzero: false }
    }

    /// Looks at variables with correlations `c` and coefficients `w`, eight at a time and without branches. Returns how far one
    /// of them rises above the level at most, relative to its length.
    pub(super) fn look(&mut self, variables: MeasuredVariables<'_>, c: &[f64], w: &[f64]) -> f64 {
        const LANES: usize = 8;
        let max = |a: f64, b: f64| if a > b { a } else { b };
        let options = self.problem.options();
        let (positive, lasso, level) = (options.positive, options.method == LarsMethod::Lasso, self.level);
        let (w, MeasuredVariables { v, inverse_scale }) = (&w[..c.len()], variables);
        let (worst, nothing, nonzeros) = vectorized(
            #[inline(always)]
            || {
                let mut worst = [[0.0; LANES], [0.0; LANES], [f64::NEG_INFINITY; LANES]];
                let mut nothing = [0.0; LANES]; // unless a correlation is infinite or NaN
                let mut nonzeros = [false; LANES];
                let mut look = |l: usize, v: f64, inverse: f64, c: f64, w: f64| {
                    let barred = v == f64::INFINITY;
                    let level = if barred { f64::INFINITY } else { level * v };
                    let above = (if positive { c } else { c.abs() }) - level;
                    let along = if lasso { c * 1f64.copysign(w) } else { c.abs() };
                    let forbidden = lasso & (barred | (positive & (w < 0.0)));
                    let off = if forbidden { f64::INFINITY } else { (along - level).abs() };
                    let violation = if w == 0.0 { above } else { off };
                    nothing[l] += 0.0 * c;
                    nonzeros[l] |= w != 0.0;
                    worst[0][l] = max(violation, worst[0][l]);
                    worst[1][l] = max(violation * inverse, worst[1][l]);
                    worst[2][l] = max(above * inverse, worst[2][l]);
                };
                let (v, v_tail) = v.as_chunks::<LANES>();
                let (inverse, inverse_tail) = inverse_scale.as_chunks::<LANES>();
                let (c, c_tail) = c.as_chunks::<LANES>();
                let (w, w_tail) = w.as_chunks::<LANES>();
                for (((v, inverse), c), w) in v.iter().zip(inverse).zip(c).zip(w) {
                    for l in 0..LANES {
                        look(l, v[l], inverse[l], c[l], w[l]);
                    }
                }
                for l in 0..c_tail.len() {
                    look(l, v_tail[l], inverse_tail[l], c_tail[l], w_tail[l]);
                }
                (worst, nothing, nonzeros)
            },
        );
        let [plain, scaled, above] = worst.map(|lanes| lanes.into_iter().fold(f64::NEG_INFINITY, max));
        (self.plain, self.scaled) = (max(plain, self.plain), max(scaled, self.scaled));
        self.finite &= nothing == [0.0; LANES];
        self.any_nonzero |= nonzeros != [false; LANES];
        above
    }

    pub(super) fn certificate(&self) -> Certificate {
        let over = |violation: f64, size: f64| if violation > 0.0 { violation / size } else { 0.0 };
        let largest = self.problem.largest;
        if !self.finite || (self.any_nonzero && largest == 0.0) {
            return Certificate { kkt: f64::INFINITY, scaled: f64::INFINITY };
        }
        Certificate { kkt: over(self.plain, largest), scaled: over(self.scaled, self.problem.unit) }
    }
}
