//! A graph over the variables: neighbours should have similar weights.
//!
//! Beside the ridge the problem gets a second quadratic term (Li and Li 2008, Bioinformatics 24, 1175; Hebiri and van de Geer 2011, the
//! "smooth lasso"),
//!
//! ```text
//! λ2 ‖w‖² + λ3 wᵀΩw,    wᵀΩw = Σ over edges (i, j) of a_ij (w_i − w_j)²
//! ```
//!
//! with Ω the Laplacian of the graph, here in the user's weights. It only adds λ3 Ω to the Gram matrix (`GraphGram`), so the path is
//! still exact, has its certificate, and needs no dense Ω.
//!
//! # Units
//!
//! The solver's columns have length 1, so its weight of variable j is the user's times the length `normⱼ` of the column, and Ω acts on
//! `wⱼ / normⱼ`: entry (i, j) is divided by `normᵢ normⱼ`. Then Ω is divided by the median of its diagonal. So for an ordinary variable,
//! λ3 = 1 gives a term as strong as its own column, whatever the units of the data and the weights of the edges. (A mean would be
//! dominated by pixels at the border that hardly vary, since their entries are huge.) Constant columns have no weight, and their edges
//! are left out.
//!
//! `GraphGram`: crate::gram::GraphGram

mod laplacian;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::params::MenParams;
use crate::variables::{VariableRef, Variables};
use written::GraphInFile;

pub(crate) use laplacian::Laplacian;

/// λ3 if a graph is given without a weight: as strong as the columns themselves. docs/feature-graph.md has the numbers.
pub const DEFAULT_WEIGHT: f64 = 1.0;

/// Which variables are neighbours. In a parameter file, its name, or the name of a file with edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "GraphInFile", into = "GraphInFile")]
pub enum FeatureGraph {
    /// The grid if the data are images, else the chain.
    Auto,
    /// Every pixel and the next one to the right and below. The height and width, if they are not those of the data.
    Grid(Option<(usize, usize)>),
    /// Every variable and the next one: spectra, time series.
    Chain,
    /// Edges that are listed.
    Edges(EdgeList),
}

/// Edges that come from a file or a matrix.
///
/// A model stores where they came from and how many there are, not the edges.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeList {
    source: String,
    count: usize,
    edges: Option<Arc<Vec<Edge>>>,
    /// Of how many variables, if that is known: a matrix has one row for each.
    variables: Option<usize>,
}

/// Two neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The variables.
    pub ends: (VariableRef, VariableRef),
    /// How strongly they are tied together, > 0.
    pub weight: f64,
}

impl EdgeList {
    /// These edges; `source` says where they come from.
    pub fn new(source: impl Into<String>, edges: Vec<Edge>) -> Self {
        EdgeList { source: source.into(), count: edges.len(), edges: Some(Arc::new(edges)), variables: None }
    }

    /// Where the edges come from: the name of a file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many edges there are; 0 if they were not read yet.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the edges themselves are known.
    pub(crate) fn is_read(&self) -> bool {
        self.edges.is_some()
    }
}

