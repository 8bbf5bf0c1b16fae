//! The class target of sparse data.
//!
//! Class centres are few, and so are dense. Whitening them needs `M = S_w + γ (tr S_w / r) I`, p×p, but not as a matrix: with
//! the centres `C = U S Vᵀ` and the small `H = VᵀM⁻¹V = R Rᵀ`, the whitened centres are the rows of `U S R`, up to a
//! rotation that the target does not see. The columns of `M⁻¹V` come from conjugate gradients; `S_w = XᵀPX`, where P takes
//! the mean of its class off every sample, is two sparse products.

use faer::Mat;
use rayon::prelude::*;

use super::{Columns, Implicit};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::linalg::{column, from_columns, thin_svd};
use crate::monitor::{Monitor, Stage, proceed};
use crate::sparse::SparseMatrix;
use crate::target::{TargetKind, placed, whitened::rotated};

/// Right-hand sides that are solved side by side.
const LANES: usize = 4;

/// The relative residual at which conjugate gradients stop, after how many iterations they stop in any case, and the
/// residual that is accepted then.
const TOLERANCE: f64 = 1e-13;
const LONGEST: usize = 10_000;
const ACCEPTED: f64 = 1e-9;

/// As [`crate::target::target`]. In `whitened`, r is the largest rank the data can have: the number of samples less one,
/// or of variables that are not constant.
///
/// # Errors
/// When the class centres coincide, have fewer directions than `components`, whitening does not converge, or `monitor`
/// asks to stop.
pub fn target(
    data: &Dataset<'_>,
    implicit: &Implicit,
    kind: TargetKind,
    shrinkage: f64,
    components: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Mat<f64>> {
    let centres = class_centres(data, &implicit.columns);
    let size = implicit.norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
    let (centres, size) = match kind {
        TargetKind::Centres => (centres, size),
        TargetKind::Whitened => whitened(data, implicit, centres, size, shrinkage, monitor)?,
    };
    placed(data, &centres, size, components)
}

/// Class means of the centred columns, one row a class.
fn class_centres(data: &Dataset<'_>, columns: &Columns) -> Mat<f64> {
    let mut centres = Mat::zeros(data.classes().len(), columns.columns());
    let sizes: Vec<f64> = (0..data.classes().len()).map(|class| data.members(class).len() as f64).collect();
    for j in 0..columns.columns() {
        columns.entries.row(j).for_each(|(i, value)| centres[(data.class_of(i), j)] += value);
        for (class, size) in sizes.iter().enumerate() {
            centres[(class, j)] = centres[(class, j)] / size + columns.base[j];
        }
    }
    centres
}

/// Whitened centres, and the size of what they are means of.
fn whitened(
    data: &Dataset<'_>,
    implicit: &Implicit,
    centres: Mat<f64>,
    size: f64,
    shrinkage: f64,
    monitor: &dyn Monitor,
) -> Result<(Mat<f64>, f64)> {
    let columns = &implicit.columns;
    let mut diagonal = within_squares(data, columns, &centres);
    let trace: f64 = diagonal.iter().sum();
    let svd = thin_svd(centres.as_ref())?;
    if trace <= 1e-24 * size * size || svd.s.is_empty() {
        return Ok((centres, size));
    }
    let varying = implicit.norms.iter().filter(|&&norm| norm > 0.0).count();
    let rank = varying.min(data.samples() - 1) as f64;
    let shift = shrinkage * trace / rank;
    diagonal.iter_mut().for_each(|d| *d += shift);
    let (entries, rows) = (&columns.entries, columns.entries.transpose());
    let within = Within { entries, rows, data, shrinkage, shift, diagonal };
    let r = svd.s.len();
    let mut solved = Vec::with_capacity(r);
    for start in (0..r).step_by(LANES) {
        let lanes = LANES.min(r - start);
        let v = |l: usize| column(&svd.v, start + l);
        if lanes == 1 {
            solved.extend(within.solve::<1>([v(0)], monitor)?);
        } else {
            // The last may be solved twice.
            let found = within.solve::<LANES>(std::array::from_fn(|l| v(l.min(lanes - 1))), monitor)?;
            solved.extend(found.into_iter().take(lanes));
        }
    }
    let solved = from_columns(columns.columns(), &solved);
    let centres = rotated(&svd, solved.as_ref()).ok_or_else(|| within.trouble("is singular"))?;
    let between: f64 = (0..centres.nrows())
        .map(|class| data.members(class).len() as f64 * centres.row(class).squared_norm_l2())
        .sum();
    Ok((centres, (rank + between).sqrt()))
}

/// The diagonal of `S_w`: of every variable the squares of what its values differ from the mean of their class by.
fn within_squares(data: &Dataset<'_>, columns: &Columns, centres: &Mat<f64>) -> Vec<f64> {
    let classes = data.classes().len();
    (0..columns.columns())
        .into_par_iter()
        .map_init(
            || vec![0; classes],
            |seen, j| {
                let mean = |class: usize| centres[(class, j)] - columns.base[j];
                seen.fill(0);
                let mut sum = 0.0;
                for (i, value) in columns.entries.row(j) {
                    let class = data.class_of(i);
                    sum += (value - mean(class)).powi(2);
                    seen[class] += 1;
                }
                let zeros = |class: usize| (data.members(class).len() - seen[class]) as f64;
                sum + (0..classes)
                    .filter(|&class| seen[class] > 0)
                    .map(|c| zeros(c) * mean(c).powi(2))
                    .sum::<f64>()
            },
        )
        .collect()
}

/// `M = S_w + shift I`.
struct Within<'a> {
    /// The variables in rows, and the samples in rows. Means of classes need no base.
    entries: &'a SparseMatrix,
    rows: SparseMatrix,
    data: &'a Dataset<'a>,
    shrinkage: f64,
    shift: f64,
    diagonal: Vec<f64>,
}

