//! Paths, axes and the rule.

use menet::pieces::Moments;
use menet::plan::{DataShape, Plan};
use menet::refit::{Training, TrainingSums};
use menet::{FitReport, Men, ReducedProblem, SizeLimits, Stage};
use menet_io::ModelFile;
use menet_io::model::{LabelKind, Provenance};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{mirrored, numbers, params};
use crate::arrays::{Samples, matrix, vector};
use crate::model::Model;
use crate::run::run;
use crate::settings::Settings;

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> PyResult<T> {
    serde_json::from_value(value).map_err(|e| PyTypeError::new_err(e.to_string()))
}

fn stages(seconds: Vec<(String, f64)>) -> PyResult<Vec<(Stage, f64)>> {
    seconds.into_iter().map(|(stage, seconds)| Ok((read(stage.into())?, seconds))).collect()
}

/// What the samples are called, and how they were used.
#[derive(FromPyObject)]
pub(crate) struct FitFacts {
    #[pyo3(item)]
    classes: Vec<String>,
    #[pyo3(item)]
    label_kind: String,
    #[pyo3(item)]
    feature_names: Option<Vec<String>>,
    /// What the fit found and did, as JSON.
    #[pyo3(item)]
    report: String,
}

/// A model that knows its paths alone, from the lower half of the Gram matrix, the moments and the target.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a reduced problem")]
pub(crate) fn solve(
    py: Python<'_>,
    settings: Settings,
    gram: PyReadonlyArray2<'_, f64>,
    counts: Vec<usize>,
    mean: PyReadonlyArray1<'_, f64>,
    norms: PyReadonlyArray1<'_, f64>,
    centres: PyReadonlyArray2<'_, f64>,
    target: PyReadonlyArray2<'_, f64>,
    facts: FitFacts,
    threads: usize,
) -> PyResult<Model> {
    let params = params(settings)?;
    let (mean, norms) = (vector(&mean)?.to_vec(), vector(&norms)?.to_vec());
    let (gram, target, centres) = (matrix(&gram)?, matrix(&target)?, matrix(&centres)?);
    let mut report: FitReport =
        serde_json::from_str(&facts.report).map_err(|e| PyTypeError::new_err(e.to_string()))?;
    let label_kind: LabelKind = read(facts.label_kind.into())?;
    run(py, threads, |monitor| {
        let moments = Moments::known(counts, mean, norms, centres.to_owned())?;
        let (samples, variables) = (moments.samples(), moments.mean.len());
        let shape = DataShape { samples, variables, classes: facts.classes.len(), nonzeros: None };
        let plan = Plan::of_pieces(shape, &params)?;
        report.regime = Some(plan.regime);
        let b = moments.correlations(target, params.penalty.standardize);
        let (mean, norms) = (moments.mean, moments.norms);
        let problem = ReducedProblem::new(Box::new(mirrored(gram)), b, mean, norms, samples, report)?;
        let problem = match &facts.feature_names {
            Some(names) => problem.with_names(names.clone())?,
            None => problem,
        };
        let problem = problem.with_graph(&params, None)?;
        let paths = problem.paths(&params, monitor)?;
        let men = Men::from_paths(&problem, paths, &params, facts.classes)?;
        let mut parts = men.parts().clone();
        parts.feature_names = facts.feature_names;
        let (menet, data) = (env!("CARGO_PKG_VERSION").to_owned(), "Python".to_owned());
        Ok(Model::from(ModelFile {
            men: Men::from_parts(parts)?,
            fingerprints: Vec::new(),
            provenance: Provenance { menet, data, samples },
            label_kind: Some(label_kind),
        }))
    })
}

/// What a training sample is recognised by, one number per row.
#[pyfunction]
pub(crate) fn fingerprints<'py>(
    py: Python<'py>,
    x: Samples<'_>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let x = x.view()?;
    let found = run(py, threads, |_| Ok(x.fingerprints()?))?;
    Ok(PyArray1::from_vec(py, found))
}

/// A model whose axes are known and whose rule is not.
#[pyclass(frozen, module = "menet._core")]
#[derive(Debug)]
pub(crate) struct ModelWithoutRule {
    undecided: menet::ModelWithoutRule,
    /// Everything else that a model file tells.
    file: ModelFile,
}

/// Sums over the training samples: variables, counts, centres, norms, units, ends of the variables, squares and fourth powers.
pub(crate) type GivenSums<'py> = (
    PyReadonlyArray1<'py, i64>,
    Vec<usize>,
    PyReadonlyArray2<'py, f64>,
    Vec<f64>,
    Vec<f64>,
    Vec<(f64, f64)>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, f64>,
);

/// The variables of an axis, rising, and their weights.
type Axis<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

impl ModelWithoutRule {
    /// Reads axes off a model that knows its paths.
    pub(crate) fn read(
        py: Python<'_>,
        file: &ModelFile,
        reading: SizeLimits,
        sums: &GivenSums<'_>,
        threads: usize,
    ) -> PyResult<Self> {
        let (variables, counts, centres, norms, units, ranges, squares, fourths) = sums;
        let (variables, centres) = (numbers(variables)?, matrix(centres)?.to_owned());
        let products = (matrix(squares)?.to_owned(), matrix(fourths)?.to_owned());
        let (counts, norms, units) = (counts.clone(), norms.clone(), (units.clone(), ranges.clone()));
        let undecided = run(py, threads, |_| {
            let sums = TrainingSums::new(variables, counts, centres, norms, units, products)?;
            Ok(file.men.axes_at(reading, Training::Sums(&sums))?)
        })?;
        Ok(ModelWithoutRule { undecided, file: file.clone() })
    }
}

#[pymethods]
impl ModelWithoutRule {
    /// The mean, and the variables and weights of every axis: what `project_all` projects with.
    fn axes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Vec<Axis<'py>>) {
        let projection = self.undecided.projection();
        let axes = projection.axes().iter().map(|axis| {
            let (at, values): (Vec<i64>, Vec<f64>) = axis.iter().map(|(j, value)| (j as i64, value)).unzip();
            (PyArray1::from_vec(py, at), PyArray1::from_vec(py, values))
        });
        (PyArray1::from_slice(py, projection.mean()), axes.collect())
    }

    /// The model, with the rule that the projected training samples teach.
    fn learn(
        &self,
        py: Python<'_>,
        z: PyReadonlyArray2<'_, f64>,
        codes: PyReadonlyArray1<'_, i64>,
        fingerprints: PyReadonlyArray1<'_, u64>,
        seconds: Vec<(String, f64)>,
        threads: usize,
    ) -> PyResult<Model> {
        let (z, codes) = (matrix(&z)?, numbers(&codes)?);
        let fingerprints = vector(&fingerprints)?.to_vec();
        let (undecided, seconds) = (self.undecided.clone(), stages(seconds)?);
        let men = run(py, threads, |_| {
            let mut parts = undecided.learn(z, &codes)?.parts().clone();
            parts.report.seconds = seconds;
            Ok(Men::from_parts(parts)?)
        })?;
        Ok(Model::from(ModelFile { men, fingerprints, ..self.file.clone() }))
    }
}
