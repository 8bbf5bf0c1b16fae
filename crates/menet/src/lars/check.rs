//! Checks every variable at every knot of a walk, and computes only a few of them.
//!
//! Between two knots a and b of a walk, at a knot of level `λ = (1−ρ)λ_a + ρλ_b`,
//!
//! ```text
//! c = (1−ρ)c_a + ρc_b − G e,    e = w − (1−ρ)w_a − ρw_b
//! ```
//!
//! and by Cauchy and Schwarz an entry of `G e` is at most `√Gⱼⱼ h`, with `h² = eᵀGe`. A variable that is farther than
//! that below the level at both ends is below it all the way. So all variables are computed only at a few *anchors*. At
//! the other knots only the supports, which give `h`, and the few variables that this bound leaves in doubt are computed.

use faer::Mat;

use super::certificate::{Certificate, MeasuredVariables, WorstViolation};
use super::problem::{Problem, TIE};
use super::state::CheckedKnot;
use super::walk::Segment;
use crate::numerics::linalg::{column, vectorized};
use crate::numerics::sparse::SparseVector;

/// Knots at which all variables are computed.
const ANCHORS: usize = 2;

/// What is known of a walk.
pub(super) struct WalkCheck<'a> {
    problem: &'a Problem<'a>,
    /// The levels of its knots.
    levels: Vec<f64>,
    /// All variables that are not zero all the way.
    support: KnownCorrelations,
    /// Their coefficients, one column per knot.
    w: Mat<f64>,
    /// The others that may come near the level: those the walk knew of, and the rest.
    doubtful: [KnownCorrelations; 2],
    /// All correlations at the last knot.
    end: Vec<f64>,
    ahead: Extrapolation,
}

/// Where correlations are heading.
#[derive(Debug, Default)]
pub(super) struct Extrapolation {
    /// A level below the last knot, at the distance at which the anchor before it lies above.
    pub(super) level: f64,
    /// All correlations there, if they continue as between that anchor and the last knot.
    pub(super) c: Vec<f64>,
}

/// Variables whose correlations are known at every knot.
struct KnownCorrelations {
    variables: Vec<usize>,
    v: Vec<f64>,
    inverse_scale: Vec<f64>,
    /// One column per knot.
    c: Mat<f64>,
}

impl KnownCorrelations {
    /// `b − G w` at the knots with coefficients `w` of `support`; without the ridge.
    fn new(problem: &Problem<'_>, variables: Vec<usize>, support: &[usize], w: &Mat<f64>) -> Self {
        let mut c = Mat::zeros(variables.len(), w.ncols());
        if !variables.is_empty() {
            problem.shared.gram.product_at(&variables, support, w.as_ref(), c.as_mut());
        }
        for k in 0..c.ncols() {
            for (c, &j) in c.col_as_slice_mut(k).iter_mut().zip(&variables) {
                *c = problem.b[j] - *c;
            }
        }
        let gather = |values: &[f64]| variables.iter().map(|&j| values[j]).collect();
        let (v, inverse_scale) = (gather(problem.v), gather(&problem.shared.inverse_scale));
        KnownCorrelations { variables, v, inverse_scale, c }
    }

    fn look(&self, worst: &mut WorstViolation<'_>, knot: usize, w: &[f64]) -> f64 {
        let variables = MeasuredVariables { v: &self.v, inverse_scale: &self.inverse_scale };
        worst.look(variables, column(&self.c, knot), w)
    }
}

/// A knot at which everything is known.
#[derive(Clone, Copy)]
struct AnchorKnot<'a> {
    level: f64,
    /// Of the support.
    w: &'a [f64],
    /// Of the support.
    c: &'a [f64],
    all: &'a [f64],
}

