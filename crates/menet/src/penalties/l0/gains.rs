//! What the exchanges of a [table](super::table) would gain, and the best of them.

use super::scaled::Scaled;
use super::table::Table;
use crate::numerics::linalg::vectorized;

/// Number of variables that are examined before all others.
const PROMISING: usize = 16;

/// Fewer than one in so many variables are looked at one by one.
const FEW: usize = 16;

/// Two variables that change places.
#[derive(Clone, Copy)]
pub(super) struct Swap {
    /// The position of the member that leaves.
    pub(super) at: usize,
    pub(super) variable: usize,
    /// By how much the objective falls.
    pub(super) fall: f64,
}

impl Table {
    /// What dropping the member at position `at` loses.
    pub(super) fn loss(&self, at: usize) -> f64 {
        let i = self.members[at];
        0.5 * self.c[i] * self.c[i] / self.column(at)[i]
    }

    /// The variable that gains most when added, the first of equals, and its gain.
    pub(super) fn best_addition(&self, problem: &mut Scaled<'_>) -> Option<(usize, f64)> {
        loop {
            let gains = self.gains(problem, &self.c, 0.0, 0.0);
            let (gain, j) = (gains.largest(), gains.first_largest(&|_| true)?);
            if problem.resolve(j) {
                return Some((j, 0.5 * gain));
            }
        }
    }

    /// The exchange of a member for another variable that lowers the objective most, those in `rejected` (who leaves, who
    /// comes) left out.
    ///
    /// By Cauchy and Schwarz an exchange for j brings at most what adding j gains. So a good exchange for one of the variables
    /// that gain most rules out nearly all others; where there is none, all are looked at.
    pub(super) fn best_swap(&self, problem: &mut Scaled<'_>, rejected: &[(usize, usize)]) -> Option<Swap> {
        loop {
            let gains = self.gains(problem, &self.c, 0.0, 0.0).all();
            let promising = first_largest(&gains, PROMISING);
            let mut best = self.best_swap_for(problem, &promising, rejected);
            let bar = best.map_or(0.0, |swap| 2.0 * swap.fall);
            let left = gains.iter().filter(|&&gain| gain > bar).count();
            if left * FEW > gains.len() || bar <= 0.0 {
                best = self.best_swap_of_all(problem, rejected);
            } else {
                let rest: Vec<usize> = (0..gains.len()).filter(|&j| gains[j] > bar).collect();
                best = better(best, self.best_swap_for(problem, &rest, rejected));
            }
            match best {
                Some(swap) if !problem.resolve(swap.variable) => {}
                best => return best,
            }
        }
    }

    /// The best exchange for one of `variables`.
    fn best_swap_for(
        &self,
        problem: &Scaled<'_>,
        variables: &[usize],
        rejected: &[(usize, usize)],
    ) -> Option<Swap> {
        let mut best = None;
        for at in self.positions() {
            let (i, own) = (self.members[at], self.column(at));
            let (inverse, w) = (1.0 / own[i], -self.c[i]);
            let gains = self.gains(problem, own, w * inverse, inverse);
            for &variable in variables.iter().filter(|&&j| !rejected.contains(&(i, j))) {
                let gain = gains.gain(variable);
                if gain > 0.0 {
                    best = better(best, Some(Swap { at, variable, fall: 0.5 * (gain - w * w * inverse) }));
                }
            }
        }
        best
    }

    /// The best exchange.
    pub(super) fn best_swap_of_all(&self, problem: &Scaled<'_>, rejected: &[(usize, usize)]) -> Option<Swap> {
        let mut best: Option<Swap> = None;
        for at in self.positions() {
            let (i, own) = (self.members[at], self.column(at));
            let (inverse, w) = (1.0 / own[i], -self.c[i]);
            let gains = self.gains(problem, own, w * inverse, inverse);
            let loss = w * w * inverse;
            let least = best.map_or(f64::NEG_INFINITY, |best| 2.0 * best.fall);
            // Nearly always a member has nothing to offer, which the largest of its gains tells.
            if gains.largest() - loss > least {
                let allowed = |j: usize| !rejected.contains(&(i, j));
                if let Some(variable) = gains.first_largest(&allowed) {
                    let fall = 0.5 * (gains.gain(variable) - loss);
                    best = better(best, Some(Swap { at, variable, fall }));
                }
            }
        }
        best
    }

