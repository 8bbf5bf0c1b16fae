//! The sentences for a methods section say every step: no parameter that can change a model is left out, and a choice is told only where
//! there was one.

use menet::neighbors::NeighborSearch;
use menet::operator::Definiteness;
use menet::params::Preset;
use menet::penalties::PenaltyKind;
use menet::penalties::feature_graph::FeatureGraph;
use menet::penalties::groups::{GroupAxes, Groups};
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::rules::{Metric, Priors, RuleKind};
use menet::select::{Grid, Size};
use menet::targets::{TargetKind, TargetSpread};
use menet::words::{Samples, searched, steps};
use menet::{MenParams, Named};

type Change = fn(&mut MenParams);

/// What affects nothing but time and memory.
const NOT_TOLD: [&str; 2] = ["route", "gram"];

/// A change of every other parameter, and the parameters beside which it matters.
fn changes() -> Vec<(&'static str, Change, Change)> {
    let plain: Change = |_| {};
    vec![
        ("preset", plain, |it| it.preset = Preset::Stable),
        ("components", plain, |it| it.components = Some(2)),
        ("nonzeros", plain, |it| it.nonzeros = Some(7)),
        ("panel_size", plain, |it| it.panel_size = Some(7)),
        ("refit", plain, |it| it.refit = Some(Refit::None)),
        ("refit_ridge", |it| it.refit = Some(Refit::Panel), |it| it.refit_ridge = Some(7.0)),
        ("relax", |it| it.refit = Some(Refit::Axis), |it| it.relax = 0.25),
        ("ridge", plain, |it| it.ridge = Some(7.0)),
        ("penalty", plain, |it| it.penalty = PenaltyKind::L0),
        ("penalty_shape", |it| it.penalty = PenaltyKind::Scad, |it| it.penalty_shape = Some(7.0)),
        ("penalty_epsilon", |it| it.penalty = PenaltyKind::Adaptive, |it| it.penalty_epsilon = Some(0.5)),
        ("alpha", plain, |it| it.alpha = 7.0),
        ("beta", plain, |it| it.beta = 7.0),
        ("kappa", plain, |it| it.kappa = 7.0),
        ("k_within", plain, |it| it.k_within = 7),
        ("k_between", plain, |it| it.k_between = 7),
        ("neighbors", plain, |it| it.neighbors = NeighborSearch::Approximate),
        ("patch", plain, |it| it.patch = "lle".to_owned()),
        ("bandwidth", |it| it.patch = "laplacian".to_owned(), |it| it.bandwidth = Some(7.0)),
        ("lle_regularizer", |it| it.patch = "lle".to_owned(), |it| it.lle_regularizer = 7.0),
        ("ltsa_dimension", |it| it.patch = "ltsa".to_owned(), |it| it.ltsa_dimension = Some(7)),
        ("target", plain, |it| it.target = TargetKind::Centres),
        ("target_shrinkage", plain, |it| it.target_shrinkage = 7.0),
        ("target_spread", plain, |it| it.target_spread = TargetSpread::All),
        ("definiteness", plain, |it| it.definiteness = Definiteness::Floor),
        ("floor", plain, |it| it.floor = 0.25),
        ("standardize", plain, |it| it.standardize = false),
        ("impute", plain, |it| it.impute = Some(Impute::Knn)),
        ("max_missing", |it| it.impute = Some(Impute::Mean), |it| it.max_missing = 0.25),
        ("scale", plain, |it| it.scale = Scale::Pareto),
        ("batch_scale", plain, |it| it.batch_scale = true),
        ("pca_rank", plain, |it| it.pca_rank = Some(7)),
        ("penalty_factors", plain, |it| it.penalty_factors = Some(vec![1.0, 0.0, 2.0])),
        ("always", plain, |it| it.always = Some(vec!["age".into()])),
        ("never", plain, |it| it.never = Some(vec!["age".into()])),
        ("feature_graph", plain, |it| it.feature_graph = Some(FeatureGraph::Chain)),
        ("graph_weight", |it| it.feature_graph = Some(FeatureGraph::Chain), |it| it.graph_weight = Some(7.0)),
        ("groups", plain, |it| it.groups = Some(Groups::from_pairs([(0, "a"), (1, "a")]))),
        ("group_axes", plain, |it| it.group_axes = GroupAxes::Together),
        ("rule", plain, |it| it.rule = Some(RuleKind::Gaussian)),
        ("voters", plain, |it| it.voters = 7),
        ("metric", plain, |it| it.metric = Some(Metric::Euclidean)),
        ("priors", plain, |it| it.priors = Priors::Equal),
    ]
}

