//! Writing projected samples and labels.

use std::path::Path;
use std::sync::Arc;

use faer::MatRef;
use npyz::WriterBuilder;
use parquet::basic::{Compression, Repetition, Type as PhysicalType};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::atomic;
use crate::error::{Error, Result};

/// Writes a matrix as `.csv` (with a header, shortest digits that read back the same), `.npy` or `.parquet`, by the file's
/// name; `-` is CSV on standard output.
///
/// # Errors
/// When the ending is unknown, or the file cannot be written.
pub fn matrix(path: &Path, header: &[String], x: MatRef<'_, f64>) -> Result<()> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match ending.as_str() {
        "csv" => {
            csv_rows(path, header, (0..x.nrows()).map(|i| x.row(i).iter().map(f64::to_string).collect()))
        }
        _ if path.as_os_str() == "-" => {
            csv_rows(path, header, (0..x.nrows()).map(|i| x.row(i).iter().map(f64::to_string).collect()))
        }
        "parquet" => {
            let bytes = parquet_bytes(header, x).map_err(|e| Error::output(path, e))?;
            atomic::write(path, |out| out.write_all(&bytes))
        }
        "npy" => atomic::write(path, |out| {
            let shape = [x.nrows() as u64, x.ncols() as u64];
            let mut writer =
                npyz::WriteOptions::new().default_dtype().shape(&shape).writer(out).begin_nd()?;
            for i in 0..x.nrows() {
                writer.extend(x.row(i).iter().copied())?;
            }
            writer.finish()
        }),
        _ => Err(Error::input(
            path,
            "unknown ending for numbers; use .csv, .npy, .parquet, or - for standard output",
        )),
    }
}

/// A parquet file with one column of doubles a column of `x`.
fn parquet_bytes(header: &[String], x: MatRef<'_, f64>) -> std::result::Result<Vec<u8>, ParquetError> {
    let column = |name: &String| {
        Type::primitive_type_builder(name, PhysicalType::DOUBLE).with_repetition(Repetition::REQUIRED).build()
    };
    let fields =
        header.iter().map(|name| column(name).map(Arc::new)).collect::<std::result::Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for values in x.col_iter() {
        if let Some(mut column) = group.next_column()? {
            let values: Vec<f64> = values.iter().copied().collect();
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
    }
    group.close()?;
    writer.into_inner()
}

/// Writes rows of text as CSV.
///
/// # Errors
/// When the file is not called `.csv` or `-`, or cannot be written.
pub fn csv_rows(path: &Path, header: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    let csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if !csv && path.as_os_str() != "-" {
        return Err(Error::input(path, "only .csv, or - for standard output, can be written here"));
    }
    atomic::write(path, |out| {
        let mut writer = csv::Writer::from_writer(out);
        // The cause itself: a broken pipe must be recognised as one.
        let cause = |e: csv::Error| match e.into_kind() {
            csv::ErrorKind::Io(e) => e,
            other => std::io::Error::other(format!("{other:?}")),
        };
        writer.write_record(header).map_err(cause)?;
        for row in rows {
            writer.write_record(&row).map_err(cause)?;
        }
        writer.flush()
    })
}
