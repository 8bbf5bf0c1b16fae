//! Comma- and tab-separated text with a header, packed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::columns::{Role, not_a_number, roles, variables};
use super::{Format, Meter, ReadOptions, Reader, open_metered};
use crate::blocks::{self, Blocks, room};
use crate::error::{Error, Result};
use crate::table::Table;

/// Comma-separated.
pub const CSV: Format = Format {
    name: "csv",
    endings: &[".csv", ".csv.gz"],
    summary: "comma-separated text with a header; the column `label` holds the classes",
    reader: Reader::Blocks(|path, options| open_text(b',', path, options)),
};

/// Tab-separated.
pub const TSV: Format = Format {
    name: "tsv",
    endings: &[".tsv", ".tsv.gz"],
    summary: "tab-separated text with a header",
    reader: Reader::Blocks(|path, options| open_text(b'\t', path, options)),
};

/// Texts that stand for a missing value.
const MISSING: [&[u8]; 6] = [b"", b"NA", b"NaN", b"nan", b"null", b"?"];

/// Bytes of text that are split into fields before the fields are read, by all threads.
const BATCH: usize = 1 << 20;

fn open_text(delimiter: u8, path: &Path, options: &ReadOptions) -> Result<Box<dyn Blocks>> {
    let (reader, meter) = open_metered(path)?;
    Ok(Box::new(Text::new(reader, meter, delimiter, path, options)?))
}

/// Reads separated text.
///
/// # Errors
/// When it is empty or ragged, a column name repeats, or a field is not a number.
pub fn read_from(
    reader: impl Read + Send,
    delimiter: u8,
    path: &Path,
    options: &ReadOptions,
) -> Result<Table> {
    blocks::whole(&mut Text::new(reader, Meter::default(), delimiter, path, options)?, path)
}

/// Text of which the header has been read.
struct Text<R> {
    path: PathBuf,
    reader: csv::Reader<R>,
    meter: Meter,
    header: csv::StringRecord,
    /// Where the variables and the label stand.
    variables: Vec<usize>,
    label: Option<usize>,
    names: Vec<String>,
    /// Rows split into fields, kept for their room.
    records: Vec<csv::ByteRecord>,
}

impl<R: Read> Text<R> {
    fn new(reader: R, meter: Meter, delimiter: u8, path: &Path, options: &ReadOptions) -> Result<Self> {
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 18).from_reader(reader);
        let header = reader.headers().map_err(|e| Error::input(path, e))?.clone();
        let columns: Vec<&str> = header.iter().collect();
        let signs = [(';', "semicolons"), ('\t', "tabs"), (',', "commas"), ('|', "bars")];
        if let [only] = columns[..]
            && let Some((_, name)) = signs.iter().find(|(sign, _)| only.contains(*sign))
        {
            let problem = format!(
                "its header {only:?} is one column, but looks separated by {name}; .csv files are separated by commas \
                 (and numbers have a decimal point), .tsv files by tabs"
            );
            return Err(Error::input(path, problem));
        }
        let roles = roles(&columns, path, options)?;
        Ok(Text {
            path: path.to_owned(),
            reader,
            meter,
            variables: (0..roles.len()).filter(|&at| roles[at] == Role::Variable).collect(),
            label: roles.iter().position(|role| *role == Role::Label),
            names: variables(&columns, &roles),
            header,
            records: Vec::new(),
        })
    }

    /// Splits further rows into fields, at most so many, and says how many.
    fn split(&mut self, rows: usize) -> Result<usize> {
        let (mut count, mut bytes) = (0, 0);
        while count < rows && bytes < BATCH {
            if count == self.records.len() {
                self.records.push(csv::ByteRecord::new());
            }
            let record = &mut self.records[count];
            if !self.reader.read_byte_record(record).map_err(|e| Error::input(&self.path, e))? {
                break;
            }
            bytes += record.as_slice().len() + record.len();
            count += 1;
        }
        Ok(count)
    }

    /// Reads the numbers of the first rows that were split.
    fn numbers(&self, count: usize, values: &mut Vec<f64>) -> Result<()> {
        let (start, variables) = (values.len(), &self.variables);
        values.resize(start + count * variables.len(), 0.0);
        let rows = values[start..].par_chunks_mut(variables.len()).zip(&self.records[..count]);
        let wrong = |(row, (values, record)): (usize, (&mut [f64], &csv::ByteRecord))| {
            values.iter_mut().zip(variables).find_map(|(value, &at)| {
                match record.get(at).and_then(number) {
                    Some(x) => *value = x,
                    None => return Some((row, at)),
                }
                None
            })
        };
        match rows.enumerate().filter_map(wrong).min() {
            None => Ok(()),
            Some((row, at)) => {
                let record = &self.records[row];
                let line = record.position().map_or(0, csv::Position::line);
                let field = String::from_utf8_lossy(record.get(at).unwrap_or_default());
                let problem = not_a_number(&self.header[at], &field);
                Err(Error::input(&self.path, format!("line {line}, {problem}")))
            }
        }
    }
}

