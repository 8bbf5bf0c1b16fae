//! The options of a path, and the problem they define.

use crate::error::{Error, Result, check};
use crate::gram::Gram;

/// Which path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LarsMethod {
    /// The lasso or elastic-net path: a variable leaves when its coefficient reaches zero.
    #[default]
    Lasso,
    /// Plain LARS: variables never leave, coefficients may change sign.
    Lars,
}

/// Which path to compute, and where it stops.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LarsOptions {
    /// λ2 ≥ 0, added to the diagonal of the Gram matrix.
    pub ridge: f64,
    /// One factor ≥ 0 per variable on its penalty, 1 if none are given. A factor of 0 makes the variable free: it is in
    /// every model and does not count towards `max_nonzeros`. An infinite factor bars the variable.
    pub penalty_factors: Option<Vec<f64>>,
    /// Only coefficients ≥ 0. Free variables would have to be exempt, so a factor of 0 is refused with it.
    pub positive: bool,
    /// Lasso or plain LARS.
    pub method: LarsMethod,
    /// Stop before more than this many coefficients are nonzero, those of free variables not counted.
    pub max_nonzeros: Option<usize>,
    /// Stop at this level.
    pub lambda_min: f64,
    /// How many variables besides the active ones a stretch of the path is run on before all are checked.
    /// This affects speed only: the path is the same.
    pub working_set: usize,
}

impl Default for LarsOptions {
    fn default() -> Self {
        LarsOptions {
            ridge: 0.0,
            penalty_factors: None,
            positive: false,
            method: LarsMethod::Lasso,
            max_nonzeros: None,
            lambda_min: 0.0,
            working_set: 128,
        }
    }
}

impl LarsOptions {
    /// Refuses options that are out of range for `p` variables.
    pub fn check(&self, p: usize) -> Result<()> {
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)?;
        check("lambda_min", self.lambda_min, "a number from 0 to 1e100", |x| x >= 0.0)?;
        if self.max_nonzeros == Some(0) {
            return Err(Error::parameter("max_nonzeros", 0, ">= 1"));
        }
        if self.positive && self.method == LarsMethod::Lars {
            let allowed = "false with the method Lars, whose coefficients may change sign";
            return Err(Error::parameter("positive", true, allowed));
        }
        if self.working_set == 0 {
            return Err(Error::parameter("working_set", 0, ">= 1"));
        }
        match &self.penalty_factors {
            Some(factors) => self.check_factors(factors, p),
            None => Ok(()),
        }
    }

    /// Refuses penalty factors that are out of range for `p` variables, or do not go with the other options.
    pub(super) fn check_factors(&self, factors: &[f64], p: usize) -> Result<()> {
        check_penalty_factors(factors, p)?;
        match factors.iter().position(|&v| v == 0.0) {
            Some(j) if self.positive => Err(Error::parameter(
                "penalty_factors",
                format!("0 at variable {j}"),
                "> 0 with `positive`: a variable without a penalty could become negative",
            )),
            _ => Ok(()),
        }
    }
}

/// Refuses penalty factors that are not `p` numbers ≥ 0 (infinity allowed).
pub(crate) fn check_penalty_factors(factors: &[f64], p: usize) -> Result<()> {
    if factors.len() != p {
        return Err(Error::Size {
            what: "`penalty_factors`",
            given: factors.len(),
            expected: p,
            why: format!("there are {p} variables"),
        });
    }
    match factors.iter().position(|&v| v.is_nan() || v < 0.0) {
        Some(j) => Err(Error::parameter(
            "penalty_factors",
            format!("{} at variable {j}", factors[j]),
            ">= 0 (0 frees a variable from the penalty, infinity bars it)",
        )),
        None => Ok(()),
    }
}

/// What all responses share.
pub(crate) struct SharedProblem<'a> {
    pub(crate) gram: &'a dyn Gram,
    pub(crate) options: &'a LarsOptions,
    /// Penalty factors v, of every response that has none of its own.
    pub(crate) v: Vec<f64>,
    /// `√(Gⱼⱼ)`, ridge included: the length of variable j. (If the diagonal is expensive, what its source says.)
    pub(crate) scale: Vec<f64>,
    /// Its inverse.
    pub(crate) inverse_scale: Vec<f64>,
}

impl<'a> SharedProblem<'a> {
    pub(crate) fn new(gram: &'a dyn Gram, options: &'a LarsOptions) -> Result<Self> {
        if gram.dim() == 0 {
            return Err(Error::Empty { rows: 0, columns: 0 });
        }
        gram.check()?;
        Self::checked(gram, options)
    }

