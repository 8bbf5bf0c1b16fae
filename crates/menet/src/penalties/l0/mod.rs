//! ℓ0: the best subset of k variables, for every k.
//!
//! # The problem
//!
//! ```text
//! min ½ wᵀ(G + λ2 I)w − bᵀw    subject to at most k nonzeros, k = 1, 2, …
//! ```
//!
//! Variables with a penalty factor of 0 are always in and not counted, those with an infinite one never. Other factors have no
//! meaning here and are not read.
//!
//! # The method
//!
//! It is hard to find best subsets, and harder to prove that they are best. We search for them by *splicing* (Zhu, Wen, Zhu, Zhang and Wang, "A
//! polynomial algorithm for best-subset selection problem", 2020): from a support, exchange members for others as long as that
//! lowers the objective (`search.rs`). For every k the search starts twice, from the subset of k − 1 variables with the best
//! one added, and from the ℓ1 path where it has k nonzeros; the better end is kept. So the result is never worse than the
//! support of the lasso with its coefficients refitted.
//!
//! All single exchanges are tried exactly (`table.rs`, `gains.rs`), and at the end none of them helps. [`SplicingResult::certified`] says so
//! where rounding leaves no doubt (`rounding.rs`): it is a local certificate, not a proof of the global optimum. Memory is that of some
//! columns of G: p times a few K.
//!
//! # The path
//!
//! [`SplicingResult::path`] is a staircase: each subset has two knots, with the same coefficients. Going from one subset to the
//! next has a *price*, the root of twice what the next variable brings:
//!
//! ```text
//! L_k = min(L_(k−1), max_j |c_j|/√d_j)     after k − 1 variables
//! ```
//!
//! with `c` the correlations and `d` the squared distances from the span of the support. The subset of k variables holds from
//! level L_k down to L_(k+1). Without free variables L_1 is the level at which the lasso begins, if variables have length 1.
//!
//! ```
//! use faer::mat;
//! use menet::lars::{LarsOptions, lars_path};
//! use menet::penalties::l0::splice;
//!
//! let x = mat![[1.0, 0.0, 0.9], [0.0, 1.0, 0.9], [0.0, 0.0, 0.1f64]];
//! let y = mat![[1.0], [1.0], [0.0]];
//! let (gram, b) = (x.transpose() * &x, x.transpose() * &y);
//! let b: Vec<f64> = b.col(0).iter().copied().collect();
//! let options = LarsOptions::default().with(|it| it.max_nonzeros = Some(2));
//! let path = lars_path(&gram, &b, &options, &())?;
//! let spliced = splice(&gram, &b, &path, &options, 3, &())?;
//! assert_eq!(spliced.path.at_nonzeros(1)?.coefficients.indices(), [2]);
//! assert_eq!(spliced.path.at_nonzeros(2)?.coefficients.indices(), [0, 1]);
//! assert_eq!(spliced.certified, [true, true]);
//! # Ok::<(), menet::Error>(())
//! ```

mod gains;
mod rounding;
mod scaled;
mod search;
mod table;

use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::lars::{Certificate, EndReason, Knot, LarsOptions, Path};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::sparse::SparseVector;
use scaled::{Scaled, sorted};
use search::LocalSupport;
use table::Table;

/// A variable whose correlation, over its distance from the support, is below this part of the largest brings nothing.
const NOTHING: f64 = 1e-10;

/// The best subsets that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct SplicingResult {
    /// The subsets as a path, two knots for each; in the first knot only free variables are nonzero. Certificates
    /// are those of the coefficients on their support, where the correlations must be 0.
    pub path: Path,
    /// Exchanges that were made on the way.
    pub exchanged: usize,
    /// For k = 1, 2, …: whether it is certain that no exchange of one variable for another lowers the objective by more than 1e-10
    /// of it. All are looked at. It is not certain where double precision cannot tell: where variables of the subset nearly depend on
    /// each other, or an exchange would put a near copy of a member beside it. (A variable that rounding alone sets apart from a
    /// combination of the members counts as one.)
    pub certified: Vec<bool>,
    /// For k = 1, 2, …: the objective.
    pub objective: Vec<f64>,
}

