//! The problem in units of its own: every variable is 1 long, and the largest correlation is 1. So no square of a number
//! can leave the range of doubles, and one number tells a small gain from rounding.

use std::collections::BTreeMap;
use std::rc::Rc;

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::lars::cholesky::{Cholesky, DEPENDENT};
use crate::lars::{Certificate, LarsOptions};
use crate::numerics::sparse::SparseVector;

/// How often coefficients are refined at most.
const ROUNDS: usize = 2;

/// How far `½wᵀGw − bᵀw` may be off by rounding, in units of `Σ|w| (1 + Σ|w|)`: no entry of G or b is larger than 1.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Columns of G that are kept beside those of a support.
const SPARE: usize = 64;

/// An objective as computed.
#[derive(Clone, Copy)]
pub(super) struct Objective {
    pub(super) value: f64,
    /// A value that it is certainly not above, in spite of rounding. Supports are compared by it, so that dependent variables
    /// are not preferred because of their rounding errors.
    pub(super) sure: f64,
}

/// The problem `min ½ wᵀ(G + λ2 I)w − bᵀw`, scaled.
pub(super) struct Scaled<'a> {
    gram: &'a dyn Gram,
    b: &'a [f64],
    ridge: f64,
    /// One over the length of every variable; 0 for those without one.
    inverse: Vec<f64>,
    /// The largest `|bⱼ|/√Gⱼⱼ`, or 1 if that is 0.
    pub(super) unit: f64,
    /// The largest `|bⱼ|`.
    largest: f64,
    /// The scaled `b`.
    pub(super) start: Vec<f64>,
    /// The variables with a penalty factor of 0, rising.
    pub(super) free: Vec<usize>,
    /// A variable whose squared distance from the span of a support is not above this cannot join it: a tiny number for those
    /// that can be chosen, infinity for all others.
    pub(super) floor: Vec<f64>,
    /// The squared lengths, scaled: 1, or, where the source only gave a bound, a careful guess until it is asked for.
    pub(super) diagonal: Vec<f64>,
    known: Vec<bool>,
    /// Whether no guess of a squared length was too large.
    pub(super) trusted: bool,
    columns: BTreeMap<usize, Rc<Vec<f64>>>,
}

