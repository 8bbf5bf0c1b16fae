//! What the command `python -m menet.dask` takes the same way as `menet`: parameters, roles of columns, labels.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use menet::penalties::feature_graph::FeatureGraph;
use menet::{MenParams, VariableRef, Variables};
use menet_io::{ModelVariables, ReadOptions, formats, labels};
use menet_lab::{flags, settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use toml::Value;

/// An error with the names that parameters have on a command line.
fn refused(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The parameters of a fit that a command line gives.
#[pyclass(frozen, module = "menet._core")]
pub(crate) struct CommandParams(MenParams);

#[pymethods]
impl CommandParams {
    /// Reads flags (paths and texts), the texts of `--set`, and a file.
    #[new]
    fn new(given: Vec<(String, String)>, sets: Vec<String>, file: Option<PathBuf>) -> PyResult<Self> {
        let given = given.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let table = flags::table(given, &sets).map_err(refused)?;
        flags::resolve(&table, file.as_deref()).map(CommandParams).map_err(refused)
    }

    /// The file of edges that was read for the feature graph.
    fn edges_file(&self) -> Option<&str> {
        match &self.0.penalty.feature_graph {
            Some(FeatureGraph::Edges(list)) => Some(list.source()),
            _ => None,
        }
    }

    /// The parameters as tables of the core, for data with these variables. Edges and groups become positions, and so do variables
    /// that are always or never in, if the data have no names.
    fn tables<'py>(
        &self,
        py: Python<'py>,
        feature_names: Option<Vec<String>>,
        variables: usize,
        groups: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = feature_names.as_deref();
        let mut params = self.0.clone();
        if let Some(file) = groups {
            let read = menet_io::read_groups(&file, names, variables).map_err(refused)?;
            params.penalty.feature_groups = Some(read);
        }
        params.check(variables).and_then(|()| params.factors(names, variables)).map_err(refused)?;
        let listed = params.penalty.feature_graph.take_if(|graph| matches!(graph, FeatureGraph::Edges(_)));
        let edges = listed.map(|graph| graph.edges(names, None, variables)).transpose().map_err(refused)?;
        if names.is_none() {
            let known = Variables::new(names, variables);
            let lists = [
                ("penalty.always", &mut params.penalty.always),
                ("penalty.never", &mut params.penalty.never),
            ];
            for (parameter, list) in lists {
                for variable in list.iter_mut().flatten() {
                    *variable = VariableRef::Position(known.find(parameter, variable).map_err(refused)?);
                }
            }
        }
        let table = settings::table_of(&params).map_err(refused)?;
        let tables = in_python(py, &Value::Table(table))?;
        if let Some(edges) = edges {
            tables.get_item("penalty")?.set_item("feature_graph", edges)?;
        }
        Ok(tables)
    }
}

/// A value as Python's own types.
fn in_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Boolean(flag) => Ok(flag.into_pyobject(py)?.to_owned().into_any()),
        Value::Integer(whole) => Ok(whole.into_pyobject(py)?.into_any()),
        Value::Float(number) => Ok(number.into_pyobject(py)?.into_any()),
        Value::Array(list) => {
            let values: Vec<_> = list.iter().map(|one| in_python(py, one)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, values)?.into_any())
        }
        Value::Table(table) => {
            let found = PyDict::new(py);
            for (name, value) in table {
                found.set_item(name, in_python(py, value)?)?;
            }
            Ok(found.into_any())
        }
        Value::String(text) => Ok(text.into_pyobject(py)?.into_any()),
        Value::Datetime(date) => Ok(date.to_string().into_pyobject(py)?.into_any()),
    }
}

/// The flags of parameters: the path, the flag without dashes, what a value looks like, and the help.
#[pyfunction]
pub(crate) fn param_flags() -> Vec<(&'static str, String, &'static str, String)> {
    flags::flags().map(|flag| (flag.path, flag.name, flag.value, flag.help)).collect()
}

/// The columns of a table: labels, names of samples, what these are called in outputs, variables; and notices.
type Roles = (Option<String>, Option<String>, String, Vec<String>, Vec<String>);

/// The role of every column of a file. `needed` are the variables of a model.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by one function of the package")]
pub(crate) fn column_roles(
    file: PathBuf,
    names: Vec<String>,
    index: Vec<String>,
    texts: Vec<bool>,
    header: bool,
    label: String,
    id: Option<String>,
    drop: Vec<String>,
    needed: Option<Vec<String>>,
) -> PyResult<Roles> {
    let needs = needed.map(|names| Arc::new(ModelVariables::named(&names)));
    let options = ReadOptions { label, id, drop, needs, ..ReadOptions::default() };
    let found = formats::roles(&file, &names, &index, &texts, header, &options).map_err(refused)?;
    Ok((found.label, found.id, found.id_name, found.variables, found.notices))
}

/// A label of any type.
#[derive(Debug, FromPyObject)]
pub(crate) enum Label {
    Flag(bool),
    Whole(i128),
    Number(f64),
    Text(String),
}

/// Labels in their normal form, empty where they are missing.
#[pyfunction]
pub(crate) fn label_texts(values: Vec<Option<Label>>) -> Vec<String> {
    let text = |label: Label| match label {
        Label::Flag(flag) => labels::from_bool(flag),
        Label::Whole(whole) => whole.to_string(),
        Label::Number(number) => labels::from_number(number),
        Label::Text(text) => labels::normal(&text),
    };
    values.into_iter().map(|label| label.map(text).unwrap_or_default()).collect()
}

/// The texts that stand for a missing value or label.
#[pyfunction]
pub(crate) fn missing_texts() -> Vec<&'static str> {
    labels::MISSING.to_vec()
}
