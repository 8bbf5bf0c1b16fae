//! What is validated: MEN, a baseline, or a classifier that Python brings.

use menet::Method;
use menet::evaluate::subset;
use menet_lab::validate::{Baseline, Decisions, HeldOutCase, MenProcedure, Procedure, inner};
use menet_lab::{Error, Progress, Result};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::search::{SearchOptions, base};
use crate::settings::Settings;

/// A procedure as the package describes it; its keys say which kind it is.
#[derive(FromPyObject)]
pub(crate) enum ProcedureDescription {
    /// A method of the registry, with its own choice of settings.
    #[pyo3(from_item_all)]
    Registered { registered: String, folds: usize, prepare: Settings },
    /// MEN with these settings, or with what they leave open chosen.
    #[pyo3(from_item_all)]
    Men { name: String, settings: Settings, options: Option<SearchOptions>, folds: usize },
    /// A classifier in Python.
    #[pyo3(from_item_all)]
    Python { name: String, identity: String, folds: Option<usize>, decide: Py<PyAny> },
}

impl ProcedureDescription {
    pub(crate) fn procedure(self) -> PyResult<Box<dyn Procedure>> {
        Ok(match self {
            ProcedureDescription::Registered { registered: name, folds, prepare } => {
                registered(&name, folds, prepare)?
            }
            ProcedureDescription::Men { name, settings, options, folds } => {
                let search = options.map(|options| options.search()).transpose()?;
                Box::new(MenProcedure { name, base: base(settings)?, search, folds })
            }
            ProcedureDescription::Python { name, identity, folds, decide } => {
                Box::new(PythonClassifier { name, identity, folds, decide })
            }
        })
    }
}

fn registered(name: &str, folds: usize, prepare: Settings) -> PyResult<Box<dyn Procedure>> {
    // The keys are parameters of MEN.
    let prepare = base(prepare)?.prepare;
    let method = Method::all().into_iter().find(|method| method.name() == name);
    let method = method.ok_or_else(|| PyValueError::new_err(format!("no method is called {name:?}")))?;
    Ok(match method.men() {
        Some(params) => Box::new(MenProcedure {
            name: name.to_owned(),
            folds,
            ..MenProcedure::new(params.clone().with(|it| it.prepare = prepare))
        }),
        None => Box::new(Baseline { method, prepare, folds }),
    })
}

/// A classifier in Python. The interpreter is attached only while it learns and decides.
struct PythonClassifier {
    name: String,
    identity: String,
    /// How many folds it wants to choose its settings by; none if it does not ask for folds.
    folds: Option<usize>,
    /// From the training rows, the test rows, the class of every row, the folds (as places among the training rows) and a seed to
    /// [`ClassifierAnswer`].
    decide: Py<PyAny>,
}

/// The class of every test row, the probabilities, the panel, the number of variables, and what was chosen.
type ClassifierAnswer = (Vec<usize>, Option<Vec<Vec<f64>>>, Vec<usize>, usize, String);

impl Procedure for PythonClassifier {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn decide(&self, case: &HeldOutCase<'_>, _progress: &dyn Progress) -> Result<Decisions> {
        let mut folds = Vec::new();
        if let Some(count) = self.folds {
            let train = subset(case.data, &case.split.train)?;
            let splits = inner(&train, case.training_groups().as_deref(), count, case.seed)?;
            folds.extend(splits.into_iter().map(|split| (split.train, split.test)));
        }
        let answer = Python::attach(|py| -> PyResult<ClassifierAnswer> {
            let array = |rows: &[usize]| PyArray1::from_iter(py, rows.iter().map(|&row| row as i64));
            let (train, test) = (array(&case.split.train), array(&case.split.test));
            let codes = array(case.data.class_indices());
            self.decide.bind(py).call1((train, test, codes, folds, case.seed))?.extract()
        });
        let (given, probabilities, panel, variables, choice) =
            answer.map_err(|error| Error::Foreign { context: self.name.clone(), source: Box::new(error) })?;
        Ok(Decisions { given, probabilities, panel, variables, choice })
    }
}
