//! The main loop: walk ahead on a working set, check all variables at all new knots at once, keep what holds.

use std::collections::BTreeSet;

use super::certificate::{Certificate, certificate, correlations};
use super::check::{Extrapolation, WalkCheck};
use super::free::FreeSolution;
use super::path::{EndReason, Knot, Path};
use super::problem::{Problem, TIE};
use super::state::{CheckedKnot, State};
use super::walk::Segment;
use crate::error::Result;
use crate::monitor::Monitor;

/// Knots between two checks of all variables.
pub(super) const STRETCH: usize = 24;

/// If a knot is farther than this from optimal, the walk becomes careful.
const PRECISE: f64 = 1e-12;

/// The path of `problem`.
pub(crate) fn solve(problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Path> {
    let mut trail = CheckedPath::new(problem)?;
    let mut walker = trail.walker(false);
    loop {
        let (segments, ended) = walker.walk(STRETCH, monitor)?;
        let stalled = walker.standstill() > STRETCH || trail.knots.len() > trail.longest();
        let ended = match trail.accept(segments, &walker) {
            Verdict::Holds if ended.is_none() && stalled && !walker.careful => {
                walker = trail.walker(true);
                continue;
            }
            Verdict::Holds => ended.or(stalled.then_some(EndReason::Stalled)),
            Verdict::Missing => {
                walker = trail.walker(walker.careful || trail.strayed);
                continue;
            }
            // Once from a fresh factorization, and carefully; if that does not help, double precision is exhausted.
            Verdict::Imprecise if trail.repaired < trail.knots.len() => {
                trail.repaired = trail.knots.len();
                walker = trail.walker(true);
                continue;
            }
            Verdict::Imprecise => Some(EndReason::Stalled),
        };
        if let Some(ended) = ended {
            let (max_nonzeros, free) = (problem.max_nonzeros, problem.free.clone());
            return Ok(Path { knots: trail.knots, ended, max_nonzeros, free, report: None });
        }
        trail.admitted.clear();
        walker.careful |= trail.strayed;
        walker.see(trail.outsiders(&walker.active), &trail.c);
    }
}

/// What checking a walk against all variables found.
enum Verdict {
    /// All of it is optimal.
    Holds,
    /// An outsider was missing; it is admitted now, and the walk must begin again from the last knot.
    Missing,
    /// The walk saw everything, but its answer is not optimal to [`BAR`].
    Imprecise,
}

/// A path has no knot whose certificate, in both measures taken together, is above this.
const BAR: f64 = 1e-9;

/// The part of the path that has been checked against all variables.
struct CheckedPath<'a> {
    problem: &'a Problem<'a>,
    knots: Vec<Knot>,
    /// All correlations at the last knot.
    c: Vec<f64>,
    /// Where they are heading, if the last walk held to its end.
    ahead: Option<Extrapolation>,
    /// The active variables of the stretch that led to the last knot.
    active: Vec<usize>,
    /// Outsiders that a check found missing.
    admitted: BTreeSet<usize>,
    /// Whether a knot was farther than [`PRECISE`] from optimal.
    strayed: bool,
    /// The number of knots when the walk last began again for lack of precision.
    repaired: usize,
}

impl<'a> CheckedPath<'a> {
    /// The first knot: the largest correlation, and no coefficients yet but those of free variables.
    fn new(problem: &'a Problem<'a>) -> Result<Self> {
        let FreeSolution { coefficients, c } = FreeSolution::new(problem)?;
        let level = problem.first_level(&c);
        let certificate = certificate(problem, &c, &coefficients, level);
        let first = Knot { level, coefficients, entered: Vec::new(), left: Vec::new(), certificate };
        Ok(CheckedPath {
            problem,
            knots: vec![first],
            c,
            ahead: None,
            active: problem.free.clone(),
            admitted: BTreeSet::new(),
            strayed: false,
            repaired: 0,
        })
    }

