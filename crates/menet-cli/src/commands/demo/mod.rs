//! `menet demo`

mod faces;
mod genes;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::Context;
use crate::failure::Failure;

/// Learn to recognise the faces of the built-in set orl, or to tell three kinds of leukaemia apart, and show the result.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  menet demo --out menet-demo\n  menet demo --genes")]
pub(crate) struct Demo {
    /// Show a panel of genes instead: the built-in set leukemia.
    #[arg(long, conflicts_with = "out")]
    genes: bool,
    /// Folder for the pictures [default: menet-demo]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Demo {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        if self.genes {
            return genes::run(context);
        }
        faces::run(self.out.as_deref().unwrap_or(Path::new("menet-demo")), context)
    }
}
