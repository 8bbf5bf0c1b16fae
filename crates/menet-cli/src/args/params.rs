//! The parameters of a fit on the command line: a flag for each that most users meet, `--set` and `--params` for all
//! ([`menet_lab::flags`]).

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use menet::prepare::PrepareParams;
use menet::{Dataset, MenParams, Method};
use menet_io::whole;
use menet_lab::flags::{self, Flag};
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
    #[arg(long, value_name = "FILE", help = flags::FEATURE_GROUPS_HELP)]
    feature_groups: Option<PathBuf>,
    #[arg(long, value_name = "NAME=VALUE", help = flags::SET_HELP)]
    set: Vec<String>,
    #[arg(long, value_name = "FILE", help = flags::PARAMS_HELP)]
    params: Option<PathBuf>,
}

/// The flags that follow from the description, and what they were given: paths and texts.
#[derive(Debug)]
struct Flags<const SEARCH: bool> {
    given: Vec<(&'static str, String)>,
}

/// The flags of parameters; where a search chooses some, without those.
fn flagged(search: bool) -> impl Iterator<Item = Flag> {
    flags::flags().filter(move |flag| !(search && SEARCHED.contains(&flag.path)))
}

impl<const SEARCH: bool> Args for Flags<SEARCH> {
    fn augment_args(command: Command) -> Command {
        flagged(SEARCH).fold(command, |command, flag| {
            let arg = Arg::new(flag.path).long(flag.name).value_name(flag.value);
            command.arg(arg.allow_negative_numbers(true).help(flag.help))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SEARCH: bool> FromArgMatches for Flags<SEARCH> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |flag: Flag| Some((flag.path, matches.get_one::<String>(flag.path)?.clone()));
        Ok(Flags { given: flagged(SEARCH).filter_map(value).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const SEARCH: bool> Parameters<SEARCH> {
    /// What the flags and --set give, the preset as a name.
    fn given(&self) -> Result<Table, Failure> {
        Ok(flags::table(self.flags.given.iter().map(|(path, text)| (*path, text.as_str())), &self.set)?)
    }

    /// The defaults, then the file, then the flags.
    pub(crate) fn resolve(&self) -> Result<MenParams, Failure> {
        Ok(flags::resolve(&self.given()?, self.params.as_deref())?)
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
