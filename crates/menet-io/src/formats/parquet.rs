//! Parquet: the same rules as for text with a header.

use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::{Role, not_a_number, roles, variables};
use super::{Format, ReadOptions, Reader};
use crate::blocks::Blocks;
use crate::error::{Error, Result};
use crate::table::Table;

/// Columns, packed.
pub const PARQUET: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    summary: "Parquet with flat columns; the column `label` holds the classes",
    reader: Reader::Blocks(|path, options| Ok(Box::new(Columns::open(path, options)?))),
};

/// How many values are read at a time.
const BATCH: usize = 1 << 14;

/// A file of which the schema has been read.
struct Columns {
    path: PathBuf,
    reader: SerializedFileReader<std::fs::File>,
    columns: Vec<Column>,
    names: Vec<String>,
    /// How many row groups were begun, and the columns of the last of them.
    groups: usize,
    group: Vec<ColumnReader>,
    /// Samples so far.
    read: usize,
}

/// A column that is not left out.
struct Column {
    name: String,
    at: usize,
    is_label: bool,
    /// The definition level of a value that is there.
    level: i16,
}

impl Columns {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
        let reader = SerializedFileReader::new(file).map_err(|e| invalid(path, &e))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let roles = roles(&names, path, options)?;
        if let Some(at) = (0..names.len()).find(|&at| schema.column(at).max_rep_level() > 0) {
            let problem = format!("column {:?} holds lists; flat columns are needed", names[at]);
            return Err(Error::input(path, problem));
        }
        let column = |at: usize| Column {
            name: names[at].to_owned(),
            at,
            is_label: roles[at] == Role::Label,
            level: schema.column(at).max_def_level(),
        };
        Ok(Columns {
            path: path.to_owned(),
            columns: (0..names.len()).filter(|&at| roles[at] != Role::Dropped).map(column).collect(),
            names: variables(&names, &roles),
            reader,
            groups: 0,
            group: Vec::new(),
            read: 0,
        })
    }

    /// Begins the next row group; says whether there is one.
    fn open_group(&mut self) -> std::result::Result<bool, ParquetError> {
        if self.groups == self.reader.num_row_groups() {
            return Ok(false);
        }
        let group = self.reader.get_row_group(self.groups)?;
        let columns = self.columns.iter().map(|column| group.get_column_reader(column.at));
        self.group = columns.collect::<std::result::Result<_, _>>()?;
        self.groups += 1;
        Ok(true)
    }

    /// The next rows of the row group; none at its end.
    fn read_group(&mut self, rows: usize) -> Result<Option<Table>> {
        let (mut columns, mut labels) = (Vec::new(), None);
        for (column, reader) in self.columns.iter().zip(&mut self.group) {
            let cells = Cells::read(reader, rows, column.level).map_err(|e| invalid(&self.path, &e))?;
            if column.is_label {
                labels = Some(cells.labels(&column.name, self.read, &self.path)?);
            } else {
                columns.push(cells.numbers(&column.name, self.read, &self.path)?);
            }
        }
        let rows = columns[0].len();
        let mut lengths = columns.iter().map(Vec::len).chain(labels.as_ref().map(Vec::len));
        if lengths.any(|length| length != rows) {
            return Err(Error::input(&self.path, "its columns are not equally long"));
        }
        let mut values = Vec::with_capacity(rows * columns.len());
        for row in 0..rows {
            values.extend(columns.iter().map(|column| column[row]));
        }
        self.read += rows;
        Ok((rows > 0).then(|| Table {
            source: self.path.display().to_string(),
            values: values.into(),
            rows,
            columns: columns.len(),
            labels,
            feature_names: Some(self.names.clone()),
            image_shape: None,
        }))
    }
}

impl Blocks for Columns {
    fn columns(&self) -> usize {
        self.names.len()
    }

    /// A block ends where its row group does.
    fn next(&mut self, rows: usize) -> Result<Option<Table>> {
        loop {
            if self.group.is_empty() && !self.open_group().map_err(|e| invalid(&self.path, &e))? {
                return Ok(None);
            }
            match self.read_group(rows)? {
                Some(table) => return Ok(Some(table)),
                None => self.group.clear(),
            }
        }
    }

