//! Reading in blocks of rows, for data larger than memory.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::builtin::BuiltinSet;
use crate::error::{Error, Result};
use crate::formats::{self, ReadOptions, Reader, format_of};
use crate::source::{BoundedReader, Source, decoded, open};
use crate::table::Table;
use crate::{labels, memory};

/// The default number of bytes of numbers per block.
pub const BLOCK: usize = 16 << 20;

/// A file that is read in blocks of rows.
pub trait Blocks: Send {
    /// Number of variables.
    fn columns(&self) -> usize;

    /// The next samples, at most `rows`; none at the end of the data.
    ///
    /// # Errors
    /// When the content is invalid.
    fn next(&mut self, rows: usize) -> Result<Option<Table>>;

    /// The name of the column with the names of the samples, if there is one.
    fn id_name(&self) -> Option<&str> {
        None
    }

    /// How much has been read, and how much there is, in units that the format chooses.
    fn progress(&self) -> (u64, u64);
}

/// How many rows of `columns` numbers make a block of `bytes`.
pub(crate) fn rows_of(columns: usize, bytes: usize) -> usize {
    (bytes / 8 / columns.max(1)).max(1)
}

/// Memory for the numbers of a block. It is limited, because the claims of a file may be false.
pub(crate) fn room(count: usize) -> Vec<f64> {
    Vec::with_capacity(count.min(BLOCK / 8))
}

/// Reads all blocks as one table.
pub(crate) fn whole(blocks: &mut dyn Blocks, path: &Path) -> Result<Table> {
    let rows = rows_of(blocks.columns(), BLOCK);
    let mut table = blocks.next(rows)?.ok_or_else(|| nothing(path))?;
    // The first part of the file predicts the size of the rest.
    if let (done @ 1.., total) = blocks.progress()
        && total > done
    {
        let share = total as f64 / done as f64;
        let numbers = share * (table.rows * table.columns) as f64;
        memory::check(path, 8 * numbers as u64, "its numbers")?;
        // Reserve all memory at once: growing step by step would need twice as much on the way.
        table.make_room(numbers as usize)?;
    }
    while let Some(more) = blocks.next(rows)? {
        table.append(more)?;
    }
    Ok(table)
}

fn nothing(path: &Path) -> Error {
    Error::input(path, "there are columns but no data")
}

/// Data as a sequence of tables of some rows each, instead of the one table of [`crate::read`]. If the format allows, only one
/// block is in memory. Other formats, built-in sets, and data with batches come as one block.
pub struct BlockReader {
    path: PathBuf,
    blocks: Box<dyn Blocks>,
    block_rows: usize,
    /// The number of samples so far.
    rows: usize,
    labels: Option<Labels>,
    shape: Option<(usize, usize)>,
}

impl std::fmt::Debug for BlockReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, rows) = (&self.path, self.rows);
        f.debug_struct("BlockReader").field("path", path).field("rows", &rows).finish_non_exhaustive()
    }
}

impl BlockReader {
    /// Opens a built-in set, a file or a folder, to be read in blocks of about this many bytes of numbers.
    ///
    /// # Errors
    /// When the source does not exist, its format is unknown, or its beginning is invalid.
    pub fn open(source: &str, options: &ReadOptions, bytes: usize) -> Result<Self> {
        let path = Path::new(source);
        let reader = match BuiltinSet::find(source) {
            Some(_) => None,
            None => Some(&format_of(path, options)?.reader),
        };
        let (blocks, labels, shape) = match reader {
            // What a file says of every sample comes with all samples.
            Some(Reader::Blocks(open)) if options.batch.is_none() => {
                let labels = options.labels.as_deref().map(|path| Labels::open(path, options)).transpose()?;
                (open(path, options)?, labels, options.shape)
            }
            _ => (OneBlock::boxed(formats::read(source, options)?), None, None),
        };
        let block_rows = rows_of(blocks.columns(), bytes);
        Ok(BlockReader { path: path.to_owned(), blocks, block_rows, rows: 0, labels, shape })
    }

