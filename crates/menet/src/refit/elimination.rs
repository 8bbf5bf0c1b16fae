//! Dropping variables from a panel, one by one: always the one without which the classes can still be told apart best.
//!
//! With Σ the shrunken within-class covariance of the panel, `V = Σ⁻¹` and the columns of `W = V Mᵀ` the weights of the class centres
//! M, two classes k and l lie apart by the squared Mahalanobis distance `d²ₖₗ = (mₖ−mₗ)ᵀ(wₖ−wₗ)`. Without variable j it is
//!
//! ```text
//! d²ₖₗ − (Wⱼₖ − Wⱼₗ)² / Vⱼⱼ
//! ```
//!
//! exactly. The one dropped keeps `Σ exp(−d²ₖₗ/8)` over all pairs smallest, which bounds the chance of taking two Gaussian classes
//! for each other (Bhattacharyya). So pairs that are hard to tell apart decide, where the size of weights, or the sum of distances, is
//! all about pairs that are far apart anyway. V and W follow in closed form; Σ is estimated anew on what is left after every tenth
//! that is dropped, or quarter while there are many.

use faer::{Mat, MatRef};

use super::within::WithinCovariance;
use crate::error::Result;
use crate::numerics::linalg::product;

/// The share of the variables that is dropped before Σ is estimated anew: where they are many, which is dear and matters less,
/// and where they are few.
const MANY: usize = 100;
const SHARE_OF_MANY: f64 = 0.25;
const SHARE: f64 = 0.1;

/// The most terms that choosing one variable to drop may take; where it takes more, several are dropped by one choice.
const TERMS: usize = 1 << 20;

/// In which order variables were dropped.
#[derive(Debug, Clone)]
pub(crate) struct Elimination {
    /// All candidates that may be dropped, those dropped first in front; the rest, which were never compared, rising.
    order: Vec<usize>,
    /// How many were dropped.
    dropped: usize,
    /// Those that may not be dropped.
    free: Vec<usize>,
}

impl Elimination {
    /// Drops all but `size` of the variables, which `within` is of. Those that are `free` (rising) stay, and do not count.
    pub(super) fn new(
        within: &WithinCovariance,
        variables: &[usize],
        free: &[usize],
        size: usize,
    ) -> Result<Self> {
        let mut kept: Vec<usize> = (0..variables.len()).collect();
        let mut order = Vec::with_capacity(kept.len());
        let (gram, count) = (within.gram(), within.centres.nrows());
        let is_free = |at: usize| free.binary_search(&variables[at]).is_ok();
        let free_count = kept.iter().filter(|&&at| is_free(at)).count();
        let least = size.max(1) + free_count;
        while kept.len() > least {
            let share = if kept.len() > MANY { SHARE_OF_MANY } else { SHARE };
            let share = ((kept.len() as f64 * share) as usize).clamp(1, kept.len() - least);
            let centres = Mat::from_fn(count, kept.len(), |class, j| within.centres[(class, kept[j])]);
            let inverse = within.inverse_of(&kept, gram.as_ref())?;
            let fixed: Vec<bool> = kept.iter().map(|&at| is_free(at)).collect();
            let dropped = ClassSeparation::new(inverse, centres.as_ref()).drop(share, &fixed);
            order.extend(dropped.iter().map(|&at| variables[kept[at]]));
            kept = (0..kept.len()).filter(|at| !dropped.contains(at)).map(|at| kept[at]).collect();
        }
        let dropped = order.len();
        let (free, rest): (Vec<usize>, Vec<usize>) = kept.into_iter().partition(|&at| is_free(at));
        order.extend(rest.into_iter().map(|at| variables[at]));
        let free = free.into_iter().map(|at| variables[at]).collect();
        Ok(Elimination { order, dropped, free })
    }

    /// The last `size` variables and the free ones, rising: all candidates if there are fewer.
    ///
    /// Never fewer than the elimination was asked to leave.
    pub(crate) fn panel(&self, size: usize) -> Vec<usize> {
        let start = self.order.len().saturating_sub(size).min(self.dropped);
        let mut panel = [&self.order[start..], &self.free].concat();
        panel.sort_unstable();
        panel
    }

    /// How many candidates there were.
    pub(crate) fn candidates(&self) -> usize {
        self.order.len() + self.free.len()
    }
}

/// How far the classes lie apart, and what every variable contributes.
struct ClassSeparation {
    /// Σ⁻¹ of the variables that are left; what is dropped is no longer looked at.
    inverse: Mat<f64>,
    /// `Σ⁻¹ Mᵀ`, one row per variable.
    weights: Vec<Vec<f64>>,
    /// Pairs of classes and the squared distance between them.
    pairs: Vec<(usize, usize, f64)>,
    left: Vec<usize>,
}

impl ClassSeparation {
    fn new(inverse: Mat<f64>, centres: MatRef<'_, f64>) -> Self {
        let (count, m) = centres.shape();
        let weights = product(inverse.as_ref(), centres.transpose());
        let distance = |k: usize, l: usize| {
            (0..m).map(|j| (centres[(k, j)] - centres[(l, j)]) * (weights[(j, k)] - weights[(j, l)])).sum()
        };
        let pairs = (0..count).flat_map(|k| (k + 1..count).map(move |l| (k, l)));
        let pairs = pairs.map(|(k, l)| (k, l, distance(k, l))).collect();
        let weights = weights.row_iter().map(|row| row.iter().copied().collect()).collect();
        ClassSeparation { inverse, weights, pairs, left: (0..m).collect() }
    }

