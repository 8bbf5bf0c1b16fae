//! `menet predict`

use std::path::PathBuf;

use clap::Args;
use menet::classify::{Metric, nearest_neighbors};
use menet_io::ModelFile;

use crate::Context;
use crate::args::{DataArgs, metric};
use crate::failure::Failure;

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
        let mut file = ModelFile::load(&self.model)?;
        if let Some(d) = self.components {
            file = file.at_components(d)?;
        }
        let mut table = self.data.read()?;
        if let Some(names) = file.men.feature_names() {
            table = table.select(names)?;
        }
        table.check_missing()?;
        let z = file.men.transform(table.matrix())?;
        let metric = self.metric.unwrap_or(file.men.params().metric);
        let (gallery, classes) = (file.gallery.as_ref(), &file.gallery_classes);
        let found = nearest_neighbors(gallery, classes, z.as_ref(), self.neighbors, metric)?;
        let names = file.men.classes();
        let rows = found.iter().map(|p| vec![names[p.class].clone(), p.distance.to_string()]);
        menet_io::write::csv_rows(&self.out, &["label".to_owned(), "distance".to_owned()], rows)?;
        let rate = table.labels.as_ref().map(|labels| {
            let right =
                found.iter().zip(labels).filter(|(found, label)| names[found.class] == **label).count();
            100.0 * right as f64 / found.len() as f64
        });
        if context.json && self.out.as_os_str() != "-" {
            println!("{}", serde_json::json!({ "n": found.len(), "rate": rate }));
        } else if self.out.as_os_str() != "-" {
            let rate = rate.map_or(String::new(), |rate| format!(", {rate:.1}% as labelled"));
            context.say(format_args!("{} samples classified{rate}: {}", found.len(), self.out.display()));
        }
        Ok(())
    }
}
