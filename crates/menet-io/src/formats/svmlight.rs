//! svmlight/libsvm: `label index:value index:value ... # comment`.

use std::io::{BufRead, BufReader};
use std::path::Path;

use menet::dataset::DENSE_BYTES;
use menet::sparse::SparseMatrix;

use super::{Format, ReadOptions, Reader, refuse_transpose};
use crate::error::{Error, Result, short};
use crate::labels;
use crate::source::{BoundedReader, open};
use crate::table::{Table, TableValues};

/// The most bytes per line.
const LINE: u64 = 256 << 20;

/// The most variables. Larger indices are not believed.
const MOST_VARIABLES: usize = 1 << 27;

/// Sparse text.
pub const SVMLIGHT: Format = Format {
    name: "svmlight",
    endings: &[".svm", ".libsvm", ".svmlight"],
    summary: "sparse text, `label index:value ...`, indices from 1 unless --zero-based",
    reader: Reader::Whole(read),
};

fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    refuse_transpose("the lines of an svmlight file", path, options)?;
    let first = usize::from(!options.zero_based);
    let (mut labels, mut starts) = (Vec::new(), vec![0]);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let mut columns = options.least_columns;
    let mut reader = BufReader::new(BoundedReader::new(open(path)?, LINE));
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        reader.get_mut().allow(LINE);
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
                return Err(invalid(format!("{:?} is not index:value with a finite number", short(field))));
            };
            let Some(column) = index.checked_sub(first) else {
                return Err(invalid(
                    "index 0, but indices begin at 1; if they begin at 0, give --zero-based".to_owned(),
                ));
            };
            if column >= MOST_VARIABLES {
                return Err(invalid(format!(
                    "index {index}: at most {MOST_VARIABLES} variables are allowed"
                )));
            }
            columns = columns.max(column + 1);
            indices.push(column as u32);
            values.push(value);
        }
        let mut own = indices[starts[labels.len()]..].to_vec();
        own.sort_unstable();
        if let Some(twice) = own.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(invalid(format!("index {} is given twice", twice[0] as usize + first)));
        }
        starts.push(indices.len());
        labels.push(labels::normal(label));
    }
    let rows = labels.len();
    if rows == 0 || columns == 0 {
        return Err(Error::input(path, format!("there are no data: {rows} samples of {columns} variables")));
    }
    let values: TableValues = if rows.saturating_mul(columns) > DENSE_BYTES / size_of::<f64>() {
        let matrix = SparseMatrix::from_rows((rows, columns), &starts, &indices, &values);
        TableValues::Sparse(matrix.map_err(|e| Error::input(path, e))?)
    } else {
        let mut dense = vec![0.0; rows * columns];
        for (row, dense) in dense.chunks_mut(columns).enumerate() {
            for at in starts[row]..starts[row + 1] {
                dense[indices[at] as usize] = values[at];
            }
        }
        dense.into()
    };
    Ok(Table { labels: Some(labels), ..Table::new(path, values, rows, columns) })
}
