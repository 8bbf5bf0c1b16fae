//! Whitened centres of sparse samples.
//!
//! `M = S_w + s I` is p×p, and never formed. With the centres `C = U S Vᵀ` the columns of `M⁻¹V` come from conjugate
//! gradients; `S_w = XᵀDPX`, where P takes the mean of its class off every sample and D are the weights, is two sparse products.

use rayon::prelude::*;

use super::{WhiteningOutcome, rotated, singular};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stage, proceed};
use crate::numerics::conjugate_gradients::{LinearSystem, conjugate_gradients, squares_by};
use crate::numerics::linalg::{column, from_columns, thin_svd};
use crate::numerics::sparse::SparseMatrix;
use crate::preprocess::SparseColumns;
use faer::Mat;

/// Right-hand sides that are solved side by side.
const LANES: usize = 4;

/// The relative residual at which conjugate gradients stop, and the one that is accepted when they end before.
const TOLERANCE: f64 = 1e-13;
const ACCEPTED: f64 = 1e-9;

/// The whitened centres, for samples of this largest possible rank.
///
/// # Errors
/// When the iteration does not converge, or `monitor` asks to stop.
pub(super) fn by_gradients(
    (data, columns, means): (&Dataset<'_>, &SparseColumns, &Mat<f64>),
    centres: &Mat<f64>,
    (rank, total): (usize, f64),
    shrinkage: f64,
    monitor: &dyn Monitor,
) -> Result<WhiteningOutcome> {
    let mut diagonal = within_squares(data, columns, means);
    let trace: f64 = diagonal.iter().sum();
    let svd = thin_svd(centres.as_ref())?;
    if trace <= 1e-24 * total || svd.s.is_empty() {
        return Ok(WhiteningOutcome::NoSpread);
    }
    let shift = shrinkage * trace / rank as f64;
    diagonal.iter_mut().for_each(|d| *d += shift);
    let (entries, rows) = (&columns.entries, columns.entries.transpose());
    let within = ShiftedScatter { entries, rows, data, shrinkage, shift, diagonal, monitor };
    let r = svd.s.len();
    let mut solved = Vec::with_capacity(r);
    for start in (0..r).step_by(LANES) {
        let lanes = LANES.min(r - start);
        let v = |l: usize| column(&svd.v, start + l);
        if lanes == 1 {
            solved.extend(within.solve::<1>([v(0)])?);
        } else {
            // The last may be solved twice.
            let found = within.solve::<LANES>(std::array::from_fn(|l| v(l.min(lanes - 1))))?;
            solved.extend(found.into_iter().take(lanes));
        }
    }
    let solved = from_columns(columns.count(), &solved);
    let centres = rotated(&svd, solved.as_ref()).ok_or_else(|| singular(shrinkage))?;
    Ok(WhiteningOutcome::Whitened { centres, rank })
}

/// The diagonal of `S_w`: of every variable the squares of what its values differ from the mean of their class by.
fn within_squares(data: &Dataset<'_>, columns: &SparseColumns, centres: &Mat<f64>) -> Vec<f64> {
    let masses = data.masses();
    (0..columns.count())
        .into_par_iter()
        .map_init(
            || vec![0.0; masses.len()],
            |seen, j| {
                let mean = |class: usize| centres[(class, j)] - columns.base[j];
                seen.fill(0.0);
                let mut sum = 0.0;
                for (i, value) in columns.entries.row(j) {
                    let (class, weight) = (data.class_of(i), data.weight(i));
                    sum += weight * (value - mean(class)).powi(2);
                    seen[class] += weight;
                }
                let zeros = |class: usize| (masses[class] - seen[class]).max(0.0);
                sum + (0..masses.len())
                    .filter(|&class| seen[class] > 0.0)
                    .map(|c| zeros(c) * mean(c).powi(2))
                    .sum::<f64>()
            },
        )
        .collect()
}

/// `M = S_w + shift I`.
struct ShiftedScatter<'a> {
    /// The variables in rows, and the samples in rows. Means of classes need no base.
    entries: &'a SparseMatrix,
    rows: SparseMatrix,
    data: &'a Dataset<'a>,
    shrinkage: f64,
    shift: f64,
    diagonal: Vec<f64>,
    monitor: &'a dyn Monitor,
}

impl ShiftedScatter<'_> {
    /// `M v = XᵀPX v + shift v`.
    fn apply<const L: usize>(&self, v: &[[f64; L]]) -> Vec<[f64; L]> {
        let mut scores = self.rows.multiply(v, |_| [0.0; L]);
        for class in 0..self.data.classes().len() {
            let (members, mass) = (self.data.members(class), self.data.mass(class));
            let mut mean = [0.0; L];
            for &i in members {
                for l in 0..L {
                    mean[l] += self.data.weight(i) * scores[i][l];
                }
            }
            for &i in members {
                for l in 0..L {
                    scores[i][l] = self.data.weight(i) * (scores[i][l] - mean[l] / mass);
                }
            }
        }
        self.entries.multiply(&scores, |j| v[j].map(|v| self.shift * v))
    }

    /// `M⁻¹ b`.
    fn solve<const L: usize>(&self, b: [&[f64]; L]) -> Result<[Vec<f64>; L]> {
        let p = self.diagonal.len();
        let b: Vec<[f64; L]> = (0..p).map(|j| b.map(|b| b[j])).collect();
        let x = conjugate_gradients(self, b.clone(), [TOLERANCE; L])?;
        let image = self.apply(&x);
        let rest: Vec<[f64; L]> =
            image.iter().zip(&b).map(|(image, b)| std::array::from_fn(|l| image[l] - b[l])).collect();
        let (rest, size) = (squares_by(p, &rest), squares_by(p, &b));
        let residuals: [f64; L] = std::array::from_fn(|l| (rest[l] / size[l]).sqrt());
        if let Some(residual) = residuals.iter().find(|&&left| left.is_nan() || left > ACCEPTED) {
            let what = format!("left a relative residual of {residual:.1e}");
            let detail = format!(
                "the within-class covariance {what}; raise target.shrinkage above {}",
                self.shrinkage
            );
            return Err(Error::Numerical { what: "whitening", detail });
        }
        Ok(std::array::from_fn(|l| x.iter().map(|x| x[l]).collect()))
    }
}

/// Preconditioned by the diagonal.
impl<const L: usize> LinearSystem<f64, L> for ShiftedScatter<'_> {
    const TERMS: usize = usize::MAX;
    const PRECONDITIONED: bool = true;

    fn multiply(&self, p: &[[f64; L]], q: &mut [[f64; L]]) -> Result<[f64; L]> {
        proceed(self.monitor, Stage::Target)?;
        q.copy_from_slice(&self.apply(p));
        let mut products = [0.0; L];
        for (p, q) in p.iter().zip(q) {
            for l in 0..L {
                products[l] += p[l] * q[l];
            }
        }
        Ok(products)
    }

    #[inline(always)]
    fn precondition(&self, j: usize, r: [f64; L]) -> [f64; L] {
        r.map(|r| r / self.diagonal[j])
    }
}
