//! All single exchanges of a support at once: a table that the sweep operator keeps.
//!
//! For a support S with `H = G_SS` (ridge included) and w = H⁻¹b_S, the table holds
//!
//! | for | in `t`, one column per i ∈ S | in `c` | in `explained` |
//! |---|---|---|---|
//! | j ∉ S | `uⱼᵢ`, where `uⱼ = H⁻¹G_Sj` | `cⱼ = bⱼ − G_jS w` | `G_jS H⁻¹ G_Sj` |
//! | j ∈ S | `(H⁻¹)ⱼᵢ` | `−wⱼ` | nothing |
//!
//! With `dⱼ = Gⱼⱼ − explainedⱼ`, the squared distance of j from the span of S, and `hᵢ = (H⁻¹)ᵢᵢ`:
//!
//! ```text
//! adding j gains       cⱼ² / 2dⱼ
//! dropping i loses     wᵢ² / 2hᵢ
//! adding j after i     (cⱼ + uⱼᵢwᵢ/hᵢ)² / 2(dⱼ + uⱼᵢ²/hᵢ)
//! ```
//!
//! These are exact, not marginal, and all p·|S| of them cost one pass over the table. So does a change of the support.

use super::gains::Swap;
use super::scaled::Scaled;
use crate::numerics::linalg::{axpy, combine, vectorized};

/// A support and what its exchanges would bring.
#[derive(Clone)]
pub(super) struct Table {
    /// The support, free variables first.
    pub(super) members: Vec<usize>,
    /// How many of them are free.
    free: usize,
    t: Vec<f64>,
    pub(super) c: Vec<f64>,
    pub(super) explained: Vec<f64>,
    /// As in the problem, and infinite for members.
    pub(super) floor: Vec<f64>,
    /// The objective.
    pub(super) f: f64,
}

impl Table {
    /// Of no variables.
    pub(super) fn new(problem: &Scaled<'_>) -> Self {
        Table {
            members: Vec::new(),
            free: 0,
            t: Vec::new(),
            c: problem.start.clone(),
            explained: vec![0.0; problem.start.len()],
            floor: problem.floor.clone(),
            f: 0.0,
        }
    }

    /// Of the free variables.
    pub(super) fn of_free(problem: &mut Scaled<'_>) -> Self {
        let mut table = Table::new(problem);
        for j in problem.free.clone() {
            table.add(problem, j);
        }
        table.free = table.members.len();
        table
    }

    /// This table from scratch, without the rounding of its history.
    pub(super) fn afresh(&self, problem: &mut Scaled<'_>) -> Self {
        let mut table = Table::new(problem);
        self.members.iter().for_each(|&j| table.add(problem, j));
        table.free = self.free;
        table
    }

    /// The members that are not free.
    pub(super) fn chosen(&self) -> &[usize] {
        &self.members[self.free..]
    }

    /// Their positions.
    pub(super) fn positions(&self) -> std::ops::Range<usize> {
        self.free..self.members.len()
    }

    pub(super) fn column(&self, at: usize) -> &[f64] {
        let p = self.c.len();
        &self.t[at * p..][..p]
    }

    /// The squared distance of a variable from the span of the support.
    pub(super) fn distance(&self, problem: &Scaled<'_>, j: usize) -> f64 {
        problem.diagonal[j] - self.explained[j]
    }

    /// Puts variable `j` at the end of the support.
    pub(super) fn add(&mut self, problem: &mut Scaled<'_>, j: usize) {
        let (p, column) = (self.c.len(), problem.column(j));
        let u: Vec<f64> = self.t.chunks_exact(p).map(|t| t[j]).collect();
        // What of column j the support does not explain.
        let cross: Vec<f64> = self.members.iter().map(|&i| -column[i]).collect();
        let mut rest = column.to_vec();
        combine(&self.t, &cross, &mut rest);
        self.members.iter().zip(&u).for_each(|(&i, u)| rest[i] = -u);
        let distance = rest[j];
        self.enter(j, &mut rest);
        for (t, u) in self.t.chunks_exact_mut(p).zip(&u) {
            axpy(-u, &rest, t);
            t[j] = -u / distance;
        }
        self.t.extend_from_slice(&rest);
        self.members.push(j);
    }

    /// Takes the member at position `at` out; the last takes its place.
    pub(super) fn remove(&mut self, problem: &Scaled<'_>, at: usize) {
        let (p, i, last) = (self.c.len(), self.members[at], self.members.len() - 1);
        let own = self.column(at).to_vec();
        if at < last {
            self.t.copy_within(last * p.., at * p);
        }
        self.t.truncate(last * p);
        self.members.swap_remove(at);
        self.leave(problem, i, &own);
        for t in self.t.chunks_exact_mut(p) {
            let part = -t[i] / own[i];
            axpy(part, &own, t);
            t[i] = part;
        }
    }

