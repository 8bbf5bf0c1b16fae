//! How far a model can be trusted.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use menet::Monitor;
use menet_io::ModelFile;
use menet_io::model::LabelKind;
use menet_lab::report::validation::check_link;
use menet_lab::validate::{self as engine, Options, Procedure, ValidationSubject, output};
use menet_lab::{Folder, NamedSet, Progress, Status, TimeLeft};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{Samples, vector};
use crate::counting::SampleWeighting;
use crate::model::Model;
use crate::procedures::ProcedureDescription;
use crate::run::run_apart;
use crate::settings::check_named;
use crate::validation_result::ValidationResult;

/// How samples are held out, labels are permuted and half-samples are drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ValidationSettings {
    folds: usize,
    repeats: usize,
    leave_one_group_out: bool,
    permutations: usize,
    early_stopping: bool,
    pairs: usize,
    largest_panel: usize,
    threshold: f64,
    false_selections: f64,
    seed: u64,
}

impl From<ValidationSettings> for Options {
    fn from(how: ValidationSettings) -> Self {
        Options {
            folds: how.folds,
            repeats: how.repeats,
            leave_one_group_out: how.leave_one_group_out,
            permutations: how.permutations,
            early_stopping: how.early_stopping,
            pairs: how.pairs,
            largest_panel: how.largest_panel,
            threshold: how.threshold,
            false_selections: how.false_selections,
            seed: how.seed,
        }
    }
}

/// The labels and names of the samples and variables; `codes` are positions in `classes`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SampleNames<'py> {
    codes: PyReadonlyArray1<'py, i64>,
    classes: Vec<String>,
    label_kind: String,
    variables: Option<Vec<String>>,
    samples: Option<Vec<String>>,
    /// Height and width, if the samples are images.
    shape: Option<(usize, usize)>,
    /// The group of every sample as a number from 0.
    groups: Option<Vec<usize>>,
    counting: SampleWeighting<'py>,
    /// The batch of every sample.
    batches: Option<Vec<String>>,
}

/// The files to write.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OutputFiles {
    out: Option<PathBuf>,
    link: Option<String>,
    /// The call, for the record.
    command: Vec<String>,
    /// What the package says about the methods; it follows the paragraph on the cross-validation.
    words: Vec<String>,
}

/// The default options, as JSON.
#[pyfunction]
pub(crate) fn validation_defaults() -> PyResult<String> {
    serde_json::to_string(&Options::default()).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// Validates the first procedure, and compares the others with it.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "procedures, their data and where the results go")]
pub(crate) fn validate(
    py: Python<'_>,
    procedures: Vec<ProcedureDescription>,
    how: ValidationSettings,
    x: Samples<'_>,
    names: SampleNames<'_>,
    files: OutputFiles,
    progress: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<ValidationResult> {
    let SampleNames { codes, classes, label_kind, variables, samples, shape, groups, counting, batches } =
        names;
    let OutputFiles { out, link, command, words } = files;
    let label_kind = serde_json::from_value::<LabelKind>(label_kind.into())
        .map_err(|e| PyTypeError::new_err(e.to_string()))?;
    let options = Options::from(how);
    let procedures: Vec<Box<dyn Procedure>> =
        procedures.into_iter().map(ProcedureDescription::procedure).collect::<PyResult<_>>()?;
    let (x, codes, counting, raised) = (x.view()?, vector(&codes)?, counting.view()?, Mutex::new(None));
    let outcome = run_apart(py, threads, |monitor| {
        let watch = PythonProgress { monitor, callback: progress.as_ref(), raised: &raised };
        check_link(link.as_deref())?;
        let mut data = counting.labelled(x, codes, classes, batches.as_deref(), variables)?;
        if let Some((height, width)) = shape {
            data = data.with_image_shape(height, width)?;
        }
        let procedures: Vec<&dyn Procedure> = procedures.iter().map(Box::as_ref).collect();
        for men in procedures.iter().filter_map(|procedure| procedure.men()) {
            men.base.check(data.variables())?;
            check_named(&men.base, data.feature_names())?;
            men.base.check_names(&data)?;
        }
        let set = NamedSet { name: "data".to_owned(), data, rows: None, ids: samples.as_deref() };
        let subject = ValidationSubject { set: &set, groups: groups.as_deref(), procedures: &procedures };
        let folder = out.map(|out| Folder::open(&out, "validate", output::FILES)).transpose()?;
        let mut found = engine::validate(subject, &options, folder.as_ref(), &command, &watch)?;
        found.words.splice(1..1, words);
        if let Some(folder) = &folder {
            output::write(&found, &set.data, link.as_deref(), folder, &watch)?;
        }
        let model = match &found.models {
            Some(models) => {
                let file = ModelFile::new(models.all.clone(), &set.data, "Python")?;
                Some(Model::from(ModelFile { label_kind: Some(label_kind), ..file }))
            }
            None => None,
        };
        Ok(ValidationResult::new(found, model))
    });
    match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => outcome,
    }
}

/// Tells Python how far the work is, and stops on a signal or if Python cannot be told.
struct PythonProgress<'a> {
    monitor: &'a dyn Monitor,
    /// Is called with the current work, how much of how much is finished, the seconds left, and whether they are at most these.
    callback: Option<&'a Py<PyAny>>,
    raised: &'a Mutex<Option<PyErr>>,
}

impl Monitor for PythonProgress<'_> {
    fn stop(&self) -> bool {
        let raised = || self.raised.lock().is_ok_and(|raised| raised.is_some());
        self.monitor.stop() || (self.callback.is_some() && raised())
    }
}

impl Progress for PythonProgress<'_> {
    fn status(&self, status: Status) {
        let Some(callback) = self.callback else { return };
        let Status { now, done, total, left } = status;
        let (left, most) = match left {
            Some(TimeLeft::About(left)) => (Some(left.as_secs_f64()), false),
            Some(TimeLeft::AtMost(left)) => (Some(left.as_secs_f64()), true),
            None => (None, false),
        };
        let reported = Python::attach(|py| callback.call1(py, (now, done, total, left, most)).map(drop));
        if let (Err(error), Ok(mut raised)) = (reported, self.raised.lock()) {
            raised.get_or_insert(error);
        }
    }
}