impl FeatureGraph {
    /// The names that need no file.
    pub const NAMES: [&'static str; 3] = ["auto", "grid", "chain"];

    /// The graph that goes by this name; any other text is the name of a file, whose edges have to be read.
    ///
    /// `grid:28x28` is a grid of 28 rows and 28 columns.
    pub fn from_text(text: &str) -> Self {
        let side = |text: &str| text.trim().parse::<usize>().ok().filter(|side| *side > 0);
        let shape = |text: &str| text.split_once('x').and_then(|(h, w)| Some((side(h)?, side(w)?)));
        match text {
            "auto" => FeatureGraph::Auto,
            "grid" => FeatureGraph::Grid(None),
            "chain" => FeatureGraph::Chain,
            _ => match text.strip_prefix("grid:").and_then(shape) {
                Some(shape) => FeatureGraph::Grid(Some(shape)),
                None => FeatureGraph::Edges(EdgeList {
                    source: text.to_owned(),
                    count: 0,
                    edges: None,
                    variables: None,
                }),
            },
        }
    }

    /// The name of the file whose edges have to be read before a fit.
    pub fn unread(&self) -> Option<&str> {
        match self {
            FeatureGraph::Edges(list) if !list.is_read() => Some(&list.source),
            _ => None,
        }
    }

    /// In words, for reports.
    pub fn in_words(&self) -> String {
        match self {
            FeatureGraph::Auto => "auto".to_owned(),
            FeatureGraph::Grid(None) => "grid".to_owned(),
            FeatureGraph::Grid(Some((height, width))) => format!("grid:{height}x{width}"),
            FeatureGraph::Chain => "chain".to_owned(),
            FeatureGraph::Edges(list) => format!("{} edges of {}", list.count, list.source),
        }
    }

    /// The edges as positions, each once, with their weights.
    ///
    /// # Errors
    /// When the data have no shape, or another one; when a variable is unknown, a weight is not positive, an edge is given twice, or there
    /// is none.
    pub fn edges(
        &self,
        names: Option<&[String]>,
        image_shape: Option<(usize, usize)>,
        p: usize,
    ) -> Result<Vec<(usize, usize, f64)>> {
        match (self, image_shape) {
            (FeatureGraph::Auto, Some(shape)) => grid(shape, p),
            (FeatureGraph::Grid(Some(shape)), _) => grid(*shape, p),
            (FeatureGraph::Grid(None), Some(shape)) => grid(shape, p),
            (FeatureGraph::Grid(None), None) => Err(Error::parameter(
                "penalty.feature_graph",
                "\"grid\", and the data have no image shape",
                "\"grid:HEIGHTxWIDTH\" (as grid:28x28), or \"chain\" for variables in an order",
            )),
            (FeatureGraph::Auto, None) | (FeatureGraph::Chain, _) => {
                Ok((1..p).map(|j| (j - 1, j, 1.0)).collect())
            }
            (FeatureGraph::Edges(list), _) => match list.variables.filter(|variables| *variables != p) {
                Some(variables) => {
                    let value = format!("a matrix of {variables} variables");
                    Err(Error::parameter(
                        "penalty.feature_graph",
                        value,
                        format!("a matrix of {p}, as many as the data have"),
                    ))
                }
                None => listed(list, &Variables::new(names, p)),
            },
        }
    }
}

fn grid((height, width): (usize, usize), p: usize) -> Result<Vec<(usize, usize, f64)>> {
    if height.checked_mul(width) != Some(p) {
        let value = format!("a grid of {height} x {width}");
        return Err(Error::parameter("penalty.feature_graph", value, format!("a grid of the {p} variables")));
    }
    let right = (0..p).filter(|j| (j + 1) % width != 0).map(|j| (j, j + 1, 1.0));
    let below = (0..p - width).map(|j| (j, j + width, 1.0));
    Ok(right.chain(below).collect())
}

fn listed(list: &EdgeList, variables: &Variables<'_>) -> Result<Vec<(usize, usize, f64)>> {
    let refuse =
        |value: String, allowed: &str| Err(Error::parameter("penalty.feature_graph", value, allowed));
    let Some(edges) = &list.edges else {
        let allowed =
            "one of auto, grid, chain, or edges that are given again: a model stores only their number";
        return refuse(format!("the name of a list of edges, {:?}", list.source), allowed);
    };
    if edges.is_empty() {
        return refuse(format!("{:?}, which has no edge", list.source), "a graph with at least one edge");
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::with_capacity(edges.len());
    for Edge { ends: (from, to), weight } in edges.iter() {
        let (i, j) =
            (variables.find("penalty.feature_graph", from)?, variables.find("penalty.feature_graph", to)?);
        let (i, j) = (i.min(j), i.max(j));
        let edge = || format!("a graph with an edge from {from} to {to}");
        if i == j {
            return refuse(edge(), "a graph whose edges join two different variables");
        }
        if !(*weight > 0.0 && *weight <= 1e100) {
            return refuse(
                format!("{} of weight {weight}", edge()),
                "a graph with weights > 0, at most 1e100",
            );
        }
        if !seen.insert((i, j)) {
            return refuse(
                format!("{}, twice", edge()),
                "a graph that has every edge once, in one direction",
            );
        }
        found.push((i, j, *weight));
    }
    Ok(found)
}

impl MenParams {
    /// λ3 that is used: 0 without a graph.
    pub fn graph_weight(&self) -> f64 {
        match &self.penalty.feature_graph {
            Some(_) => self.penalty.graph_weight.unwrap_or(DEFAULT_WEIGHT),
            None => 0.0,
        }
    }

    /// Refuses a graph that does not belong to these data.
    ///
    /// # Errors
    /// As [`FeatureGraph::edges`].
    pub(crate) fn check_graph(&self, data: &Dataset<'_>) -> Result<()> {
        let graph = self.penalty.feature_graph.as_ref();
        let edges =
            graph.map(|graph| graph.edges(data.feature_names(), data.image_shape(), data.variables()));
        edges.transpose().map(drop)
    }

    /// What the graph adds to the Gram matrix of columns of these norms; none without a graph.
    pub(crate) fn laplacian(
        &self,
        names: Option<&[String]>,
        image_shape: Option<(usize, usize)>,
        norms: &[f64],
    ) -> Result<Option<Laplacian>> {
        let Some(graph) = &self.penalty.feature_graph else { return Ok(None) };
        let edges = graph.edges(names, image_shape, norms.len())?;
        let unit = |&norm: &f64| if self.penalty.standardize || norm == 0.0 { norm } else { 1.0 };
        let units: Vec<f64> = norms.iter().map(unit).collect();
        Ok(Laplacian::new(&edges, &units, self.graph_weight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_told() {
        for text in ["auto", "grid", "chain", "grid:3x5"] {
            let graph = FeatureGraph::from_text(text);
            assert_eq!((graph.in_words().as_str(), graph.unread()), (text, None));
        }
        for text in ["edges.csv", "grid:3", "grid:0x5", "gird"] {
            assert_eq!(FeatureGraph::from_text(text).unread(), Some(text));
        }
    }

    #[test]
    fn a_grid_joins_pixels_to_the_right_and_below() {
        let edges = FeatureGraph::Auto.edges(None, Some((2, 3)), 6).unwrap();
        let ends: Vec<(usize, usize)> = edges.iter().map(|&(i, j, _)| (i, j)).collect();
        assert_eq!(ends, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]);
        assert_eq!(FeatureGraph::Auto.edges(None, None, 3).unwrap(), [(0, 1, 1.0), (1, 2, 1.0)]);
        assert_eq!(FeatureGraph::Chain.edges(None, Some((1, 1)), 1).unwrap(), []);
        for graph in [FeatureGraph::Grid(None), FeatureGraph::Grid(Some((2, 2)))] {
            assert!(
                graph.edges(None, None, 6).unwrap_err().to_string().contains("`penalty.feature_graph` is")
            );
        }
    }

    #[test]
    fn listed_edges_are_checked() {
        let list = |from: usize, to: usize, weight: f64| {
            let edge = |from: usize, to: usize| Edge { ends: (from.into(), to.into()), weight };
            FeatureGraph::Edges(EdgeList::new("edges.csv", vec![edge(0, 1), edge(from, to)]))
        };
        assert_eq!(list(3, 2, 2.0).edges(None, None, 4).unwrap(), [(0, 1, 2.0), (2, 3, 2.0)]);
        for (graph, expected) in [
            (list(1, 0, 1.0), "twice"),
            (list(2, 2, 1.0), "two different variables"),
            (list(2, 3, 0.0), "weights > 0"),
            (list(2, 3, f64::NAN), "weights > 0"),
            (list(2, 4, 1.0), "a position from 0 to 3"),
            (FeatureGraph::Edges(EdgeList::new("none.csv", Vec::new())), "no edge"),
            (FeatureGraph::from_text("later.csv"), "given again"),
        ] {
            let message = graph.edges(None, None, 4).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains("penalty.feature_graph"), "{message}");
        }
    }
}
