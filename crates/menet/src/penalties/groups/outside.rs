//! The groups that do not take part: which of them should.
//!
//! At an *anchor* `W₀` the correlations `c₀` of all variables are known. At another `W`, by Cauchy and Schwarz,
//!
//! ```text
//! ‖c_g‖ ≤ ‖c₀_g‖ + √tr(G_gg) h,    h² = tr(eᵀ(G + λ2 I)e),    e = W − W₀
//! ```
//!
//! so that a group of which this bound is below `λ v` need not be looked at. It does not depend on the level: an anchor serves
//! all levels nearby.

use faer::{Mat, MatRef};

use super::problem::{Problem, norm_at, sum_of};
use super::working::WorkingSet;
use crate::numerics::sparse::SparseVector;

/// A point at which all correlations are known.
#[derive(Debug)]
pub(super) struct AnchorPoint {
    /// W there, one vector per axis.
    w: Vec<SparseVector>,
    /// All correlations.
    c: Mat<f64>,
    /// `‖c_g‖` of every group.
    norms: Vec<f64>,
}

impl AnchorPoint {
    /// Where all coefficients are 0.
    pub(super) fn zero(problem: &Problem<'_>) -> Self {
        Self::at(problem, vec![SparseVector::default(); problem.width()], problem.b.to_owned())
    }

    /// At `w` with correlations `c`.
    pub(super) fn at(problem: &Problem<'_>, w: Vec<SparseVector>, c: Mat<f64>) -> Self {
        let norms = problem.blocks.iter().map(|block| norm_at(c.as_ref(), &block.variables)).collect();
        AnchorPoint { w, c, norms }
    }

    /// Whether it is at these coefficients, to the last bit.
    pub(super) fn is_at(&self, w: &[SparseVector]) -> bool {
        self.w == w
    }

    /// All correlations here.
    pub(super) fn correlations(&self) -> MatRef<'_, f64> {
        self.c.as_ref()
    }

    /// `‖c_g‖/v` of every group here.
    pub(super) fn levels<'a>(&'a self, problem: &'a Problem<'_>) -> impl Iterator<Item = f64> + 'a {
        self.norms.iter().zip(problem.blocks).map(|(norm, block)| norm / block.v)
    }

    /// `h` between the anchor and the working set, rounded up. Infinite where rounding leaves no bound.
    fn distance(&self, working: &WorkingSet<'_>) -> f64 {
        let (mut square, mut size) = (0.0_f64, 0.0_f64);
        for (axis, anchor) in self.w.iter().enumerate() {
            // A variable of several groups has one e, the sum of its slots.
            let mut e: Vec<(usize, usize, f64)> =
                (0..working.slots.len()).map(|s| (working.slots[s], s, working.u[(s, axis)])).collect();
            e.sort_unstable_by_key(|&(j, s, _)| (j, s));
            for slots in e.chunk_by(|a, b| a.0 == b.0) {
                let (j, s, _) = slots[0];
                let e = slots.iter().map(|slot| slot.2).sum::<f64>() - anchor.get(j);
                square += e * (self.c[(j, axis)] - working.c[(s, axis)]);
                size += e.abs() * self.c[(j, axis)].abs().max(working.c[(s, axis)].abs());
            }
        }
        if square < -1e-10 * size { f64::INFINITY } else { (square.max(0.0) + 1e-14 * size).sqrt() }
    }

    /// The groups outside the working set whose correlations are above `level` by more than `slack`, each with its `‖c_g‖/v`.
    /// Where most groups are in doubt, all are computed, and the anchor moves here.
    pub(super) fn above(&mut self, working: &WorkingSet<'_>, level: f64, slack: f64) -> Vec<(usize, f64)> {
        let (problem, h) = (working.problem, self.distance(working));
        let doubtful = |&g: &usize| {
            let block = &problem.blocks[g];
            // Written so that NaN stays in doubt.
            let below = self.norms[g] + block.length * h < level * block.v;
            !working.inside[g] && !below
        };
        let doubtful: Vec<usize> = (0..problem.blocks.len()).filter(doubtful).collect();
        let rows: usize = doubtful.iter().map(|&g| problem.blocks[g].variables.len()).sum();
        let parts = working.parts();
        let (support, w) = sum_of(problem.blocks, &parts, problem.width());
        let levels: Vec<(usize, f64)> = if 2 * rows > problem.b.nrows() {
            let c = problem.correlations(&support, w.as_ref());
            let axes = super::problem::axes_of(problem.blocks, &parts, problem.width());
            *self = AnchorPoint::at(problem, axes, c);
            doubtful.into_iter().map(|g| (g, self.norms[g] / problem.blocks[g].v)).collect()
        } else {
            let variables: Vec<usize> =
                doubtful.iter().flat_map(|&g| problem.blocks[g].variables.iter().copied()).collect();
            let at = |j: usize| support.binary_search(&j).ok();
            let c = problem.correlations_at(&variables, &support, w.as_ref(), at);
            let mut start = 0;
            let mut level_of = |g: usize| {
                let block = &problem.blocks[g];
                let rows: Vec<usize> = (start..start + block.variables.len()).collect();
                start += rows.len();
                (g, norm_at(c.as_ref(), &rows) / block.v)
            };
            doubtful.into_iter().map(&mut level_of).collect()
        };
        levels.into_iter().filter(|&(_, found)| found.is_nan() || found > level + slack).collect()
    }
}
