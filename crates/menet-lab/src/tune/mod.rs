//! Choosing parameters by cross-validation inside the training samples.
//!
//! | room | what |
//! |---|---|
//! | [`selection`] | MEN and its variants: a grid, of which every path serves all sizes, refits, rules and metrics |
//! | [`walk`](mod@walk) | all other methods: one parameter after the other |

pub mod selection;
pub mod walk;

use menet::evaluate::{generator, stratified_folds};
use menet::rules::Metric;
use menet::{Dataset, Men, Method};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::protocol::{FOLDS, MetricChoice, TuneOptions};
pub use selection::{SIZES, Selection};
pub use walk::Trial;

/// What was chosen, and from what.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The method with the parameters chosen.
    pub method: Method,
    /// The dimension chosen; for MEN the number of axes of its fit.
    pub dimension: usize,
    /// The metric chosen.
    pub metric: Metric,
    /// What it was chosen from.
    pub found: Found,
    /// How many fits were made; for MEN, how many times paths were computed.
    pub fits: usize,
    /// The choice fitted on all samples, for MEN.
    pub men: Option<Box<Men>>,
}

/// All that a search tried.
#[derive(Debug, Clone)]
pub enum Found {
    /// By the walk.
    Walk {
        /// The trial that was chosen.
        best: Trial,
        /// All of them.
        trials: Vec<Trial>,
    },
    /// By the grid of MEN.
    Selection(Selection),
}

impl Tuned {
    /// The rate of the choice in cross-validation, in percent.
    pub fn rate(&self) -> f64 {
        match &self.found {
            Found::Walk { best, .. } => best.score.rate(),
            Found::Selection(selection) => selection.best().merit(menet::scores::ScoreKind::Rate),
        }
    }

    /// The largest number of variables that a path of the choice may use, for sparse methods.
    pub fn support(&self) -> Option<usize> {
        match &self.found {
            Found::Walk { best, .. } => best.support(),
            Found::Selection(selection) => selection.best().params.nonzeros,
        }
    }
}

/// Searches the parameters of `method` on `data`, which must be training samples only.
///
/// # Errors
/// When no setting can be fitted, the options are not for this method, or `progress` asks to stop.
pub fn tune(
    method: &Method,
    data: &Dataset<'_>,
    dims: &[usize],
    metric: MetricChoice,
    options: &TuneOptions,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Tuned> {
    if data.classes().len() < 2 {
        return Err(menet::Error::Classes { found: data.classes().len(), samples: data.samples() }.into());
    }
    let folds = stratified_folds(data, options.folds, &mut generator(seed, &[FOLDS]))?;
    match method.men() {
        Some(own) => selection::select(method, own, data, dims, options, &folds, progress),
        None => walk::walk(method, data, dims, metric, options, &folds, progress),
    }
}

/// That the budget does not allow one setting.
fn too_small(budget: usize, fits: usize) -> Error {
    Error::Usage(format!(
        "the budget is {budget} fits, but one setting takes {fits}; raise --budget to {fits} or more"
    ))
}
