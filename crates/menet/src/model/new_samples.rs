//! What is doubtful about new samples: values of the panel that they lack, or that are far from those of the training samples.
//!
//! How far a value is beyond the range of the training samples is measured in widths of that range. A sample is far outside if half of its
//! values or more are beyond by more than one width, as with another unit or scale, or one of them by more than a hundred. Single values
//! that are farther out than all before are usual: distributions have long tails, and many pixels are 0 in nearly all images.

use rayon::prelude::*;

use super::{Men, PanelVariable};
use crate::dataset::View;
use crate::error::{Error, Result};

/// A sample is far outside if half of its values are beyond by more than this number of widths.
const WIDTHS: f64 = 1.0;

/// A sample is far outside if one value is beyond by more than this number of widths.
const SINGLE: f64 = 100.0;

/// How many samples a sentence lists.
const LISTED: usize = 5;

/// What is doubtful about new samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampleDoubts {
    /// How many variables the panel has.
    pub panel: usize,
    /// How many values of the panel every sample lacks.
    pub missing: Vec<usize>,
    /// The samples far outside the training range.
    pub far: Vec<FarSample>,
}

/// A sample far outside the training range, with its value that is farthest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FarSample {
    /// The sample.
    pub sample: usize,
    /// The variable.
    pub variable: usize,
    /// The value as it was given.
    pub value: f64,
    /// How far it is beyond the training range, in widths of that range.
    pub widths: f64,
}

impl SampleDoubts {
    /// The samples that lack all values of the panel, rising: nothing is known of them.
    pub fn unknown(&self) -> impl Iterator<Item = usize> + '_ {
        let lost = move |&i: &usize| self.panel > 0 && self.missing[i] == self.panel;
        (0..self.missing.len()).filter(lost)
    }

    /// What a reader of predictions should know, one sentence per doubt. The functions say how a sample and a variable are called.
    pub fn in_words(
        &self,
        name: &dyn Fn(usize) -> String,
        variable_name: &dyn Fn(usize) -> String,
    ) -> Vec<String> {
        let (n, panel) = (self.missing.len(), self.panel);
        let doubt = |samples: &[usize], what: &str, so: &str| {
            let count = samples.len();
            (count > 0).then(|| {
                format!("{what}: {count} of {n} samples ({}); {so}", listed(samples.iter().map(|&i| name(i))))
            })
        };
        let unknown: Vec<usize> = self.unknown().collect();
        let few = |&i: &usize| 2 * self.missing[i] > panel && self.missing[i] < panel;
        let poor: Vec<usize> = (0..n).filter(few).collect();
        let mut all = Vec::new();
        all.extend(doubt(
            &unknown,
            "without any value of the panel",
            "nothing is known of them, so they get the probabilities that the classes have before anything is measured",
        ));
        all.extend(doubt(
            &poor,
            &format!("with fewer than half of the {panel} values of the panel"),
            "values that were filled in say little",
        ));
        if !self.far.is_empty() {
            let example = |far: &FarSample| {
                let FarSample { sample, variable, value, .. } = *far;
                format!("{} with {} = {value:?}", name(sample), variable_name(variable))
            };
            all.push(format!(
                "far outside the range of the training samples: {} of {n} samples ({}); compare the units and the \
                 scale of the values with those of the fit",
                self.far.len(),
                listed(self.far.iter().map(example))
            ));
        }
        all
    }
}

impl Men {
    /// What is doubtful about new samples, with their batches as in [`Self::transform_batches`].
    ///
    /// # Errors
    /// As [`Self::transform_batches`].
    pub fn doubts_of(&self, x: View<'_>, batches: Option<&[String]>) -> Result<SampleDoubts> {
        let (given, expected) = (x.shape().1, self.projection().variables());
        if given != expected {
            let why = format!("the model was fitted to {expected} variables");
            return Err(Error::Size { what: "a sample", given, expected, why });
        }
        let (panel, places) = (&self.parts.panel, self.panel());
        let prepared = self.preparation().map(|preparation| preparation.apply_counting(x, batches, &places));
        let prepared = prepared.transpose()?;
        let seen = prepared.as_ref().map_or(x, |(samples, _)| samples.view());
        let look = |rows: &mut (Vec<f64>, Vec<f64>), sample: usize| {
            let (given, values) = rows;
            read(x, sample, &places, given);
            read(seen, sample, &places, values);
            let (mut far, mut beyond_one, mut given_at_all) = (None::<FarSample>, 0, 0);
            for ((known, &value), &prepared) in panel.iter().zip(&*given).zip(&*values) {
                let widths = if value.is_nan() { 0.0 } else { beyond(known, prepared) };
                given_at_all += usize::from(!value.is_nan());
                beyond_one += usize::from(widths > WIDTHS);
                if widths > WIDTHS && far.is_none_or(|worst| widths > worst.widths) {
                    far = Some(FarSample { sample, variable: known.variable, value, widths });
                }
            }
            (
                panel.len() - given_at_all,
                far.filter(|worst| 2 * beyond_one >= given_at_all || worst.widths > SINGLE),
            )
        };
        let found: Vec<(usize, Option<FarSample>)> =
            (0..x.shape().0).into_par_iter().map_init(Default::default, look).collect();
        let (missing, far): (Vec<usize>, Vec<Option<FarSample>>) = found.into_iter().unzip();
        let missing = prepared.map_or(missing, |(_, missing)| missing);
        Ok(SampleDoubts { panel: panel.len(), missing, far: far.into_iter().flatten().collect() })
    }

    /// The samples that lack all values of the panel as they are given, rising: nothing is known of them.
    pub fn unknown_samples(&self, x: View<'_>) -> Vec<usize> {
        let panel = self.panel();
        let lacks = |&sample: &usize| {
            let mut values = Vec::with_capacity(panel.len());
            read(x, sample, &panel, &mut values);
            values.iter().all(|value| value.is_nan())
        };
        if panel.is_empty() { Vec::new() } else { (0..x.shape().0).into_par_iter().filter(lacks).collect() }
    }
}

/// How far a value is beyond the range of a variable, in widths of the range.
fn beyond(known: &PanelVariable, value: f64) -> f64 {
    let Some((low, high)) = known.range.filter(|(low, high)| low < high) else { return 0.0 };
    // Halves, because the width of a range may be too large for a number.
    (0.5 * low - 0.5 * value).max(0.5 * value - 0.5 * high) / (0.5 * high - 0.5 * low)
}

/// The values of some variables, rising, of one sample.
fn read(x: View<'_>, sample: usize, variables: &[usize], values: &mut Vec<f64>) {
    values.clear();
    match x {
        View::Double(x) => values.extend(variables.iter().map(|&j| x[(sample, j)])),
        View::Single(x) => values.extend(variables.iter().map(|&j| f64::from(x[(sample, j)]))),
        View::Sparse(x) => {
            values.resize(variables.len(), 0.0);
            for (j, value) in x.row(sample) {
                if let Ok(place) = variables.binary_search(&j) {
                    values[place] = value;
                }
            }
        }
    }
}

/// The first few of some names.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let first = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}
