//! Choosing parameters by cross-validation inside the training samples.
//!
//! | module | contents |
//! |---|---|
//! | [`selection`] | MEN and its variants: the search of [`menet::select`] |
//! | [`walk`](mod@walk) | all other methods: one parameter at a time |

pub mod selection;
pub mod walk;

use menet::evaluate::{Split, generator, grouped_folds, leave_one_group_out, stratified_folds};
use menet::rules::Metric;
use menet::select::Choice;
use menet::{Dataset, Men, Method};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::protocol::{FOLDS, MetricChoice, TuneOptions};
pub use walk::Trial;

/// The choice of a search, and its trials.
#[derive(Debug, Clone)]
pub struct TuningResult {
    /// The method with the chosen parameters.
    pub method: Method,
    /// The chosen dimension; for MEN the number of axes of its fit.
    pub dimension: usize,
    /// The chosen metric.
    pub metric: Metric,
    /// The trials of the search.
    pub found: TuningTrials,
    /// The number of fits; for MEN, of path computations.
    pub fits: usize,
}

/// The trials of a search.
#[derive(Debug, Clone)]
pub enum TuningTrials {
    /// Of the walk.
    Walk {
        /// The chosen trial.
        best: Trial,
        /// All trials.
        trials: Vec<Trial>,
    },
    /// Of the grid of MEN.
    Selection(Box<Choice>),
}

impl TuningResult {
    /// The choice, fitted on all samples; for MEN.
    pub fn men(&self) -> Option<&Men> {
        match &self.found {
            TuningTrials::Walk { .. } => None,
            TuningTrials::Selection(choice) => Some(&choice.men),
        }
    }

    /// The rate of the choice in cross-validation, in percent.
    pub fn rate(&self) -> f64 {
        match &self.found {
            TuningTrials::Walk { best, .. } => best.score.rate(),
            TuningTrials::Selection(selection) => selection.trial().merit(menet::scores::ScoreKind::Rate),
        }
    }

    /// The largest number of variables that a path of the choice may use, for sparse methods.
    pub fn support(&self) -> Option<usize> {
        match &self.found {
            TuningTrials::Walk { best, .. } => best.support(),
            TuningTrials::Selection(selection) => selection.trial().params.nonzeros,
        }
    }
}

/// Searches the parameters of `method` on `data`, which must be training samples only.
///
/// # Errors
/// When no setting can be fitted, the options do not apply to this method, or `progress` asks to stop.
pub fn tune(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    seed: u64,
    progress: &dyn Progress,
) -> Result<TuningResult> {
    if data.classes().len() < 2 {
        return Err(menet::Error::Classes { found: data.classes().len(), samples: data.samples() }.into());
    }
    let folds = folds(data, None, options.folds, seed)?;
    tune_on(method, data, dims, metric, options, &folds, progress)
}

/// The folds of a search. With groups, samples of one group stay together, or every fold leaves out one group if `true` stands beside them.
///
/// # Errors
/// When there are not enough samples or groups.
pub fn folds(
    data: &Dataset<'_>,
    groups: Option<(&[usize], bool)>,
    count: usize,
    seed: u64,
) -> Result<Vec<Split>> {
    let mut rng = generator(seed, &[FOLDS]);
    Ok(match groups {
        Some((groups, true)) => leave_one_group_out(data, groups)?,
        Some((groups, false)) => grouped_folds(data, groups, count, &mut rng)?,
        None => stratified_folds(data, count, &mut rng)?,
    })
}

/// Searches on given folds.
///
/// # Errors
/// As [`tune`].
pub fn tune_on(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<TuningResult> {
    if data.classes().len() < 2 {
        return Err(menet::Error::Classes { found: data.classes().len(), samples: data.samples() }.into());
    }
    match method.men() {
        Some(own) => selection::select(method, own, data, dims, options, folds, progress),
        None => walk::walk(method, data, dims, metric, options, folds, progress),
    }
}

/// The error if the budget does not allow a single setting.
fn too_small(budget: usize, fits: usize) -> Error {
    Error::Usage(format!(
        "the budget is {budget} fits, but one setting takes {fits}; raise --budget to {fits} or more"
    ))
}
