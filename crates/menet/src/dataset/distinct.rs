//! Samples with weights, and equal samples as one.
//!
//! A sample of weight 2 means the same as that sample twice, and a sample of weight 0 the same as none. So a fit works on
//! *distinct* samples: samples of one class with the same values become one, with the sum of their weights, and samples of weight 0 are left
//! out. Neighbours are then distinct samples too: a copy of a sample is never its neighbour.
//!
//! Only the ratios of weights matter. They are kept with a mean of 1, and left out where all are equal.

use std::collections::HashMap;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::samples::SampleValues;
use super::{Dataset, Real, View};
use crate::error::{Error, Result};
use crate::numerics::linalg::Matrix;

/// Samples whose values are mixed by one thread at a time.
const ROWS: usize = 256;

impl Dataset<'_> {
    /// Gives every sample a weight ≥ 0: how much it counts. Only the ratios matter.
    ///
    /// # Errors
    /// When there is not one weight per sample, one is negative or not finite, or a class has no sample of positive weight.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self> {
        let n = self.samples();
        if weights.len() != n {
            let why = format!("there are {n} samples");
            return Err(Error::Size { what: "`weights`", given: weights.len(), expected: n, why });
        }
        if let Some(i) = weights.iter().position(|weight| !(0.0..=1e100).contains(weight)) {
            let value = format!("{:?} for sample {i} (counted from 0)", weights[i]);
            return Err(Error::parameter("weights", value, "numbers from 0 to 1e100"));
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Error::parameter("weights", "0 for every sample", "more than 0 for some samples"));
        }
        let empty = |members: &Vec<usize>| members.iter().all(|&i| weights[i] == 0.0);
        if let Some(class) = self.members.iter().position(empty) {
            let value = format!("0 for all samples of class \"{}\"", self.classes[class]);
            let allowed = "more than 0 for a sample of every class; leave the samples of such a class out";
            return Err(Error::parameter("weights", value, allowed));
        }
        (self.weights, self.distinct) = (relative(weights.to_vec()), Default::default());
        Ok(self)
    }

    /// Weighs the samples so that every class counts as much as any other: each has the same sum of weights. Parts of these data, such as
    /// folds, are balanced again.
    #[must_use]
    pub fn with_balanced_classes(mut self) -> Self {
        let masses = self.masses();
        let weights = (0..self.samples()).map(|i| self.weight(i) / masses[self.class_of[i]]).collect();
        (self.weights, self.balanced, self.distinct) = (relative(weights), true, Default::default());
        self
    }

    /// Whether classes count alike ([`Self::with_balanced_classes`]).
    pub fn is_balanced(&self) -> bool {
        self.balanced
    }

    /// The weight of every sample, with a mean of 1 over those that count; none where all are equal.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weight of sample `i`.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// The sum of the weights of a class.
    pub(crate) fn mass(&self, class: usize) -> f64 {
        match &self.weights {
            None => self.members[class].len() as f64,
            Some(weights) => self.members[class].iter().map(|&i| weights[i]).sum(),
        }
    }

    /// The sum of the weights of every class.
    pub(crate) fn masses(&self) -> Vec<f64> {
        (0..self.classes.len()).map(|class| self.mass(class)).collect()
    }

    /// The distinct samples that count, with the weights of all their copies; these data themselves where there are no others.
    pub(crate) fn distinct(&self) -> &Self {
        self.distinct.get_or_init(|| self.merged().map(Box::new)).as_deref().unwrap_or(self)
    }

    /// These data, whose samples are distinct as they are, with the weights that [`Self::distinct_samples`] gave for them: some of
    /// their variables may have been left out since.
    ///
    /// # Errors
    /// As [`Self::with_weights`].
    pub fn known_distinct(self, weights: &[f64]) -> Result<Self> {
        let mut data = self.with_weights(weights)?;
        // To the bit: dividing by a mean that is 1 but for rounding would change them.
        data.weights = data.weights.map(|_| weights.to_vec());
        data.distinct = None.into();
        Ok(data)
    }

    /// The places of the distinct samples that count, and their weights as a fit sees them, with a mean of 1.
    pub fn distinct_samples(&self) -> (Vec<usize>, Vec<f64>) {
        let (rows, distinct) = (self.kinds().0, self.distinct());
        let weights = (0..rows.len()).map(|i| distinct.weight(i)).collect();
        (rows, weights)
    }

    /// The distinct samples that count, as a value.
    pub(crate) fn into_distinct(mut self) -> Self {
        self.distinct();
        match self.distinct.take().flatten() {
            Some(distinct) => *distinct,
            None => self,
        }
    }

    /// The weights of some samples of `data`, which these are.
    pub(crate) fn weighted_as(mut self, data: &Dataset<'_>, rows: &[usize]) -> Self {
        let weights = data.weights().map(|weights| rows.iter().map(|&i| weights[i]).collect());
        self.weights = weights.and_then(relative);
        if data.balanced { self.with_balanced_classes() } else { self }
    }

    /// The first sample of every kind, and the weight of all of its kind.
    fn kinds(&self) -> (Vec<usize>, Vec<f64>) {
        let n = self.samples();
        let marks = marks(self.view());
        // By mark and class. Equal marks need not be equal samples.
        let mut known: HashMap<(u64, usize), Vec<usize>> = HashMap::with_capacity(n);
        let (mut kept, mut weights): (Vec<usize>, Vec<f64>) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in (0..n).filter(|&i| self.weight(i) > 0.0) {
            let alike = known.entry((marks[i], self.class_of[i])).or_default();
            match alike.iter().find(|&&place| self.equal(kept[place], i)) {
                Some(&place) => weights[place] += self.weight(i),
                None => {
                    alike.push(kept.len());
                    kept.push(i);
                    weights.push(self.weight(i));
                }
            }
        }
        (kept, weights)
    }

    /// The distinct samples, where there are fewer than samples.
    fn merged(&self) -> Option<Dataset<'static>> {
        let (kept, weights) = self.kinds();
        if kept.len() == self.samples() {
            return None;
        }
        let mut members = vec![Vec::new(); self.classes.len()];
        kept.iter().enumerate().for_each(|(place, &i)| members[self.class_of[i]].push(place));
        Some(Dataset {
            x: self.x.rows(&kept),
            class_of: kept.iter().map(|&i| self.class_of[i]).collect(),
            classes: self.classes.clone(),
            members,
            feature_names: self.feature_names.clone(),
            image_shape: self.image_shape,
            weights: relative(weights),
            unlabelled: self.unlabelled.clone(),
            balanced: self.balanced,
            distinct: Default::default(),
            batches: self.batches.as_ref().map(|batches| batches.at(&kept)),
            missing: self.missing.and_then(|_| self.x.rows(&kept).first_missing()),
        })
    }

    fn equal(&self, i: usize, k: usize) -> bool {
        match self.view() {
            View::Double(x) => (0..x.ncols()).all(|j| x[(i, j)] == x[(k, j)]),
            View::Single(x) => (0..x.ncols()).all(|j| x[(i, j)] == x[(k, j)]),
            View::Sparse(x) => {
                let values = |i: usize| x.row(i).filter(|&(_, value)| value != 0.0);
                values(i).eq(values(k))
            }
        }
    }
}

