//! The smallest eigenvalue of a symmetric operator: Lanczos with thick restarts.
//!
//! The basis is orthogonalised in full and both `V` and `AV` are kept, so that nothing depends on a three-term
//! recurrence staying exact. Where the Krylov space is exhausted (an alignment matrix of complete graphs has
//! three distinct eigenvalues) the basis grows by a fresh direction instead of by rounding error.

use faer::Mat;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{axpy, combine_each, dot, inner_each, symmetric_eigen, vectorized};

/// The largest basis, and how many vectors a restart keeps.
const LARGEST: usize = 56;
const KEPT: usize = 16;
const RESTARTS: usize = 300;

/// Entries of a vector that a thread takes at a time: such a piece of the whole basis stays in its cache.
const CHUNK: usize = 1024;

/// The largest product of two vectors of the basis that counts as rounding.
const ORTHOGONAL: f64 = 1e-14;

/// Vectors of so many entries that a thread takes at a time: of short ones all.
fn side(entries: usize) -> usize {
    1 + 65_536 / entries.max(1)
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
    let first = start.iter().enumerate().map(|(i, x)| x + tenth * scatter(i as u64)).collect();
    let mut next = Direction { x: first, along: Vec::new() };
    for _ in 0..RESTARTS {
        while basis.v.len() < LARGEST.min(n) {
            basis.extend(next, size);
            next = basis.last_image();
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
        next = Direction { along: basis.along(&residual), x: residual };
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

/// A vector that may have something new, and its products with the basis.
struct Direction {
    x: Vec<f64>,
    along: Vec<f64>,
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
    fn extend(&mut self, next: Direction, size: f64) {
        let Direction { mut x, mut along } = next;
        let mut least = 1e-13 * size;
        while !self.orthonormalize(&mut x, along, least) {
            // Numbered, not drawn: the same on every machine and at every call.
            self.fresh += 1;
            x = (0..x.len()).map(|i| scatter(i as u64 ^ (self.fresh << 40))).collect();
            (along, least) = (self.along(&x), 0.0);
        }
        let mut image = vec![0.0; x.len()];
        (self.apply)(&x, &mut image);
        self.v.push(x);
        self.h.push(self.along(&image));
        self.av.push(image);
    }

    /// The products of `x` with the basis.
    fn along(&self, x: &[f64]) -> Vec<f64> {
        let pieces: Vec<Vec<f64>> =
            x.par_chunks(CHUNK).enumerate().map(|(c, x)| self.along_piece(c, x)).collect();
        self.total(&pieces)
    }

    /// Takes so much of the basis off `x`. The products of what is left with the basis, each piece of which is read once for
    /// both.
    fn subtract(&self, off: &[f64], x: &mut [f64]) -> Vec<f64> {
        let pieces: Vec<Vec<f64>> = x
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(c, x)| {
                let (fours, rest) = off.as_chunks::<4>();
                for (k, off) in fours.iter().enumerate() {
                    subtract_four(*off, std::array::from_fn(|t| self.piece(4 * k + t, c, x.len())), x);
                }
                for (k, off) in rest.iter().enumerate() {
                    axpy(-off, self.piece(4 * fours.len() + k, c, x.len()), x);
                }
                self.along_piece(c, x)
            })
            .collect();
        self.total(&pieces)
    }

    /// What piece `c` of a vector, `x`, adds to its products with the basis.
    fn along_piece(&self, c: usize, x: &[f64]) -> Vec<f64> {
        let m = self.v.len();
        let fours = (0..m / 4)
            .flat_map(|k| inner_each::<4>(std::array::from_fn(|t| self.piece(4 * k + t, c, x.len())), x));
        fours.chain((m - m % 4..m).map(|k| dot(self.piece(k, c, x.len()), x))).collect()
    }

    /// Piece `c`, of length `len`, of a vector of the basis.
    fn piece(&self, k: usize, c: usize, len: usize) -> &[f64] {
        &self.v[k][c * CHUNK..c * CHUNK + len]
    }

    fn total(&self, pieces: &[Vec<f64>]) -> Vec<f64> {
        (0..self.v.len()).map(|k| pieces.iter().map(|piece| piece[k]).sum()).collect()
    }

    /// The last image, as a direction.
    fn last_image(&self) -> Direction {
        let last = self.v.len() - 1;
        Direction { x: self.av[last].clone(), along: self.h[last].clone() }
    }

    /// What is left of `Avₖ − value vₖ`, and its length.
    fn residual(&self, k: usize, value: f64) -> (Vec<f64>, f64) {
        let mut residual = self.av[k].clone();
        axpy(-value, &self.v[k], &mut residual);
        let norm = dot(&residual, &residual).sqrt();
        (residual, norm)
    }

    /// Makes `x`, whose products with the basis are `along`, orthogonal to it and of length 1; `false` if what is new in it is
    /// below `least` or rounding.
    fn orthonormalize(&self, x: &mut [f64], mut along: Vec<f64>, least: f64) -> bool {
        let mut least = least.max(1e-13 * dot(x, x).sqrt());
        // Until nothing of the basis is left: what was rounding beside the whole may not be so beside what is new.
        for _ in 0..8 {
            along = self.subtract(&along, x);
            let length = dot(x, x).sqrt();
            if length <= least {
                return false;
            }
            x.iter_mut().for_each(|x| *x /= length);
            along.iter_mut().for_each(|along| *along /= length);
            if along.iter().all(|along| along.abs() <= ORTHOGONAL) {
                return true;
            }
            least = 1e-13;
        }
        true
    }

    /// Turns the basis to its Ritz vectors, keeping the lowest. Their values.
    fn rotate(&mut self, keep: usize) -> Result<Vec<f64>> {
        let m = self.v.len();
        let h = Mat::from_fn(m, m, |i, j| self.h[i.max(j)][i.min(j)]);
        let (mut values, vectors) = symmetric_eigen(h.as_ref())?;
        let keep = keep.min(m);
        // Four at a time, for which the old ones are read once.
        let combine = |from: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let fours: Vec<usize> = (0..keep).step_by(4).collect();
            let four = |&start: &usize| {
                let weight = |i: usize, k: usize| if k < keep { vectors[(i, k)] } else { 0.0 };
                let weights: Vec<[f64; 4]> =
                    (0..m).map(|i| std::array::from_fn(|t| weight(i, start + t))).collect();
                let mut out = [(); 4].map(|()| vec![0.0; from[0].len()]);
                combine_each(|i| &from[i], &weights, out.each_mut().map(Vec::as_mut_slice));
                out.into_iter().take(keep - start)
            };
            fours.par_iter().with_min_len(side(from[0].len())).flat_map_iter(four).collect()
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

/// `x ← x − Σ offₖ vₖ`, for which `x` is read and written once.
fn subtract_four(off: [f64; 4], v: [&[f64]; 4], x: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || {
            let [v0, v1, v2, v3] = v.map(|v| &v[..x.len()]);
            for ((((x, v0), v1), v2), v3) in x.iter_mut().zip(v0).zip(v1).zip(v2).zip(v3) {
                *x -= (off[0] * v0 + off[1] * v1) + (off[2] * v2 + off[3] * v3);
            }
        },
    );
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
