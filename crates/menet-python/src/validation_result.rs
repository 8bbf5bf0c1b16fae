//! What a validation found, as dictionaries that the package makes its own classes from.

use menet_lab::validate::{self, Interval, MethodResult, Validation};
use pyo3::prelude::*;

use crate::model::Model;

/// An estimate and the ends of its interval.
type IntervalEnds = (f64, f64, f64);

fn ends(interval: Interval) -> IntervalEnds {
    (interval.mean, interval.low, interval.high)
}

#[derive(IntoPyObject)]
pub(crate) struct ValidationResult {
    /// What a reader should know of copies of samples.
    copies: Option<String>,
    methods: Vec<Method>,
    permutation: Option<Permutation>,
    stability: Option<Stability>,
    /// Number of variables, balanced accuracy, its standard error, whether chosen, whether best.
    sizes: Vec<(f64, f64, f64, bool, bool)>,
    panel: Vec<PanelEntry>,
    words: Vec<String>,
    seconds: f64,
    model: Option<Model>,
}

/// One repeat: balanced accuracy, rate, AUC, log loss, variables.
type Repeat = (f64, f64, Option<f64>, Option<f64>, f64);

/// How one method did.
#[derive(IntoPyObject)]
struct Method {
    name: String,
    balanced: IntervalEnds,
    rate: IntervalEnds,
    auc: Option<IntervalEnds>,
    log_loss: Option<IntervalEnds>,
    recalls: Vec<Option<IntervalEnds>>,
    confusion: Vec<Vec<usize>>,
    repeats: Vec<Repeat>,
    variables: f64,
    choices: Vec<String>,
    tested: Vec<usize>,
    wrong: Vec<usize>,
    /// How many times every sample was given each class.
    given: Vec<Vec<usize>>,
    probabilities: Vec<Vec<f64>>,
}

#[derive(IntoPyObject)]
struct Permutation {
    observed: f64,
    permuted: Vec<f64>,
    as_good: usize,
    p_value: IntervalEnds,
    asked: usize,
    early: bool,
    failed: usize,
    arrangements: u64,
    limit: Option<String>,
}

#[derive(IntoPyObject)]
struct Stability {
    half_samples: usize,
    size: usize,
    index: IntervalEnds,
    by_size: Vec<(usize, IntervalEnds)>,
    frequencies: Vec<(usize, f64)>,
    stable_size: usize,
    threshold: f64,
    stable_frequencies: Vec<(usize, f64)>,
    stable: Vec<usize>,
    /// In the order of [`menet::stability::Bounds`].
    false_selections: Vec<f64>,
}

/// A variable of the panel.
#[derive(IntoPyObject)]
struct PanelEntry {
    name: String,
    variable: usize,
    frequency: Option<f64>,
    folds: f64,
    entered: Option<usize>,
    weights: Vec<f64>,
    effect: Option<f64>,
    class_means: Vec<f64>,
    higher_in: Option<usize>,
    class: Option<usize>,
    stable: bool,
}

impl ValidationResult {
    pub(crate) fn new(found: Validation, model: Option<Model>) -> Self {
        let row =
            |row: validate::SizeRow| (row.variables, row.balanced, row.standard_error, row.chosen, row.best);
        ValidationResult {
            copies: found.copies.filter(|_| found.design.copies > 0),
            methods: found.methods.into_iter().map(Method::from).collect(),
            permutation: found.permutation.map(Permutation::from),
            stability: found.stability.map(Stability::from),
            sizes: found.sizes.into_iter().map(row).collect(),
            panel: found.panel.into_iter().map(PanelEntry::from).collect(),
            words: found.words,
            seconds: found.seconds,
            model,
        }
    }
}

impl From<MethodResult> for Method {
    fn from(method: MethodResult) -> Self {
        let repeats = method.repeats.into_iter();
        let samples = &method.samples;
        Method {
            name: method.name,
            balanced: ends(method.balanced),
            rate: ends(method.rate),
            auc: method.auc.map(ends),
            log_loss: method.log_loss.map(ends),
            recalls: method.recalls.into_iter().map(|recall| recall.map(ends)).collect(),
            confusion: method.confusion,
            repeats: repeats
                .map(|row| (row.balanced, row.rate, row.auc, row.log_loss, row.variables))
                .collect(),
            variables: method.variables,
            choices: method.choices,
            tested: samples.iter().map(|sample| sample.tested).collect(),
            wrong: samples.iter().map(|sample| sample.wrong).collect(),
            given: samples.iter().map(|sample| sample.given.clone()).collect(),
            probabilities: samples.iter().map(|sample| sample.probabilities.clone()).collect(),
        }
    }
}

impl From<validate::PermutationTest> for Permutation {
    fn from(test: validate::PermutationTest) -> Self {
        let limit = test.limit();
        let validate::PermutationTest { observed, permuted, as_good, p_value, asked, early, .. } = test;
        let validate::PermutationTest { failed, arrangements, .. } = test;
        Permutation {
            observed,
            permuted,
            as_good,
            p_value: ends(p_value),
            asked,
            early,
            failed,
            arrangements,
            limit,
        }
    }
}

impl From<validate::StabilityFound> for Stability {
    fn from(found: validate::StabilityFound) -> Self {
        Stability {
            half_samples: found.half_samples,
            size: found.size,
            index: ends(found.index),
            by_size: found.by_size.into_iter().map(|(size, index)| (size, ends(index))).collect(),
            frequencies: found.frequencies,
            stable_size: found.stable_size,
            threshold: found.threshold,
            stable_frequencies: found.stable_frequencies,
            stable: found.stable,
            false_selections: found.false_selections.into_iter().map(|(_, bound)| bound).collect(),
        }
    }
}

impl From<validate::PanelEntry> for PanelEntry {
    fn from(entry: validate::PanelEntry) -> Self {
        PanelEntry {
            name: entry.name,
            variable: entry.variable,
            frequency: entry.frequency,
            folds: entry.folds,
            entered: entry.entered,
            weights: entry.weights,
            effect: entry.effect,
            class_means: entry.class_means,
            higher_in: entry.higher_in,
            class: entry.class,
            stable: entry.stable,
        }
    }
}
