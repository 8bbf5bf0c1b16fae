//! Writing projected samples and labels.

use std::path::Path;

use faer::MatRef;
use npyz::WriterBuilder;

use crate::atomic;
use crate::error::{Error, Result};

/// Writes a matrix as `.csv` (with a header, shortest digits that read back the same) or `.npy`, by the file's name; `-` is
/// CSV on standard output.
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
        "npy" => atomic::write(path, |out| {
            let shape = [x.nrows() as u64, x.ncols() as u64];
            let mut writer =
                npyz::WriteOptions::new().default_dtype().shape(&shape).writer(out).begin_nd()?;
            for i in 0..x.nrows() {
                writer.extend(x.row(i).iter().copied())?;
            }
            writer.finish()
        }),
        _ => Err(Error::input(path, "unknown ending for numbers; use .csv, .npy, or - for standard output")),
    }
}

/// Writes rows of text as CSV.
///
/// # Errors
/// When the file cannot be written.
pub fn csv_rows(path: &Path, header: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    atomic::write(path, |out| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header)?;
        for row in rows {
            writer.write_record(&row)?;
        }
        writer.flush()
    })
}
