//! The options of `evaluate` and `tune`: how parameters are searched.

use std::fmt::Display;

use clap::Args;
use menet::rules::Metric;
use menet::{Method, Named};
use menet_lab::params::MethodParams;
use menet_lab::{MetricChoice, TuneOptions};

use super::choice::ChoiceArgs;
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
        "Largest number of fits per search of methods other than MEN", TuneOptions::default().budget))]
    budget: Option<usize>,
    #[arg(long, value_name = "N", help = with_default("Folds of the cross-validation", TuneOptions::default().folds))]
    folds: Option<usize>,
    #[command(flatten)]
    choice: ChoiceArgs,
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
        let mut search = self.choice.search()?;
        search.space.metric.extend(self.metric.as_deref().and_then(|metric| Metric::from_name(metric).ok()));
        Ok(TuneOptions {
            budget: self.budget.unwrap_or(default.budget),
            folds: self.folds.unwrap_or(default.folds),
            prepare: default.prepare,
            search,
        })
    }

    /// Refuses options that none of `methods` uses.
    pub(crate) fn refuse_unused(&self, methods: &[String]) -> Result<(), Failure> {
        let is_men = |name: &String| Method::from_name(name).is_ok_and(|method| method.men().is_some());
        if let (Some(budget), true) = (self.budget, methods.iter().all(is_men)) {
            return Err(Failure::Usage(format!(
                "--budget {budget}: it limits the search of methods other than MEN, but the method is {}; remove the option, or \
                 shorten the lists of what is tried, as --ridge 0.3,3",
                methods.join(", ")
            )));
        }
        match self.choice.given(true)? {
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
        let given = [("--budget", self.budget.is_some()), ("--folds", self.folds.is_some())];
        let first = given.iter().find(|(_, given)| *given).map(|(name, _)| (*name).to_owned());
        match first.map_or_else(|| self.choice.given(false), |name| Ok(Some(name)))? {
            Some(name) => {
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

/// A help text with its default.
pub(crate) fn with_default(text: &str, default: impl Display) -> String {
    format!("{text} [default: {default}]")
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
