//! Files about variables, as the command `menet` reads them.

use std::path::PathBuf;

use menet::penalties::feature_graph::FeatureGraph;
use pyo3::prelude::*;

use crate::errors::Failure;

/// The groups of a file: the name and the positions of the variables of each.
#[pyfunction]
pub(crate) fn read_groups(
    file: PathBuf,
    feature_names: Option<Vec<String>>,
    variables: usize,
) -> PyResult<Vec<(String, Vec<usize>)>> {
    let groups = menet_io::read_groups(&file, feature_names.as_deref(), variables).map_err(Failure::from)?;
    Ok(groups.groups().iter().map(|group| (group.name.clone(), group.variables.clone())).collect())
}

/// The edges of a file: the positions of two variables and the weight of each.
#[pyfunction]
pub(crate) fn read_edges(
    file: PathBuf,
    feature_names: Option<Vec<String>>,
    variables: usize,
) -> PyResult<Vec<(usize, usize, f64)>> {
    let list = menet_io::edges::read_edges(&file).map_err(Failure::from)?;
    let edges = FeatureGraph::Edges(list).edges(feature_names.as_deref(), None, variables);
    Ok(edges.map_err(Failure::from)?)
}
