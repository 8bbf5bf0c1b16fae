//! `menet data`

use std::collections::{BTreeMap, HashMap};

use clap::Args;
use menet_io::Table;
use serde_json::json;

use crate::Context;
use crate::args::HowArgs;
use crate::failure::Failure;
use crate::text::{self, table};

/// Show what is in a data set.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  menet data leukemia")]
pub(crate) struct Data {
    /// A file, a folder of images, or a built-in set: orl, leukemia, digits.
    #[arg(value_name = "FILE|FOLDER|SET")]
    data: String,
    #[command(flatten)]
    how: HowArgs,
}

impl Data {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let data = self.how.read(&self.data)?;
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        for label in data.labels.iter().flatten() {
            *classes.entry(label.clone()).or_default() += 1;
        }
        // In the order in which a fit will have them.
        let order = data.labels.is_some().then(|| data.dataset()).transpose()?;
        let classes: Vec<(String, usize)> = match &order {
            Some(data) => data.classes().iter().map(|name| (name.clone(), classes[name])).collect(),
            None => Vec::new(),
        };
        let (duplicates, constant) = (duplicate_rows(&data), constant_columns(&data));
        if context.json {
            let counts: Vec<_> =
                classes.iter().map(|(name, count)| json!({ "name": name, "count": count })).collect();
            text::print(format_args!(
                "{}",
                json!({ "n": data.rows, "p": data.columns, "classes": counts, "names": data.feature_names,
                        "shape": data.image_shape, "duplicate_rows": duplicates, "constant_columns": constant })
            ))?;
            return Ok(());
        }
        text::print(format_args!("{}: {} samples of {} variables", self.data, data.rows, data.columns))?;
        if let Some((height, width)) = data.image_shape {
            text::print(format_args!("images of {height} x {width} pixels"))?;
        }
        if let Some(names) = &data.feature_names {
            let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
            text::print(format_args!(
                "variables: {}{}",
                shown.join(", "),
                if names.len() > 5 { ", ..." } else { "" }
            ))?;
        }
        text::print(format_args!("{duplicates} duplicate rows, {constant} constant columns"))?;
        if classes.is_empty() {
            text::print(format_args!("no labels"))?;
        } else {
            text::print(format_args!("{} classes\n", classes.len()))?;
            let rows: Vec<Vec<String>> =
                classes.into_iter().map(|(name, count)| vec![name, count.to_string()]).collect();
            text::print(format_args!("{}", table(&["class", "samples"], &rows)))?;
        }
        Ok(())
    }
}

/// Rows that equal an earlier one.
fn duplicate_rows(data: &Table) -> usize {
    let mut seen: HashMap<Vec<u64>, ()> = HashMap::new();
    let rows =
        data.values.chunks(data.columns).map(|row| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    rows.filter(|row| seen.insert(row.clone(), ()).is_some()).count()
}

/// Columns with one value only.
fn constant_columns(data: &Table) -> usize {
    let constant = |j: usize| (1..data.rows).all(|i| data.values[i * data.columns + j] == data.values[j]);
    (0..data.columns).filter(|&j| constant(j)).count()
}
