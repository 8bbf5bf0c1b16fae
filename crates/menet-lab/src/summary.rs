//! From cells to the rows of the table, and to the confusion of classes.
//!
//! A row summarises the repeats of one method on one set at one training size, at one dimension: the one with the best mean
//! rate or, with tuning, the one that each repeat chose.

use std::collections::BTreeMap;

use menet::evaluate::{Mistake, balanced_rate};

use crate::cell::{Cell, CellKey, DimensionResult};
use crate::curves::mean_and_sd;
use crate::protocol::{NamedSet, Protocol};
use crate::study::{Confusion, SummaryRow};

/// The repeats of one method on one set at one training size, each with its results at the reported dimension.
struct ReportedRepeats<'a> {
    place: &'a CellKey,
    dimension: usize,
    repeats: Vec<(&'a Cell, &'a DimensionResult)>,
}

/// One row per set, training size and method, in the order of the cells.
pub fn summarize(protocol: &Protocol, cells: &[Cell]) -> Vec<SummaryRow> {
    let row = |reported: ReportedRepeats<'_>| {
        let mean = |value: &dyn Fn(&Cell, &DimensionResult) -> f64| {
            let values = reported.repeats.iter().map(|(cell, outcome)| value(cell, outcome));
            mean_and_sd(&values.collect::<Vec<_>>())
        };
        let mean_of_known = |value: &dyn Fn(&DimensionResult) -> Option<f64>| {
            let known: Vec<f64> = reported.repeats.iter().filter_map(|(_, outcome)| value(outcome)).collect();
            (!known.is_empty()).then(|| mean_and_sd(&known).0)
        };
        let (rate, sd) = mean(&|_, outcome| outcome.rate);
        SummaryRow {
            data: reported.place.data.clone(),
            train_per_class: reported.place.train_per_class,
            method: reported.place.method.clone(),
            rate,
            sd,
            balanced: mean(&|cell, outcome| balanced_rate(&cell.tested, &outcome.mistakes).unwrap_or(0.0)).0,
            log_loss: mean_of_known(&|outcome| outcome.log_loss),
            auc: mean_of_known(&|outcome| outcome.auc),
            dimension: reported.dimension,
            variables: mean(&|_, outcome| outcome.variables as f64).0,
            seconds: mean(&|cell, _| cell.seconds).0,
        }
    };
    reported(protocol, cells).into_iter().map(row).collect()
}

/// The confusion of classes, for the same rows. `sets` name the classes.
pub fn confusions(protocol: &Protocol, cells: &[Cell], sets: &[NamedSet<'_>]) -> Vec<Confusion> {
    let confusion = |reported: ReportedRepeats<'_>| {
        let set = sets.iter().find(|set| set.name == reported.place.data)?;
        let mut tested = vec![0; set.data.classes().len()];
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (cell, outcome) in &reported.repeats {
            tested.iter_mut().zip(&cell.tested).for_each(|(sum, count)| *sum += count);
            for &Mistake { class, taken_for, count } in &outcome.mistakes {
                *counts.entry((class, taken_for)).or_insert(0) += count;
            }
        }
        let mistakes = counts.into_iter();
        Some(Confusion {
            data: reported.place.data.clone(),
            train_per_class: reported.place.train_per_class,
            method: reported.place.method.clone(),
            classes: set.data.classes().to_vec(),
            tested,
            mistakes: mistakes
                .map(|((class, taken_for), count)| Mistake { class, taken_for, count })
                .collect(),
        })
    };
    reported(protocol, cells).into_iter().filter_map(confusion).collect()
}

fn reported<'a>(protocol: &Protocol, cells: &'a [Cell]) -> Vec<ReportedRepeats<'a>> {
    let mut groups: Vec<(&CellKey, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let at = &cell.place;
        let same = |place: &CellKey| at.is_repeat_of(&place.data, place.train_per_class, &place.method);
        match groups.iter_mut().find(|(place, _)| same(place)) {
            Some((_, repeats)) => repeats.push(cell),
            None => groups.push((at, vec![cell])),
        }
    }
    let mut rows = Vec::new();
    for (place, mut repeats) in groups {
        repeats.retain(|cell| cell.failed.is_none());
        let found = if protocol.tune.is_some() { at_choice(&repeats) } else { at_best(&repeats) };
        if let Some((dimension, outcomes)) = found {
            rows.push(ReportedRepeats {
                place,
                dimension,
                repeats: repeats.into_iter().zip(outcomes).collect(),
            });
        }
    }
    rows
}

/// The dimension with the best mean rate (the smallest among equals), and the results there.
fn at_best<'a>(repeats: &[&'a Cell]) -> Option<(usize, Vec<&'a DimensionResult>)> {
    let at = |dimension: usize| -> Option<Vec<&'a DimensionResult>> {
        let find = |cell: &&'a Cell| cell.outcomes.iter().find(|outcome| outcome.dimension == dimension);
        repeats.iter().map(find).collect()
    };
    let mean = |found: &[&DimensionResult]| {
        found.iter().map(|outcome| outcome.rate).sum::<f64>() / found.len() as f64
    };
    let dimensions = repeats.first()?.outcomes.iter().map(|outcome| outcome.dimension);
    let candidates = dimensions.filter_map(|dimension| Some((dimension, at(dimension)?)));
    candidates.reduce(|best, next| if mean(&next.1) > mean(&best.1) + 1e-9 { next } else { best })
}

