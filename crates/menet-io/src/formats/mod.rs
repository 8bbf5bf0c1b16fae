//! Readers of labelled data, one file a format.

mod columns;
pub mod csv;
pub mod idx;
pub mod images;
pub mod mat;
pub mod numpy;
pub mod parquet;
pub mod svmlight;

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::blocks::{self, Blocks, Labels};
use crate::builtin::{self, Builtin};
use crate::error::{Error, Result};
use crate::table::Table;

/// What a reader may be told. What does not concern a format is ignored by it.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Name of the label column.
    pub label: String,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// A file with one label a line, for formats without any.
    pub labels: Option<PathBuf>,
    /// Name of the array of samples; none = `X` (in MATLAB files also `fea`).
    pub x_key: Option<String>,
    /// Name of the array of labels; none = `y` (in MATLAB files also `Y` and `gnd`).
    pub y_key: Option<String>,
    /// Whether svmlight's indices begin at 0.
    pub zero_based: bool,
    /// How many variables there are at least, for formats that leave zeros out.
    pub least_columns: usize,
    /// Height and width to which images are resized.
    pub size: Option<(usize, usize)>,
    /// Height and width of the images that the samples are, where the format does not say.
    pub shape: Option<(usize, usize)>,
    /// Whether missing values become the mean of their column.
    pub impute_mean: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            label: "label".to_owned(),
            drop: Vec::new(),
            labels: None,
            x_key: None,
            y_key: None,
            zero_based: false,
            least_columns: 0,
            size: None,
            shape: None,
            impute_mean: false,
        }
    }
}

/// A format: how its files are called, and who reads them.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// How its file names end; none for folders.
    pub endings: &'static [&'static str],
    /// One line about it.
    pub summary: &'static str,
    /// The reader.
    pub reader: Reader,
}

/// Who reads a format.
#[derive(Debug)]
pub enum Reader {
    /// In blocks of rows, which together are the whole.
    Blocks(fn(&Path, &ReadOptions) -> Result<Box<dyn Blocks>>),
    /// All at once.
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
    csv::CSV,
    csv::TSV,
    parquet::PARQUET,
    numpy::NPZ,
    numpy::NPY,
    mat::MAT,
    svmlight::SVMLIGHT,
    idx::IDX,
    images::FOLDER,
];

/// No file holds more numbers than this: past it, sizes in headers are not believed.
pub(crate) const MOST_VALUES: usize = 1 << 33;

/// Reads a built-in set, a file or a folder. A file or folder that is called like a built-in set is meant by `./name`: the
/// output of a run called `orl` must not take the place of the set.
///
/// # Errors
/// When there is nothing of that name, its format is unknown, or its content is invalid.
pub fn read(source: &str, options: &ReadOptions) -> Result<Table> {
    let path = Path::new(source);
    let mut table = match Builtin::find(source) {
        Some(set) => set.load()?,
        None => format_of(path)?.reader.read(path, options)?,
    };
    if let Some(file) = &options.labels {
        let mut labels = Labels::open(file)?;
        table.labels = Some(labels.take(table.rows)?);
        labels.check(table.rows)?;
    }
    if let Some((height, width)) = options.shape {
        table.set_image_shape(height, width)?;
    }
    if options.impute_mean {
        table.impute_mean()?;
    }
    Ok(table)
}

pub(crate) fn format_of(path: &Path) -> Result<&'static Format> {
    let builtins: Vec<&str> = builtin::REGISTRY.iter().map(|set| set.name).collect();
    match path.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let problem = format!("no such file or folder, and not a built-in set ({})", builtins.join(", "));
            Err(Error::input(path, problem))
        }
        Err(e) => Err(Error::input(path, e)),
        Ok(meta) if meta.is_dir() => Ok(&images::FOLDER),
        Ok(_) => {
            let name = path.to_string_lossy().to_lowercase();
            let known = |format: &&Format| format.endings.iter().any(|ending| name.ends_with(ending));
            REGISTRY.iter().find(known).ok_or_else(|| {
                let endings: Vec<&str> = REGISTRY.iter().flat_map(|format| format.endings).copied().collect();
                Error::input(
                    path,
                    format!("unknown format; known are folders of images and {}", endings.join(" ")),
                )
            })
        }
    }
}

/// Opens a file, unpacking it if its name ends in `.gz`.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    Ok(open_metered(path)?.0)
}

/// As [`open`], and tells how far it has been read.
pub(crate) fn open_metered(path: &Path) -> Result<(Box<dyn Read + Send>, Meter)> {
    let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
    let meter = Meter { read: Arc::default(), size: file.metadata().map_or(0, |meta| meta.len()) };
    let metered = Metered { file, read: Arc::clone(&meter.read) };
    let reader = BufReader::with_capacity(1 << 20, metered);
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let reader: Box<dyn Read + Send> =
        if packed { Box::new(flate2::bufread::MultiGzDecoder::new(reader)) } else { Box::new(reader) };
    Ok((reader, meter))
}

/// How much of a file has been read.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    read: Arc<AtomicU64>,
    size: u64,
}

impl Meter {
    /// Megabytes read, and megabytes there are.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed) >> 20, self.size >> 20)
    }
}

struct Metered {
    file: std::fs::File,
    read: Arc<AtomicU64>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
