//! A fitted model, and the models of fewer variables that can be read off it.
//!
//! | file | holds |
//! |---|---|
//! | `parts` | everything a model is made of, for those who store it |
//! | `assemble` | from paths to a model, and to smaller ones |
//! | `panel_table` | what is known of the variables of the panel |
//! | `doubts` | what a careful user should know of a fit |

mod assemble;
mod doubts;
mod panel_table;
mod parts;

use faer::{Mat, MatRef};

pub use assemble::Undecided;
pub use panel_table::PanelRow;
pub use parts::{Component, MenParts, PanelVariable};

use crate::error::{Error, Result};
use crate::lars::{Certificate, Path};
use crate::monitor::Stage;
use crate::numerics::sparse::SparseVector;
use crate::operator::DefinitenessReport;
use crate::params::MenParams;
use crate::plan::Regime;
use crate::projection::Projection;
use crate::refit::RefitReport;
use crate::rules::Learned;

/// A fitted model. It holds the whole path of every axis, so that sparser or smaller models need no new fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Men {
    parts: MenParts,
}

impl Men {
    /// A model from its parts, which must fit together.
    ///
    /// # Errors
    /// When they do not.
    pub fn from_parts(parts: MenParts) -> Result<Self> {
        parts.check()?;
        Ok(Men { parts })
    }

    /// What the model is made of.
    pub fn parts(&self) -> &MenParts {
        &self.parts
    }

    /// The same model without its paths: smaller, but it can no longer be made sparser.
    #[must_use]
    pub fn without_paths(mut self) -> Self {
        self.parts.paths = Vec::new();
        self
    }

    /// The distinct variables that the axes use, rising.
    pub fn panel(&self) -> Vec<usize> {
        self.parts.panel.iter().map(|row| row.variable).collect()
    }

    /// What the refit did.
    pub fn refit(&self) -> &RefitReport {
        &self.parts.refit
    }

    /// The rule that decides in the projected space.
    ///
    /// # Errors
    /// When the model has none, because it was made smaller without its training samples.
    pub fn rule(&self) -> Result<&Learned> {
        self.parts.rule.as_ref().ok_or_else(|| {
            Error::Degenerate(
                "this model was made smaller without its training samples: it can transform, but not predict"
                    .to_owned(),
            )
        })
    }

    /// Projects samples (rows of `x`): `(x − mean) W`.
    ///
    /// # Errors
    /// When the number of columns is not that of the training data, or a value is not finite.
    pub fn transform(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.parts.projection.transform(x)
    }

    /// The projection: sparse W in the user's units, and the mean.
    pub fn projection(&self) -> &Projection {
        &self.parts.projection
    }

    /// The parameters of the fit.
    pub fn params(&self) -> &MenParams {
        &self.parts.params
    }

    /// The path of every axis, in the solver's units; empty if they were left out.
    pub fn paths(&self) -> &[Path] {
        &self.parts.paths
    }

    /// Coefficients of a path, in the solver's units, as weights in W, in the user's.
    pub fn weights(&self, coefficients: &SparseVector) -> SparseVector {
        coefficients.map(|j, value| value * self.parts.units[j])
    }

    /// The certificate of every axis, the worst over its path.
    pub fn certificates(&self) -> Vec<Certificate> {
        self.parts.components.iter().map(|component| component.certificate).collect()
    }

    /// The number K of variables that a path was allowed. Of a model without paths whose parameters leave it open, the most that
    /// one uses.
    pub fn nonzeros(&self) -> usize {
        let given = self.parts.params.nonzeros.map(|k| k.min(self.parts.projection.variables()));
        let of_paths = self.parts.paths.first().and_then(Path::max_nonzeros);
        of_paths.or(given).or(self.support_sizes().into_iter().max()).unwrap_or(0)
    }

    /// How many variables every axis uses.
    pub fn support_sizes(&self) -> Vec<usize> {
        self.parts.projection.axes().iter().map(SparseVector::nonzeros).collect()
    }

    /// The level λ at which the path of every axis was read.
    pub fn levels(&self) -> Vec<f64> {
        self.parts.components.iter().map(|component| component.level).collect()
    }

    /// The share of true neighbours that the approximate search found; none if it was exact.
    pub fn neighbor_recall(&self) -> Option<f64> {
        self.parts.neighbor_recall
    }

    /// What the definiteness policy found and did.
    pub fn definiteness(&self) -> &DefinitenessReport {
        &self.parts.definiteness
    }

    /// Which way the fit went, and why; none for a model of a version that did not tell.
    pub fn regime(&self) -> Option<&Regime> {
        self.parts.regime.as_ref()
    }

    /// The worst relative residual of the conjugate gradients, if they built the Gram matrix.
    pub fn cg_residual(&self) -> Option<f64> {
        self.parts.cg_residual
    }

    /// Seconds every stage of the fit took, in order.
    pub fn seconds(&self) -> &[(Stage, f64)] {
        &self.parts.seconds
    }

    /// Class names, sorted.
    pub fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    /// Names of the variables, if the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.feature_names.as_deref()
    }

    /// Height and width of the images that the samples are, if the data said so.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        self.parts.image_shape
    }
}
