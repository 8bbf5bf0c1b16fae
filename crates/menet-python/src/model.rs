//! A fitted MEN.

use std::path::PathBuf;

use faer::{Mat, MatRef};
use menet::rules::LearnedRule;
use menet::{Men, Method, Named, SizeLimits};
use menet_io::ModelFile;
use menet_io::model::LabelKind;
use menet_lab::charts::effects::effects_of_model;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Samples, array, matrix, vector};
use crate::counting::SampleWeighting;
use crate::errors::{Failure, no_component};
use crate::paths::{Paths, Units};
use crate::pieces::{GivenSums, ModelWithoutRule};
use crate::project::project_by;
use crate::run::run;
use crate::settings::{Settings, check_named, method};
use crate::variables;

/// A model, with the rule by which it decides.
#[pyclass(frozen, module = "menet._core")]
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) file: ModelFile,
}

/// How to make it again, for pickle.
type PickleParts<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// A variable of an axis: its weight × standard deviation, and the class that a larger value speaks for.
type EffectParts = (usize, f64, Option<usize>);

/// A row of the panel's table: variable, axes, place of entry, weight, effect, importance, class.
type PanelRow =
    (usize, Vec<usize>, Option<usize>, f64, Option<f64>, f64, Option<usize>, Option<usize>, Vec<f64>);

impl From<ModelFile> for Model {
    fn from(file: ModelFile) -> Self {
        Model { file }
    }
}

impl Model {
    fn men(&self) -> &Men {
        &self.file.men
    }

    fn rule(&self) -> PyResult<&LearnedRule> {
        Ok(self.men().rule().map_err(Failure::from)?)
    }

    /// A matrix of one row per sample and one column per class.
    fn decided<'py>(
        &self,
        py: Python<'py>,
        z: &PyReadonlyArray2<'_, f64>,
        threads: usize,
        decide: impl Fn(&LearnedRule, MatRef<'_, f64>) -> menet::Result<Mat<f64>> + Sync + Send,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rule, z) = (self.rule()?, matrix(z)?);
        let values = run(py, threads, |_| Ok(decide(rule, z)?))?;
        Ok(array(py, values.as_ref()))
    }
}

fn reading(nonzeros: Option<usize>, components: Option<usize>, panel_size: Option<usize>) -> SizeLimits {
    SizeLimits::default().with(|it| {
        it.nonzeros = nonzeros;
        it.panel_size = panel_size;
        it.components = components;
    })
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyTypeError::new_err(e.to_string()))
}

#[pymethods]
impl Model {
    /// Fits, on these variables only if some are given; `codes` are positions in `classes`.
    #[staticmethod]
    #[pyo3(signature = (settings, x, codes, counting, classes, label_kind, feature_names, threads, variables=None, batches=None))]
    #[expect(clippy::too_many_arguments, reason = "an estimator and its data")]
    fn fit(
        py: Python<'_>,
        settings: Settings,
        x: Samples<'_>,
        codes: PyReadonlyArray1<'_, i64>,
        counting: SampleWeighting<'_>,
        classes: Vec<String>,
        label_kind: &str,
        feature_names: Option<Vec<String>>,
        threads: usize,
        variables: Option<Vec<usize>>,
        batches: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let Method::Men(params) = method("men", settings)? else {
            return Err(PyTypeError::new_err("the parameters of another method"));
        };
        let label_kind = serde_json::from_value::<LabelKind>(label_kind.into())
            .map_err(|e| PyTypeError::new_err(e.to_string()))?;
        let (x, codes, counting) = (x.view()?, vector(&codes)?, counting.view()?);
        run(py, threads, |monitor| {
            check_named(&params, feature_names.as_deref())?;
            let data = counting.labelled(x, codes, classes, batches.as_deref(), feature_names)?;
            let men = match variables {
                Some(variables) => menet::stability::fit_on(&data, &variables, &params, monitor)?,
                None => menet::fit(&data, &params, monitor)?,
            };
            let file = ModelFile { label_kind: Some(label_kind), ..ModelFile::new(men, &data, "Python")? };
            Ok(Model { file })
        })
    }

