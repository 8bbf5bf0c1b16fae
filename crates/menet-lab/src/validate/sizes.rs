//! How good models of every size are.

use menet::select::{self, Choice, Trial};

use super::SizeRow;
use super::men::ChosenModel;

/// One row per size that was tried, from the best setting of that size; empty if nothing was chosen.
pub(super) fn rows(chosen: &ChosenModel) -> Vec<SizeRow> {
    let Some(Choice { trials, chosen: place, score, .. }) = &chosen.choice else { return Vec::new() };
    let (place, score) = (*place, *score);
    let size = |trial: &Trial| (trial.params.panel_size, trial.params.nonzeros);
    let best = select::best(trials, score, false);
    let mut sizes: Vec<_> = Vec::new();
    for trial in trials.iter().filter(|trial| !trial.folds.is_empty()) {
        if !sizes.contains(&size(trial)) {
            sizes.push(size(trial));
        }
    }
    let row = |of: &(Option<usize>, Option<usize>)| {
        let places: Vec<usize> = (0..trials.len()).filter(|&at| size(&trials[at]) == *of).collect();
        let own: Vec<Trial> = places.iter().map(|&at| trials[at].clone()).collect();
        // The chosen setting stands for its size.
        let at = match places.contains(&place) {
            true => place,
            false => places[select::best(&own, score, false)?],
        };
        let balanced = menet::scores::ScoreKind::Balanced;
        Some(SizeRow {
            variables: trials[at].variables,
            balanced: trials[at].merit(balanced) / 100.0,
            standard_error: trials[at].standard_error(balanced) / 100.0,
            chosen: at == place,
            best: best.is_some_and(|best| size(&trials[best]) == *of),
        })
    };
    let mut rows: Vec<SizeRow> = sizes.iter().filter_map(row).collect();
    rows.sort_by(|a, b| a.variables.total_cmp(&b.variables));
    rows
}
