//! Whether no exchange makes a subset better, whatever rounding has done to the numbers that say so.
//!
//! Without member i, the correlation of a variable j and its squared distance from the members that are left are
//!
//! ```text
//! c = cⱼ + uⱼᵢwᵢ/hᵢ,    d = dⱼ + uⱼᵢ²/hᵢ,    and j gains c²/2d
//! ```
//!
//! in the notation of the [table](super::table); i itself, if it comes back, has c = wᵢ/hᵢ and d = 1/hᵢ. Both c and d are small
//! differences of sums where variables nearly depend on each other. With σ = Σ|w| and μ = Σ|u|, the coefficients of the variable
//! on the members that are left, rounding changes them by no more than about
//!
//! ```text
//! δc = ε (1 + σ)(1 + μ),    δd = ε (1 + μ)²
//! ```
//!
//! which is what is left of a rounding of every entry of G and b. The search knows only the exchanges that it can compute; here all
//! others count as open. So near copies, which it does not take for different variables, cannot be overlooked.

use super::scaled::Scaled;
use super::search::LocalSupport;
use super::table::Table;
use crate::numerics::linalg::axpy;

/// ε: a few roundings.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// An exchange improves a subset if it lowers the objective by more than this part of it.
const IMPROVES: f64 = 1e-10;

/// A variable that is not among some members: its correlation and its squared distance from them, and by how much they may be off.
struct OutsideVariable {
    c: f64,
    d: f64,
    c_off: f64,
    d_off: f64,
}

impl OutsideVariable {
    fn new(c: f64, d: f64, sigma: f64, mu: f64) -> Self {
        OutsideVariable {
            c: c.abs(),
            d,
            c_off: ROUNDING * (1.0 + sigma) * (1.0 + mu),
            d_off: ROUNDING * (1.0 + mu).powi(2),
        }
    }

    /// Twice what it gains at most. A variable that is nowhere farther from the span than `floor` or rounding, and has no correlation
    /// either, is in it.
    fn most(&self, floor: f64) -> f64 {
        if self.c <= self.c_off && self.d <= floor.max(self.d_off) {
            0.0
        } else if self.d <= self.d_off {
            f64::INFINITY
        } else {
            (self.c + self.c_off).powi(2) / (self.d - self.d_off)
        }
    }

    /// Twice what it gains at least.
    fn least(&self) -> f64 {
        (self.c - self.c_off).max(0.0).powi(2) / (self.d + self.d_off)
    }
}

impl LocalSupport {
    /// Whether it is certain that no exchange of one variable improves the subset.
    pub(super) fn is_best(&mut self, problem: &mut Scaled<'_>) -> bool {
        if self.strays(problem) {
            self.table = self.table.afresh(problem);
            self.table.f = self.f.value;
        }
        let bar = 2.0 * IMPROVES * self.f.value.abs();
        let table = &self.table;
        let along = coefficients_in_all(table);
        table.positions().all(|at| no_exchange(problem, table, at, &along, bar)) && problem.trusted
    }

    /// Whether the correlations of the table are not those of its coefficients any more.
    fn strays(&self, problem: &mut Scaled<'_>) -> bool {
        let table = &self.table;
        let mut c = problem.start.clone();
        for &i in &table.members {
            axpy(table.c[i], &problem.column(i), &mut c);
        }
        let most = 4.0 * ROUNDING * (1.0 + size(table));
        // Those of the members are 0.
        (0..c.len()).any(|j| {
            let held = if table.members.contains(&j) { 0.0 } else { table.c[j] };
            problem.floor[j].is_finite() && (c[j] - held).abs() > most
        })
    }
}

/// Σ|w|.
fn size(table: &Table) -> f64 {
    table.members.iter().map(|&i| table.c[i].abs()).sum()
}

/// Σ|u| of every variable on all members.
fn coefficients_in_all(table: &Table) -> Vec<f64> {
    let mut along = vec![0.0; table.c.len()];
    for at in 0..table.members.len() {
        along.iter_mut().zip(table.column(at)).for_each(|(sum, u)| *sum += u.abs());
    }
    along
}

/// Whether no variable in the place of the member at position `at` gains as much as that, but for `bar`.
fn no_exchange(problem: &mut Scaled<'_>, table: &Table, at: usize, along: &[f64], bar: f64) -> bool {
    let (i, own) = (table.members[at], table.column(at));
    let (inverse, w) = (1.0 / own[i], -table.c[i]);
    let others = || table.members.iter().copied().filter(|&member| member != i);
    // The coefficients without i, and those of i on the others.
    let sigma: f64 = others().map(|member| (table.c[member] + w * inverse * own[member]).abs()).sum();
    let mu = others().map(|member| own[member].abs()).sum::<f64>() * inverse;
    let loss = OutsideVariable::new(w * inverse, inverse, sigma, mu).least();
    (0..table.c.len()).filter(|&j| table.floor[j].is_finite()).all(|j| {
        let u = own[j];
        let gains = |length: f64| {
            let c = table.c[j] + u * w * inverse;
            let d = length - table.explained[j] + u * u * inverse;
            OutsideVariable::new(c, d, sigma, along[j] - u.abs() + u.abs() * mu).most(table.floor[j]) - loss
                > bar
        };
        // Where only a bound of the length is known, the length itself may tell.
        !gains(problem.diagonal[j]) || (!problem.resolve(j) && !gains(problem.diagonal[j]))
    })
}