impl<'a> Scaled<'a> {
    pub(super) fn new(gram: &'a dyn Gram, b: &'a [f64], options: &LarsOptions) -> Result<Self> {
        let p = gram.dim();
        options.check(p)?;
        if options.positive {
            return Err(Error::parameter("positive", true, "false for best subsets"));
        }
        if b.len() != p {
            let why = format!("the Gram matrix has {p} variables");
            return Err(Error::Size { what: "`b`", given: b.len(), expected: p, why });
        }
        if let Some(j) = b.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "`b`", row: j, column: 0, value: b[j] });
        }
        let v = |j: usize| options.penalty_factors.as_ref().map_or(1.0, |v| v[j]);
        let inverse_of = |square: f64| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        let inverse: Vec<f64> =
            gram.squared_lengths().iter().map(|square| inverse_of(square + options.ridge)).collect();
        let size = |j: usize| if v(j).is_finite() { b[j].abs() * inverse[j] } else { 0.0 };
        let unit = (0..p).map(size).fold(0.0, f64::max);
        if unit > 0.0 && !(1e-100..=1e100).contains(&unit) {
            let value = format!("of size {unit:e} over the lengths of the variables");
            return Err(Error::parameter("b", value, "between 1e-100 and 1e100 in size: rescale the data"));
        }
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let start = (0..p).map(|j| if v(j).is_finite() { b[j] * inverse[j] / unit } else { 0.0 }).collect();
        let open = |j: usize| v(j) > 0.0 && v(j).is_finite() && inverse[j] > 0.0;
        let mut scaled = Scaled {
            gram,
            b,
            ridge: options.ridge,
            unit,
            largest: b.iter().fold(0.0, |m: f64, b| m.max(b.abs())),
            start,
            free: (0..p).filter(|&j| v(j) == 0.0).collect(),
            floor: (0..p).map(|j| if open(j) { DEPENDENT } else { f64::INFINITY }).collect(),
            diagonal: vec![1.0; p],
            known: vec![true; p],
            trusted: true,
            columns: BTreeMap::new(),
            inverse,
        };
        scaled.look_at_lengths();
        Ok(scaled)
    }

    /// If squared lengths turn out to be upper bounds, all are assumed to be half as large as the first suggests. The gains that
    /// are computed from them are then too large rather than too small.
    fn look_at_lengths(&mut self) {
        let p = self.start.len();
        let Some(first) = (0..p)
            .filter(|&j| self.inverse[j] > 0.0)
            .max_by(|&i, &j| self.start[i].abs().total_cmp(&self.start[j].abs()).then(j.cmp(&i)))
        else {
            return;
        };
        let square = self.square(first);
        if (square - 1.0).abs() > 1e-9 {
            self.known.fill(false);
            self.diagonal.fill(0.5 * square);
            self.resolve(first);
        }
    }

    /// The squared length of a variable.
    fn square(&self, j: usize) -> f64 {
        let mut square = [0.0];
        self.gram.entries(&[j], j, &mut square);
        (square[0] + self.ridge) * self.inverse[j] * self.inverse[j]
    }

    /// Whether the squared length of a variable was known. It is from now on.
    pub(super) fn resolve(&mut self, j: usize) -> bool {
        if !self.known[j] {
            let square = self.square(j);
            self.trusted &= square >= self.diagonal[j];
            (self.diagonal[j], self.known[j]) = (square, true);
            return false;
        }
        true
    }

    /// Column `j` of the scaled G, ridge included.
    pub(super) fn column(&mut self, j: usize) -> Rc<Vec<f64>> {
        if let Some(column) = self.columns.get(&j) {
            return column.clone();
        }
        let mut column = vec![0.0; self.start.len()];
        self.gram.column(j, &mut column);
        column[j] += self.ridge;
        let own = self.inverse[j];
        column.iter_mut().zip(&self.inverse).for_each(|(value, inverse)| *value = *value * inverse * own);
        self.resolve(j);
        let column = Rc::new(column);
        self.columns.insert(j, column.clone());
        column
    }

    /// Forgets columns that are not of `support`, if there are many.
    pub(super) fn tidy(&mut self, support: &[usize]) {
        if self.columns.len() > SPARE + 4 * support.len() {
            self.columns.retain(|j, _| support.contains(j));
        }
    }

    /// The factor of the system of a support, whose variables rise; the variable that depends on those before it if there
    /// is one.
    pub(super) fn factor(&mut self, support: &[usize]) -> std::result::Result<Cholesky, usize> {
        let mut factor = Cholesky::default();
        for (k, &j) in support.iter().enumerate() {
            let column = self.column(j);
            let cross: Vec<f64> = support[..k].iter().map(|&i| column[i]).collect();
            factor.append(&cross, column[j], self.start[j]).map_err(|_| j)?;
        }
        Ok(factor)
    }

    /// The least value of the objective with this support, in any order; none where its variables depend on each other.
    pub(super) fn objective(&mut self, support: &[usize]) -> Option<Objective> {
        let factor = self.factor(&sorted(support)).ok()?;
        let (value, mut w) = (-0.5 * factor.carried_square(), Vec::new());
        factor.solution(&mut w);
        let size: f64 = w.iter().map(|w| w.abs()).sum();
        Some(Objective { value, sure: value + ROUNDING * size * (1.0 + size) })
    }

    /// The coefficients of a support whose variables rise, in the user's units, and how far they are from optimal on it.
    pub(super) fn solution(&mut self, support: &[usize]) -> Result<(SparseVector, Certificate)> {
        let Ok(factor) = self.factor(support) else {
            let detail = format!("the system of the support {support:?} is singular");
            return Err(Error::Numerical { what: "the best subset", detail });
        };
        let mut w = Vec::new();
        factor.solution(&mut w);
        let (mut best, mut off) = self.examine(support, &w);
        for _ in 0..ROUNDS {
            factor.solve(&mut off);
            w.iter_mut().zip(&off).for_each(|(w, off)| *w += off);
            let (next, left) = self.examine(support, &w);
            if next.1.scaled >= best.1.scaled {
                break;
            }
            (best, off) = (next, left);
        }
        Ok(best)
    }

    /// The coefficients `w` in the user's units with their certificate, and the scaled correlations that are left.
    fn examine(&self, support: &[usize], w: &[f64]) -> ((SparseVector, Certificate), Vec<f64>) {
        let m = support.len();
        let w: Vec<f64> = support.iter().zip(w).map(|(&j, w)| w * self.inverse[j] * self.unit).collect();
        let mut image = Mat::zeros(m, 1);
        if m > 0 {
            let w = MatRef::from_column_major_slice(&w, m, 1);
            self.gram.product_at(support, support, w, image.as_mut());
        }
        let mut certificate = Certificate::default();
        let off = (0..m).map(|k| {
            let c = self.b[support[k]] - image[(k, 0)] - self.ridge * w[k];
            let off = c * self.inverse[support[k]] / self.unit;
            let kkt = if c == 0.0 { 0.0 } else { c.abs() / self.largest };
            certificate = certificate.worse(Certificate { kkt, scaled: off.abs() });
            off
        });
        let off = off.collect();
        ((SparseVector::from_rising(support.iter().copied().zip(w)), certificate), off)
    }
}

/// A list of variables, rising.
pub(super) fn sorted(support: &[usize]) -> Vec<usize> {
    let mut support = support.to_vec();
    support.sort_unstable();
    support
}
