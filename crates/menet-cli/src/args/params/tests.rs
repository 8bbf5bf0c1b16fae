//! Flags, parameters and their description agree.

use clap::{CommandFactory, Parser};
use menet::describe::{Parameter, ValueKind, parameters};

use super::*;

/// The flags alone.
#[derive(Debug, Parser)]
struct FlagsOnly {
    #[command(flatten)]
    params: ParamArgs,
}

fn resolved(arguments: &[&str]) -> Result<MenParams, Failure> {
    FlagsOnly::try_parse_from([&["menet"], arguments].concat()).unwrap().params.resolve()
}

#[test]
fn every_parameter_is_set_by_its_default() {
    let own = settings::table_of(&MenParams::default()).unwrap();
    for (path, value) in settings::paths(&own) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(resolved(&["--set", &format!("{path}={text}")]).unwrap(), MenParams::default(), "{path}");
    }
}

/// The flags of parameters, with their description.
fn described() -> impl Iterator<Item = (Flag, &'static Parameter)> {
    flagged(false).filter_map(|flag| Some((flag.clone(), parameters().find(flag.path)?)))
}

#[test]
fn flags_and_set_say_the_same() {
    for (flag, one) in described().filter(|(_, one)| one.kind != ValueKind::Graph) {
        let text = one.choices.last().map_or("1", |choice| &choice.name);
        let by_flag = resolved(&[&format!("--{}", flag.name), text]).unwrap();
        assert_eq!(by_flag, resolved(&["--set", &format!("{}={text}", one.path)]).unwrap(), "{}", one.path);
        assert_ne!(by_flag, MenParams::default(), "{}", one.path);
    }
}

#[test]
fn help_shows_the_words_the_choices_and_the_default() {
    let command = FlagsOnly::command();
    for (flag, one) in described() {
        let shown = command.get_arguments().find(|shown| shown.get_id() == flag.path).unwrap();
        let shown = shown.get_help().unwrap().to_string();
        assert!(shown.starts_with(&one.about), "{shown}");
        assert!(one.choices.iter().all(|choice| shown.contains(&choice.name)), "{shown}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_flag() {
    for (arguments, expected) in [
        (["--set", "penalty.gama=3"], "--set penalty.gama=3: there is no parameter `penalty.gama`"),
        (["--set", "kappa=3"], "use manifold.kappa"),
        (["--set", "ridge"], "write NAME=VALUE"),
        (["--penalty", "l7"], "--penalty: `penalty.kind` is \"l7\", but must be one of l1"),
        (["--always", "age,,sex"], "a name is empty"),
        (["--preset", "papers"], "one of default, stable, paper"),
        (["--ridge", "much"], "must be a number"),
    ] {
        let message = resolved(&arguments).unwrap_err().to_string();
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}
