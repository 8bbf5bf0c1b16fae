//! The smallest eigenvalue of a symmetric operator: Lanczos with thick restarts.
//!
//! The basis is orthogonalised in full and both `V` and `AV` are kept, so that nothing depends on a three-term
//! recurrence staying exact. Where the Krylov space is exhausted (an alignment matrix of complete graphs has
//! three distinct eigenvalues) the basis grows by a fresh direction instead of by rounding error.

use faer::Mat;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{axpy, dot, symmetric_eigen};

/// The largest basis, and how many vectors a restart keeps.
const LARGEST: usize = 56;
const KEPT: usize = 16;
const RESTARTS: usize = 300;

/// Entries of a vector that a thread takes at a time.
const CHUNK: usize = 4096;

/// Vectors of so many entries that a thread takes at a time: of short ones all.
fn side(entries: usize) -> usize {
    1 + 16 * CHUNK / entries.max(1)
}

/// An end of a spectrum.
#[derive(Debug, Clone)]
pub struct Extreme {
    /// The Rayleigh quotient of `vector`, which lies above the smallest eigenvalue, minus a bound on by how much (Kato and
    /// Temple's): a lower bound on the eigenvalue that `vector` belongs to, which is the smallest unless the iteration missed
    /// it altogether.
    pub value: f64,
    /// The unit vector that (nearly) attains it.
    pub vector: Vec<f64>,
}

/// The smallest eigenvalue of the n×n operator `apply`, whose eigenvalues are at most `size` in absolute value, to
/// about `1e-12 size`.
///
/// # Errors
/// When the iteration does not converge.
pub fn smallest_eigenvalue(n: usize, size: f64, apply: &Operator<'_>) -> Result<Extreme> {
    smallest_eigenvalue_from(&vec![0.0; n], size, 1e-12, apply)
}

/// What turns a vector into its image.
pub type Operator<'a> = dyn Fn(&[f64], &mut [f64]) + Sync + 'a;

/// The same to about `tolerance size`, from a vector that may be near the one sought (or zero).
///
/// # Errors
/// When the iteration does not converge.
pub fn smallest_eigenvalue_from(
    start: &[f64],
    size: f64,
    tolerance: f64,
    apply: &Operator<'_>,
) -> Result<Extreme> {
    let n = start.len();
    let tolerance = tolerance * size;
    let mut basis = Basis { apply, v: Vec::new(), av: Vec::new(), h: Vec::new(), fresh: 0 };
    // A tenth of it points anywhere: the vector sought may have moved to where the old one is zero.
    let tenth = 0.1 * dot(start, start).sqrt() * (3.0 / n.max(1) as f64).sqrt();
    let mut next: Vec<f64> = start.iter().enumerate().map(|(i, x)| x + tenth * scatter(i as u64)).collect();
    for _ in 0..RESTARTS {
        while basis.v.len() < LARGEST.min(n) {
            basis.extend(next, size);
            next = basis.remainder();
        }
        let values = basis.rotate(KEPT.min(n))?;
        let (residual, norm) = basis.residual(0, values[0]);
        // The next eigenvalue is not below this.
        let second = values.get(1).map_or(f64::INFINITY, |&value| value - basis.residual(1, value).1);
        let gap = second - values[0];
        let error = if gap > norm { norm * norm / gap } else { norm };
        if error <= tolerance || n <= LARGEST {
            return Ok(Extreme { value: values[0] - error, vector: basis.v.swap_remove(0) });
        }
        next = residual;
    }
    let detail = format!("the smallest of {n} eigenvalues was not found in {RESTARTS} restarts");
    Err(Error::Numerical { what: "the Lanczos iteration", detail })
}

/// A number in [−1, 1) from the bits of `i`, stirred (the finalizer of SplitMix64).
fn scatter(i: u64) -> f64 {
    let mut z = i.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Orthonormal vectors and their images.
struct Basis<'a> {
    apply: &'a Operator<'a>,
    v: Vec<Vec<f64>>,
    av: Vec<Vec<f64>>,
    /// `h[k][i] = vᵢ·Avₖ` for i ≤ k.
    h: Vec<Vec<f64>>,
    fresh: u64,
}

