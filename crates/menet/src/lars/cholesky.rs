//! A Cholesky factor that grows and shrinks with the active set.
//!
//! `G_𝒜 = R Rᵀ`, `R` lower triangular, packed by rows. Appending a variable solves for one new row; deleting
//! one removes its row and restores the triangle with Givens rotations. Both touch whole rows, one after
//! the other, and cost O(k²).
//!
//! A right-hand side `r` is carried along as `z = R⁻¹ r`, which costs O(k) per change, so that `G_𝒜⁻¹ r` takes one more
//! triangular solve.

use crate::numerics::linalg::{dot, dot_inline, four_dots, vectorized};

/// A new variable whose squared distance from the span of the active ones is below this fraction of its own
/// squared length counts as dependent: the factor cannot tell it from rounding.
pub(crate) const DEPENDENT: f64 = 1e-12;

/// Why a variable could not be appended: its squared distance from the span of the others, relative to its
/// own squared length. About zero: dependent. Clearly negative: the matrix is not positive semidefinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dependent {
    pub(crate) relative_distance: f64,
}

/// The packed rows of a lower triangular matrix, and the right-hand side it carries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cholesky {
    packed: Vec<f64>,
    /// One over the diagonal.
    inverse: Vec<f64>,
    carried: Vec<f64>,
}

fn start_of_row(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Cholesky {
    fn size(&self) -> usize {
        self.carried.len()
    }

    /// The first `len` entries of row `i`.
    fn row(&self, i: usize, len: usize) -> &[f64] {
        &self.packed[start_of_row(i)..][..len]
    }

    /// Appends a variable: `cross` are its inner products with the present ones, `diagonal` with itself, `right` its
    /// entry of the right-hand side.
    pub(crate) fn append(&mut self, cross: &[f64], diagonal: f64, right: f64) -> Result<(), Dependent> {
        debug_assert_eq!(cross.len(), self.size());
        // Solved for where it will stay.
        let start = self.packed.len();
        self.packed.extend_from_slice(cross);
        let (rows, row) = self.packed.split_at_mut(start);
        forward(rows, &self.inverse, row);
        let distance = diagonal - dot(row, row);
        if distance <= DEPENDENT * diagonal || distance.is_nan() {
            self.packed.truncate(start);
            let relative_distance = if diagonal > 0.0 { distance / diagonal } else { distance.min(0.0) };
            return Err(Dependent { relative_distance });
        }
        let root = distance.sqrt();
        self.carried.push((right - dot(row, &self.carried)) / root);
        self.packed.push(root);
        self.inverse.push(1.0 / root);
        Ok(())
    }

    /// Removes the variable at position `at`; those behind it move up by one.
    pub(crate) fn delete(&mut self, at: usize) {
        // Below the removed row every row has one entry past its diagonal. Going down, a row is first turned
        // by the rotations of the rows above it, then yields the one that clears its own extra entry.
        let size = self.size();
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(size - at);
        let turn = |row: &mut [f64], rotations: &[(f64, f64)]| {
            for (k, &(cos, sin)) in rotations.iter().enumerate() {
                let (x, y) = (row[at + k], row[at + k + 1]);
                row[at + k] = cos * x + sin * y;
                row[at + k + 1] = cos * y - sin * x;
            }
        };
        let mut write = start_of_row(at);
        for i in at + 1..size {
            let read = start_of_row(i);
            self.packed.copy_within(read..read + i + 1, write);
            let row = &mut self.packed[write..write + i + 1];
            turn(row, &rotations);
            let (x, y) = (row[i - 1], row[i]);
            let length = x.hypot(y);
            rotations.push((x / length, y / length));
            row[i - 1] = length;
            self.inverse[i - 1] = 1.0 / length;
            write += i; // the cleared entry is overwritten by the next row
        }
        self.packed.truncate(write);
        turn(&mut self.carried, &rotations);
        self.carried.truncate(size - 1);
        self.inverse.truncate(size - 1);
    }

    /// `x ← R⁻ᵀ x`.
    fn backward(&self, x: &mut [f64]) {
        let whole = self.size() - self.size() % BLOCK;
        vectorized(
            #[inline(always)]
            || {
                for i in (whole..self.size()).rev() {
                    x[i] *= self.inverse[i];
                    let (rest, last) = x.split_at_mut(i);
                    subtract([self.row(i, i)], &[last[0]], rest);
                }
                for start in (0..whole).step_by(BLOCK).rev() {
                    let (rest, last) = x.split_at_mut(start);
                    if let (Some(x), Some(inverse)) =
                        (last.first_chunk_mut::<BLOCK>(), self.inverse[start..].first_chunk::<BLOCK>())
                    {
                        let triangle = triangle(&self.packed, start);
                        for i in (0..BLOCK).rev() {
                            x[i] *= inverse[i];
                            for above in 0..i {
                                x[above] -= triangle[i][above] * x[i];
                            }
                        }
                        subtract(std::array::from_fn(|r| self.row(start + r, start)), x, rest);
                    }
                }
            },
        );
    }

    /// `x ← G_𝒜⁻¹ x`.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        forward(&self.packed, &self.inverse, x);
        self.backward(x);
    }

    /// Writes `G_𝒜⁻¹ r` for the right-hand side that is carried along.
    pub(crate) fn solution(&self, x: &mut Vec<f64>) {
        x.clone_from(&self.carried);
        self.backward(x);
    }

    /// `rᵀ G_𝒜⁻¹ r` for the right-hand side that is carried along.
    pub(crate) fn carried_square(&self) -> f64 {
        dot(&self.carried, &self.carried)
    }
}

