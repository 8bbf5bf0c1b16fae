//! `menet tune`

use std::path::PathBuf;

use clap::Args;
use menet::{Method, Named};
use menet_lab::params::fields;
use menet_lab::protocol::default_dimensions;
use menet_lab::tune::{Trial, Tuned};
use menet_lab::{Progress, Status};

use crate::Context;
use crate::args::{DataArgs, SearchArgs, dimensions, method_params};
use crate::failure::Failure;
use crate::{overwrite, text};

/// Choose the parameters of a method by cross-validation: sparsity, dimension, ridge and the rest.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct Tune {
    #[command(flatten)]
    data: DataArgs,
    /// The method, by a name listed below.
    #[arg(long, default_value = "men", value_name = "NAME")]
    method: String,
    /// Folder for trials.csv, params.toml and the plot.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Parameters to begin with: a TOML file as for evaluate or fit.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Dimensions to choose from, as 1-14 or 1,2,5-9 [default: 1 to samples - 1, at most 50]
    #[arg(long, value_name = "LIST")]
    dims: Option<String>,
    /// What the folds depend on.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    search: SearchArgs,
}

fn after_help() -> String {
    let methods = super::evaluate::methods();
    format!(
        "{methods}\nExample:\n  menet tune --data orl --out tuned\n  menet fit --data orl --params tuned/params.toml --model \
         faces.safetensors"
    )
}

impl Tune {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        overwrite::refuse_run(
            std::slice::from_ref(&self.data.data),
            &self.data.how,
            self.params.as_deref(),
            &self.out,
        )?;
        let params = method_params(self.params.as_deref())?;
        let method = params.method(&self.method)?;
        let table = self.data.how.read_unfilled(context, &self.data.data)?;
        let data = table.dataset()?;
        method.reducer().check(data.variables())?;
        let dims = match &self.dims {
            Some(text) => dimensions(text)?,
            None => default_dimensions(data.samples()),
        };
        let (metric, options) = (self.search.metric(&params)?, self.search.options());
        if self.out.exists() && !self.out.is_dir() {
            return Err(Failure::Usage(format!("--out {}: is not a folder", self.out.display())));
        }
        let outcome = menet_lab::tune(&method, &data, &dims, metric, &options, self.seed, &context.watch);
        let tuned = outcome?;
        context.watch.status(Status { now: "drawing the plot".to_owned(), ..Status::default() });
        menet_lab::output::write_tuning(&tuned, &self.data.data, &self.out)?;
        context.watch.done();
        let best = &tuned.best;
        if context.json {
            return text::print(serde_json::json!({
                "method": self.method, "rate": best.score.rate(), "standard_error": best.standard_error,
                "dimension": tuned.dimension, "nonzeros": best.support(), "metric": tuned.metric.name(),
                "fits": tuned.fits, "params": fields(&tuned.method)?, "out": self.out.to_string_lossy(),
            }));
        }
        context.say(summary(&method, &tuned))?;
        context.say(format_args!("trials.csv, params.toml and the plot are in {}", self.out.display()))
    }
}

fn summary(method: &Method, tuned: &Tuned) -> String {
    let Trial { score, standard_error, .. } = &tuned.best;
    let sparsity = tuned.best.support().map_or(String::new(), |k| format!(", {k} variables per axis"));
    format!(
        "{}: {:.1} % (standard error {standard_error:.1}) in cross-validation, after {} fits\n{} dimensions{sparsity}, {} \
         metric; {}",
        method.name(),
        score.rate(),
        tuned.fits,
        tuned.dimension,
        tuned.metric.name(),
        tuned
            .best
            .params
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    )
}
