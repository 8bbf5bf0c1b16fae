//! Separated text, compressed or not: one sample per line, names of the columns in the first line.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::columns::{Layout, NamedColumns, not_a_number};
use super::dialect::{Delimiter, Records, line, number, utf8};
use super::header::header;
use super::{Format, ReadOptions, Reader, transposed};
use crate::blocks::{self, Blocks, OneBlock, room};
use crate::error::{Error, Result, short};
use crate::labels;
use crate::source::{Meter, Source, decoded, open_metered};
use crate::table::{Ids, Table};

/// Comma-separated text.
pub const CSV: Format = Format {
    name: "csv",
    endings: &[".csv"],
    summary: "comma-separated text with a header; the column `label` holds the classes",
    reader: Reader::Blocks(|path, options| open_text(Some(COMMA), path, options)),
};

/// Tab-separated text.
pub const TSV: Format = Format {
    name: "tsv",
    endings: &[".tsv", ".tab"],
    summary: "tab-separated text with a header",
    reader: Reader::Blocks(|path, options| open_text(Some(Delimiter::Byte(b'\t')), path, options)),
};

/// Text with the separator that its first line shows.
pub const TXT: Format = Format {
    name: "txt",
    endings: &[".txt", ".dat"],
    summary: "text with a header, separated by tabs, semicolons, commas, bars or spaces, as its first line shows",
    reader: Reader::Blocks(|path, options| open_text(None, path, options)),
};

const COMMA: Delimiter = Delimiter::Byte(b',');

/// How many bytes of text are split into fields before all threads read the fields.
const BATCH: usize = 1 << 20;

fn open_text(usual: Option<Delimiter>, path: &Path, options: &ReadOptions) -> Result<Box<dyn Blocks>> {
    let (source, meter) = open_metered(path)?;
    open_source(source, meter, usual, path, options)
}

fn open_source(
    source: Source,
    meter: Meter,
    usual: Option<Delimiter>,
    path: &Path,
    options: &ReadOptions,
) -> Result<Box<dyn Blocks>> {
    let (source, notice) = decoded(source, options.encoding.as_deref(), path)?;
    let records = Records::new(source, usual, path, options)?;
    if options.transpose {
        let mut table = transposed::read(records, path, options)?;
        table.notices.extend(notice);
        return Ok(OneBlock::boxed(table));
    }
    let mut text = TextReader::new(records, meter, path, options)?;
    text.layout.notices.extend(notice);
    Ok(Box::new(text))
}

/// Reads comma-separated text from any source.
///
/// # Errors
/// When it is empty or ragged, a column name repeats, or a field is not a number.
pub(crate) fn read_csv(source: Source, path: &Path, options: &ReadOptions) -> Result<Table> {
    blocks::whole(open_source(source, Meter::default(), Some(COMMA), path, options)?.as_mut(), path)
}

/// Text whose header has been read.
struct TextReader {
    path: PathBuf,
    records: Records,
    meter: Meter,
    /// Names of all columns.
    names: Vec<String>,
    layout: Layout,
    /// Whether the names come from the file.
    named: bool,
    /// Rows split into fields; the memory is reused.
    rows: Vec<csv::ByteRecord>,
}

impl TextReader {
    fn new(mut records: Records, meter: Meter, path: &Path, options: &ReadOptions) -> Result<Self> {
        let (mut first, mut second) = (csv::ByteRecord::new(), csv::ByteRecord::new());
        if !records.next(&mut first)? {
            return Err(Error::input(path, "the file is empty"));
        }
        records.check_separated(&first)?;
        records.bound(first.len())?;
        let second = if options.no_header { None } else { records.next(&mut second)?.then_some(second) };
        let header = header(&first, second.as_ref(), path, options)?;
        records.require(header.names.len())?;
        let sample = if header.is_data { Some(first) } else { second };
        let is_text = |at: usize| {
            let field = sample.as_ref().and_then(|record| record.get(at)).unwrap_or_default();
            records.number(field).is_none()
        };
        let columns = NamedColumns { names: &header.names, index: &[], is_text: &is_text };
        // Numbers in the place of names say nothing of a model's variables.
        let needs = options.needs.clone().filter(|_| !header.is_data);
        let mut layout = columns.layout(path, &ReadOptions { needs, ..options.clone() })?;
        layout.notices.extend(header.notice.map(|notice| format!("{}: {notice}", path.display())));
        if let Some(sample) = sample {
            records.hold(sample);
        }
        Ok(TextReader {
            path: path.to_owned(),
            records,
            meter,
            names: header.names,
            layout,
            named: !header.is_data,
            rows: Vec::new(),
        })
    }

    /// Splits at most this many further rows into fields, and returns how many.
    fn split(&mut self, rows: usize) -> Result<usize> {
        let (mut count, mut bytes) = (0, 0);
        while count < rows && bytes < BATCH {
            if count == self.rows.len() {
                self.rows.push(csv::ByteRecord::new());
            }
            let row = &mut self.rows[count];
            if !self.records.next(row)? {
                break;
            }
            bytes += row.as_slice().len() + row.len();
            count += 1;
        }
        Ok(count)
    }

