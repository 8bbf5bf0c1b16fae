//! The penalty as a stage of a fit: what is pressed down, how hard, and which variables enter together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feature_graph::FeatureGraph;
use super::groups::{GroupAxes, Groups};
use super::{PathPenalty, PenaltyKind};
use crate::error::{Result, check};
use crate::variables::VariableRef;

/// The penalty: which coefficients are pressed down, and which variables enter together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PenaltyParams {
    /// What presses on the coefficients. With all but "l1", a limit on the panel is met by the penalty alone.
    #[schemars(extend("common" = true))]
    pub kind: PenaltyKind,
    /// Shape of the penalty: a of "scad", more than 2; γ of "mcp", more than 1, and of "adaptive", more than 0. None: 3.7, 3 and 1.
    #[schemars(extend("of" = ["adaptive", "scad", "mcp"]))]
    pub gamma: Option<f64>,
    /// Offset ε, more than 0, relative to the largest coefficient of the first fit. None: 0.05 with "adaptive" and 0.1 with "reweighted".
    #[schemars(extend("of" = ["adaptive", "reweighted"]))]
    pub epsilon: Option<f64>,
    /// Whether the solver works on columns of length 1. The axes are in the units of the data in any case.
    pub standardize: bool,
    /// One factor per variable on its penalty, at least 0; none: all 1.
    ///
    /// A variable with factor 0 is never penalised: it is in every model, and `nonzeros` and `panel_size` do not count it. Infinity
    /// bars a variable.
    #[schemars(with = "String", extend("kind" = "factors"))]
    pub factors: Option<Vec<f64>>,
    /// Variables that are in every model, as with a factor of 0: `nonzeros` and `panel_size` do not count them.
    #[schemars(with = "String", extend("kind" = "variables", "common" = true))]
    pub always: Option<Vec<VariableRef>>,
    /// Variables that are in no model, as with an infinite factor.
    #[schemars(with = "String", extend("kind" = "variables", "common" = true))]
    pub never: Option<Vec<VariableRef>>,
    /// Groups of variables that enter together; none: variables enter one by one. With groups, `nonzeros` counts groups, and is 10 by
    /// default.
    #[schemars(with = "String", extend("kind" = "groups", "of" = ["l1"]))]
    pub feature_groups: Option<Groups>,
    /// Whether every axis chooses its own groups, or a group is chosen for all axes or for none; without `feature_groups` every variable is
    /// then a group.
    #[schemars(extend("of" = ["l1"]))]
    pub group_axes: GroupAxes,
    /// Which variables are neighbours, and should have similar weights; none: no graph.
    ///
    /// "chain": every variable and the next one (spectra). "grid:28x28": pixels of images of 28 rows and 28 columns. "grid": the shape
    /// of the images, where it is known. "auto": the grid for images, else the chain. Or edges with weights.
    #[schemars(with = "String", extend("kind" = "graph", "common" = true))]
    pub feature_graph: Option<FeatureGraph>,
    /// Weight of the graph, at least 0: at 1 it is about as strong as the data. None: 1 with a graph.
    pub graph_weight: Option<f64>,
}

impl Default for PenaltyParams {
    fn default() -> Self {
        PenaltyParams {
            kind: PenaltyKind::L1,
            gamma: None,
            epsilon: None,
            standardize: true,
            factors: None,
            always: None,
            never: None,
            feature_groups: None,
            group_axes: GroupAxes::Each,
            feature_graph: None,
            graph_weight: None,
        }
    }
}

impl PenaltyParams {
    /// Refuses parameters that are out of range.
    ///
    /// # Errors
    /// Naming the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<()> {
        self.of_paths().check()?;
        check("graph_weight", self.graph_weight.unwrap_or(0.0), "a number from 0 to 1e100", |x| x >= 0.0)?;
        match (self.graph_weight, &self.feature_graph) {
            (Some(weight), None) => {
                let allowed = "left out without a `penalty.feature_graph`";
                Err(crate::Error::parameter("graph_weight", weight, allowed))
            }
            _ => Ok(()),
        }
    }

    /// The penalty of the paths.
    pub fn of_paths(&self) -> PathPenalty {
        PathPenalty { kind: self.kind, gamma: self.gamma, epsilon: self.epsilon, first_nonzeros: None }
    }

    /// Whether groups are chosen, not variables one by one.
    pub fn grouped(&self) -> bool {
        self.feature_groups.is_some() || self.group_axes == GroupAxes::Together
    }
}