    /// To a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.rule()?;
        Ok(py.detach(|| self.file.save(&path)).map_err(Failure::from)?)
    }

    /// From a file or a pipe.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run(py, 1, |_| Ok(Model { file: ModelFile::load(&path)? }))
    }

    /// From what `__reduce__` gave, or a file's bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        run(py, 1, |_| Ok(Model { file: ModelFile::from_bytes(bytes)? }))
    }

    /// All of it, for [`Self::from_bytes`].
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.file.to_bytes_complete().map_err(Failure::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// This fit with fewer variables or components, from the prepared training samples if there are any; `codes` are their classes.
    /// `whole`: they are all that the model was fitted to, not only the labelled ones and what the paths reach.
    #[expect(clippy::too_many_arguments, reason = "a reading, and what it is read from")]
    fn at(
        &self,
        py: Python<'_>,
        nonzeros: Option<usize>,
        components: Option<usize>,
        panel_size: Option<usize>,
        training: Option<(Samples<'_>, PyReadonlyArray1<'_, i64>, SampleWeighting<'_>)>,
        whole: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let reading = reading(nonzeros, components, panel_size);
        let training = match &training {
            Some((x, codes, counting)) => Some((x.view()?, vector(codes)?, counting.view()?)),
            None => None,
        };
        let men = run(py, threads, |_| {
            let data = match training {
                Some((x, codes, counting)) => {
                    Some(counting.weigh(x.dataset(codes, self.men().classes().to_vec())?)?)
                }
                None => None,
            };
            Ok(match &data {
                Some(data) if whole => self.men().at_prepared(reading, data)?,
                Some(data) => self.men().at_reached(reading, data)?,
                None => self.men().at(reading, None)?,
            })
        })?;
        Ok(Model { file: ModelFile { men, ..self.file.clone() } })
    }

    /// The model for samples that have the variables of the panel alone.
    fn on_panel(&self) -> PyResult<Self> {
        let men = self.men().on_panel().map_err(Failure::from)?;
        let (provenance, label_kind) = (self.file.provenance.clone(), self.file.label_kind);
        // By the panel alone no training sample is recognised.
        Ok(Model { file: ModelFile { men, fingerprints: Vec::new(), provenance, label_kind } })
    }

    /// Whether missing values are filled from neighbours, which are near on all variables.
    fn fills_from_neighbors(&self) -> bool {
        self.men().fills_from_neighbors()
    }

    /// The variables of which [`Self::axes_at`] needs sums over the training samples, rising.
    fn wanted(
        &self,
        nonzeros: Option<usize>,
        components: Option<usize>,
        panel_size: Option<usize>,
    ) -> PyResult<Vec<usize>> {
        Ok(self.men().wanted(reading(nonzeros, components, panel_size)).map_err(Failure::from)?)
    }

    /// The axes of [`Self::at`], from sums over the training samples.
    fn axes_at(
        &self,
        py: Python<'_>,
        nonzeros: Option<usize>,
        components: Option<usize>,
        panel_size: Option<usize>,
        sums: GivenSums<'_>,
        threads: usize,
    ) -> PyResult<ModelWithoutRule> {
        ModelWithoutRule::read(py, &self.file, reading(nonzeros, components, panel_size), &sums, threads)
    }

    /// The projected samples, in single precision if `single`.
    #[pyo3(signature = (x, threads, single, batches=None))]
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: Samples<'_>,
        threads: usize,
        single: bool,
        batches: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        project_by(py, self.men(), x.view()?, batches.as_deref(), threads, single)
    }

    /// What is doubtful about samples, in sentences. Samples and variables without names are counted from 0.
    #[pyo3(signature = (x, threads, batches=None))]
    fn doubts_of(
        &self,
        py: Python<'_>,
        x: Samples<'_>,
        threads: usize,
        batches: Option<Vec<String>>,
    ) -> PyResult<Vec<String>> {
        let (x, men) = (x.view()?, self.men());
        run(py, threads, |_| {
            let doubts = men.doubts_of(x.samples_with_missing()?.view(), batches.as_deref())?;
            let variable = |j: usize| match men.feature_names() {
                Some(names) => names[j].clone(),
                None => format!("variable {j}"),
            };
            Ok(doubts.in_words(&|i| format!("sample {i}, counted from 0"), &variable))
        })
    }

    /// Some variables of samples, or all, as the model prepares them.
    #[pyo3(signature = (x, threads, batches=None, variables=None))]
    fn prepared<'py>(
        &self,
        py: Python<'py>,
        x: Samples<'_>,
        threads: usize,
        batches: Option<Vec<String>>,
        variables: Option<Vec<usize>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = x.view()?;
        let all = run(py, threads, |_| Ok(x.prepared_by(self.men(), batches.as_deref())?))?;
        Ok(match variables {
            Some(some) => {
                let some = Mat::from_fn(all.nrows(), some.len(), |i, k| all[(i, some[k])]);
                array(py, some.as_ref())
            }
            None => array(py, all.as_ref()),
        })
    }

    /// How samples are prepared, as JSON: the fraction of the training samples that lack every variable, the variables that were left
    /// out, and the names of the batches; null if samples are taken as they are.
    fn preparation(&self) -> PyResult<String> {
        let preparation = self.men().preparation().map(|learned| {
            let batches = learned.batches.as_ref().map(|batches| &batches.names);
            serde_json::json!({ "missing": learned.missing, "dropped": learned.dropped, "batches": batches })
        });
        json(&preparation)
    }

    /// The class of each row of `z`, which is projected.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (rule, z) = (self.rule()?, matrix(&z)?);
        let found = run(py, threads, |_| Ok(rule.classify(z)?))?;
        Ok(PyArray1::from_iter(py, found.into_iter().map(|class| class as i64)))
    }

    /// The log-probability of every class of each row of `z`.
    fn log_probabilities<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.decided(py, &z, threads, LearnedRule::log_probabilities)
    }

    /// The decision value of every class of each row of `z`.
    fn decision_values<'py>(
        &self,
        py: Python<'py>,
        z: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.decided(py, &z, threads, LearnedRule::decision_values)
    }

    /// The distinct variables that the axes use, rising.
    fn panel(&self) -> Vec<usize> {
        self.men().panel()
    }

    /// The variables of the panel that are in every model, rising.
    fn always(&self) -> Vec<usize> {
        self.men().always()
    }

    /// What is known of every variable of the panel, the most important first.
    fn panel_table(&self) -> Vec<PanelRow> {
        let rows = self.men().panel_table().into_iter();
        rows.map(|row| {
            let menet::PanelRow { variable, entered, weight, effect, importance, class, higher_in, .. } = row;
            (variable, row.axes, entered, weight, effect, importance, class, higher_in, row.class_means)
        })
        .collect()
    }

    /// Variable, weight × standard deviation and class of every axis, the largest first; and whether all deviations are known.
    fn effects(&self) -> (Vec<Vec<EffectParts>>, bool) {
        let (axes, known) = effects_of_model(self.men());
        let effect = |it: menet_lab::charts::effects::VariableEffect| (it.variable, it.value, it.class);
        (axes.into_iter().map(|axis| axis.into_iter().map(effect).collect()).collect(), known)
    }

    /// How many of these samples it was fitted to.
    fn seen(&self, py: Python<'_>, x: Samples<'_>, threads: usize) -> PyResult<usize> {
        let x = x.view()?;
        run(py, threads, |_| Ok(self.file.seen(&x.fingerprints()?).into_iter().filter(|seen| *seen).count()))
    }

    /// The axes in rows, d×p.
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let projection = self.men().projection();
        let mut axes = Array2::zeros((projection.components(), projection.variables()));
        for (k, axis) in projection.axes().iter().enumerate() {
            for (j, value) in axis.iter() {
                axes[(k, j)] = value;
            }
        }
        PyArray2::from_owned_array(py, axes)
    }

    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.men().projection().mean())
    }

    /// The worst violation of the optimality conditions on the path of every component.
    fn kkt<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.men().certificates().iter().map(|certificate| certificate.kkt))
    }

    fn levels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.men().levels())
    }

    /// The variables that every axis uses, in the order in which they entered.
    fn selected(&self) -> Vec<Vec<usize>> {
        variables::selected(self.men())
    }

    /// The variables that a smaller model may use, rising.
    fn reachable(&self) -> Vec<usize> {
        variables::reachable(self.men())
    }

    /// What the fit found and did, as JSON, with its refit and the name of the rule that decides.
    fn facts(&self) -> PyResult<String> {
        #[derive(serde::Serialize)]
        struct ModelFacts<'m> {
            refit: &'m menet::refit::RefitReport,
            rule: Option<&'static str>,
            #[serde(flatten)]
            report: menet::FitReport,
        }
        let men = self.men();
        let rule = men.rule().ok().map(|rule| rule.kind().name());
        json(&ModelFacts { refit: men.refit(), rule, report: men.report().in_words() })
    }

    /// The parameters of the fit, as JSON, but for the penalty factors, which may be infinite.
    fn params(&self) -> PyResult<String> {
        json(&self.men().params().clone().with(|it| it.penalty.factors = None))
    }

    fn penalty_factors(&self) -> Option<Vec<f64>> {
        self.men().params().penalty.factors.clone()
    }

    /// The names of the groups that every path uses; none without groups.
    fn selected_groups(&self) -> Option<Vec<Vec<String>>> {
        variables::groups(self.men())
    }

    fn classes(&self) -> Vec<String> {
        self.men().classes().to_vec()
    }

    /// What the class names stand for, if the model says so.
    fn label_kind(&self) -> PyResult<Option<String>> {
        let kind =
            serde_json::to_value(self.file.label_kind).map_err(|e| PyTypeError::new_err(e.to_string()))?;
        Ok(kind.as_str().map(str::to_owned))
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        self.men().feature_names().map(<[String]>::to_vec)
    }

    /// How many paths there are.
    fn path_count(&self) -> usize {
        self.men().parts().components.len()
    }

    /// The path of a component, in the units of the paper's axis.
    fn path(&self, component: usize) -> PyResult<Paths> {
        let men = self.men();
        let count = men.parts().components.len();
        if component >= count {
            return Err(no_component(component, count));
        }
        match men.paths().get(component) {
            Some(path) => Ok(Paths::new(vec![path.clone()], Units::Each(men.parts().units.clone()))),
            None => Err(PyValueError::new_err("the paths were left out of this model")),
        }
    }

    /// What a user should know before trusting the model, one sentence each.
    fn warnings(&self) -> Vec<String> {
        self.men().doubts()
    }
}
