//! Flags, parameters and defaults agree.

use clap::Parser;
use menet::refit::Refit;

use menet::patches;
use menet::prepare::Impute;
use menet::rules::Metric;

use super::*;
use crate::args::help::{choices, default, written};

/// The flags alone.
#[derive(Debug, Parser)]
struct Flags {
    #[command(flatten)]
    params: ParamArgs,
}

fn resolved(flag: &str) -> MenParams {
    Flags::try_parse_from(["menet", flag]).unwrap().params.resolve().unwrap()
}

#[test]
fn every_parameter_is_a_flag() {
    let toml = toml::to_string(&MenParams::default().with(|it| {
        it.components = Some(1);
        it.nonzeros = Some(1);
        it.panel_size = Some(1);
        it.refit = Some(Refit::Panel);
        it.refit_ridge = Some(1.0);
        it.ridge = Some(1.0);
        it.penalty_shape = Some(3.0);
        it.penalty_epsilon = Some(0.1);
        it.rule = Some(menet::rules::RuleKind::Centroid);
        it.metric = Some(Metric::Cosine);
        it.bandwidth = Some(1.0);
        it.ltsa_dimension = Some(1);
        it.impute = Some(Impute::Knn);
        it.pca_rank = Some(1);
        it.penalty_factors = Some(vec![1.0, f64::INFINITY]);
        it.always = Some(vec!["age".into()]);
        it.never = Some(vec![3.into()]);
        it.feature_graph = Some(FeatureGraph::Chain);
        it.graph_weight = Some(1.0);
    }))
    .unwrap();
    let mut keys: Vec<&str> =
        toml.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key).collect();
    let mut fields = FIELDS.to_vec();
    keys.sort_unstable();
    fields.sort_unstable();
    assert_eq!(keys, fields);
    let back: MenParams = toml::from_str(&toml).unwrap();
    assert_eq!(back.penalty_factors, Some(vec![1.0, f64::INFINITY]));
}

#[test]
fn help_shows_the_defaults_of_the_core() {
    let mut given = 0;
    for field in FIELDS {
        let shown = help(field, "");
        let value = shown.trim().strip_prefix("[default: ").and_then(|rest| rest.strip_suffix(']'));
        let value = value.unwrap_or_else(|| panic!("{field}: {shown}"));
        // A default that is a value is one as a flag too; the others are words about what is computed.
        if written(&MenParams::default(), field).is_some() {
            given += 1;
            let flag = format!("--{}={value}", field.replace('_', "-"));
            assert_eq!(resolved(&flag), MenParams::default(), "{flag}");
        } else {
            assert!(!value.is_empty() && (*field == "pca_rank" || value != "none"), "{field}: {shown}");
        }
    }
    assert!(given > 15, "{given} defaults are values");
    assert_eq!(default("ridge"), "0.3, or 10 with the preset stable, or 0.03 with the preset paper");
    assert_eq!(default("rule"), "nearest; on a single axis gaussian, or nearest with the preset paper");
}

#[test]
fn help_lists_the_choices_of_the_core() {
    use clap::CommandFactory;
    let command = Flags::command();
    for field in FIELDS {
        let flag = command.get_arguments().find(|flag| flag.get_id() == field).unwrap();
        let shown = flag.get_help().unwrap().to_string();
        assert!(!shown.contains("{choices}"), "{shown}");
        let listed = |name: &str| shown.contains(&format!(" {name}")) || shown.contains(&format!(",{name}"));
        for name in choices(field).unwrap_or_default() {
            assert!(listed(name), "{name} is missing: {shown}");
            resolved(&format!("--{}={name}", field.replace('_', "-"))).check(3).unwrap();
        }
    }
    let rules: Vec<&str> = patches::REGISTRY.iter().map(|rule| rule.name()).collect();
    let patch = command.get_arguments().find(|flag| flag.get_id() == "patch").unwrap();
    assert!(patch.get_help().unwrap().to_string().contains(&rules.join(", ")));
}
