//! `menet predict`

use std::path::PathBuf;

use clap::Args;
use menet::classify::{Metric, nearest_neighbors};
use menet_io::ModelFile;

use crate::Context;
use crate::args::{DataArgs, metric};
use crate::failure::Failure;
use crate::{overwrite, text};

/// Classify data by their nearest training samples in the projected space.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet predict --model leukemia.safetensors --data leukemia --out labels.csv"
)]
pub(crate) struct Predict {
    /// A model file.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Use only the first axes.
    #[arg(long, value_name = "D")]
    components: Option<usize>,
    #[command(flatten)]
    data: DataArgs,
    /// Where to write the labels: .csv, or - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many neighbours vote.
    #[arg(long, default_value_t = 1, value_name = "N")]
    neighbors: usize,
    /// euclidean or cosine [default: the model's]
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
}

impl Predict {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        overwrite::refuse_model(&self.model, &self.data, &self.out)?;
        let mut file = ModelFile::load(&self.model)?;
        if let Some(d) = self.components {
            file = file.at_components(d)?;
        }
        let table = self.data.how.read_for(&self.data.data, &file.men)?;
        let z = table.project(file.men.projection())?;
        let metric = self.metric.unwrap_or(file.men.params().metric);
        let (gallery, classes) = (file.gallery.as_ref(), &file.gallery_classes);
        let found = nearest_neighbors(gallery, classes, z.as_ref(), self.neighbors, metric)?;
        let names = file.men.classes();
        let rows = found.iter().map(|p| vec![names[p.class].clone(), p.distance.to_string()]);
        menet_io::write::csv_rows(&self.out, &["label".to_owned(), "distance".to_owned()], rows)?;
        let labelled =
            table.labels.iter().flatten().zip(&found).filter(|(label, _)| !label.trim().is_empty());
        let (right, known) = labelled.fold((0usize, 0usize), |(right, known), (label, found)| {
            (right + usize::from(names[found.class] == *label), known + 1)
        });
        let rate = (known > 0).then(|| 100.0 * right as f64 / known as f64);
        if context.json && self.out.as_os_str() != "-" {
            text::print(format_args!("{}", serde_json::json!({ "n": found.len(), "rate": rate })))?;
        } else if self.out.as_os_str() != "-" {
            let rate = rate.map_or(String::new(), |rate| format!(", {rate:.1}% as labelled"));
            context.say(format_args!("{} samples classified{rate}: {}", found.len(), self.out.display()))?;
        }
        Ok(())
    }
}
