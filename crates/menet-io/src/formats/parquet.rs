//! Parquet: the same rules as for text with a header. Checksums of pages are checked where the file has them.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

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

/// A file may hold a copy of the schema in Arrow's words. Arrow reads no copy of about 500,000 columns or more, so with more columns than
/// this the file's own schema, which says the same, is enough.
const MANY: usize = 100_000;

fn open(path: &Path, options: &ReadOptions) -> Result<Batches> {
    let invalid = |e: ParquetError| damaged(path, &e);
    let file = open_file(path, "a Parquet file")?;
    let (described, schema) = described(&file, MANY).map_err(invalid)?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, described);
    let layout = arrow::layout(&schema, path, options)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), arrow::wanted(&layout));
    let total = builder.metadata().file_metadata().num_rows().max(0) as u64;
    let rows = rows_of(layout.variables.len(), BLOCK);
    let batches = builder.with_projection(mask).with_batch_size(rows).build().map_err(invalid)?;
    Ok(Batches::new(&schema, layout, path, total, batches))
}

/// What a file says of itself, and its schema, for which Arrow's copy must be readable up to `many` columns.
fn described(file: &File, many: usize) -> std::result::Result<(ArrowReaderMetadata, Schema), ParquetError> {
    let with_copy = match ArrowReaderMetadata::load(file, ArrowReaderOptions::new()) {
        Ok(described) => {
            let schema = described.schema().as_ref().clone();
            return Ok((described, schema));
        }
        Err(e) => e,
    };
    let without = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let described = ArrowReaderMetadata::load(file, without)?;
    let own = described.metadata().file_metadata();
    if own.schema_descr().num_columns() <= many {
        return Err(with_copy);
    }
    let words = own.key_value_metadata().into_iter().flatten();
    let words: HashMap<_, _> =
        words.filter_map(|word| Some((word.key.clone(), word.value.clone()?))).collect();
    let schema = Schema::new_with_metadata(described.schema().fields().clone(), words);
    Ok((described, schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_too_many_for_arrows_copy_of_the_schema_are_read_without_it() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/named-index.parquet");
        let mut bytes = std::fs::read(&path).unwrap();
        let intact = described(&File::open(&path).unwrap(), 0).unwrap().1;
        let (key, end) = (b"ARROW:schema", bytes.len());
        let at = bytes[..end].windows(key.len()).position(|word| word == key).unwrap() + key.len() + 8;
        bytes[at..at + 40].fill(b'A');
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        assert!(described(&file, 1000).unwrap_err().to_string().contains("ARROW:schema"));
        let (_, found) = described(&file, 0).unwrap();
        let names =
            |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&intact));
        let pandas = |schema: &Schema| schema.metadata().get("pandas").cloned();
        assert_eq!(pandas(&found), pandas(&intact));
        assert!(pandas(&found).is_some());
    }
}
