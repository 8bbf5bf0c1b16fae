//! Groups of variables that enter together: the group lasso, with overlap, of one axis or of all axes together.
//!
//! # The problem
//!
//! For a Gram matrix `G` (p×p, positive semidefinite), correlations `b` (p×D), a ridge `λ2 ≥ 0` and groups g of variables with
//! weights `v_g`, the solution at a level λ > 0 minimises
//!
//! ```text
//! ½ tr(Wᵀ(G + λ2 I)W) − tr(bᵀW) + λ Σ_g v_g ‖U_g‖,    W = Σ_g U_g,  U_g zero outside the rows of g
//! ```
//!
//! with Frobenius norms and, by default, `v_g` the square root of the number of variables in the group. Where groups do not overlap,
//! `U_g` are the rows of W in g. A variable of several groups has a coefficient in each of them, and these add up: it is as if the
//! data had its column several times (Jacob, Obozinski and Vert, "Group lasso with overlap and graph lasso", 2009). Yuan and Lin,
//! "Model selection and estimation in regression with grouped variables", 2006, is the case without overlap.
//!
//! D is 1 where every axis chooses its own groups. Where axes choose together, it is the number of axes; with one variable per group
//! the penalty is then ℓ2,1, and a variable is in all axes or in none.
//!
//! # The conditions
//!
//! With `c = b − (G + λ2 I)W` the parts are optimal when `c_g = λ v_g U_g/‖U_g‖` where `U_g ≠ 0`, and `‖c_g‖ ≤ λ v_g` elsewhere. The
//! solution is not piecewise linear in λ, so there is no exact path, but every reported point has its [`Certificate`], computed
//! from `G`, `b` and the reported parts: its `kkt` is the largest violation over `v_g`, relative to the largest `‖b_g‖/v_g`. Up to
//! `EXACT` it is rounding.
//!
//! # The method
//!
//! | file | holds |
//! |---|---|
//! | `named` | groups by name |
//! | `problem` | the problem, and the certificate |
//! | `secular` | the exact minimum over one group |
//! | `working` | block coordinate descent on a few groups |
//! | `newton` | Newton's method on those that have coefficients |
//! | `outside` | which of the others should take part, by a safe bound |
//! | `solver` | one level after the other |
//! | `search` | the level of so many groups |
//! | `in_fit` | what the parameters of a fit make of it |
//!
//! ```
//! use faer::mat;
//! use menet::penalties::groups::{GroupOptions, Groups, GroupSparsity, solve};
//!
//! let gram = mat![[2.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0f64]];
//! let b = mat![[3.0], [2.0], [0.5]];
//! let options = GroupOptions::new(Groups::from_pairs([(0, "first"), (2, "first")]));
//! let found = solve(&gram, b.as_ref(), &options, GroupSparsity::Groups(1), &())?;
//! assert_eq!(found.coefficients[0].indices(), [0, 2]); // both variables of the group, and not the other
//! assert!(found.exact && found.certificates[0].kkt < 1e-9);
//! # Ok::<(), menet::Error>(())
//! ```

mod in_fit;
mod named;
mod newton;
mod outside;
mod problem;
mod search;
mod secular;
mod solver;
mod working;

use faer::MatRef;
use rayon::prelude::*;

pub(crate) use in_fit::DEFAULT_GROUPS;
pub use named::{Group, GroupAxes, Groups};

use crate::error::{Error, Result, check};
use crate::gram::{FactorGram, Gram};
use crate::lars::{Certificate, EndReason, Knot, Path, right_sides};
use crate::monitor::Monitor;
use crate::numerics::finite::check_finite;
use crate::numerics::linalg::symmetric_product;
use crate::numerics::sparse::SparseVector;
use problem::{Block, GroupPart, Problem};
use search::GroupSearchResult;
use solver::{LevelSolution, Solver};

/// Which problem to solve.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupOptions {
    /// The groups. A variable that is in none is a group of its own.
    pub groups: Groups,
    /// λ2 ≥ 0, added to the diagonal of the Gram matrix.
    pub ridge: f64,
    /// Whether axes choose together.
    pub axes: GroupAxes,
    /// One weight > 0 per group, first those of `groups`, then one per variable that is in none; none = the square root of the
    /// number of variables that can be used.
    pub weights: Option<Vec<f64>>,
    /// Variables that are not used, one flag per variable; none = all are.
    pub barred: Option<Vec<bool>>,
}