impl Within<'_> {
    /// `M v = XᵀPX v + shift v`.
    fn apply<const L: usize>(&self, v: &[[f64; L]]) -> Vec<[f64; L]> {
        let mut scores = self.rows.multiply(v, |_| [0.0; L]);
        for class in 0..self.data.classes().len() {
            let members = self.data.members(class);
            let mut mean = [0.0; L];
            for &i in members {
                for l in 0..L {
                    mean[l] += scores[i][l];
                }
            }
            for &i in members {
                for l in 0..L {
                    scores[i][l] -= mean[l] / members.len() as f64;
                }
            }
        }
        self.entries.multiply(&scores, |j| v[j].map(|v| self.shift * v))
    }

    /// `M⁻¹ b` by conjugate gradients, preconditioned by the diagonal.
    fn solve<const L: usize>(&self, b: [&[f64]; L], monitor: &dyn Monitor) -> Result<[Vec<f64>; L]> {
        let p = self.diagonal.len();
        let b: Vec<[f64; L]> = (0..p).map(|j| b.map(|b| b[j])).collect();
        let mut x = vec![[0.0; L]; p];
        let mut r = b.clone();
        let mut z = self.preconditioned(&r);
        let mut d = z.clone();
        let (mut rz, size) = (inner(&r, &z), inner(&b, &b));
        let mut left = size;
        for _ in 0..LONGEST {
            proceed(monitor, Stage::Target)?;
            let moving: [bool; L] = std::array::from_fn(|l| left[l] > TOLERANCE * TOLERANCE * size[l]);
            if !moving.contains(&true) {
                break;
            }
            let q = self.apply(&d);
            let dq = inner(&d, &q);
            let step: [f64; L] = std::array::from_fn(|l| if moving[l] { rz[l] / dq[l] } else { 0.0 });
            for j in 0..p {
                for l in 0..L {
                    x[j][l] += step[l] * d[j][l];
                    r[j][l] -= step[l] * q[j][l];
                }
            }
            left = inner(&r, &r);
            z = self.preconditioned(&r);
            let next = inner(&r, &z);
            for j in 0..p {
                for l in 0..L {
                    d[j][l] = z[j][l] + if moving[l] { next[l] / rz[l] * d[j][l] } else { 0.0 };
                }
            }
            rz = next;
        }
        let image = self.apply(&x);
        let rest: Vec<[f64; L]> =
            image.iter().zip(&b).map(|(image, b)| std::array::from_fn(|l| image[l] - b[l])).collect();
        let rest = inner(&rest, &rest);
        let residuals: [f64; L] = std::array::from_fn(|l| (rest[l] / size[l]).sqrt());
        if let Some(residual) = residuals.iter().find(|&&left| left.is_nan() || left > ACCEPTED) {
            return Err(self.trouble(&format!("left a relative residual of {residual:.1e}")));
        }
        Ok(std::array::from_fn(|l| x.iter().map(|x| x[l]).collect()))
    }

    fn preconditioned<const L: usize>(&self, r: &[[f64; L]]) -> Vec<[f64; L]> {
        r.iter().zip(&self.diagonal).map(|(r, d)| r.map(|r| r / d)).collect()
    }

    fn trouble(&self, what: &str) -> Error {
        let detail =
            format!("the within-class covariance {what}; raise target_shrinkage above {}", self.shrinkage);
        Error::Numerical { what: "whitening", detail }
    }
}

/// The inner products of vectors side by side.
fn inner<const L: usize>(x: &[[f64; L]], y: &[[f64; L]]) -> [f64; L] {
    let mut sum = [0.0; L];
    for (x, y) in x.iter().zip(y) {
        for l in 0..L {
            sum[l] += x[l] * y[l];
        }
    }
    sum
}
