//! Decompositions, each on one thread.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::*;
use crate::error::{Error, Result};

/// The lower Cholesky factor of a symmetric matrix (its lower half is read), or `None` if it is not positive
/// definite.
pub(crate) fn cholesky(a: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let n = a.nrows();
    let mut l = Mat::zeros(n, n);
    l.copy_from_triangular_lower(a);
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(l.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
    for j in 1..n {
        l.col_mut(j).subrows_mut(0, j).fill(0.0);
    }
    Some(l)
}

/// The pivots of a Cholesky factorization that takes the largest first, until the rest is rounding; `None` if a value is NaN. The lower half of the positive semidefinite `a` is read.
pub(crate) fn pivots(mut a: Mat<f64>) -> Option<Vec<f64>> {
    use faer::linalg::cholesky::llt_pivoting::factor;
    let n = a.ncols();
    let (mut order, mut back) = (vec![0_usize; n], vec![0_usize; n]);
    let scratch = factor::cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (info, _) =
        factor::cholesky_in_place(a.as_mut(), &mut order, &mut back, Par::Seq, stack, Default::default())
            .ok()?;
    Some((0..info.rank).map(|k| a[(k, k)] * a[(k, k)]).collect())
}

/// `b ← (L Lᵀ)⁻¹ b` for a lower factor `L`, tiled over columns.
pub(crate) fn cholesky_solve(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
    b.par_column_tiles().for_each(|mut tile| {
        solve_lower_triangular_in_place(l, tile.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(l.transpose(), tile, Par::Seq);
    });
}

/// `b ← L⁻¹ b` for a lower factor `L`.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    faer::linalg::triangular_solve::solve_lower_triangular_in_place(l, b, Par::Seq);
}

/// Eigenvalues in rising order and their orthonormal vectors, of a symmetric matrix.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    let scratch =
        evd::self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    evd::self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|e| Error::Numerical { what: "the symmetric eigenproblem", detail: format!("{e:?}") })?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// The thin singular value decomposition, cut to its numerical rank: `a = u diag(s) vᵀ`.
#[derive(Debug)]
pub(crate) struct ThinSvd {
    pub(crate) u: Mat<f64>,
    pub(crate) s: Vec<f64>,
    pub(crate) v: Mat<f64>,
}

/// Singular values below this fraction of the largest are rounding.
const RANK_TOLERANCE: f64 = 1e-12;

/// The thin SVD of `a`, singular values falling, cut where they become rounding error.
pub(crate) fn thin_svd(a: MatRef<'_, f64>) -> Result<ThinSvd> {
    svd_with(a, ComputeSvdVectors::Thin)
}

/// As [`thin_svd`] without the right vectors: `v` has no columns. Of a wide matrix `a = Rᵀ Qᵀ`, that of the triangle.
pub(crate) fn left_svd(a: MatRef<'_, f64>) -> Result<ThinSvd> {
    let triangle = (a.ncols() > 2 * a.nrows()).then(|| upper_triangle(a.transpose()));
    svd_with(triangle.as_ref().map_or(a, |triangle| triangle.transpose()), ComputeSvdVectors::No)
}

/// The singular values of `a`, falling, cut where they become rounding error. Of a tall matrix, those of the triangle of
/// its QR decomposition.
pub(crate) fn singular_values(a: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let triangle = (a.nrows() > 2 * a.ncols()).then(|| upper_triangle(a));
    let a = triangle.as_ref().map_or(a, |triangle| triangle.as_ref());
    Ok(left_svd(a)?.s)
}

/// R of `a = Q R`, for more rows than columns: that of blocks of rows, then that of their triangles.
pub(crate) fn upper_triangle(a: MatRef<'_, f64>) -> Mat<f64> {
    let (m, n) = a.shape();
    let rows = (8 * n).max(1024);
    if m <= 2 * rows {
        return triangle(a.to_owned());
    }
    let starts: Vec<usize> = (0..m / rows).map(|k| k * rows).collect();
    let triangles: Vec<Mat<f64>> = starts
        .into_par_iter()
        .map(|start| {
            // The last takes what is left.
            let end = if start + 2 * rows > m { m } else { start + rows };
            triangle(a.subrows(start, end - start).to_owned())
        })
        .collect();
    triangle(Mat::from_fn(triangles.len() * n, n, |i, j| triangles[i / n][(i % n, j)]))
}