fn told(params: &MenParams) -> String {
    steps(params, &[], Samples { classes: 4, batches: Some(3) }).join(" ")
}

#[test]
fn every_parameter_that_changes_a_model_changes_the_words() {
    let changes = changes();
    for (name, context, change) in &changes {
        let mut before = MenParams::default();
        context(&mut before);
        let mut after = before.clone();
        change(&mut after);
        assert_ne!(before, after, "{name}");
        assert_ne!(told(&before), told(&after), "{name}");
    }
    // The list has every parameter: a new one fails here until it is in it.
    let all = serde_json::to_value(MenParams::default()).unwrap();
    let all: Vec<&str> = all.as_object().unwrap().keys().map(String::as_str).collect();
    let known = |name: &&str| NOT_TOLD.contains(name) || changes.iter().any(|(other, ..)| other == name);
    assert!(all.iter().all(known), "{:?}", all.iter().filter(|name| !known(name)).collect::<Vec<_>>());
    assert_eq!(all.len(), changes.len() + NOT_TOLD.len());
}

#[test]
fn every_value_that_has_a_name_has_words_of_its_own() {
    fn distinct<T: Named>(set: impl Fn(T) -> MenParams) {
        let mut all: Vec<String> = T::ALL.iter().map(|&value| told(&set(value))).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), T::ALL.len(), "{}", T::PARAMETER);
    }
    let with = |change: &dyn Fn(&mut MenParams)| {
        let mut params = MenParams::default();
        change(&mut params);
        params
    };
    distinct(|value: Scale| with(&|it| it.scale = value));
    distinct(|value: Impute| with(&|it| it.impute = Some(value)));
    distinct(|value: Refit| with(&|it| it.refit = Some(value)));
    distinct(|value: RuleKind| with(&|it| it.rule = Some(value)));
    distinct(|value: PenaltyKind| with(&|it| it.penalty = value));
    distinct(|value: Definiteness| with(&|it| it.definiteness = value));
    distinct(|value: Preset| with(&|it| it.preset = value));
}

#[test]
fn samples_in_batches_are_told() {
    let of = |batches| steps(&MenParams::default(), &[], Samples { classes: 3, batches }).join(" ");
    assert!(of(Some(5)).contains("The mean of every batch (5 batches) was subtracted"), "{}", of(Some(5)));
    assert!(!of(None).contains("batch"), "{}", of(None));
}

#[test]
fn only_what_was_searched_is_called_chosen() {
    let base = MenParams::default().with(|it| it.nonzeros = Some(7));
    let mut grid = Grid::of(&base);
    assert_eq!(searched(&grid), (Vec::new(), Vec::new()));
    assert!(told(&base).contains("at most 7 variables; this number was given"), "{}", told(&base));
    assert!(!told(&base).contains("chosen"), "{}", told(&base));
    grid.ridge = vec![0.3, 10.0];
    grid.rule = vec![RuleKind::Nearest, RuleKind::Gaussian];
    let (open, words) = searched(&grid);
    assert_eq!(open, ["ridge", "rule"]);
    assert_eq!(words, ["the ridge λ2 (0.3, 10)", "the decision rule (nearest, gaussian)"]);
    let all = steps(&base, &open, Samples { classes: 3, batches: None }).join(" ");
    assert!(all.contains("λ2 was chosen") && all.contains("at most 7 variables"), "{all}");
    grid.sizes = vec![Size::Nonzeros(5), Size::Nonzeros(9)];
    assert_eq!(searched(&grid).0[1], "nonzeros");
    grid.sizes = vec![Size::Nonzeros(5), Size::Panel(9)];
    assert_eq!(searched(&grid).0[1..3], ["nonzeros", "panel_size"]);
}
