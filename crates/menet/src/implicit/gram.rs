//! Gram columns of sparse data.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Columns;
use crate::conjugate::Smoother;
use crate::gram::Gram;
use crate::linalg::{column, dot, from_columns, product};

/// Images that are kept, in bytes, for all responses.
const BUDGET: usize = 1 << 29;

/// Images that are combined, and vectors that are multiplied, at a time.
const TILE: usize = 64;
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

/// `G = XᵀAX` for sparse X: of every variable that was asked for, `A xⱼ` is computed once and kept while there is room.
///
/// Its [squared lengths](Gram::squared_lengths) are those of `xⱼ`, since p solves for a diagonal would take longer than the
/// paths: `xⱼᵀAxⱼ` lies between the smallest and the largest eigenvalue of A times it, at defaults between ½ and 2.
#[derive(Debug)]
pub struct SparseGram {
    x: Columns,
    operator: Operator,
    images: Mutex<Images>,
    budget: usize,
    /// How likely a variable will be asked for: its correlation with the responses.
    promise: Vec<f64>,
}

/// `A xⱼ`, and the sum of its entries.
type Image = Arc<(Vec<f64>, f64)>;

/// The images that are kept, by variable, and in which order they came.
#[derive(Debug)]
struct Images {
    of: Vec<Option<Image>>,
    order: VecDeque<usize>,
}

impl SparseGram {
    /// From the columns, the operator, and the correlations with the responses, which tell what will be asked for.
    pub fn new(x: Columns, operator: Operator, b: MatRef<'_, f64>) -> Self {
        let promise = b.row_iter().map(|b| b.norm_max()).collect();
        let images = Mutex::new(Images { of: vec![None; x.columns()], order: VecDeque::new() });
        SparseGram { x, operator, images, budget: BUDGET, promise }
    }

    /// The operator.
    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    fn images(&self) -> MutexGuard<'_, Images> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The image of variable `j`. Of `others`, which may be asked for next, the most promising are computed beside it, which
    /// costs little more. Two threads may both compute one, to the same bits.
    fn image(&self, j: usize, others: &[usize]) -> Image {
        let mut batch: Vec<usize> = {
            let images = self.images();
            if let Some(image) = &images.of[j] {
                return image.clone();
            }
            others.iter().copied().filter(|&other| other != j && images.of[other].is_none()).collect()
        };
        batch.sort_by(|&a, &b| self.promise[b].total_cmp(&self.promise[a]));
        batch.truncate(LANES - 1);
        batch.insert(0, j);
        let columns: Vec<Vec<f64>> = batch.iter().map(|&j| self.x.column(j)).collect();
        let found = self.operator.apply(from_columns(self.x.rows(), &columns).as_ref());
        let keep = |image: &[f64]| Arc::new((image.to_vec(), image.iter().sum()));
        let found: Vec<Image> = (0..batch.len()).map(|k| keep(column(&found, k))).collect();
        let mut images = self.images();
        // The one asked for last, as the youngest.
        for (&j, image) in batch.iter().zip(&found).rev() {
            if images.of[j].is_none() {
                images.of[j] = Some(image.clone());
                images.order.push_back(j);
                if images.order.len() * self.x.rows() * size_of::<f64>() > self.budget {
                    let oldest = images.order.pop_front();
                    oldest.into_iter().for_each(|j| images.of[j] = None);
                }
            }
        }
        found[0].clone()
    }
}

impl Gram for SparseGram {
    fn dim(&self) -> usize {
        self.x.columns()
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        let image = self.image(j, &[]);
        out.par_iter_mut().enumerate().for_each(|(i, out)| *out = self.x.dot(i, &image.0, image.1));
    }

    fn diagonal(&self) -> Vec<f64> {
        let square = |j: usize| {
            let x = self.x.column(j);
            let image = self.operator.apply(MatRef::from_column_major_slice(&x, x.len(), 1));
            self.x.dot(j, column(&image, 0), column(&image, 0).iter().sum())
        };
        (0..self.dim()).into_par_iter().map(square).collect()
    }

    fn squared_lengths(&self) -> Vec<f64> {
        self.x.squared_lengths()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let image = self.image(j, rows);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = self.x.dot(row, &image.0, image.1);
        }
    }

    /// `Xᵀ (A X[:, support] · coefficients)`.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        let (n, width) = (self.x.rows(), coefficients.ncols());
        let mut sum = Mat::zeros(n, width);
        for (t, support) in support.chunks(TILE).enumerate() {
            let images: Vec<Image> = support.iter().map(|&j| self.image(j, support)).collect();
            let chosen = Mat::from_fn(n, support.len(), |i, k| images[k].0[i]);
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

    /// With room for all images, for one, and for none.
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
        for budget in [BUDGET, 9 * size_of::<f64>(), 0] {
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
            let kept = gram.images().of.iter().flatten().count();
            assert_eq!(kept, gram.images().order.len());
            assert!(kept * 9 * size_of::<f64>() <= budget);
        }
        assert!(products.iter().all(|product| *product == products[0]), "to the last bit");
    }
}
