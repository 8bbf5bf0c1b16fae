//! The state of a walk at a knot: the active set on a working set of variables, kept exact.
//!
//! `G_𝒜 = R Rᵀ` is factored as variables come and go. Correlations `c = b − G w` are recomputed at every knot, and `w`
//! refined where they have strayed from the level, so that rounding does not pile up along the path.

use super::cholesky::{Cholesky, Dependent};
use super::problem::{Method, Problem};
use crate::linalg::{axpy, combine};
use crate::sparse::SparseVector;

/// A coefficient this small, in units of the problem, is zero.
const ZERO: f64 = 1e-13;

/// Where active correlations stray from the level by more than this, in units of the problem, the coefficients
/// are refined.
const DRIFT: f64 = 1e-13;

/// The state at a knot.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem<'a>,
    /// The working set, as variables; everything below counts by position in it.
    pub(super) variables: Vec<usize>,
    pub(super) b: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// What counts as a tie, by position.
    pub(super) tie: Vec<f64>,
    pub(super) level: f64,
    pub(super) active: Vec<usize>,
    pub(super) is_active: Vec<bool>,
    pub(super) sign: Vec<f64>,
    pub(super) w: Vec<f64>,
    /// Correlations at the current knot, by position.
    pub(super) c: Vec<f64>,
    pub(super) factor: Cholesky,
    /// `G[working set, 𝒜]`, one column after the other.
    pub(super) columns: Vec<f64>,
    /// The active variables of the stretch that led here.
    pub(super) arrived: Vec<usize>,
    pub(super) standstill: usize,
}