    /// The name of the column with the names of the samples, if there is one.
    pub fn id_name(&self) -> Option<&str> {
        self.blocks.id_name()
    }

    /// How many samples have been read.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How much has been read, and how much there is, in units that the format chooses.
    pub fn progress(&self) -> (u64, u64) {
        self.blocks.progress()
    }

    fn read(&mut self) -> Result<Option<Table>> {
        let Some(mut table) = self.blocks.next(self.block_rows)? else {
            return match self.labels.take() {
                _ if self.rows == 0 => Err(nothing(&self.path)),
                Some(labels) => {
                    let size = Table::new(&self.path, Vec::new(), self.rows, self.blocks.columns());
                    labels.check(&size).map(|()| None)
                }
                None => Ok(None),
            };
        };
        self.rows += table.rows;
        if let Some(labels) = &mut self.labels {
            table.labels = Some(labels.take(table.rows)?);
        }
        if let Some((height, width)) = self.shape {
            table.set_image_shape(height, width)?;
        }
        Ok(Some(table))
    }
}

impl Iterator for BlockReader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// A table that is already in memory.
pub(crate) struct OneBlock {
    table: Option<Table>,
    columns: usize,
    id_name: Option<String>,
}

impl OneBlock {
    pub(crate) fn boxed(table: Table) -> Box<dyn Blocks> {
        let id_name = table.ids.as_ref().map(|ids| ids.name.clone());
        Box::new(OneBlock { columns: table.columns, id_name, table: Some(table) })
    }
}

impl Blocks for OneBlock {
    fn columns(&self) -> usize {
        self.columns
    }

    fn next(&mut self, _: usize) -> Result<Option<Table>> {
        Ok(self.table.take())
    }

    fn id_name(&self) -> Option<&str> {
        self.id_name.as_deref()
    }

    fn progress(&self) -> (u64, u64) {
        (u64::from(self.table.is_none()), 1)
    }
}

/// The largest number of bytes per line of labels.
const LINE: u64 = 1 << 20;

/// A file with one label per line.
pub(crate) struct Labels {
    path: PathBuf,
    lines: BufReader<BoundedReader<Source>>,
    /// The number of labels so far.
    count: usize,
}

impl Labels {
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let (source, _) = decoded(open(path)?, options.encoding.as_deref(), path)?;
        Ok(Labels {
            path: path.to_owned(),
            lines: BufReader::new(BoundedReader::new(source, LINE)),
            count: 0,
        })
    }

    /// The next labels; fewer at the end, which [`Labels::check`] reports.
    pub(crate) fn take(&mut self, rows: usize) -> Result<Vec<String>> {
        let (mut labels, mut line) = (Vec::new(), String::new());
        while labels.len() < rows {
            line.clear();
            self.lines.get_mut().allow(LINE);
            let read = self.lines.read_line(&mut line).map_err(|e| {
                let problem = match e.kind() {
                    std::io::ErrorKind::InvalidData => {
                        format!("{e}; if the text is not UTF-8, give --encoding")
                    }
                    _ => e.to_string(),
                };
                Error::input(&self.path, format!("line {}: {problem}", self.count + labels.len() + 1))
            })?;
            if read == 0 {
                break;
            }
            labels.push(labels::normal(&line));
        }
        self.count += labels.len();
        Ok(labels)
    }

    /// All labels of a table.
    pub(crate) fn all(mut self, table: &Table) -> Result<Vec<String>> {
        let labels = self.take(table.rows)?;
        self.check(table)?;
        Ok(labels)
    }

    /// Refuses a number of labels other than the number of samples of `table`; only its size is used.
    pub(crate) fn check(mut self, table: &Table) -> Result<()> {
        while !self.take(1 << 12)?.is_empty() {}
        if self.count == table.rows {
            return Ok(());
        }
        let turned = table.turned(self.count);
        Err(Error::input(&self.path, format!("{} labels for {} samples{turned}", self.count, table.rows)))
    }
}
