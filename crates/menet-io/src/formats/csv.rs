//! Comma- and tab-separated text with a header, packed or not.

use std::io::Read;
use std::path::Path;

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

/// What a column is.
enum Role {
    Label,
    Dropped,
    Variable,
}

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
    let roles = roles(&header, path, options)?;
    let names: Vec<String> = header
        .iter()
        .zip(&roles)
        .filter(|(_, role)| matches!(role, Role::Variable))
        .map(|(name, _)| name.to_owned())
        .collect();
    let has_label = roles.iter().any(|role| matches!(role, Role::Label));
    if names.is_empty() {
        return Err(Error::input(path, format!("there are no variables among its {} columns", header.len())));
    }
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(invalid)? {
        for (at, (field, role)) in record.iter().zip(&roles).enumerate() {
            match role {
                Role::Dropped => {}
                Role::Label => labels.push(String::from_utf8_lossy(field).into_owned()),
                Role::Variable => values.push(number(field).ok_or_else(|| {
                    let line = record.position().map_or(0, csv::Position::line);
                    let (name, text) = (&header[at], String::from_utf8_lossy(field));
                    let problem = format!(
                        "line {line}, column {name:?}: {text:?} is not a finite number; leave the column out with \
                         --drop {name:?} or name it with --label"
                    );
                    Error::input(path, problem)
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
        values,
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

/// What each column is, by the header.
fn roles(header: &csv::StringRecord, path: &Path, options: &ReadOptions) -> Result<Vec<Role>> {
    if header.is_empty() {
        return Err(Error::input(path, "the file is empty"));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = header.iter().find(|name| !seen.insert(*name)) {
        return Err(Error::input(path, format!("the column name {name:?} appears more than once")));
    }
    if let Some(name) = options.drop.iter().find(|name| !seen.contains(name.as_str())) {
        return Err(Error::input(path, format!("there is no column {name:?} to leave out")));
    }
    Ok(header
        .iter()
        .map(|name| match name {
            name if options.drop.iter().any(|drop| drop == name) => Role::Dropped,
            name if name == options.label => Role::Label,
            _ => Role::Variable,
        })
        .collect())
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
        assert_eq!((table.values[0], table.values[2]), (1.5, -2000.0));
        assert!(table.values[1].is_nan() && table.values[3].is_nan());
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
