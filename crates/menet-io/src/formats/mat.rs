//! MATLAB's `.mat` files, version 5 (as `save -v6` and `-v7` write them): which of their variables are samples and labels.

mod parse;

use std::path::Path;

use menet::dataset::DENSE_BYTES;
use menet::sparse::SparseMatrix;

use super::columns::list;
use super::{Format, ReadOptions, Reader};
use crate::error::{Error, Result, short};
use crate::source::open;
use crate::table::{Table, TableValues};
use crate::{labels, memory};
use parse::{Numbers, Sparse, Variable, VariableContent, parse};

/// Named matrices.
pub const MAT: Format = Format {
    name: "mat",
    endings: &[".mat"],
    summary: "MATLAB file (version 5 to 7) with `fea` and `gnd`, `X` and `Y`, or --x-key and --y-key",
    reader: Reader::Whole(read),
};

fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let bytes = memory::read_to_end(&mut open(path)?, path)?;
    let variables = parse(&bytes, path)?;
    drop(bytes);
    let names: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
    let find = |asked: &Option<String>, usual: &[&str]| {
        let wanted: Vec<&str> = asked.as_deref().map_or_else(|| usual.to_vec(), |name| vec![name]);
        wanted.iter().find_map(|name| variables.iter().find(|variable| variable.name == *name))
    };
    let Some(x) = find(&options.x_key, &["X", "fea"]) else {
        let wanted = options.x_key.as_deref().unwrap_or("X or fea");
        let problem = format!(
            "there are no samples {wanted} among its variables {}; name the samples with --x-key",
            list(&names)
        );
        return Err(Error::input(path, problem));
    };
    let mut table = samples(x, path)?;
    if options.transpose {
        table = table.transposed()?;
    }
    match find(&options.y_key, &["y", "Y", "gnd"]) {
        Some(y) => table.set_labels(labels_of(y, path)?)?,
        None if options.y_key.is_some() => {
            let asked = options.y_key.as_deref().unwrap_or_default();
            return Err(Error::input(path, format!("there are no labels {asked:?} among {}", list(&names))));
        }
        None => {}
    }
    Ok(table)
}

/// A variable as a table, row by row.
fn samples(x: &Variable, path: &Path) -> Result<Table> {
    let name = short(&x.name);
    let &[rows, columns] = &x.dimensions[..] else {
        let problem = format!("{name} has {} dimensions, but samples need two", x.dimensions.len());
        return Err(Error::input(path, problem));
    };
    if rows == 0 || columns == 0 {
        return Err(Error::input(path, format!("{name} is empty, {rows} x {columns}")));
    }
    let values: TableValues = match &x.content {
        VariableContent::Full(numbers) => {
            let floats =
                numbers.floats().map_err(|problem| Error::input(path, format!("{name}: {problem}")))?;
            let mut values = Vec::new();
            memory::reserve(&mut values, floats.len(), path)?;
            for row in 0..rows {
                values.extend((0..columns).map(|column| floats[column * rows + row]));
            }
            values.into()
        }
        VariableContent::Sparse(sparse) => from_sparse(sparse, rows, columns, path)?,
        VariableContent::Texts(_) => {
            return Err(Error::input(path, format!("{name} holds text, not numbers")));
        }
        VariableContent::Other(kind) => {
            let problem =
                format!("{name} is {kind}, but samples must be a full or sparse matrix of real numbers");
            return Err(Error::input(path, problem));
        }
    };
    Ok(Table::new(path, values, rows, columns))
}

/// From columns to rows; dense if that is small, as for svmlight files.
fn from_sparse(x: &Sparse, rows: usize, columns: usize, path: &Path) -> Result<TableValues> {
    let entries = || {
        (0..columns).flat_map(|j| (x.starts[j]..x.starts[j + 1]).map(move |at| (x.rows[at], j, x.values[at])))
    };
    if let Some((i, j, value)) = entries().find(|(.., value)| !value.is_finite()) {
        let problem =
            format!("row {}, column {} of the sparse matrix: {value} is not a finite number", i + 1, j + 1);
        return Err(Error::input(path, problem));
    }
    if rows.saturating_mul(columns) <= DENSE_BYTES / size_of::<f64>() {
        let mut dense = vec![0.0; rows * columns];
        for (i, j, value) in entries() {
            dense[i * columns + j] = value;
        }
        return Ok(dense.into());
    }
    let mut starts = vec![0; rows + 1];
    for &i in &x.rows {
        starts[i + 1] += 1;
    }
    for i in 0..rows {
        starts[i + 1] += starts[i];
    }
    let (mut indices, mut values) = (vec![0; x.rows.len()], vec![0.0; x.rows.len()]);
    let mut next = starts.clone();
    for (i, j, value) in entries() {
        indices[next[i]] = j as u32;
        values[next[i]] = value;
        next[i] += 1;
    }
    let matrix = SparseMatrix::from_rows((rows, columns), &starts, &indices, &values);
    Ok(TableValues::Sparse(matrix.map_err(|e| Error::input(path, e))?))
}

fn labels_of(y: &Variable, path: &Path) -> Result<Vec<String>> {
    Ok(match &y.content {
        VariableContent::Full(Numbers::Floats(values)) => {
            values.iter().map(|&x| labels::from_number(x)).collect()
        }
        VariableContent::Full(Numbers::Integers(values)) => values.iter().map(i128::to_string).collect(),
        VariableContent::Full(Numbers::Truths(values)) => {
            values.iter().map(|&x| labels::from_bool(x)).collect()
        }
        VariableContent::Texts(texts) => texts.iter().map(|text| labels::normal(text)).collect(),
        VariableContent::Sparse(_) => {
            return Err(Error::input(
                path,
                format!("the labels {} are a sparse matrix; save them as a full vector", short(&y.name)),
            ));
        }
        VariableContent::Other(kind) => {
            let problem = format!(
                "the labels {} are {kind}, but must be numbers, a matrix of characters or a cell array of texts",
                short(&y.name)
            );
            return Err(Error::input(path, problem));
        }
    })
}
