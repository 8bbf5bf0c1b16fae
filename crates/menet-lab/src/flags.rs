//! The parameters of a fit on a command line: a flag for each that most users meet, `--set` for all, `--params` for a file.
//!
//! The flags follow from the description in the core ([`menet::describe`]). `menet` and `python -m menet.dask` take them the same way.

use std::path::Path;

use menet::MenParams;
use menet::describe::{Choice, Parameter, ValueKind, parameters};
use menet_io::whole;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::settings::{self, PRESET};

/// The help of `--feature-groups`.
pub const FEATURE_GROUPS_HELP: &str = "Groups of variables that enter together: a CSV file with one line variable,group per variable and \
                                       group. A variable is known by its name, or by its number from 1 if the data have no names; it may \
                                       be in several groups. With groups, numbers of variables count groups, 10 by default";

/// The help of `--set`.
pub const SET_HELP: &str = "Any other parameter, as --set penalty.gamma=3 or --set manifold.kappa=0.2; can be repeated. menet params lists \
                            them";

/// The help of `--params`.
pub const PARAMS_HELP: &str = "A TOML file with parameters; flags override it";

/// A flag that sets a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flag {
    /// The path of the parameter, or [`PRESET`].
    pub path: &'static str,
    /// The name of the flag, without the dashes.
    pub name: String,
    /// What a value looks like in the help.
    pub value: &'static str,
    /// What the parameter is, its choices and its default.
    pub help: String,
}

/// The flags, `--preset` first.
pub fn flags() -> impl Iterator<Item = Flag> {
    let about = |preset: &Choice| format!("{} ({})", preset.name, preset.about.trim_end_matches('.'));
    let presets = parameters().presets.iter().map(about).collect::<Vec<_>>().join("; ");
    let help = format!("Parameters that go well together: {presets}");
    let preset = Flag { path: PRESET, name: PRESET.to_owned(), value: "NAME", help };
    let common = parameters().parameters.iter().filter(|one| one.common);
    std::iter::once(preset).chain(common.map(|one| Flag {
        path: &one.path,
        name: name(one),
        value: value_name(one),
        help: help_of(one),
    }))
}

/// The parameters that flags (paths and texts) and `--set` give; the preset stays a name.
///
/// # Errors
/// Naming the flag, the parameter, its value and what is allowed.
pub fn table<'t>(flags: impl IntoIterator<Item = (&'t str, &'t str)>, sets: &[String]) -> Result<Table> {
    let mut table = Table::new();
    let mut preset = None;
    for (path, text) in flags {
        if path == PRESET {
            preset = Some(text.to_owned());
        } else {
            let flag = parameters().find(path).map(name).unwrap_or_default();
            let with_flag = |e: Error| Error::Usage(format!("--{flag}: {e}"));
            settings::set_text(&mut table, path, text).map_err(with_flag)?;
        }
    }
    for pair in sets {
        let refused = |problem: String| Error::Usage(format!("--set {pair}: {problem}"));
        let Some((path, text)) = pair.split_once('=') else {
            return Err(refused("write NAME=VALUE, as --set penalty.gamma=3".to_owned()));
        };
        if path.trim() == PRESET {
            preset = Some(text.to_owned());
        } else {
            settings::set_text(&mut table, path.trim(), text).map_err(|e| refused(e.to_string()))?;
        }
    }
    if let Some(preset) = preset {
        table.insert(PRESET.to_owned(), Value::String(preset));
    }
    Ok(table)
}

/// The defaults, then what a file says, then what flags and `--set` say.
///
/// # Errors
/// When the file cannot be read, or names an unknown parameter or a value that is not allowed.
pub fn resolve(given: &Table, file: Option<&Path>) -> Result<MenParams> {
    let mut table = Table::new();
    if let Some(path) = file {
        let refused = |problem: String| Error::Usage(format!("{}: {problem}", path.display()));
        let text = whole::read_text(path, whole::PARAMETERS)?;
        let read: Table = text.parse().map_err(|e: toml::de::Error| refused(e.to_string()))?;
        table = settings::spelled_out(&read).map_err(|e| refused(e.to_string()))?;
    }
    settings::merge(&mut table, &settings::spelled_out(given)?);
    settings::changed(&MenParams::default(), &table)
}

/// The flag of a parameter: the kind of a stage goes by the stage.
fn name(parameter: &Parameter) -> String {
    let name = if parameter.name == "kind" { &parameter.stage } else { &parameter.name };
    name.replace('_', "-")
}

fn value_name(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        ValueKind::Number => "NUMBER",
        ValueKind::Whole => "N",
        ValueKind::Flag => "BOOL",
        ValueKind::Variables => "NAMES",
        _ => "NAME",
    }
}

fn help_of(parameter: &Parameter) -> String {
    let names: Vec<&str> = parameter.choices.iter().map(|choice| choice.name.as_str()).collect();
    let choices = if names.is_empty() { String::new() } else { format!(" One of {}.", names.join(", ")) };
    let default = match &parameter.default {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => format!(" [default: {text}]"),
        other => format!(" [default: {other}]"),
    };
    format!("{}{choices}{default}", parameter.about)
}
