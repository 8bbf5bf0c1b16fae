//! Where the dense baselines live: the principal axes of the data, and eigenproblems posed there.
//!
//! With the thin SVD `X = U diag(s) Vᵀ`, cut at a rank r, a sample is a row of `T = U diag(s)` and an axis `a` in this
//! space is `w = V a` in the space of the variables, of the same length. Every baseline here ends in the same way:
//!
//! - eigenvalues that differ by less than 1e-8 of themselves, or by rounding, are one eigenvalue. Any basis of its eigenspace would do for the
//!   definition, so one is chosen: orthonormal in PCA space, ordered by total variance `‖T a‖²`, the largest first;
//! - every axis has length 1;
//! - its entry of largest size in W is positive.

use faer::{Mat, MatRef};

use super::leading::leading_svd;
use crate::dataset::Dataset;
use crate::error::{Error, Result, at_least_one};
use crate::numerics::linalg::{
    ThinSvd, column, left_svd, product, symmetric_eigen, symmetric_product, thin_svd,
};
use crate::numerics::sparse::{SparseSymmetric, SparseVector};
use crate::preprocess::Centred;
use crate::projection::Projection;

/// Eigenvalues nearer than this, relative to themselves, are equal.
const EQUAL: f64 = 1e-8;

/// Eigenvalues nearer than this, relative to the largest, are equal too: zeros never agree relative to themselves.
const ROUNDING: f64 = 1e-11;

/// A direction of a constraint matrix with an eigenvalue below this part of the largest is not constrained by it.
const UNCONSTRAINED: f64 = 1e-12;

/// The data on their principal axes.
pub(super) struct PcaSpace<'a> {
    /// The data, centred.
    pub(super) pre: Centred<'a>,
    /// Scores of length 1, n×r.
    pub(super) u: Mat<f64>,
    /// Singular values, falling.
    pub(super) s: Vec<f64>,
    v: Mat<f64>,
}

impl<'a> PcaSpace<'a> {
    /// The space of the first `rank` principal axes, fewer if the data have fewer.
    pub(super) fn new(data: &'a Dataset<'_>, rank: Option<usize>) -> Result<Self> {
        at_least_one("pca_rank", rank)?;
        let pre = Centred::new(data, None)?;
        let mut svd = thin_svd(pre.dense()?.as_ref())?;
        let r = svd.s.len().min(rank.unwrap_or(usize::MAX));
        svd.u.truncate(data.samples(), r);
        svd.v.truncate(data.variables(), r);
        svd.s.truncate(r);
        Ok(PcaSpace { pre, u: svd.u, s: svd.s, v: svd.v })
    }

    /// The space of the first `count` principal axes, without computing the others where that is cheaper: the axes are
    /// then those of [`Self::new`] up to rounding, not to the bit.
    pub(super) fn leading(data: &'a Dataset<'_>, count: usize) -> Result<Self> {
        let pre = Centred::new(data, None)?;
        let ThinSvd { u, s, v } = match leading_svd(pre.dense()?.as_ref(), count)? {
            Some(svd) => svd,
            None => thin_svd(pre.dense()?.as_ref())?,
        };
        Ok(PcaSpace { pre, u, s, v })
    }

    /// The scores `T = U diag(s)`.
    pub(super) fn scores(&self) -> Mat<f64> {
        Mat::from_fn(self.u.nrows(), self.s.len(), |i, k| self.u[(i, k)] * self.s[k])
    }

    /// `UᵀLU`.
    pub(super) fn compress(&self, laplacian: &SparseSymmetric) -> Mat<f64> {
        symmetric_product(self.u.as_ref(), laplacian.product(self.u.as_ref()).as_ref())
    }

    /// Vectors given for scores of length 1 as vectors for the scores themselves: `diag(s)⁻¹ b`.
    pub(super) fn unscaled(&self, b: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(b.nrows(), b.ncols(), |i, k| b[(i, k)] / self.s[i])
    }

    /// The projection on the first `components` of `axes` (columns, in PCA space, best first), one for each of `values`.
    pub(super) fn project(
        self,
        values: &[f64],
        axes: &Mat<f64>,
        components: Option<usize>,
    ) -> Result<Projection> {
        let scores =
            |axes: &Mat<f64>| Mat::from_fn(axes.nrows(), axes.ncols(), |i, k| self.s[i] * axes[(i, k)]);
        let a = settled(values, axes, scores)?;
        let d = components.unwrap_or(usize::MAX).min(a.ncols());
        let w = product(self.v.as_ref(), a.subcols(0, d));
        Projection::new(self.pre.mean().to_vec(), (0..d).map(|k| signed(column(&w, k))).collect())
    }
}

/// The axis, with the sign that makes its largest entry positive (the first among nearly equal ones).
pub(super) fn signed(axis: &[f64]) -> SparseVector {
    let largest = axis.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let sign = axis.iter().find(|x| x.abs() >= (1.0 - 1e-8) * largest).map_or(1.0, |x| x.signum());
    SparseVector::from_dense(axis).map(|_, x| sign * x)
}

/// Eigenvalues in rising order and vectors of `N b = λ B b`. Directions that B does not constrain (it is singular where a
/// sample has no neighbour) are left out: N is zero there too, and they would be noise.
pub(super) fn constrained_eigen(n: &Mat<f64>, b: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let (sizes, q) = symmetric_eigen(b.as_ref())?;
    let least = UNCONSTRAINED * sizes.last().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..sizes.len()).filter(|&k| sizes[k] > least).collect();
    if kept.is_empty() {
        return Err(Error::Degenerate("no sample has a neighbour".to_owned()));
    }
    let c = Mat::from_fn(q.nrows(), kept.len(), |i, k| q[(i, kept[k])] / sizes[kept[k]].sqrt());
    let inner = symmetric_product(c.as_ref(), product(n.as_ref(), c.as_ref()).as_ref());
    let (values, y) = symmetric_eigen(inner.as_ref())?;
    Ok((values, product(c.as_ref(), y.as_ref())))
}

