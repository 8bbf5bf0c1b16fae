//! Conjugate gradients on several right-hand sides side by side, in either precision.

use crate::linalg::vectorized;
use crate::sparse::{Pattern, Precision};

/// Iterations after which what is left is left.
const LONGEST: usize = 10_000;

/// Terms of a sum that are added up in the precision at hand; such sums are in double precision.
const TERMS: usize = 256;

/// `S⁻¹ b` for the matrix S of `values`, whose diagonal is 1: as many iterations side by side as `b` has lanes, each with its
/// own steps, and at rest once its residual is `tolerance` of what it was.
pub(super) fn gradients<T: Precision, const L: usize>(
    pattern: &Pattern,
    values: &[T],
    b: Vec<[T; L]>,
    tolerance: [f64; L],
) -> Vec<[T; L]> {
    let n = b.len();
    let (mut x, mut p, mut q) = (vec![[T::default(); L]; n], b.clone(), vec![[T::default(); L]; n]);
    let mut r = b;
    let mut rr = squares(&r);
    let goal: [f64; L] = std::array::from_fn(|l| tolerance[l] * tolerance[l] * rr[l]);
    let mut moving: [bool; L] = std::array::from_fn(|l| rr[l] > goal[l]);
    for _ in 0..LONGEST {
        if moving == [false; L] {
            break;
        }
        let mut pq = [0.0; L];
        for start in (0..n).step_by(TERMS) {
            let mut part = [T::default(); L];
            pattern.multiply(
                values,
                start..n.min(start + TERMS),
                &p,
                #[inline(always)]
                |j, product: [T; L]| {
                    q[j] = product;
                    for l in 0..L {
                        part[l] += p[j][l] * product[l];
                    }
                },
            );
            add(&mut pq, part);
        }
        let step: [T; L] = std::array::from_fn(|l| T::nearest(if moving[l] { rr[l] / pq[l] } else { 0.0 }));
        let next = vectorized(
            #[inline(always)]
            || {
                let mut next = [0.0; L];
                for (r, q) in r.chunks_mut(TERMS).zip(q.chunks(TERMS)) {
                    let mut part = [T::default(); L];
                    for (r, q) in r.iter_mut().zip(q) {
                        for l in 0..L {
                            r[l] -= step[l] * q[l];
                            part[l] += r[l] * r[l];
                        }
                    }
                    add(&mut next, part);
                }
                next
            },
        );
        for l in 0..L {
            // False as well where a sum is not a number.
            moving[l] = moving[l] && next[l] > goal[l];
        }
        let turn: [T; L] = std::array::from_fn(|l| T::nearest(if moving[l] { next[l] / rr[l] } else { 0.0 }));
        rr = next;
        vectorized(
            #[inline(always)]
            || {
                for ((x, p), r) in x.iter_mut().zip(&mut p).zip(&r) {
                    for l in 0..L {
                        x[l] += step[l] * p[l];
                        p[l] = r[l] + turn[l] * p[l];
                    }
                }
            },
        );
    }
    x
}

/// The squared length of every lane.
pub(super) fn squares<T: Precision, const L: usize>(x: &[[T; L]]) -> [f64; L] {
    vectorized(
        #[inline(always)]
        || {
            let mut squares = [0.0; L];
            for x in x.chunks(TERMS) {
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

#[inline(always)]
fn add<T: Precision, const L: usize>(sums: &mut [f64; L], part: [T; L]) {
    for l in 0..L {
        let part: f64 = part[l].into();
        sums[l] += part;
    }
}