impl SampleValues<'_> {
    /// Some samples, copied.
    pub(super) fn rows(&self, rows: &[usize]) -> SampleValues<'static> {
        fn some<T: Real>(x: MatRef<'_, T>, rows: &[usize]) -> SampleValues<'static> {
            let copy = Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)].into());
            SampleValues::Dense(Matrix::Owned(copy))
        }
        match self {
            SampleValues::Dense(x) => some(x.view(), rows),
            SampleValues::Single(x) => some(*x, rows),
            SampleValues::Sparse(x) => SampleValues::Sparse(x.select(rows)),
        }
    }
}

/// The weights with a mean of 1 over those above 0; none where all are equal.
fn relative(mut weights: Vec<f64>) -> Option<Vec<f64>> {
    if weights.iter().all(|&weight| weight == weights[0]) {
        return None;
    }
    let total = weights.iter().sum::<f64>();
    let count = weights.iter().filter(|&&weight| weight > 0.0).count();
    let factor = count as f64 / total;
    weights.iter_mut().for_each(|weight| *weight *= factor);
    Some(weights)
}

/// A number for every sample that is the same for equal samples.
pub(super) fn marks(samples: View<'_>) -> Vec<u64> {
    match samples {
        View::Double(x) => dense_marks(x),
        View::Single(x) => dense_marks(x),
        View::Sparse(x) => {
            let mark = |i: usize| x.row(i).fold(0, |mark: u64, (j, value)| mark.wrapping_add(mix(j, value)));
            (0..x.rows()).into_par_iter().map(mark).collect()
        }
    }
}

/// A sum over the variables, so that rows and columns can be read in any order.
fn dense_marks<T: Real>(x: MatRef<'_, T>) -> Vec<u64> {
    let mut marks = vec![0u64; x.nrows()];
    marks.par_chunks_mut(ROWS).enumerate().for_each(|(t, marks)| {
        let some = x.subrows(t * ROWS, marks.len());
        if some.row_stride().unsigned_abs() < some.col_stride().unsigned_abs() {
            for j in 0..some.ncols() {
                let column = some.col(j);
                for (mark, &value) in marks.iter_mut().zip(column.iter()) {
                    *mark = mark.wrapping_add(mix(j, value.into()));
                }
            }
        } else {
            for (i, mark) in marks.iter_mut().enumerate() {
                for (j, &value) in some.row(i).iter().enumerate() {
                    *mark = mark.wrapping_add(mix(j, value.into()));
                }
            }
        }
    });
    marks
}

/// What a value of variable `j` adds to a mark: nothing for 0, so that dense and sparse samples have the same.
fn mix(j: usize, value: f64) -> u64 {
    if value == 0.0 {
        return 0;
    }
    // Missing values are equal, whatever their bits.
    let value = if value.is_nan() { f64::NAN } else { value };
    let mixed = (value.to_bits() ^ (j as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