/// The axes that the module's head describes: orthonormal and ordered by variance within an eigenspace.
/// `image` maps a basis to what its columns make of the data, whose squared length is their variance.
fn settled(values: &[f64], axes: &Mat<f64>, image: impl Fn(&Mat<f64>) -> Mat<f64>) -> Result<Mat<f64>> {
    let scale = values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let equal = |a: f64, b: f64| (a - b).abs() <= (EQUAL * a.abs().max(b.abs())).max(ROUNDING * scale);
    let mut out = Mat::zeros(axes.nrows(), 0);
    let mut start = 0;
    while start < values.len() {
        let mut end = start + 1;
        while end < values.len() && equal(values[end - 1], values[end]) {
            end += 1;
        }
        let space = by_variance(axes.subcols(start, end - start), &image)?;
        let at = out.ncols();
        out.resize_with(axes.nrows(), at + space.ncols(), |i, k| space[(i, k - at)]);
        start = end;
    }
    Ok(out)
}

/// An orthonormal basis of the span of `axes` whose images are uncorrelated, the longest first.
fn by_variance(axes: MatRef<'_, f64>, image: impl Fn(&Mat<f64>) -> Mat<f64>) -> Result<Mat<f64>> {
    // Columns of one length, or a short one would count as dependent.
    let lengths: Vec<f64> = axes.col_iter().map(|a| a.norm_l2()).collect();
    let unit = Mat::from_fn(axes.nrows(), axes.ncols(), |i, k| axes[(i, k)] / lengths[k]);
    if unit.ncols() == 1 {
        return Ok(unit);
    }
    let basis = left_svd(unit.as_ref())?.u;
    let seen = image(&basis);
    let (_, turn) = symmetric_eigen(symmetric_product(seen.as_ref(), seen.as_ref()).as_ref())?;
    Ok(product(basis.as_ref(), turn.as_ref().reverse_cols()))
}

/// The `components` eigenvectors of a graph's matrix with the smallest eigenvalues, orthogonal to the constant, as columns
/// of length √n; inside an eigenspace, by the variance that the data `x` have along them.
pub(super) fn graph_embedding(
    laplacian: &SparseSymmetric,
    x: &Mat<f64>,
    components: usize,
) -> Result<Mat<f64>> {
    let n = laplacian.dim();
    // The constant is an eigenvector with eigenvalue 0: moved beyond all others, it comes last.
    let lift = (2.0 * laplacian.spectrum_bound() + 1.0) / n as f64;
    let dense = laplacian.to_dense();
    let lifted = Mat::from_fn(n, n, |i, j| dense[(i, j)] + lift);
    let (values, vectors) = symmetric_eigen(lifted.as_ref())?;
    let (values, vectors) = (&values[..n - 1], vectors.subcols(0, n - 1).to_owned());
    let y = settled(values, &vectors, |axes| product(x.transpose(), axes.as_ref()))?;
    let d = components.min(y.ncols());
    Ok(Mat::from_fn(n, d, |i, k| y[(i, k)] * (n as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any basis of an eigenspace leads to the same axes.
    #[test]
    fn rotations_of_a_degenerate_eigenspace_change_nothing() {
        let n = 7;
        let x =
            Mat::from_fn(n, n, |i, j| ((i * i * 3 + j * j * 5 + 7 * i * j) % 11) as f64 + f64::from(i == j));
        let q = thin_svd(x.as_ref()).unwrap().u;
        let values = [0.0, 1e-12, -1e-12, 2.0, 3.0, 3.0 + 1e-9, 7.0];
        let s = [9.0, 5.0, 4.0, 2.5, 2.0, 1.0, 0.5];
        let image = |axes: &Mat<f64>| Mat::from_fn(axes.nrows(), axes.ncols(), |i, k| s[i] * axes[(i, k)]);
        let settle = |axes: &Mat<f64>| settled(&values, axes, image).unwrap();
        let before = settle(&q);
        // Turn the first three among themselves, and the fifth with the sixth.
        let (c, d) = (0.6, 0.8);
        let mut turn: Mat<f64> = Mat::identity(n, n);
        (turn[(0, 0)], turn[(0, 1)], turn[(1, 0)], turn[(1, 1)]) = (c, -d, d, c);
        let mut more: Mat<f64> = Mat::identity(n, n);
        (more[(1, 1)], more[(1, 2)], more[(2, 1)], more[(2, 2)]) = (d, -c, c, d);
        (more[(4, 4)], more[(4, 5)], more[(5, 4)], more[(5, 5)]) = (c, -d, d, c);
        // Lengths do not matter either.
        let scaled = Mat::from_fn(n, n, |i, j| (&turn * &more)[(i, j)] * if j < 3 { 1.0 } else { 1e-6 });
        let after = settle(&(&q * scaled));
        for k in 0..n {
            let cosine: f64 = (0..n).map(|i| before[(i, k)] * after[(i, k)]).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-12, "axis {k}: {cosine}");
        }
        let wide: Vec<f64> = (0..3).map(|k| image(&before).col(k).norm_l2()).collect();
        assert!(wide.is_sorted_by(|a, b| a >= b), "{wide:?}");
    }
}