impl<'a> State<'a> {
    /// At the knot (`level`, `w`), reached with `arrived` active, seeing the variables `working`.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        working: Vec<usize>,
        level: f64,
        w: &SparseVector,
        arrived: &[usize],
    ) -> Self {
        let mut state = State {
            problem,
            variables: Vec::new(),
            b: Vec::new(),
            v: Vec::new(),
            tie: Vec::new(),
            level,
            active: Vec::new(),
            is_active: Vec::new(),
            sign: Vec::new(),
            w: Vec::new(),
            c: Vec::new(),
            factor: Cholesky::default(),
            columns: Vec::new(),
            arrived: arrived.to_vec(),
            standstill: 0,
        };
        state.see(working);
        for &j in arrived {
            if state.problem.options().method == Method::Lars || w.get(j) != 0.0 {
                let at = state.position(j);
                // Cannot fail where the factor held the same variables before; if rounding says otherwise,
                // the variable starts again from zero and the certificate has the last word.
                if state.admit(at, w.get(j).signum()).is_ok() {
                    state.w[state.active.len() - 1] = w.get(j);
                }
            }
        }
        state.look();
        state
    }

    /// Changes the working set, which must hold the active variables.
    pub(super) fn see(&mut self, working: Vec<usize>) {
        let active: Vec<usize> = self.active.iter().map(|&at| self.variables[at]).collect();
        self.variables = working;
        let problem = self.problem;
        let gather = |f: &dyn Fn(usize) -> f64| self.variables.iter().map(|&j| f(j)).collect();
        self.b = gather(&|j| problem.b[j]);
        self.v = gather(&|j| problem.shared.v[j]);
        self.tie = gather(&|j| problem.tie(j));
        self.is_active = vec![false; self.variables.len()];
        self.active = active.iter().map(|&j| self.position(j)).collect();
        self.columns.clear();
        for k in 0..self.active.len() {
            let at = self.active[k];
            self.is_active[at] = true;
            let column = self.gram_column(at);
            self.columns.extend(column);
        }
        self.c = self.correlations();
    }

    /// The working set.
    pub(super) fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.variables.iter().copied()
    }

    /// The active variables.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.active.iter().map(|&at| self.variables[at])
    }

    /// Makes the state at a knot what the rest of the path will start from: coefficients beside zero are zero and
    /// inactive, the others are refined.
    pub(super) fn settle(&mut self) {
        let lasso = self.problem.options().method == Method::Lasso;
        loop {
            if lasso {
                self.snap_to_zero();
                self.release_zeros();
            }
            self.refine();
            if !lasso || !self.snap_to_zero() {
                return;
            }
        }
    }

    /// `q = G_𝒜⁻¹ (s∘v)`.
    pub(super) fn direction(&self) -> Vec<f64> {
        let mut q: Vec<f64> = self.active.iter().zip(&self.sign).map(|(&i, s)| s * self.v[i]).collect();
        self.factor.solve(&mut q);
        q
    }

    /// `c = b − G w` at the working set.
    fn correlations(&self) -> Vec<f64> {
        let mut c = self.combine(&self.w);
        for (c, b) in c.iter_mut().zip(&self.b) {
            *c = b - *c;
        }
        c
    }

    /// Computes the correlations; the signs of plain LARS are theirs, those of the lasso stay with the coefficients.
    fn look(&mut self) {
        self.c = self.correlations();
        if self.problem.options().method == Method::Lars {
            for (sign, &i) in self.sign.iter_mut().zip(&self.active) {
                *sign = self.c[i].signum();
            }
        }
    }

    /// Computes the correlations, and moves `w` a little if they have drifted from the level.
    fn refine(&mut self) {
        self.look();
        let mut off: Vec<f64> = self
            .active
            .iter()
            .zip(&self.sign)
            .map(|(&i, s)| self.c[i] - s * self.level * self.v[i])
            .collect();
        let drifted = |(off, &i): (&f64, &usize)| {
            off.abs() > DRIFT * self.problem.unit * self.problem.shared.scale[self.variables[i]]
        };
        if off.iter().zip(&self.active).any(drifted) {
            self.factor.solve(&mut off);
            axpy(1.0, &off, &mut self.w);
            self.c = self.correlations();
        }
    }

    /// Makes coefficients that rounding left beside zero, on either side, exactly zero. Whether there were any.
    fn snap_to_zero(&mut self) -> bool {
        let State { problem, variables, active, .. } = self;
        let mut any = false;
        for ((w, sign), &i) in self.w.iter_mut().zip(&self.sign).zip(active.iter()) {
            if *w != 0.0 && *w * sign * problem.shared.scale[variables[i]] <= ZERO * problem.unit {
                *w = 0.0;
                any = true;
            }
        }
        any
    }

    /// Takes variables whose coefficient is zero out of the active set.
    fn release_zeros(&mut self) {
        for k in (0..self.active.len()).rev() {
            if self.w[k] == 0.0 {
                self.release(k);
            }
        }
    }

    /// Puts position `i` of the working set at the end of the active set, with coefficient 0.
    pub(super) fn admit(&mut self, i: usize, sign: f64) -> Result<(), Dependent> {
        let column = self.gram_column(i);
        let cross: Vec<f64> = self.active.iter().map(|&j| column[j]).collect();
        self.factor.append(&cross, column[i])?;
        self.columns.extend(column);
        self.active.push(i);
        self.is_active[i] = true;
        self.sign.push(sign);
        self.w.push(0.0);
        Ok(())
    }

    /// Takes the `k`-th active variable out.
    pub(super) fn release(&mut self, k: usize) {
        let m = self.variables.len();
        self.factor.delete(k);
        self.columns.drain(k * m..(k + 1) * m);
        let i = self.active.remove(k);
        self.is_active[i] = false;
        self.sign.remove(k);
        self.w.remove(k);
    }

    /// `G[working set, 𝒜] x`.
    pub(super) fn combine(&self, x: &[f64]) -> Vec<f64> {
        combine(&self.columns, self.variables.len(), x)
    }

    /// Column `i` of `G` at the working set, ridge included.
    pub(super) fn gram_column(&self, i: usize) -> Vec<f64> {
        let mut column = vec![0.0; self.variables.len()];
        self.problem.shared.gram.entries(&self.variables, self.variables[i], &mut column);
        column[i] += self.problem.options().ridge;
        column
    }

    /// Where variable `j`, a member of the working set, stands in it.
    fn position(&self, j: usize) -> usize {
        self.variables.partition_point(|&other| other < j)
    }
}