    /// Exchanges: what [`Self::remove`] and [`Self::add`] would do, in two passes over the table instead of three, and with
    /// the new variable in the place of the old one.
    pub(super) fn swap(&mut self, problem: &mut Scaled<'_>, swap: Swap) {
        let Swap { at, variable: j, .. } = swap;
        let (p, i, column) = (self.c.len(), self.members[at], problem.column(j));
        let own = self.column(at).to_vec();
        let inverse = 1.0 / own[i];
        // Column l becomes `t_l + parts[l] · own` without i, and then that less `u[l]` times the new column.
        let parts: Vec<f64> = self.t.chunks_exact(p).map(|t| -t[i] * inverse).collect();
        let u: Vec<f64> = self.t.chunks_exact(p).zip(&parts).map(|(t, part)| t[j] + part * own[j]).collect();
        let mut cross: Vec<f64> = self.members.iter().map(|&member| -column[member]).collect();
        cross[at] = 0.0;
        let along: f64 = cross.iter().zip(&parts).map(|(cross, part)| cross * part).sum();
        let mut rest = column.to_vec();
        combine(&self.t, &cross, &mut rest);
        axpy(along, &own, &mut rest);
        self.members.iter().zip(&u).for_each(|(&member, u)| rest[member] = -u);
        rest[i] = column[i] + along;
        self.leave(problem, i, &own);
        let distance = rest[j];
        self.enter(j, &mut rest);
        for (l, t) in self.t.chunks_exact_mut(p).enumerate().filter(|&(l, _)| l != at) {
            let (part, u) = (parts[l], u[l]);
            add_both(part, &own, -u, &rest, t);
            (t[i], t[j]) = (part - u * rest[i], -u / distance);
        }
        self.t[at * p..][..p].copy_from_slice(&rest);
        self.members[at] = j;
    }

    /// What becomes of all but the columns when variable i leaves, whose column is `own`.
    fn leave(&mut self, problem: &Scaled<'_>, i: usize, own: &[f64]) {
        let (inverse, w) = (1.0 / own[i], -self.c[i]);
        let step = w * inverse;
        self.f += 0.5 * w * step;
        axpy(step, own, &mut self.c);
        self.c[i] = step;
        add_squares(-inverse, own, &mut self.explained);
        self.explained[i] = problem.diagonal[i] - inverse;
        self.floor[i] = problem.floor[i];
    }

    /// What becomes of all but the columns when variable j enters, and its column from `rest`, which the support does not
    /// explain of it.
    fn enter(&mut self, j: usize, rest: &mut [f64]) {
        let inverse = 1.0 / rest[j];
        let step = self.c[j] * inverse;
        self.f -= 0.5 * self.c[j] * step;
        axpy(-step, rest, &mut self.c);
        self.c[j] = -step;
        add_squares(inverse, rest, &mut self.explained);
        rest.iter_mut().for_each(|value| *value *= inverse);
        rest[j] = inverse;
        self.floor[j] = f64::INFINITY;
    }
}

/// `out ← out + a x + b y`.
fn add_both(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                *out += a * x + b * y;
            }
        },
    );
}

/// `y ← y + a x²`.
fn add_squares(a: f64, x: &[f64], y: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * (x * x);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lars::LarsOptions;
    use faer::Mat;

    /// Whatever happened to a table, it is what it would be from scratch, and its exchanges bring what they promise.
    #[test]
    fn a_table_remembers_nothing() {
        let x =
            Mat::from_fn(60, 120, |i, j| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0 - 1.0);
        let gram = x.transpose() * &x;
        let b: Vec<f64> = (0..120).map(|j| x.col(j).iter().take(9).sum()).collect();
        let mut factors = vec![1.0; 120];
        factors[4] = 0.0;
        let options = LarsOptions::default().with(|it| {
            it.ridge = 0.1;
            it.penalty_factors = Some(factors);
        });
        let problem = &mut Scaled::new(&gram, &b, &options).unwrap();
        let mut table = Table::of_free(problem);
        for step in 0..60 {
            let before = table.f;
            match (step % 3, table.best_swap(problem, &[])) {
                (0, Some(swap)) if table.chosen().len() > 2 => {
                    table.swap(problem, swap);
                    assert!((before - swap.fall - table.f).abs() < 1e-12);
                }
                (1, _) if table.chosen().len() > 5 => {
                    let loss = table.loss(2 + step % 4);
                    table.remove(problem, 2 + step % 4);
                    assert!((before + loss - table.f).abs() < 1e-12);
                }
                _ => {
                    let (j, gain) = table.best_addition(problem).unwrap();
                    table.add(problem, j);
                    assert!((before - gain - table.f).abs() < 1e-12);
                }
            }
            assert_eq!(table.members[0], 4);
            assert!((problem.objective(&table.members).unwrap().value - table.f).abs() < 1e-12);
            let fresh = table.afresh(problem);
            let apart =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart(&table.t, &fresh.t) < 1e-11 && apart(&table.c, &fresh.c) < 1e-12);
            for j in (0..120).filter(|j| !table.members.contains(j)) {
                assert!((table.explained[j] - fresh.explained[j]).abs() < 1e-12);
            }
            let (fast, all) = (table.best_swap(problem, &[]), table.best_swap_of_all(problem, &[]));
            assert_eq!(fast.map(|swap| swap.fall), all.map(|swap| swap.fall));
            if table.chosen().len() > 9 {
                table.remove(problem, 1);
                table.remove(problem, 1);
            }
        }
    }
}
