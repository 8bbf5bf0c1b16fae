//! Flags, parameters and their description agree.

use clap::{CommandFactory, Parser};

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

#[test]
fn flags_and_set_say_the_same() {
    for one in flagged(false).filter(|one| one.kind != ValueKind::Graph) {
        let text = one.choices.last().map_or("1", |choice| &choice.name);
        let flag = resolved(&[&format!("--{}", flag(one)), text]).unwrap();
        assert_eq!(flag, resolved(&["--set", &format!("{}={text}", one.path)]).unwrap(), "{}", one.path);
        assert_ne!(flag, MenParams::default(), "{}", one.path);
    }
}

#[test]
fn help_shows_the_words_the_choices_and_the_default() {
    let command = FlagsOnly::command();
    for one in flagged(false) {
        let flag = command.get_arguments().find(|flag| flag.get_id() == one.path.as_str()).unwrap();
        let shown = flag.get_help().unwrap().to_string();
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
