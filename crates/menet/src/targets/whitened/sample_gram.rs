//! The inner products of samples: of what they differ from the mean of their class by, `X_w X_wᵀ = P X Xᵀ P`, and of themselves.

use faer::Mat;

use super::roots;
use crate::dataset::Dataset;
use crate::numerics::linalg::{
    ParColumnTiles, TILE, column, column_mut, from_columns, product, slice_mut, symmetric_product,
    transpose_into,
};
use crate::preprocess::Rows;
use rayon::prelude::*;

/// Variables whose part of `X_w` there is at a time.
const CHUNK: usize = 4096;

/// Sparse samples take products of nonzeros that meet, about a nanosecond each, dense ones n²p products of about a fiftieth.
const MEETING: f64 = 0.02;

/// Samples with a larger part of nonzeros are dense.
const SPARSE: f64 = 0.1;

/// The part of the squares of sparse samples that must be left when the means are taken off: two digits cancel at worst.
const LEFT: f64 = 0.01;

/// `X_w X_wᵀ`.
pub(super) fn within_gram(
    data: &Dataset<'_>,
    (x, rows): (&Mat<f64>, &Rows<'_>),
    centres: &Mat<f64>,
) -> Mat<f64> {
    let mut gram = of_few(data, rows).unwrap_or_else(|| of_all(data, x, centres));
    weigh(data, &mut gram);
    gram
}

/// `D^(1/2) G D^(1/2)` in the place of G, for samples with weights.
fn weigh(data: &Dataset<'_>, gram: &mut Mat<f64>) {
    let Some(roots) = roots(data) else { return };
    for j in 0..gram.ncols() {
        column_mut(gram, j).iter_mut().zip(&roots).for_each(|(entry, root)| *entry *= root * roots[j]);
    }
}

/// From the nonzeros of the samples as they are; none where there are too many, or means are most of them.
fn of_few(data: &Dataset<'_>, samples: &Rows<'_>) -> Option<Mat<f64>> {
    let (n, p) = (data.samples(), data.variables());
    let mut left = SPARSE * n as f64 * p as f64;
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); p];
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(n);
    for i in 0..n {
        let row = samples.nonzeros(i);
        left -= row.len() as f64;
        if left < 0.0 {
            return None;
        }
        row.iter().for_each(|&(j, value)| columns[j].push((i, value)));
        rows.push(row);
    }
    let meeting: f64 = columns.iter().map(|column| (column.len() as f64).powi(2)).sum();
    if meeting > MEETING * (n * n) as f64 * p as f64 {
        return None;
    }
    let lines: Vec<Vec<f64>> = rows
        .par_iter()
        .map(|row| {
            let mut line = vec![0.0; n];
            for &(j, value) in row {
                columns[j].iter().for_each(|&(i, other)| line[i] += value * other);
            }
            line
        })
        .collect();
    let mut gram = from_columns(n, &lines);
    let before: f64 = (0..n).map(|i| gram[(i, i)]).sum();
    centre(data, &mut gram);
    let after: f64 = (0..n).map(|i| gram[(i, i)]).sum();
    (after >= LEFT * before).then_some(gram)
}

/// `P G P` in the place of a symmetric G.
fn centre(data: &Dataset<'_>, gram: &mut Mat<f64>) {
    let (n, masses) = (gram.ncols(), data.masses());
    let mean = |values: &[f64]| {
        let mut sums = vec![0.0; masses.len()];
        let samples = values.iter().zip(data.class_indices()).enumerate();
        samples.for_each(|(i, (value, &class))| sums[class] += data.weight(i) * value);
        sums.iter_mut().zip(&masses).for_each(|(sum, mass)| *sum /= mass);
        sums
    };
    // Of every sample with every class, then of every class with every class.
    let with_class: Vec<Vec<f64>> = (0..n).map(|j| mean(column(gram, j))).collect();
    let between: Vec<Vec<f64>> = (0..masses.len())
        .map(|class| mean(&with_class.iter().map(|means| means[class]).collect::<Vec<_>>()))
        .collect();
    for j in 0..n {
        let of_j = data.class_of(j);
        for (i, entry) in column_mut(gram, j).iter_mut().enumerate() {
            let of_i = data.class_of(i);
            *entry += between[of_j.max(of_i)][of_j.min(of_i)] - (with_class[i][of_j] + with_class[j][of_i]);
        }
    }
}