    /// Drops `count` variables that are not `fixed`, and says which, first to last.
    fn drop(mut self, count: usize, fixed: &[bool]) -> Vec<usize> {
        let mut dropped = Vec::with_capacity(count);
        while dropped.len() < count {
            let together = (self.left.len() * self.pairs.len() / TERMS + 1).min(count - dropped.len());
            let bounds = self.bounds();
            let mut order: Vec<usize> = (0..self.left.len()).filter(|&at| !fixed[self.left[at]]).collect();
            // Among equals the last goes first.
            order.sort_by(|&a, &b| bounds[a].total_cmp(&bounds[b]).then(b.cmp(&a)));
            for j in order.into_iter().take(together).map(|at| self.left[at]).collect::<Vec<_>>() {
                self.forget(j);
                dropped.push(j);
            }
        }
        dropped
    }

    /// The bound that is left without each of the variables, in a unit common to all.
    fn bounds(&self) -> Vec<f64> {
        // Distances are counted from the smallest, so that no exponential underflows where it matters.
        let least = self.pairs.iter().fold(f64::INFINITY, |least, &(_, _, d)| least.min(d));
        let bound = |&j: &usize| {
            let (weights, scale) = (&self.weights[j], 1.0 / self.inverse[(j, j)]);
            let term = |&(k, l, d): &(usize, usize, f64)| {
                let difference = weights[k] - weights[l];
                f64::exp((least - d + scale * difference * difference) / 8.0)
            };
            self.pairs.iter().map(term).sum()
        };
        self.left.iter().map(bound).collect()
    }

    /// Takes variable `j` out.
    fn forget(&mut self, j: usize) {
        self.left.retain(|&i| i != j);
        let pivot = self.inverse[(j, j)];
        let (column, row) = (self.inverse.col(j).to_owned(), self.weights[j].clone());
        for &i in &self.left {
            let factor = column[i] / pivot;
            let target = self.inverse.col_mut(i);
            target.iter_mut().zip(column.iter()).for_each(|(x, y)| *x -= factor * y);
            self.weights[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
        for (k, l, distance) in &mut self.pairs {
            let difference = row[*k] - row[*l];
            *distance = (*distance - difference * difference / pivot).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three classes; variables 0 and 1 tell them apart, variable 2 is a copy of 0, the others are noise.
    fn samples(n: usize) -> (Mat<f64>, Vec<usize>) {
        let classes: Vec<usize> = (0..n).map(|i| i % 3).collect();
        let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
        let x = Mat::from_fn(n, 8, |i, j| match j {
            0 | 2 => f64::from(classes[i] == 0) + 0.5 * noise(i, 0),
            1 => f64::from(classes[i] == 1) + 0.5 * noise(i, 1),
            _ => noise(i, j),
        });
        (x, classes)
    }

    #[test]
    fn what_tells_the_classes_apart_is_kept() {
        let (x, classes) = samples(60);
        let all = [10, 11, 12, 13, 14, 15, 16, 17];
        let elimination =
            Elimination::new(&WithinCovariance::new(x.as_ref(), &classes, 3, None), &all, &[], 1).unwrap();
        assert_eq!(elimination.panel(2), [10, 11], "the copy goes before the first, and both before noise");
        assert_eq!(elimination.panel(100), all);
        assert_eq!(elimination.candidates(), 8);
        for size in 1..=8 {
            assert_eq!(elimination.panel(size).len(), size);
            let direct =
                Elimination::new(&WithinCovariance::new(x.as_ref(), &classes, 3, None), &all, &[], size)
                    .unwrap();
            assert_eq!(direct.panel(size), elimination.panel(size), "one order serves every size");
        }
    }

    #[test]
    fn free_variables_stay_and_do_not_count() {
        let (x, classes) = samples(60);
        let all = [10, 11, 12, 13, 14, 15, 16, 17];
        // Noise, the copy, and one that is not among the candidates.
        let elimination =
            Elimination::new(&WithinCovariance::new(x.as_ref(), &classes, 3, None), &all, &[12, 16, 40], 1)
                .unwrap();
        assert_eq!(elimination.panel(1), [11, 12, 16]);
        assert_eq!(elimination.panel(6), all);
        assert_eq!(elimination.candidates(), 8);
    }

    #[test]
    fn distances_without_a_variable_are_those_of_the_others_alone() {
        let (x, classes) = samples(30);
        let within = WithinCovariance::new(x.as_ref(), &classes, 3, None);
        let inverse = within.inverse_of(&[0, 1, 2, 3, 4, 5, 6, 7], within.gram().as_ref()).unwrap();
        let mut pairs = ClassSeparation::new(inverse, within.centres.as_ref());
        pairs.forget(1);
        pairs.forget(4);
        // Directly: the same covariance without its rows and columns 1 and 4.
        let left = [0, 2, 3, 5, 6, 7];
        let sigma = within.apply(Mat::identity(8, 8).as_ref());
        let part = Mat::from_fn(6, 6, |i, j| sigma[(left[i], left[j])]);
        let factor = crate::numerics::linalg::cholesky(part.as_ref()).unwrap();
        for &(k, l, found) in &pairs.pairs {
            let difference =
                Mat::from_fn(6, 1, |i, _| within.centres[(k, left[i])] - within.centres[(l, left[i])]);
            let mut solved = difference.clone();
            crate::numerics::linalg::cholesky_solve(factor.as_ref(), solved.as_mut());
            let expected = (difference.transpose() * &solved)[(0, 0)];
            assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}");
        }
    }
}
