//! Walking along the path on a working set of variables.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | λ | `level` | the level |
//! | 𝒜, s | `active`, `sign` | active variables and the signs of their correlations |
//! | w | `w` | their coefficients at the current knot |
//! | c | `c` | `b − G w` |
//! | q | `q` | the direction: w grows by `q` as λ falls by 1; `G_𝒜 q = s∘v` |
//! | a | `a` | `G q`: c falls by `a` as λ falls by 1 |
//! | γ | `gamma` | the step, the fall of λ to the next knot |
//!
//! At a knot, let F be the variables with `wⱼ ≠ 0` and T the tied ones, at the level but with `wⱼ = 0`
//! (arriving, just dropped, or riding along because they depend on F). For the path to go on, those of T that
//! move must move with the sign of their correlation, and the correlations of the others must fall at least
//! as fast as the level:
//!
//! ```text
//! sⱼqⱼ ≥ 0,   vⱼ − sⱼaⱼ ≤ 0,   one of the two with equality      (j ∈ T)
//! ```
//!
//! These are the optimality conditions of `min ½qᵀGq − (s∘v)ᵀq` over q on F ∪ T with `sⱼqⱼ ≥ 0` on T, a
//! non-negative least-squares problem. [`State::turn`] solves it as Lawson and Hanson do: one variable at a
//! time, going back to where another would change sign. Its objective falls at every pass, so it cannot
//! cycle. A single arrival or drop, the ordinary case, is one pass. A variable that just dropped is a member
//! of T like any other, and the conditions themselves keep it out.

use super::cholesky::Dependent;
use super::path::EndReason;
use super::problem::LarsMethod;
use super::state::{State, StepDirection, WatchedVariables};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::linalg::{axpy, vectorized};
use crate::numerics::sparse::SparseVector;

/// A stretch of the path: what turned at the knot before it, and the knot it leads to.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) entered: Vec<usize>,
    pub(super) left: Vec<usize>,
    pub(super) level: f64,
    pub(super) coefficients: SparseVector,
}

/// What `after` has that `before` has not, and the other way round. Variables that stay keep their order, so that
/// one pass finds nearly all.
fn changes(before: &[usize], after: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let missing = |from: &[usize], of: &[usize]| of.iter().copied().filter(|j| !from.contains(j)).collect();
    (missing(before, after), missing(after, before))
}

/// A dependent variable may stay outside while the violation it would cause down to level 0 is below this.
const HARMLESS: f64 = 1e-10;

/// The decision taken at a knot.
struct TurnDecision {
    q: Vec<f64>,
    /// Tied variables that stay: their own side of the level is no event until the next knot.
    resting: Vec<bool>,
}

/// A tied variable that has to move.
struct ArrivingVariable {
    at: usize,
    sign: f64,
    pull: f64,
}

/// Why the path cannot turn here.
enum HaltReason {
    Ended(EndReason),
    Stopped(crate::Error),
}

impl From<EndReason> for HaltReason {
    fn from(ended: EndReason) -> Self {
        HaltReason::Ended(ended)
    }
}

impl From<crate::Error> for HaltReason {
    fn from(error: crate::Error) -> Self {
        HaltReason::Stopped(error)
    }
}

/// More tied variables than this are first tried all at once.
const MANY: usize = 8;

