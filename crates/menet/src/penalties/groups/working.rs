//! Block coordinate descent on a few groups, whose Gram matrix is at hand.
//!
//! A *slot* is a variable as a member of one group: a variable of two groups has two slots, whose coefficients add up.

use faer::Mat;
use rayon::prelude::*;

use super::problem::{Block, GroupPart, Problem};
use super::secular::Spectrum;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::linalg::{axpy, column, column_mut, product};

/// Sweeps after which the descent gives up, unless the violation was halved in the meantime.
const PATIENCE: usize = 2_000;

/// If a few sweeps reduce the violation by at least this factor, the descent goes on without Newton's method.
const FAST: f64 = 0.03;

/// Number of sweeps between two checks of the violation.
const SWEEPS: usize = 4;

/// The most sweeps between two attempts by Newton's method.
const PAUSE: usize = 40;

/// The groups that take part, and where they stand.
#[derive(Debug)]
pub(super) struct WorkingSet<'a> {
    pub(super) problem: &'a Problem<'a>,
    /// Which groups, in the order in which they were admitted.
    pub(super) groups: Vec<usize>,
    /// Whether a group is among them.
    pub(super) inside: Vec<bool>,
    /// Where the slots of every group begin, and the end.
    pub(super) starts: Vec<usize>,
    /// The variable of every slot.
    pub(super) slots: Vec<usize>,
    /// `G + λ2 I` at the slots.
    pub(super) gram: Mat<f64>,
    spectra: Vec<Spectrum>,
    /// The coefficients of the slots, one column per axis.
    pub(super) u: Mat<f64>,
    /// `b − (G + λ2 I)W` at the slots.
    pub(super) c: Mat<f64>,
    /// Room for the entries of one group.
    room: Vec<f64>,
}

impl<'a> WorkingSet<'a> {
    pub(super) fn new(problem: &'a Problem<'a>) -> Self {
        let width = problem.width();
        WorkingSet {
            problem,
            groups: Vec::new(),
            inside: vec![false; problem.blocks.len()],
            starts: vec![0],
            slots: Vec::new(),
            gram: Mat::new(),
            spectra: Vec::new(),
            u: Mat::zeros(0, width),
            c: Mat::zeros(0, width),
            room: Vec::new(),
        }
    }

