//! Gram columns on demand, each from one solve, for many samples of many variables.
//!
//! What a solve gives, `A xⱼ`, is kept under a budget of memory and shared by all responses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::Gram;
use crate::numerics::linalg::{CombinedColumns, column, combinations, from_columns};
use crate::operator::Operator;
use crate::preprocess::Columns;

/// Images that are kept, in bytes, for all responses.
const BUDGET: usize = 1 << 29;

/// Images that are combined at a time.
const TILE: usize = 64;

/// Variables that are solved for at a time.
const LANES: usize = 8;

/// `G = XᵀAX` without a p×p or n×n matrix. When a variable is asked for, `A xⱼ` is computed once and kept while there is room.
///
/// Variables are solved for in fixed batches, by falling correlation with the responses. The other variables of a batch cost
/// little more than the first and are likely to be asked for as well. The results do not depend on which is asked for first.
///
/// Its [squared lengths](Gram::squared_lengths) are those of `xⱼ` times the largest eigenvalue A can have, 1 + β, since p
/// solves for a diagonal would take longer than the paths. This is never below `xⱼᵀAxⱼ`, and at most four times that by default.
#[derive(Debug)]
pub(crate) struct SmoothedGram {
    x: Columns,
    operator: Operator,
    beta: f64,
    /// The variables by falling correlation, and where each of them stands.
    order: Vec<usize>,
    place: Vec<usize>,
    kept: Mutex<BatchCache>,
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
struct BatchCache {
    batches: Vec<Option<Arc<Batch>>>,
    order: VecDeque<usize>,
}

impl SmoothedGram {
    /// From the variables, the operator and its β, and the correlations with the responses, one row per variable.
    pub(crate) fn new(x: Columns, operator: Operator, beta: f64, b: MatRef<'_, f64>) -> Self {
        let promise: Vec<f64> = b.row_iter().map(|b| b.norm_max()).collect();
        let mut order: Vec<usize> = (0..x.count()).collect();
        order.sort_by(|&i, &j| promise[j].total_cmp(&promise[i]));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
        let batches = vec![None; order.len().div_ceil(LANES)];
        let kept = Mutex::new(BatchCache { batches, order: VecDeque::new() });
        SmoothedGram { x, operator, beta, order, place, kept, budget: BUDGET }
    }

    fn kept(&self) -> MutexGuard<'_, BatchCache> {
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

    /// `A X[:, support] · coefficients`, of which zeros at the end change nothing.
    fn images(&self, support: &[usize], coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let shape = (self.x.rows(), coefficients.ncols());
        let (mut sum, mut part) = (Mat::zeros(shape.0, shape.1), Mat::zeros(shape.0, shape.1));
        for (t, support) in support.chunks(TILE).enumerate() {
            let images: Vec<Image> = support.iter().map(|&j| self.image(j)).collect();
            let coefficients = coefficients.subrows(t * TILE, support.len());
            combinations(CombinedColumns::Apart(&|k| images[k].values()), coefficients, part.as_mut());
            sum += &part;
        }
        sum
    }

    fn batch(&self, number: usize) -> Batch {
        let variables = self.order.chunks(LANES).nth(number).unwrap_or_default();
        let columns: Vec<Vec<f64>> = variables.iter().map(|&j| self.x.column(j)).collect();
        let images = self.operator.apply(from_columns(self.x.rows(), &columns).as_ref());
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

    fn residual(&self) -> Option<f64> {
        self.operator.residual()
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
impl SmoothedGram {
    /// This matrix with room for other than the usual number of bytes.
    pub(super) fn with_budget(self, budget: usize) -> Self {
        SmoothedGram { budget, ..self }
    }

    /// Bytes of the images that are kept.
    pub(super) fn bytes_kept(&self) -> usize {
        let kept = self.kept();
        assert_eq!(kept.batches.iter().flatten().count(), kept.order.len());
        kept.order.len() * LANES * self.x.rows() * size_of::<f64>()
    }
}
