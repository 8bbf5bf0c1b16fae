//! The loop: walk ahead on a working set, check everybody at all the new knots at once, keep what holds.

use std::collections::BTreeSet;

use super::certificate::{Certificate, certificate, correlations, examine};
use super::path::{Ended, Knot, Path};
use super::problem::{Problem, TIE};
use super::state::State;
use super::walk::Segment;
use crate::error::Result;
use crate::linalg::column;
use crate::monitor::Monitor;
use crate::sparse::SparseVector;

/// Knots between two checks of all variables.
const STRETCH: usize = 25;

/// The path of `problem`.
pub(super) fn solve(problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Path> {
    let mut trail = Trail::new(problem);
    let mut walker = trail.walker();
    loop {
        let (segments, ended) = walker.walk(STRETCH, monitor)?;
        let stalled = walker.standstill() > STRETCH || trail.knots.len() > trail.longest();
        let ended = match trail.accept(segments, &walker) {
            Verdict::Holds => ended.or(stalled.then_some(Ended::Stalled)),
            Verdict::Missing => {
                walker = trail.walker();
                continue;
            }
            // Once from a fresh factorization; if that does not help, double precision is exhausted.
            Verdict::Imprecise if trail.repaired < trail.knots.len() => {
                trail.repaired = trail.knots.len();
                walker = trail.walker();
                continue;
            }
            Verdict::Imprecise => Some(Ended::Stalled),
        };
        if let Some(ended) = ended {
            let max_nonzeros = problem.options().max_nonzeros;
            return Ok(Path { knots: trail.knots, ended, max_nonzeros });
        }
        trail.admitted.clear();
        walker.see(trail.working_set(walker.active()));
    }
}

/// What checking a walk against all variables found.
enum Verdict {
    /// All of it is optimal.
    Holds,
    /// An outsider was missing; it is admitted now, and the walk must begin again from the last knot.
    Missing,
    /// The working set saw everything, but its answer is not optimal to [`BAR`].
    Imprecise,
}

/// No knot whose certificate, in both measures taken together, is above this is part of a path.
const BAR: f64 = 1e-9;

/// The part of the path that has been checked against all variables.
struct Trail<'a> {
    problem: &'a Problem<'a>,
    knots: Vec<Knot>,
    /// All correlations at the last knot.
    c: Vec<f64>,
    /// The active variables of the stretch that led to the last knot.
    active: Vec<usize>,
    /// Outsiders that a check found missing.
    admitted: BTreeSet<usize>,
    /// The number of knots when the walk last began again for lack of precision.
    repaired: usize,
}

impl<'a> Trail<'a> {
    /// The first knot: the largest correlation, and no coefficients yet.
    fn new(problem: &'a Problem<'a>) -> Self {
        let level = problem.first_level();
        let coefficients = SparseVector::default();
        let certificate = certificate(problem, problem.b, &coefficients, level);
        let first = Knot { level, coefficients, entered: Vec::new(), left: Vec::new(), certificate };
        let (c, active) = (problem.b.to_vec(), Vec::new());
        Trail { problem, knots: vec![first], c, active, admitted: BTreeSet::new(), repaired: 0 }
    }

    /// A walker at the last knot.
    fn walker(&self) -> State<'a> {
        let last = &self.knots[self.knots.len() - 1];
        let working = self.working_set(self.active.iter().copied());
        State::new(self.problem, working, last.level, &last.coefficients, &self.active)
    }

    /// Keeps the segments up to the first that does not hold for all variables.
    fn accept(&mut self, segments: Vec<Segment>, walker: &State<'_>) -> Verdict {
        let problem = self.problem;
        let points: Vec<&SparseVector> = segments.iter().map(|segment| &segment.coefficients).collect();
        let all = correlations(problem, &points, STRETCH);
        let mut outside = vec![0.0; problem.p()];
        walker.variables().for_each(|j| outside[j] = f64::NEG_INFINITY);
        for (k, segment) in segments.into_iter().enumerate() {
            let (c, level) = (column(&all, k), segment.level);
            let (certificate, excess) = examine(problem, c, &segment.coefficients, level, &outside);
            if excess > TIE * problem.unit && self.admit(c, level, &outside) {
                return Verdict::Missing;
            }
            // The plain measure counts only where the scaled one is not plainly fine: beside a variable of another
            // order of length it says nothing.
            if certificate.scaled > BAR / 2.0 || (certificate.kkt > BAR && certificate.scaled > BAR / 10.0) {
                return Verdict::Imprecise;
            }
            self.push(segment, c, certificate);
            if excess >= -TIE * problem.unit && self.admit(c, level, &outside) {
                return Verdict::Missing;
            }
        }
        Verdict::Holds
    }

    /// Admits outsiders that are at the level or above it. Whether there were any: a level that is itself a rounding
    /// error ties with everything, and nothing more enters there.
    fn admit(&mut self, c: &[f64], level: f64, outside: &[f64]) -> bool {
        let problem = self.problem;
        let before = self.admitted.len();
        let found = (0..c.len()).filter(|&j| {
            let (at, tie) = (level * problem.shared.v[j], problem.tie(j));
            let reach = problem.reach(c[j]);
            outside[j] == 0.0 && (reach > at + tie || (reach >= at - tie && at > 10.0 * tie))
        });
        self.admitted.extend(found);
        self.admitted.len() > before
    }

    fn push(&mut self, segment: Segment, c: &[f64], certificate: Certificate) {
        let Segment { entered, left, level, coefficients } = segment;
        self.active.retain(|j| !left.contains(j));
        self.active.extend(&entered);
        if let Some(last) = self.knots.last_mut() {
            (last.entered, last.left) = (entered, left);
        }
        self.knots.push(Knot { level, coefficients, entered: Vec::new(), left: Vec::new(), certificate });
        self.c.copy_from_slice(c);
    }

    /// The active variables, those found missing, those at the level, and the next nearest to it; rising.
    fn working_set(&self, active: impl Iterator<Item = usize>) -> Vec<usize> {
        let problem = self.problem;
        let (v, level) = (&problem.shared.v, self.knots[self.knots.len() - 1].level);
        let mut chosen: BTreeSet<usize> = active.chain(self.admitted.iter().copied()).collect();
        let mut rest: Vec<(f64, usize)> = Vec::with_capacity(self.c.len());
        for (j, c) in self.c.iter().enumerate().filter(|&(j, _)| v[j].is_finite()) {
            let reach = problem.reach(*c);
            if reach >= level * v[j] - problem.tie(j) {
                chosen.insert(j);
            } else {
                rest.push((reach / v[j], j));
            }
        }
        let count = problem.options().working_set.min(rest.len());
        if count < rest.len() {
            rest.select_nth_unstable_by(count, |x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        }
        chosen.extend(rest[..count].iter().map(|&(_, j)| j));
        chosen.into_iter().collect()
    }

    /// More knots than any path that makes sense.
    fn longest(&self) -> usize {
        1000 + 50 * self.problem.p()
    }
}
