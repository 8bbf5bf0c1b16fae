//! The parameters of a fit on the command line: a flag for each that most users meet, `--set` and `--params` for all. They follow
//! from the description in the core ([`menet::describe`]).

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use menet::describe::{Parameter, ValueKind, parameters};
use menet::prepare::PrepareParams;
use menet::{Dataset, MenParams, Method};
use menet_io::whole;
use menet_lab::params::MethodParams;
use menet_lab::{NamedSet, settings};
use toml::Table;

use crate::failure::Failure;

/// The parameters of a fit.
pub(crate) type ParamArgs = Parameters<false>;

/// The parameters of a fit, where a search chooses some of them among lists of values.
pub(crate) type SearchedParamArgs = Parameters<true>;

/// The parameters that a search takes as lists, under flags of its own.
const SEARCHED: [&str; 5] = ["nonzeros", "panel_size", "ridge", "refit.kind", "rule.kind"];

/// The parameters of a fit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub(crate) struct Parameters<const SEARCH: bool> {
    #[command(flatten)]
    flags: Flags<SEARCH>,
    /// Groups of variables that enter together: a CSV file with one line variable,group per variable and group. A variable
    /// is known by its name, or by its number from 1 if the data have no names; it may be in several groups. With groups,
    /// numbers of variables count groups, 10 by default
    #[arg(long, value_name = "FILE")]
    feature_groups: Option<PathBuf>,
    /// Any other parameter, as --set penalty.gamma=3 or --set manifold.kappa=0.2; can be repeated. menet params lists them
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A TOML file with parameters; flags override it
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
}

/// The flags that follow from the description, and what they were given: paths and texts.
#[derive(Debug)]
struct Flags<const SEARCH: bool> {
    given: Vec<(&'static str, String)>,
}

/// The parameters that have a flag.
fn flagged(search: bool) -> impl Iterator<Item = &'static Parameter> {
    let listed = move |one: &&Parameter| search && SEARCHED.contains(&one.path.as_str());
    parameters().parameters.iter().filter(|one| one.common).filter(move |one| !listed(one))
}

/// The flag of a parameter: the kind of a stage goes by the stage.
fn flag(parameter: &Parameter) -> String {
    let name = if parameter.name == "kind" { &parameter.stage } else { &parameter.name };
    name.replace('_', "-")
}

/// What a value looks like in the help.
fn value_name(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        ValueKind::Number => "NUMBER",
        ValueKind::Whole => "N",
        ValueKind::Flag => "BOOL",
        ValueKind::Variables => "NAMES",
        _ => "NAME",
    }
}

/// The help of a parameter: its words, its choices and its default.
pub(crate) fn help(parameter: &Parameter) -> String {
    let names: Vec<&str> = parameter.choices.iter().map(|choice| choice.name.as_str()).collect();
    let choices = if names.is_empty() { String::new() } else { format!(" One of {}.", names.join(", ")) };
    let default = match &parameter.default {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => format!(" [default: {text}]"),
        other => format!(" [default: {other}]"),
    };
    format!("{}{choices}{default}", parameter.about)
}

