//! Gram columns of sparse data.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Columns;
use crate::conjugate::Smoother;
use crate::gram::Gram;
use crate::linalg::{column, column_mut, dot, from_columns, product};

/// Images that are kept, in bytes, for all responses.
const BUDGET: usize = 1 << 29;

/// Images that are combined at a time.
const TILE: usize = 64;

/// Variables that are solved for, and vectors that are multiplied, at a time.
const LANES: usize = 8;

/// `A`, n×n.
#[derive(Debug)]
pub enum Operator {
    /// By conjugate gradients.
    Conjugate(Smoother),
    /// As `FᵀF`.
    Factor(Mat<f64>),
}

impl Operator {
    /// `A X`, no column's bits depending on those beside it.
    fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Operator::Conjugate(smoother) => smoother.apply_all(x),
            Operator::Factor(factor) => {
                let columns: Vec<Vec<f64>> = x
                    .col_iter()
                    .map(|x| {
                        let image = product(factor.as_ref(), x.as_mat());
                        (0..x.nrows()).map(|j| dot(column(factor, j), column(&image, 0))).collect()
                    })
                    .collect();
                from_columns(x.nrows(), &columns)
            }
        }
    }
}

/// `G = XᵀAX` for sparse X: of a variable that is asked for, `A xⱼ` is computed once and kept while there is room.
///
/// Variables are solved for in fixed batches, by falling correlation with the responses: the others of a batch cost little
/// beside the first and are likely to be asked for as well, and who asks first makes no difference to what is computed.
///
/// Its [squared lengths](Gram::squared_lengths) are those of `xⱼ`, since p solves for a diagonal would take longer than the
/// paths: `xⱼᵀAxⱼ` lies between the smallest and the largest eigenvalue of A times it, at defaults between ½ and 2.
#[derive(Debug)]
pub struct SparseGram {
    x: Columns,
    operator: Operator,
    /// The variables by falling correlation, and where each of them stands.
    order: Vec<usize>,
    place: Vec<usize>,
    kept: Mutex<Kept>,
    budget: usize,
}

/// `A xⱼ` of the variables of a batch, and the sums of their entries.
#[derive(Debug)]
struct Batch {
    images: Mat<f64>,
    totals: Vec<f64>,
}

/// The image of one variable.
struct Image {
    batch: Arc<Batch>,
    at: usize,
}

impl Image {
    fn values(&self) -> &[f64] {
        column(&self.batch.images, self.at)
    }

    fn total(&self) -> f64 {
        self.batch.totals[self.at]
    }
}

/// The batches that are kept, and in which order they came.
#[derive(Debug)]
struct Kept {
    batches: Vec<Option<Arc<Batch>>>,
    order: VecDeque<usize>,
}

impl SparseGram {
    /// From the columns, the operator, and the correlations with the responses, a row a variable.
    pub fn new(x: Columns, operator: Operator, b: MatRef<'_, f64>) -> Self {
        let promise: Vec<f64> = b.row_iter().map(|b| b.norm_max()).collect();
        let mut order: Vec<usize> = (0..x.columns()).collect();
        order.sort_by(|&i, &j| promise[j].total_cmp(&promise[i]));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
        let batches = vec![None; order.len().div_ceil(LANES)];
        let kept = Mutex::new(Kept { batches, order: VecDeque::new() });
        SparseGram { x, operator, order, place, kept, budget: BUDGET }
    }

    /// The operator.
    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn image(&self, j: usize) -> Image {
        let (number, at) = (self.place[j] / LANES, self.place[j] % LANES);
        if let Some(batch) = &self.kept().batches[number] {
            return Image { batch: batch.clone(), at };
        }
        // Two threads may both compute it, to the same bits.
        let batch = Arc::new(self.batch(number));
        let mut kept = self.kept();
        if kept.batches[number].is_none() {
            kept.batches[number] = Some(batch.clone());
            kept.order.push_back(number);
            if kept.order.len() * LANES * self.x.rows() * size_of::<f64>() > self.budget {
                let oldest = kept.order.pop_front();
                oldest.into_iter().for_each(|number| kept.batches[number] = None);
            }
        }
        Image { batch, at }
    }

    fn batch(&self, number: usize) -> Batch {
        let variables = self.order.chunks(LANES).nth(number).unwrap_or_default();
        let columns: Vec<Vec<f64>> = variables.iter().map(|&j| self.x.column(j)).collect();
        let images = self.operator.apply(from_columns(self.x.rows(), &columns).as_ref());
        let totals = (0..images.ncols()).map(|k| column(&images, k).iter().sum()).collect();
        Batch { images, totals }
    }
}

