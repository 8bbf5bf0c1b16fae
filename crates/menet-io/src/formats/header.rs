//! Whether the first line of a text file is a header or a sample.

use std::path::Path;

use super::ReadOptions;
use super::dialect::{line, number, utf8};
use crate::error::{Error, Result, short};

/// With at least this many increasing or decreasing numbers, a first line is taken for names such as wavelengths.
const SCALE: usize = 8;

/// The contents of the first line.
#[derive(Debug)]
pub(super) struct Header {
    /// The names of the columns, or their numbers from 1 without a header.
    pub(super) names: Vec<String>,
    /// Whether the first line is a sample.
    pub(super) is_data: bool,
    pub(super) notice: Option<String>,
}

/// Interprets the first line, with the help of the second.
///
/// # Errors
/// When it is not UTF-8, or looks like a sample and no option says what it is.
pub(super) fn header(
    first: &csv::ByteRecord,
    second: Option<&csv::ByteRecord>,
    path: &Path,
    options: &ReadOptions,
) -> Result<Header> {
    if options.no_header {
        let names = (1..=first.len()).map(|number| number.to_string()).collect();
        return Ok(Header { names, is_data: true, notice: None });
    }
    let name = |(at, field): (usize, &[u8])| {
        utf8(field, first, &(at + 1).to_string(), path).map(|name| name.trim().to_owned())
    };
    let mut names: Vec<String> = first.iter().enumerate().map(name).collect::<Result<_>>()?;
    let notice = if options.header { None } else { check(&names, path, options)? };
    // R's write.table leaves out the name of the column of row names. A delimiter at the end of lines, or a decimal comma, looks
    // similar, but then the first field is not text or the last field is empty.
    if let Some(second) = second.filter(|second| second.len() == names.len() + 1) {
        let text = |field: &[u8]| number(field, options.decimal_comma).is_none();
        let named = second.get(0).is_some_and(text);
        if !named || second.get(second.len() - 1).is_none_or(|last| last.trim_ascii().is_empty()) {
            let problem = format!(
                "line {} has {} fields, but the header {}: does a line end in a delimiter, is there a decimal comma, or has the \
                 column of row names no name?",
                line(second),
                second.len(),
                names.len()
            );
            return Err(Error::input(path, problem));
        }
        names.insert(0, String::new());
    }
    Ok(Header { names, is_data: false, notice })
}

/// Refuses a first line that looks like a sample; returns a notice if it may be one.
pub(super) fn check(names: &[String], path: &Path, options: &ReadOptions) -> Result<Option<String>> {
    let value = |name: &String| number(name.as_bytes(), options.decimal_comma).filter(|x| !x.is_nan());
    let numbers: Vec<f64> = names.iter().filter_map(value).collect();
    // Whole numbers are often names; other numbers rarely are.
    let fractions = numbers.iter().any(|x| x.fract() != 0.0);
    if numbers.is_empty() || 2 * numbers.len() < names.len() && !fractions {
        return Ok(None);
    }
    let steps = |ordered: fn(f64, f64) -> bool| numbers.windows(2).all(|pair| ordered(pair[0], pair[1]));
    let counted = (numbers[0] == 0.0 || numbers[0] == 1.0) && steps(|a, b| b == a + 1.0);
    let scale = numbers.len() >= SCALE && (steps(|a, b| a < b) || steps(|a, b| a > b));
    let shown: Vec<String> = names.iter().take(4).map(|name| short(name)).collect();
    let shown = shown.join(", ") + if names.len() > 4 { ", ..." } else { "" };
    if counted || scale {
        return Ok(Some(format!(
            "the first line ({shown}) is read as the names of the columns; if it is a sample, give --no-header"
        )));
    }
    let label = names.iter().rposition(|name| value(name).is_none()).unwrap_or(names.len() - 1) + 1;
    Err(Error::input(
        path,
        format!(
            "the first line ({shown}) looks like a sample, not like a header: {} of its {} fields are numbers; give \
             --no-header if there is no header (columns are then named by number, as in --label {label}), or --header if \
             these are names",
            numbers.len(),
            names.len()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(first: &[&str], second: &[&str], options: &ReadOptions) -> Result<Header> {
        let record = |fields: &[&str]| csv::ByteRecord::from(fields.to_vec());
        header(&record(first), Some(&record(second)), Path::new("t.csv"), options)
    }

    #[test]
    fn samples_are_told_from_names() {
        let auto = ReadOptions::default();
        let iris = ["5.1", "3.5", "1.4", "0.2", "setosa"];
        let message = read(&iris, &iris, &auto).unwrap_err().to_string();
        assert!(message.contains("--no-header") && message.contains("--label 5"), "{message}");
        let twice = ["M", "1", "0", "1"];
        assert!(read(&twice, &twice, &auto).unwrap_err().to_string().contains("--label 1"));
        let none = ReadOptions { no_header: true, ..ReadOptions::default() };
        let found = read(&iris, &iris, &none).unwrap();
        assert!(found.is_data);
        assert_eq!(found.names, ["1", "2", "3", "4", "5"]);
        let forced = ReadOptions { header: true, ..ReadOptions::default() };
        assert_eq!(read(&iris, &iris, &forced).unwrap().names, iris);
    }

    #[test]
    fn names_that_are_numbers() {
        let auto = ReadOptions::default();
        let pandas = ["label", "0", "1", "2"];
        assert!(read(&pandas, &pandas, &auto).unwrap().notice.unwrap().contains("--no-header"));
        let waves: Vec<String> = (0..9).map(|k| (2500 - 4 * k).to_string()).collect();
        let waves: Vec<&str> = waves.iter().map(String::as_str).collect();
        assert!(read(&waves, &waves, &auto).unwrap().notice.is_some());
        let genes = ["label", "a", "1", "b"];
        assert!(read(&genes, &genes, &auto).unwrap().notice.is_none());
    }

    #[test]
    fn one_fraction_is_enough_to_ask() {
        let first = ["s1", "1.5", "A"];
        assert!(
            read(&first, &first, &ReadOptions::default()).unwrap_err().to_string().contains("--no-header")
        );
    }

    #[test]
    fn a_decimal_comma_is_no_row_name() {
        let auto = ReadOptions::default();
        for second in [["1", "75", "m"], ["x", "75", ""]] {
            let message = read(&["height", "label"], &second, &auto).unwrap_err().to_string();
            assert!(message.contains("has 3 fields, but the header 2"), "{message}");
        }
    }

    #[test]
    fn row_names_of_r_have_no_name() {
        let found = read(&["a", "b"], &["row1", "1", "2"], &ReadOptions::default()).unwrap();
        assert_eq!(found.names, ["", "a", "b"]);
    }
}