    pub(super) fn block(&self, k: usize) -> &'a Block {
        &self.problem.blocks[self.groups[k]]
    }

    /// The slots of a group.
    pub(super) fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }

    /// Whether a group has coefficients.
    pub(super) fn is_active(&self, k: usize) -> bool {
        (0..self.u.ncols()).any(|axis| column(&self.u, axis)[self.range(k)].iter().any(|&u| u != 0.0))
    }

    /// The groups that have coefficients.
    pub(super) fn active(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|&k| self.is_active(k)).collect()
    }

    /// What the groups with coefficients add to W.
    pub(super) fn parts(&self) -> Vec<GroupPart> {
        let part = |k: usize| {
            let u = (0..self.u.ncols()).flat_map(|axis| column(&self.u, axis)[self.range(k)].iter().copied());
            GroupPart { group: self.groups[k], u: u.collect() }
        };
        let mut parts: Vec<GroupPart> = self.active().into_iter().map(part).collect();
        parts.sort_by_key(|part| part.group);
        parts
    }

    /// Admits more groups.
    pub(super) fn admit(&mut self, groups: &[usize]) -> Result<()> {
        let (old, width) = (self.slots.len(), self.u.ncols());
        for &group in groups {
            debug_assert!(!self.inside[group]);
            self.inside[group] = true;
            self.groups.push(group);
            self.slots.extend_from_slice(&self.problem.blocks[group].variables);
            self.starts.push(self.slots.len());
        }
        let (m, slots, problem) = (self.slots.len(), &self.slots, self.problem);
        // The new columns down to the diagonal, each computed alone: the bits do not depend on the number of threads.
        let mut columns = vec![0.0; m * (m - old)];
        columns.par_chunks_exact_mut(m.max(1)).enumerate().for_each(|(at, out)| {
            let (j, above) = (slots[old + at], &slots[..=old + at]);
            problem.gram.entries(above, j, &mut out[..above.len()]);
            for (out, &i) in out.iter_mut().zip(above) {
                *out += if i == j { problem.ridge } else { 0.0 };
            }
        });
        let mut gram = Mat::zeros(m, m);
        for j in 0..m {
            let known = if j < old { column(&self.gram, j) } else { &columns[m * (j - old)..] };
            column_mut(&mut gram, j)[..=j].copy_from_slice(&known[..=j]);
        }
        // The other half is mirrored, so that the matrix is symmetric to the last bit.
        for j in 0..m {
            (0..j).for_each(|i| gram[(j, i)] = gram[(i, j)]);
        }
        self.gram = gram;
        let (u, slots) = (&self.u, &self.slots);
        self.u = Mat::from_fn(m, width, |s, k| if s < old { u[(s, k)] } else { 0.0 });
        self.c = Mat::from_fn(m, width, |s, k| problem.b[(slots[s], k)]);
        for k in self.spectra.len()..self.groups.len() {
            let range = self.range(k);
            let part = self.gram.submatrix(range.start, range.start, range.len(), range.len());
            self.spectra.push(Spectrum::new(part)?);
        }
        self.refresh();
        Ok(())
    }

    /// Computes the correlations anew.
    pub(super) fn refresh(&mut self) {
        let image = product(self.gram.as_ref(), self.u.as_ref());
        let (b, slots) = (self.problem.b, &self.slots);
        self.c = Mat::from_fn(slots.len(), b.ncols(), |s, k| b[(slots[s], k)] - image[(s, k)]);
    }

    /// The violation of one group, in units of the level.
    pub(super) fn violation(&self, k: usize, level: f64) -> f64 {
        let v = self.block(k).v;
        let size = self.size_of(&self.u, k);
        let broken = if size > 0.0 {
            let (over, range) = (level * v / size, self.range(k));
            let off = |axis: usize| {
                let (u, c) = (&column(&self.u, axis)[range.clone()], &column(&self.c, axis)[range.clone()]);
                c.iter().zip(u).map(|(c, u)| (c - over * u) * (c - over * u)).sum::<f64>()
            };
            (0..self.u.ncols()).map(off).sum::<f64>().sqrt()
        } else {
            self.size_of(&self.c, k) - level * v
        };
        if broken.is_nan() { f64::INFINITY } else { broken.max(0.0) / v }
    }

    /// The largest violation of all groups that take part.
    pub(super) fn worst(&self, level: f64) -> f64 {
        (0..self.groups.len()).map(|k| self.violation(k, level)).fold(0.0, f64::max)
    }

    /// Solves the problem of these groups at `level`, to a violation of `tolerance` or as near as can be.
    pub(super) fn solve(&mut self, level: f64, tolerance: f64, monitor: &dyn Monitor) -> Result<()> {
        let (mut best, mut last) = (f64::INFINITY, f64::INFINITY);
        let (mut idle, mut since) = (0, 0);
        loop {
            proceed(monitor, Stage::Lars)?;
            let before = self.active();
            for _ in 0..SWEEPS {
                self.sweep(level)?;
            }
            self.refresh();
            let mut worst = self.worst(level);
            (idle, since) = (idle + SWEEPS, since + SWEEPS);
            let slots: usize = before.iter().map(|&k| self.range(k).len()).sum();
            // A step of Newton's costs about as much as so many sweeps.
            let due = since >= (slots / (2 * self.u.ncols())).min(PAUSE);
            if worst > tolerance && worst > FAST * last && due && self.active() == before {
                worst = self.polish(level, tolerance);
                since = 0;
            }
            last = worst;
            if worst <= tolerance || idle > PATIENCE {
                return Ok(());
            }
            if worst < 0.5 * best {
                (best, idle) = (worst, 0);
            }
        }
    }

    /// Minimises over one group after the other.
    fn sweep(&mut self, level: f64) -> Result<()> {
        for k in 0..self.groups.len() {
            let threshold = level * self.block(k).v;
            if self.is_active(k) || self.size_of(&self.c, k) > threshold {
                self.update(k, threshold)?;
            }
        }
        Ok(())
    }

    /// The norm of the entries of a group.
    fn size_of(&self, matrix: &Mat<f64>, k: usize) -> f64 {
        let range = self.range(k);
        let square = |axis: usize| column(matrix, axis)[range.clone()].iter().map(|x| x * x).sum::<f64>();
        (0..matrix.ncols()).map(square).sum::<f64>().sqrt()
    }

    /// Minimises over one group.
    fn update(&mut self, k: usize, threshold: f64) -> Result<()> {
        let (range, width) = (self.range(k), self.u.ncols());
        let s = range.len();
        // What the correlations would be without the group.
        let mut right = std::mem::take(&mut self.room);
        right.resize(s * width, 0.0);
        for (axis, right) in right.chunks_exact_mut(s).enumerate() {
            let (u, c) = (&column(&self.u, axis)[range.clone()], &column(&self.c, axis)[range.clone()]);
            right.copy_from_slice(c);
            for (t, &u) in u.iter().enumerate().filter(|(_, u)| **u != 0.0) {
                axpy(u, &column(&self.gram, range.start + t)[range.clone()], right);
            }
        }
        let Some(new) = self.spectra[k].minimise(right, width, threshold) else {
            return Err(Error::Numerical {
                what: "the group lasso",
                detail: "it has no minimum at this level, because a group of variables without length has a \
                         correlation; use a ridge"
                    .to_owned(),
            });
        };
        for (axis, new) in new.chunks_exact(s).enumerate() {
            for (t, &new) in new.iter().enumerate() {
                let u = &mut column_mut(&mut self.u, axis)[range.start + t];
                let step = new - *u;
                *u = new;
                if step != 0.0 {
                    axpy(-step, column(&self.gram, range.start + t), column_mut(&mut self.c, axis));
                }
            }
        }
        self.room = new;
        Ok(())
    }
}
