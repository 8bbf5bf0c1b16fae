//! `menet split`

use std::path::{Path, PathBuf};

use clap::Args;
use menet::dataset::View;
use menet::evaluate::{generator, stratified_split, together_in};
use menet_io::Table;

use super::validate::numbered;
use crate::Context;
use crate::args::DataArgs;
use crate::failure::Failure;
use crate::overwrite::{self, Output};
use crate::text;

/// Split labelled data at random into samples to fit and samples to test, with the same fraction of every class.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet split --data leukemia --train train.csv --test test.csv\n  menet fit --data \
                        train.csv --nonzeros 10 --model m.safetensors\n  menet predict --model m.safetensors --data \
                        test.csv --out labels.csv"
)]
pub(crate) struct Split {
    #[command(flatten)]
    data: DataArgs,
    /// Where to write the samples to fit: .csv
    #[arg(long, value_name = "FILE")]
    train: PathBuf,
    /// Where to write the samples to test: .csv
    #[arg(long, value_name = "FILE")]
    test: PathBuf,
    /// The fraction of each class to test, in (0, 1).
    #[arg(long, default_value_t = 0.3, value_name = "F")]
    fraction: f64,
    /// Seed of the random split.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Split {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let outputs = [Output::File("--train", &self.train), Output::File("--test", &self.test)];
        overwrite::refuse(&overwrite::data(&self.data.data, &self.data.how), &outputs)?;
        let options = self.data.how.options();
        let table = self.data.how.read_labelled(context, &self.data.data)?;
        // Missing values stay missing, but every sample needs a label.
        let labels = table.all_labels()?;
        let together = together_in(View::Double(table.matrix()?), &numbered(labels), None)?;
        let split = stratified_split(labels, &together, self.fraction, &mut generator(self.seed, &[]))?;
        together.in_words().iter().for_each(|words| context.notice(words));
        for (path, rows) in [(&self.train, &split.train), (&self.test, &split.test)] {
            // A file of batches has no name as a column.
            let batch = options.batch.as_deref().filter(|_| table.feature_names.is_some());
            write(path, &table, (&options.label, batch), rows)?;
            context.notice_formulas(path, names(&table, rows));
        }
        if let Some((height, width)) = table.image_shape {
            context.notice(format_args!(
                "a CSV file does not store the image shape; add --shape {height}x{width} when you read it"
            ));
        }
        let (train, test) = (split.train.len(), split.test.len());
        if context.json {
            return text::print(serde_json::json!({ "train": train, "test": test }));
        }
        let (one, two) = (self.train.display(), self.test.display());
        context.say(format_args!("{train} samples to fit: {one}\n{test} samples to test: {two}"))
    }
}

/// The names that [`write`] writes.
fn names<'a>(table: &'a Table, rows: &'a [usize]) -> impl Iterator<Item = &'a String> {
    let of_rows = [table.ids.as_ref().map(|ids| &ids.values), table.labels.as_ref(), table.batches.as_ref()];
    let of_rows = of_rows.into_iter().flatten().flat_map(|all| rows.iter().map(move |&i| &all[i]));
    table.feature_names.iter().flatten().chain(of_rows)
}

/// Writes some rows of a table.
fn write(
    path: &Path,
    table: &Table,
    (label, batch): (&str, Option<&str>),
    rows: &[usize],
) -> Result<(), Failure> {
    let x = table.matrix()?;
    let names = table.feature_names.clone();
    let names = names.unwrap_or_else(|| (1..=table.columns).map(|j| format!("x{j}")).collect());
    // Every command recognises a column with this name.
    let id = table.ids.as_ref().map(|_| "id".to_owned());
    // A label column that was given by number gets a name in the header.
    let label = if table.feature_names.is_some() { label } else { "label" };
    let batch = table.batches.as_ref().map(|_| batch.unwrap_or("batch").to_owned());
    let header: Vec<String> = id.into_iter().chain([label.to_owned()]).chain(batch).chain(names).collect();
    let labels = table.labels.as_deref().unwrap_or_default();
    let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
    let lines = rows.iter().map(|&i| {
        let id = table.ids.as_ref().map(|ids| ids.values[i].clone());
        let values = (0..table.columns).map(|j| number(x[(i, j)]));
        let batch = table.batches.as_ref().map(|batches| batches[i].clone());
        id.into_iter().chain([labels[i].clone()]).chain(batch).chain(values).collect()
    });
    Ok(menet_io::write::csv_rows(path, &header, lines)?)
}
