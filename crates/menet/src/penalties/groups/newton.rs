//! Newton's method on the groups that have coefficients.
//!
//! There the conditions `c_g = λ v u_g/‖u_g‖` are smooth. With `κ_g = λ v/‖u_g‖` and `û_g = u_g/‖u_g‖` their derivative is
//!
//! ```text
//! I_D ⊗ (G + diag κ) − Σ_g κ_g û_g û_gᵀ
//! ```
//!
//! For one axis it is formed and factored. For D axes its first term has one factor for all of them, and the second is of
//! the rank of the number of groups: by Woodbury's identity a step for D axes costs no more than a few for one.

use faer::Mat;

use super::problem::norm_of;
use super::working::WorkingSet;
use crate::numerics::linalg::{cholesky, cholesky_solve, column, column_mut, product};

/// The most steps in a row.
const STEPS: usize = 30;

/// How much the diagonal is raised, relative to itself, where a step without that does not help: the matrix may be singular.
const RAISED: [f64; 5] = [0.0, 1e-13, 1e-10, 1e-7, 1e-4];

/// Shorter steps that are tried where a whole one overshoots.
const LENGTHS: [f64; 5] = [1.0, 0.5, 0.25, 0.125, 0.0625];

/// The groups with coefficients, put together.
struct ActiveGroups {
    groups: Vec<usize>,
    /// The slots of all of them.
    slots: Vec<usize>,
    /// Which of the groups a slot belongs to.
    of: Vec<usize>,
    /// κ of every group.
    curvature: Vec<f64>,
    /// û, one row per slot.
    towards: Mat<f64>,
    /// `c − κu`, which should be 0.
    off: Mat<f64>,
}

impl WorkingSet<'_> {
    /// Steps until the violation is at most `tolerance`, or a step no longer helps. Returns the violation.
    pub(super) fn polish(&mut self, level: f64, tolerance: f64) -> f64 {
        let mut raised = 0;
        for _ in 0..STEPS {
            let active = self.put_together(level);
            if active.groups.is_empty() || self.worst_of(&active.groups, level) <= tolerance {
                break;
            }
            let helped = (raised..RAISED.len()).find(|&k| self.step(&active, level, RAISED[k]));
            match helped {
                Some(k) => raised = k,
                None => break,
            }
        }
        self.worst(level)
    }

    fn worst_of(&self, groups: &[usize], level: f64) -> f64 {
        groups.iter().map(|&k| self.violation(k, level)).fold(0.0, f64::max)
    }

    fn put_together(&self, level: f64) -> ActiveGroups {
        let groups = self.active();
        let (mut slots, mut of, mut curvature, mut inverse) = (vec![], vec![], vec![], vec![]);
        for (at, &k) in groups.iter().enumerate() {
            let range = self.range(k);
            let values =
                (0..self.u.ncols()).flat_map(|axis| column(&self.u, axis)[range.clone()].iter().copied());
            let size = norm_of(values);
            curvature.push(level * self.block(k).v / size);
            inverse.push(1.0 / size);
            of.extend(range.clone().map(|_| at));
            slots.extend(range);
        }
        let (m, width) = (slots.len(), self.u.ncols());
        let towards = Mat::from_fn(m, width, |s, axis| self.u[(slots[s], axis)] * inverse[of[s]]);
        let off = Mat::from_fn(m, width, |s, axis| {
            self.c[(slots[s], axis)] - curvature[of[s]] * self.u[(slots[s], axis)]
        });
        ActiveGroups { groups, slots, of, curvature, towards, off }
    }

    /// Takes a step if one of some length lowers the violation of these groups, and turns none of them around.
    fn step(&mut self, active: &ActiveGroups, level: f64, raised: f64) -> bool {
        let m = active.slots.len();
        let gram = Mat::from_fn(m, m, |s, t| self.gram[(active.slots[s], active.slots[t])]);
        let step = match self.u.ncols() {
            1 => active.one_axis(gram, raised),
            _ => active.many_axes(gram, raised),
        };
        let Some(step) = step else { return false };
        let (u, c) = (self.u.clone(), self.c.clone());
        let before = self.worst_of(&active.groups, level);
        for length in LENGTHS {
            let mut along = vec![0.0; active.groups.len()];
            for axis in 0..u.ncols() {
                let new = column_mut(&mut self.u, axis);
                for (s, &slot) in active.slots.iter().enumerate() {
                    new[slot] = u[(slot, axis)] + length * step[(s, axis)];
                    along[active.of[s]] += new[slot] * active.towards[(s, axis)];
                }
            }
            if along.iter().all(|&along| along > 0.0) {
                self.refresh();
                // Written so that NaN does not help.
                if self.worst_of(&active.groups, level) < (1.0 - 0.25 * length) * before {
                    return true;
                }
            }
        }
        (self.u, self.c) = (u, c);
        false
    }
}

impl ActiveGroups {
    fn one_axis(&self, mut matrix: Mat<f64>, raised: f64) -> Option<Mat<f64>> {
        let towards = column(&self.towards, 0);
        for (s, &group) in self.of.iter().enumerate() {
            for (t, _) in self.of.iter().enumerate().filter(|(_, other)| **other == group) {
                let same = if s == t { 1.0 } else { 0.0 };
                matrix[(s, t)] += self.curvature[group] * (same - towards[s] * towards[t]);
            }
            matrix[(s, s)] *= 1.0 + raised;
        }
        solved(&matrix, self.off.clone())
    }

    fn many_axes(&self, mut matrix: Mat<f64>, raised: f64) -> Option<Mat<f64>> {
        let (m, groups) = (self.slots.len(), self.groups.len());
        for (s, &group) in self.of.iter().enumerate() {
            matrix[(s, s)] += self.curvature[group];
        }
        let factor = cholesky(matrix.as_ref())?;
        let inverse = {
            let mut inverse = Mat::identity(m, m);
            cholesky_solve(factor.as_ref(), inverse.as_mut());
            inverse
        };
        let first = product(inverse.as_ref(), self.off.as_ref());
        let angles = product(self.towards.as_ref(), self.towards.transpose());
        // The small system, scaled by √κ on both sides so that its eigenvalues are from 0 to 1.
        let root: Vec<f64> = self.curvature.iter().map(|kappa| kappa.sqrt()).collect();
        let mut small = Mat::<f64>::identity(groups, groups);
        for t in 0..m {
            for s in 0..m {
                let (g, h) = (self.of[s], self.of[t]);
                small[(g, h)] -= root[g] * inverse[(s, t)] * angles[(s, t)] * root[h];
            }
        }
        (0..groups).for_each(|g| small[(g, g)] += raised);
        let mut right = Mat::zeros(groups, 1);
        for (s, &g) in self.of.iter().enumerate() {
            let along: f64 = (0..first.ncols()).map(|axis| self.towards[(s, axis)] * first[(s, axis)]).sum();
            right[(g, 0)] += root[g] * along;
        }
        let found = solved(&small, right)?;
        let turned = Mat::from_fn(m, first.ncols(), |s, axis| {
            self.towards[(s, axis)] * root[self.of[s]] * found[(self.of[s], 0)]
        });
        Some(first + product(inverse.as_ref(), turned.as_ref()))
    }
}

/// `matrix⁻¹ right`; none where the matrix is not positive definite.
fn solved(matrix: &Mat<f64>, mut right: Mat<f64>) -> Option<Mat<f64>> {
    let factor = cholesky(matrix.as_ref())?;
    cholesky_solve(factor.as_ref(), right.as_mut());
    Some(right)
}
