//! Settings tried by cross-validation.

use std::sync::Mutex;

use menet::evaluate::Split;
use menet::refit::Refit;
use menet::rules::{Metric, Priors, RuleKind};
use menet::scores::ScoreKind;
use menet::select::{self, Grid, ModelSize, Trial, TrialChoice};
use menet::{MenParams, Method, Named};
use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{Samples, vector};
use crate::counting::SampleWeighting;
use crate::errors::Failure;
use crate::run::run;
use crate::settings::{Settings, check_named, method};

/// The values to try of every parameter that can be searched; none = the preset's.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SearchValues {
    beta: Vec<f64>,
    target_shrinkage: Vec<f64>,
    ridge: Vec<Option<f64>>,
    /// At most so many variables per path; none = as the base settings say.
    nonzeros: Vec<Option<usize>>,
    /// At most so many over all axes; none = no limit. Where this is given, `nonzeros` is not.
    panel_size: Vec<Option<usize>>,
    refit: Vec<Option<String>>,
    refit_ridge: Vec<Option<f64>>,
    rule: Vec<Option<String>>,
    voters: Vec<usize>,
    metric: Vec<Option<String>>,
    priors: Vec<PriorsGiven>,
}

#[derive(FromPyObject)]
enum PriorsGiven {
    Name(String),
    Numbers(Vec<f64>),
}

/// Every trial: its parameters as JSON, trials × folds × scores (NaN where there is none; in the order of [`ScoreKind::ALL`]),
/// its number of variables, why it failed, and the place of the best.
type TrialTable<'py> =
    (Vec<String>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>, Vec<Option<String>>, Option<usize>);

/// Tries every setting of a grid, on top of each of the base settings, on every fold.
#[pyfunction]
#[pyo3(signature = (bases, values, x, codes, counting, folds, score, choose, feature_names, progress, threads, batches=None))]
#[expect(clippy::too_many_arguments, reason = "a search and its data")]
pub(crate) fn search<'py>(
    py: Python<'py>,
    bases: Vec<Settings>,
    values: SearchValues,
    x: Samples<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    counting: SampleWeighting<'_>,
    folds: Vec<(Vec<usize>, Vec<usize>)>,
    score: &str,
    choose: &str,
    feature_names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
    threads: usize,
    batches: Option<Vec<String>>,
) -> PyResult<TrialTable<'py>> {
    let bases = bases.into_iter().map(base).collect::<PyResult<Vec<MenParams>>>()?;
    let score = ScoreKind::from_name(score).map_err(Failure::from)?;
    let choose = TrialChoice::from_name(choose).map_err(Failure::from)?;
    // Bases differ in the number of nonzeros alone, so that one grid serves all.
    let grid = values.grid(bases.first().unwrap_or(&MenParams::default()))?;
    let folds: Vec<Split> = folds.into_iter().map(|(train, test)| Split { train, test }).collect();
    let (x, codes, counting) = (x.view()?, vector(&codes)?, counting.view()?);
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let (count, mut variables) = (bases.len(), 0);
    let trials: Vec<Trial> = run(py, threads, |monitor| {
        // The classes go by their codes, so that they keep their order in folds that lack some.
        let mut data = counting.weigh(x.plain_dataset(codes, batches.as_deref())?)?;
        bases.iter().try_for_each(|base| check_named(base, feature_names.as_deref()))?;
        if let Some(names) = feature_names {
            data = data.with_feature_names(names)?;
        }
        let mut all = Vec::new();
        variables = data.variables();
        for (at, base) in bases.iter().enumerate() {
            let step = |done: usize, total: usize| {
                let Some(progress) = &progress else { return };
                let reported =
                    Python::attach(|py| progress.call1(py, (at * total + done, count * total)).map(drop));
                if let (Err(error), Ok(mut raised)) = (reported, raised.lock()) {
                    raised.get_or_insert(error);
                }
            };
            all.extend(select::search(&data, base, &grid, &folds, score, monitor, &step)?);
        }
        Ok(all)
    })?;
    if let Ok(Some(error)) = raised.into_inner() {
        return Err(error);
    }
    let scores = Array3::from_shape_fn((trials.len(), folds.len(), ScoreKind::ALL.len()), |(t, f, s)| {
        trials[t].folds.get(f).map_or(f64::NAN, |found| ScoreKind::ALL[s].of(found))
    });
    let settings = trials.iter().map(|trial| {
        let params = trial.params.clone().with(|it| it.penalty.factors = None);
        serde_json::to_string(&params).map_err(|e| PyTypeError::new_err(e.to_string()))
    });
    Ok((
        settings.collect::<PyResult<_>>()?,
        PyArray3::from_owned_array(py, scores),
        PyArray1::from_iter(py, trials.iter().map(|trial| trial.variables)),
        trials
            .iter()
            .map(|trial| trial.failed.clone().map(|e| PyErr::from(Failure::from(e)).value(py).to_string()))
            .collect(),
        choose.of(&trials, score, variables),
    ))
}

pub(crate) fn base(settings: Settings) -> PyResult<MenParams> {
    match method("men", settings)? {
        Method::Men(params) => Ok(params),
        _ => Err(PyTypeError::new_err("the parameters of another method")),
    }
}

impl SearchValues {
    pub(crate) fn grid(self, base: &MenParams) -> PyResult<Grid> {
        let sizes = if self.panel_size.iter().any(Option::is_some) {
            self.panel_size.into_iter().map(|size| size.map_or(ModelSize::Base, ModelSize::Panel)).collect()
        } else {
            self.nonzeros.into_iter().map(|size| size.map_or(ModelSize::Base, ModelSize::Nonzeros)).collect()
        };
        let mut grid = Grid::of(base);
        (grid.beta, grid.target_shrinkage) = (self.beta, self.target_shrinkage);
        grid.ridge = self.ridge.into_iter().map(|ridge| ridge.unwrap_or_else(|| base.ridge())).collect();
        grid.sizes = sizes;
        grid.refit = named::<Refit>(&self.refit, base.refit.kind())?;
        grid.refit_ridge = self.refit_ridge;
        grid.rule = named::<RuleKind>(&self.rule, base.rule.on_several().kind)?;
        grid.voters = self.voters;
        grid.metric = named::<Metric>(&self.metric, base.rule.on_several().metric)?;
        grid.priors = self.priors.into_iter().map(PriorsGiven::read).collect::<PyResult<_>>()?;
        Ok(grid)
    }
}

impl PriorsGiven {
    fn read(self) -> PyResult<Priors> {
        match self {
            PriorsGiven::Numbers(numbers) => Ok(Priors::Given(numbers)),
            PriorsGiven::Name(name) => {
                serde_json::from_value(name.into()).map_err(|e| PyTypeError::new_err(e.to_string()))
            }
        }
    }
}

fn named<T: Named>(names: &[Option<String>], none: T) -> PyResult<Vec<T>> {
    let read = |name: &Option<String>| name.as_ref().map_or(Ok(none), |name| T::from_name(name));
    let found: menet::Result<Vec<T>> = names.iter().map(read).collect();
    Ok(found.map_err(Failure::from)?)
}