    /// The last knot.
    fn standpoint(&self) -> CheckedKnot<'_> {
        let last = &self.knots[self.knots.len() - 1];
        CheckedKnot { level: last.level, w: &last.coefficients, c: &self.c, arrived: &self.active }
    }

    /// A walker there.
    fn walker(&self, careful: bool) -> State<'a> {
        State::new(self.problem, self.standpoint(), self.outsiders(&self.active), careful)
    }

    /// Keeps the segments up to the first that does not hold for all variables.
    fn accept(&mut self, segments: Vec<Segment>, walker: &State<'_>) -> Verdict {
        if segments.is_empty() {
            return Verdict::Holds;
        }
        let problem = self.problem;
        let mut known = vec![false; problem.p()];
        walker.variables().for_each(|j| known[j] = true);
        let check = WalkCheck::new(problem, self.standpoint(), &segments, &known);
        let mut kept = false;
        for (k, segment) in segments.into_iter().enumerate() {
            let (certificate, excess) = check.examine(k);
            let mut admit = || self.admit(check.outside(k), segment.level);
            if excess > TIE * problem.unit && admit() {
                return self.cut(kept, Verdict::Missing);
            }
            // The plain measure counts only where the scaled one is not plainly fine: beside a variable of another
            // order of length it says nothing.
            let Certificate { kkt, scaled } = certificate;
            if scaled > BAR / 2.0 || (kkt > BAR && scaled > BAR / 10.0) {
                return self.cut(kept, Verdict::Imprecise);
            }
            let tied = excess >= -TIE * problem.unit && admit();
            self.strayed |= scaled > PRECISE;
            self.push(segment, certificate);
            kept = true;
            if tied {
                return self.cut(kept, Verdict::Missing);
            }
        }
        let (c, ahead) = check.end();
        (self.c, self.ahead) = (c, Some(ahead));
        Verdict::Holds
    }

    /// Ends a check before the end of the walk: all correlations at what is now the last knot, if there is a new one.
    fn cut(&mut self, kept: bool, verdict: Verdict) -> Verdict {
        if kept {
            self.ahead = None;
            self.c = correlations(self.problem, &self.knots[self.knots.len() - 1].coefficients);
        }
        verdict
    }

    /// Admits those of `outsiders`, given with their correlations, that are at the level or above it. Whether there were
    /// any: a level that is itself a rounding error ties with everything, and nothing more enters there.
    fn admit(&mut self, outsiders: impl Iterator<Item = (usize, f64)>, level: f64) -> bool {
        let problem = self.problem;
        let before = self.admitted.len();
        let found = outsiders.filter(|&(j, c)| {
            let (at, tie) = (level * problem.v[j], problem.tie(j));
            let reach = problem.reach(c);
            reach > at + tie || (reach >= at - tie && at > 10.0 * tie)
        });
        self.admitted.extend(found.map(|(j, _)| j));
        self.admitted.len() > before
    }

    fn push(&mut self, segment: Segment, certificate: Certificate) {
        let Segment { entered, left, level, coefficients } = segment;
        self.active.retain(|j| !left.contains(j));
        self.active.extend(&entered);
        if let Some(last) = self.knots.last_mut() {
            (last.entered, last.left) = (entered, left);
        }
        self.knots.push(Knot { level, coefficients, entered: Vec::new(), left: Vec::new(), certificate });
    }

    /// The variables to watch beside the active ones: those found missing, those at the level, and the next nearest to it, here or
    /// where they are heading; rising.
    fn outsiders(&self, active: &[usize]) -> Vec<usize> {
        let problem = self.problem;
        let (v, level) = (problem.v, self.knots[self.knots.len() - 1].level);
        let mut is_active = vec![false; self.c.len()];
        active.iter().for_each(|&j| is_active[j] = true);
        let mut chosen: Vec<usize> = Vec::new();
        let mut rest: Vec<(f64, usize)> = Vec::with_capacity(self.c.len());
        for (j, c) in self.c.iter().enumerate().filter(|&(j, _)| v[j].is_finite() && !is_active[j]) {
            let reach = problem.reach(*c);
            if reach >= level * v[j] - problem.tie(j) || self.admitted.contains(&j) {
                chosen.push(j);
            } else {
                let soon = self
                    .ahead
                    .as_ref()
                    .map_or(f64::NEG_INFINITY, |ahead| problem.reach(ahead.c[j]) / v[j] - ahead.level);
                rest.push((soon.max(reach / v[j] - level), j));
            }
        }
        let count = problem.options().working_set.min(rest.len());
        if count < rest.len() {
            rest.select_nth_unstable_by(count, |x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        }
        chosen.extend(rest[..count].iter().map(|&(_, j)| j));
        chosen.sort_unstable();
        chosen
    }

    /// More knots than any path that makes sense.
    fn longest(&self) -> usize {
        1000 + 50 * self.problem.p()
    }
}