    /// The gains of all variables once the correlations are `c + a u` and the distances `d + e u²`.
    fn gains<'a>(&'a self, problem: &'a Scaled<'_>, u: &'a [f64], a: f64, e: f64) -> EntryGains<'a> {
        let (c, explained, floor) = (&self.c[..], &self.explained[..], &self.floor[..]);
        EntryGains { c, diagonal: &problem.diagonal, explained, floor, u, a, e }
    }
}

/// Twice what each variable would gain.
struct EntryGains<'a> {
    c: &'a [f64],
    diagonal: &'a [f64],
    explained: &'a [f64],
    floor: &'a [f64],
    u: &'a [f64],
    a: f64,
    e: f64,
}

impl EntryGains<'_> {
    #[inline(always)]
    fn gain(&self, j: usize) -> f64 {
        let c = self.c[j] + self.a * self.u[j];
        let distance = self.diagonal[j] - self.explained[j] + self.e * (self.u[j] * self.u[j]);
        if distance > self.floor[j] { c * c / distance } else { 0.0 }
    }

    /// The largest, eight at a time and without branches.
    fn largest(&self) -> f64 {
        const LANES: usize = 8;
        let (a, e) = (self.a, self.e);
        vectorized(
            #[inline(always)]
            || {
                let mut best = [0.0f64; LANES];
                let whole = self.c.len() - self.c.len() % LANES;
                let chunks = self.c.as_chunks::<LANES>().0.iter().zip(self.u.as_chunks::<LANES>().0);
                let lengths = self.diagonal.as_chunks::<LANES>().0.iter();
                let lengths = lengths.zip(self.explained.as_chunks::<LANES>().0);
                for (((c, u), (diagonal, explained)), floor) in
                    chunks.zip(lengths).zip(self.floor.as_chunks::<LANES>().0)
                {
                    for l in 0..LANES {
                        let c = c[l] + a * u[l];
                        let distance = diagonal[l] - explained[l] + e * (u[l] * u[l]);
                        let gain = if distance > floor[l] { c * c / distance } else { 0.0 };
                        best[l] = if gain > best[l] { gain } else { best[l] };
                    }
                }
                let tail = (whole..self.c.len()).map(|j| self.gain(j)).fold(0.0, f64::max);
                best.into_iter().fold(tail, f64::max)
            },
        )
    }

    /// All of them; infinite where the variable depends on the support, but may not once a member has left.
    fn all(&self) -> Vec<f64> {
        let dependent = |j: usize| self.diagonal[j] - self.explained[j] <= self.floor[j];
        let open = |j: usize| self.floor[j].is_finite();
        (0..self.c.len())
            .map(|j| if open(j) && dependent(j) { f64::INFINITY } else { self.gain(j) })
            .collect()
    }

    /// The first variable with the largest gain among those that are `allowed`; none if nothing gains.
    fn first_largest(&self, allowed: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut best = (0.0, None);
        for j in 0..self.c.len() {
            let gain = self.gain(j);
            if gain > best.0 && allowed(j) {
                best = (gain, Some(j));
            }
        }
        best.1
    }
}

/// The better of two, the first of equals.
fn better(first: Option<Swap>, second: Option<Swap>) -> Option<Swap> {
    match (first, second) {
        (Some(x), Some(y)) => Some(if y.fall > x.fall { y } else { x }),
        (x, y) => x.or(y),
    }
}

/// The positions of the `count` largest values, or of all, rising; the first of equals.
fn first_largest(values: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    if count < order.len() {
        order.select_nth_unstable_by(count, |&i, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
        order.truncate(count);
    }
    order.sort_unstable();
    order
}
