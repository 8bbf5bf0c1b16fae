//! The level at which a given number of groups is chosen.

use super::problem::Problem;
use super::solver::{LevelSolution, Solver};
use crate::error::Result;
use crate::monitor::{Monitor, Stage};

/// How far the level falls from one step to the next, until there are too many groups.
const FALL: f64 = 0.8;

/// The smallest level, relative to that where all is zero.
pub(crate) const SMALLEST: f64 = 1e-4;

/// How near, relative to itself, the level comes to the one where another group enters.
const NEAR: f64 = 1e-3;

/// Levels closer than this count as equal: groups that enter between them enter at once.
const AT_ONCE: f64 = 1e-10;

/// What was found.
pub(super) struct GroupSearchResult {
    pub(super) point: LevelSolution,
    /// How many groups would be chosen next, where there are more than were asked for.
    pub(super) next: Option<usize>,
}

/// The solution with `wanted` groups at the smallest level, or with as many as there can be below that.
pub(super) fn search(
    problem: &Problem<'_>,
    wanted: usize,
    monitor: &dyn Monitor,
) -> Result<GroupSearchResult> {
    let mut solver = Solver::new(problem);
    let (mut high, mut chosen, mut low) = (problem.first_level, 0, None);
    while low.is_none() && high > SMALLEST * problem.first_level {
        let level = (FALL * high).max(SMALLEST * problem.first_level);
        let count = solver.count(level, monitor)?;
        monitor.progress(Stage::Lars, count.min(wanted), wanted);
        if count > wanted {
            low = Some((level, count));
        } else {
            (high, chosen) = (level, count);
        }
    }
    while let Some((level, _)) = low {
        let width = high / level - 1.0;
        if width <= AT_ONCE || (chosen == wanted && width <= NEAR) {
            break;
        }
        let middle = (high * level).sqrt();
        let count = solver.count(middle, monitor)?;
        if count > wanted {
            low = Some((middle, count));
        } else {
            (high, chosen) = (middle, count);
        }
    }
    let mut point = solver.at(high, monitor)?;
    // At the edge, the way by which a level is reached may decide on a group.
    let mut step = AT_ONCE;
    while point.chosen.len() > wanted && step < 1.0 {
        point = solver.at((high * (1.0 + step)).min(problem.first_level), monitor)?;
        step *= 10.0;
    }
    Ok(GroupSearchResult { point, next: low.map(|(_, count)| count) })
}