impl<'a> WalkCheck<'a> {
    /// Checks the walk `segments`, not empty, that began at `from` and knew of the variables `known`.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        from: CheckedKnot<'_>,
        segments: &[Segment],
        known: &[bool],
    ) -> Self {
        let mut place = vec![usize::MAX; problem.p()];
        let mut support = Vec::new();
        let points = segments.iter().map(|segment| &segment.coefficients);
        for &j in [from.w].into_iter().chain(points.clone()).flat_map(SparseVector::indices) {
            if place[j] == usize::MAX {
                place[j] = support.len();
                support.push(j);
            }
        }
        let mut w = Mat::zeros(support.len(), segments.len());
        for (k, point) in points.enumerate() {
            point.iter().for_each(|(j, value)| w[(place[j], k)] = value);
        }
        let start_w: Vec<f64> = support.iter().map(|&j| from.w.get(j)).collect();
        let start_c: Vec<f64> = support.iter().map(|&j| from.c[j]).collect();
        let mut rows = KnownCorrelations::new(problem, support.clone(), &support, &w);
        for k in 0..segments.len() {
            for (c, w) in rows.c.col_as_slice_mut(k).iter_mut().zip(column(&w, k)) {
                *c -= problem.options().ridge * w;
            }
        }
        let none = || KnownCorrelations::new(problem, Vec::new(), &support, &w);
        let levels = segments.iter().map(|segment| segment.level).collect();
        let doubtful = [none(), none()];
        let mut check = WalkCheck {
            problem,
            levels,
            support: rows,
            w,
            doubtful,
            end: Vec::new(),
            ahead: Extrapolation::default(),
        };
        let doubtful =
            check.look_around(AnchorKnot { level: from.level, w: &start_w, c: &start_c, all: from.c });
        let (inside, outside) = doubtful.into_iter().partition(|&j| known[j]);
        check.doubtful =
            [inside, outside].map(|variables| KnownCorrelations::new(problem, variables, &support, &check.w));
        check
    }

    /// The variables in doubt; on the way, all correlations at the last knot.
    fn look_around(&mut self, start: AnchorKnot<'_>) -> Vec<usize> {
        let knots = self.levels.len();
        let anchors: [usize; ANCHORS] = std::array::from_fn(|k| ((k + 1) * knots).div_ceil(ANCHORS) - 1);
        let all = self.correlations_of_all(anchors);
        let mut in_doubt = vec![false; self.problem.p()];
        let (mut from, mut next) = (start, 0);
        for (k, &at) in anchors.iter().enumerate() {
            let to = AnchorKnot {
                level: self.levels[at],
                w: column(&self.w, at),
                c: column(&self.support.c, at),
                all: column(&all, k),
            };
            let stray = (next..at).map(|knot| self.stray(from, to, knot)).fold(0.0, f64::max);
            mark(self.problem, from, to, stray, &mut in_doubt);
            (from, next) = (to, at + 1);
        }
        let [before, last] = [column(&all, ANCHORS - 2), column(&all, ANCHORS - 1)];
        self.end = last.to_vec();
        self.ahead = Extrapolation {
            level: 2.0 * self.levels[anchors[ANCHORS - 1]] - self.levels[anchors[ANCHORS - 2]],
            c: last.iter().zip(before).map(|(last, before)| 2.0 * last - before).collect(),
        };
        self.support.variables.iter().for_each(|&j| in_doubt[j] = false);
        (0..in_doubt.len()).filter(|&j| in_doubt[j]).collect()
    }

    /// `h` at a knot between two anchors, rounded up.
    fn stray(&self, from: AnchorKnot<'_>, to: AnchorKnot<'_>, knot: usize) -> f64 {
        let fall = from.level - to.level;
        let rho = if fall > 0.0 { (from.level - self.levels[knot]) / fall } else { 0.0 };
        let (w, c) = (column(&self.w, knot), column(&self.support.c, knot));
        let off = |x: f64, a: f64, b: f64| x - (a + rho * (b - a));
        let (mut square, mut size) = (0.0, 0.0);
        for s in 0..w.len() {
            let e = off(w[s], from.w[s], to.w[s]);
            square -= e * off(c[s], from.c[s], to.c[s]);
            size += e.abs();
        }
        let size = self.problem.largest * size;
        // Clearly negative: G is not positive semidefinite, and there is no bound.
        if square < -1e-10 * size { f64::INFINITY } else { (square.max(0.0) + 1e-14 * size).sqrt() }
    }

    /// All correlations at some knots.
    fn correlations_of_all(&self, knots: [usize; ANCHORS]) -> Mat<f64> {
        let support = &self.support.variables;
        let w = Mat::from_fn(support.len(), ANCHORS, |s, k| self.w[(s, knots[k])]);
        let mut all = Mat::zeros(self.problem.p(), ANCHORS);
        self.problem.shared.gram.product(support, w.as_ref(), all.as_mut());
        for (k, &knot) in knots.iter().enumerate() {
            let all = all.col_as_slice_mut(k);
            for (c, b) in all.iter_mut().zip(self.problem.b) {
                *c = b - *c;
            }
            for (&j, &c) in support.iter().zip(column(&self.support.c, knot)) {
                all[j] = c;
            }
        }
        all
    }

    /// The certificate of a knot, and how far a variable that the walk did not know of rises above the level there, relative
    /// to its length. Variables that are certainly below it are not examined.
    pub(super) fn examine(&self, knot: usize) -> (Certificate, f64) {
        let mut worst = WorstViolation::new(self.problem, self.levels[knot]);
        let [inside, outside] = &self.doubtful;
        let zeros = vec![0.0; inside.variables.len().max(outside.variables.len())];
        self.support.look(&mut worst, knot, column(&self.w, knot));
        inside.look(&mut worst, knot, &zeros);
        let above = outside.look(&mut worst, knot, &zeros);
        (worst.certificate(), above)
    }

    /// The variables in doubt that the walk did not know of, and their correlations at a knot.
    pub(super) fn outside(&self, knot: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let [_, outside] = &self.doubtful;
        outside.variables.iter().copied().zip(column(&outside.c, knot).iter().copied())
    }

    /// All correlations at the last knot, and where they are heading.
    pub(super) fn end(self) -> (Vec<f64>, Extrapolation) {
        (self.end, self.ahead)
    }
}

/// Marks the variables that may come near the level between two anchors.
fn mark(problem: &Problem<'_>, from: AnchorKnot<'_>, to: AnchorKnot<'_>, stray: f64, in_doubt: &mut [bool]) {
    let slack = stray + 2.0 * TIE * problem.unit;
    let variables = problem.v.iter().zip(&problem.shared.scale);
    let positive = problem.options().positive;
    vectorized(
        #[inline(always)]
        || {
            for (((in_doubt, (&v, &scale)), &a), &b) in
                in_doubt.iter_mut().zip(variables).zip(from.all).zip(to.all)
            {
                let (a, b) = if positive { (a, b) } else { (a.abs(), b.abs()) };
                let margin = slack * scale;
                // Written so that NaN stays in doubt.
                let below = (from.level * v - a > margin) & (to.level * v - b > margin);
                *in_doubt |= !below & (v < f64::INFINITY);
            }
        },
    );
}
