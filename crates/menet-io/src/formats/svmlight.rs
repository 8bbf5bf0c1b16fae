//! svmlight/libsvm: `label index:value index:value ... # comment`.

use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Format, MOST_VALUES, ReadOptions, Reader, open};
use crate::error::{Error, Result};
use crate::table::Table;

/// Sparse text.
pub const SVMLIGHT: Format = Format {
    name: "svmlight",
    endings: &[".svm", ".libsvm", ".svmlight", ".svm.gz", ".libsvm.gz"],
    summary: "sparse text, `label index:value ...`, indices from 1 unless --zero-based",
    reader: Reader::Whole(read),
};

fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let first = usize::from(!options.zero_based);
    let (mut labels, mut entries) = (Vec::new(), Vec::new());
    let mut columns = 0;
    let mut reader = BufReader::new(open(path)?);
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        if reader.read_line(&mut line).map_err(|e| Error::input(path, format!("line {number}: {e}")))? == 0 {
            break;
        }
        let invalid = |what: String| Error::input(path, format!("line {number}: {what}"));
        let text = line.split('#').next().unwrap_or_default();
        let mut fields = text.split_ascii_whitespace();
        let Some(label) = fields.next() else { continue };
        for field in fields.filter(|field| !field.starts_with("qid:")) {
            let pair = field.split_once(':').and_then(|(index, value)| {
                Some((index.parse::<usize>().ok()?, fast_float2::parse::<f64, _>(value).ok()?))
            });
            let Some((index, value)) = pair.filter(|(_, value)| value.is_finite()) else {
                return Err(invalid(format!("{field:?} is not index:value with a finite number")));
            };
            let Some(column) = index.checked_sub(first) else {
                return Err(invalid("index 0, but indices begin at 1; use --zero-based".to_owned()));
            };
            columns = columns.max(column.saturating_add(1));
            entries.push((labels.len(), column, value));
        }
        labels.push(canonical(label));
    }
    let rows = labels.len();
    if rows == 0 || columns == 0 {
        return Err(Error::input(path, format!("{rows} samples of {columns} variables: there are no data")));
    }
    if rows.checked_mul(columns).is_none_or(|size| size > MOST_VALUES) {
        return Err(Error::input(
            path,
            format!("{rows} samples of {columns} variables are too many to hold dense"),
        ));
    }
    let mut values = vec![0.0; rows * columns];
    for (row, column, value) in entries {
        values[row * columns + column] = value;
    }
    let source = path.display().to_string();
    Ok(Table { source, values, rows, columns, labels: Some(labels), feature_names: None, image_shape: None })
}

/// `+1`, `1` and `1.0` are one class.
fn canonical(label: &str) -> String {
    label.parse::<f64>().ok().filter(|x| x.is_finite()).map_or_else(|| label.to_owned(), |x| x.to_string())
}
