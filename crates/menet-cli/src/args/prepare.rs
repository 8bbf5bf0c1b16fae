//! The options of `evaluate`, `tune` and `validate` that say how samples are prepared, for all methods.

use clap::Args;
use menet::prepare::{Impute, PrepareParams, Scale};
use menet::{Method, Named};
use menet_lab::params::MethodParams;
use toml::Value;

use super::help::help;
use crate::failure::Failure;

/// How samples are prepared, inside the training samples of every fold.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preparation, inside every fold and for all methods")]
pub(crate) struct PrepareArgs {
    #[arg(long, value_name = "HOW", help = help("impute", "How missing values are filled: {choices}"))]
    impute: Option<String>,
    #[arg(long, value_name = "FRACTION", help = help("max_missing",
        "Leave out variables that a larger fraction of the training samples lacks, from 0 to 1; used with --impute"))]
    max_missing: Option<f64>,
    #[arg(long, value_name = "HOW", help = help("scale", "How variables are scaled: {choices}"))]
    scale: Option<String>,
    #[arg(long, value_name = "BOOL", help = help("batch_scale",
        "Divide by the standard deviation in the batch, too, with --batch: true or false"))]
    batch_scale: Option<bool>,
}

impl PrepareArgs {
    /// The parameters, with these options in those of MEN and its variants.
    pub(crate) fn with(&self, mut params: MethodParams) -> Result<MethodParams, Failure> {
        let impute = self.impute.as_deref().map(Impute::from_name).transpose()?;
        let scale = self.scale.as_deref().map(Scale::from_name).transpose()?;
        let given: Vec<(&str, Value)> = [
            ("impute", impute.map(|impute| Value::String(impute.name().to_owned()))),
            ("max_missing", self.max_missing.map(Value::Float)),
            ("scale", scale.map(|scale| Value::String(scale.name().to_owned()))),
            ("batch_scale", self.batch_scale.map(Value::Boolean)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
        for method in Method::all().iter().filter(|method| method.men().is_some() && !given.is_empty()) {
            let section = params.0.entry(method.name().to_owned()).or_default();
            section.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        Ok(params)
    }
}

/// How samples are prepared for the other methods: as for `men`.
pub(crate) fn of_others(params: &MethodParams) -> Result<PrepareParams, Failure> {
    let prepare = params.method("men")?.men().map(menet::MenParams::prepare_params).unwrap_or_default();
    prepare.check()?;
    Ok(prepare)
}
