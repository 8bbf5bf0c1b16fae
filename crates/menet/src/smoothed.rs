//! Gram columns on demand, each from one solve, for many samples of many variables.
//!
//! What a solve gives, `A xⱼ`, is kept under a budget of memory and shared by all responses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::conjugate::Smoother;
use crate::gram::{Gram, Terms, combinations, inner_combinations};
use crate::implicit::Columns;
use crate::linalg::{column, dot, from_columns, product};

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

/// The variables, one a column of X.
#[derive(Debug)]
pub enum Variables {
    /// As they are.
    Dense(Mat<f64>),
    /// Sparse, and centred implicitly.
    Sparse(Columns),
}

impl Variables {
    fn samples(&self) -> usize {
        match self {
            Variables::Dense(x) => x.nrows(),
            Variables::Sparse(x) => x.rows(),
        }
    }

    fn count(&self) -> usize {
        match self {
            Variables::Dense(x) => x.ncols(),
            Variables::Sparse(x) => x.columns(),
        }
    }

    fn column(&self, j: usize) -> Vec<f64> {
        match self {
            Variables::Dense(x) => column(x, j).to_vec(),
            Variables::Sparse(x) => x.column(j),
        }
    }

    /// The product of variable `j` with a vector whose entries sum to `total`.
    fn dot(&self, j: usize, v: &[f64], total: f64) -> f64 {
        match self {
            Variables::Dense(x) => dot(column(x, j), v),
            Variables::Sparse(x) => x.dot(j, v, total),
        }
    }

    fn squared_lengths(&self) -> Vec<f64> {
        match self {
            Variables::Dense(x) => {
                (0..x.ncols()).into_par_iter().map(|j| dot(column(x, j), column(x, j))).collect()
            }
            Variables::Sparse(x) => x.squared_lengths(),
        }
    }

    /// `out = Xᵀ y`.
    fn correlate(&self, y: &Mat<f64>, mut out: MatMut<'_, f64>) {
        let x = match self {
            Variables::Dense(x) => {
                return inner_combinations((0..x.ncols()).map(|j| column(x, j)), y, out);
            }
            Variables::Sparse(x) => x,
        };
        for start in (0..y.ncols()).step_by(LANES) {
            let lanes = LANES.min(y.ncols() - start);
            let at = |i: usize, l: usize| if l < lanes { y[(i, start + l)] } else { 0.0 };
            let side: Vec<[f64; LANES]> = (0..y.nrows()).map(|i| std::array::from_fn(|l| at(i, l))).collect();
            for (j, found) in x.correlate(&side).iter().enumerate() {
                for l in 0..lanes {
                    out[(j, start + l)] = found[l];
                }
            }
        }
    }
}

/// `G = XᵀAX` with neither p×p nor n×n matrix: of a variable that is asked for, `A xⱼ` is computed once and kept while there
/// is room.
///
/// Variables are solved for in fixed batches, by falling correlation with the responses: the others of a batch cost little
/// beside the first and are likely to be asked for as well, and who asks first makes no difference to what is computed.
///
/// Its [squared lengths](Gram::squared_lengths) are those of `xⱼ` times the largest eigenvalue A can have, 1 + β, since p
/// solves for a diagonal would take longer than the paths: that is never below `xⱼᵀAxⱼ`, and at defaults at most four times it.
#[derive(Debug)]
pub struct SmoothedGram {
    x: Variables,
    operator: Operator,
    beta: f64,
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

impl SmoothedGram {
    /// From the variables, the operator and its β, and the correlations with the responses, a row a variable.
    pub fn new(x: Variables, operator: Operator, beta: f64, b: MatRef<'_, f64>) -> Self {
        let promise: Vec<f64> = b.row_iter().map(|b| b.norm_max()).collect();
        let mut order: Vec<usize> = (0..x.count()).collect();
        order.sort_by(|&i, &j| promise[j].total_cmp(&promise[i]));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
        let batches = vec![None; order.len().div_ceil(LANES)];
        let kept = Mutex::new(Kept { batches, order: VecDeque::new() });
        SmoothedGram { x, operator, beta, order, place, kept, budget: BUDGET }
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
            if kept.order.len() * LANES * self.x.samples() * size_of::<f64>() > self.budget {
                let oldest = kept.order.pop_front();
                oldest.into_iter().for_each(|number| kept.batches[number] = None);
            }
        }
        Image { batch, at }
    }

    /// `A X[:, support] · coefficients`, of which zeros at the end change nothing.
    fn images(&self, support: &[usize], coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let shape = (self.x.samples(), coefficients.ncols());
        let (mut sum, mut part) = (Mat::zeros(shape.0, shape.1), Mat::zeros(shape.0, shape.1));
        for (t, support) in support.chunks(TILE).enumerate() {
            let images: Vec<Image> = support.iter().map(|&j| self.image(j)).collect();
            let coefficients = coefficients.subrows(t * TILE, support.len());
            combinations(Terms::Apart(&|k| images[k].values()), coefficients, part.as_mut());
            sum += &part;
        }
        sum
    }

    fn batch(&self, number: usize) -> Batch {
        let variables = self.order.chunks(LANES).nth(number).unwrap_or_default();
        let columns: Vec<Vec<f64>> = variables.iter().map(|&j| self.x.column(j)).collect();
        let images = self.operator.apply(from_columns(self.x.samples(), &columns).as_ref());
        let totals = (0..images.ncols()).map(|k| column(&images, k).iter().sum()).collect();
        Batch { images, totals }
    }
}

impl Gram for SmoothedGram {
    fn dim(&self) -> usize {
        self.x.count()
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
        self.x.squared_lengths().iter().map(|square| (1.0 + self.beta) * square).collect()
    }

    fn entries(&self, rows: &[usize], j: usize, out: &mut [f64]) {
        let image = self.image(j);
        for (out, &row) in out.iter_mut().zip(rows) {
            *out = self.x.dot(row, image.values(), image.total());
        }
    }

    /// `Xᵀ (A X[:, support] · coefficients)`.
    fn product(&self, support: &[usize], coefficients: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        self.x.correlate(&self.images(support, coefficients), out);
    }

    fn product_at(
        &self,
        rows: &[usize],
        support: &[usize],
        coefficients: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
    ) {
        let images = self.images(support, coefficients);
        for (k, image) in (0..images.ncols()).map(|k| (k, column(&images, k))) {
            let total = image.iter().sum();
            for (r, &row) in rows.iter().enumerate() {
                out[(r, k)] = self.x.dot(row, image, total);
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
        let full = &factor * Preprocessed::new(&data, None).unwrap().with_unit_columns().x;
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
            let x = Variables::Sparse(implicit.solver_columns(true));
            let gram = SmoothedGram { budget, ..SmoothedGram::new(x, operator, 1.0, b.as_ref()) };
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
            let mut some = Mat::zeros(3, 10);
            gram.product_at(&rows, &support, coefficients.as_ref(), some.as_mut());
            let row = |r: usize| some.row(r) - product.row(rows[r]);
            assert!((0..3).all(|r| row(r).norm_max() < 1e-12 * expected.norm_max()));
            products.push(product);
            let kept = gram.kept().batches.iter().flatten().count();
            assert_eq!(kept, gram.kept().order.len());
            assert!(kept * LANES * 9 * size_of::<f64>() <= budget);
            assert_eq!(kept > 0, budget > 0);
        }
        assert!(products.iter().all(|product| *product == products[0]), "to the last bit");
    }
}