impl GroupOptions {
    /// These groups, no ridge, and every axis chooses its own groups.
    pub fn new(groups: Groups) -> Self {
        GroupOptions { groups, ridge: 0.0, axes: GroupAxes::Each, weights: None, barred: None }
    }

    /// The groups as the solver sees them, and which of the [completed](Groups::completed) groups each of them is.
    fn blocks(&self, gram: &dyn Gram) -> Result<(Vec<Block>, Vec<usize>)> {
        let p = gram.dim();
        check("ridge", self.ridge, "a number from 0 to 1e100", |x| x >= 0.0)?;
        self.groups.check(p)?;
        let single = self.groups.others(p);
        let size = |what, given: usize, expected: usize, of: &str| {
            let why = format!("there are {expected} {of}");
            if given == expected { Ok(()) } else { Err(Error::Size { what, given, expected, why }) }
        };
        if let Some(barred) = &self.barred {
            size("`barred`", barred.len(), p, "variables")?;
        }
        if let Some(weights) = &self.weights {
            let count = self.groups.len() + single.len();
            size("`weights`", weights.len(), count, "groups, single variables included")?;
            if let Some(g) = weights.iter().position(|&v| !(v > 0.0 && v <= 1e100)) {
                let value = format!("{:?} at group {g}", weights[g]);
                return Err(Error::parameter("weights", value, "a number > 0, at most 1e100"));
            }
        }
        let lengths = gram.squared_lengths();
        if let Some(j) = lengths.iter().position(|length| !length.is_finite() || *length < 0.0) {
            let value = format!("{} on the diagonal at variable {j}", lengths[j]);
            return Err(Error::parameter("gram", value, "positive semidefinite and finite"));
        }
        let usable = |j: &usize| self.barred.as_ref().is_none_or(|barred| !barred[*j]);
        let (mut blocks, mut which) = (Vec::new(), Vec::new());
        let named = self.groups.groups().iter().map(|group| group.variables.as_slice());
        for (g, members) in named.chain(single.iter().map(std::slice::from_ref)).enumerate() {
            let variables: Vec<usize> = members.iter().copied().filter(usable).collect();
            if variables.is_empty() {
                continue;
            }
            let v = self.weights.as_ref().map_or((variables.len() as f64).sqrt(), |weights| weights[g]);
            let length = variables.iter().map(|&j| lengths[j] + self.ridge).sum::<f64>().sqrt();
            blocks.push(Block { variables, v, length });
            which.push(g);
        }
        Ok((blocks, which))
    }
}

/// How sparse a solution should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GroupSparsity {
    /// So many groups, at the smallest level that has no more.
    Groups(usize),
    /// The level λ > 0.
    Level(f64),
}

/// A solution, and how far from optimal it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupSolution {
    /// The level of every axis: the same for all that choose together.
    pub levels: Vec<f64>,
    /// The level of every axis above which nothing is chosen.
    pub first_levels: Vec<f64>,
    /// The coefficients of every axis.
    pub coefficients: Vec<SparseVector>,
    /// The certificate of every axis: the same for all that choose together.
    pub certificates: Vec<Certificate>,
    /// The groups that every axis chooses, as numbers in [`Groups::completed`], in the order in which they were met as the level
    /// fell.
    pub chosen: Vec<Vec<usize>>,
    /// What each of these groups adds to the coefficients of the axis: `U_g`. Their sum is `coefficients`.
    pub parts: Vec<Vec<SparseVector>>,
    /// Whether every axis has as many groups as were asked for; true where a level was.
    pub exact: bool,
    /// Of every axis, how many groups would be chosen next, just below its level: more than one above those chosen where several
    /// enter at once. None where the search ended at the smallest level, or a level was asked for.
    pub next: Vec<Option<usize>>,
}