/// R of `a = Q R`, on one thread.
fn triangle(mut a: Mat<f64>) -> Mat<f64> {
    use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
    let (m, n) = a.shape();
    let block = recommended_block_size::<f64>(m, n);
    let mut coefficients = Mat::zeros(block, n);
    let mut memory = MemBuffer::new(qr_in_place_scratch::<f64>(m, n, block, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    qr_in_place(a.as_mut(), coefficients.as_mut(), Par::Seq, stack, Default::default());
    Mat::from_fn(n, n, |i, j| if i <= j { a[(i, j)] } else { 0.0 })
}

fn svd_with(a: MatRef<'_, f64>, right: ComputeSvdVectors) -> Result<ThinSvd> {
    let (m, n) = a.shape();
    let size = m.min(n);
    let with_v = right == ComputeSvdVectors::Thin;
    let mut s = Diag::zeros(size);
    let (mut u, mut v) = (Mat::zeros(m, size), Mat::zeros(n, if with_v { size } else { 0 }));
    let scratch = svd::svd_scratch::<f64>(m, n, ComputeSvdVectors::Thin, right, Par::Seq, Default::default());
    svd::svd(
        a,
        s.as_mut(),
        Some(u.as_mut()),
        with_v.then(|| v.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|e| Error::Numerical { what: "the singular value decomposition", detail: format!("{e:?}") })?;
    let s: Vec<f64> = s.column_vector().iter().copied().collect();
    let largest = s.first().copied().unwrap_or(0.0);
    let rank = s.iter().take_while(|&&x| x > RANK_TOLERANCE * largest).count();
    u.truncate(m, rank);
    if with_v {
        v.truncate(n, rank);
    }
    Ok(ThinSvd { u, s: s[..rank].to_vec(), v })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(m: usize, n: usize) -> Mat<f64> {
        Mat::from_fn(m, n, |i, j| ((i * 7919 + j * 104_729) % 1009) as f64 / 500.0 - 1.0)
    }

    #[test]
    fn decompositions_rebuild_their_matrix() {
        let x = sample(30, 12);
        let mut g = x.transpose() * &x;
        for i in 0..12 {
            g[(i, i)] += 1.0;
        }
        let l = cholesky(g.as_ref()).unwrap();
        assert!((&l * l.transpose() - &g).norm_max() < 1e-12);
        let mut inverse = Mat::identity(12, 12);
        cholesky_solve(l.as_ref(), inverse.as_mut());
        assert!((&g * &inverse - Mat::<f64>::identity(12, 12)).norm_max() < 1e-12);
        let (values, vectors) = symmetric_eigen(g.as_ref()).unwrap();
        let scaled = Mat::from_fn(12, 12, |i, j| vectors[(i, j)] * values[j]);
        assert!((scaled * vectors.transpose() - &g).norm_max() < 1e-12);
        g[(0, 0)] = -1.0;
        assert!(cholesky(g.as_ref()).is_none());
    }

    #[test]
    fn the_thin_svd_is_cut_at_the_rank() {
        let low = sample(9, 3) * sample(3, 20);
        let svd = thin_svd(low.as_ref()).unwrap();
        assert_eq!((svd.u.ncols(), svd.s.len(), svd.v.ncols()), (3, 3, 3));
        let scaled = Mat::from_fn(9, 3, |i, j| svd.u[(i, j)] * svd.s[j]);
        assert!((scaled * svd.v.transpose() - &low).norm_max() < 1e-12);
        let left = left_svd(low.as_ref()).unwrap();
        assert_eq!((left.u.ncols(), left.v.ncols()), (3, 0));
        for k in 0..3 {
            assert!((left.s[k] - svd.s[k]).abs() < 1e-12);
            assert!((left.u.col(k).transpose() * svd.u.col(k)).abs() > 1.0 - 1e-12);
        }
    }
}
