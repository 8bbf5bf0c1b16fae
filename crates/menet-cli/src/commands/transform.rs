//! `menet transform`

use std::path::PathBuf;

use clap::Args;

use super::model_and_data;
use crate::Context;
use crate::args::{DataArgs, ModelArgs};
use crate::failure::Failure;
use crate::text;

/// Project data with a model.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet transform --model leukemia.safetensors --data leukemia --out z.csv"
)]
pub(crate) struct Transform {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Where to write the projected samples: .csv, .npy, .parquet, or - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Transform {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let (_, men, table) = model_and_data(&self.model, &self.data.data, &self.data.how)?;
        let z = table.project(men.projection())?;
        let header: Vec<String> = (1..=z.ncols()).map(|k| format!("z{k}")).collect();
        menet_io::write::matrix(&self.out, &header, z.as_ref())?;
        if self.out.as_os_str() != "-" {
            if context.json {
                text::print(format_args!(
                    "{}",
                    serde_json::json!({ "n": z.nrows(), "components": z.ncols() })
                ))?;
            } else {
                let line = format!("{} samples on {} axes: {}", z.nrows(), z.ncols(), self.out.display());
                context.say(line)?;
            }
        }
        Ok(())
    }
}
