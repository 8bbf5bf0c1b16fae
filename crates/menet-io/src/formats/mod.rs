//! Readers of labelled data, one file per format.

mod arrow;
mod columns;
mod dialect;
pub mod feather;
mod header;
pub mod idx;
pub mod images;
pub mod mat;
mod npy;
pub mod npz;
pub mod numpy;
pub mod parquet;
pub mod svmlight;
pub mod text;
mod transposed;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blocks::{self, Blocks, Labels};
use crate::builtin::{self, BuiltinSet};
use crate::doubts;
use crate::error::{Error, Result, short};
use crate::needs::ModelVariables;
use crate::source::{PACKED, is_standard_input};
use crate::table::Table;

pub use columns::{Roles, list, roles};
pub use dialect::Delimiter;

/// Options of the readers. A format ignores options that do not apply to it.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The name of the format, if the ending of the file does not say it.
    pub format: Option<String>,
    /// Name of the label column; its number from 1 without a header.
    pub label: String,
    /// Name of the column that names the samples.
    pub id: Option<String>,
    /// Name of the column that says which samples belong together; for formats without columns, a file with one group per line.
    pub groups: Option<String>,
    /// Name of the column with the batch of every sample; for formats without columns, a file with one batch per line.
    pub batch: Option<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// A file with one label per line, for formats without labels.
    pub labels: Option<PathBuf>,
    /// Whether the first line of a text file is a sample.
    pub no_header: bool,
    /// Whether the first line of a text file is a header, although it looks like a sample.
    pub header: bool,
    /// The separator of fields in a text file, if the ending of the file does not say it.
    pub delimiter: Option<Delimiter>,
    /// Whether the numbers of a text file have a decimal comma.
    pub decimal_comma: bool,
    /// The encoding of a text file, by its name on the web; none = UTF-8, or UTF-16 with a byte order mark.
    pub encoding: Option<String>,
    /// Whether rows are variables and columns are samples.
    pub transpose: bool,
    /// Name of the array of samples; none = `X` (in MATLAB files also `fea`).
    pub x_key: Option<String>,
    /// Name of the array of labels; none = `y` (in MATLAB files also `Y` and `gnd`).
    pub y_key: Option<String>,
    /// Whether svmlight indices begin at 0.
    pub zero_based: bool,
    /// The least number of variables, for formats that leave out zeros.
    pub least_columns: usize,
    /// The variables of the model that the samples are for; columns with other names are not read. None = all columns are.
    pub needs: Option<Arc<ModelVariables>>,
    /// Height and width to which images are resized.
    pub size: Option<(usize, usize)>,
    /// Height and width of the samples as images, if the format does not say it.
    pub shape: Option<(usize, usize)>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            label: "label".to_owned(),
            id: None,
            groups: None,
            batch: None,
            drop: Vec::new(),
            labels: None,
            no_header: false,
            header: false,
            delimiter: None,
            decimal_comma: false,
            encoding: None,
            transpose: false,
            x_key: None,
            y_key: None,
            zero_based: false,
            least_columns: 0,
            needs: None,
            size: None,
            shape: None,
        }
    }
}

impl ReadOptions {
    /// The column of the labels. The usual one gives way to another option that names it.
    ///
    /// # Errors
    /// When another option names a column that is not the usual one.
    fn label_column(&self) -> std::result::Result<Option<&String>, String> {
        let usual = self.label == ReadOptions::default().label;
        if usual && self.needs.as_ref().is_some_and(|needs| needs.needs(&self.label)) {
            // A variable of the model has the usual name.
            return Ok(None);
        }
        let named = [("--id", &self.id), ("--groups", &self.groups), ("--batch", &self.batch)];
        match named.iter().find(|(_, name)| name.as_ref() == Some(&self.label)) {
            None => Ok(Some(&self.label)),
            Some(_) if usual => Ok(None),
            Some((option, _)) => {
                Err(format!("{option} and --label both name the column {:?}", short(&self.label)))
            }
        }
    }
}

/// A format: the endings of its files, and its reader.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// The endings of its files; none for folders.
    pub endings: &'static [&'static str],
    /// One line about it.
    pub summary: &'static str,
    /// The reader.
    pub reader: Reader,
}

/// The reader of a format.
#[derive(Debug)]
pub enum Reader {
    /// Reads blocks of rows.
    Blocks(fn(&Path, &ReadOptions) -> Result<Box<dyn Blocks>>),
    /// Reads the whole file at once.
    Whole(fn(&Path, &ReadOptions) -> Result<Table>),
}

impl Reader {
    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Table> {
        match self {
            Reader::Whole(read) => read(path, options),
            Reader::Blocks(open) => blocks::whole(open(path, options)?.as_mut(), path),
        }
    }
}

