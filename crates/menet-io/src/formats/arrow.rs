//! Arrow's record batches, into which Parquet and Feather files are read, and how their types are converted.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};

use super::ReadOptions;
use super::columns::{ColumnValues, Layout, NamedColumns};
use crate::blocks::Blocks;
use crate::error::{Error, Result, short};
use crate::guard::guarded;
use crate::table::{Ids, Table};

/// Batches of rows with all columns of the file, or those of [`Batches::wanted`].
type Batch = std::result::Result<RecordBatch, ArrowError>;

/// Record batches as tables.
pub(super) struct Batches {
    path: PathBuf,
    layout: Layout,
    names: Vec<String>,
    batches: Box<dyn Iterator<Item = Batch> + Send>,
    /// Rows that were read but not returned yet.
    held: Option<RecordBatch>,
    /// The number of samples so far, and in all.
    read: usize,
    total: u64,
}

/// The columns of a file and their roles.
pub(super) fn layout(schema: &Schema, path: &Path, options: &ReadOptions) -> Result<Layout> {
    super::refuse_transpose("columns of a Parquet or Arrow file", path, options)?;
    let names = names(schema);
    let is_text = |at: usize| is_text(schema.field(at).data_type());
    let layout = NamedColumns { names: &names, index: &pandas_index(schema), is_text: &is_text }
        .layout(path, options)?;
    let loose = layout.variables.iter().zip(&layout.loose).filter(|(_, loose)| **loose);
    let loose: std::collections::HashSet<usize> = loose.map(|(&at, _)| at).collect();
    for at in wanted(&layout).into_iter().filter(|at| !loose.contains(at)) {
        let kind = schema.field(at).data_type();
        if let Some(what) = no_value(kind) {
            let name = short(&names[at]);
            let problem = format!(
                "column {name:?} holds {what} ({kind}), which menet cannot use; leave it out with --drop {name:?}"
            );
            return Err(Error::input(path, problem));
        }
    }
    Ok(layout)
}

/// Which columns of a file are read.
pub(super) fn wanted(layout: &Layout) -> Vec<usize> {
    let mut wanted: Vec<usize> = layout
        .variables
        .iter()
        .chain(&layout.label)
        .chain(&layout.id)
        .chain(&layout.groups)
        .chain(&layout.batch)
        .copied()
        .collect();
    wanted.sort_unstable();
    // One column can name the samples, group them and say their batch.
    wanted.dedup();
    wanted
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

impl Batches {
    /// From batches that hold only the [`wanted`] columns.
    pub(super) fn new(
        schema: &Schema,
        layout: Layout,
        path: &Path,
        total: u64,
        batches: impl Iterator<Item = Batch> + Send + 'static,
    ) -> Self {
        Batches {
            path: path.to_owned(),
            layout,
            names: names(schema),
            batches: Box::new(batches),
            held: None,
            read: 0,
            total,
        }
    }

    fn table(&mut self, batch: &RecordBatch) -> Result<Table> {
        let wanted = wanted(&self.layout);
        let cells = |at: usize| {
            let place = wanted.binary_search(&at).unwrap_or_default();
            cells(batch.column(place).as_ref(), &self.names[at], &self.path)
        };
        let (rows, p) = (batch.num_rows(), self.layout.variables.len());
        let mut values = vec![0.0; rows * p];
        for (j, &at) in self.layout.variables.iter().enumerate() {
            let found = cells(at).and_then(|cells| cells.numbers(&self.names[at], self.read, &self.path));
            let column = match found {
                Err(_) if self.layout.loose[j] => vec![f64::NAN; rows],
                found => found?,
            };
            for (row, value) in values.chunks_exact_mut(p).zip(column) {
                row[j] = value;
            }
        }
        let labels = self.layout.label.map(|at| cells(at).map(ColumnValues::labels)).transpose()?;
        let ids = self.layout.id.map(|at| cells(at).map(ColumnValues::ids)).transpose()?;
        let groups = self.layout.groups.map(|at| cells(at).map(ColumnValues::labels)).transpose()?;
        let batches = self.layout.batch.map(|at| cells(at).map(ColumnValues::labels)).transpose()?;
        let mut table = Table::new(&self.path, values, rows, p);
        table.groups = groups;
        table.batches = batches;
        table.labels = labels;
        table.ids = ids.map(|values| Ids { name: self.layout.id_name.clone(), values });
        table.feature_names = Some(self.layout.names.clone());
        table.notices = std::mem::take(&mut self.layout.notices);
        self.read += rows;
        Ok(table)
    }
}

impl Blocks for Batches {
    fn columns(&self) -> usize {
        self.layout.variables.len()
    }

    /// A block ends where its batch does.
    fn next(&mut self, rows: usize) -> Result<Option<Table>> {
        let batch = match self.held.take() {
            Some(batch) => batch,
            None => loop {
                match guarded(|| self.batches.next()).ok_or_else(|| damaged(&self.path, &PANIC))? {
                    None => return Ok(None),
                    Some(Err(e)) => return Err(damaged(&self.path, &e)),
                    Some(Ok(batch)) if batch.num_rows() == 0 => {}
                    Some(Ok(batch)) => break batch,
                }
            },
        };
        let rows = rows.min(batch.num_rows());
        if rows < batch.num_rows() {
            self.held = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        self.table(&batch.slice(0, rows)).map(Some)
    }

    fn id_name(&self) -> Option<&str> {
        self.layout.id.map(|_| self.layout.id_name.as_str())
    }

    fn progress(&self) -> (u64, u64) {
        (self.read as u64, self.total)
    }
}

/// The message for a decoder that panicked.
const PANIC: &str = "its parts are inconsistent";

/// Opens a file with a decoder that may panic.
pub(super) fn opened(path: &Path, open: impl FnOnce() -> Result<Batches>) -> Result<Box<dyn Blocks>> {
    let batches = guarded(open).ok_or_else(|| damaged(path, &PANIC))??;
    Ok(Box::new(batches))
}

/// The error for damaged bytes.
pub(super) fn damaged(path: &Path, e: &dyn std::fmt::Display) -> Error {
    let cause = e.to_string();
    let first = short(cause.lines().next().unwrap_or_default());
    if first.contains("TooManyTables") {
        let problem = "has more columns than Arrow reads of a stream (about 500,000); save it as Parquet or as a .feather file";
        return Error::input(path, problem);
    }
    Error::input(path, format!("damaged, or another format: {first}"))
}

/// The columns that pandas wrote as the index.
fn pandas_index(schema: &Schema) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Pandas {
        index_columns: Vec<serde_json::Value>,
    }
    let known = schema.metadata().get("pandas").and_then(|text| serde_json::from_str::<Pandas>(text).ok());
    let names = known.map(|pandas| pandas.index_columns).unwrap_or_default();
    names.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect()
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// What a type holds if it is neither a number nor text.
fn no_value(kind: &DataType) -> Option<&'static str> {
    use DataType::{
        Boolean, Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Dictionary, Duration, Float16,
        Float32, Float64, Int8, Int16, Int32, Int64, Interval, Null, Time32, Time64, Timestamp, UInt8,
        UInt16, UInt32, UInt64,
    };
    match kind {
        Null | Boolean | Float16 | Float32 | Float64 | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16
        | UInt32 | UInt64 => None,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => None,
        Dictionary(_, values) => no_value(values),
        _ if is_text(kind) => None,
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) | Duration(_) | Interval(_) => {
            Some("dates or times")
        }
        _ => Some("lists or records"),
    }
}