impl<R: Read + Send> Blocks for Text<R> {
    fn columns(&self) -> usize {
        self.variables.len()
    }

    fn next(&mut self, rows: usize) -> Result<Option<Table>> {
        let mut values = room(rows.saturating_mul(self.variables.len()));
        let (mut labels, mut read) = (Vec::new(), 0);
        while read < rows {
            let count = self.split(rows - read)?;
            if count == 0 {
                break;
            }
            self.numbers(count, &mut values)?;
            if let Some(at) = self.label {
                let label = |record: &csv::ByteRecord| {
                    String::from_utf8_lossy(record.get(at).unwrap_or_default()).into_owned()
                };
                labels.extend(self.records[..count].iter().map(label));
            }
            read += count;
        }
        Ok((read > 0).then(|| Table {
            source: self.path.display().to_string(),
            values: values.into(),
            rows: read,
            columns: self.variables.len(),
            labels: self.label.map(|_| labels),
            feature_names: Some(self.names.clone()),
            image_shape: None,
        }))
    }

    fn progress(&self) -> (u64, u64) {
        self.meter.progress()
    }
}

/// A number, NaN where it is missing, none if it is anything else.
fn number(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    match fast_float2::parse::<f64, _>(field) {
        Ok(value) if value.is_finite() => Some(value),
        _ if MISSING.contains(&field) => Some(f64::NAN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, options: &ReadOptions) -> Result<Table> {
        read_from(text.as_bytes(), b',', Path::new("test.csv"), options)
    }

    #[test]
    fn quotes_spaces_and_missing_values() {
        let table =
            read("\"a,1\",label,b\n 1.5 ,\"x \"\"y\"\", z\",NA\n-2e3,<b>,\n", &ReadOptions::default())
                .unwrap();
        assert_eq!(table.feature_names.as_deref().unwrap(), ["a,1", "b"]);
        assert_eq!(table.labels.as_deref().unwrap(), ["x \"y\", z", "<b>"]);
        assert_eq!((table.rows, table.columns), (2, 2));
        let x = table.matrix().unwrap();
        assert_eq!((x[(0, 0)], x[(1, 0)]), (1.5, -2000.0));
        assert!(x[(0, 1)].is_nan() && x[(1, 1)].is_nan());
    }

    #[test]
    fn problems_are_located() {
        let message = |text: &str| read(text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(message("").contains("empty"));
        assert!(message("a,b\n").contains("no data"));
        assert!(message("a,a\n1,2\n").contains("\"a\" appears more than once"));
        assert!(message("a,b\n1,2\n3,x\n").contains("line 3, column \"b\": \"x\""));
        assert!(message("a,b\n1,1e400\n").contains("1e400"));
        assert!(message("a,b\n1,2\n3\n").contains("test.csv"));
        assert!(message("label\nx\n").contains("no variables"));
        let drop = ReadOptions { drop: vec!["q".into()], ..ReadOptions::default() };
        assert!(read("a,b\n1,2\n", &drop).unwrap_err().to_string().contains("\"q\""));
    }
}
