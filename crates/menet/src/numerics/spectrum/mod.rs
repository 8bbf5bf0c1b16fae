//! The lower end of a spectrum: the smallest eigenvalue of a symmetric operator, and the largest weight of a part of it that
//! keeps that eigenvalue above a bound. Lanczos with thick restarts.

mod basis;

use basis::Basis;

use crate::error::{Error, Result};

/// The largest basis, and how many vectors a restart keeps.
const LARGEST: usize = 56;
const KEPT: usize = 16;
const RESTARTS: usize = 300;

/// Largest number of moves of a weight between two restarts. A handful is usual.
const STEPS: usize = 100;

/// How well an eigenvalue can be known, relative to the largest possible one.
const FINEST: f64 = 1e-12;

/// The last step down leaves more than this of a weight.
const LONGEST_STEP_DOWN: f64 = 0.999;

/// A function from a vector to its image.
pub(crate) type Operator<'a> = dyn Fn(&[f64], &mut [f64]) + Sync + 'a;

/// Where the smallest eigenvalue lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmallestEigenvalue {
    pub(crate) below: f64,
    /// It is not above this. Once the iteration has converged both are `1e-12 size` apart at most, and otherwise farther.
    pub(crate) above: f64,
}

/// The smallest eigenvalue of the n×n operator `apply`, whose eigenvalues are at most `size` in absolute value. Where many eigenvalues are
/// nearly as small, the iteration may end before it is known well, which the bounds say.
///
/// # Errors
/// When a decomposition fails.
pub(crate) fn smallest_eigenvalue(n: usize, size: f64, apply: &Operator<'_>) -> Result<SmallestEigenvalue> {
    let mut basis = Basis::new(n, [apply], [1.0]);
    let mut lowest = SmallestEigenvalue { below: f64::NEG_INFINITY, above: f64::INFINITY };
    for _ in 0..RESTARTS {
        basis.grow(LARGEST, size);
        let (values, vectors) = basis.ritz()?;
        basis.keep(KEPT, &vectors);
        let bottom = basis.bottom(&values);
        lowest = SmallestEigenvalue { below: bottom.value(), above: values[0] };
        if bottom.error <= FINEST * size || n <= LARGEST {
            break;
        }
    }
    Ok(lowest)
}

fn not_found(n: usize) -> Error {
    let detail = format!("the smallest of {n} eigenvalues was not found in {RESTARTS} restarts");
    Error::Numerical { what: "the Lanczos iteration", detail }
}

/// The search for the largest t ≤ `most` for which no eigenvalue of `A − tB` is below `−bound`, for A and B without negative
/// eigenvalues.
///
/// `λ_min(A − tB)` is concave in t, so where the bound fails, the t at which a vector just meets it, `xᵀ(A + bound I)x / xᵀBx`,
/// lies beyond the answer still: Dinkelbach's iteration, which converges from above. Any vector will do, so t moves with every
/// restart, down to the least that the basis allows. The last step is one down: `λ_min(A) ≥ 0`, so that for a part s of t
/// concavity gives `λ_min(A − stB) ≥ s λ_min(A − tB)`, and where that misses the bound by a rounding, s makes up for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShiftSearch {
    /// The largest possible eigenvalue.
    pub(crate) size: f64,
    /// How well the eigenvalue is known in the end, relative to that.
    pub(crate) tolerance: f64,
    pub(crate) bound: f64,
    pub(crate) most: f64,
}

