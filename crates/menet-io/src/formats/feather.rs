//! Arrow's own format, also called Feather (version 2), as a file or as a stream.

use std::io::{BufReader, Read};
use std::path::Path;

use arrow_ipc::reader::{FileReaderBuilder, StreamReader};
use arrow_schema::ArrowError;

use super::arrow::{self, Batches, damaged, opened};
use super::{Format, ReadOptions, Reader};
use crate::error::{Error, Result};
use crate::source::open_file;

/// Columns in Arrow's memory layout.
pub const FEATHER: Format = Format {
    name: "feather",
    endings: &[".feather", ".arrow", ".arrows", ".ipc"],
    summary: "Arrow IPC or Feather (version 2) with flat columns; the column `label` holds the classes",
    reader: Reader::Blocks(|path, options| opened(path, || open(path, options))),
};

/// Parts of the description of a file that are read: two per column.
const PARTS: usize = 1 << 24;

fn open(path: &Path, options: &ReadOptions) -> Result<Batches> {
    let invalid = |e: ArrowError| damaged(path, &e);
    let open = || open_file(path, "an Arrow file").map(BufReader::new);
    let mut magic = Vec::new();
    open()?.take(6).read_to_end(&mut magic).map_err(|e| Error::input(path, e))?;
    if magic.starts_with(b"FEA1") {
        let problem = "is Feather version 1, which menet does not read; save it as version 2 or as Parquet";
        return Err(Error::input(path, problem));
    }
    // Opened twice: the wanted columns can be requested only once all columns are known.
    if magic == b"ARROW1" {
        let builder = || FileReaderBuilder::new().with_max_footer_fb_tables(PARTS);
        let schema = builder().build(open()?).map_err(invalid)?.schema();
        let layout = arrow::layout(&schema, path, options)?;
        let reader = builder().with_projection(arrow::wanted(&layout)).build(open()?).map_err(invalid)?;
        return Ok(Batches::new(&schema, layout, path, 0, reader));
    }
    let schema = StreamReader::try_new(open()?, None).map_err(invalid)?.schema();
    let layout = arrow::layout(&schema, path, options)?;
    let reader = StreamReader::try_new(open()?, Some(arrow::wanted(&layout))).map_err(invalid)?;
    Ok(Batches::new(&schema, layout, path, 0, reader))
}
