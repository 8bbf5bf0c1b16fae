//! The state of a walk at a knot: the active set, and the outsiders that are watched.
//!
//! `G_𝒜 = R Rᵀ` is factored as variables come and go. Correlations `c = b − G w` follow the steps of a stretch; at its
//! end, when all variables are checked, they are computed again, and `w` is refined if the active ones have drifted from the
//! level. If that is not precise enough, the walk becomes *careful*: it watches active variables as well, and does both at
//! every knot.

use super::cholesky::{Cholesky, Dependent};
use super::problem::{LarsMethod, Problem};
use super::solve::STRETCH;
use crate::numerics::linalg::{axpy, combine};
use crate::numerics::sparse::SparseVector;

/// A coefficient this small, in units of the problem, is zero.
const ZERO: f64 = 1e-13;

/// If active correlations drift from the level by more than this, in units of the problem, the coefficients are
/// refined.
const DRIFT: f64 = 1e-13;

/// The state at a knot.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) level: f64,
    /// The active variables, in the order of the factor.
    pub(super) active: Vec<usize>,
    /// How many of them are free. They come first and never leave.
    pub(super) free: usize,
    pub(super) sign: Vec<f64>,
    pub(super) w: Vec<f64>,
    /// The smallest coefficients that are not zero.
    smallest: Vec<f64>,
    /// The place of each active variable among the watched ones, if it is watched.
    seat: Vec<Option<usize>>,
    /// The places of the active variables, by rising variable.
    order: Vec<usize>,
    pub(super) factor: Cholesky,
    pub(super) watched: WatchedVariables,
    /// Where the last step went, while the active variables are the same.
    pub(super) course: Option<StepDirection>,
    pub(super) careful: bool,
    /// The active variables of the stretch that led here.
    pub(super) arrived: Vec<usize>,
    pub(super) standstill: usize,
    pub(super) room: Workspace,
}

/// Memory that every step uses.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) resting: Vec<bool>,
    pub(super) q: Vec<f64>,
    pub(super) a: Vec<f64>,
    column: Vec<f64>,
    cross: Vec<f64>,
}

/// The variables that may become active. Everything counts by position.
#[derive(Default)]
pub(super) struct WatchedVariables {
    pub(super) variables: Vec<usize>,
    pub(super) v: Vec<f64>,
    /// What counts as a tie.
    pub(super) tie: Vec<f64>,
    /// Correlations at the current knot; of an active variable only in a careful walk.
    pub(super) c: Vec<f64>,
    pub(super) is_active: Vec<bool>,
    /// `G[watched, 𝒜]`, one column after the other.
    pub(super) columns: Vec<f64>,
}

/// The direction of a step: w grows by `q`, and the correlations of watched variables fall by `a`, as λ falls by 1.
pub(super) struct StepDirection {
    pub(super) q: Vec<f64>,
    pub(super) a: Vec<f64>,
}

/// A knot that has been checked.
#[derive(Clone, Copy)]
pub(super) struct CheckedKnot<'a> {
    pub(super) level: f64,
    pub(super) w: &'a SparseVector,
    /// All correlations.
    pub(super) c: &'a [f64],
    /// The active variables of the stretch that led there.
    pub(super) arrived: &'a [usize],
}

