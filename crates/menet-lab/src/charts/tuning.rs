//! What tuning saw: for MEN the cross-validated score against the number of variables, one line per refit; for other methods the
//! cross-validated rate against the number of variables per axis, or the dimension.

use std::collections::BTreeMap;

use menet::Named;
use menet::refit::Refit;
use menet::scores::ScoreKind;
use menet::select::Choice;

use super::lines::{Axis, Lines, Series, heights, percentages, round_number};
use crate::names::shown;
use crate::output::words;
use crate::tune::selection::{mean, usable};
use crate::tune::{Trial, TuningResult, TuningTrials};

/// The chart of a search.
pub(crate) fn tuning(tuned: &TuningResult, source: &str) -> Lines {
    // In text the method `men` is called MEN.
    let name = match tuned.method.name() {
        "men" => "MEN",
        other => other,
    };
    let title = format!("Tuning {name} on {}", shown(source, 60));
    let chart = match &tuned.found {
        TuningTrials::Walk { best, trials } => of_walk(tuned, best, trials),
        TuningTrials::Selection(selection) => of_selection(selection),
    };
    Lines { title, ..chart }
}

/// One line per refit: at every size that was tried the best over all other parameters, with a band of one standard error.
fn of_selection(selection: &Choice) -> Lines {
    let score = selection.score;
    let percent = matches!(score, ScoreKind::Rate | ScoreKind::Balanced);
    let usable: Vec<&menet::select::Trial> =
        usable(selection).filter(|trial| mean(trial, score).is_some()).collect();
    let mut series = Vec::new();
    for (number, &refit) in Refit::ALL.iter().enumerate() {
        let mut by_size: BTreeMap<(Option<usize>, Option<usize>), &menet::select::Trial> = BTreeMap::new();
        for &trial in usable.iter().filter(|trial| trial.params.refit.kind() == refit) {
            let best = by_size.entry((trial.params.panel_size, trial.params.nonzeros)).or_insert(trial);
            // The one that was chosen is on its line, also among equals.
            let chosen = std::ptr::eq(trial, selection.trial());
            let (new, old) = (trial.merit(score), best.merit(score));
            if new > old || (new == old && chosen) {
                *best = trial;
            }
        }
        let mut rows: Vec<(f64, f64, f64)> = by_size
            .values()
            .filter_map(|trial| {
                Some((trial.variables.max(1.0), mean(trial, score)?, trial.standard_error(score)))
            })
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let top = if percent { 100.0 } else { f64::INFINITY };
        let ends = rows.iter().map(|(_, mean, error)| ((mean - error).max(0.0), (mean + error).min(top)));
        let points = rows.iter().map(|&(x, mean, _)| (x, mean)).collect();
        let line = Series::line(number, 1.8, points).dotted(number, 4.0).banded(0.12, ends.collect());
        series.extend((!rows.is_empty()).then(|| line.named(format!("refit {}", refit.name()))));
    }
    let places = || series.iter().flat_map(|line: &Series| line.points.iter().map(|point| point.0));
    let (least, most) = (places().fold(f64::INFINITY, f64::min), places().fold(1.0, f64::max));
    let best = selection.trial();
    let at = (best.variables.max(1.0), mean(best, score).unwrap_or(0.0));
    series.push(Series::dots(6, 8.0, vec![at]).named("chosen"));
    let (low, high) = heights(&series);
    let pad = ((high - low) / 20.0).max(1e-3);
    let limits = if percent { percentages((low, high)) } else { ((low - pad).max(0.0), high + pad) };
    let better = if score == ScoreKind::LogLoss { ", lower is better" } else { "" };
    let unit = if percent { " (%)" } else { "" };
    let sizes = (round_number(least / 1.1, false), round_number(most * 1.1, true));
    Lines {
        note: format!(
            "in cross-validation{better}: at every size the best of all other settings; bands are one standard error\n{}",
            shown(&selection.reason, 300)
        ),
        x: Axis::sizes("distinct variables of all axes together, mean over the folds", sizes),
        y: Axis::from_to(format!("{}{unit}", words(score)), limits),
        series,
        ..Lines::default()
    }
}

/// The chosen setting at its dimension, with a band of one standard error, and the best over all settings and dimensions. A
/// method without a number of variables is shown against the dimension.
fn of_walk(tuned: &TuningResult, best_trial: &Trial, trials: &[Trial]) -> Lines {
    let sparse = best_trial.support().is_some();
    let place = |trial: &Trial| if sparse { trial.support().unwrap_or(0) } else { trial.dimension };
    let same_kind = |trial: &&Trial| trial.metric == tuned.metric;
    let chosen: BTreeMap<usize, &Trial> = trials
        .iter()
        .filter(same_kind)
        .filter(|trial| trial.without_support() == best_trial.without_support())
        .filter(|trial| !sparse || trial.dimension == tuned.dimension)
        .map(|trial| (place(trial), trial))
        .collect();
    let mut best: BTreeMap<usize, f64> = BTreeMap::new();
    for trial in trials.iter().filter(same_kind) {
        let most = best.entry(place(trial)).or_insert(0.0);
        *most = most.max(trial.score.rate());
    }
    let own = if sparse {
        format!("the chosen setting, {} dimensions", tuned.dimension)
    } else {
        "the chosen setting".to_owned()
    };
    let ends = |trial: &&Trial| {
        let (rate, error) = (trial.score.rate(), trial.standard_error);
        ((rate - error).max(0.0), (rate + error).min(100.0))
    };
    let ends = chosen.values().map(ends).collect();
    let of_chosen = chosen.iter().map(|(&x, trial)| (x as f64, trial.score.rate())).collect();
    let of_best = best.iter().map(|(&x, &rate)| (x as f64, rate)).collect();
    let line = |number, points| Series::line(number, 1.8, points).dotted(number, 4.0);
    let series = vec![
        line(1, of_best).named("the best of all settings"),
        line(0, of_chosen).banded(0.15, ends).named(own),
        Series::dots(6, 8.0, vec![(place(best_trial) as f64, best_trial.score.rate())]).named("chosen"),
    ];
    let x_label = if sparse { "variables an axis may use (K)" } else { "dimension of the projected space" };
    Lines {
        note: "cross-validated rate; the band is one standard error over the folds".to_owned(),
        x: Axis { whole: true, ..Axis::new(x_label) },
        y: Axis::from_to("recognition rate (%)", percentages(heights(&series))),
        series,
        ..Lines::default()
    }
}