    /// Reads the numbers of the first split rows.
    fn numbers(&self, count: usize, values: &mut Vec<f64>) -> Result<()> {
        let (start, variables, loose) = (values.len(), &self.layout.variables, &self.layout.loose);
        let decimal_comma = self.records.decimal_comma;
        values.resize(start + count * variables.len(), 0.0);
        let rows = values[start..].par_chunks_mut(variables.len()).zip(&self.rows[..count]);
        let wrong = |(row, (values, record)): (usize, (&mut [f64], &csv::ByteRecord))| {
            values.iter_mut().zip(variables).zip(loose).find_map(|((value, &at), &loose)| {
                match record.get(at).and_then(|field| number(field, decimal_comma)) {
                    Some(x) => *value = x,
                    None if loose => *value = f64::NAN,
                    None => return Some((row, at)),
                }
                None
            })
        };
        match rows.enumerate().filter_map(wrong).min() {
            None => Ok(()),
            Some((row, at)) => {
                let record = &self.rows[row];
                let field = String::from_utf8_lossy(record.get(at).unwrap_or_default());
                let problem = not_a_number("column", &self.names[at], &field);
                let advice = self.advice(row, at, count);
                Err(Error::input(&self.path, format!("line {}, {problem}{advice}", line(record))))
            }
        }
    }

    /// A hint for transposed tables: each row of the first column has another text, or a whole row is text.
    fn advice(&self, row: usize, at: usize, count: usize) -> &'static str {
        let is_text = |field: &[u8]| self.records.number(field).is_none();
        let mut seen = std::collections::HashSet::new();
        let texts = || self.rows[..count].iter().filter_map(|row| row.get(at));
        let names = at == 0 && count > 1 && texts().all(is_text) && texts().all(|field| seen.insert(field));
        let variables = &self.layout.variables;
        let classes =
            variables.len() > 1 && variables.iter().all(|&at| self.rows[row].get(at).is_some_and(is_text));
        if (names || classes) && self.layout.label.is_none() {
            "; if the table is transposed (one variable per row), add --transpose"
        } else {
            ""
        }
    }

    /// A column of texts of the first split rows.
    fn texts(&self, at: usize, count: usize, convert: impl Fn(&str) -> String) -> Result<Vec<String>> {
        let text = |row: &csv::ByteRecord| {
            let text = utf8(row.get(at).unwrap_or_default(), row, &self.names[at], &self.path)?;
            if text.trim().contains('\n') {
                let problem = format!(
                    "line {}, column {:?}: {:?} has a line break; a quotation mark may be unclosed",
                    line(row),
                    short(&self.names[at]),
                    short(text)
                );
                return Err(Error::input(&self.path, problem));
            }
            Ok(convert(text))
        };
        self.rows[..count].iter().map(text).collect()
    }
}

impl Blocks for TextReader {
    fn columns(&self) -> usize {
        self.layout.variables.len()
    }

    fn next(&mut self, rows: usize) -> Result<Option<Table>> {
        let p = self.layout.variables.len();
        let mut values = room(rows.saturating_mul(p));
        let (mut labels, mut ids, mut read) = (Vec::new(), Vec::new(), 0);
        let (mut groups, mut batches) = (Vec::new(), Vec::new());
        while read < rows {
            let count = self.split(rows - read)?;
            if count == 0 {
                break;
            }
            self.numbers(count, &mut values)?;
            if let Some(at) = self.layout.label {
                let comma = self.records.decimal_comma;
                let is_number =
                    |text: &str| comma && number(text.as_bytes(), true).is_some_and(f64::is_finite);
                labels.extend(self.texts(at, count, |text| match is_number(text) {
                    true => labels::normal(&text.replace(',', ".")),
                    false => labels::normal(text),
                })?);
            }
            if let Some(at) = self.layout.id {
                ids.extend(self.texts(at, count, |id| id.trim().to_owned())?);
            }
            if let Some(at) = self.layout.groups {
                groups.extend(self.texts(at, count, labels::normal)?);
            }
            if let Some(at) = self.layout.batch {
                batches.extend(self.texts(at, count, labels::normal)?);
            }
            read += count;
        }
        if read == 0 {
            return Ok(None);
        }
        let mut table = Table::new(&self.path, values, read, p);
        table.labels = self.layout.label.map(|_| labels);
        table.ids = self.layout.id.map(|_| Ids { name: self.layout.id_name.clone(), values: ids });
        table.groups = self.layout.groups.map(|_| groups);
        table.batches = self.layout.batch.map(|_| batches);
        table.feature_names = self.named.then(|| self.layout.names.clone());
        table.notices = std::mem::take(&mut self.layout.notices);
        Ok(Some(table))
    }

    fn id_name(&self) -> Option<&str> {
        self.layout.id.map(|_| self.layout.id_name.as_str())
    }

    fn progress(&self) -> (u64, u64) {
        self.meter.progress()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, options: &ReadOptions) -> Result<Table> {
        read_csv(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())), Path::new("test.csv"), options)
    }

    #[test]
    fn quotes_spaces_and_missing_values() {
        let table =
            read("\"a,1\",label, b\n 1.5 ,\"x \"\"y\"\", z\",NA\n-2e3,<b>,\n", &ReadOptions::default())
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
        assert!(message("a,b\n1,2\n3\n").contains("line 3 has 1 fields, but there are 2 columns"));
        assert!(message("label\nx\n").contains("no variables"));
        let drop = ReadOptions { drop: vec!["q".into()], ..ReadOptions::default() };
        assert!(read("a,b\n1,2\n", &drop).unwrap_err().to_string().contains("\"q\""));
    }
}
