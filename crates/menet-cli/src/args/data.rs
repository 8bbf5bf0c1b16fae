//! The options that say which data to read, and how.

use std::path::{Path, PathBuf};

use clap::Args;
use menet::prepare::Impute;
use menet::{Dataset, Men, SampleDoubts};
use menet_io::{Delimiter, ReadOptions, Table, TableModel, builtin, formats};

use crate::Context;
use crate::failure::Failure;

/// The data to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    // The help comes from `source_help`.
    #[arg(long, value_name = "FILE|FOLDER|SET", help = source_help())]
    pub(crate) data: String,
    #[command(flatten)]
    pub(crate) how: ReadingArgs,
}

/// How to read the data. `menet data --help` alone shows the options for files that are not plain tables.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ReadingArgs {
    /// Name of the label column; its number from 1 with --no-header.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label: String,
    /// Name of the column with the names of the samples; it is not a variable, and outputs repeat it.
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// A column to leave out; can be repeated.
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// A file with one label per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// The first line of a text file is a sample; columns are named by number, as in --label 5.
    #[arg(long, hide = true)]
    no_header: bool,
    /// The first line of a text file holds names, although it looks like a sample.
    #[arg(long, hide = true, conflicts_with = "no_header")]
    header: bool,
    /// Rows are variables and columns are samples.
    #[arg(long, hide = true)]
    transpose: bool,
    /// The separator of fields in a text file: comma, semicolon, tab, bar, space, or another character [default: from the
    /// file's ending]
    #[arg(long, hide = true, value_name = "SIGN")]
    delimiter: Option<Delimiter>,
    /// The decimal sign of a text file: . or ,
    #[arg(long, hide = true, value_name = "SIGN", default_value = ".", value_parser = [".", ",", "point", "comma"])]
    decimal: String,
    /// The encoding of a text file, such as latin1 or utf-16le [default: UTF-8]
    #[arg(long, hide = true, value_name = "NAME")]
    encoding: Option<String>,
    // The help comes from `format_help`.
    #[arg(long, hide = true, value_name = "NAME", help = format_help())]
    format: Option<String>,
    /// Name of the array of samples in an archive [default: X].
    #[arg(long, hide = true, value_name = "NAME")]
    x_key: Option<String>,
    /// Name of the array of labels in an archive [default: y].
    #[arg(long, hide = true, value_name = "NAME")]
    y_key: Option<String>,
    /// Indices of svmlight files begin at 0.
    #[arg(long, hide = true)]
    zero_based: bool,
    /// Resize images to this many pixels.
    #[arg(long, hide = true, value_name = "HxW", value_parser = pair)]
    size: Option<(usize, usize)>,
    /// The samples are images of this shape.
    #[arg(long, hide = true, value_name = "HxW", value_parser = pair)]
    shape: Option<(usize, usize)>,
    /// Name of the column with the batch of every sample, such as a plate or a study. The fit subtracts the mean of every batch. For
    /// formats without columns, a file with one batch per line.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) batch: Option<String>,
}

/// Missing values of new samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct FillArgs {
    /// Fill missing values with the mean of the training data; for a model that was fitted without --impute. A model that was fitted with
    /// it fills them in its own way.
    #[arg(long, value_name = "HOW", value_parser = ["mean"])]
    impute: Option<String>,
}

impl FillArgs {
    pub(crate) fn fills(&self) -> bool {
        self.impute.is_some()
    }
}

/// Samples that are ready for a model.
pub(crate) struct NewSamples<'f> {
    pub(crate) table: Table,
    /// The model, or that of its panel alone.
    pub(crate) men: &'f Men,
    /// What they are recognised by; empty if variables of the fit are not there.
    pub(crate) fingerprints: Vec<u64>,
    pub(crate) doubts: SampleDoubts,
}

/// The labelled data of a table, with missing values if the fit fills them.
pub(crate) fn labelled(table: &Table, impute: Option<Impute>) -> Result<Dataset<'_>, Failure> {
    Ok(if impute.is_some() { table.dataset_with_missing()? } else { table.dataset()? })
}

impl ReadingArgs {
    pub(crate) fn read(&self, context: &Context, source: &str) -> Result<Table, Failure> {
        noticed(context, menet_io::read(source, &self.options())?)
    }