    /// The shared part of problems whose Gram matrix is not empty and needs no check.
    pub(crate) fn checked(gram: &'a dyn Gram, options: &'a LarsOptions) -> Result<Self> {
        let p = gram.dim();
        options.check(p)?;
        let diagonal = gram.squared_lengths();
        if let Some(j) = diagonal.iter().position(|d| !d.is_finite() || *d < 0.0) {
            return Err(Error::parameter(
                "gram",
                format!("{} on the diagonal at variable {j}", diagonal[j]),
                "positive semidefinite and finite",
            ));
        }
        let scale: Vec<f64> = diagonal.iter().map(|d| (d + options.ridge).sqrt()).collect();
        let inverse_scale = scale.iter().map(|scale| 1.0 / scale).collect();
        let v = options.penalty_factors.clone().unwrap_or_else(|| vec![1.0; p]);
        Ok(SharedProblem { gram, options, v, scale, inverse_scale })
    }
}

/// One response's problem.
pub(crate) struct Problem<'a> {
    pub(crate) shared: &'a SharedProblem<'a>,
    /// Penalty factors v.
    pub(crate) v: &'a [f64],
    /// The free variables, whose factor is 0; rising.
    pub(crate) free: Vec<usize>,
    /// Largest number of other variables.
    pub(crate) max_nonzeros: Option<usize>,
    pub(crate) b: &'a [f64],
    /// The largest `|bⱼ|/√Gⱼⱼ`: the size of the problem once every variable has length 1.
    pub(crate) unit: f64,
    /// The largest `|bⱼ|`.
    pub(crate) largest: f64,
}

/// Correlations that differ by less than this, in units of the problem, count as tied: far above what
/// rounding leaves of an exact tie, far below the certificate's bar of 1e-9.
pub(crate) const TIE: f64 = 1e-12;

impl<'a> Problem<'a> {
    /// For factors `v` that have been checked.
    pub(crate) fn new(shared: &'a SharedProblem<'a>, v: &'a [f64], b: &'a [f64]) -> Result<Self> {
        let p = v.len();
        if b.len() != p {
            return Err(Error::Size {
                what: "`b`",
                given: b.len(),
                expected: p,
                why: format!("the Gram matrix has {p} variables"),
            });
        }
        if let Some(j) = b.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "`b`", row: j, column: 0, value: b[j] });
        }
        let unit = (0..p)
            .filter(|&j| shared.scale[j] > 0.0 && v[j].is_finite())
            .map(|j| b[j].abs() / shared.scale[j])
            .fold(0.0, f64::max);
        let largest = b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        if largest > 1e100 || (unit > 0.0 && !(1e-100..=1e100).contains(&unit)) {
            let value = format!("of size {largest:e} ({unit:e} over the lengths of the variables)");
            return Err(Error::parameter("b", value, "between 1e-100 and 1e100 in size: rescale the data"));
        }
        let free = (0..p).filter(|&j| v[j] == 0.0).collect();
        Ok(Problem { shared, v, free, max_nonzeros: shared.options.max_nonzeros, b, unit, largest })
    }

    /// This problem to another number of variables, which may be 0.
    pub(crate) fn limited(self, max_nonzeros: Option<usize>) -> Self {
        Problem { max_nonzeros, ..self }
    }

    pub(crate) fn p(&self) -> usize {
        self.b.len()
    }

    pub(crate) fn options(&self) -> &'a LarsOptions {
        self.shared.options
    }

    /// The size below which a difference of correlations of variable `j` is a tie.
    pub(crate) fn tie(&self, j: usize) -> f64 {
        TIE * self.unit * self.shared.scale[j]
    }

    /// The side on which `c` could reach the level: its absolute value, or `c` itself if only positive
    /// coefficients are allowed.
    pub(crate) fn reach(&self, c: f64) -> f64 {
        if self.options().positive { c } else { c.abs() }
    }

    /// The level at which the path begins, that of the largest of the correlations `c` of penalised variables, or 0 if there
    /// is none.
    pub(crate) fn first_level(&self, c: &[f64]) -> f64 {
        let penalised = (0..self.p()).filter(|&j| self.v[j] > 0.0);
        penalised.map(|j| self.reach(c[j]) / self.v[j]).fold(0.0, f64::max)
    }
}