impl Basis<'_> {
    /// Adds the part of `x` that is new, or a fresh direction if there is none.
    fn extend(&mut self, mut x: Vec<f64>, size: f64) {
        let mut least = 1e-13 * size;
        while !self.orthonormalize(&mut x, least) {
            // Numbered, not drawn: the same on every machine and at every call.
            self.fresh += 1;
            x = (0..x.len()).map(|i| scatter(i as u64 ^ (self.fresh << 40))).collect();
            least = 0.0;
        }
        let mut image = vec![0.0; x.len()];
        (self.apply)(&x, &mut image);
        self.v.push(x);
        self.h.push(self.along(&image));
        self.av.push(image);
    }

    /// The products of `x` with the basis.
    fn along(&self, x: &[f64]) -> Vec<f64> {
        self.v.par_iter().with_min_len(side(x.len())).map(|v| dot(v, x)).collect()
    }

    /// Takes so much of the basis off `x`.
    fn subtract(&self, along: &[f64], x: &mut [f64]) {
        x.par_chunks_mut(CHUNK).enumerate().for_each(|(c, x)| {
            for (v, along) in self.v.iter().zip(along) {
                axpy(-along, &v[c * CHUNK..c * CHUNK + x.len()], x);
            }
        });
    }

    /// What is new in the last image.
    fn remainder(&self) -> Vec<f64> {
        let last = self.v.len() - 1;
        let mut x = self.av[last].clone();
        self.subtract(&self.h[last], &mut x);
        x
    }

    /// What is left of `Avₖ − value vₖ`, and its length.
    fn residual(&self, k: usize, value: f64) -> (Vec<f64>, f64) {
        let mut residual = self.av[k].clone();
        axpy(-value, &self.v[k], &mut residual);
        let norm = dot(&residual, &residual).sqrt();
        (residual, norm)
    }

    /// Makes `x` orthogonal to the basis and of length 1; `false` if what is new in it is below `least` or rounding.
    fn orthonormalize(&self, x: &mut [f64], least: f64) -> bool {
        let mut before = dot(x, x).sqrt();
        let mut least = least.max(1e-13 * before);
        // Until nothing is lost any more: what was rounding beside the whole may not be so beside what is left.
        for _ in 0..7 {
            self.subtract(&self.along(x), x);
            let after = dot(x, x).sqrt();
            if after <= least {
                return false;
            }
            x.iter_mut().for_each(|x| *x /= after);
            if after > 0.9 * before {
                return true;
            }
            (before, least) = (1.0, 1e-13);
        }
        true
    }

    /// Turns the basis to its Ritz vectors, keeping the lowest. Their values.
    fn rotate(&mut self, keep: usize) -> Result<Vec<f64>> {
        let m = self.v.len();
        let h = Mat::from_fn(m, m, |i, j| self.h[i.max(j)][i.min(j)]);
        let (mut values, vectors) = symmetric_eigen(h.as_ref())?;
        let combine = |from: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..keep.min(m))
                .into_par_iter()
                .with_min_len(side(from[0].len()))
                .map(|k| {
                    let mut out = vec![0.0; from[0].len()];
                    for (i, x) in from.iter().enumerate() {
                        axpy(vectors[(i, k)], x, &mut out);
                    }
                    out
                })
                .collect()
        };
        (self.v, self.av) = (combine(&self.v), combine(&self.av));
        // Anew, so that rounding does not add up from one restart to the next.
        self.h = (0..self.v.len())
            .into_par_iter()
            .with_min_len(side(self.v[0].len()))
            .map(|k| self.v[..=k].iter().map(|v| dot(v, &self.av[k])).collect())
            .collect();
        values.truncate(keep);
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &Mat<f64>) {
        let n = a.nrows();
        let apply = |x: &[f64], out: &mut [f64]| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = (0..n).map(|j| a[(i, j)] * x[j]).sum();
            }
        };
        let size: f64 = (0..n).map(|i| (0..n).map(|j| a[(i, j)].abs()).sum()).fold(0.0, f64::max);
        let found = smallest_eigenvalue(n, size, &apply).unwrap();
        let exact = symmetric_eigen(a.as_ref()).unwrap().0[0];
        assert!((found.value - exact).abs() <= 1e-10 * size, "n {n}: {} and {exact}", found.value);
        assert!((dot(&found.vector, &found.vector) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn finds_the_bottom_of_a_generic_spectrum() {
        for n in [1, 2, 30, 80, 81, 200, 350] {
            check(&Mat::from_fn(n, n, |i, j| (((i * j + i + j) % 17) as f64 - 8.0) / 8.0));
        }
    }

    #[test]
    fn a_start_that_knows_nothing_of_the_answer_does_no_harm() {
        // Two blocks that do not touch: the bottom of the second is lower, the start lies in the first.
        let n = 200;
        let apply = |x: &[f64], out: &mut [f64]| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = (if i < 100 { 0.01 * i as f64 } else { 0.01 * (i - 100) as f64 - 0.003 }) * x[i];
            }
        };
        let mut start = vec![0.0; n];
        start[0] = 1.0;
        let found = smallest_eigenvalue_from(&start, 1.0, 1e-12, &apply).unwrap();
        assert!((found.value + 0.003).abs() < 1e-10, "{}", found.value);
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
