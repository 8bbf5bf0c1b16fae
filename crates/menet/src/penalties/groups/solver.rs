//! One level after the other, each from where the last one ended.

use super::outside::AnchorPoint;
use super::problem::{GroupPart, Problem, axes_of};
use super::working::WorkingSet;
use crate::error::Result;
use crate::lars::Certificate;
use crate::monitor::Monitor;
use crate::numerics::sparse::SparseVector;

/// The violation at which a level counts as solved, relative to the level where all is zero.
const TARGET: f64 = 1e-11;

/// The violation, relative to the level, at which a first guess is good enough to look for other groups.
const COARSE: f64 = 1e-2;

/// The fewest groups that are admitted at once, if there are as many, and the most at the start.
const ADMITTED: (usize, usize) = (20, 200);

/// So many of the groups above the level at the start are about what is chosen in the end.
const START: usize = 8;

/// The fewest slots that are admitted at once.
const SLOTS: usize = 200;

/// Largest number of rounds of admission, far more than are needed.
const ROUNDS: usize = 1_000;

/// Solves at falling or rising levels.
#[derive(Debug)]
pub(super) struct Solver<'a> {
    problem: &'a Problem<'a>,
    working: WorkingSet<'a>,
    anchor: AnchorPoint,
    /// The groups in the order in which they were first chosen.
    order: Vec<usize>,
}

/// The solution at a level.
#[derive(Debug, Clone)]
pub(super) struct LevelSolution {
    pub(super) level: f64,
    pub(super) coefficients: Vec<SparseVector>,
    pub(super) certificate: Certificate,
    /// The groups that have coefficients, in the order in which they were first chosen.
    pub(super) chosen: Vec<usize>,
    /// What each of them adds.
    pub(super) parts: Vec<GroupPart>,
}

impl<'a> Solver<'a> {
    pub(super) fn new(problem: &'a Problem<'a>) -> Self {
        let anchor = AnchorPoint::zero(problem);
        Solver { problem, working: WorkingSet::new(problem), anchor, order: Vec::new() }
    }

    /// The solution at `level`, with its certificate from all groups.
    pub(super) fn at(&mut self, level: f64, monitor: &dyn Monitor) -> Result<LevelSolution> {
        let parts = self.solve(level, monitor)?;
        let coefficients = axes_of(self.problem.blocks, &parts, self.problem.width());
        // Where the anchor is here already, all correlations were computed from G, b and these parts.
        if !self.anchor.is_at(&coefficients) {
            self.anchor =
                AnchorPoint::at(self.problem, coefficients.clone(), self.problem.correlations_of(&parts));
        }
        let certificate = self.problem.certificate(&parts, self.anchor.correlations(), level);
        let found = |&g: &usize| Some(parts[parts.binary_search_by_key(&g, |part| part.group).ok()?].clone());
        let parts: Vec<GroupPart> = self.order.iter().filter_map(found).collect();
        let chosen = parts.iter().map(|part| part.group).collect();
        Ok(LevelSolution { level, coefficients, certificate, chosen, parts })
    }

    /// How many groups are chosen at `level`.
    pub(super) fn count(&mut self, level: f64, monitor: &dyn Monitor) -> Result<usize> {
        Ok(self.solve(level, monitor)?.len())
    }

    fn solve(&mut self, level: f64, monitor: &dyn Monitor) -> Result<Vec<GroupPart>> {
        let target = TARGET * self.problem.first_level;
        // Coarse as long as the groups that take part are a guess.
        let mut tolerance = if self.begin(level)? { COARSE * level } else { target };
        for _ in 0..ROUNDS {
            self.working.solve(level, tolerance, monitor)?;
            let mut above = self.anchor.above(&self.working, level, target);
            if above.is_empty() {
                if tolerance <= target {
                    break;
                }
                tolerance = target;
                continue;
            }
            above.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            // Not more exactly than makes sense while many others are missing.
            let coarse = (0.1 * (above[0].1 - level)).max(target);
            let few = 2 * above.len() <= self.working.groups.len();
            tolerance = if few || coarse.is_nan() { target } else { coarse };
            let count = self.working.active().len();
            self.admit(above.into_iter().map(|(g, _)| g), count)?;
        }
        let parts = self.working.parts();
        let mut new: Vec<usize> =
            parts.iter().map(|part| part.group).filter(|g| !self.order.contains(g)).collect();
        new.sort_by_key(|&g| self.working.groups.iter().position(|&other| other == g));
        self.order.extend(new);
        Ok(parts)
    }

    /// Admits the groups that are nearest to the level, if none takes part yet, and says so.
    fn begin(&mut self, level: f64) -> Result<bool> {
        if !self.working.groups.is_empty() {
            return Ok(false);
        }
        let mut near: Vec<(usize, f64)> =
            self.anchor.levels(self.problem).enumerate().filter(|&(_, found)| found > level).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let count = (near.len() / START).min(ADMITTED.1);
        self.admit(near.into_iter().map(|(g, _)| g), count)?;
        Ok(true)
    }

    /// Admits the first `count` of these groups, or fewer if they are large, or a few more.
    fn admit(&mut self, groups: impl Iterator<Item = usize>, count: usize) -> Result<()> {
        let (mut count, mut slots) = (count.max(ADMITTED.0), 0);
        let most = self.working.slots.len().max(SLOTS);
        let admitted: Vec<usize> = groups
            .take_while(|&g| {
                let fits = count > 0 && slots < most;
                count = count.saturating_sub(1);
                slots += self.problem.blocks[g].variables.len();
                fits
            })
            .collect();
        if admitted.is_empty() { Ok(()) } else { self.working.admit(&admitted) }
    }
}
