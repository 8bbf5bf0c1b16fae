//! From a support to one that no exchange improves.
//!
//! The exchanges, in this order, until none helps:
//!
//! 1. The best of all single ones, which the [table](super::table) knows exactly.
//! 2. The s members whose loss costs least, for the s variables that gain most, s = 2, 3, …: the splicing step of abess,
//!    except that a gain takes into account what has been exchanged before.
//! 3. Where the problem is small, all s members for all s others.

use super::gains::Swap;
use super::scaled::{Objective, Scaled, sorted};
use super::table::Table;
use crate::error::Result;
use crate::monitor::{Monitor, Stage, proceed};

/// An exchange helps if it lowers the objective by more than this part of it.
const TOLERANCE: f64 = 1e-12;

/// A table whose objective is off by more than this part of it is computed afresh.
const DRIFT: f64 = 1e-10;

/// How often an exchange may help according to the table but not by the exact objective, before we give up on a certificate.
const DENIALS: usize = 32;

/// Exchanges for one support, before we give up.
const LONGEST: usize = 1000;

/// Largest number of table entries that are computed to try all exchanges of s variables.
const ALL: f64 = 2.5e5;

/// Largest number of variables for which all exchanges of several are tried, since all their columns of G are needed.
const SMALL: usize = 100;

/// Largest number of variables that are exchanged at once when all exchanges are tried.
const AT_MOST: usize = 5;

/// A support, and what is known of it.
#[derive(Clone)]
pub(super) struct LocalSupport {
    pub(super) table: Table,
    /// The objective, from a fresh factorization.
    pub(super) f: Objective,
    /// Whether no single exchange helps, of those that can be computed.
    pub(super) certified: bool,
    /// Exchanges that led here.
    pub(super) steps: usize,
}

impl LocalSupport {
    /// The support of a table; none where its variables depend on each other.
    pub(super) fn new(problem: &mut Scaled<'_>, table: Table) -> Option<Self> {
        let f = problem.objective(&table.members)?;
        let mut local = LocalSupport { table, f, certified: false, steps: 0 };
        local.steady(problem);
        Some(local)
    }

    /// How much an exchange has to lower the objective.
    fn bar(&self) -> f64 {
        self.f.sure - TOLERANCE * self.f.value.abs()
    }

    /// Computes the table afresh if it has drifted.
    fn steady(&mut self, problem: &mut Scaled<'_>) {
        let off = (self.table.f - self.f.value).abs();
        if off.is_nan() || off > DRIFT * self.f.value.abs() {
            self.table = self.table.afresh(problem);
        }
        self.table.f = self.f.value;
    }

    /// Goes to `table` if that is better.
    fn accept(&mut self, problem: &mut Scaled<'_>, table: Table) -> bool {
        let better = table.f < self.bar();
        let f = if better { problem.objective(&table.members) } else { None };
        match f.filter(|f| f.sure < self.bar()) {
            Some(f) => {
                (self.table, self.f, self.steps) = (table, f, self.steps + 1);
                self.steady(problem);
                true
            }
            None => false,
        }
    }

    /// Exchanges singly and up to `most` variables at a time until nothing helps.
    pub(super) fn descend(
        &mut self,
        problem: &mut Scaled<'_>,
        most: usize,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        while self.steps < LONGEST {
            self.certified = self.swap_all(problem, monitor)?;
            let several = 2..=most.min(self.table.chosen().len());
            let helped = several.into_iter().any(|s| {
                let trial = exchanged(problem, &self.table, s);
                trial.is_some_and(|trial| self.accept(problem, trial))
            });
            if !helped {
                break;
            }
            self.certified = false;
        }
        Ok(())
    }

