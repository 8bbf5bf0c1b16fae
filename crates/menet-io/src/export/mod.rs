//! Models for other programs: ONNX for inference, JSON to read anywhere, SQL for data in a database.
//!
//! All three write the same: the panel, how its values are prepared, W on the panel, and the rule. With m variables in the
//! panel, a sample x becomes
//!
//! ```text
//! v = prepared x of the panel        z = (v − mean) W        W is m×d
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `json` | the model as one JSON object |
//! | `sql` | the model as one SELECT |
//! | `onnx`, `graph`, `proto` | the model as an ONNX file; how a graph is put together; the messages of the format |

mod graph;
mod json;
mod onnx;
mod proto;
mod sql;

use faer::Mat;
use menet::Men;
use menet::prepare::{Filling, Scale};
use menet::rules::LearnedRule;

use crate::error::{Error, Result};
use crate::model::{LabelKind, ModelFile};

pub use json::to_json;
pub use onnx::{Precision, to_onnx};
pub use sql::to_sql;

/// What of a model another program needs, on the variables that it uses.
struct ExportedModel<'a> {
    men: &'a Men,
    /// The variables, rising.
    panel: Vec<usize>,
    names: Option<Vec<&'a str>>,
    /// Whether values become `log(1 + x)` first.
    logarithm: bool,
    /// What values are divided by then.
    divisors: Option<Vec<f64>>,
    /// What stands for a missing value then.
    fill: Option<Vec<f64>>,
    mean: Vec<f64>,
    /// m×d.
    weights: Mat<f64>,
    rule: &'a LearnedRule,
    kind: LabelKind,
}

impl<'a> ExportedModel<'a> {
    fn of(file: &'a ModelFile) -> Result<Self> {
        let men = &file.men;
        let projection = men.projection();
        let panel = projection.panel();
        let of_panel = |values: &[f64]| -> Vec<f64> { panel.iter().map(|&j| values[j]).collect() };
        let (mut logarithm, mut divisors, mut fill) = (false, None, None);
        if let Some(preparation) = men.preparation() {
            if preparation.batches.is_some() {
                return Err(Error::Model(
                    "the model centres batches, which other formats have no place for: prepare samples with menet, or fit without \
                     batches"
                        .to_owned(),
                ));
            }
            logarithm = matches!(preparation.params.scale, Scale::Log1p | Scale::Log1pUnit);
            divisors = preparation.divisors.as_deref().map(of_panel);
            fill = match &preparation.filling {
                None => None,
                Some(Filling::Values(values)) => Some(of_panel(values)),
                Some(Filling::Neighbors(_)) => {
                    return Err(Error::Model(
                        "the model fills missing values from neighbours (impute = knn), which other formats have no place for: fit with \
                         mean or median"
                            .to_owned(),
                    ));
                }
            };
        }
        let mut weights = Mat::zeros(panel.len(), projection.components());
        for (k, axis) in projection.axes().iter().enumerate() {
            for (j, value) in axis.iter() {
                // Every variable of an axis is in the panel.
                if let Ok(place) = panel.binary_search(&j) {
                    weights[(place, k)] = value;
                }
            }
        }
        let names = men.feature_names().map(|names| panel.iter().map(|&j| names[j].as_str()).collect());
        let mean = of_panel(projection.mean());
        let (rule, kind) = (men.rule()?, file.label_kind.unwrap_or(LabelKind::Text));
        Ok(ExportedModel { men, panel, names, logarithm, divisors, fill, mean, weights, rule, kind })
    }

    fn axes(&self) -> usize {
        self.weights.ncols()
    }
}

/// The rows of a matrix.
fn rows(matrix: &Mat<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}