impl ShiftSearch {
    /// That t for `parts = [A, B]` of n rows, and the smallest eigenvalue there, from below. `None` if even t = 0 does not meet the bound.
    /// `proceed` is asked now and then, and may end the search.
    ///
    /// # Errors
    /// When the iteration ends before it is known whether the bound is met, or `proceed` fails.
    pub(crate) fn run(
        &self,
        n: usize,
        parts: [&Operator<'_>; 2],
        proceed: &dyn Fn() -> Result<()>,
    ) -> Result<Option<(f64, f64)>> {
        let ShiftSearch { size, tolerance, bound, most } = *self;
        let mut basis = Basis::new(n, parts, [1.0, -most]);
        let mut t = most;
        // A lower bound that is good enough, wherever between it and the Ritz value the eigenvalue lies.
        let mut admissible = None;
        for _ in 0..RESTARTS {
            proceed()?;
            basis.grow(LARGEST, size);
            let (mut values, mut vectors) = basis.ritz()?;
            for _ in 0..STEPS {
                if values[0] >= -bound - 0.1 * FINEST * size || t == 0.0 {
                    break;
                }
                let [a, b] = basis.quotients(&vectors);
                // Rounded down a little, so that it ends below the bound and not upon it.
                let next = (1.0 - FINEST) * (a + bound) / b;
                t = if next < t { next.max(0.0) } else { t * (1.0 - 1e-9) };
                basis.weights = [1.0, -t];
                (values, vectors) = basis.ritz()?;
            }
            basis.keep(KEPT, &vectors);
            let bottom = basis.bottom(&values);
            let value = bottom.value();
            admissible = (value >= -bound - FINEST * size).then_some((t, value));
            if bottom.error > tolerance * size && n > LARGEST {
                continue;
            }
            if admissible.is_some() {
                return Ok(admissible);
            }
            // Not where it would be a long one: with a bound of 0 all of it.
            let part = bound / -value;
            if t < most && part > LONGEST_STEP_DOWN {
                return Ok(Some((t * part, -bound)));
            }
            if bottom.error <= FINEST * size || n <= LARGEST {
                return Ok(None);
            }
        }
        admissible.map(Some).ok_or_else(|| not_found(n))
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::numerics::linalg::symmetric_eigen;

    fn check(a: &Mat<f64>) {
        let n = a.nrows();
        let apply = |x: &[f64], out: &mut [f64]| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = (0..n).map(|j| a[(i, j)] * x[j]).sum();
            }
        };
        let size: f64 = (0..n).map(|i| (0..n).map(|j| a[(i, j)].abs()).sum()).fold(0.0, f64::max);
        let found = smallest_eigenvalue(n, size, &apply).unwrap().below;
        let exact = symmetric_eigen(a.as_ref()).unwrap().0[0];
        assert!((found - exact).abs() <= 1e-10 * size, "n {n}: {found} and {exact}");
    }

    #[test]
    fn finds_the_bottom_of_a_generic_spectrum() {
        for n in [1, 2, 30, 80, 81, 200, 350] {
            check(&Mat::from_fn(n, n, |i, j| (((i * j + i + j) % 17) as f64 - 8.0) / 8.0));
        }
    }

    #[test]
    fn the_largest_weight_is_that_of_the_dense_spectrum() {
        for n in [1, 5, 60, 150] {
            let entry =
                |i: usize, j: usize, by: usize| ((i.min(j) * 13 + i.max(j) * by) % 17) as f64 / 17.0 - 0.5;
            let square = |by: usize| {
                let root = Mat::from_fn(n, n, |i, j| entry(i, j, by));
                &root * root.transpose()
            };
            let (a, b) = (square(5), square(7));
            let apply = |m: &Mat<f64>, x: &[f64], out: &mut [f64]| {
                (0..n).for_each(|i| out[i] = (0..n).map(|j| m[(i, j)] * x[j]).sum());
            };
            let size = a.norm_l2();
            let lowest = |t: f64| symmetric_eigen((&a - faer::Scale(t) * &b).as_ref()).unwrap().0[0];
            for (bound, most) in [(0.3 * size, 1e3), (1e-3 * size, 1e3), (size, 1e-9)] {
                let parts: [&Operator<'_>; 2] = [&|x, out| apply(&a, x, out), &|x, out| apply(&b, x, out)];
                let search = ShiftSearch { size, tolerance: 1e-12, bound, most };
                let (t, value) = search.run(n, parts, &|| Ok(())).unwrap().unwrap();
                assert!(value <= lowest(t) + 1e-11 * size && lowest(t) >= -bound - 1e-11 * size, "n {n}");
                assert!(t == most || lowest(1.0001 * t) < -bound, "n {n}: {t} is not the largest");
            }
        }
    }

    /// Hundreds of eigenvalues next to 0, as of the reconstruction of samples from more neighbours than there are variables: what the
    /// iteration says of the smallest is true, however little that is.
    #[test]
    fn what_is_not_known_well_is_bounded() {
        let n = 400;
        let value = |i: usize| if i < 300 { 1e-7 * (i as f64 / 300.0).powi(4) } else { i as f64 / 300.0 };
        let apply = |x: &[f64], out: &mut [f64]| (0..n).for_each(|i| out[i] = value(i) * x[i]);
        let SmallestEigenvalue { below, above } = smallest_eigenvalue(n, 2.0, &apply).unwrap();
        assert!(below <= 0.0 && 0.0 <= above && above - below < 1e-6, "{below:e} to {above:e}");
    }

    #[test]
    fn exhausted_krylov_spaces_do_not_hang() {
        for n in [5, 100, 200] {
            check(&Mat::zeros(n, n));
            check(&Mat::identity(n, n));
            // Complete graphs of five: eigenvalues 0 and 5 only.
            check(&Mat::from_fn(n, n, |i, j| {
                if i == j {
                    4.0
                } else if i / 5 == j / 5 {
                    -1.0
                } else {
                    0.0
                }
            }));
            // One negative eigenvalue among equal ones, orthogonal to no start.
            check(&Mat::from_fn(n, n, |i, j| {
                f64::from(i == j) - if i == n - 1 && j == n - 1 { 3.0 } else { 0.0 }
            }));
        }
    }
}