/// `x ← R⁻¹ x` for the packed rows of R and one over its diagonal.
fn forward(packed: &[f64], inverse: &[f64], x: &mut [f64]) {
    let size = inverse.len();
    let whole = size - size % BLOCK;
    let row = |i: usize, len: usize| &packed[start_of_row(i)..][..len];
    vectorized(
        #[inline(always)]
        || {
            for start in (0..whole).step_by(BLOCK) {
                let (known, unknown) = x.split_at_mut(start);
                let above = four_dots(std::array::from_fn(|r| row(start + r, start)), known);
                let below = four_dots(std::array::from_fn(|r| row(start + 4 + r, start)), known);
                if let (Some(x), Some(inverse)) =
                    (unknown.first_chunk_mut::<BLOCK>(), inverse[start..].first_chunk::<BLOCK>())
                {
                    x.iter_mut().zip(above.into_iter().chain(below)).for_each(|(x, sum)| *x -= sum);
                    let triangle = triangle(packed, start);
                    for i in 0..BLOCK {
                        for before in 0..i {
                            x[i] -= triangle[i][before] * x[before];
                        }
                        x[i] *= inverse[i];
                    }
                }
            }
            for i in whole..size {
                let (known, unknown) = x.split_at_mut(i);
                unknown[0] = (unknown[0] - dot_inline(row(i, i), known)) * inverse[i];
            }
        },
    );
}

/// Rows of R that are solved for together.
const BLOCK: usize = 8;

/// The square of R on its diagonal from row `start` on; what is right of the diagonal has no meaning.
#[inline(always)]
fn triangle(packed: &[f64], start: usize) -> [[f64; BLOCK]; BLOCK] {
    let row = |r: usize| packed[start_of_row(start + r) + start..].first_chunk::<BLOCK>();
    std::array::from_fn(|r| row(r).copied().unwrap_or_default())
}

/// `out ← out − Σᵣ x[r] · row r`. To be called inside [`vectorized`].
#[inline(always)]
fn subtract<const R: usize>(rows: [&[f64]; R], x: &[f64; R], out: &mut [f64]) {
    const LANES: usize = 8;
    let rows = rows.map(|row| row[..out.len()].as_chunks::<LANES>());
    let (out, tail) = out.as_chunks_mut::<LANES>();
    for (k, out) in out.iter_mut().enumerate() {
        let mut sums = [0.0; LANES];
        for (x, (row, _)) in x.iter().zip(&rows) {
            for l in 0..LANES {
                sums[l] += x * row[k][l];
            }
        }
        for l in 0..LANES {
            out[l] -= sums[l];
        }
    }
    for (k, out) in tail.iter_mut().enumerate() {
        *out -= x.iter().zip(&rows).fold(0.0, |sum, (x, (_, tail))| sum + x * tail[k]);
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
        for (k, &j) in variables.iter().enumerate().skip(factor.size()) {
            let cross: Vec<f64> = variables[..k].iter().map(|&i| g[(i, j)]).collect();
            factor.append(&cross, g[(j, j)], 1.0 + j as f64).unwrap();
        }
    }

    fn residual(factor: &Cholesky, g: &Mat<f64>, variables: &[usize]) -> f64 {
        let mut x: Vec<f64> = (0..variables.len()).map(|i| 1.0 + i as f64).collect();
        factor.solve(&mut x);
        let mut carried: Vec<f64> = variables.iter().map(|&j| 1.0 + j as f64).collect();
        factor.solve(&mut carried);
        let mut solution = Vec::new();
        factor.solution(&mut solution);
        let apart = carried.iter().zip(solution).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "what is carried along strays by {apart}");
        let back =
            |k: usize| -> f64 { variables.iter().zip(&x).map(|(&j, x)| g[(variables[k], j)] * x).sum() };
        (0..variables.len()).map(|k| (back(k) - 1.0 - k as f64).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn append_and_delete_anywhere() {
        for n in [1, 2, 5, 23] {
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
        factor.append(&[], 4.0, 1.0).unwrap();
        assert!(factor.append(&[4.0], 4.0, 1.0).unwrap_err().relative_distance.abs() < 1e-15);
        assert!(factor.append(&[8.0], 4.0, 1.0).unwrap_err().relative_distance < -1.0);
        assert!(factor.append(&[0.0], 0.0, 1.0).is_err());
        assert_eq!(factor.size(), 1);
    }
}