/// From all entries, of which there is but a chunk of variables at a time.
fn of_all(data: &Dataset<'_>, x: &Mat<f64>, centres: &Mat<f64>) -> Mat<f64> {
    let (n, p) = x.shape();
    let mut gram = Mat::zeros(n, n);
    for start in (0..p).step_by(CHUNK) {
        let width = CHUNK.min(p - start);
        let means = centres.subcols(start, width).transpose().to_owned();
        let mut samples = Mat::zeros(width, n);
        samples.as_mut().par_column_tiles().enumerate().for_each(|(t, mut tile)| {
            let rows = x.subcols(start, width).subrows(t * TILE, tile.ncols());
            transpose_into(tile.as_mut(), rows);
            for (i, sample) in tile.col_iter_mut().enumerate() {
                let mean = column(&means, data.class_of(t * TILE + i));
                slice_mut(sample).iter_mut().zip(mean).for_each(|(x, mean)| *x -= mean);
            }
        });
        gram += symmetric_product(samples.as_ref(), samples.as_ref());
    }
    gram
}

/// `X Xᵀ` from `X_w X_wᵀ`: a sample is what it differs from the mean of its class by, and that mean.
pub(super) fn whole_gram(
    data: &Dataset<'_>,
    x: &Mat<f64>,
    centres: &Mat<f64>,
    within: &Mat<f64>,
) -> Mat<f64> {
    let with_centres = product(centres.as_ref(), x.transpose());
    let of_centres = product(centres.as_ref(), centres.transpose());
    let (mut gram, roots) = (within.clone(), roots(data));
    for j in 0..gram.ncols() {
        let of_j = data.class_of(j);
        for (i, entry) in column_mut(&mut gram, j).iter_mut().enumerate() {
            let of_i = data.class_of(i);
            let rest = with_centres[(of_j, i)] + with_centres[(of_i, j)] - of_centres[(of_i, of_j)];
            *entry += roots.as_ref().map_or(rest, |roots| roots[i] * roots[j] * rest);
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::{Centred, class_means};

    /// `scarce` percent of the entries are not zero, or all of them; classes may be all there is.
    fn samples(n: usize, p: usize, scarce: usize, spread: f64) -> Dataset<'static> {
        let hash = |i: usize, j: usize| (i * 7919 + j * 104_729 + i * j * 31 + 7) % 1009;
        let x = Mat::from_fn(n, p, |i, j| {
            let class = f64::from(u8::from((j / 3) % 40 == i % 4)) * 3.0;
            let shown = hash(i, j) % 100 < scarce;
            class + if shown { spread * (1.0 + hash(j, i) as f64 / 100.0) } else { 0.0 }
        });
        Dataset::from_owned(x, &(0..n).map(|i| i % 4).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn nonzeros_alone_give_the_same() {
        let data = samples(70, 240, 4, 1.0);
        let pre = Centred::new(&data, None).unwrap();
        let centres = class_means(&data, pre.dense().unwrap());
        let (few, all) = (of_few(&data, pre.rows()).unwrap(), of_all(&data, pre.dense().unwrap(), &centres));
        assert!((&few - &all).norm_max() < 1e-13 * all.norm_max());
        assert_eq!(few, few.transpose().to_owned(), "to the last bit");
        let expected = pre.dense().unwrap() * pre.dense().unwrap().transpose();
        let whole = whole_gram(&data, pre.dense().unwrap(), &centres, &few);
        assert!((whole - &expected).norm_max() < 1e-13 * expected.norm_max());
    }

    #[test]
    fn dense_samples_and_mere_means_are_not_taken_for_sparse() {
        for (scarce, spread) in [(60, 1.0), (4, 1e-3)] {
            let data = samples(70, 240, scarce, spread);
            let pre = Centred::new(&data, None).unwrap();
            assert!(of_few(&data, pre.rows()).is_none(), "{scarce}, {spread}");
        }
    }
}
