//! A fitted model, and the models of fewer variables that can be read off it.
//!
//! | file | holds |
//! |---|---|
//! | `parts` | everything a model is made of, for code that stores it |
//! | `assemble` | from paths to a model, and to smaller ones |
//! | `untrained` | smaller models without the training samples |
//! | `panel_table` | what is known of the variables of the panel |
//! | `on_panel` | the model for samples that have the panel alone |
//! | `doubts` | what a careful user should know about a fit |
//! | `new_samples` | what is doubtful about new samples |

mod assemble;
mod doubts;
mod new_samples;
mod on_panel;
mod panel_table;
mod parts;
mod untrained;

use faer::{Mat, MatRef};

pub use assemble::ModelWithoutRule;
pub use new_samples::{FarSample, SampleDoubts};
pub use panel_table::PanelRow;
pub use parts::{Component, MenParts, PanelVariable};

use crate::dataset::{Batches, Dataset, View};
use crate::error::{Error, Result};
use crate::lars::{Certificate, Path};
use crate::monitor::Stage;
use crate::numerics::sparse::SparseVector;
use crate::panel::free;
use crate::params::MenParams;
use crate::prepare::Preparation;
use crate::projection::Projection;
use crate::refit::RefitReport;
use crate::report::FitReport;
use crate::rules::LearnedRule;

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

    /// This model without its paths: smaller, but it can no longer be made sparser.
    #[must_use]
    pub fn without_paths(mut self) -> Self {
        self.parts.paths = Vec::new();
        self
    }

    /// The distinct variables that the axes use, rising.
    pub fn panel(&self) -> Vec<usize> {
        self.parts.panel.iter().map(|row| row.variable).collect()
    }

    /// The variables that are in every model, rising: those that the parameters have as `always` or with a penalty factor of 0, without
    /// constant ones. No limit counts them. Their weight may still happen to be 0.
    pub fn always(&self) -> Vec<usize> {
        if !self.parts.paths.is_empty() {
            return free(&self.parts.paths);
        }
        let p = self.parts.projection.variables();
        let wanted = self.parts.params.always_in(self.feature_names(), p).unwrap_or_default();
        self.panel().into_iter().filter(|j| wanted.binary_search(j).is_ok()).collect()
    }

    /// The variables of the panel that were selected, rising: those that are not always in, which a limit counts.
    pub fn selected(&self) -> Vec<usize> {
        let always = self.always();
        self.panel().into_iter().filter(|j| always.binary_search(j).is_err()).collect()
    }

    /// The variables that the parameters bar from every model, rising.
    pub fn never(&self) -> Vec<usize> {
        let p = self.parts.projection.variables();
        self.parts.params.never_in(self.feature_names(), p).unwrap_or_default()
    }

    /// The name of a variable, or its number from 1 if it has none.
    pub fn name_of(&self, j: usize) -> String {
        self.feature_names().map_or_else(|| (j + 1).to_string(), |names| names[j].clone())
    }

    /// What the refit did.
    pub fn refit(&self) -> &RefitReport {
        &self.parts.refit
    }

    /// The rule that decides in the projected space.
    ///
    /// # Errors
    /// When the model has none, because it was made smaller without its training samples.
    pub fn rule(&self) -> Result<&LearnedRule> {
        self.parts.rule.as_ref().ok_or_else(|| {
            Error::Degenerate(
                "this model was made smaller without its training samples: it can transform, but not predict; fit again with this \
                 size to predict"
                    .to_owned(),
            )
        })
    }

    /// Projects samples (rows of `x`): `(x − mean) W`, where x is prepared first if the model does so.
    ///
    /// # Errors
    /// When the number of columns is not that of the training data, a value is not finite (missing ones pass if the model fills them),
    /// or the model needs to know the batches of samples ([`Self::transform_batches`]).
    pub fn transform(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.transform_batches(View::Double(x), None)
    }

    /// Projects dense or sparse samples. `batches` are the names of their batches, which a model with batches needs. A new batch is
    /// measured by its samples here, of which there must be at least two.
    ///
    /// A sample that lacks every value of the panel has no place: all its scores are NaN. A rule gives it the probabilities that classes
    /// have before anything is measured.
    ///
    /// # Errors
    /// As [`Self::transform`].
    pub fn transform_batches(&self, x: View<'_>, batches: Option<&[String]>) -> Result<Mat<f64>> {
        let Some(preparation) = &self.parts.preparation else { return self.parts.projection.project_view(x) };
        let panel = if self.fills() { self.panel() } else { Vec::new() };
        let (prepared, missing) = preparation.apply_counting(x, batches, &panel)?;
        let mut z = self.parts.projection.project_view(prepared.view())?;
        let unknown = (0..missing.len()).filter(|&i| !panel.is_empty() && missing[i] == panel.len());
        unknown.for_each(|i| z.row_mut(i).fill(f64::NAN));
        Ok(z)
    }

    /// Projects the samples of a data set.
    ///
    /// # Errors
    /// As [`Self::transform`].
    pub fn project(&self, data: &Dataset<'_>) -> Result<Mat<f64>> {
        let batches = self.parts.preparation.as_ref().and(data.batches());
        self.transform_batches(data.view(), batches.map(Batches::names_of_samples).as_deref())
    }

    /// How samples are prepared before they are projected; none if they are taken as they are.
    pub fn preparation(&self) -> Option<&Preparation> {
        self.parts.preparation.as_ref()
    }

    /// Whether samples may lack values, which the model fills.
    pub fn fills(&self) -> bool {
        self.preparation().is_some_and(|preparation| preparation.filling.is_some())
    }

    /// This model for samples that are prepared in this way first, which took so many seconds.
    pub(crate) fn prepared_by(mut self, preparation: Preparation, seconds: f64) -> Result<Self> {
        self.parts.params.prepare = preparation.params;
        self.parts.preparation = Some(preparation);
        let stages = self.parts.report.seconds.iter_mut();
        stages.filter(|(stage, _)| *stage == Stage::Preprocess).for_each(|(_, spent)| *spent += seconds);
        Men::from_parts(self.parts)
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

    /// The number K of variables that a path was allowed. For a model without paths whose parameters do not set K: the largest
    /// number that an axis uses.
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

    /// What the fit found and did: definiteness, the way it went, recall, residuals, seconds.
    pub fn report(&self) -> &FitReport {
        &self.parts.report
    }

    /// Class names, sorted.
    pub fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    /// Names of the variables, if the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.feature_names.as_deref()
    }

    /// Height and width of the images, if the samples are known to be images.
    pub fn image_shape(&self) -> Option<(usize, usize)> {
        self.parts.image_shape
    }
}
