//! How much every sample counts, and which samples stay together.

use menet::evaluate::together_in;
use menet::{Dataset, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Samples, View, vector};
use crate::run::run;

/// How much every labelled sample counts, as the package gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SampleWeighting<'py> {
    /// One weight per labelled sample.
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Whether classes count alike.
    balanced: bool,
    /// Whether the samples are distinct as they are, since variables were left out; the weights are then those of the fit.
    distinct: bool,
}

impl SampleWeighting<'_> {
    pub(crate) fn view(&self) -> PyResult<CountingView<'_>> {
        let weights = self.weights.as_ref().map(vector).transpose()?;
        Ok(CountingView { weights, balanced: self.balanced, distinct: self.distinct })
    }
}

/// [`SampleWeighting`] as the core sees it.
#[derive(Clone, Copy)]
pub(crate) struct CountingView<'a> {
    weights: Option<&'a [f64]>,
    balanced: bool,
    distinct: bool,
}

impl CountingView<'_> {
    /// Samples with their classes, batches, weights and the names of their variables.
    pub(crate) fn labelled<'d>(
        self,
        x: View<'d>,
        codes: &[i64],
        classes: Vec<String>,
        batches: Option<&[String]>,
        feature_names: Option<Vec<String>>,
    ) -> Result<Dataset<'d>> {
        let data = self.weigh(x.lacking(codes, classes, batches)?)?;
        match feature_names {
            Some(names) => data.with_feature_names(names),
            None => Ok(data),
        }
    }

    /// The data with these weights.
    pub(crate) fn weigh<'d>(self, mut data: Dataset<'d>) -> Result<Dataset<'d>> {
        match self.weights {
            Some(weights) if self.distinct => return data.known_distinct(weights),
            Some(weights) => data = data.with_weights(weights)?,
            None => {}
        }
        Ok(if self.balanced { data.with_balanced_classes() } else { data })
    }
}

/// The places of the distinct samples that count, and their weights; `codes` are their classes.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn distinct<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    counting: SampleWeighting<'_>,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
    let (x, codes, counting) = (x.view()?, vector(&codes)?, counting.view()?);
    let (rows, weights) =
        run(py, threads, |_| Ok(counting.weigh(x.plain_dataset(codes, None)?)?.distinct_samples()))?;
    let rows = rows.into_iter().map(|row| row as i64);
    Ok((PyArray1::from_iter(py, rows), PyArray1::from_vec(py, weights)))
}

/// Which samples stay together, copies and those of one group: one number per sample, or none where every sample stands for itself; and what
/// a reader should know of it.
#[pyfunction]
#[pyo3(signature = (x, codes, groups, threads))]
pub(crate) fn together(
    py: Python<'_>,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    groups: Option<Vec<usize>>,
    threads: usize,
) -> PyResult<(Option<Vec<usize>>, Option<String>)> {
    let (x, codes) = (x.view()?, vector(&codes)?);
    run(py, threads, |_| {
        let classes: Vec<usize> =
            codes.iter().map(|&code| usize::try_from(code).unwrap_or(usize::MAX)).collect();
        let found = together_in(x.samples_with_missing()?.view(), &classes, groups.as_deref())?;
        let words = found.in_words().filter(|_| !found.expected);
        Ok((found.units, words))
    })
}
