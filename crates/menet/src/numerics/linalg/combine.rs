//! Combinations of columns, and products with them, a few at a time.

use faer::{Mat, MatMut, MatRef, RowMut};

use super::{column, combine_block, combine_each, inner_each};

/// The columns that are combined.
#[derive(Clone, Copy)]
pub(crate) enum CombinedColumns<'f, 'a> {
    /// Wherever they lie.
    Apart(&'f dyn Fn(usize) -> &'a [f64]),
    /// One after the other, all of them in the cache.
    Block(&'a [f64]),
}

/// `out = Σₖ column k · row k of the coefficients`, a few results at a time.
pub(crate) fn combinations(
    terms: CombinedColumns<'_, '_>,
    coefficients: MatRef<'_, f64>,
    mut out: MatMut<'_, f64>,
) {
    if out.row_stride() != 1 {
        let mut copy = Mat::zeros(out.nrows(), out.ncols());
        combinations(terms, coefficients, copy.as_mut());
        return out.copy_from(&copy);
    }
    let (width, most) = (out.ncols(), if matches!(terms, CombinedColumns::Block(_)) { 6 } else { 4 });
    for start in (0..width).step_by(most) {
        let out = out.as_mut().subcols_mut(start, (width - start).min(most));
        let coefficients = coefficients.subcols(start, out.ncols());
        match out.ncols() {
            1 => combine_columns::<1>(terms, coefficients, out),
            2 => combine_columns::<2>(terms, coefficients, out),
            3 => combine_columns::<3>(terms, coefficients, out),
            4 => combine_columns::<4>(terms, coefficients, out),
            5 => combine_columns::<5>(terms, coefficients, out),
            _ => combine_columns::<6>(terms, coefficients, out),
        }
    }
}

/// Combines columns to T results, whose columns are contiguous.
fn combine_columns<const T: usize>(
    terms: CombinedColumns<'_, '_>,
    coefficients: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    let weights: Vec<[f64; T]> =
        (0..coefficients.nrows()).map(|k| std::array::from_fn(|t| coefficients[(k, t)])).collect();
    let mut results = out.col_iter_mut().filter_map(|column| column.try_as_col_major_mut());
    let results = [(); T].map(|()| results.next().map_or(&mut [][..], |column| column.as_slice_mut()));
    match terms {
        CombinedColumns::Apart(column) => combine_each(column, &weights, results),
        CombinedColumns::Block(block) => combine_block(block, &weights, results),
    }
}

/// `out = columnsᵀ · images`, a few results at a time.
pub(crate) fn inner_combinations<'a>(
    columns: impl Iterator<Item = &'a [f64]>,
    images: &Mat<f64>,
    mut out: MatMut<'_, f64>,
) {
    for (row, x) in columns.enumerate() {
        for start in (0..images.ncols()).step_by(4) {
            let image = |t: usize| column(images, start + t);
            match images.ncols() - start {
                1 => inner_columns([image(0)], x, out.as_mut().row_mut(row).subcols_mut(start, 1)),
                2 => inner_columns([image(0), image(1)], x, out.as_mut().row_mut(row).subcols_mut(start, 2)),
                3 => inner_columns(
                    std::array::from_fn::<_, 3, _>(image),
                    x,
                    out.as_mut().row_mut(row).subcols_mut(start, 3),
                ),
                _ => inner_columns(
                    std::array::from_fn::<_, 4, _>(image),
                    x,
                    out.as_mut().row_mut(row).subcols_mut(start, 4),
                ),
            }
        }
    }
}

fn inner_columns<const T: usize>(images: [&[f64]; T], x: &[f64], out: RowMut<'_, f64>) {
    for (out, value) in out.iter_mut().zip(inner_each(images, x)) {
        *out = value;
    }
}
