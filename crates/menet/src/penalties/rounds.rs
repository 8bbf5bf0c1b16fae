//! Rounds of exact weighted paths: local linear approximation (Zou and Li 2008).
//!
//! A concave penalty lies below its tangent. So the weighted lasso whose weights are the slopes at w,
//!
//! ```text
//! vⱼ = P′(gⱼ|wⱼ|, λ)/λ,
//! ```
//!
//! lies above the penalised objective and touches it at w, and its minimiser at the same level λ has an objective that is not larger. Where
//! the minimiser is w itself, w is stationary: the first-order conditions of the concave penalty are those of the weighted lasso with the
//! weights at w.
//!
//! # From a number of variables to a level
//!
//! With K variables asked for, no level is given. The rounds of a response are
//!
//! 1. the ℓ1 path to K variables or more: coefficients and a level to begin with. From a longer path the rounds come to better models, since
//!    large coefficients are larger there; docs/penalties.md has the numbers;
//! 2. one round that is read at K variables: since large coefficients are shrunk less, K variables are reached at another level;
//! 3. between two rounds the objective descends among the variables that are in ([`between`](super::between),
//!    [`descent`](super::descent)), and those enter that it wants. If far fewer than K are in then, the same at a lower level, which needs no
//!    path;
//! 4. rounds at that level, until the coefficients settle. Where a round would need more than K variables at the level, the level rises
//!    to where it does not;
//! 5. if they settle with less than half of K, again from the lower level at which the last path reaches K.
//!
//! Every round is a path of [`crate::lars`], from the top, with its certificate. The last one is reported, down to the level of the answer.
//! Variables whose weight is 0 are free in it, and count towards K all the same.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::MatRef;
use rayon::prelude::*;

use super::descent::entries;
use super::{PathPenalty, Penalised, Penalty, Tuning};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::lars::{
    Certificate, EndReason, LarsOptions, Path, PenaltyReport, Problem, SharedProblem, certificate_at, path_of,
};
use crate::monitor::{Monitor, Stage};
use crate::numerics::sparse::SparseVector;

/// Largest number of rounds.
const MOST: usize = 25;

/// Rounds that settle with less than half of the variables that were asked for are begun again, from the level at which the last path
/// reaches their number; so often at most.
const AGAIN: usize = 4;

/// After so many rounds a level that has to rise by some factor rises by powers of it, at most by this. So a rise that is rounding stays
/// rounding.
const PATIENT: usize = 6;
const MOST_RISE: f64 = 1.1;

/// The level to begin from where the first path ends at 0, relative to the largest coefficient.
const LOW: f64 = 1e-9;

/// Coefficients have settled when a round changes none by more than this, relative to the largest, over the lengths of variables.
pub(super) const SETTLED: f64 = 1e-10;

/// What one round did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// The level at which it was read.
    pub level: f64,
    /// Whether that is another level than that of the round before.
    pub moved: bool,
    /// The penalised objective at this level, of the coefficients before the round. The part that depends on the response alone is left out.
    pub before: f64,
    /// Of the coefficients of the weighted path.
    pub after: f64,
    /// After the descent among them.
    pub descended: f64,
    /// How many variables were in then, without those that have no penalty.
    pub nonzeros: usize,
}

/// The rounds of every response.
pub(super) fn solve(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    lengths: &[f64],
    options: &LarsOptions,
    (penalty, params): (&dyn Penalty, &PathPenalty),
    monitor: &dyn Monitor,
) -> Result<Vec<Penalised>> {
    let shared = SharedProblem::new(gram, options)?;
    let lengths: Vec<f64> = lengths.iter().map(|length| length + options.ridge).collect();
    let (done, total) = (AtomicUsize::new(0), b.ncols());
    (0..total)
        .into_par_iter()
        .with_max_len(1)
        .map(|k| {
            let b: Vec<f64> = b.col(k).iter().copied().collect();
            let response = Response { shared: &shared, lengths: &lengths, b: &b, penalty, params, monitor };
            let found = response.solve()?;
            monitor.progress(Stage::Lars, done.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(found)
        })
        .collect()
}

/// One response.
pub(super) struct Response<'a> {
    pub(super) shared: &'a SharedProblem<'a>,
    pub(super) lengths: &'a [f64],
    pub(super) b: &'a [f64],
    pub(super) penalty: &'a dyn Penalty,
    params: &'a PathPenalty,
    monitor: &'a dyn Monitor,
}

