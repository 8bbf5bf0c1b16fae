//! Parquet: the same rules as for text with a header. Checksums of pages are checked where the file has them.

use std::path::Path;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow::{self, Batches, damaged, opened};
use super::{Format, ReadOptions, Reader};
use crate::blocks::{BLOCK, rows_of};
use crate::error::Result;
use crate::source::open_file;

/// Compressed columns.
pub const PARQUET: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    summary: "Parquet with flat columns; the column `label` holds the classes",
    reader: Reader::Blocks(|path, options| opened(path, || open(path, options))),
};

fn open(path: &Path, options: &ReadOptions) -> Result<Batches> {
    let invalid = |e: parquet::errors::ParquetError| damaged(path, &e);
    let file = open_file(path, "a Parquet file")?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(invalid)?;
    let schema = builder.schema().clone();
    let layout = arrow::layout(&schema, path, options)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), arrow::wanted(&layout));
    let total = builder.metadata().file_metadata().num_rows().max(0) as u64;
    let rows = rows_of(layout.variables.len(), BLOCK);
    let batches = builder.with_projection(mask).with_batch_size(rows).build().map_err(invalid)?;
    Ok(Batches::new(&schema, layout, path, total, batches))
}
