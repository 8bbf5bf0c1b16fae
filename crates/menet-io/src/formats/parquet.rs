//! Parquet: the same rules as for text with a header.

use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::{Role, not_a_number, roles, variables};
use super::{Format, ReadOptions};
use crate::error::{Error, Result};
use crate::table::Table;

/// Columns, packed.
pub const PARQUET: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    summary: "Parquet with flat columns; the column `label` holds the classes",
    read,
};

/// How many values are read at a time.
const BATCH: usize = 1 << 14;

fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let invalid = |e: ParquetError| Error::input(path, format!("not a readable parquet file: {e}"));
    let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
    let reader = SerializedFileReader::new(file).map_err(invalid)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let roles = roles(&names, path, options)?;
    if let Some(at) = (0..names.len()).find(|&at| schema.column(at).max_rep_level() > 0) {
        return Err(Error::input(
            path,
            format!("column {:?} holds lists; flat columns are needed", names[at]),
        ));
    }
    let (mut columns, mut labels) = (Vec::new(), None);
    for (at, role) in roles.iter().enumerate().filter(|(_, role)| **role != Role::Dropped) {
        let mut cells = Cells::default();
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(invalid)?;
            cells
                .read(group.get_column_reader(at).map_err(invalid)?, schema.column(at).max_def_level())
                .map_err(invalid)?;
        }
        match role {
            Role::Label => labels = Some(cells.labels(names[at], path)?),
            _ => columns.push(cells.numbers(names[at], path)?),
        }
    }
    let rows = columns[0].len();
    if rows == 0 {
        return Err(Error::input(path, "there are columns but no data"));
    }
    let equal =
        columns.iter().map(Vec::len).chain(labels.as_ref().map(Vec::len)).all(|length| length == rows);
    if !equal {
        return Err(Error::input(path, "its columns are not equally long"));
    }
    let mut values = Vec::with_capacity(rows * columns.len());
    for row in 0..rows {
        values.extend(columns.iter().map(|column| column[row]));
    }
    Ok(Table {
        source: path.display().to_string(),
        values: values.into(),
        rows,
        columns: columns.len(),
        labels,
        feature_names: Some(variables(&names, &roles)),
        image_shape: None,
    })
}

/// A value of any kind that is understood.
enum Cell {
    Missing,
    Number(f64),
    Text(String),
    Other,
}

#[derive(Default)]
struct Cells(Vec<Cell>);

impl Cells {
    fn read(&mut self, reader: ColumnReader, max_level: i16) -> std::result::Result<(), ParquetError> {
        let text =
            |bytes: &[u8]| std::str::from_utf8(bytes).map_or(Cell::Other, |text| Cell::Text(text.to_owned()));
        match reader {
            ColumnReader::BoolColumnReader(r) => {
                self.fill(r, max_level, |x| Cell::Number(f64::from(u8::from(*x))))
            }
            ColumnReader::Int32ColumnReader(r) => self.fill(r, max_level, |x| Cell::Number(f64::from(*x))),
            ColumnReader::Int64ColumnReader(r) => self.fill(r, max_level, |x| Cell::Number(*x as f64)),
            ColumnReader::FloatColumnReader(r) => self.fill(r, max_level, |x| Cell::Number(f64::from(*x))),
            ColumnReader::DoubleColumnReader(r) => self.fill(r, max_level, |x| Cell::Number(*x)),
            ColumnReader::ByteArrayColumnReader(r) => self.fill(r, max_level, |x| text(x.data())),
            ColumnReader::FixedLenByteArrayColumnReader(r) => self.fill(r, max_level, |x| text(x.data())),
            ColumnReader::Int96ColumnReader(r) => self.fill(r, max_level, |_| Cell::Other),
        }
    }

    fn fill<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        max_level: i16,
        cell: impl Fn(&T::T) -> Cell,
    ) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        loop {
            values.clear();
            levels.clear();
            let (records, _, _) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Ok(());
            }
            if max_level == 0 {
                self.0.extend(values.iter().map(&cell));
            } else {
                let mut values = values.iter();
                let present = |level: &i16| {
                    if *level == max_level {
                        values.next().map_or(Cell::Missing, &cell)
                    } else {
                        Cell::Missing
                    }
                };
                self.0.extend(levels.iter().map(present));
            }
        }
    }

    fn numbers(self, name: &str, path: &Path) -> Result<Vec<f64>> {
        let wrong = |row: usize, text: &str| {
            Error::input(path, format!("row {}, {}", row + 1, not_a_number(name, text)))
        };
        let number = |(row, cell): (usize, Cell)| match cell {
            Cell::Missing => Ok(f64::NAN),
            Cell::Number(x) if x.is_infinite() => Err(wrong(row, &x.to_string())),
            Cell::Number(x) => Ok(x),
            Cell::Text(text) => Err(wrong(row, &text)),
            Cell::Other => Err(wrong(row, "a value of another type")),
        };
        self.0.into_iter().enumerate().map(number).collect()
    }

    fn labels(self, name: &str, path: &Path) -> Result<Vec<String>> {
        let label = |(row, cell): (usize, Cell)| match cell {
            Cell::Text(text) => Ok(text),
            Cell::Number(x) => Ok(x.to_string()),
            _ => Err(Error::input(path, format!("row {}, column {name:?}: there is no label", row + 1))),
        };
        self.0.into_iter().enumerate().map(label).collect()
    }
}