/// The best subsets of 1, 2, … up to `max_nonzeros` variables (by default as many as `path` was told to stop at), given the
/// ℓ1 `path` of the same problem with the same options.
///
/// Exchanges of one variable are tried all, and of 2 to `exchanges` those that promise most. Of at most 100
/// variables, all exchanges of up to 5 are tried, too, as long as they are not too many. The subset of k variables
/// does not depend on `max_nonzeros`.
///
/// # Errors
/// When an option is out of range, sizes disagree, `path` was stopped before `max_nonzeros`, free variables depend on each
/// other, or `monitor` asks to stop. Coefficients cannot be told to be positive.
pub fn splice(
    gram: &dyn Gram,
    b: &[f64],
    path: &Path,
    options: &LarsOptions,
    exchanges: usize,
    monitor: &dyn Monitor,
) -> Result<SplicingResult> {
    let mut problem = Scaled::new(gram, b, options)?;
    let most = options.max_nonzeros.or(path.max_nonzeros()).unwrap_or(b.len());
    let mut search = SubsetSearch::new(&mut problem, path, exchanges)?;
    let mut stairs = StaircasePath::new(search.problem.solution(&search.problem.free.clone())?);
    let mut spliced = (0, Vec::new(), Vec::new());
    let mut level = f64::INFINITY;
    let ended = loop {
        proceed(monitor, Stage::Lars)?;
        let k = stairs.supports.len();
        let Some((table, price)) = search.with_next() else {
            // Nothing is left that helps, down to level 0; or it cannot be told apart from what is there.
            let ended = search.obstacle().unwrap_or(EndReason::Complete);
            stairs.end(if ended == EndReason::Complete || level.is_infinite() { 0.0 } else { level });
            break ended;
        };
        level = level.min(price * search.problem.unit);
        stairs.end(level);
        if k > most {
            break EndReason::MaxNonzeros { needed: k };
        }
        let mut best = search.subset(k, table, monitor)?;
        let certified = best.certified && best.is_best(search.problem);
        let support = sorted(&best.table.members);
        let solution = search.problem.solution(&support)?;
        stairs.begin(level, sorted(best.table.chosen()), solution);
        spliced.0 += best.steps;
        spliced.1.push(certified);
        spliced.2.push(best.f.value * search.problem.unit * search.problem.unit);
        search.best = best;
        search.problem.tidy(&support);
    };
    let free = search.problem.free.clone();
    let path = Path::from_knots(stairs.knots, ended, options.max_nonzeros.or(path.max_nonzeros()))?;
    let (exchanged, certified, objective) = spliced;
    Ok(SplicingResult { path: path.with_free(free), exchanged, certified, objective })
}

/// The search along k.
struct SubsetSearch<'a, 'b> {
    problem: &'a mut Scaled<'b>,
    /// The ℓ1 path, and the table of its support.
    path: &'a Path,
    lasso: Table,
    /// The best subset so far.
    best: LocalSupport,
    exchanges: usize,
}

impl<'a, 'b> SubsetSearch<'a, 'b> {
    fn new(problem: &'a mut Scaled<'b>, path: &'a Path, exchanges: usize) -> Result<Self> {
        if path.free() != problem.free {
            let (given, expected) = (path.free().len(), problem.free.len());
            let why = "these have a penalty factor of 0 in the options".to_owned();
            return Err(Error::Size { what: "the list of free variables of `path`", given, expected, why });
        }
        if let Err(variable) = problem.factor(&problem.free.clone()) {
            let allowed = "> 0 there, or a larger `ridge`: the variable depends on others with factor 0";
            return Err(Error::parameter("penalty_factors", format!("0 at variable {variable}"), allowed));
        }
        let table = Table::of_free(problem);
        let lasso = table.clone();
        let best = LocalSupport::new(problem, table).ok_or_else(singular)?;
        Ok(SubsetSearch { problem, path, lasso, best, exchanges })
    }

    /// The best subset with the best variable added, and its price; none if no variable brings anything.
    fn with_next(&mut self) -> Option<(Table, f64)> {
        let mut table = self.best.table.clone();
        let price = grow(self.problem, &mut table)?;
        Some((table, price))
    }

    /// What keeps a variable out that would bring something.
    fn obstacle(&self) -> Option<EndReason> {
        let table = &self.best.table;
        let waiting = (0..table.c.len()).filter(|&j| table.floor[j].is_finite());
        let variable =
            waiting.max_by(|&i, &j| table.c[i].abs().total_cmp(&table.c[j].abs()).then(j.cmp(&i)))?;
        // As on an ℓ1 path: were b in the range of G, only a variable that is not in the span could have a correlation.
        match table.c[variable].abs() {
            c if c > 1e-5 => Some(EndReason::Unbounded { variable }),
            c if c > 1e-9 => Some(EndReason::Dependent { variable }),
            _ => None,
        }
    }

