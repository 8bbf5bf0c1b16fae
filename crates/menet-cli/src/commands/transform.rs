//! `menet transform`

use std::path::PathBuf;

use clap::Args;
use menet_io::{ModelFile, blocks};

use crate::Context;
use crate::args::{DataArgs, FillArgs, ModelArgs};
use crate::failure::Failure;
use crate::{overwrite, text};

/// Project data with a model. The data need the variables of the panel, by name, and no others.
///
/// Text, Parquet, Arrow and .npy files are read in blocks, so they may be larger than memory.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet transform --model leukemia.safetensors --data leukemia --out z.csv"
)]
pub(crate) struct Transform {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    fill: FillArgs,
    /// Where to write the projected samples: .csv, .npy, .parquet, or - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Transform {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        overwrite::refuse_model(&self.model.model, &self.data, &self.out)?;
        let file = ModelFile::load(&self.model.model)?;
        let men = self.model.of(&file)?;
        let (source, options) = (&self.data.data, self.data.how.options());
        self.data.how.note_batches(context, &men);
        let (fill, block) = (self.fill.fills(), blocks::BLOCK);
        let outcome = menet_io::transform(&men, source, &options, fill, &self.out, block, &context.watch);
        context.watch.done();
        let done = outcome?;
        for notice in &done.notices {
            context.notice(notice);
        }
        let n = done.samples;
        let d = men.projection().components();
        if self.out.as_os_str() != "-" {
            if context.json {
                text::print(format_args!("{}", serde_json::json!({ "n": n, "components": d })))?;
            } else {
                context.say(format_args!("{n} samples on {d} axes: {}", self.out.display()))?;
            }
        }
        Ok(())
    }
}
