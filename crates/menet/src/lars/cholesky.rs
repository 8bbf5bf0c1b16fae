//! A Cholesky factor that grows and shrinks with the active set.
//!
//! `G_𝒜 = R Rᵀ`, `R` lower triangular, packed by rows. Appending a variable solves for one new row; deleting
//! one removes its row and restores the triangle with Givens rotations. Both touch whole rows, one after
//! the other, and cost O(k²).

use crate::linalg::{axpy_inline, dot, dot_inline, vectorized};

/// A new variable whose squared distance from the span of the active ones is below this fraction of its own
/// squared length counts as dependent: the factor could not resolve it from rounding.
pub(crate) const DEPENDENT: f64 = 1e-12;

/// Why a variable could not be appended: its squared distance from the span of the others, relative to its
/// own squared length. About zero: dependent. Clearly negative: the matrix is not positive semidefinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dependent {
    pub(crate) relative_distance: f64,
}

/// The packed rows of a lower triangular matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cholesky {
    packed: Vec<f64>,
    size: usize,
}

fn start_of_row(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Cholesky {
    fn row(&self, i: usize) -> &[f64] {
        &self.packed[start_of_row(i)..start_of_row(i + 1)]
    }

    /// Appends a variable: `cross` are its inner products with the present ones, `diagonal` with itself.
    pub(crate) fn append(&mut self, cross: &[f64], diagonal: f64) -> Result<(), Dependent> {
        debug_assert_eq!(cross.len(), self.size);
        let mut row = cross.to_vec();
        self.forward(&mut row);
        let distance = diagonal - dot(&row, &row);
        if distance <= DEPENDENT * diagonal || distance.is_nan() {
            let relative_distance = if diagonal > 0.0 { distance / diagonal } else { distance.min(0.0) };
            return Err(Dependent { relative_distance });
        }
        self.packed.extend_from_slice(&row);
        self.packed.push(distance.sqrt());
        self.size += 1;
        Ok(())
    }

    /// Removes the variable at position `at`; those behind it move up by one.
    pub(crate) fn delete(&mut self, at: usize) {
        // Below the removed row every row has one entry past its diagonal. Going down, a row is first turned
        // by the rotations of the rows above it, then yields the one that clears its own extra entry.
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.size - at);
        let mut write = start_of_row(at);
        for i in at + 1..self.size {
            let read = start_of_row(i);
            self.packed.copy_within(read..read + i + 1, write);
            let row = &mut self.packed[write..write + i + 1];
            for (k, &(cos, sin)) in rotations.iter().enumerate() {
                let (x, y) = (row[at + k], row[at + k + 1]);
                row[at + k] = cos * x + sin * y;
                row[at + k + 1] = cos * y - sin * x;
            }
            let (x, y) = (row[i - 1], row[i]);
            let length = x.hypot(y);
            rotations.push((x / length, y / length));
            row[i - 1] = length;
            write += i; // the cleared entry is overwritten by the next row
        }
        self.packed.truncate(write);
        self.size -= 1;
    }

    /// `x ← R⁻¹ x`.
    fn forward(&self, x: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for i in 0..self.size {
                    let row = self.row(i);
                    x[i] = (x[i] - dot_inline(&row[..i], &x[..i])) / row[i];
                }
            },
        );
    }

    /// `x ← R⁻ᵀ x`.
    fn backward(&self, x: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for i in (0..self.size).rev() {
                    let row = self.row(i);
                    x[i] /= row[i];
                    let (head, tail) = x.split_at_mut(i);
                    axpy_inline(-tail[0], &row[..i], head);
                }
            },
        );
    }

    /// `x ← G_𝒜⁻¹ x`.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        self.backward(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn gram(n: usize) -> Mat<f64> {
        let x = Mat::from_fn(n + 3, n, |i, j| ((i * 37 + j * 101 + i * j * 7) % 23) as f64 / 7.0 - 1.5);
        x.transpose() * &x + Mat::<f64>::identity(n, n)
    }

    fn append_all(factor: &mut Cholesky, g: &Mat<f64>, variables: &[usize]) {
        for (k, &j) in variables.iter().enumerate().skip(factor.size) {
            let cross: Vec<f64> = variables[..k].iter().map(|&i| g[(i, j)]).collect();
            factor.append(&cross, g[(j, j)]).unwrap();
        }
    }

    fn residual(factor: &Cholesky, g: &Mat<f64>, variables: &[usize]) -> f64 {
        let mut x: Vec<f64> = (0..variables.len()).map(|i| 1.0 + i as f64).collect();
        factor.solve(&mut x);
        let back =
            |k: usize| -> f64 { variables.iter().zip(&x).map(|(&j, x)| g[(variables[k], j)] * x).sum() };
        (0..variables.len()).map(|k| (back(k) - 1.0 - k as f64).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn append_and_delete_anywhere() {
        for n in [1, 2, 5, 12] {
            let g = gram(n);
            for at in 0..n {
                let mut variables: Vec<usize> = (0..n).collect();
                let mut factor = Cholesky::default();
                append_all(&mut factor, &g, &variables);
                assert!(residual(&factor, &g, &variables) < 1e-9);
                variables.remove(at);
                factor.delete(at);
                assert!(residual(&factor, &g, &variables) < 1e-9, "after deleting {at} of {n}");
                variables.push(at);
                append_all(&mut factor, &g, &variables);
                assert!(residual(&factor, &g, &variables) < 1e-9);
            }
        }
    }

    #[test]
    fn dependence_is_refused_and_leaves_the_factor_alone() {
        let mut factor = Cholesky::default();
        factor.append(&[], 4.0).unwrap();
        assert!(factor.append(&[4.0], 4.0).unwrap_err().relative_distance.abs() < 1e-15);
        assert!(factor.append(&[8.0], 4.0).unwrap_err().relative_distance < -1.0);
        assert!(factor.append(&[0.0], 0.0).is_err());
        assert_eq!(factor.size, 1);
    }
}
