//! The sentences for a methods section say every step: no parameter that can change a model is left out, and a choice is told only where
//! there was one.

use menet::describe::{Parameter, ValueKind, parameters};
use menet::operator::Definiteness;
use menet::params::Preset;
use menet::penalties::PenaltyKind;
use menet::prepare::{Impute, Scale};
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::select::{Grid, ModelSize};
use menet::words::{Samples, searched, steps};
use menet::{MenParams, Named};
use serde_json::{Value, json};

/// Other values of a parameter.
fn other_values(parameter: &Parameter) -> Vec<Value> {
    match parameter.kind {
        ValueKind::Number => vec![json!(0.25)],
        ValueKind::Whole => vec![json!(7)],
        ValueKind::Flag => vec![json!(parameter.default == json!(false))],
        ValueKind::Choice => parameter.choices.iter().map(|choice| json!(choice.name)).collect(),
        ValueKind::Priors => vec![json!("equal")],
        ValueKind::Factors => vec![json!([1.0, 0.0, 2.0])],
        ValueKind::Variables => vec![json!(["age"])],
        ValueKind::Groups => vec![json!([{ "name": "a", "variables": [0, 1] }])],
        ValueKind::Graph => vec![json!("chain")],
    }
}

fn in_words(params: &MenParams) -> String {
    steps(params, &[], Samples { classes: 4, batches: Some(3) }).join(" ")
}

#[test]
fn every_parameter_that_changes_a_model_changes_the_words() {
    let all = parameters();
    // What affects nothing but time and memory is not told.
    for one in all.parameters.iter().filter(|one| one.stage != "compute") {
        let mut before = serde_json::to_value(MenParams::default()).unwrap();
        match one.name.as_str() {
            "max_missing" => before["prepare"]["impute"] = json!("mean"),
            "graph_weight" => before["penalty"]["feature_graph"] = json!("chain"),
            _ => {}
        }
        if let Some(kind) = one.of.first() {
            before[&one.stage]["kind"] = json!(kind);
        }
        let after = |value: Value| {
            let mut after = before.clone();
            let place = if one.stage.is_empty() { &mut after } else { &mut after[&one.stage] };
            place[&one.name] = value;
            in_words(&serde_json::from_value(after).unwrap())
        };
        let before = in_words(&serde_json::from_value(before.clone()).unwrap());
        assert!(other_values(one).into_iter().any(|value| after(value) != before), "{}", one.path);
    }
}

#[test]
fn every_value_that_has_a_name_has_words_of_its_own() {
    fn distinct<T: Named>(set: impl Fn(T) -> MenParams) {
        let mut all: Vec<String> = T::ALL.iter().map(|&value| in_words(&set(value))).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), T::ALL.len(), "{}", T::PARAMETER);
    }
    let with = |change: &dyn Fn(&mut MenParams)| {
        let mut params = MenParams::default();
        change(&mut params);
        params
    };
    distinct(|value: Scale| with(&|it| it.prepare.scale = value));
    distinct(|value: Impute| with(&|it| it.prepare.impute = Some(value)));
    distinct(|value: Refit| with(&|it| it.refit.kind = Some(value)));
    distinct(|value: RuleKind| with(&|it| it.rule.kind = Some(value)));
    distinct(|value: PenaltyKind| with(&|it| it.penalty.kind = value));
    distinct(|value: Definiteness| with(&|it| it.manifold.definiteness = value));
    distinct(|value: Preset| value.params());
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
    assert!(in_words(&base).contains("at most 7 variables; this number was given"), "{}", in_words(&base));
    assert!(!in_words(&base).contains("chosen"), "{}", in_words(&base));
    grid.ridge = vec![0.3, 10.0];
    grid.rule = vec![RuleKind::Nearest, RuleKind::Gaussian];
    let (open, words) = searched(&grid);
    assert_eq!(open, ["ridge", "rule.kind"]);
    assert_eq!(words, ["the ridge λ2 (0.3, 10)", "the decision rule (nearest, gaussian)"]);
    let all = steps(&base, &open, Samples { classes: 3, batches: None }).join(" ");
    assert!(all.contains("λ2 was chosen") && all.contains("at most 7 variables"), "{all}");
    grid.sizes = vec![ModelSize::per_path(5), ModelSize::per_path(9)];
    assert_eq!(searched(&grid).0[1], "nonzeros");
    grid.sizes = vec![ModelSize::per_path(5), ModelSize::of_panel(9)];
    assert_eq!(searched(&grid).0[1..3], ["nonzeros", "panel_size"]);
}
