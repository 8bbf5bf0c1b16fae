//! The dense kernels that everything else uses. All have the same bits on any number of threads.
//!
//! Products are cut into tiles whose size depends on the operands alone, and every tile is computed by faer on
//! one thread; rayon only decides which thread computes which tile. Decompositions (`decompose`) run on one thread. Loops over
//! vectors are in `kernels`.

mod combine;
mod decompose;
mod kernels;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, ColMut, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

pub(crate) use combine::{CombinedColumns, combinations, inner_combinations};
pub(crate) use decompose::{
    ThinSvd, cholesky, cholesky_solve, left_svd, pivots, singular_values, solve_lower, symmetric_eigen,
    thin_svd, upper_triangle,
};
pub(crate) use kernels::{
    axpy, combine, combine_block, combine_each, dot, dot_inline, four_dots, inner_each, squared_distance,
    vectorized,
};

/// A matrix that is owned, or borrowed with any strides.
#[derive(Debug, Clone)]
pub(crate) enum Matrix<'a> {
    Owned(Mat<f64>),
    Borrowed(MatRef<'a, f64>),
}

impl Matrix<'_> {
    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        match self {
            Matrix::Owned(x) => x.as_ref(),
            Matrix::Borrowed(x) => *x,
        }
    }
}

/// Columns of a tile: wide enough for faer's blocking, narrow enough to share among threads.
pub(crate) const TILE: usize = 128;

/// `out = a · b`, tiled over the columns of `out`.
pub(crate) fn product_into(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    out.par_column_tiles().enumerate().for_each(|(t, tile)| {
        let b = b.subcols(t * TILE, tile.ncols());
        matmul(tile, Accum::Replace, a, b, 1.0, Par::Seq);
    });
}

/// `a · b`, tiled over columns.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    product_into(out.as_mut(), a, b);
    out
}

/// `a · b` in the place of `b`, for a square `a`.
pub(crate) fn multiply_in_place(a: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    b.par_column_tiles().for_each(|mut tile| {
        let mut image = Mat::zeros(a.nrows(), tile.ncols());
        matmul(image.as_mut(), Accum::Replace, a, tile.as_ref(), 1.0, Par::Seq);
        tile.copy_from(&image);
    });
}

/// `aᵀ b`, entry by entry: unlike a blocked product, a column of the result does not depend on how many others `b`
/// has.
pub(crate) fn inner_products(a: &Mat<f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let b = b.to_owned();
    let entry = |j: usize, k: usize| dot(column(a, j), column(&b, k));
    let rows: Vec<Vec<f64>> =
        (0..a.ncols()).into_par_iter().map(|j| (0..b.ncols()).map(|k| entry(j, k)).collect()).collect();
    Mat::from_fn(a.ncols(), b.ncols(), |j, k| rows[j][k])
}

/// The symmetric `aᵀ · b`, of which only the lower half is computed, then mirrored.
pub(crate) fn symmetric_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.ncols(), a.ncols());
    symmetric_product_into(out.as_mut(), a, b);
    out
}

/// Writes a symmetric product to where there is room for it.
pub(crate) fn symmetric_product_into(mut out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let p = a.ncols();
    out.as_mut().par_column_tiles().enumerate().for_each(|(t, tile)| {
        let (start, width) = (t * TILE, tile.ncols());
        let right = b.subcols(start, width);
        let (mut corner, below) = tile.subrows_mut(start, p - start).split_at_row_mut(width);
        triangular::matmul(
            corner.as_mut(),
            TriangularLower,
            Accum::Replace,
            a.subcols(start, width).transpose(),
            Rectangular,
            right,
            Rectangular,
            1.0,
            Par::Seq,
        );
        let rest = a.subcols(start + width, p - start - width).transpose();
        matmul(below, Accum::Replace, rest, right, 1.0, Par::Seq);
    });
    mirror_lower(out);
}

/// Copies the strictly lower triangle onto the upper one: the square right of the middle, then both halves.
pub(crate) fn mirror_lower(a: MatMut<'_, f64>) {
    let n = a.ncols();
    if n <= TILE {
        return mirror_small(a);
    }
    let half = (n / 2).next_multiple_of(TILE);
    let (mut left, mut right) = a.split_at_col_mut(half);
    let below = left.as_ref().subrows(half, n - half);
    right.as_mut().subrows_mut(0, half).par_column_tiles().enumerate().for_each(|(t, tile)| {
        transpose_into(tile, below.subrows(t * TILE, TILE.min(n - half - t * TILE)));
    });
    rayon::join(
        || mirror_lower(left.as_mut().subrows_mut(0, half)),
        || mirror_lower(right.as_mut().subrows_mut(half, n - half)),
    );
}

