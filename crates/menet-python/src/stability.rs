//! Stability selection.

use std::sync::Mutex;

use menet::Method;
use menet::stability::{self, Bounds, Stability, StabilityIndex, StabilityParams};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{Samples, vector};
use crate::counting::SampleWeighting;
use crate::errors::Failure;
use crate::run::run;
use crate::settings::{Settings, check_named, method};

/// An estimate and the ends of its interval.
type Interval = (f64, f64, f64);

/// The orders of entry, the panel size, the stable panel, the index, the bounds in the order of [`Bounds`], and how many variables can be
/// selected.
type StabilityResult = (Vec<Vec<usize>>, usize, Vec<usize>, Interval, (f64, f64, f64), usize);

/// How half-samples are drawn and the stable panel is chosen.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StabilitySettings {
    pairs: usize,
    most: usize,
    size: Option<usize>,
    threshold: f64,
    false_selections: f64,
    seed: u64,
    groups: Option<Vec<usize>>,
}

impl From<StabilitySettings> for StabilityParams {
    fn from(how: StabilitySettings) -> Self {
        StabilityParams::default().with(|it| {
            (it.pairs, it.most, it.size) = (how.pairs, how.most, how.size);
            (it.threshold, it.false_selections) = (how.threshold, how.false_selections);
            (it.seed, it.groups) = (how.seed, how.groups);
        })
    }
}

/// Selects variables that most half-samples agree on; `codes` are positions in `classes`.
#[pyfunction]
#[pyo3(signature = (settings, how, x, codes, counting, classes, feature_names, progress, threads, batches=None))]
#[expect(clippy::too_many_arguments, reason = "an estimator and its data")]
pub(crate) fn stable_selection(
    py: Python<'_>,
    settings: Settings,
    how: StabilitySettings,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    counting: SampleWeighting<'_>,
    classes: Vec<String>,
    feature_names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
    threads: usize,
    batches: Option<Vec<String>>,
) -> PyResult<StabilityResult> {
    let Method::Men(params) = method("men", settings)? else {
        return Err(PyTypeError::new_err("the parameters of another method"));
    };
    let (x, codes, counting, how) =
        (x.view()?, vector(&codes)?, counting.view()?, StabilityParams::from(how));
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let found = run(py, threads, |monitor| {
        check_named(&params, feature_names.as_deref())?;
        let data = counting.labelled(x, codes, classes, batches.as_deref(), feature_names)?;
        let step = |done: usize, total: usize| {
            let Some(progress) = &progress else { return };
            let reported = Python::attach(|py| progress.call1(py, (done, total)).map(drop));
            if let (Err(error), Ok(mut raised)) = (reported, raised.lock()) {
                raised.get_or_insert(error);
            }
        };
        Ok(stability::select(&data, &params, &how, monitor, &step)?)
    })?;
    if let Ok(Some(error)) = raised.into_inner() {
        return Err(error);
    }
    let Bounds { meinshausen_buhlmann, unimodal, r_concave, .. } = found.bounds;
    let bounds = (meinshausen_buhlmann, unimodal, r_concave);
    let (orders, selectable) = (found.stability.orders().to_vec(), found.stability.selectable());
    Ok((orders, found.size, found.stable, interval(found.index), bounds, selectable))
}

/// How much the panels of `size` variables agree, where so many of the variables can be selected.
#[pyfunction]
pub(crate) fn stability_index(
    variables: usize,
    selectable: usize,
    orders: Vec<Vec<usize>>,
    size: usize,
) -> PyResult<Interval> {
    let stability = Stability::new(variables, orders).map_err(Failure::from)?.among(selectable);
    Ok(interval(stability.index(size)))
}

fn interval(index: StabilityIndex) -> Interval {
    (index.value, index.low, index.high)
}
