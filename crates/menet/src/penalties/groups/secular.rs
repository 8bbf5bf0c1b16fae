//! The minimum over one group, exactly.
//!
//! `min ½ tr(uᵀHu) − tr(rᵀu) + τ‖u‖` has `u = 0` where `‖r‖ ≤ τ`. Elsewhere `(H + τ/t I)u = r` with `t = ‖u‖`: with the
//! eigenvalues `hᵢ` of H and the rows `rᵢ` of r in its eigenvectors, t is the root of `Σ ‖rᵢ‖²/(hᵢt + τ)² = 1`.

use faer::{Mat, MatRef};

use super::problem::{norm, norm_of};
use crate::error::Result;
use crate::numerics::linalg::{axpy, column, dot, symmetric_eigen};

/// A group that exceeds the threshold by less than this, relative to it, stays at 0: more than rounding leaves of an exact tie.
const TIE: f64 = 1e-13;

/// The eigenvalues of a group's part of the Gram matrix, and their vectors.
#[derive(Debug)]
pub(super) struct Spectrum {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Spectrum {
    pub(super) fn new(part: MatRef<'_, f64>) -> Result<Self> {
        if part.nrows() == 1 {
            return Ok(Spectrum { values: vec![part[(0, 0)]], vectors: Mat::identity(1, 1) });
        }
        let (mut values, vectors) = symmetric_eigen(part)?;
        let rounding = 1e-15 * part.nrows() as f64 * values.last().map_or(0.0, |largest| largest.abs());
        values.iter_mut().for_each(|value| *value = if *value < rounding { 0.0 } else { *value });
        Ok(Spectrum { values, vectors })
    }

    /// The minimum for the right-hand side `r`, one column per axis, and `τ ≥ 0`; none if there is none.
    pub(super) fn minimise(&self, mut r: Vec<f64>, width: usize, threshold: f64) -> Option<Vec<f64>> {
        let s = self.values.len();
        let size = norm(&r);
        if size <= threshold * (1.0 + TIE) {
            r.fill(0.0);
            return Some(r);
        }
        if s == 1 {
            let over = (1.0 - threshold / size) / self.values[0];
            r.iter_mut().for_each(|r| *r *= over);
            return over.is_finite().then_some(r);
        }
        let mut turned = vec![0.0; s * width];
        for (axis, r) in r.chunks_exact(s).enumerate() {
            for i in 0..s {
                turned[axis * s + i] = dot(column(&self.vectors, i), r);
            }
        }
        let rows: Vec<f64> = (0..s).map(|i| norm_of((0..width).map(|axis| turned[axis * s + i]))).collect();
        let t = self.root(&rows, size, threshold)?;
        r.fill(0.0);
        for (axis, r) in r.chunks_exact_mut(s).enumerate() {
            for (i, &h) in self.values.iter().enumerate() {
                let along = turned[axis * s + i] * t / (h * t + threshold);
                axpy(along, column(&self.vectors, i), r);
            }
        }
        Some(r)
    }

    /// The length of the minimum, by Newton's method on `1/‖·‖`, which is nearly straight, between bounds.
    fn root(&self, rows: &[f64], size: f64, threshold: f64) -> Option<f64> {
        let largest = self.values.last().copied().filter(|&largest| largest > 0.0)?;
        // The length, less 1, and its derivative.
        let at = |t: f64| {
            let (mut square, mut slope) = (0.0, 0.0);
            for (&row, &h) in rows.iter().zip(&self.values) {
                let over = h * t + threshold;
                let part = if row > 0.0 { row / over } else { 0.0 };
                square += part * part;
                slope -= part * part * h / over;
            }
            let length = square.sqrt();
            // Of 1 − 1/length.
            (1.0 - 1.0 / length, slope / (length * length * length))
        };
        let mut low = (size - threshold) / largest;
        let mut high = low;
        for doubling in 0.. {
            if at(high).0 <= 0.0 {
                break;
            }
            if doubling > 300 {
                return None;
            }
            (low, high) = (high, 4.0 * high);
        }
        let mut t = low;
        for _ in 0..200 {
            let (value, slope) = at(t);
            if value > 0.0 {
                low = t;
            } else {
                high = t;
            }
            let next = t - value / slope;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - t).abs() <= 4.0 * f64::EPSILON * t {
                return Some(next);
            }
            t = next;
        }
        Some(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_is_stationary() {
        for (s, width) in [(1, 1), (1, 3), (2, 1), (4, 2), (7, 1)] {
            let x = Mat::from_fn(s + 1, s, |i, j| ((i * 37 + j * 101 + i * j * 7) % 23) as f64 / 7.0 - 1.5);
            let h = x.transpose() * &x;
            let spectrum = Spectrum::new(h.as_ref()).unwrap();
            let r: Vec<f64> = (0..s * width).map(|k| ((k * 29 + 3) % 11) as f64 - 4.0).collect();
            for threshold in [0.0, 1e-3, 0.5 * norm(&r), 0.999 * norm(&r)] {
                let u = spectrum.minimise(r.clone(), width, threshold).unwrap();
                let over = threshold / norm(&u);
                for (axis, u) in u.chunks_exact(s).enumerate() {
                    for i in 0..s {
                        let image: f64 = (0..s).map(|j| h[(i, j)] * u[j]).sum();
                        let off = r[axis * s + i] - image - over * u[i];
                        assert!(off.abs() < 1e-9 * norm(&r), "{s} x {width} at {threshold}: {off}");
                    }
                }
            }
            let none = spectrum.minimise(r.clone(), width, norm(&r)).unwrap();
            assert!(none.iter().all(|&u| u == 0.0));
        }
        let flat = Spectrum::new(Mat::<f64>::zeros(2, 2).as_ref()).unwrap();
        assert_eq!(flat.minimise(vec![1.0, 1.0], 1, 0.5), None);
    }
}
