//! Descent on the penalised objective among the variables that are already in. With it, few rounds are enough.
//!
//! Newton steps on the support, of m variables, cost m³ beside the p·m of a path. Variables whose coefficients would change sign are left
//! out; where that is not enough, the step ends at the first of them. Where the objective is not convex, one coefficient after the other is
//! minimised instead, at m² per sweep, until it is: there, coefficients leave or grow until the penalty no longer bends. The objective never
//! rises.

use faer::{Mat, MatRef};

use super::{Penalty, Tuning};
use crate::numerics::linalg::{axpy, cholesky, cholesky_solve, column, dot};
use crate::numerics::sparse::SparseVector;

/// Largest number of Newton steps.
pub(super) const STEPS: usize = 60;

/// Largest number of halvings of a step.
const HALVINGS: usize = 30;

/// Sweeps over all coefficients before Newton's method is tried again, where the objective is not convex.
const SWEEPS: usize = 16;

/// A gradient below this, relative to the largest `|bⱼ|` of the support, is rounding.
const PRECISE: f64 = 1e-14;

/// Steps towards the minimum over one coefficient, until one is this small, relative to the coefficient.
const INNER: usize = 4;
const NEAR: f64 = 0.1;

/// The objective on some variables at one level.
pub(super) struct Objective<'a> {
    pub(super) penalty: &'a dyn Penalty,
    pub(super) tuning: Tuning,
    /// `G + λ2 I` there.
    pub(super) gram: Mat<f64>,
    pub(super) b: Vec<f64>,
    /// Squared lengths of the variables, ridge included.
    pub(super) lengths: Vec<f64>,
    /// The level of every variable: λ times its own penalty factor. At 0 it is not penalised.
    pub(super) levels: Vec<f64>,
}