impl<const SEARCH: bool> Args for Flags<SEARCH> {
    fn augment_args(command: Command) -> Command {
        let presets = &parameters().presets;
        let named =
            |one: &menet::describe::Choice| format!("{} ({})", one.name, one.about.trim_end_matches('.'));
        let about = presets.iter().map(named).collect::<Vec<_>>().join("; ");
        let preset = Arg::new(settings::PRESET).long(settings::PRESET).value_name("NAME");
        let command = command.arg(preset.help(format!("Parameters that go well together: {about}")));
        flagged(SEARCH).fold(command, |command, one| {
            let arg = Arg::new(one.path.as_str()).long(flag(one)).value_name(value_name(one));
            command.arg(arg.allow_negative_numbers(true).help(help(one)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SEARCH: bool> FromArgMatches for Flags<SEARCH> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let paths = std::iter::once(settings::PRESET).chain(flagged(SEARCH).map(|one| one.path.as_str()));
        let value = |path: &'static str| Some((path, matches.get_one::<String>(path)?.clone()));
        Ok(Flags { given: paths.filter_map(value).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const SEARCH: bool> Parameters<SEARCH> {
    /// What the flags set, the preset as a name.
    fn given(&self) -> Result<Table, Failure> {
        let mut table = Table::new();
        let mut preset = None;
        for (path, text) in &self.flags.given {
            if *path == settings::PRESET {
                preset = Some(text.clone());
            } else {
                let flag = parameters().find(path).map(flag).unwrap_or_default();
                let usage_error = |e: menet_lab::Error| Failure::Usage(format!("--{flag}: {e}"));
                settings::set_text(&mut table, path, text).map_err(usage_error)?;
            }
        }
        for pair in &self.set {
            let usage_error = |problem: String| Failure::Usage(format!("--set {pair}: {problem}"));
            let Some((path, text)) = pair.split_once('=') else {
                return Err(usage_error("write NAME=VALUE, as --set penalty.gamma=3".to_owned()));
            };
            if path.trim() == settings::PRESET {
                preset = Some(text.to_owned());
            } else {
                settings::set_text(&mut table, path.trim(), text).map_err(|e| usage_error(e.to_string()))?;
            }
        }
        if let Some(preset) = preset {
            table.insert(settings::PRESET.to_owned(), toml::Value::String(preset));
        }
        Ok(table)
    }

    /// The defaults, then the file, then the flags.
    pub(crate) fn resolve(&self) -> Result<MenParams, Failure> {
        let mut table = Table::new();
        if let Some(path) = &self.params {
            let usage_error = |problem: String| Failure::Usage(format!("{}: {problem}", path.display()));
            let text = whole::read_text(path, whole::PARAMETERS)?;
            let file: Table = text.parse().map_err(|e: toml::de::Error| usage_error(e.to_string()))?;
            table = settings::spelled_out(&file).map_err(|e| usage_error(e.to_string()))?;
        }
        settings::merge(&mut table, &settings::spelled_out(&self.given()?)?);
        Ok(settings::changed(&MenParams::default(), &table)?)
    }

    /// The parameters of methods: those of the file, then the flags for MEN and its variants.
    pub(crate) fn of_methods(&self) -> Result<MethodParams, Failure> {
        let mut params = match &self.params {
            None => MethodParams::default(),
            Some(path) => {
                let text = whole::read_text(path, whole::PARAMETERS)?;
                let usage_error = |e: menet_lab::Error| Failure::Usage(format!("{}: {e}", path.display()));
                MethodParams::parse(&text).map_err(usage_error)?
            }
        };
        let given = self.given()?;
        if !given.is_empty() {
            params.add(&MethodParams::of_fit(&given)?);
        }
        Ok(params)
    }

    /// Parameters with the groups of --feature-groups, once the data have been read. Nothing else is read again: a pipe would be
    /// empty.
    pub(crate) fn grouped(&self, mut params: MenParams, data: &Dataset<'_>) -> Result<MenParams, Failure> {
        if let Some(file) = &self.feature_groups {
            params.penalty.feature_groups =
                Some(menet_io::read_groups(file, data.feature_names(), data.variables())?);
        }
        Ok(params)
    }

    /// A method with the groups of --feature-groups, if it is MEN.
    pub(crate) fn grouped_method(&self, method: Method, data: &Dataset<'_>) -> Result<Method, Failure> {
        match method.men().cloned() {
            Some(men) => Ok(method.with_men(self.grouped(men, data)?)),
            None => Ok(method),
        }
    }

    /// The parameters of methods with the groups of --feature-groups, which are groups of the variables of one data set.
    pub(crate) fn grouped_methods(
        &self,
        params: &mut MethodParams,
        data: &[NamedSet<'_>],
    ) -> Result<(), Failure> {
        let (Some(_), [set, others @ ..]) = (&self.feature_groups, data) else { return Ok(()) };
        if !others.is_empty() {
            let problem = format!("{} data sets share no groups of variables; give one", data.len());
            return Err(Failure::Usage(format!("--feature-groups: {problem}")));
        }
        let grouped = settings::table_of(&self.grouped(MenParams::default(), &set.data)?)?;
        if let Some(groups) = settings::get(&grouped, "penalty.feature_groups") {
            let mut changes = Table::new();
            settings::set(&mut changes, "penalty.feature_groups", groups.clone())?;
            params.set_for_all(&changes);
        }
        Ok(())
    }

    /// The files that are read, with their flags.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let files = [("--params", self.params.clone()), ("--feature-groups", self.feature_groups.clone())];
        files.into_iter().filter_map(|(flag, file)| Some((flag, file?)))
    }
}

/// How samples are prepared for the other methods: as for `men`.
pub(crate) fn of_others(params: &MethodParams) -> Result<PrepareParams, Failure> {
    let name = ["men", "men-paper"].into_iter().find(|name| params.0.contains_key(*name)).unwrap_or("men");
    let prepare = params.method(name)?.men().map(|men| men.prepare).unwrap_or_default();
    prepare.check()?;
    Ok(prepare)
}

#[cfg(test)]
mod tests;
