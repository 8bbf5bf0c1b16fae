//! Settings tried by cross-validation.

use std::sync::Mutex;

use menet::evaluate::Split;
use menet::scores::ScoreKind;
use menet::select::{Search, Trial};
use menet::{MenParams, Method, Named};
use menet_io::ModelFile;
use menet_io::model::LabelKind;
use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Samples, vector};
use crate::counting::SampleWeighting;
use crate::errors::Failure;
use crate::model::Model;
use crate::run::run;
use crate::settings::{Settings, check_named, method};

/// Every trial: its parameters as JSON, trials × folds × scores (NaN where there is none; in the order of [`ScoreKind::ALL`]),
/// its number of variables, and why it failed. Then the place of the choice, the reason for it, and its fit.
type SearchResult<'py> = (
    Vec<String>,
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray1<f64>>,
    Vec<Option<String>>,
    usize,
    String,
    Model,
);

/// How settings are chosen: the lists to try as JSON by the paths of parameters, the score, and which of the good ones is taken.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SearchOptions {
    space: String,
    score: String,
    choose: String,
}

impl SearchOptions {
    pub(crate) fn search(&self) -> PyResult<Search> {
        let space = serde_json::from_str(&self.space).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let score = ScoreKind::from_name(&self.score).map_err(Failure::from)?;
        let choose = Named::from_name(&self.choose).map_err(Failure::from)?;
        Ok(Search { space, score, choose })
    }
}

/// Tries every setting on every fold, and fits the choice.
#[pyfunction]
#[pyo3(signature = (settings, options, x, codes, counting, classes, label_kind, folds, feature_names, progress, threads, batches=None))]
#[expect(clippy::too_many_arguments, reason = "a search and its data")]
pub(crate) fn search<'py>(
    py: Python<'py>,
    settings: Settings,
    options: SearchOptions,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    counting: SampleWeighting<'_>,
    classes: Vec<String>,
    label_kind: &str,
    folds: Vec<(Vec<usize>, Vec<usize>)>,
    feature_names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
    threads: usize,
    batches: Option<Vec<String>>,
) -> PyResult<SearchResult<'py>> {
    let (base, search) = (base(settings)?, options.search()?);
    let label_kind = serde_json::from_value::<LabelKind>(label_kind.into())
        .map_err(|e| PyTypeError::new_err(e.to_string()))?;
    let folds: Vec<Split> = folds.into_iter().map(|(train, test)| Split { train, test }).collect();
    let (x, codes, counting) = (x.view()?, vector(&codes)?, counting.view()?);
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let step = |done: usize, total: usize| {
        let Some(progress) = &progress else { return };
        let called = Python::attach(|py| progress.call1(py, (done, total)).map(drop));
        if let (Err(error), Ok(mut raised)) = (called, raised.lock()) {
            raised.get_or_insert(error);
        }
    };
    let (choice, model) = run(py, threads, |monitor| {
        check_named(&base, feature_names.as_deref())?;
        let data = counting.labelled(x, codes, classes, batches.as_deref(), feature_names)?;
        let choice = search.run(&data, &base, &folds, monitor, &step)?;
        let file = ModelFile::new(choice.men.clone(), &data, "Python")?;
        Ok((choice, Model::from(ModelFile { label_kind: Some(label_kind), ..file })))
    })?;
    if let Ok(Some(error)) = raised.into_inner() {
        return Err(error);
    }
    let trials: &[Trial] = &choice.trials;
    let scores = Array3::from_shape_fn((trials.len(), folds.len(), ScoreKind::ALL.len()), |(t, f, s)| {
        trials[t].folds.get(f).map_or(f64::NAN, |found| ScoreKind::ALL[s].of(found))
    });
    let settings = trials.iter().map(|trial| {
        let params = trial.params.clone().with(|it| it.penalty.factors = None);
        serde_json::to_string(&params).map_err(|e| PyTypeError::new_err(e.to_string()))
    });
    let failed =
        |trial: &Trial| trial.failed.clone().map(|e| PyErr::from(Failure::from(e)).value(py).to_string());
    Ok((
        settings.collect::<PyResult<_>>()?,
        PyArray3::from_owned_array(py, scores),
        PyArray1::from_iter(py, trials.iter().map(|trial| trial.variables)),
        trials.iter().map(failed).collect(),
        choice.chosen,
        choice.reason,
        model,
    ))
}

pub(crate) fn base(settings: Settings) -> PyResult<MenParams> {
    match method("men", settings)? {
        Method::Men(params) => Ok(params),
        _ => Err(PyTypeError::new_err("the parameters of another method")),
    }
}