    /// Makes the best single exchange until none helps. Returns whether that is certain.
    fn swap_all(&mut self, problem: &mut Scaled<'_>, monitor: &dyn Monitor) -> Result<bool> {
        let mut rejected = Vec::new();
        while self.steps < LONGEST {
            proceed(monitor, Stage::Lars)?;
            let swap = self.table.best_swap(problem, &rejected);
            let Some(swap) = swap.filter(|swap| self.f.value - swap.fall < self.bar()) else {
                return Ok(problem.trusted);
            };
            match self.verified(problem, swap) {
                Some(f) => {
                    self.table.swap(problem, swap);
                    (self.f, self.steps) = (f, self.steps + 1);
                    self.steady(problem);
                    rejected.clear();
                }
                // A table without history gets a second say.
                None if rejected.is_empty() => {
                    rejected.push((self.table.members[swap.at], swap.variable));
                    self.table = self.table.afresh(problem);
                    self.table.f = self.f.value;
                }
                None => rejected.push((self.table.members[swap.at], swap.variable)),
            }
            if rejected.len() > DENIALS {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// The objective after an exchange, if it helps.
    fn verified(&self, problem: &mut Scaled<'_>, swap: Swap) -> Option<Objective> {
        let mut members = self.table.members.clone();
        members[swap.at] = swap.variable;
        problem.objective(&members).filter(|f| f.sure < self.bar())
    }

    /// Tries all exchanges of 2 to [`AT_MOST`] variables, as far as that is cheap, and makes the best of those that help with the
    /// fewest variables. Whether one did.
    pub(super) fn exchange_all(&mut self, problem: &mut Scaled<'_>) -> bool {
        let open = (0..self.table.c.len()).filter(|&j| self.table.floor[j].is_finite()).count();
        let chosen = self.table.chosen().to_vec();
        if open > SMALL {
            return false;
        }
        for s in 2..=AT_MOST.min(chosen.len()).min(open) {
            let entries = (self.table.c.len() * self.table.members.len()) as f64;
            if subsets(chosen.len(), s) * subsets(open, s - 1) * entries > ALL {
                return false;
            }
            let mut best = BestExchange { f: self.bar(), table: None };
            best.remove(problem, &self.table, &chosen, s, s);
            if best.table.is_some_and(|best| self.accept(problem, best)) {
                return true;
            }
        }
        false
    }

    /// Whether both have the same support.
    pub(super) fn same(&self, other: &Table) -> bool {
        sorted(&self.table.members) == sorted(&other.members)
    }
}

/// The number of subsets of `s` of `n`.
fn subsets(n: usize, s: usize) -> f64 {
    (0..s).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// The best of many exchanges.
struct BestExchange {
    f: f64,
    table: Option<Table>,
}

impl BestExchange {
    /// Takes `count` of `members` out, in every way, and then puts `s` others in.
    fn remove(&mut self, problem: &mut Scaled<'_>, table: &Table, members: &[usize], count: usize, s: usize) {
        if count == 0 {
            return self.add(problem, table, 0, s);
        }
        for k in count - 1..members.len() {
            let trial = without(problem, table, &members[k..=k]);
            self.remove(problem, &trial, &members[..k], count - 1, s);
        }
    }

    /// Puts `count` variables from `first` on in, in every way; the last of them may be any, since the table knows the best.
    fn add(&mut self, problem: &mut Scaled<'_>, table: &Table, first: usize, count: usize) {
        if count > 1 {
            for j in first..table.c.len() {
                if table.distance(problem, j) > table.floor[j] {
                    let mut trial = table.clone();
                    trial.add(problem, j);
                    self.add(problem, &trial, j + 1, count - 1);
                }
            }
        } else if let Some((j, gain)) = table.best_addition(problem)
            && table.f - gain < self.f
        {
            let mut trial = table.clone();
            trial.add(problem, j);
            self.f = trial.f;
            self.table = Some(reopened(problem, trial));
        }
    }
}

/// The table after the exchange of the `s` members whose loss costs least; none if there are not enough others.
fn exchanged(problem: &mut Scaled<'_>, table: &Table, s: usize) -> Option<Table> {
    let mut members: Vec<(f64, usize)> =
        table.positions().map(|at| (table.loss(at), table.members[at])).collect();
    members.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    let out: Vec<usize> = members[..s].iter().map(|&(_, j)| j).collect();
    let mut trial = without(problem, table, &out);
    for _ in 0..s {
        let (j, _) = trial.best_addition(problem)?;
        trial.add(problem, j);
    }
    Some(reopened(problem, trial))
}

/// The table without some members, which cannot come back.
fn without(problem: &Scaled<'_>, table: &Table, out: &[usize]) -> Table {
    let mut table = table.clone();
    for &i in out {
        if let Some(at) = table.members.iter().position(|&member| member == i) {
            table.remove(problem, at);
            table.floor[i] = f64::INFINITY;
        }
    }
    table
}

/// The table to which all variables can come back.
fn reopened(problem: &Scaled<'_>, mut table: Table) -> Table {
    table.floor.clone_from(&problem.floor);
    table.members.iter().for_each(|&j| table.floor[j] = f64::INFINITY);
    table
}