impl State<'_> {
    /// Walks up to `steps` segments, and returns why the path ends, if it does. There is no turn at the knot that ends it.
    pub(super) fn walk(
        &mut self,
        steps: usize,
        monitor: &dyn Monitor,
    ) -> crate::Result<(Vec<Segment>, Option<EndReason>)> {
        let mut segments = Vec::with_capacity(steps);
        for _ in 0..steps {
            if self.level <= self.problem.options().lambda_min {
                let ended = if self.level > 0.0 { EndReason::LambdaMin } else { EndReason::Complete };
                return Ok((segments, Some(ended)));
            }
            let turn = match self.turn(monitor) {
                Ok(turn) => turn,
                Err(HaltReason::Ended(ended)) => return Ok((segments, Some(ended))),
                Err(HaltReason::Stopped(error)) => return Err(error),
            };
            let (entered, left) = changes(&self.arrived, &self.active);
            self.arrived.clone_from(&self.active);
            self.advance(turn);
            segments.push(Segment { entered, left, level: self.level, coefficients: self.coefficients() });
        }
        Ok((segments, None))
    }

    /// Decides which variables move from this knot on, and in which direction.
    fn turn(&mut self, monitor: &dyn Monitor) -> Result<TurnDecision, HaltReason> {
        let lasso = self.problem.options().method == LarsMethod::Lasso;
        let moving = self.active.len();
        let tied = self.tied();
        let mut resting = std::mem::take(&mut self.room.resting);
        resting.clear();
        resting.resize(self.watched.variables.len(), false);
        // Unless a variable has left, this is the direction of the last step, and the rates are known.
        let (mut q, mut rates) = match self.course.take() {
            Some(StepDirection { q, a }) => (q, a),
            None => (self.direction(), Vec::new()),
        };
        if tied.len() > MANY {
            q = self.admit_all(&tied, q);
            rates.clear();
        }
        for _ in 0..10 * tied.len() + 10 {
            proceed(monitor, Stage::Lars)?;
            let Some(ArrivingVariable { at, sign, pull }) = self.strongest(&tied, &resting, &q, &rates)
            else {
                break;
            };
            if let Err(dependent) = self.admit(at, sign) {
                self.tolerate(at, pull, dependent, &q)?;
                resting[at] = true;
                continue;
            }
            let mut towards = self.direction();
            if lasso {
                let newest = self.active.len() - 1;
                if towards[newest] * sign <= 0.0 {
                    // Its pull was rounding.
                    self.release(newest);
                    resting[at] = true;
                    continue;
                }
                q.push(0.0);
                towards = self.retreat(moving, &mut q, towards);
            }
            self.room.q = std::mem::replace(&mut q, towards);
            rates.clear();
        }
        self.room.a = rates;
        let needed = self.active.len() - self.free;
        if self.problem.max_nonzeros.is_some_and(|max| needed > max) {
            return Err(EndReason::MaxNonzeros { needed }.into());
        }
        for &i in &tied {
            resting[i] = !self.watched.is_active[i];
        }
        Ok(TurnDecision { q, resting })
    }

    /// The watched variables at the level, by position. Nearly all are not, and are passed over eight at a time.
    fn tied(&self) -> Vec<usize> {
        const LANES: usize = 8;
        let WatchedVariables { c, v, tie, is_active, .. } = &self.watched;
        let (level, positive) = (self.level, self.problem.options().positive);
        let near = |i: usize| {
            let reach = if positive { c[i] } else { c[i].abs() };
            (reach >= level * v[i] - tie[i]) & !is_active[i]
        };
        let mut tied = Vec::new();
        vectorized(
            #[inline(always)]
            || {
                let chunks = c.as_chunks::<LANES>().0.iter().zip(v.as_chunks::<LANES>().0);
                for (k, ((c, v), tie)) in chunks.zip(tie.as_chunks::<LANES>().0).enumerate() {
                    // Active ones are at the level, too; they are told apart afterwards.
                    let hits: [u64; LANES] = std::array::from_fn(|l| {
                        let reach = if positive { c[l] } else { c[l].abs() };
                        u64::from(reach >= level * v[l] - tie[l])
                    });
                    if hits != [0; LANES] {
                        tied.extend((LANES * k..LANES * (k + 1)).filter(|&i| near(i)));
                    }
                }
                tied.extend((c.len() - c.len() % LANES..c.len()).filter(|&i| near(i)));
            },
        );
        tied
    }

    /// The tied variables whose correlation would stay above the falling level if they did not move, with the margin
    /// `vⱼ − sⱼaⱼ`; `rates` are the `a`, if they are known.
    fn arrivals(&self, tied: &[usize], resting: &[bool], q: &[f64], rates: &[f64]) -> Vec<ArrivingVariable> {
        let watched = &self.watched;
        let m = watched.variables.len();
        let waiting: Vec<usize> =
            tied.iter().copied().filter(|&i| !watched.is_active[i] && !resting[i]).collect();
        let mut computed = Vec::new();
        if rates.is_empty() && waiting.len() > MANY {
            self.combine(q, &mut computed);
        }
        let rates = if rates.is_empty() { &computed } else { rates };
        let rate = |i: usize| match rates.get(i) {
            Some(&a) => a,
            None => q.iter().enumerate().map(|(k, q)| watched.columns[k * m + i] * q).sum(),
        };
        let arrival = |at: usize| {
            let sign = if self.problem.options().positive { 1.0 } else { watched.c[at].signum() };
            ArrivingVariable { at, sign, pull: watched.v[at] - sign * rate(at) }
        };
        let moves = |arrival: &ArrivingVariable| arrival.pull * self.level > watched.tie[arrival.at];
        waiting.into_iter().map(arrival).filter(moves).collect()
    }

    /// The arrival with the widest margin, relative to its length; the first of equals.
    fn strongest(
        &self,
        tied: &[usize],
        resting: &[bool],
        q: &[f64],
        rates: &[f64],
    ) -> Option<ArrivingVariable> {
        let mut arrivals = self.arrivals(tied, resting, q, rates).into_iter();
        let first = arrivals.next()?;
        let tie = &self.watched.tie;
        let stronger = |x: &ArrivingVariable, y: &ArrivingVariable| x.pull * tie[y.at] > y.pull * tie[x.at];
        Some(arrivals.fold(first, |best, next| if stronger(&next, &best) { next } else { best }))
    }

    /// Where many variables tie, as equal columns do, usually all of them move, and one at a time is slow. Admits all of them if
    /// that is the answer, and none otherwise. Returns the direction.
    fn admit_all(&mut self, tied: &[usize], q: Vec<f64>) -> Vec<f64> {
        let resting = vec![false; self.watched.variables.len()];
        let before = self.active.len();
        let arrivals = self.arrivals(tied, &resting, &q, &[]);
        let admitted = arrivals.iter().all(|arrival| self.admit(arrival.at, arrival.sign).is_ok());
        if admitted {
            let towards = self.direction();
            let forward = (before..towards.len()).all(|k| towards[k] * self.sign[k] > 0.0);
            if forward && self.strongest(tied, &resting, &towards, &[]).is_none() {
                return towards;
            }
        }
        while self.active.len() > before {
            self.release(self.active.len() - 1);
        }
        q
    }

    /// Whether a variable that cannot be appended may be left out.
    fn tolerate(&self, i: usize, pull: f64, dependent: Dependent, q: &[f64]) -> Result<(), EndReason> {
        let (variable, unit) = (self.watched.variables[i], self.problem.unit);
        let scale = &self.problem.shared.scale;
        // The pull inherits the rounding of q through the combination of active variables that it depends on.
        let mut combination: Vec<f64> = self.gram_row(i).collect();
        self.factor.solve(&mut combination);
        let size = |x: &[f64]| -> f64 { self.active.iter().zip(x).map(|(&j, x)| scale[j] * x.abs()).sum() };
        let rounding = 4.0 * f64::EPSILON * self.level * size(q) * (scale[variable] + size(&combination));
        if pull * self.level <= rounding.max(HARMLESS * unit * scale[variable]) {
            Ok(())
        } else if dependent.relative_distance < -1e-6 {
            Err(EndReason::Indefinite { variable })
        } else if pull * self.level > 1e-5 * unit * scale[variable] {
            // Were b in the range of G, the pull could only be as large as the distance from the span.
            Err(EndReason::Unbounded { variable })
        } else {
            Err(EndReason::Dependent { variable })
        }
    }

    /// Moves the feasible `q` towards the unconstrained optimum `towards`, releasing each variable past the first `moving`
    /// that would change sign on the way, until the optimum of those that are left is feasible.
    fn retreat(&mut self, moving: usize, q: &mut Vec<f64>, mut towards: Vec<f64>) -> Vec<f64> {
        loop {
            let wrong = |k: &usize| towards[*k] * self.sign[*k] <= 0.0;
            let part = |k: usize| if q[k] == towards[k] { 0.0 } else { q[k] / (q[k] - towards[k]) };
            let blocking = (moving..q.len()).filter(wrong).map(|k| (k, part(k)));
            let Some((k, t)) = blocking.min_by(|x, y| x.1.total_cmp(&y.1)) else { return towards };
            for (q, towards) in q.iter_mut().zip(&towards) {
                *q += t * (towards - *q);
            }
            q.remove(k);
            self.release(k);
            towards = self.direction();
        }
    }

    /// Goes to the next knot: the first of an arrival, a drop, and the end.
    fn advance(&mut self, turn: TurnDecision) {
        let TurnDecision { q, resting } = turn;
        let options = self.problem.options();
        let level = self.level;
        let mut a = std::mem::take(&mut self.room.a);
        self.combine(&q, &mut a);
        let mut next = self.next_arrival(&a, &resting).max(options.lambda_min);
        let mut dropping = None;
        if options.method == LarsMethod::Lasso {
            for (k, (w, q)) in self.w.iter().zip(&q).enumerate().skip(self.free) {
                if w * q < 0.0 && level + w / q > next {
                    next = level + w / q;
                    dropping = Some(k);
                }
            }
        }
        next = next.min(level);
        let gamma = level - next;
        self.standstill = if gamma > 1e-15 * level { 0 } else { self.standstill + 1 };
        self.level = next;
        axpy(gamma, &q, &mut self.w);
        axpy(-gamma, &a, &mut self.watched.c);
        if let Some(k) = dropping {
            self.w[k] = 0.0;
        }
        self.course = Some(StepDirection { q, a });
        self.room.resting = resting;
        self.settle();
    }

    /// The highest level at which a watched variable arrives, 0 if none does. Eight at a time, without branches.
    fn next_arrival(&self, a: &[f64], resting: &[bool]) -> f64 {
        const LANES: usize = 8;
        let level = self.level;
        let negative = !self.problem.options().positive;
        let watched = &self.watched;
        vectorized(
            #[inline(always)]
            || {
                let mut best = [0.0f64; LANES];
                let (a, a_tail) = a.as_chunks::<LANES>();
                let (c, c_tail) = watched.c.as_chunks::<LANES>();
                let (v, v_tail) = watched.v.as_chunks::<LANES>();
                let (tie, tie_tail) = watched.tie.as_chunks::<LANES>();
                let (active, active_tail) = watched.is_active.as_chunks::<LANES>();
                let (rests, rests_tail) = resting.as_chunks::<LANES>();
                let mut look = |l: usize, c: f64, a: f64, v: f64, tie: f64, active: bool, rests: bool| {
                    // What the correlation would be at level 0, on whose side it arrives if at all: without more than a tie
                    // there is no arrival, only rounding beside a variable that rides along at the level.
                    let remains = c - level * a;
                    let side = 1f64.copysign(remains);
                    let (c, a) = (side * c, side * a);
                    let arrives =
                        (remains.abs() > tie) & (a < v) & !(rests & (c > 0.0)) & (negative | (side > 0.0));
                    let first = if arrives { remains.abs() / (v - a) } else { 0.0 };
                    best[l] = if (first > best[l]) & !active { first } else { best[l] };
                };
                for k in 0..c.len() {
                    for l in 0..LANES {
                        look(l, c[k][l], a[k][l], v[k][l], tie[k][l], active[k][l], rests[k][l]);
                    }
                }
                for l in 0..c_tail.len() {
                    let (active, rests) = (active_tail[l], rests_tail[l]);
                    look(l, c_tail[l], a_tail[l], v_tail[l], tie_tail[l], active, rests);
                }
                best.into_iter().fold(0.0, f64::max)
            },
        )
    }

    /// How many steps in a row did not lower the level.
    pub(super) fn standstill(&self) -> usize {
        self.standstill
    }
}
