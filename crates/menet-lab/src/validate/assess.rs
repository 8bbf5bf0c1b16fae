//! From the decisions on held-out samples to scores.

use std::collections::BTreeSet;

use faer::Mat;
use menet::Dataset;
use menet::evaluate::Split;
use menet::scores::{Scores, scores_of};

use super::intervals;
use super::procedure::Decisions;
use super::{Interval, MethodResult, RepeatRow, SampleResult};
use crate::error::Result;
use crate::protocol::NamedSet;

/// The scores of one repeat: the decisions of all of its folds together.
pub(super) fn scores(data: &Dataset<'_>, folds: &[(&Split, &Decisions)]) -> Result<Scores> {
    let classes = data.classes().len();
    let (mut truth, mut given, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = true;
    for (split, decided) in folds {
        truth.extend(split.test.iter().map(|&i| data.class_of(i)));
        given.extend_from_slice(&decided.given);
        match &decided.probabilities {
            Some(probabilities) => rows.extend(probabilities.iter()),
            None => known = false,
        }
    }
    let logs = known.then(|| Mat::from_fn(truth.len(), classes, |i, k| rows[i][k].ln().min(0.0)));
    Ok(scores_of(&truth, &given, classes, logs.as_ref().map(Mat::as_ref))?)
}

/// How a procedure did over all repeats. `repeats` has the folds of every repeat with their decisions.
pub(super) fn assess(
    name: &str,
    set: &NamedSet<'_>,
    groups: Option<&[usize]>,
    repeats: &[Vec<(&Split, &Decisions)>],
) -> Result<MethodResult> {
    let data = &set.data;
    let count = data.classes().len();
    let mut samples: Vec<SampleResult> = (0..data.samples())
        .map(|i| SampleResult {
            row: set.row(i),
            name: set.ids.and_then(|ids| ids.get(set.row(i))).cloned(),
            class: data.class_of(i),
            tested: 0,
            wrong: 0,
            given: vec![0; count],
            probabilities: vec![0.0; count],
        })
        .collect();
    let mut confusion = vec![vec![0; count]; count];
    let mut losses = vec![0.0; data.samples()];
    let (mut known, mut choices, mut rows) = (true, Vec::new(), Vec::new());
    for (repeat, folds) in repeats.iter().enumerate() {
        let scores = scores(data, folds)?;
        let variables = folds.iter().map(|(_, decided)| decided.variables as f64).sum::<f64>();
        rows.push(RepeatRow {
            repeat,
            balanced: scores.balanced / 100.0,
            rate: scores.rate / 100.0,
            auc: scores.auc,
            log_loss: scores.log_loss,
            variables: variables / folds.len().max(1) as f64,
        });
        for (split, decided) in folds {
            choices.push(decided.choice.clone());
            for (at, (&i, &class)) in split.test.iter().zip(&decided.given).enumerate() {
                let sample = &mut samples[i];
                sample.tested += 1;
                sample.wrong += usize::from(class != sample.class);
                sample.given[class] += 1;
                confusion[sample.class][class] += 1;
                let Some(probabilities) = &decided.probabilities else {
                    known = false;
                    continue;
                };
                for (sum, probability) in sample.probabilities.iter_mut().zip(&probabilities[at]) {
                    *sum += probability;
                }
                losses[i] -= probabilities[at][sample.class].max(f64::EPSILON).ln();
            }
        }
    }
    for sample in &mut samples {
        sample.probabilities.iter_mut().for_each(|sum| *sum /= sample.tested.max(1) as f64);
        if !known {
            sample.probabilities.clear();
        }
    }
    // Decisions share training samples, and err together where these mislead. As many units as a training part has make up for it:
    // without this, 95 % intervals covered 92 % (`intervals_cover_the_accuracy_on_new_samples`).
    let folds = repeats.first().map_or(1, Vec::len).max(2) as f64;
    let units = |of: &dyn Fn(&SampleResult) -> bool| units(&samples, groups, of) * (1.0 - 1.0 / folds);
    let recalls: Vec<Option<Interval>> = (0..count)
        .map(|class| {
            let tested: usize = confusion[class].iter().sum();
            let fraction = confusion[class][class] as f64 / tested as f64;
            (tested > 0).then(|| intervals::wilson(fraction, units(&|sample| sample.class == class)))
        })
        .collect();
    let mean = |of: &dyn Fn(&RepeatRow) -> Option<f64>| -> Option<f64> {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
    };
    let all = units(&|_| true);
    let of_class = |(class, recall): (usize, &Option<Interval>)| {
        Some((recall.as_ref()?.mean, units(&|sample| sample.class == class)))
    };
    let tested: Vec<(f64, f64)> = recalls.iter().enumerate().filter_map(of_class).collect();
    let auc = mean(&|row| row.auc).map(|area| {
        let of_class = |class: usize| {
            let inside = units(&|sample| sample.class == class);
            intervals::auc(area, inside, units(&|sample| sample.class != class))
        };
        let parts: Vec<Interval> =
            (0..count).filter(|&class| recalls[class].is_some()).map(of_class).collect();
        intervals::mean_of_dependent(&parts)
    });
    let log_loss = known.then(|| {
        let of: Vec<f64> = samples
            .iter()
            .zip(&losses)
            .filter(|(sample, _)| sample.tested > 0)
            .map(|(sample, loss)| loss / sample.tested as f64)
            .collect();
        let found = intervals::student(&of, all);
        Interval { low: found.low.max(0.0), ..found }
    });
    Ok(MethodResult {
        name: name.to_owned(),
        balanced: intervals::balanced(&tested),
        rate: intervals::wilson(mean(&|row| Some(row.rate)).unwrap_or(f64::NAN), all),
        auc,
        log_loss,
        recalls,
        confusion,
        variables: mean(&|row| Some(row.variables)).unwrap_or(f64::NAN),
        samples,
        repeats: rows,
        choices: if choices.iter().all(String::is_empty) { Vec::new() } else { choices },
    })
}

/// How many independent units were tested: groups or, without groups, samples.
fn units(samples: &[SampleResult], groups: Option<&[usize]>, of: &dyn Fn(&SampleResult) -> bool) -> f64 {
    let tested = samples.iter().enumerate().filter(|(_, sample)| sample.tested > 0 && of(sample));
    match groups {
        None => tested.count() as f64,
        Some(groups) => tested.map(|(i, _)| groups[i]).collect::<BTreeSet<usize>>().len() as f64,
    }
}