    /// The best subset of k variables, from `next` and from the ℓ1 path.
    fn subset(&mut self, k: usize, next: Table, monitor: &dyn Monitor) -> Result<LocalSupport> {
        let problem = &mut *self.problem;
        let mut best = LocalSupport::new(problem, next).ok_or_else(singular)?;
        let start = best.table.clone();
        best.descend(problem, self.exchanges, monitor)?;
        let mut steps = best.steps;
        follow(problem, &mut self.lasso, self.path.at_nonzeros(k)?.coefficients.indices());
        let mut other = self.lasso.clone();
        while other.chosen().len() < k && grow(problem, &mut other).is_some() {}
        let new = other.chosen().len() == k
            && !best.same(&other)
            && sorted(&start.members) != sorted(&other.members);
        if new && let Some(mut other) = LocalSupport::new(problem, other) {
            other.descend(problem, self.exchanges, monitor)?;
            steps += other.steps;
            if other.f.sure < best.f.sure {
                best = other;
            }
        }
        while best.exchange_all(problem) {
            steps += 1;
            best.descend(problem, self.exchanges, monitor)?;
        }
        Ok(LocalSupport { steps, ..best })
    }
}

fn singular() -> Error {
    Error::Numerical { what: "the best subset", detail: "its variables depend on each other".to_owned() }
}

/// Adds the variable that gains most and can be told apart from the others; returns its price.
fn grow(problem: &mut Scaled<'_>, table: &mut Table) -> Option<f64> {
    let mut dependent = Vec::new();
    let price = loop {
        let Some((j, gain)) = table.best_addition(problem) else { break None };
        let price = (2.0 * gain).sqrt();
        if price <= NOTHING {
            break None;
        }
        let members: Vec<usize> = table.members.iter().copied().chain([j]).collect();
        if problem.objective(&members).is_some() {
            table.add(problem, j);
            break Some(price);
        }
        table.floor[j] = f64::INFINITY;
        dependent.push(j);
    };
    dependent.into_iter().for_each(|j| table.floor[j] = problem.floor[j]);
    price
}

/// Changes a table to one of the variables of `support` that are independent of each other.
fn follow(problem: &mut Scaled<'_>, table: &mut Table, support: &[usize]) {
    let before = table.members.len();
    for at in table.positions().rev() {
        if !support.contains(&table.members[at]) {
            table.remove(problem, at);
        }
    }
    for &j in support {
        if table.floor[j].is_finite() {
            problem.resolve(j);
            if table.distance(problem, j) > table.floor[j] {
                table.add(problem, j);
            }
        }
    }
    // Where much has changed, what rounding has left of it is not worth keeping.
    if before > table.members.len() + 8 {
        *table = table.afresh(problem);
    }
}

/// The knots of a path whose coefficients change in steps.
struct StaircasePath {
    knots: Vec<Knot>,
    /// The penalised variables of each subset.
    supports: Vec<Vec<usize>>,
}

impl StaircasePath {
    fn new((coefficients, certificate): (SparseVector, Certificate)) -> Self {
        let (entered, left) = (Vec::new(), Vec::new());
        let first = Knot { level: f64::INFINITY, coefficients, entered, left, certificate };
        StaircasePath { knots: vec![first], supports: vec![Vec::new()] }
    }

    /// The last subset holds down to `level`.
    fn end(&mut self, level: f64) {
        if let Some(last) = self.knots.last_mut() {
            if last.level.is_infinite() {
                last.level = level;
            } else {
                let lower = Knot { level, ..last.clone() };
                self.knots.push(lower);
            }
        }
    }

    /// From `level` on, another subset holds.
    fn begin(
        &mut self,
        level: f64,
        support: Vec<usize>,
        (coefficients, certificate): (SparseVector, Certificate),
    ) {
        let missing = |from: &[usize], of: &[usize]| -> Vec<usize> {
            of.iter().copied().filter(|j| from.binary_search(j).is_err()).collect()
        };
        if let (Some(last), Some(before)) = (self.knots.last_mut(), self.supports.last()) {
            (last.entered, last.left) = (missing(before, &support), missing(&support, before));
        }
        self.supports.push(support);
        self.knots.push(Knot { level, coefficients, entered: Vec::new(), left: Vec::new(), certificate });
    }
}