    /// Reads data for a model: the columns that it needs, in its order, missing values filled with the training mean on request, unless the
    /// model fills them itself.
    pub(crate) fn read_for<'f>(
        &self,
        context: &Context,
        source: &str,
        fitted: &'f TableModel<'_>,
        fill: &FillArgs,
    ) -> Result<NewSamples<'f>, Failure> {
        self.note_batches(context, fitted.men());
        // An svmlight file may lack the last variables: they are 0.
        let least_columns = fitted.men().projection().variables();
        let options = ReadOptions { least_columns, needs: fitted.needs(), ..self.options() };
        let table = noticed(context, menet_io::read(source, &options)?)?;
        let fingerprints = fitted.fingerprints(&table);
        let (table, men) = fitted.arrange(table)?;
        let mut table = noticed(context, table)?;
        let filled = fill.fills() && TableModel::takes_means(men);
        if !men.fills() && !filled {
            table.check_missing_for(men)?;
        }
        let doubts = men.doubts_of(table.view()?, table.batches.as_deref())?;
        if filled {
            table.fill_missing(men.projection().mean());
        }
        Ok(NewSamples { table, men, fingerprints, doubts })
    }

    /// Notes it if batches have no effect.
    pub(crate) fn note_batches(&self, context: &Context, men: &Men) {
        let knows = men.preparation().is_some_and(|preparation| preparation.batches.is_some());
        if let (Some(batch), false) = (&self.batch, knows) {
            context.notice(format_args!(
                "--batch {batch} has no effect, because the model was fitted without batches"
            ));
        }
    }

    /// Reads labelled data.
    pub(crate) fn read_labelled(&self, context: &Context, source: &str) -> Result<Table, Failure> {
        self.read_labelled_with(context, source, &self.options())
    }

    /// Reads labelled data with other options than those of the command line.
    pub(crate) fn read_labelled_with(
        &self,
        context: &Context,
        source: &str,
        options: &ReadOptions,
    ) -> Result<Table, Failure> {
        let table = noticed(context, menet_io::read(source, options)?)?;
        if table.labels.is_none() {
            let known = table
                .feature_names
                .as_deref()
                .map_or_else(String::new, |columns| format!(" among {}", formats::list(columns)));
            let how = if self.no_header { "by its number with --label" } else { "with --label" };
            let named = [("--id", &self.id), ("--batch", &self.batch)];
            if let Some((option, _)) = named.iter().find(|(_, name)| name.as_ref() == Some(&self.label)) {
                return Err(Failure::Usage(format!(
                    "{source}: {option} takes the column {0:?}, so no column has the labels; name the one that has them with --label, or \
                     give --labels FILE",
                    self.label
                )));
            }
            return Err(Failure::Usage(format!(
                "{source}: there is no label column {:?}{known}; name it {how} (--y-key for arrays), or give --labels FILE; if the table is transposed (one variable per row), add --transpose",
                self.label
            )));
        }
        Ok(table)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            label: self.label.clone(),
            id: self.id.clone(),
            groups: None,
            batch: self.batch.clone(),
            drop: self.drop.clone(),
            labels: self.labels.clone(),
            no_header: self.no_header,
            header: self.header,
            delimiter: self.delimiter,
            decimal_comma: matches!(self.decimal.as_str(), "," | "comma"),
            encoding: self.encoding.clone(),
            transpose: self.transpose,
            x_key: self.x_key.clone(),
            y_key: self.y_key.clone(),
            zero_based: self.zero_based,
            least_columns: 0,
            needs: None,
            size: self.size,
            shape: self.shape,
        }
    }
}

/// Prints the notices about how a table was read.
fn noticed(context: &Context, mut table: Table) -> Result<Table, Failure> {
    for notice in table.notices.drain(..) {
        context.notice(notice);
    }
    Ok(table)
}

/// Reads `40x40`.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| text.parse::<usize>().ok().filter(|&side| (1..=100_000).contains(&side));
    text.split_once(['x', 'X'])
        .and_then(|(height, width)| Some((side(height)?, side(width)?)))
        .ok_or_else(|| "height and width are required, as in 40x40".to_owned())
}

/// The help of `--data`: formats and built-in sets come from their registries.
pub(crate) fn source_help() -> String {
    let endings: Vec<&str> = formats::REGISTRY.iter().flat_map(|format| format.endings).copied().collect();
    format!(
        "A file ({}; text also .gz or .zst), a folder with one sub-folder of images per class, a built-in set ({}), or - for \
         text on standard input. menet data --help lists options for other separators, headers, archives and images",
        endings.join(" "),
        builtin_names()
    )
}

/// The names of the built-in sets.
pub(crate) fn builtin_names() -> String {
    builtin::REGISTRY.iter().map(|set| set.name).collect::<Vec<_>>().join(", ")
}

fn format_help() -> String {
    let files = formats::REGISTRY.iter().filter(|format| !format.endings.is_empty());
    let names: Vec<&str> = files.map(|format| format.name).collect();
    format!("The format, if the file's ending does not say it: {}", names.join(", "))
}

/// The name of a data set in tables: that of the file without folder and ending.
pub(crate) fn set_name(source: &str) -> String {
    let plain = source.strip_suffix(".gz").unwrap_or(source);
    let path = Path::new(plain);
    // A folder keeps its dots.
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| source.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_called_like_their_files() {
        let names =
            ["orl", "a/set.v1.csv", "set.v2.csv.gz", "x.npz", "t10k-images-idx3-ubyte.gz"].map(set_name);
        assert_eq!(names, ["orl", "set.v1", "set.v2", "x", "t10k-images-idx3-ubyte"]);
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(pair("40x30"), Ok((40, 30)));
        assert!(pair("40").is_err() && pair("0x3").is_err() && pair("x").is_err());
    }

    #[test]
    fn help_lists_what_is_registered() {
        for format in formats::REGISTRY.iter().filter(|format| !format.endings.is_empty()) {
            assert!(format.endings.iter().all(|ending| source_help().contains(ending)), "{}", format.name);
            assert!(format_help().contains(format.name), "{}", format.name);
        }
        assert!(builtin::REGISTRY.iter().all(|set| source_help().contains(set.name)));
    }
}