impl Gram for SparseGram {
    fn dim(&self) -> usize {
        self.x.columns()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        let image = self.image(j);
        let (values, total) = (image.values(), image.total());
        out.par_iter_mut().enumerate().for_each(|(i, out)| *out = self.x.dot(i, values, total));
    }

    fn diagonal(&self) -> Vec<f64> {
        let batches = 0..self.order.len().div_ceil(LANES);
        let squares: Vec<Vec<f64>> = batches
            .into_par_iter()
            .map(|number| {
                let Batch { images, totals } = self.batch(number);
                let variables = &self.order[number * LANES..];
                let square = |k: usize| self.x.dot(variables[k], column(&images, k), totals[k]);
                (0..totals.len()).map(square).collect()
            })
            .collect();
        let squares = squares.concat();
        self.place.iter().map(|&k| squares[k]).collect()
    }

    fn squared_lengths(&self) -> Vec<f64> {
        self.x.squared_lengths()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let image = self.image(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = self.x.dot(row, image.values(), image.total());
        }
    }

    /// `Xᵀ (A X[:, support] · coefficients)`.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        let (n, width) = (self.x.rows(), coefficients.ncols());
        let mut sum = Mat::zeros(n, width);
        for (t, support) in support.chunks(TILE).enumerate() {
            let mut chosen = Mat::zeros(n, support.len());
            for (k, &j) in support.iter().enumerate() {
                column_mut(&mut chosen, k).copy_from_slice(self.image(j).values());
            }
            let coefficients = coefficients.subrows(t * TILE, support.len());
            matmul(&mut sum, Accum::Add, &chosen, coefficients, 1.0, Par::Seq);
        }
        for start in (0..width).step_by(LANES) {
            let lanes = LANES.min(width - start);
            let at = |i: usize, l: usize| if l < lanes { sum[(i, start + l)] } else { 0.0 };
            let side: Vec<[f64; LANES]> = (0..n).map(|i| std::array::from_fn(|l| at(i, l))).collect();
            for (j, found) in self.x.correlate(&side).iter().enumerate() {
                for l in 0..lanes {
                    out[(j, start + l)] = found[l];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::implicit::Implicit;
    use crate::preprocess::Preprocessed;
    use crate::sparse::SparseMatrix;

    /// With room for all batches, for one, and for none.
    #[test]
    fn answers_are_those_of_a_dense_factor_whatever_is_kept() {
        let x = crate::implicit::tests::awkward();
        let data = Dataset::new(x.as_ref(), &[0, 1, 0, 1, 0, 1, 0, 1, 0]).unwrap();
        let factor = Mat::from_fn(9, 9, |i, j| ((i * 31 + j * 17) % 11) as f64 - 5.0);
        let full = &factor * Preprocessed::new(&data, None).unwrap().unit_columns();
        let full = full.transpose() * &full;
        let implicit = Implicit::new(&SparseMatrix::from_dense(x.as_ref()).unwrap()).unwrap();
        let (rows, support) = ([7, 0, 3], [6, 0, 5]);
        let coefficients = Mat::from_fn(3, 10, |i, k| (i + 2 * k) as f64 - 1.5);
        let expected = Mat::from_fn(8, 3, |i, k| full[(i, support[k])]) * &coefficients;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * full.norm_max();
        let mut products = Vec::new();
        for budget in [BUDGET, LANES * 9 * size_of::<f64>(), 0] {
            let operator = Operator::Factor(factor.clone());
            let b = Mat::from_fn(8, 2, |i, k| (i * 3 + k) as f64 % 5.0);
            let new = SparseGram::new(implicit.solver_columns(true), operator, b.as_ref());
            let gram = SparseGram { budget, ..new };
            let diagonal = gram.diagonal();
            let (mut entries, mut column) = ([0.0; 3], [0.0; 8]);
            for j in 0..8 {
                gram.entries(&rows, j, &mut entries);
                gram.column(j, &mut column);
                assert!(near(diagonal[j], full[(j, j)]));
                assert!((0..3).all(|k| near(entries[k], full[(rows[k], j)])));
                assert!((0..8).all(|i| near(column[i], full[(i, j)])));
            }
            let mut product = Mat::zeros(8, 10);
            gram.product(&support, coefficients.as_ref(), product.as_mut());
            assert!((&product - &expected).norm_max() < 1e-12 * expected.norm_max());
            products.push(product);
            let kept = gram.kept().batches.iter().flatten().count();
            assert_eq!(kept, gram.kept().order.len());
            assert!(kept * LANES * 9 * size_of::<f64>() <= budget);
            assert_eq!(kept > 0, budget > 0);
        }
        assert!(products.iter().all(|product| *product == products[0]), "to the last bit");
    }
}
