//! Conjugate gradients on several right-hand sides side by side, in either precision.

use super::linalg::vectorized;
use super::sparse::Precision;
use crate::error::Result;

/// The iteration stops after this many steps, whatever the residual.
const LONGEST: usize = 10_000;

/// A positive definite system, solved for `L` right-hand sides at a time.
pub(crate) trait LinearSystem<T: Precision, const L: usize> {
    /// Terms of a sum that are added up in the precision at hand. Sums of such parts are in double precision.
    const TERMS: usize;

    /// Whether [`Self::precondition`] does anything.
    const PRECONDITIONED: bool = false;

    /// Writes the product with `p` to `q`, and returns the inner products of `p` and `q`.
    ///
    /// # Errors
    /// To end the iteration.
    fn multiply(&self, p: &[[T; L]], q: &mut [[T; L]]) -> Result<[f64; L]>;

    /// Row `j` of the residual over the preconditioner.
    #[inline(always)]
    fn precondition(&self, _j: usize, r: [T; L]) -> [T; L] {
        r
    }
}

/// Solves the system for `b`. Each lane takes its own steps, and rests once its residual is `tolerance` of what it was.
///
/// # Errors
/// When the system ends the iteration.
pub(crate) fn conjugate_gradients<T: Precision, S: LinearSystem<T, L>, const L: usize>(
    system: &S,
    b: Vec<[T; L]>,
    tolerance: [f64; L],
) -> Result<Vec<[T; L]>> {
    let n = b.len();
    let (mut x, mut q) = (vec![[T::default(); L]; n], vec![[T::default(); L]; n]);
    let mut r = b;
    let mut p: Vec<[T; L]> = r.iter().enumerate().map(|(j, &r)| system.precondition(j, r)).collect();
    let (squares, mut rz) = sums(system, &r);
    let goal: [f64; L] = std::array::from_fn(|l| tolerance[l] * tolerance[l] * squares[l]);
    let mut moving: [bool; L] = std::array::from_fn(|l| squares[l] > goal[l]);
    for _ in 0..LONGEST {
        if moving == [false; L] {
            break;
        }
        let pq = system.multiply(&p, &mut q)?;
        let step: [T; L] = std::array::from_fn(|l| T::nearest(if moving[l] { rz[l] / pq[l] } else { 0.0 }));
        let (squares, next) = descend(system, &mut r, &q, step);
        for l in 0..L {
            // False as well where a sum is not a number.
            moving[l] = moving[l] && squares[l] > goal[l];
        }
        let turn: [T; L] = std::array::from_fn(|l| T::nearest(if moving[l] { next[l] / rz[l] } else { 0.0 }));
        rz = next;
        vectorized(
            #[inline(always)]
            || {
                for (j, ((x, p), r)) in x.iter_mut().zip(&mut p).zip(&r).enumerate() {
                    let z = system.precondition(j, *r);
                    for l in 0..L {
                        x[l] += step[l] * p[l];
                        p[l] = z[l] + turn[l] * p[l];
                    }
                }
            },
        );
    }
    Ok(x)
}

/// Subtracts `step` times `q` from the residuals. Returns their squared lengths, and their products with their preconditioned selves.
fn descend<T: Precision, S: LinearSystem<T, L>, const L: usize>(
    system: &S,
    r: &mut [[T; L]],
    q: &[[T; L]],
    step: [T; L],
) -> ([f64; L], [f64; L]) {
    if S::PRECONDITIONED {
        for (r, q) in r.iter_mut().zip(q) {
            for l in 0..L {
                r[l] -= step[l] * q[l];
            }
        }
        return sums(system, r);
    }
    let squares = vectorized(
        #[inline(always)]
        || {
            let mut squares = [0.0; L];
            for (r, q) in r.chunks_mut(S::TERMS).zip(q.chunks(S::TERMS)) {
                let mut part = [T::default(); L];
                for (r, q) in r.iter_mut().zip(q) {
                    for l in 0..L {
                        r[l] -= step[l] * q[l];
                        part[l] += r[l] * r[l];
                    }
                }
                add(&mut squares, part);
            }
            squares
        },
    );
    (squares, squares)
}

/// The squared lengths of residuals, and their products with their preconditioned selves.
fn sums<T: Precision, S: LinearSystem<T, L>, const L: usize>(
    system: &S,
    r: &[[T; L]],
) -> ([f64; L], [f64; L]) {
    let squares = squares_by(S::TERMS, r);
    if !S::PRECONDITIONED {
        return (squares, squares);
    }
    let mut products = [0.0; L];
    for (t, rows) in r.chunks(S::TERMS).enumerate() {
        let mut part = [T::default(); L];
        for (j, r) in rows.iter().enumerate() {
            let z = system.precondition(t * S::TERMS + j, *r);
            for l in 0..L {
                part[l] += r[l] * z[l];
            }
        }
        add(&mut products, part);
    }
    (squares, products)
}

/// The squared length of every lane, in parts of `terms`.
pub(crate) fn squares_by<T: Precision, const L: usize>(terms: usize, x: &[[T; L]]) -> [f64; L] {
    vectorized(
        #[inline(always)]
        || {
            let mut squares = [0.0; L];
            for x in x.chunks(terms) {
                let mut part = [T::default(); L];
                for x in x {
                    for l in 0..L {
                        part[l] += x[l] * x[l];
                    }
                }
                add(&mut squares, part);
            }
            squares
        },
    )
}

/// Adds a part of a sum, in double precision.
#[inline(always)]
pub(crate) fn add<T: Precision, const L: usize>(sums: &mut [f64; L], part: [T; L]) {
    for l in 0..L {
        let part: f64 = part[l].into();
        sums[l] += part;
    }
}
