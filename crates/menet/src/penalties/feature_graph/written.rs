//! A graph in a parameter file or a model file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Edge, EdgeList, FeatureGraph};
use crate::variables::VariableRef;

/// A graph in a file: its name, or what is known of listed edges. The edges themselves are read, but not written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum GraphInFile {
    Name(String),
    Edges(EdgesInFile),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EdgesInFile {
    source: String,
    edges: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variables: Option<usize>,
    #[serde(default, skip_serializing)]
    from: Vec<VariableRef>,
    #[serde(default, skip_serializing)]
    to: Vec<VariableRef>,
    #[serde(default, skip_serializing)]
    weight: Vec<f64>,
}

impl From<GraphInFile> for FeatureGraph {
    fn from(written: GraphInFile) -> Self {
        match written {
            GraphInFile::Name(name) => FeatureGraph::from_text(&name),
            GraphInFile::Edges(EdgesInFile { source, edges, variables, from, to, weight }) => {
                let known = from.len() == edges && to.len() == edges && weight.len() == edges;
                let list = from.into_iter().zip(to).zip(weight);
                let list = list.map(|(ends, weight)| Edge { ends, weight }).collect();
                let edges_known = known.then(|| Arc::new(list));
                FeatureGraph::Edges(EdgeList { source, count: edges, edges: edges_known, variables })
            }
        }
    }
}

impl From<FeatureGraph> for GraphInFile {
    fn from(graph: FeatureGraph) -> Self {
        match graph {
            FeatureGraph::Edges(EdgeList { source, count, variables, .. }) if count > 0 => {
                let (from, to, weight) = (Vec::new(), Vec::new(), Vec::new());
                GraphInFile::Edges(EdgesInFile { source, edges: count, variables, from, to, weight })
            }
            FeatureGraph::Edges(EdgeList { source, .. }) => GraphInFile::Name(source),
            named => GraphInFile::Name(named.in_words()),
        }
    }
}