/// The solution of one size.
///
/// For exactly g groups, the level falls until there are more groups, and is then found by bisection. The result is at the smallest level
/// that has g groups, to within a thousandth. If several groups enter at once, there may be fewer than g, and
/// [`exact`](GroupSolution::exact) is false. The same holds if even a ten-thousandth of the first level has fewer.
///
/// # Errors
/// When sizes disagree, an option is out of range, a value is not finite, the problem has no minimum, or `monitor` asks to stop.
pub fn solve(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    options: &GroupOptions,
    size: GroupSparsity,
    monitor: &dyn Monitor,
) -> Result<GroupSolution> {
    let wanted = match size {
        GroupSparsity::Groups(0) => return Err(Error::parameter("groups", 0, ">= 1")),
        GroupSparsity::Groups(wanted) => wanted,
        GroupSparsity::Level(level) => {
            let mut found = solve_levels(gram, b, options, &[level], monitor)?;
            return found.pop().ok_or(Error::Empty { rows: 0, columns: 0 });
        }
    };
    let (blocks, which) = prepared(gram, b, options)?;
    let problems = problems(gram, b, options, &blocks)?;
    let found: Vec<(GroupSearchResult, f64)> = problems
        .par_iter()
        .with_max_len(1)
        .map(|problem| Ok((search::search(problem, wanted, monitor)?, problem.first_level)))
        .collect::<Result<_>>()?;
    let exact = found.iter().all(|(found, _)| found.point.chosen.len() == wanted);
    let next: Vec<Option<usize>> = found.iter().map(|(found, _)| found.next).collect();
    let points = found.into_iter().map(|(found, first)| (found.point, first)).collect();
    Ok(GroupSolution { exact, ..assembled(points, next, (&blocks, &which)) })
}

/// The solutions at a sequence of levels > 0, each computed from the one before: a falling sequence is fastest.
///
/// # Errors
/// As [`solve`].
pub fn solve_levels(
    gram: &dyn Gram,
    b: MatRef<'_, f64>,
    options: &GroupOptions,
    levels: &[f64],
    monitor: &dyn Monitor,
) -> Result<Vec<GroupSolution>> {
    for &level in levels {
        check("level", level, "a number > 0, at most 1e100", |x| x > 0.0)?;
    }
    let (blocks, which) = prepared(gram, b, options)?;
    let problems = problems(gram, b, options, &blocks)?;
    let found: Vec<(Vec<LevelSolution>, f64)> = problems
        .par_iter()
        .with_max_len(1)
        .map(|problem| {
            let mut solver = Solver::new(problem);
            let points = levels.iter().map(|&level| solver.at(level, monitor)).collect::<Result<_>>()?;
            Ok((points, problem.first_level))
        })
        .collect::<Result<_>>()?;
    let at = |k: usize| {
        let points = found.iter().map(|(points, first)| (points[k].clone(), *first)).collect();
        assembled(points, vec![None; found.len()], (&blocks, &which))
    };
    Ok((0..levels.len()).map(at).collect())
}

/// The solutions of the regressions of the columns of `y` (n×d) on those of `x` (n×p): `G = XᵀX` and `b = XᵀY`. Levels are computed
/// one from the other.
///
/// Nothing is centred or scaled. With more variables than samples, columns of the Gram matrix are computed on demand.
///
/// # Errors
/// As [`solve`].
pub fn regression(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    options: &GroupOptions,
    sizes: &[GroupSparsity],
    monitor: &dyn Monitor,
) -> Result<Vec<GroupSolution>> {
    let (n, p) = x.shape();
    if n == 0 || p == 0 || y.ncols() == 0 {
        return Err(Error::Empty { rows: n, columns: p.min(y.ncols()) });
    }
    if y.nrows() != n {
        let why = format!("there are {n} rows of {p} columns");
        return Err(Error::Size { what: "`y`", given: y.nrows(), expected: n, why });
    }
    check_finite("the data", x)?;
    check_finite("`y`", y)?;
    let factor = FactorGram::borrowed(x);
    let b = right_sides(factor.factor(), y);
    let whole = (p <= n).then(|| symmetric_product(x, x));
    let gram: &dyn Gram = whole.as_ref().map_or(&factor, |gram| gram);
    let levels: Option<Vec<f64>> = sizes
        .iter()
        .map(|size| match *size {
            GroupSparsity::Level(level) => Some(level),
            GroupSparsity::Groups(_) => None,
        })
        .collect();
    match levels {
        Some(levels) => solve_levels(gram, b.as_ref(), options, &levels, monitor),
        None => sizes.iter().map(|&size| solve(gram, b.as_ref(), options, size, monitor)).collect(),
    }
}