/// The median of the chosen dimensions, and the results of every repeat at its own choice.
fn at_choice<'a>(repeats: &[&'a Cell]) -> Option<(usize, Vec<&'a DimensionResult>)> {
    let mut chosen: Vec<usize> = repeats
        .iter()
        .map(|cell| cell.chosen.as_ref().map(|choice| choice.dimension))
        .collect::<Option<_>>()?;
    // All training samples may give fewer axes than a fold did. Then the largest dimension below the choice counts.
    let up_to = |(cell, &most): (&&'a Cell, &usize)| {
        cell.outcomes.iter().rev().find(|outcome| outcome.dimension <= most)
    };
    let found = repeats.iter().zip(&chosen).map(up_to).collect::<Option<_>>()?;
    chosen.sort_unstable();
    Some((*chosen.get(chosen.len().checked_sub(1)? / 2)?, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::MethodParams;
    use crate::protocol::MetricChoice;

    /// Class, given class, count.
    type MistakeCounts<'a> = &'a [(usize, usize, usize)];

    /// `found` is dimension, rate, variables and mistakes.
    fn cell(repeat: usize, found: &[(usize, f64, usize, MistakeCounts<'_>)]) -> Cell {
        let outcome =
            |&(dimension, rate, variables, wrong): &(usize, f64, usize, MistakeCounts<'_>)| DimensionResult {
                dimension,
                rate,
                variables,
                mistakes: wrong.iter().copied().map(Mistake::from).collect(),
                log_loss: (dimension == 2).then_some(rate / 100.0),
                auc: None,
            };
        Cell {
            place: CellKey { data: "d".to_owned(), train_per_class: 2, repeat, method: "men".to_owned() },
            outcomes: found.iter().map(outcome).collect(),
            tested: vec![8, 2],
            seconds: 1.0,
            chosen: None,
            remarks: Vec::new(),
            unsettled: None,
            failed: None,
        }
    }

    fn protocol() -> Protocol {
        Protocol {
            methods: vec!["men".to_owned()],
            train_per_class: vec![2],
            repeats: 2,
            dims: Vec::new(),
            seed: 0,
            metric: MetricChoice::Euclidean,
            subset_classes: None,
            min_per_class: None,
            tune: None,
            prepare: menet::prepare::PrepareParams::default(),
            params: MethodParams::default(),
        }
    }

    #[test]
    fn a_row_is_read_at_the_best_dimension() {
        let cells = [
            cell(0, &[(1, 70.0, 3, &[(0, 1, 3)]), (2, 90.0, 5, &[(1, 0, 1)])]),
            cell(1, &[(1, 60.0, 3, &[(0, 1, 4)]), (2, 80.0, 6, &[(0, 1, 1), (1, 0, 1)])]),
        ];
        let rows = summarize(&protocol(), &cells);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].rate, rows[0].dimension, rows[0].variables), (85.0, 2, 5.5));
        assert_eq!(rows[0].sd, Some(50.0_f64.sqrt()));
        // (100 + 50)/2 and (87.5 + 50)/2.
        assert_eq!(rows[0].balanced, (75.0 + 68.75) / 2.0);
        // Scores at the same dimension; none where no repeat has one.
        assert!((rows[0].log_loss.unwrap() - 0.85).abs() < 1e-12 && rows[0].auc.is_none());
        assert_eq!(cells[1].recalls(&cells[1].outcomes[1]), [Some(87.5), Some(50.0)]);

        let x = faer::Mat::from_fn(4, 1, |i, _| i as f64);
        let data = menet::Dataset::from_owned(x, &["a", "a", "b", "b"]).unwrap();
        let sets = [NamedSet { name: "d".to_owned(), data, rows: None, ids: None }];
        let confusion = confusions(&protocol(), &cells, &sets).remove(0);
        assert_eq!(
            (confusion.classes.as_slice(), confusion.tested.as_slice()),
            (&["a".to_owned(), "b".to_owned()][..], &[16, 4][..])
        );
        assert_eq!(confusion.mistakes, [(0, 1, 1), (1, 0, 2)].map(Mistake::from));
        assert_eq!(confusion.recalls(), [Some(93.75), Some(50.0)]);
        // Every repeat tests the same number of samples per class, so both ways to average agree.
        assert_eq!(confusion.balanced(), Some(rows[0].balanced));
    }

    #[test]
    fn one_repeat_has_no_deviation_and_a_failed_one_does_not_count() {
        let mut failed = cell(1, &[]);
        failed.failed = Some("why".to_owned());
        let one = cell(0, &[(1, 70.0, 3, &[])]);
        assert_eq!(summarize(&protocol(), std::slice::from_ref(&one))[0].sd, None);
        assert_eq!(summarize(&protocol(), &[one, failed.clone()])[0].sd, None);
        assert!(summarize(&protocol(), &[failed]).is_empty());
    }
}
