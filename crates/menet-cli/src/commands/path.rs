//! `menet path`

use std::path::PathBuf;

use clap::Args;
use menet_lab::figures;

use super::variable;
use crate::Context;
use crate::args::{DataArgs, ParamArgs, labelled, set_name};
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text;

/// Write the whole path of one axis: all coefficients at every knot, in the units of the data.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet path --data leukemia --component 1 --nonzeros 20 --out path.csv --svg path.svg"
)]
pub(crate) struct Path {
    #[command(flatten)]
    data: DataArgs,
    /// The axis, counted from 1.
    #[arg(long = "component", default_value_t = 1, value_name = "AXIS")]
    axis: usize,
    /// Where to write the path: .csv, or - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also draw the path into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    params: ParamArgs,
}

impl Path {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let inputs: Vec<_> =
            overwrite::data(&self.data.data, &self.data.how).into_iter().chain(self.params.files()).collect();
        let svg = self.svg.iter().map(|path| Output::File("--svg", path));
        let outputs: Vec<_> = [Output::File("--out", &self.out)].into_iter().chain(svg).collect();
        overwrite::refuse(&inputs, &outputs)?;
        let params = self.params.resolve()?; // What is wrong with flags is told before data are read.
        let table = self.data.how.read_labelled(context, &self.data.data)?;
        let data = labelled(&table, params.prepare.impute)?;
        let params = self.params.grouped(params, &data)?;
        if params.penalty.grouped() {
            return Err(Failure::Usage(
                "groups of variables have no path: use menet fit, and menet inspect for the groups of every axis".to_owned(),
            ));
        }
        let men = menet::fit(&data, &params, &context.watch)?;
        context.watch.done();
        let d = men.paths().len();
        let Some(path) = self.axis.checked_sub(1).and_then(|k| men.paths().get(k)) else {
            return Err(Failure::Usage(format!("--component {}: use axes 1 to {d}", self.axis)));
        };
        let rows = path.knots().iter().enumerate().flat_map(|(k, knot)| {
            let weights = men.weights(&knot.coefficients);
            let l1: f64 = weights.values().iter().map(|w| w.abs()).sum();
            let line = |(j, w): (usize, f64)| {
                vec![k.to_string(), knot.level.to_string(), l1.to_string(), variable(&men, j), w.to_string()]
            };
            weights.iter().map(line).collect::<Vec<_>>()
        });
        let header = ["knot", "lambda", "l1_norm", "feature", "coefficient"].map(str::to_owned);
        menet_io::write::csv_table(&self.out, &header, rows)?;
        if let Some(file) = &self.svg {
            let svg = figures::path(&men, self.axis - 1, &set_name(&self.data.data)).unwrap_or_default();
            menet_io::atomic::write(file, |out| out.write_all(svg.as_bytes()))?;
        }
        if context.json && self.out.as_os_str() != "-" {
            text::print(format_args!(
                "{}",
                serde_json::json!({ "component": self.axis, "knots": path.knots().len() })
            ))?;
        } else if self.out.as_os_str() != "-" {
            let knots = path.knots().len();
            context.say(format_args!("{knots} knots of axis {}: {}", self.axis, text::path(&self.out)))?;
        }
        Ok(())
    }
}