impl<'a> State<'a> {
    /// At a knot, watching `outsiders`, and those that arrived there but move no longer.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        at: CheckedKnot<'_>,
        mut outsiders: Vec<usize>,
        careful: bool,
    ) -> Self {
        let mut state = State {
            problem,
            level: at.level,
            active: Vec::new(),
            free: 0,
            sign: Vec::new(),
            w: Vec::new(),
            smallest: Vec::new(),
            seat: Vec::new(),
            order: Vec::new(),
            factor: Cholesky::default(),
            watched: WatchedVariables::default(),
            course: None,
            careful,
            arrived: at.arrived.to_vec(),
            standstill: 0,
            room: Workspace::default(),
        };
        let lasso = problem.options().method == LarsMethod::Lasso;
        let stays = |j: &usize| !lasso || problem.v[*j] == 0.0 || at.w.get(*j) != 0.0;
        let kept: Vec<usize> = at.arrived.iter().copied().filter(stays).collect();
        let mut block = vec![0.0; kept.len() * kept.len()];
        problem.shared.gram.square(&kept, &mut block);
        let mut places: Vec<usize> = Vec::with_capacity(kept.len());
        for (k, &j) in kept.iter().enumerate() {
            let column = &block[k * kept.len()..][..kept.len()];
            let cross: Vec<f64> = places.iter().map(|&place| column[place]).collect();
            let sign = if lasso { at.w.get(j).signum() } else { at.c[j].signum() };
            // Cannot fail where the factor held the same variables before; if rounding says otherwise, the variable
            // starts again from zero and the certificate has the last word.
            if state.append(j, None, sign, &cross, column[k] + problem.options().ridge).is_ok() {
                places.push(k);
                state.w[places.len() - 1] = at.w.get(j);
                state.free += usize::from(problem.v[j] == 0.0);
            }
        }
        outsiders.extend(at.arrived.iter().filter(|j| !state.active.contains(j)));
        state.see(outsiders, at.c);
        state
    }

    /// Watches `outsiders`, and the active variables too in a careful walk; `c` are all correlations at this knot.
    pub(super) fn see(&mut self, outsiders: Vec<usize>, c: &[f64]) {
        let (problem, ridge) = (self.problem, self.problem.options().ridge);
        let first = outsiders.len();
        let mut variables = outsiders;
        self.seat = vec![None; self.active.len()];
        if self.careful {
            variables.extend(&self.active);
            self.seat = (first..variables.len()).map(Some).collect();
        }
        let mut columns = std::mem::take(&mut self.watched.columns);
        let room = variables.len() * (self.active.len() + STRETCH);
        if columns.capacity() < room {
            columns = Vec::with_capacity(2 * room); // nothing of what was there is needed
        }
        columns.resize(variables.len() * self.active.len(), 0.0);
        problem.shared.gram.block(&variables, &self.active, &mut columns);
        for (k, seat) in self.seat.iter().enumerate() {
            if let Some(at) = seat {
                columns[k * variables.len() + at] += ridge;
            }
        }
        let gather = |f: &dyn Fn(usize) -> f64| variables.iter().map(|&j| f(j)).collect();
        self.watched = WatchedVariables {
            v: gather(&|j| problem.v[j]),
            tie: gather(&|j| problem.tie(j)),
            c: gather(&|j| c[j]),
            is_active: (0..variables.len()).map(|at| at >= first).collect(),
            variables,
            columns,
        };
        self.course = None;
        if self.careful {
            self.look();
        } else {
            let active: Vec<f64> = self.active.iter().map(|&j| c[j]).collect();
            self.refine(&active);
            self.drop_zeros();
        }
    }

    /// The variables that the walk knows of.
    pub(super) fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.watched.variables.iter().chain(&self.active).copied()
    }

    /// The coefficients.
    pub(super) fn coefficients(&self) -> SparseVector {
        SparseVector::from_rising(self.order.iter().map(|&place| (self.active[place], self.w[place])))
    }

    /// Prepares the state at a knot for the rest of the path: coefficients next to zero become zero and inactive, and the
    /// others are refined if the walk is careful.
    pub(super) fn settle(&mut self) {
        self.drop_zeros();
        while self.careful {
            let active = self.look();
            self.refine(&active);
            if !self.drop_zeros() {
                return;
            }
        }
    }

    /// `q = G_𝒜⁻¹ (s∘v)`.
    pub(super) fn direction(&mut self) -> Vec<f64> {
        let mut q = std::mem::take(&mut self.room.q);
        self.factor.solution(&mut q);
        q
    }

    /// Computes the correlations of watched variables, and gives those of the active ones, which must be among them.
    fn look(&mut self) -> Vec<f64> {
        let mut c = std::mem::take(&mut self.watched.c);
        self.combine(&self.w, &mut c);
        for (c, &j) in c.iter_mut().zip(&self.watched.variables) {
            *c = self.problem.b[j] - *c;
        }
        self.watched.c = c;
        self.seat.iter().flatten().map(|&at| self.watched.c[at]).collect()
    }

    /// Moves `w` a little if the correlations `c` of the active variables have drifted from the level.
    fn refine(&mut self, c: &[f64]) {
        let Problem { shared, v, .. } = self.problem;
        let at = |k: usize| self.sign[k] * self.level * v[self.active[k]];
        let mut off: Vec<f64> = c.iter().enumerate().map(|(k, c)| c - at(k)).collect();
        let drifted = |(off, &j): (&f64, &usize)| off.abs() > DRIFT * self.problem.unit * shared.scale[j];
        if off.iter().zip(&self.active).any(drifted) {
            self.factor.solve(&mut off);
            axpy(1.0, &off, &mut self.w);
            let mut change = Vec::new();
            self.combine(&off, &mut change);
            axpy(-1.0, &change, &mut self.watched.c);
        }
    }

    /// Sets coefficients that are next to zero because of rounding to exactly zero, and removes them from the active set of a
    /// lasso. Free variables stay as they are. Returns whether there were any.
    fn drop_zeros(&mut self) -> bool {
        if self.problem.options().method != LarsMethod::Lasso {
            return false;
        }
        let zero = |k: usize| self.w[k] * self.sign[k] <= self.smallest[k];
        let zeros: Vec<usize> = (self.free..self.w.len()).rev().filter(|&k| zero(k)).collect();
        zeros.iter().for_each(|&k| self.release(k));
        !zeros.is_empty()
    }

    /// Puts position `i` of the watched variables at the end of the active set, with coefficient 0.
    pub(super) fn admit(&mut self, i: usize, sign: f64) -> Result<(), Dependent> {
        let j = self.watched.variables[i];
        let mut column = std::mem::take(&mut self.room.column);
        column.resize(self.watched.variables.len(), 0.0);
        self.problem.shared.gram.entries(&self.watched.variables, j, &mut column);
        column[i] += self.problem.options().ridge;
        let mut cross = std::mem::take(&mut self.room.cross);
        cross.clear();
        cross.extend(self.gram_row(i));
        let appended = self.append(j, Some(i), sign, &cross, column[i]);
        if appended.is_ok() {
            self.watched.columns.extend_from_slice(&column);
            self.watched.is_active[i] = true;
        }
        (self.room.column, self.room.cross) = (column, cross);
        appended
    }

    /// Puts variable `j` at the end of the active set.
    fn append(
        &mut self,
        j: usize,
        seat: Option<usize>,
        sign: f64,
        cross: &[f64],
        diagonal: f64,
    ) -> Result<(), Dependent> {
        self.factor.append(cross, diagonal, sign * self.problem.v[j])?;
        let rank = self.order.partition_point(|&place| self.active[place] < j);
        self.order.insert(rank, self.active.len());
        self.active.push(j);
        self.seat.push(seat);
        self.sign.push(sign);
        self.smallest.push(ZERO * self.problem.unit / self.problem.shared.scale[j]);
        self.w.push(0.0);
        self.course = None;
        Ok(())
    }

    /// Takes the `k`-th active variable out. It is at the level, and watched from now on.
    pub(super) fn release(&mut self, k: usize) {
        let m = self.watched.variables.len();
        self.factor.delete(k);
        self.watched.columns.drain(k * m..(k + 1) * m);
        let j = self.active.remove(k);
        self.order.retain(|&place| place != k);
        self.order.iter_mut().filter(|place| **place > k).for_each(|place| *place -= 1);
        let sign = self.sign.remove(k);
        self.smallest.remove(k);
        self.w.remove(k);
        let at = self.seat.remove(k).unwrap_or_else(|| self.watch(j));
        self.watched.is_active[at] = false;
        self.watched.c[at] = sign * self.level * self.watched.v[at];
        self.course = None;
    }

    /// Watches one more variable. Its position.
    fn watch(&mut self, j: usize) -> usize {
        let problem = self.problem;
        let mut row = vec![0.0; self.active.len()];
        problem.shared.gram.entries(&self.active, j, &mut row);
        let watched = &mut self.watched;
        let m = watched.variables.len();
        let mut columns = Vec::with_capacity(watched.columns.len() + row.len());
        for (k, value) in row.into_iter().enumerate() {
            columns.extend_from_slice(&watched.columns[k * m..(k + 1) * m]);
            columns.push(value);
        }
        watched.columns = columns;
        watched.variables.push(j);
        watched.v.push(problem.v[j]);
        watched.tie.push(problem.tie(j));
        watched.c.push(0.0);
        watched.is_active.push(false);
        m
    }

    /// Writes `G[watched, 𝒜] x`.
    pub(super) fn combine(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.watched.variables.len(), 0.0);
        combine(&self.watched.columns, x, out);
    }

    /// `G` at the watched variable in position `i`, which is not active, and the active ones.
    pub(super) fn gram_row(&self, i: usize) -> impl Iterator<Item = f64> + '_ {
        self.watched.columns.chunks_exact(self.watched.variables.len()).map(move |column| column[i])
    }
}