/// Every format.
pub static REGISTRY: &[Format] = &[
    text::CSV,
    text::TSV,
    text::TXT,
    parquet::PARQUET,
    feather::FEATHER,
    npz::NPZ,
    numpy::NPY,
    mat::MAT,
    svmlight::SVMLIGHT,
    idx::IDX,
    images::FOLDER,
];

/// The most numbers in a file. Headers that claim more are not believed.
pub(crate) const MOST_VALUES: usize = 1 << 33;

/// Reads a built-in set, a file or a folder. Built-in sets come first, so that the output folder of a run called `orl` does
/// not hide the set; `./orl` names the folder.
///
/// # Errors
/// When the source does not exist, its format is unknown, or its content is invalid.
pub fn read(source: &str, options: &ReadOptions) -> Result<Table> {
    let path = Path::new(source);
    let mut table = match BuiltinSet::find(source) {
        Some(set) => set.load()?,
        None => format_of(path, options)?.reader.read(path, options)?,
    };
    if let Some(file) = &options.labels {
        if table.labels.is_some() {
            table.notices.push(format!("the labels come from {}, not from {source}", file.display()));
        }
        table.labels = Some(Labels::open(file, options)?.all(&table)?);
    }
    let groups =
        said(path, options, &table, ("--groups", "group"), &options.groups, table.groups.as_deref())?;
    table.groups = groups.or(table.groups);
    let batches =
        said(path, options, &table, ("--batch", "batch"), &options.batch, table.batches.as_deref())?;
    table.batches = batches.or(table.batches);
    if let Some((height, width)) = options.shape {
        table.set_image_shape(height, width)?;
    }
    let doubts = doubts::about(&table, options.needs.as_deref());
    table.notices.extend(doubts);
    Ok(table)
}

/// What an option says of every sample: from a column if the format has columns (`own`), else from a file with one line per sample, which
/// is returned.
fn said(
    path: &Path,
    options: &ReadOptions,
    table: &Table,
    (option, what): (&str, &str),
    named: &Option<String>,
    own: Option<&[String]>,
) -> Result<Option<Vec<String>>> {
    let mut read = None;
    if let (Some(name), None) = (named, own) {
        let file = Path::new(name);
        if !file.is_file() {
            let problem = format!(
                "{option} {name}: this format has no columns, and there is no such file; give a file with one {what} per line"
            );
            return Err(Error::input(path, problem));
        }
        read = Some(Labels::open(file, options)?.all(table)?);
    }
    let all = own.or(read.as_deref()).unwrap_or_default();
    match all.iter().position(String::is_empty) {
        Some(row) => {
            let problem =
                format!("the {what} of sample {} is missing; fill it in, or leave the sample out", row + 1);
            Err(Error::input(path, problem))
        }
        None => Ok(read),
    }
}

/// The format of a file: the requested one, or the one of its ending, compressed or not.
pub(crate) fn format_of(path: &Path, options: &ReadOptions) -> Result<&'static Format> {
    let named = |name: &str| {
        REGISTRY.iter().find(|format| format.name == name).ok_or_else(|| {
            let known: Vec<&str> = REGISTRY.iter().map(|format| format.name).collect();
            Error::input(path, format!("--format {name}: unknown format; use one of {}", known.join(", ")))
        })
    };
    if is_standard_input(path) {
        if options.labels.as_deref().is_some_and(is_standard_input) {
            return Err(Error::input(path, "standard input cannot give both the samples and the labels"));
        }
        return named(options.format.as_deref().unwrap_or(text::CSV.name));
    }
    let builtins: Vec<&str> = builtin::REGISTRY.iter().map(|set| set.name).collect();
    match path.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let problem = format!("no such file or folder, and not a built-in set ({})", builtins.join(", "));
            Err(Error::input(path, problem))
        }
        Err(e) => Err(Error::input(path, e)),
        Ok(meta) if meta.is_dir() => Ok(&images::FOLDER),
        Ok(_) => {
            if let Some(name) = &options.format {
                return named(name);
            }
            let name = path.to_string_lossy().to_lowercase();
            let plain = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
            let known = |format: &&Format| format.endings.iter().any(|ending| plain.ends_with(ending));
            REGISTRY.iter().find(known).ok_or_else(|| {
                let endings: Vec<&str> = REGISTRY.iter().flat_map(|format| format.endings).copied().collect();
                let problem = format!(
                    "unknown format; menet reads folders of images and {} (text also .gz or .zst); name the format with --format",
                    endings.join(" ")
                );
                Error::input(path, problem)
            })
        }
    }
}

/// Refuses `--transpose` for formats where it has no meaning.
fn refuse_transpose(what: &str, path: &Path, options: &ReadOptions) -> Result<()> {
    if options.transpose {
        let problem = format!("--transpose: {what} cannot be transposed; save the table transposed");
        return Err(Error::input(path, problem));
    }
    Ok(())
}
