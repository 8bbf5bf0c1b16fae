//! MEN and its variants: the search of [`menet::select`], with its trials as a table.

mod columns;

use std::time::Instant;

use menet::evaluate::Split;
use menet::scores::ScoreKind;
use menet::select::{Choice, Trial};
use menet::{Dataset, Error as CoreError, MenParams, Method};

use super::{TuningResult, TuningTrials};
use crate::cell::out_of_reach;
use crate::error::{Error, Result};
use crate::progress::{Progress, QuietProgress, Status, TimeLeft, proportional};
use crate::protocol::TuneOptions;
pub(crate) use columns::{COLUMNS, cells};

/// The mean of a score over the folds of a trial; none if unknown.
pub fn mean(trial: &Trial, score: ScoreKind) -> Option<f64> {
    let merit = trial.merit(score);
    let value = if score == ScoreKind::LogLoss { -merit } else { merit };
    value.is_finite().then_some(value)
}

/// The trials that could be fitted.
pub(crate) fn usable(choice: &Choice) -> impl Iterator<Item = &Trial> {
    choice.trials.iter().filter(|trial| !trial.folds.is_empty())
}

/// Chooses the parameters of a variant of MEN. What its `own` parameters give is kept.
///
/// # Errors
/// When no setting can be fitted, none of `dims` is possible, or `progress` asks to stop.
pub(super) fn select(
    method: &Method,
    own: &MenParams,
    data: &Dataset<'_>,
    dims: &[usize],
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> Result<TuningResult> {
    let limit = own.components.unwrap_or(usize::MAX).min(data.classes().len() - 1);
    let largest = largest(dims, limit)?;
    let mut base = open(method, own);
    base.components = if largest == limit { own.components } else { Some(largest) };
    let choice = match run(&base, data, options, folds, progress) {
        // The data have fewer axes than the classes allow, which is known before any path is computed.
        Err(CoreError::Components { limit, .. }) if limit > 0 => {
            base.components = Some(self::largest(dims, limit)?);
            run(&base, data, options, folds, progress)
        }
        done => done,
    };
    let choice = choice.map_err(|source| match source {
        stopped @ CoreError::Stopped { .. } => Error::Core(stopped),
        source => Error::Method { context: method.name().to_owned(), source },
    })?;
    let dimension = choice.men.projection().components();
    if dims.iter().all(|&d| d > dimension) {
        return Err(out_of_reach(dimension).into());
    }
    let params = choice.params().clone();
    Ok(TuningResult {
        metric: params.rule.on_several().metric,
        method: method.clone().with_men(params),
        dimension,
        fits: options.search.grid(&base, data).paths_per_fold() * folds.len(),
        found: TuningTrials::Selection(Box::new(choice)),
    })
}

/// The search, with progress in words.
fn run(
    base: &MenParams,
    data: &Dataset<'_>,
    options: &TuneOptions,
    folds: &[Split],
    progress: &dyn Progress,
) -> menet::Result<Choice> {
    let began = Instant::now();
    let tell = |done: usize, total: usize| {
        let left = proportional(began.elapsed(), done, total).map(TimeLeft::AtMost);
        progress.status(Status { now: "trying settings".to_owned(), done, total, left });
    };
    options.search.run(data, base, folds, &QuietProgress(progress), &tell)
}

/// The parameters of a method, where a search may choose those that no user set: the paper gives no ridge.
fn open(method: &Method, own: &MenParams) -> MenParams {
    let paper = MenParams::paper();
    let ridge = match method {
        Method::MenPaper(_) if own.ridge == paper.ridge => None,
        _ => own.ridge,
    };
    own.clone().with(|it| it.ridge = ridge)
}

/// The largest of `dims` that is possible.
fn largest(dims: &[usize], limit: usize) -> Result<usize> {
    Ok(dims.iter().copied().filter(|&d| d <= limit).max().ok_or_else(|| out_of_reach(limit))?)
}
