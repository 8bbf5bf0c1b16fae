//! Between two rounds: the objective descends, variables enter that it wants, and the level falls where there is room for many more.
//!
//! None of this needs a path. What it ends with is only where the next round begins, and that round says whether it has settled.

use super::Tuning;
use super::descent::{Objective, STEPS, entries};
use super::rounds::{LevelCoefficients, Response, SETTLED};
use crate::error::Result;
use crate::lars::{Problem, correlations};
use crate::numerics::sparse::SparseVector;

/// With less than this part of the variables that were asked for, the level falls before the next round; it falls so often at most.
const ENOUGH: f64 = 0.9;
const FALLS: usize = 6;

/// Between two paths variables enter so often at most, each time after so many steps of the descent.
const ENTRIES: usize = 10;
const FEW_STEPS: usize = 3;

/// What a descent ends with.
pub(super) struct DescentResult {
    pub(super) w: SparseVector,
    /// The objective.
    pub(super) value: f64,
    /// Whether more variables would enter than there is room for.
    crowded: bool,
}

impl Response<'_> {
    /// Descends at a level. Variables that the objective wants enter, as long as no more than the largest number are in; the next path then
    /// has little left to find.
    pub(super) fn lowered(&self, w: &SparseVector, level: f64, tuning: Tuning) -> Result<DescentResult> {
        let positive = self.shared.options.positive;
        let objective = self.objective(w.indices(), level, tuning);
        let (mut lower, mut value) = objective.descend(w.values(), FEW_STEPS);
        let mut places = w.indices().to_vec();
        let mut crowded = false;
        for _ in 0..ENTRIES {
            let w = sparse(&places, &lower);
            let (wanted, more) = self.wanted(&w, level)?;
            crowded = more;
            if wanted.is_empty() {
                break;
            }
            // Those that have left stay out of the system.
            let mut wider: Vec<usize> = w.indices().iter().copied().chain(wanted).collect();
            wider.sort_unstable();
            let objective = self.objective(&wider, level, tuning);
            let (next, less) =
                objective.descend(&objective.entered(&entries(&w, &wider), positive), FEW_STEPS);
            if less >= value {
                break;
            }
            (places, lower, value) = (wider, next, less);
        }
        Ok(DescentResult { w: sparse(&places, &lower), value, crowded })
    }

    /// The end of the descent among the variables that are in.
    pub(super) fn polished(&self, point: LevelCoefficients, tuning: Tuning) -> LevelCoefficients {
        let LevelCoefficients { w, level } = point;
        let (lower, _) = self.objective(w.indices(), level, tuning).descend(w.values(), STEPS);
        LevelCoefficients { w: sparse(w.indices(), &lower), level }
    }

    /// A point at a lower level if far fewer variables are in than were asked for, as long as there is room for all that the objective
    /// wants there.
    pub(super) fn fallen(&self, mut now: LevelCoefficients, tuning: Tuning) -> Result<LevelCoefficients> {
        let Some(most) = self.shared.options.max_nonzeros else { return Ok(now) };
        let mut far = 0.5;
        for _ in 0..FALLS {
            let share = self.selected(&now.w) as f64 / most as f64;
            if share >= ENOUGH || share == 0.0 || now.level == 0.0 {
                break;
            }
            let level = now.level * share.max(0.25).powf(far);
            let lower = self.lowered(&now.w, level, tuning)?;
            if lower.crowded {
                far *= 0.5;
            } else {
                now = LevelCoefficients { w: lower.w, level };
            }
        }
        Ok(now)
    }

    /// The objective on some variables.
    pub(super) fn objective(&self, places: &[usize], level: f64, tuning: Tuning) -> Objective<'_> {
        let mut gram = self.shared.gram.submatrix(places);
        (0..places.len()).for_each(|i| gram[(i, i)] += self.shared.options.ridge);
        Objective {
            penalty: self.penalty,
            tuning,
            gram,
            b: places.iter().map(|&j| self.b[j]).collect(),
            lengths: places.iter().map(|&j| self.lengths[j]).collect(),
            levels: places.iter().map(|&j| level * self.shared.v[j]).collect(),
        }
    }

    /// The variables outside whose correlation exceeds the level, most first, as many as there is room for; and whether there are more.
    fn wanted(&self, w: &SparseVector, level: f64) -> Result<(Vec<usize>, bool)> {
        let options = self.shared.options;
        let room = options.max_nonzeros.map_or(usize::MAX, |most| most.saturating_sub(self.selected(w)));
        let c = correlations(&Problem::new(self.shared, &self.shared.v, self.b)?, w);
        let pull = |j: usize| if options.positive { c[j] } else { c[j].abs() } / (level * self.shared.v[j]);
        let mut wanted: Vec<usize> = (0..c.len())
            .filter(|&j| self.shared.v[j] > 0.0 && w.get(j) == 0.0 && pull(j) > 1.0 + SETTLED)
            .collect();
        wanted.sort_by(|&i, &j| pull(j).total_cmp(&pull(i)).then(i.cmp(&j)));
        let crowded = wanted.len() > room;
        wanted.truncate(room);
        Ok((wanted, crowded))
    }
}

/// Values at these places, which rise.
fn sparse(places: &[usize], values: &[f64]) -> SparseVector {
    SparseVector::from_pairs(places.iter().copied().zip(values.iter().copied()).collect())
}
