//! What samples of one batch have in common.
//!
//! A value becomes its distance from the mean of its batch, divided by the standard deviation in the batch if that is asked for. A batch
//! that was not trained on is measured by the new samples themselves, so all of them must be given at once.

use faer::Mat;

use super::observed::ObservedValues;
use crate::dataset::{Batches, Dataset, View};
use crate::error::{Error, Result};

/// A batch of fewer samples tells nothing of its centre.
pub(super) const LEAST: usize = 2;

/// The batches of the training samples.
#[derive(Debug, Clone)]
pub struct BatchEffects {
    /// Their names, sorted.
    pub names: Vec<String>,
    /// The mean of every variable in every batch, one row per batch; NaN where a batch has no value.
    pub centres: Mat<f64>,
    /// The standard deviations, 1 where a variable is constant; none if they are not divided by.
    pub deviations: Option<Mat<f64>>,
    /// The batches whose samples are all of one class: their centre is that of the class, too.
    pub of_one_class: Vec<usize>,
}

/// A mean that is not known equals one that is not known.
impl PartialEq for BatchEffects {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Mat<f64>, b: &Mat<f64>| {
            let entries = || (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| (i, j)));
            a.shape() == b.shape() && entries().all(|at| a[at] == b[at] || (a[at].is_nan() && b[at].is_nan()))
        };
        self.names == other.names
            && self.of_one_class == other.of_one_class
            && same(&self.centres, &other.centres)
            && match (&self.deviations, &other.deviations) {
                (Some(a), Some(b)) => same(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
    }
}

/// Where the effects of samples' batches are: those of the training first, then those that are new.
#[derive(Debug, Clone)]
pub(super) struct BatchSlots {
    /// Of every sample.
    pub(super) of: Vec<usize>,
    /// How many batches are new.
    pub(super) new: usize,
}

impl BatchEffects {
    /// Finds the batches of samples. `names` has one name per sample.
    pub(super) fn slots(&self, names: Option<&[String]>, samples: usize) -> Result<BatchSlots> {
        let Some(names) = names else {
            return Err(Error::parameter(
                "batch",
                "left out",
                "given for every sample: the model was fitted with batches, and needs to know those of new samples",
            ));
        };
        if names.len() != samples {
            let why = format!("there are {samples} samples");
            return Err(Error::Size { what: "`batch`", given: names.len(), expected: samples, why });
        }
        let mut new: Vec<(&str, usize)> = Vec::new();
        let mut of = Vec::with_capacity(samples);
        for name in names {
            let known = self.names.iter().position(|known| known == name);
            of.push(known.unwrap_or_else(|| {
                let at = new.iter().position(|(other, _)| *other == name.as_str()).unwrap_or_else(|| {
                    new.push((name.as_str(), 0));
                    new.len() - 1
                });
                new[at].1 += 1;
                self.names.len() + at
            }));
        }
        match new.iter().find(|(_, count)| *count < LEAST) {
            Some((name, count)) => Err(Error::parameter(
                "batch",
                format!("{name:?}, which the model does not know, for {count} sample"),
                format!(
                    "a batch of the training samples, or a new one of at least {LEAST} samples, which its centre is learned from"
                ),
            )),
            None => Ok(BatchSlots { of, new: new.len() }),
        }
    }
}

/// Refuses a batch that is too small to learn its centre from.
pub(super) fn check(batches: &Batches, data: &Dataset<'_>) -> Result<()> {
    // Copies of a sample are one sample. Samples of weight 0 are none, and a batch of these is nobody's.
    let mut first: Vec<Option<usize>> = vec![None; batches.names().len()];
    let mut counts = vec![0; batches.names().len()];
    for (i, &batch) in batches.of().iter().enumerate().filter(|(i, _)| data.weight(*i) > 0.0) {
        let known = *first[batch].get_or_insert(i);
        if counts[batch] < LEAST && (known == i || !alike(data, known, i)) {
            counts[batch] += 1;
        }
    }
    match counts.iter().position(|&count| count > 0 && count < LEAST) {
        Some(at) => Err(Error::parameter(
            "batch",
            format!("{:?} for {} of the training samples", batches.names()[at], counts[at]),
            format!(
                "of at least {LEAST} samples, which its centre is learned from; leave the sample out, or join batches"
            ),
        )),
        None => Ok(()),
    }
}

/// Whether two samples have the same values.
fn alike(data: &Dataset<'_>, i: usize, k: usize) -> bool {
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    match data.view() {
        View::Double(x) => (0..x.ncols()).all(|j| same(x[(i, j)], x[(k, j)])),
        View::Single(x) => (0..x.ncols()).all(|j| same(x[(i, j)].into(), x[(k, j)].into())),
        View::Sparse(x) => x.row(i).eq(x.row(k)),
    }
}

/// The mean and the deviation (1 if constant) of one variable in each of `count` batches; NaN and 1 where fewer than `least` values are there.
pub(super) fn measure(
    values: &[f64],
    weights: &dyn Fn(usize) -> f64,
    slots: &[usize],
    (first, count, least): (usize, usize, usize),
) -> Vec<(f64, f64)> {
    let mut of: Vec<Vec<(f64, f64)>> = vec![Vec::new(); count];
    for (i, &slot) in slots.iter().enumerate() {
        if slot >= first {
            of[slot - first].push((values[i], weights(i)));
        }
    }
    of.into_iter()
        .map(|pairs| {
            if pairs.iter().filter(|(value, _)| !value.is_nan()).count() < least {
                return (f64::NAN, 1.0);
            }
            // The samples of a batch none of which counts are still centred.
            let counts = pairs.iter().any(|(_, weight)| *weight > 0.0);
            let weigh = |(value, weight)| (value, if counts { weight } else { 1.0 });
            let observed: ObservedValues = pairs.into_iter().map(weigh).collect();
            let deviation = observed.deviation();
            (observed.mean(), if deviation > 0.0 { deviation } else { 1.0 })
        })
        .collect()
}
