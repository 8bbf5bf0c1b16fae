//! The options of `evaluate` and `tune`: how parameters are searched.

use std::fmt::Display;

use clap::Args;
use menet::refit::Refit;
use menet::rules::{Metric, RuleKind};
use menet::scores::ScoreKind;
use menet::{Method, Named};
use menet_lab::params::MethodParams;
use menet_lab::tune::SIZES;
use menet_lab::{MetricChoice, TuneOptions};

use crate::failure::Failure;

/// How parameters are searched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search and metric")]
pub(crate) struct SearchArgs {
    /// Metric of the nearest-neighbour rule: euclidean, cosine, or auto when tuning [default: for MEN that of its parameters, or
    /// both when tuning; for other methods that of the table [men] in --params, or euclidean]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    #[arg(long, value_name = "FITS", help = with_default(
        "Largest number of fits per search; for MEN, of path computations", TuneOptions::default().budget))]
    budget: Option<usize>,
    #[arg(long, value_name = "N", help = with_default("Folds of the cross-validation", TuneOptions::default().folds))]
    folds: Option<usize>,
    /// Take the sparsest model within one standard error of the best.
    #[arg(long, conflicts_with = "most_stable")]
    one_standard_error: bool,
    /// Take the model whose selection agrees most over the folds, within one standard error of the best; for MEN.
    #[arg(long)]
    most_stable: bool,
    #[arg(long, value_name = "NAME", help = with_default(
        &format!("The score that MEN is tuned for: {}; other methods are tuned for the rate", names::<ScoreKind>()),
        TuneOptions::default().score.name()))]
    score: Option<String>,
    /// Panel sizes to try for MEN, as 5,10,20 [default: none; see --nonzeros]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    panel_size: Vec<usize>,
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', help = with_default(
        "Numbers of variables per path to try for MEN",
        format_args!("{}, up to what --params allows; none with --panel-size", list(&SIZES))))]
    nonzeros: Vec<usize>,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = with_default(
        &format!("Refits to try for MEN, of {}", names::<Refit>()), "all but axis; for men-paper none"))]
    refit: Vec<String>,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = with_default(
        &format!("Rules to try for MEN, of {}", names::<RuleKind>()), "all; for men-paper nearest"))]
    rule: Vec<String>,
}

impl SearchArgs {
    /// The metric from the options, or that of the parameters of MEN.
    pub(crate) fn metric(&self, params: &MethodParams) -> Result<MetricChoice, Failure> {
        match (self.metric.as_deref(), params.method("men")?) {
            (Some("euclidean"), _) => Ok(MetricChoice::Euclidean),
            (Some("cosine"), _) => Ok(MetricChoice::Cosine),
            (Some("auto"), _) => Ok(MetricChoice::Auto),
            (Some(other), _) => {
                Err(Failure::Usage(format!("--metric {other}: use euclidean, cosine or auto")))
            }
            (None, Method::Men(men)) if men.rule.metric == Some(Metric::Cosine) => Ok(MetricChoice::Cosine),
            (None, _) => Ok(MetricChoice::Euclidean),
        }
    }

    /// The parameters, with the metric from the options in those of MEN and its variants.
    pub(crate) fn with_metric(&self, mut params: MethodParams) -> MethodParams {
        if let Some(metric) = self.metric.as_deref().filter(|&metric| Metric::from_name(metric).is_ok()) {
            let rule = [("metric".to_owned(), toml::Value::String(metric.to_owned()))].into_iter().collect();
            params.set_for_all(&[("rule".to_owned(), toml::Value::Table(rule))].into_iter().collect());
        }
        params
    }

    /// The options of the search.
    pub(crate) fn options(&self) -> Result<TuneOptions, Failure> {
        let default = TuneOptions::default();
        let score = named("score", self.score.as_slice())?;
        let options = TuneOptions {
            budget: self.budget.unwrap_or(default.budget),
            folds: self.folds.unwrap_or(default.folds),
            one_standard_error: self.one_standard_error,
            most_stable: self.most_stable,
            score: score.first().copied().unwrap_or(default.score),
            nonzeros: self.nonzeros.clone(),
            panel_size: self.panel_size.clone(),
            refit: named("refit", &self.refit)?,
            rule: named("rule", &self.rule)?,
            prepare: default.prepare,
            metrics: match self.metric.as_deref() {
                Some("euclidean") => vec![Metric::Euclidean],
                Some("cosine") => vec![Metric::Cosine],
                _ => Vec::new(),
            },
        };
        options.check()?;
        Ok(options)
    }

    /// Refuses options that none of `methods` uses.
    pub(crate) fn refuse_without_men(&self, methods: &[String]) -> Result<(), Failure> {
        let is_men = |name: &String| Method::from_name(name).is_ok_and(|method| method.men().is_some());
        match self.options()?.only_for_men() {
            Some(option) if !methods.iter().any(is_men) => {
                let known: Vec<&str> =
                    Method::all().iter().filter(|method| method.men().is_some()).map(Method::name).collect();
                Err(Failure::Usage(format!(
                    "{option} works for {}, but the method is {}; remove the option, or choose one of these methods",
                    known.join(", "),
                    methods.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that only a search uses.
    pub(crate) fn refuse_without_search(&self) -> Result<(), Failure> {
        let given = [
            ("--budget", self.budget.is_some()),
            ("--folds", self.folds.is_some()),
            ("--one-standard-error", self.one_standard_error),
            ("--most-stable", self.most_stable),
            ("--score", self.score.is_some()),
            ("--panel-size", !self.panel_size.is_empty()),
            ("--nonzeros", !self.nonzeros.is_empty()),
            ("--refit", !self.refit.is_empty()),
            ("--rule", !self.rule.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                Err(Failure::Usage(format!("{name} needs --tune; without it, nothing is searched")))
            }
            None => Ok(()),
        }
    }
}

/// Reads dimensions: `1-14`, `1,2,5-9`.
pub(crate) fn dimensions(text: &str) -> Result<Vec<usize>, Failure> {
    const MOST: usize = 10_000;
    let bad = |part: &str| {
        let allowed = format!("a number from 1 to {MOST}, or a range such as 1-14");
        Failure::Usage(format!("--dims {text}: {part:?} is not {allowed}"))
    };
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (1..=MOST).contains(n));
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => all.extend(first..=last),
            _ => return Err(bad(part)),
        }
    }
    Ok(all)
}

/// The values with these names, each given once.
pub(crate) fn named<T: Named>(option: &str, names: &[String]) -> Result<Vec<T>, Failure> {
    let usage_error = |e: menet::Error| Failure::Usage(format!("--{option}: {e}"));
    let mut values: Vec<T> = Vec::new();
    for (k, name) in names.iter().enumerate() {
        if names[..k].contains(name) {
            return Err(Failure::Usage(format!("--{option}: {name:?} is given twice; give it only once")));
        }
        values.push(T::from_name(name.trim()).map_err(usage_error)?);
    }
    Ok(values)
}

/// A help text with its default.
pub(crate) fn with_default(text: &str, default: impl Display) -> String {
    format!("{text} [default: {default}]")
}

/// The names of a parameter's values.
pub(crate) fn names<T: Named>() -> String {
    T::ALL.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
}

/// Numbers as a user gives them.
pub(crate) fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_read() {
        assert_eq!(dimensions("1-3,7").unwrap(), [1, 2, 3, 7]);
        for wrong in ["", "0", "3-1", "a", "1-", "1,,2", "1-100000000"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }
}