/// The values of a column.
fn cells(array: &dyn Array, name: &str, path: &Path) -> Result<ColumnValues> {
    Ok(match array.data_type() {
        DataType::Null => ColumnValues::Numbers(vec![f64::NAN; array.len()]),
        DataType::Boolean => ColumnValues::Truths(array.as_boolean().iter().collect()),
        DataType::Float16 => numbers::<Float16Type>(array, f64::from),
        DataType::Float32 => numbers::<Float32Type>(array, f64::from),
        DataType::Float64 => numbers::<Float64Type>(array, |x| x),
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        DataType::Utf8 => texts(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => texts(array.as_string::<i64>().iter()),
        DataType::Utf8View => texts(array.as_string_view().iter()),
        DataType::Binary => bytes(array.as_binary::<i32>().iter(), name, path)?,
        DataType::LargeBinary => bytes(array.as_binary::<i64>().iter(), name, path)?,
        DataType::BinaryView => bytes(array.as_binary_view().iter(), name, path)?,
        DataType::Dictionary(..) => dictionary(array, name, path)?,
        other => {
            let problem = format!(
                "column {:?} has type {other}, which menet cannot use; leave it out with --drop",
                short(name)
            );
            return Err(Error::input(path, problem));
        }
    })
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, convert: impl Fn(T::Native) -> f64) -> ColumnValues {
    ColumnValues::Numbers(array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, &convert)).collect())
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array) -> ColumnValues
where
    T::Native: Into<i128>,
{
    ColumnValues::Integers(array.as_primitive::<T>().iter().map(|x| x.map(Into::into)).collect())
}

/// Decimals are converted through their digits, so that 0.1 is the same number as 0.1 in a text file.
fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &dyn Array) -> ColumnValues {
    let array = array.as_primitive::<T>();
    let number = |i: usize| match array.is_null(i) {
        true => f64::NAN,
        false => array.value_as_string(i).parse().unwrap_or(f64::NAN),
    };
    ColumnValues::Numbers((0..array.len()).map(number).collect())
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ColumnValues {
    ColumnValues::Texts(values.map(|text| text.map(str::to_owned)).collect())
}

/// Bytes that are not declared as text.
fn bytes<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    name: &str,
    path: &Path,
) -> Result<ColumnValues> {
    let text = |value: Option<&[u8]>| {
        value.map(|bytes| std::str::from_utf8(bytes).map(str::to_owned)).transpose().map_err(|e| {
            Error::input(path, format!("column {:?} holds bytes that are not UTF-8 text: {e}", short(name)))
        })
    };
    Ok(ColumnValues::Texts(values.map(text).collect::<Result<_>>()?))
}

/// Values that are stored once each, pandas' categories for instance.
fn dictionary(array: &dyn Array, name: &str, path: &Path) -> Result<ColumnValues> {
    fn spread<T: Clone>(values: &[T], keys: &[usize], null: &dyn Fn(usize) -> bool, none: &T) -> Vec<T> {
        let value =
            |i: usize| if null(i) { none.clone() } else { values.get(keys[i]).unwrap_or(none).clone() };
        (0..keys.len()).map(value).collect()
    }
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Err(damaged(path, &format!("column {:?} has no dictionary", short(name))));
    };
    if dictionary.values().is_empty() {
        return Ok(ColumnValues::Numbers(vec![f64::NAN; array.len()]));
    }
    let (keys, null) = (dictionary.normalized_keys(), |i: usize| array.is_null(i));
    Ok(match cells(dictionary.values().as_ref(), name, path)? {
        ColumnValues::Numbers(values) => ColumnValues::Numbers(spread(&values, &keys, &null, &f64::NAN)),
        ColumnValues::Integers(values) => ColumnValues::Integers(spread(&values, &keys, &null, &None)),
        ColumnValues::Truths(values) => ColumnValues::Truths(spread(&values, &keys, &null, &None)),
        ColumnValues::Texts(values) => ColumnValues::Texts(spread(&values, &keys, &null, &None)),
    })
}
