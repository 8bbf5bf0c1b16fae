//! `menet predict`

use std::path::PathBuf;

use clap::Args;
use menet::rules::{Metric, Prediction, nearest_neighbors};
use menet_io::{ModelFile, Table, Values, fingerprint, labels};

use crate::Context;
use crate::args::{DataArgs, metric};
use crate::failure::Failure;
use crate::{overwrite, text};

/// Classify data by their nearest training samples in the projected space.
#[derive(Debug, Args)]
#[command(
    after_help = "Example, with samples that the fit has not seen:\n  menet split --data leukemia --train \
                        train.csv --test test.csv\n  menet fit --data train.csv --nonzeros 10 --model m.safetensors\n  menet \
                        predict --model m.safetensors --data test.csv --out labels.csv"
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

/// How many predictions are as labelled.
struct Agreement {
    /// Samples of which the label is known.
    known: usize,
    right: usize,
    /// Samples that the model was fitted to.
    seen: usize,
    /// The same two of the other samples.
    new_known: usize,
    new_right: usize,
    /// Labels that are no class of the model.
    unknown: Vec<String>,
}

impl Predict {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        overwrite::refuse_model(&self.model, &self.data, &self.out)?;
        let mut file = ModelFile::load(&self.model)?;
        if let Some(d) = self.components {
            file = file.at_components(d)?;
        }
        let table = self.data.how.read_for(context, &self.data.data, &file.men)?;
        let z = table.project(file.men.projection())?;
        let metric = self.metric.unwrap_or(file.men.params().metric);
        let (gallery, classes) = (file.gallery.as_ref(), &file.gallery_classes);
        let found = nearest_neighbors(gallery, classes, z.as_ref(), self.neighbors, metric)?;
        self.write(&table, &found, file.men.classes())?;
        let agreement = agreement(&file, &table, &found);
        self.warn(context, &agreement, found.len());
        self.tell(context, &agreement, found.len())
    }

    /// One row per sample, with its name if it has one.
    fn write(&self, table: &Table, found: &[Prediction], names: &[String]) -> Result<(), Failure> {
        let mut header = vec!["label".to_owned(), "distance".to_owned()];
        if let Some(ids) = &table.ids {
            header.insert(0, ids.name.clone());
        }
        let rows = found.iter().enumerate().map(|(i, p)| {
            let id = table.ids.as_ref().map(|ids| ids.values[i].clone());
            id.into_iter().chain([names[p.class].clone(), p.distance.to_string()]).collect()
        });
        Ok(menet_io::write::csv_rows(&self.out, &header, rows)?)
    }

    fn warn(&self, context: &Context, agreement: &Agreement, n: usize) {
        let Agreement { seen, unknown, .. } = agreement;
        if !unknown.is_empty() {
            context.notice(format_args!(
                "labels of the data that are no class of the model: {}",
                menet_io::formats::list(unknown)
            ));
        }
        if *seen > 0 {
            let others = match agreement.new_known {
                0 => String::new(),
                known => {
                    let rate = 100.0 * agreement.new_right as f64 / known as f64;
                    format!("; of the {known} others {rate:.1}% are as labelled")
                }
            };
            context.notice(format_args!(
                "the model was fitted to {seen} of these {n} samples; that they are recognised says nothing about new ones \
                 (see menet split){others}"
            ));
        }
    }

    fn tell(&self, context: &Context, agreement: &Agreement, n: usize) -> Result<(), Failure> {
        let &Agreement { known, right, seen, ref unknown, .. } = agreement;
        let rate = (known > 0).then(|| 100.0 * right as f64 / known as f64);
        if self.out.as_os_str() == "-" {
            return Ok(());
        }
        if context.json {
            return text::print(serde_json::json!({
                "n": n, "rate": rate, "labelled": known, "training_samples": seen, "unknown_labels": unknown,
            }));
        }
        let of = if known < n { format!(" of the {known} with a label") } else { String::new() };
        let rate = rate.map_or_else(String::new, |rate| format!(", {rate:.1}%{of} as labelled"));
        context.say(format_args!("{n} samples classified{rate}: {}", self.out.display()))
    }
}

fn agreement(file: &ModelFile, table: &Table, found: &[Prediction]) -> Agreement {
    let names: Vec<String> = file.men.classes().iter().map(|name| labels::normal(name)).collect();
    let given = table.labels.as_deref().unwrap_or_default();
    let fingerprints = match (&table.values, table.matrix()) {
        (Values::Sparse(x), _) => fingerprint::of_sparse(x),
        (_, Ok(x)) => fingerprint::of_rows(x),
        (_, Err(_)) => Vec::new(),
    };
    let seen = file.seen(&fingerprints);
    let count = |wanted: &dyn Fn(bool, bool) -> bool| {
        let right = |label: &String, found: &Prediction| names[found.class] == *label;
        let all = given.iter().zip(found).zip(&seen).filter(|((label, _), _)| !label.is_empty());
        all.filter(|((label, found), seen)| wanted(right(label, found), **seen)).count()
    };
    Agreement {
        known: count(&|_, _| true),
        right: count(&|right, _| right),
        new_known: count(&|_, seen| !seen),
        new_right: count(&|right, seen| right && !seen),
        seen: seen.iter().filter(|seen| **seen).count(),
        unknown: labels::unknown(given, file.men.classes()).into_iter().map(str::to_owned).collect(),
    }
}
