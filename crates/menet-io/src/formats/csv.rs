//! Comma- and tab-separated text with a header, packed or not.

use std::io::Read;
use std::path::Path;

use super::columns::{Role, not_a_number, roles, variables};
use super::{Format, ReadOptions, open};
use crate::error::{Error, Result};
use crate::table::Table;

/// Comma-separated.
pub const CSV: Format = Format {
    name: "csv",
    endings: &[".csv", ".csv.gz"],
    summary: "comma-separated text with a header; the column `label` holds the classes",
    read: |path, options| read_from(open(path)?, b',', path, options),
};

/// Tab-separated.
pub const TSV: Format = Format {
    name: "tsv",
    endings: &[".tsv", ".tsv.gz"],
    summary: "tab-separated text with a header",
    read: |path, options| read_from(open(path)?, b'\t', path, options),
};

/// Texts that stand for a missing value.
const MISSING: [&[u8]; 6] = [b"", b"NA", b"NaN", b"nan", b"null", b"?"];

/// Reads separated text.
///
/// # Errors
/// When it is empty or ragged, a column name repeats, or a field is not a number.
pub fn read_from(reader: impl Read, delimiter: u8, path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 18).from_reader(reader);
    let invalid = |e: csv::Error| Error::input(path, e);
    let header = reader.headers().map_err(invalid)?.clone();
    let columns: Vec<&str> = header.iter().collect();
    let signs = [(';', "semicolons"), ('\t', "tabs"), (',', "commas"), ('|', "bars")];
    if let [only] = columns[..]
        && let Some((_, name)) = signs.iter().find(|(sign, _)| only.contains(*sign))
    {
        let problem = format!(
            "its header {only:?} is one column, but looks separated by {name}; .csv files are separated by commas (and \
             numbers have a decimal point), .tsv files by tabs"
        );
        return Err(Error::input(path, problem));
    }
    let roles = roles(&columns, path, options)?;
    let names = variables(&columns, &roles);
    let has_label = roles.contains(&Role::Label);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(invalid)? {
        for (at, (field, role)) in record.iter().zip(&roles).enumerate() {
            match role {
                Role::Dropped => {}
                Role::Label => labels.push(String::from_utf8_lossy(field).into_owned()),
                Role::Variable => values.push(number(field).ok_or_else(|| {
                    let line = record.position().map_or(0, csv::Position::line);
                    let problem = not_a_number(&header[at], &String::from_utf8_lossy(field));
                    Error::input(path, format!("line {line}, {problem}"))
                })?),
            }
        }
    }
    let rows = values.len() / names.len();
    if rows == 0 {
        return Err(Error::input(path, "there is a header but no data"));
    }
    Ok(Table {
        source: path.display().to_string(),
        values: values.into(),
        rows,
        columns: names.len(),
        labels: has_label.then_some(labels),
        feature_names: Some(names),
        image_shape: None,
    })
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
