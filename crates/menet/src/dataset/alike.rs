//! Which samples have the same values, whatever their class, and whether that is more than chance.

use std::collections::HashMap;

use faer::MatRef;

use super::distinct::marks;
use super::{Real, View};

/// For every sample the first one with the same values: itself where no earlier one has them. Two missing values are the same.
pub(crate) fn first_alike(samples: View<'_>) -> Vec<usize> {
    let marks = marks(samples);
    // Equal marks need not be equal samples.
    let mut known: HashMap<u64, Vec<usize>> = HashMap::with_capacity(marks.len());
    let first = |(i, mark): (usize, u64)| {
        let firsts = known.entry(mark).or_default();
        let found = firsts.iter().copied().find(|&k| alike(samples, k, i));
        found.unwrap_or_else(|| {
            firsts.push(i);
            i
        })
    };
    marks.into_iter().enumerate().map(first).collect()
}

fn alike(samples: View<'_>, i: usize, k: usize) -> bool {
    fn dense<T: Real>(x: MatRef<'_, T>, i: usize, k: usize) -> bool {
        (0..x.ncols()).all(|j| same(x[(i, j)].into(), x[(k, j)].into()))
    }
    match samples {
        View::Double(x) => dense(x, i, k),
        View::Single(x) => dense(x, i, k),
        View::Sparse(x) => {
            let values = |i: usize| x.row(i).filter(|&(_, value)| value != 0.0);
            let (mut one, mut other) = (values(i), values(k));
            loop {
                match (one.next(), other.next()) {
                    (None, None) => return true,
                    (Some((j, x)), Some((l, y))) if j == l && same(x, y) => {}
                    _ => return false,
                }
            }
        }
    }
}

fn same(x: f64, y: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

/// The part of all pairs of samples that would be equal if variables had their values independently of each other. The exact number does
/// not matter where it is below `enough`.
pub(crate) fn chance_of_equality(samples: View<'_>, enough: f64) -> f64 {
    let mut chance = 1.0;
    let mut meet = |values: &mut Vec<f64>, zeros: usize| {
        chance *= equal_pairs(values, zeros);
        chance >= enough
    };
    match samples {
        View::Double(x) => (0..x.ncols()).all(|j| meet(&mut x.col(j).iter().copied().collect(), 0)),
        View::Single(x) => (0..x.ncols()).all(|j| meet(&mut x.col(j).iter().map(|&x| x.into()).collect(), 0)),
        View::Sparse(x) => {
            let columns = x.transpose();
            (0..columns.rows()).all(|j| {
                let mut values: Vec<f64> = columns.row(j).map(|(_, value)| value).collect();
                let zeros = x.rows() - values.len();
                meet(&mut values, zeros)
            })
        }
    };
    chance
}

/// The part of the pairs of these values, and so many zeros beside them, that are equal.
fn equal_pairs(values: &mut [f64], zeros: usize) -> f64 {
    let total = values.len() + zeros;
    // Adding 0 makes −0 the same as 0.
    values.iter_mut().for_each(|value| *value = if value.is_nan() { f64::NAN } else { *value + 0.0 });
    values.sort_unstable_by(f64::total_cmp);
    let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let equal = |run: &[f64]| pairs(run.len() + if run[0] == 0.0 { zeros } else { 0 });
    let own: f64 = values.chunk_by(|x, y| same(*x, *y)).map(equal).sum();
    let alone = if values.contains(&0.0) { 0.0 } else { pairs(zeros) };
    (own + alone) / pairs(total).max(1.0)
}

#[cfg(test)]
mod tests {
    use faer::mat;

    use super::*;
    use crate::numerics::sparse::SparseMatrix;

    #[test]
    fn equal_samples_are_found_dense_and_sparse_with_missing_values() {
        let nan = f64::NAN;
        let x =
            mat![[0.0, 1.0, nan], [-0.0, 1.0, -nan], [0.0, 1.0, 0.0], [0.0, 1.0, nan], [2.0, 1.0, 0.0f64]];
        assert_eq!(first_alike(View::Double(x.as_ref())), [0, 0, 2, 0, 4]);
        let single = faer::Mat::from_fn(5, 3, |i, j| x[(i, j)] as f32);
        assert_eq!(first_alike(View::Single(single.as_ref())), [0, 0, 2, 0, 4]);
        let whole = mat![[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-0.0, 0.0f64]];
        let sparse = SparseMatrix::from_dense(whole.as_ref()).unwrap();
        assert_eq!(first_alike(View::Sparse(&sparse)), [0, 1, 0, 3, 3]);
    }

    #[test]
    fn the_chance_of_equality_is_that_of_independent_variables() {
        // 2 of 6 pairs are equal in the first variable, 3 of 6 in the second.
        let x = mat![[0.0, 5.0], [-0.0, 5.0], [1.0, 5.0], [1.0, 0.0f64]];
        let sparse = SparseMatrix::from_dense(x.as_ref()).unwrap();
        for samples in [View::Double(x.as_ref()), View::Sparse(&sparse)] {
            assert!((chance_of_equality(samples, 0.0) - 2.0 / 6.0 * 3.0 / 6.0).abs() < 1e-15);
            assert!(chance_of_equality(samples, 0.5) < 0.5);
        }
    }
}
