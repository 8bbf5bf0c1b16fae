//! Writing projected samples and labels, block by block.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faer::MatRef;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::atomic::{self, Draft, failed};
use crate::error::{Error, Result};
use crate::formulas;

/// Bytes of numbers in a row group of a parquet file.
const GROUP: usize = 32 << 20;

/// Writes a matrix as `.csv` (with a header, shortest digits that read back the same), `.npy` or `.parquet`, by the file's
/// name; `-` is CSV on standard output.
///
/// # Errors
/// When the ending is unknown, or the file cannot be written.
pub fn matrix(path: &Path, header: &[String], x: MatRef<'_, f64>) -> Result<()> {
    let mut writer = BlockWriter::create(path, header, None)?;
    writer.write(x, None)?;
    writer.finish()
}

/// A matrix of which rows arrive in blocks, written as [`matrix`] does: the file is the same whatever the blocks. It takes
/// its place in [`BlockWriter::finish`], and without that leaves nothing.
#[derive(Debug)]
pub struct BlockWriter {
    path: PathBuf,
    rows: usize,
    columns: usize,
    form: FormatWriter,
}

#[derive(Debug)]
enum FormatWriter {
    Csv(Draft),
    Npy(Draft),
    Parquet(Box<Groups>),
}

impl BlockWriter {
    /// Begins a file with the columns of `header`, before them one called `id` that names the samples if there is to be one;
    /// `.npy` files, which hold numbers only, have none.
    ///
    /// # Errors
    /// When the ending is unknown, or the file cannot be written.
    pub fn create(path: &Path, header: &[String], id: Option<&str>) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let form = match ending.as_str() {
            _ if path.as_os_str() == "-" => FormatWriter::csv(path, header, id)?,
            "csv" => FormatWriter::csv(path, header, id)?,
            "npy" => {
                let mut draft = Draft::new(path)?;
                draft.write_all(&npy_header(0, header.len())).map_err(|e| failed(path, e))?;
                FormatWriter::Npy(draft)
            }
            "parquet" => FormatWriter::Parquet(Box::new(Groups::new(path, header, id)?)),
            _ => {
                let problem =
                    "unknown ending for numbers; use .csv, .npy, .parquet, or - for standard output";
                return Err(Error::input(path, problem));
            }
        };
        Ok(BlockWriter { path: path.to_owned(), rows: 0, columns: header.len(), form })
    }

    /// Whether names of samples are written.
    pub fn holds_ids(path: &Path) -> bool {
        !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
    }

    /// Writes further rows, with the names of their samples if the file has a column for them.
    ///
    /// # Errors
    /// When they are not as wide as the header, or the file cannot be written.
    pub fn write(&mut self, x: MatRef<'_, f64>, ids: Option<&[String]>) -> Result<()> {
        if x.ncols() != self.columns {
            let why = format!("the header names {} columns", self.columns);
            let (given, expected) = (x.ncols(), self.columns);
            return Err(menet::Error::Size { what: "a row", given, expected, why }.into());
        }
        self.rows += x.nrows();
        match &mut self.form {
            FormatWriter::Csv(draft) => {
                for i in 0..x.nrows() {
                    if let Some(ids) = ids {
                        draft.write_all(&quoted(&ids[i])?).map_err(|e| failed(&self.path, e))?;
                    }
                    for (k, value) in x.row(i).iter().enumerate() {
                        let comma = if k == 0 && ids.is_none() { "" } else { "," };
                        write!(draft, "{comma}{value}").map_err(|e| failed(&self.path, e))?;
                    }
                    draft.write_all(b"\n").map_err(|e| failed(&self.path, e))?;
                }
                Ok(())
            }
            FormatWriter::Npy(draft) => {
                let mut bytes = Vec::with_capacity(8 * x.ncols());
                for i in 0..x.nrows() {
                    bytes.clear();
                    bytes.extend(x.row(i).iter().flat_map(|value| value.to_le_bytes()));
                    draft.write_all(&bytes).map_err(|e| failed(&self.path, e))?;
                }
                Ok(())
            }
            FormatWriter::Parquet(groups) => groups.write(x, ids).map_err(|e| not_written(&self.path, &e)),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// When it cannot be written; nothing is left of it then.
    pub fn finish(self) -> Result<()> {
        match self.form {
            FormatWriter::Csv(draft) => draft.finish(),
            FormatWriter::Npy(mut draft) => {
                let header = npy_header(self.rows, self.columns);
                draft.rewrite_start(&header).map_err(|e| failed(&self.path, e))?;
                draft.finish()
            }
            FormatWriter::Parquet(groups) => {
                groups.finish().map_err(|e| not_written(&self.path, &e))?.finish()
            }
        }
    }
}

impl FormatWriter {
    fn csv(path: &Path, header: &[String], id: Option<&str>) -> Result<Self> {
        let mut draft = Draft::new(path)?;
        let header: Vec<String> = id.map(str::to_owned).into_iter().chain(header.iter().cloned()).collect();
        write_records(&mut draft, &header, std::iter::empty()).map_err(|e| failed(path, e))?;
        Ok(FormatWriter::Csv(draft))
    }
}

/// A field of a CSV file.
fn quoted(field: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = write_records(&mut bytes, &[field.to_owned()], std::iter::empty());
    written.map_err(|e| failed(Path::new("-"), e))?;
    bytes.pop();
    Ok(bytes)
}

/// What stands before the numbers of a `.npy` file. It is as long for any number of rows, so that it can be written again
/// when they are known.
fn npy_header(rows: usize, columns: usize) -> Vec<u8> {
    let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Magic, version 1.0, the length of what follows: 128 bytes in all, enough for any two sizes.
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{text:<117}\n").bytes());
    bytes
}

/// Rows on their way into the row groups of a parquet file, which are as long whatever the blocks.
#[derive(Debug)]
struct Groups {
    writer: SerializedFileWriter<Draft>,
    ids: Vec<ByteArray>,
    columns: Vec<Vec<f64>>,
    rows: usize,
}

impl Groups {
    fn new(path: &Path, header: &[String], id: Option<&str>) -> Result<Self> {
        let text = |name: &str| {
            let text = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
            let text =
                text.with_repetition(Repetition::REQUIRED).with_logical_type(Some(LogicalType::String));
            text.build().map(Arc::new)
        };
        let column = |name: &String| {
            let double = Type::primitive_type_builder(name, PhysicalType::DOUBLE);
            double.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let schema = id
            .map(text)
            .into_iter()
            .chain(header.iter().map(column))
            .collect::<std::result::Result<Vec<_>, _>>();
        let schema = schema.and_then(|fields| Type::group_type_builder("schema").with_fields(fields).build());
        let schema = Arc::new(schema.map_err(|e| not_written(path, &e))?);
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        let writer = SerializedFileWriter::new(Draft::new(path)?, schema, properties);
        Ok(Groups {
            writer: writer.map_err(|e| not_written(path, &e))?,
            ids: Vec::new(),
            columns: vec![Vec::new(); header.len()],
            rows: (GROUP / 8 / header.len().max(1)).max(1),
        })
    }

    fn write(&mut self, x: MatRef<'_, f64>, ids: Option<&[String]>) -> std::result::Result<(), ParquetError> {
        let mut start = 0;
        while start < x.nrows() {
            let held = self.columns.first().map_or(0, Vec::len);
            let count = (self.rows - held).min(x.nrows() - start);
            for (column, values) in self.columns.iter_mut().zip(x.subrows(start, count).col_iter()) {
                column.extend(values.iter());
            }
            if let Some(ids) = ids {
                self.ids.extend(ids[start..start + count].iter().map(|id| ByteArray::from(id.as_str())));
            }
            start += count;
            if held + count == self.rows {
                self.close_group()?;
            }
        }
        Ok(())
    }

    fn close_group(&mut self) -> std::result::Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        if !self.ids.is_empty()
            && let Some(mut column) = group.next_column()?
        {
            column.typed::<ByteArrayType>().write_batch(&self.ids, None, None)?;
            column.close()?;
            self.ids.clear();
        }
        for values in &mut self.columns {
            if let Some(mut column) = group.next_column()? {
                column.typed::<DoubleType>().write_batch(values, None, None)?;
                column.close()?;
            }
            values.clear();
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self) -> std::result::Result<Draft, ParquetError> {
        if self.columns.iter().any(|column| !column.is_empty()) {
            self.close_group()?;
        }
        self.writer.into_inner()
    }
}

fn not_written(path: &Path, e: &ParquetError) -> Error {
    Error::output(path, format!("cannot be written: {e}"))
}

/// Writes a table for people as CSV, in which no cell is a formula ([`formulas`]).
///
/// # Errors
/// As [`csv_rows`].
pub fn csv_table(path: &Path, header: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    let shown = |row: Vec<String>| -> Vec<String> {
        row.iter().map(|cell| formulas::shown(cell).into_owned()).collect()
    };
    csv_rows(path, &shown(header.to_vec()), rows.map(shown))
}

/// Writes rows of text as CSV, every cell as it is, for programs that read them.
///
/// # Errors
/// When the file is not called `.csv` or `-`, or cannot be written.
pub fn csv_rows(path: &Path, header: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    let csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if !csv && path.as_os_str() != "-" {
        return Err(Error::input(path, "only .csv, or - for standard output, can be written here"));
    }
    atomic::write(path, |out| write_records(out, header, rows))
}

fn write_records(
    out: impl Write,
    header: &[String],
    rows: impl Iterator<Item = Vec<String>>,
) -> std::io::Result<()> {
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
}
