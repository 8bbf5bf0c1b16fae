//! `menet data`

use std::collections::{BTreeMap, HashSet};

use clap::Args;
use menet::dataset::sorted_classes;
use menet_io::{Table, TableValues};
use serde_json::json;

use crate::Context;
use crate::args::{ReadingArgs, builtin_names};
use crate::failure::Failure;
use crate::regression;
use crate::text::{self, table};

/// How many classes are shown; the largest come first.
const SHOWN: usize = 20;

/// Show what is in a data set.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  menet data leukemia")]
pub(crate) struct Data {
    #[arg(value_name = "FILE|FOLDER|SET", required_unless_present = "named", conflicts_with = "named",
          help = format!("A file, a folder of images, or a built-in set: {}", builtin_names()))]
    data: Option<String>,
    /// The data to show, as an option like in other commands.
    #[arg(long = "data", id = "named", value_name = "FILE|FOLDER|SET")]
    named: Option<String>,
    #[command(flatten)]
    how: ReadingArgs,
}

impl Data {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        // clap ensures that one of the two is given.
        let source = self.data.as_ref().or(self.named.as_ref()).map_or("", String::as_str);
        let data = self.how.read(context, source)?;
        let mut classes: BTreeMap<String, usize> = BTreeMap::new();
        for label in data.labels.iter().flatten() {
            *classes.entry(label.clone()).or_default() += 1;
        }
        let unlabelled = classes.remove("").unwrap_or(0);
        let missing = match &data.values {
            TableValues::Dense(values) => values.iter().filter(|value| value.is_nan()).count(),
            TableValues::Sparse(_) => 0,
        };
        // In the order that a fit uses.
        let names: Vec<String> = classes.keys().cloned().collect();
        let counted = |name: String| (name.clone(), classes[&name]);
        let classes: Vec<(String, usize)> = sorted_classes(&names).into_iter().map(counted).collect();
        let doubt = data.labels.as_deref().and_then(regression::doubt);
        if let Some(doubt) = &doubt {
            context.notice(doubt);
        }
        let (duplicates, constant) = (duplicate_rows(&data), constant_columns(&data));
        if context.json {
            let counts: Vec<_> =
                classes.iter().map(|(name, count)| json!({ "name": name, "count": count })).collect();
            text::print(format_args!(
                "{}",
                json!({ "n": data.rows, "p": data.columns, "classes": counts, "names": data.feature_names,
                        "shape": data.image_shape, "duplicate_rows": duplicates, "constant_columns": constant,
                        "missing_values": missing, "unlabelled": unlabelled, "label_doubt": doubt })
            ))?;
            return Ok(());
        }
        text::print(format_args!(
            "{}: {} samples of {} variables",
            text::inline(source),
            data.rows,
            data.columns
        ))?;
        if let Some((height, width)) = data.image_shape {
            text::print(format_args!("images of {height} x {width} pixels"))?;
        }
        if let Some(names) = &data.feature_names {
            let shown: Vec<_> = names.iter().take(5).map(|name| text::inline(name)).collect();
            text::print(format_args!(
                "variables: {}{}",
                shown.join(", "),
                if names.len() > 5 { ", ..." } else { "" }
            ))?;
        }
        text::print(format_args!("{duplicates} duplicate rows, {constant} constant columns"))?;
        if missing > 0 {
            text::print(format_args!("{missing} missing values (fit needs --impute)"))?;
        }
        if unlabelled > 0 {
            text::print(format_args!("{unlabelled} samples without a label"))?;
        }
        if classes.is_empty() {
            text::print(format_args!("no labels (name their column with --label NAME)"))?;
        } else {
            text::print(format_args!("{} classes\n", classes.len()))?;
            let (all, mut classes) = (classes.len(), classes);
            classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let row = |(name, count): (String, usize)| vec![name, count.to_string()];
            let rows: Vec<Vec<String>> = classes.into_iter().take(SHOWN).map(row).collect();
            let more = if all > SHOWN { format!("and {} more\n", all - SHOWN) } else { String::new() };
            text::print(format_args!("{}{more}", table(&["class", "samples"], &rows)))?;
        }
        Ok(())
    }
}

/// The number of rows that equal an earlier row.
fn duplicate_rows(data: &Table) -> usize {
    let mut seen: HashSet<Vec<(usize, u64)>> = HashSet::new();
    let mut new = |row: &mut dyn Iterator<Item = (usize, f64)>| {
        seen.insert(row.map(|(j, value)| (j, value.to_bits())).collect())
    };
    match &data.values {
        TableValues::Dense(values) => {
            values.chunks(data.columns).filter(|row| !new(&mut row.iter().copied().enumerate())).count()
        }
        TableValues::Sparse(x) => (0..x.rows()).filter(|&i| !new(&mut x.row(i))).count(),
    }
}

/// The number of columns with only one value.
fn constant_columns(data: &Table) -> usize {
    match &data.values {
        TableValues::Dense(values) => {
            let constant = |j: &usize| (1..data.rows).all(|i| values[i * data.columns + j] == values[*j]);
            (0..data.columns).filter(constant).count()
        }
        TableValues::Sparse(x) => {
            let columns = x.transpose();
            let constant = |j: &usize| {
                let values: Vec<f64> = columns.row(*j).map(|(_, value)| value).collect();
                values.is_empty()
                    || values.len() == data.rows && values.iter().all(|&value| value == values[0])
            };
            (0..data.columns).filter(constant).count()
        }
    }
}