/// Coefficients and the level that they belong to.
#[derive(Clone)]
pub(super) struct LevelCoefficients {
    pub(super) w: SparseVector,
    pub(super) level: f64,
}

/// Where the rounds begin, and why the first path ended there.
#[derive(Clone)]
struct RoundsStart {
    at: LevelCoefficients,
    ended: EndReason,
}

/// A path and the factors it was computed with.
struct WeightedPath {
    path: Path,
    factors: Vec<f64>,
}

impl Response<'_> {
    fn solve(&self) -> Result<Penalised> {
        let options = self.shared.options;
        let first_limit = options.max_nonzeros.map(|k| self.params.first_nonzeros(k));
        let first =
            path_of(&Problem::new(self.shared, &self.shared.v, self.b)?.limited(first_limit), self.monitor)?;
        let start = LevelCoefficients::of(&first);
        let tuning = self.tuning(&start.w);
        if self.penalty.once() {
            let factors = self.factors(&start, tuning);
            let problem = Problem::new(self.shared, &factors, self.b)?;
            let path = path_of(&problem, self.monitor)?;
            let report = PenaltyReport::Rounds { count: 1, settled: true, stationarity: None };
            return Ok(Penalised { path: path.with_report(report), history: Vec::new() });
        }
        let fits = options.max_nonzeros.is_none_or(|most| self.selected(&start.w) <= most);
        if start.w.nonzeros() == 0 || (start.level == 0.0 && fits) {
            // Where no variable is in, all weights are 1; and at level 0 nothing is penalised. But a path that has more variables on its
            // way there is stopped above that, and has no answer.
            let path = self.plain()?;
            if path.last().coefficients.nonzeros() == 0 || path.last().level == 0.0 {
                let settled = path.ended_early().is_none();
                return Ok(Penalised {
                    path: self.certified(path, (0, settled), tuning)?,
                    history: Vec::new(),
                });
            }
        }
        let begin = RoundsStart { at: start, ended: first.ended() };
        let found = self.rounds(begin.clone(), tuning, true)?;
        match found.path.report() {
            // At a lower level the rounds need not settle.
            Some(PenaltyReport::Rounds { settled: false, .. }) => self.rounds(begin, tuning, false),
            _ => Ok(found),
        }
    }

    /// With `falls`, the level falls where far fewer variables are in than were asked for.
    fn rounds(&self, begin: RoundsStart, tuning: Tuning, mut falls: bool) -> Result<Penalised> {
        let most = self.shared.options.max_nonzeros;
        let mut now = begin.at;
        // With a longer first path, more than K variables may be free of pressure: then the weights are those of a higher level. It is 0
        // where that path is complete.
        if now.level == 0.0 {
            now.level = LOW * now.w.iter().map(|(j, w)| self.size(j, w)).fold(0.0, f64::max);
        }
        while most.is_some_and(|most| self.freed(&self.factors(&now, tuning)).count() > most) {
            now.level *= 1.5;
        }
        let (mut history, mut answer, mut count, mut again) = (Vec::new(), None::<RoundsResult>, 0, 0);
        while count < MOST {
            let Some(weighted) = self.weighted(self.factors(&now, tuning), most)? else { break };
            count += 1;
            let end = LevelCoefficients::of(&weighted.path);
            let short = end.level > now.level * (1.0 + 1e-12);
            let moved = (short && count > 1) || (count == 1 && most.is_some());
            let read = match moved {
                false => now.at_level_of(&weighted.path)?,
                // Rounds that go on and on are led to fewer variables, by more than the level has risen of itself.
                true if count > PATIENT => {
                    let rise = (end.level / now.level).powi(1 << (count - PATIENT).min(10));
                    LevelCoefficients { level: end.level * rise.min(MOST_RISE), ..end.clone() }
                        .at_level_of(&weighted.path)?
                }
                true => end.clone(),
            };
            if !moved && self.equal(&read.w, &now.w) {
                let few = most.is_some_and(|most| 2 * self.selected(&read.w) < most);
                if answer.as_ref().is_none_or(|best| best.worse_than(&read)) {
                    answer = Some(RoundsResult { point: read, weighted, settled: true });
                }
                if few && again < AGAIN && end.level > 0.0 && end.level < now.level {
                    (again, now) = (again + 1, end);
                    continue;
                }
                break;
            }
            // At level 0 nothing is penalised; and a path that ends above a given level was ended by trouble.
            let over = read.level == 0.0 || (short && most.is_none());
            let settled = read.level == 0.0;
            let (next, round) = self.descended(&now, &read, moved, tuning)?;
            history.push(round);
            // Once: what is in doubt by rounding must not decide how far it falls.
            let fallen = if falls { self.fallen(next, tuning)? } else { next };
            (now, falls) = (self.polished(fallen, tuning), false);
            if answer.as_ref().is_none_or(|answer| !answer.settled) {
                answer = Some(RoundsResult { point: read, weighted, settled });
            }
            if over {
                break;
            }
        }
        let Some(answer) = answer else {
            // Not even one: weights of 0 on variables that depend on each other, from the first path on.
            return Ok(Penalised { path: self.certified(self.plain()?, (0, false), tuning)?, history });
        };
        // A path to a number of variables ends at the level of its answer; one to a level ends above it where the first path or the last
        // one has.
        let last = answer.weighted.path.ended();
        let ended = match most {
            Some(_) => EndReason::Answer,
            None if last.is_early() && !begin.ended.is_early() => last,
            None => begin.ended,
        };
        Ok(Penalised { path: self.finished(answer, tuning, (count, ended))?, history })
    }

    /// The path of ℓ1 itself.
    fn plain(&self) -> Result<Path> {
        path_of(&Problem::new(self.shared, &self.shared.v, self.b)?, self.monitor)
    }

    /// ε is relative to the largest coefficient of the first fit, on variables of length 1.
    fn tuning(&self, first: &SparseVector) -> Tuning {
        let largest = first.iter().map(|(j, w)| self.size(j, w)).fold(0.0, f64::max);
        let epsilon = self.params.epsilon.or_else(|| self.penalty.default_epsilon()).unwrap_or(1.0);
        Tuning {
            gamma: self.params.gamma.or_else(|| self.penalty.default_gamma()).unwrap_or(1.0),
            epsilon: epsilon * if largest > 0.0 { largest } else { 1.0 },
        }
    }

    /// t of a coefficient.
    fn size(&self, j: usize, w: f64) -> f64 {
        self.lengths[j] * w.abs()
    }

    /// The factors with which a variable is penalised in a round that begins at `point`.
    fn factors(&self, point: &LevelCoefficients, tuning: Tuning) -> Vec<f64> {
        let mut factors = self.shared.v.clone();
        for (j, w) in point.w.iter().filter(|&(j, _)| self.shared.v[j] > 0.0) {
            let own = self.shared.v[j];
            factors[j] = own * self.penalty.weight(self.size(j, w), point.level * own, tuning);
        }
        factors
    }

    /// The variables on which these factors, and not the caller's, leave no pressure.
    fn freed(&self, factors: &[f64]) -> impl Iterator<Item = usize> {
        (0..factors.len()).filter(|&j| factors[j] == 0.0 && self.shared.v[j] > 0.0)
    }

    /// The path with these factors to at most so many variables, those that the penalty leaves free counted; none if those depend on each
    /// other.
    fn weighted(&self, factors: Vec<f64>, most: Option<usize>) -> Result<Option<WeightedPath>> {
        let freed = self.freed(&factors).count();
        let limit = most.map(|most| most.saturating_sub(freed));
        match path_of(&Problem::new(self.shared, &factors, self.b)?.limited(limit), self.monitor) {
            Ok(path) => Ok(Some(WeightedPath { path, factors })),
            Err(Error::Parameter { name, .. }) if freed > 0 && name == "penalty_factors" => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether two answers are the same but for rounding.
    fn equal(&self, a: &SparseVector, b: &SparseVector) -> bool {
        let scale = |j: usize| self.lengths[j].sqrt();
        let largest = a.iter().chain(b.iter()).map(|(j, w)| scale(j) * w.abs()).fold(0.0, f64::max);
        let same = |j: usize| scale(j) * (a.get(j) - b.get(j)).abs() <= SETTLED * largest;
        a.indices().iter().chain(b.indices()).all(|&j| same(j))
    }

    /// How many variables are used, without those that the caller freed.
    pub(super) fn selected(&self, w: &SparseVector) -> usize {
        w.indices().iter().filter(|&&j| self.shared.v[j] > 0.0).count()
    }

    /// Descends from what a round has read, at its level.
    fn descended(
        &self,
        before: &LevelCoefficients,
        read: &LevelCoefficients,
        moved: bool,
        tuning: Tuning,
    ) -> Result<(LevelCoefficients, Round)> {
        let level = read.level;
        let mut places = [before.w.indices(), read.w.indices()].concat();
        places.sort_unstable();
        places.dedup();
        let objective = self.objective(&places, level, tuning);
        let at = |w: &SparseVector| objective.at(&entries(w, &places));
        let lower = self.lowered(&read.w, level, tuning)?;
        let nonzeros = self.selected(&lower.w);
        let (before, after) = (at(&before.w), at(&read.w));
        let round = Round { level, moved, before, after, descended: lower.value, nonzeros };
        Ok((LevelCoefficients { w: lower.w, level }, round))
    }

    /// The path of the last round down to the answer, with what is known of it. `ended` says why it goes no farther.
    fn finished(
        &self,
        answer: RoundsResult,
        tuning: Tuning,
        (count, ended): (usize, EndReason),
    ) -> Result<Path> {
        let RoundsResult { point, weighted: WeightedPath { path, factors }, settled } = answer;
        let problem = Problem::new(self.shared, &factors, self.b)?;
        let certificate = certificate_at(&problem, &point.w, point.level);
        let free = (0..factors.len()).filter(|&j| self.shared.v[j] == 0.0).collect();
        let freed = self.freed(&factors).collect();
        let path = path.down_to(point.level, point.w, certificate, ended);
        let path = path.freed(free, freed).limited(self.shared.options.max_nonzeros);
        self.certified(path, (count, settled), tuning)
    }

    /// A path with its report: the first-order conditions are those of the penalty at the end of the path, whichever way led there.
    fn certified(&self, path: Path, (count, settled): (usize, bool), tuning: Tuning) -> Result<Path> {
        let end = LevelCoefficients::of(&path);
        let factors = self.factors(&end, tuning);
        let Certificate { kkt, .. } =
            certificate_at(&Problem::new(self.shared, &factors, self.b)?, &end.w, end.level);
        Ok(path.with_report(PenaltyReport::Rounds { count, settled, stationarity: Some(kkt) }))
    }
}

/// What the rounds end with.
struct RoundsResult {
    point: LevelCoefficients,
    weighted: WeightedPath,
    settled: bool,
}

impl RoundsResult {
    /// Whether this answer did not settle, or has fewer variables than one that did.
    fn worse_than(&self, other: &LevelCoefficients) -> bool {
        !self.settled || self.point.w.nonzeros() < other.w.nonzeros()
    }
}

impl LevelCoefficients {
    /// The end of a path.
    fn of(path: &Path) -> Self {
        LevelCoefficients { w: path.last().coefficients.clone(), level: path.last().level }
    }

    /// The point of a path at the level of this one.
    fn at_level_of(&self, path: &Path) -> Result<Self> {
        let level = self.level.max(path.last().level);
        Ok(LevelCoefficients { w: path.at_lambda(level)?.coefficients, level: self.level })
    }
}
