//! The options of `tune`, `evaluate` and `validate` that say what is tried for MEN, and how it is chosen.

use clap::Args;
use menet::Named;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::scores::ScoreKind;
use menet::select::{REFITS, RIDGES, SEARCHED, SIZES, Search, TrialChoice};
use menet_lab::settings;

use super::search::with_default;
use crate::failure::Failure;

/// What is tried for MEN, and how it is chosen.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is tried for MEN; one value is kept as it is")]
pub(crate) struct ChoiceArgs {
    /// Panel sizes to try, as 5,10,20 [default: none; see --nonzeros]
    #[arg(long, value_name = "NUMBERS")]
    panel_size: Option<String>,
    #[arg(long, value_name = "NUMBERS", help = with_default(
        "Numbers of variables per path to try", format_args!("{}; none with --panel-size", list(&SIZES))))]
    nonzeros: Option<String>,
    #[arg(long, value_name = "NUMBERS", help = with_default("Ridges to try", list(&RIDGES)))]
    ridge: Option<String>,
    #[arg(long, value_name = "NAMES", help = with_default(
        &format!("Refits to try, of {}", names::<Refit>()), REFITS.map(Named::name).join(",")))]
    refit: Option<String>,
    #[arg(long, value_name = "NAMES", help = with_default(
        &format!("Rules to try, of {}", names::<RuleKind>()), "all, but those that the preset paper has"))]
    rule: Option<String>,
    #[arg(long = "try", value_name = "NAME=VALUES", help = format!(
        "Values to try of another parameter, as --try rule.k=1,3; can be repeated. Of {}", SEARCHED.join(", ")))]
    lists: Vec<String>,
    #[arg(long, value_name = "NAME", help = with_default(
        &format!("The score to choose by: {}", names::<ScoreKind>()), ScoreKind::Balanced.name()))]
    score: Option<String>,
    /// Take the smallest model within one standard error of the best.
    #[arg(long, conflicts_with = "most_stable")]
    one_standard_error: bool,
    /// Take the model whose selection agrees most over the folds, within one standard error of the best.
    #[arg(long)]
    most_stable: bool,
}

impl ChoiceArgs {
    /// The lists with their options and paths.
    fn lists(&self) -> Result<Vec<(String, &str, &str)>, Failure> {
        let own = [
            ("panel-size", "panel_size", &self.panel_size),
            ("nonzeros", "nonzeros", &self.nonzeros),
            ("ridge", "ridge", &self.ridge),
            ("refit", "refit.kind", &self.refit),
            ("rule", "rule.kind", &self.rule),
        ];
        let own = own
            .into_iter()
            .filter_map(|(flag, path, text)| Some((format!("--{flag}"), path, text.as_deref()?)));
        let mut all: Vec<_> = own.collect();
        for pair in &self.lists {
            let Some((path, text)) = pair.split_once('=') else {
                let problem = "write NAME=VALUES, as --try rule.k=1,3";
                return Err(Failure::Usage(format!("--try {pair}: {problem}")));
            };
            all.push((format!("--try {path}"), path.trim(), text));
        }
        Ok(all)
    }

    /// The search.
    pub(crate) fn search(&self) -> Result<Search, Failure> {
        let mut search = Search::default();
        let mut space = serde_json::Map::new();
        for (flag, path, text) in self.lists()? {
            let refuse = |problem: String| Failure::Usage(format!("{flag}: {problem}"));
            let values = settings::values(path, text).map_err(|error| refuse(error.to_string()))?;
            if space.insert(path.to_owned(), values).is_some() {
                return Err(refuse("a list of this parameter is given twice; give it only once".to_owned()));
            }
        }
        search.space =
            serde_json::from_value(space.into()).map_err(|error| Failure::Usage(error.to_string()))?;
        search.space.check()?;
        if let Some(score) = &self.score {
            search.score =
                ScoreKind::from_name(score).map_err(|error| Failure::Usage(format!("--score: {error}")))?;
        }
        search.choose = match (self.one_standard_error, self.most_stable) {
            (true, _) => TrialChoice::Smallest,
            (_, true) => TrialChoice::MostStable,
            _ => TrialChoice::Best,
        };
        Ok(search)
    }

    /// The first option that was given; of those that say something to MEN alone, if `men`.
    pub(crate) fn given(&self, men: bool) -> Result<Option<String>, Failure> {
        let others = [
            ("--score", self.score.is_some()),
            ("--most-stable", self.most_stable),
            ("--one-standard-error", self.one_standard_error && !men),
        ];
        let other = others.iter().find(|(_, given)| *given).map(|(name, _)| (*name).to_owned());
        Ok(self.lists()?.into_iter().map(|(flag, ..)| flag).next().or(other))
    }
}

/// The names of a parameter's values.
fn names<T: Named>() -> String {
    T::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
}

/// Numbers as a user gives them.
fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}