fn mirror_small(mut a: MatMut<'_, f64>) {
    for j in 0..a.ncols() {
        for i in j + 1..a.nrows() {
            a[(j, i)] = a[(i, j)];
        }
    }
}

/// `out = aᵀ`, in cache-sized squares; of matrices by columns, eight entries are written at a time.
pub(crate) fn transpose_into(mut out: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    const SQUARE: usize = 32;
    const RUN: usize = 8;
    let whole = a.ncols() - a.ncols() % RUN;
    let (Some(lines), 1) = (a.try_as_col_major(), out.row_stride()) else {
        return out.copy_from(a.transpose());
    };
    for start in (0..a.nrows()).step_by(SQUARE) {
        let square = start..(start + SQUARE).min(a.nrows());
        for j in (0..whole).step_by(RUN) {
            let lines: [&[f64]; RUN] = std::array::from_fn(|r| &lines.col(j + r).as_slice()[square.clone()]);
            for (i, column) in square.clone().enumerate() {
                let column = out.as_mut().col_mut(column).try_as_col_major_mut();
                if let Some(run) =
                    column.and_then(|column| column.as_slice_mut()[j..].first_chunk_mut::<RUN>())
                {
                    for r in 0..RUN {
                        run[r] = lines[r][i];
                    }
                }
            }
        }
    }
    let rest = a.subcols(whole, a.ncols() - whole).transpose();
    out.subrows_mut(whole, rest.nrows()).copy_from(rest);
}

/// Splits a matrix into tiles of [`TILE`] columns for rayon.
pub(crate) trait ParColumnTiles {
    type Tile;
    fn par_column_tiles(self) -> rayon::vec::IntoIter<Self::Tile>;
}

impl<'a> ParColumnTiles for MatRef<'a, f64> {
    type Tile = MatRef<'a, f64>;
    fn par_column_tiles(self) -> rayon::vec::IntoIter<Self::Tile> {
        let tile = |start| self.subcols(start, TILE.min(self.ncols() - start));
        (0..self.ncols()).step_by(TILE).map(tile).collect::<Vec<_>>().into_par_iter()
    }
}

impl<'a> ParColumnTiles for MatMut<'a, f64> {
    type Tile = MatMut<'a, f64>;
    fn par_column_tiles(self) -> rayon::vec::IntoIter<Self::Tile> {
        let mut tiles = Vec::with_capacity(self.ncols().div_ceil(TILE));
        let mut rest = self;
        while rest.ncols() > TILE {
            let (tile, tail) = rest.split_at_col_mut(TILE);
            tiles.push(tile);
            rest = tail;
        }
        if rest.ncols() > 0 {
            tiles.push(rest);
        }
        tiles.into_par_iter()
    }
}

/// The matrix with these columns of length `rows`.
pub(crate) fn from_columns(rows: usize, columns: &[Vec<f64>]) -> Mat<f64> {
    let mut out = Mat::zeros(rows, columns.len());
    for (k, values) in columns.iter().enumerate() {
        column_mut(&mut out, k).copy_from_slice(values);
    }
    out
}

/// Column `j` as a slice.
pub(crate) fn column(a: &Mat<f64>, j: usize) -> &[f64] {
    a.col_as_slice(j)
}

/// A column of a matrix that stores them one after the other.
pub(crate) fn slice_mut(column: ColMut<'_, f64>) -> &mut [f64] {
    column.try_as_col_major_mut().expect("columns are stored in one piece").as_slice_mut()
}

/// Column `j` as a slice to write to.
pub(crate) fn column_mut(a: &mut Mat<f64>, j: usize) -> &mut [f64] {
    a.col_as_slice_mut(j)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(m: usize, n: usize) -> Mat<f64> {
        Mat::from_fn(m, n, |i, j| ((i * 7919 + j * 104_729) % 1009) as f64 / 500.0 - 1.0)
    }

    #[test]
    fn tiled_products_equal_faer() {
        for (m, k, n) in [(3, 5, 2), (40, 17, 300), (129, 64, 257)] {
            let (a, b) = (sample(m, k), sample(k, n));
            assert!((product(a.as_ref(), b.as_ref()) - &a * &b).norm_max() < 1e-12);
            let c = sample(k, n);
            let g = symmetric_product(c.as_ref(), c.as_ref());
            assert!((&g - c.transpose() * &c).norm_max() < 1e-12);
            assert_eq!(g, g.transpose().to_owned());
        }
    }
}