impl Objective<'_> {
    fn penalised(&self, i: usize) -> bool {
        self.levels[i] > 0.0
    }

    /// The pressure `P′` on a coefficient, against its sign.
    fn pressure(&self, i: usize, w: f64) -> f64 {
        if !self.penalised(i) {
            return 0.0;
        }
        let (t, level) = (self.lengths[i] * w.abs(), self.levels[i]);
        level * self.penalty.weight(t, level, self.tuning)
    }

    fn curvature(&self, i: usize, w: f64) -> f64 {
        if !self.penalised(i) {
            return 0.0;
        }
        let g = self.lengths[i];
        g * self.penalty.curvature(g * w.abs(), self.levels[i], self.tuning)
    }

    /// `½ wᵀGw − bᵀw + Σ P/g`.
    pub(super) fn at(&self, w: &[f64]) -> f64 {
        let smooth: f64 = (0..w.len())
            .filter(|&i| w[i] != 0.0)
            .map(|i| w[i] * (0.5 * dot(column(&self.gram, i), w) - self.b[i]))
            .sum();
        smooth + (0..w.len()).map(|i| self.worth(i, w[i])).sum::<f64>()
    }

    /// `P/g` of a coefficient.
    fn worth(&self, i: usize, w: f64) -> f64 {
        if w == 0.0 || !self.penalised(i) {
            return 0.0;
        }
        let g = self.lengths[i];
        self.penalty.value(g * w.abs(), self.levels[i], self.tuning) / g
    }

    /// `w` after one step of every coefficient that is zero and wants to be another: that of the lasso, which lies above the objective.
    pub(super) fn entered(&self, w: &[f64], positive: bool) -> Vec<f64> {
        let mut w = w.to_vec();
        for i in (0..w.len()).filter(|&i| w[i] == 0.0).collect::<Vec<_>>() {
            let pull = self.b[i] - dot(column(&self.gram, i), &w);
            let more = if positive { pull } else { pull.abs() } - self.levels[i];
            if more > 0.0 {
                w[i] = more.copysign(pull) / self.gram[(i, i)];
            }
        }
        w
    }

    /// Descends from `w` by at most so many steps, and says how low. Signs stay as they are, and zeros stay zero; only coefficients
    /// without a penalty may change sign.
    pub(super) fn descend(&self, w: &[f64], steps: usize) -> (Vec<f64>, f64) {
        let mut w = w.to_vec();
        let mut value = self.at(&w);
        let size = self.b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        for _ in 0..steps {
            let active: Vec<usize> = (0..w.len()).filter(|&i| w[i] != 0.0).collect();
            let pull = |&i: &usize| {
                self.b[i] - dot(column(&self.gram, i), &w) - self.pressure(i, w[i]) * w[i].signum()
            };
            let pull: Vec<f64> = active.iter().map(pull).collect();
            if pull.iter().all(|pull| pull.abs() <= PRECISE * size) {
                break;
            }
            let found = match self.step(&active, &w, &pull) {
                Some(step) => self.along(&active, &w, &step, value),
                None => self.swept(&active, &w, value),
            };
            match found {
                Some((next, lower)) => (w, value) = (next, lower),
                None => break,
            }
        }
        (w, value)
    }

    /// The Newton step; none where the objective is not convex.
    fn step(&self, active: &[usize], w: &[f64], pull: &[f64]) -> Option<Vec<f64>> {
        let m = active.len();
        let mut system = match m == w.len() {
            true => self.gram.clone(),
            false => Mat::from_fn(m, m, |i, k| self.gram[(active[i], active[k])]),
        };
        (0..m).for_each(|i| system[(i, i)] += self.curvature(active[i], w[active[i]]));
        let factor = cholesky(system.as_ref())?;
        let mut step = MatRef::from_column_major_slice(pull, m, 1).to_owned();
        cholesky_solve(factor.as_ref(), step.as_mut());
        let step = column(&step, 0).to_vec();
        step.iter().all(|step| step.is_finite()).then_some(step)
    }

    /// The coefficients after a few sweeps over all of them; none if that does not lower the objective.
    fn swept(&self, active: &[usize], w: &[f64], value: f64) -> Option<(Vec<f64>, f64)> {
        let mut next = w.to_vec();
        let mut c: Vec<f64> = (0..w.len()).map(|i| self.b[i] - dot(column(&self.gram, i), w)).collect();
        for _ in 0..SWEEPS {
            for &i in active {
                let step = self.alone(i, next[i], c[i]) - next[i];
                if step != 0.0 {
                    next[i] += step;
                    axpy(-step, column(&self.gram, i), &mut c);
                }
            }
        }
        let lower = self.at(&next);
        (lower < value).then_some((next, lower))
    }

    /// A coefficient that lowers the objective while the others stay: near the minimum, or 0 if it would change sign.
    fn alone(&self, i: usize, w: f64, c: f64) -> f64 {
        let (own, sign) = (self.gram[(i, i)], w.signum());
        if w == 0.0 || !self.penalised(i) {
            return if w == 0.0 { 0.0 } else { w + c / own };
        }
        let right = (c + own * w) * sign;
        // Along the sign: ½ own x² − right x + P. Newton's steps, or the lasso's where that is not convex.
        let mut x = w.abs();
        for _ in 0..INNER {
            let bend = own + self.curvature(i, x);
            let slope = own * x - right + self.pressure(i, x);
            let step = slope / if bend > 0.0 { bend } else { own };
            x = (x - step).max(0.0);
            if x == 0.0 || step.abs() <= NEAR * x {
                break;
            }
        }
        let value = |x: f64| 0.5 * own * x * x - right * x + self.worth(i, x);
        if value(x) < value(w.abs()) { x * sign } else { w }
    }

    /// The point at the end of a step, with zeros for all that would change sign: many leave at once.
    fn stepped(&self, active: &[usize], w: &[f64], step: &[f64]) -> Vec<f64> {
        let mut next = w.to_vec();
        for (&i, step) in active.iter().zip(step) {
            let there = w[i] + step;
            next[i] = if self.penalised(i) && there * w[i] <= 0.0 { 0.0 } else { there };
        }
        next
    }

    /// The farthest point along a step, up to the first coefficient that reaches zero, at which the objective is not above `value`.
    fn along(&self, active: &[usize], w: &[f64], step: &[f64], value: f64) -> Option<(Vec<f64>, f64)> {
        let next = self.stepped(active, w, step);
        let lower = self.at(&next);
        if lower < value {
            return Some((next, lower));
        }
        let mut far = 1.0;
        let mut reached = None;
        for (&i, &step) in active.iter().zip(step).filter(|&(&i, _)| self.penalised(i)) {
            let zero = -w[i] / step;
            if zero > 0.0 && zero < far {
                (far, reached) = (zero, Some(i));
            }
        }
        for _ in 0..HALVINGS {
            let mut next = w.to_vec();
            active.iter().zip(step).for_each(|(&i, step)| next[i] += far * step);
            if let Some(i) = reached {
                next[i] = 0.0;
            }
            let lower = self.at(&next);
            if lower <= value && next != w {
                return Some((next, lower));
            }
            (far, reached) = (far / 2.0, None);
        }
        None
    }
}

/// The entries of a sparse vector at these places, which hold all of it.
pub(super) fn entries(w: &SparseVector, places: &[usize]) -> Vec<f64> {
    places.iter().map(|&j| w.get(j)).collect()
}