    fn progress(&self) -> (u64, u64) {
        (self.read as u64, self.reader.metadata().file_metadata().num_rows().max(0) as u64)
    }
}

fn invalid(path: &Path, e: &ParquetError) -> Error {
    Error::input(path, format!("not a readable parquet file: {e}"))
}

/// Values of any kind that is understood; none where they are missing.
enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<Text>>),
}

enum Text {
    Known(String),
    Other,
}

impl Cells {
    fn read(reader: &mut ColumnReader, rows: usize, level: i16) -> std::result::Result<Self, ParquetError> {
        let text =
            |bytes: &[u8]| std::str::from_utf8(bytes).map_or(Text::Other, |x| Text::Known(x.to_owned()));
        Ok(match reader {
            ColumnReader::BoolColumnReader(r) => {
                Cells::Numbers(take(r, rows, level, |x| f64::from(u8::from(*x)))?)
            }
            ColumnReader::Int32ColumnReader(r) => Cells::Numbers(take(r, rows, level, |x| f64::from(*x))?),
            ColumnReader::Int64ColumnReader(r) => Cells::Numbers(take(r, rows, level, |x| *x as f64)?),
            ColumnReader::FloatColumnReader(r) => Cells::Numbers(take(r, rows, level, |x| f64::from(*x))?),
            ColumnReader::DoubleColumnReader(r) => Cells::Numbers(take(r, rows, level, |x| *x)?),
            ColumnReader::ByteArrayColumnReader(r) => Cells::Texts(take(r, rows, level, |x| text(x.data()))?),
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                Cells::Texts(take(r, rows, level, |x| text(x.data()))?)
            }
            ColumnReader::Int96ColumnReader(r) => Cells::Texts(take(r, rows, level, |_| Text::Other)?),
        })
    }

    /// Numbers, NaN where they are missing. The first is that of sample `start`.
    fn numbers(self, name: &str, start: usize, path: &Path) -> Result<Vec<f64>> {
        let wrong = |row: usize, text: &str| {
            Error::input(path, format!("row {}, {}", start + row + 1, not_a_number(name, text)))
        };
        match self {
            Cells::Numbers(cells) => {
                let number = |(row, cell): (usize, Option<f64>)| match cell {
                    Some(x) if x.is_infinite() => Err(wrong(row, &x.to_string())),
                    Some(x) => Ok(x),
                    None => Ok(f64::NAN),
                };
                cells.into_iter().enumerate().map(number).collect()
            }
            Cells::Texts(cells) => {
                let number = |(row, cell): (usize, Option<Text>)| match cell {
                    Some(Text::Known(text)) => Err(wrong(row, &text)),
                    Some(Text::Other) => Err(wrong(row, "a value of another type")),
                    None => Ok(f64::NAN),
                };
                cells.into_iter().enumerate().map(number).collect()
            }
        }
    }

    /// Labels. The first is that of sample `start`.
    fn labels(self, name: &str, start: usize, path: &Path) -> Result<Vec<String>> {
        let found: Vec<Option<String>> = match self {
            Cells::Numbers(cells) => cells.into_iter().map(|cell| cell.map(|x| x.to_string())).collect(),
            Cells::Texts(cells) => {
                let known = |text| match text {
                    Text::Known(text) => Some(text),
                    Text::Other => None,
                };
                cells.into_iter().map(|cell| cell.and_then(known)).collect()
            }
        };
        let label = |(row, label): (usize, Option<String>)| {
            let problem = || format!("row {}, column {name:?}: there is no label", start + row + 1);
            label.ok_or_else(|| Error::input(path, problem()))
        };
        found.into_iter().enumerate().map(label).collect()
    }
}

/// The next values of a column, at most so many.
fn take<T: DataType, U>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    level: i16,
    convert: impl Fn(&T::T) -> U,
) -> std::result::Result<Vec<Option<U>>, ParquetError> {
    let (mut values, mut levels, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    while cells.len() < rows {
        values.clear();
        levels.clear();
        let batch = BATCH.min(rows - cells.len());
        let (records, _, _) = reader.read_records(batch, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        let mut values = values.iter().map(&convert);
        if level == 0 {
            cells.extend(values.map(Some));
        } else {
            cells.extend(levels.iter().map(|found| if *found == level { values.next() } else { None }));
        }
    }
    Ok(cells)
}
