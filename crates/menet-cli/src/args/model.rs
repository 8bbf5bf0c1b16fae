//! The options that say which model to use.

use std::path::PathBuf;

use clap::Args;
use menet::refit::Refit;
use menet::{Men, Named, SizeLimits};
use menet_io::ModelFile;

use crate::failure::Failure;

/// A model, and how much of it to use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// A model file.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Use at most this many variables per axis; only for models without a refit.
    #[arg(long, value_name = "K")]
    nonzeros: Option<usize>,
    /// Use only the first axes; only for models without a refit.
    #[arg(long, value_name = "D")]
    components: Option<usize>,
}

impl ModelArgs {
    /// The model of the file, or the smaller one that the options ask for.
    pub(crate) fn of(&self, file: &ModelFile) -> Result<Men, Failure> {
        smaller(&file.men, self.nonzeros, self.components)
    }
}

/// A model with fewer variables or axes, as far as this is possible without the training samples.
pub(crate) fn smaller(men: &Men, nonzeros: Option<usize>, components: Option<usize>) -> Result<Men, Failure> {
    // The same number gives the same model.
    let nonzeros = nonzeros.filter(|&k| k != men.nonzeros());
    let components = components.filter(|&d| d != men.projection().components());
    let refit = men.refit().refit;
    let option = match (nonzeros, components) {
        (None, None) => return Ok(men.clone()),
        (Some(k), _) => format!("--nonzeros {k}"),
        (None, Some(d)) => format!("--components {d}"),
    };
    if refit != Refit::None {
        return Err(Failure::Usage(format!(
            "{option}: the model was made with --refit {}, and weights for other variables or axes need the training samples, \
             which a model file does not hold; fit again with --nonzeros, --panel-size or --components, or with --refit none \
             for a model that can be made smaller",
            refit.name()
        )));
    }
    Ok(men.at(
        SizeLimits::default().with(|it| {
            it.nonzeros = nonzeros;
            it.panel_size = None;
            it.components = components;
        }),
        None,
    )?)
}