/// The blocks of a problem whose input is fit for use.
fn prepared(gram: &dyn Gram, b: MatRef<'_, f64>, options: &GroupOptions) -> Result<(Vec<Block>, Vec<usize>)> {
    let p = gram.dim();
    if p == 0 || b.ncols() == 0 {
        return Err(Error::Empty { rows: p, columns: b.ncols() });
    }
    if b.nrows() != p {
        let why = format!("the Gram matrix has {p} variables");
        return Err(Error::Size { what: "a column of `b`", given: b.nrows(), expected: p, why });
    }
    gram.check()?;
    check_finite("`b`", b)?;
    options.blocks(gram)
}

/// One problem of all axes, or one per axis.
fn problems<'a>(
    gram: &'a dyn Gram,
    b: MatRef<'a, f64>,
    options: &GroupOptions,
    blocks: &'a [Block],
) -> Result<Vec<Problem<'a>>> {
    match options.axes {
        GroupAxes::Together => Ok(vec![Problem::new(gram, b, options.ridge, blocks)?]),
        GroupAxes::Each => {
            (0..b.ncols()).map(|k| Problem::new(gram, b.subcols(k, 1), options.ridge, blocks)).collect()
        }
    }
}

/// What was found by every problem, as what is known of every axis.
fn assembled(
    points: Vec<(LevelSolution, f64)>,
    next: Vec<Option<usize>>,
    (blocks, which): (&[Block], &[usize]),
) -> GroupSolution {
    let mut out = GroupSolution {
        levels: Vec::new(),
        first_levels: Vec::new(),
        coefficients: Vec::new(),
        certificates: Vec::new(),
        chosen: Vec::new(),
        parts: Vec::new(),
        exact: true,
        next: Vec::new(),
    };
    for ((point, first), next) in points.into_iter().zip(next) {
        let chosen: Vec<usize> = point.chosen.iter().map(|&g| which[g]).collect();
        for (axis, coefficients) in point.coefficients.into_iter().enumerate() {
            let part = |part: &GroupPart| {
                let variables = &blocks[part.group].variables;
                let values = &part.u[axis * variables.len()..];
                SparseVector::from_pairs(variables.iter().copied().zip(values.iter().copied()).collect())
            };
            out.parts.push(point.parts.iter().map(part).collect());
            out.levels.push(point.level);
            out.first_levels.push(first);
            out.certificates.push(point.certificate);
            out.chosen.push(chosen.clone());
            out.next.push(next);
            out.coefficients.push(coefficients);
        }
    }
    out
}

impl GroupSolution {
    /// Every axis as a path of two knots: where nothing is chosen, and the solution. So it can be read, refitted and stored like any
    /// other path; in between, it has no meaning. An axis without groups is a path of one knot. `groups` are those that were solved
    /// for, and `wanted` is the number of them that was asked for.
    ///
    /// # Errors
    /// None that input can cause.
    pub fn paths(&self, groups: &Groups, wanted: usize) -> Result<Vec<Path>> {
        let p = self
            .coefficients
            .iter()
            .filter_map(|axis| axis.indices().last())
            .max()
            .map_or(0, |last| last + 1);
        let groups = groups.completed(p);
        let path = |k: usize| {
            let w = &self.coefficients[k];
            let mut entered: Vec<usize> = Vec::new();
            for &j in self.chosen[k].iter().flat_map(|&g| &groups.groups()[g].variables) {
                if w.get(j) != 0.0 && !entered.contains(&j) {
                    entered.push(j);
                }
            }
            let knot = |level, coefficients, entered, certificate| Knot {
                level,
                coefficients,
                entered,
                left: Vec::new(),
                certificate,
            };
            let (first, certificate) = (self.first_levels[k], Certificate::default());
            let ended = match self.next[k] {
                Some(needed) => EndReason::MaxNonzeros { needed },
                None => EndReason::LambdaMin,
            };
            // A path counts variables, and so may be read up to all of them.
            let count = if w.nonzeros() > 0 { w.nonzeros() } else { wanted };
            let mut knots = vec![knot(first, SparseVector::default(), entered, certificate)];
            if w.nonzeros() > 0 {
                knots.push(knot(self.levels[k], w.clone(), Vec::new(), self.certificates[k]));
            }
            Path::from_knots(knots, ended, Some(count))
        };
        (0..self.coefficients.len()).map(path).collect()
    }
}
