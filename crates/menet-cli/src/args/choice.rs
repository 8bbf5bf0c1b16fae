//! The options of `validate` that say how settings are chosen inside every training part.

use clap::Args;
use menet::refit::Refit;
use menet::rules::RuleKind;
use menet::scores::ScoreKind;
use menet::select::ModelSize;
use menet::{Method, Named};
use menet_lab::validate::{INNER_FOLDS, MenProcedure, TrialChoice};

use super::search::{list, named, names, with_default};
use crate::failure::Failure;

/// How the settings are chosen inside every training part.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choice of the settings, inside every training part")]
pub(crate) struct ChoiceArgs {
    #[arg(long, value_name = "N", help = with_default("Folds of the inner cross-validation", INNER_FOLDS))]
    inner_folds: Option<usize>,
    #[arg(long, value_name = "NAME", help = with_default(
        &format!("The score to choose by: {}", names::<ScoreKind>()), ScoreKind::Balanced.name()))]
    score: Option<String>,
    /// Take the smallest model within one standard error of the best.
    #[arg(long, conflicts_with = "most_stable")]
    one_standard_error: bool,
    /// Take the model whose selection agrees most over the folds, within one standard error of the best.
    #[arg(long)]
    most_stable: bool,
    /// Panel sizes to choose from, as 5,10,20 [default: none; see --nonzeros]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    panel_size: Vec<usize>,
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', help = with_default(
        "Numbers of variables per path to choose from",
        format_args!("{}; none with --panel-size", list(&menet_lab::validate::SIZES))))]
    nonzeros: Vec<usize>,
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', help = with_default(
        "Ridges to choose from", format_args!("{:?}", menet_lab::validate::RIDGES)))]
    ridge: Vec<f64>,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = with_default(
        &format!("Refits to choose from, of {}", names::<Refit>()), "panel,discriminant"))]
    refit: Vec<String>,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = with_default(
        &format!("Rules to choose from, of {}", names::<RuleKind>()), "all"))]
    rule: Vec<String>,
}

impl ChoiceArgs {
    /// MEN with these parameters, its open settings chosen as the options say.
    pub(crate) fn procedure(&self, method: Method) -> Result<MenProcedure, Failure> {
        match method.men() {
            Some(params) => self.of(method.name(), params.clone()),
            None => Err(Failure::Usage(format!("the method {} cannot be validated", method.name()))),
        }
    }

    /// A variant of MEN with its open settings chosen as the options say.
    pub(crate) fn of(&self, name: &str, params: menet::MenParams) -> Result<MenProcedure, Failure> {
        let mut men = MenProcedure { name: name.to_owned(), ..MenProcedure::new(params) };
        if !self.nonzeros.is_empty() || !self.panel_size.is_empty() {
            let nonzeros = self.nonzeros.iter().map(|&k| ModelSize::Nonzeros(k));
            men.grid.sizes = nonzeros.chain(self.panel_size.iter().map(|&k| ModelSize::Panel(k))).collect();
            (men.base.nonzeros, men.base.panel_size) = (None, None);
        }
        for (name, sizes) in [("nonzeros", &self.nonzeros), ("panel-size", &self.panel_size)] {
            if sizes.contains(&0) {
                return Err(Failure::Usage(format!("--{name} 0: numbers of variables must be 1 or more")));
            }
        }
        if let Some(&wrong) = self.ridge.iter().find(|ridge| !(**ridge >= 0.0 && ridge.is_finite())) {
            return Err(Failure::Usage(format!("--ridge {wrong}: use numbers from 0 on")));
        }
        if !self.ridge.is_empty() {
            men.grid.ridge.clone_from(&self.ridge);
        }
        if !self.refit.is_empty() {
            men.grid.refit = named("refit", &self.refit)?;
        }
        if !self.rule.is_empty() {
            men.grid.rule = named("rule", &self.rule)?;
        }
        if let Some(score) = named::<ScoreKind>("score", self.score.as_slice())?.first() {
            men.score = *score;
        }
        men.folds = self.inner_folds.unwrap_or(men.folds);
        if men.folds < 2 {
            return Err(Failure::Usage(format!("--inner-folds {}: use at least 2", men.folds)));
        }
        men.choose = match (self.one_standard_error, self.most_stable) {
            (true, _) => TrialChoice::Smallest,
            (_, true) => TrialChoice::MostStable,
            _ => TrialChoice::Best,
        };
        Ok(men)
    }
}
