//! NumPy's `.npy` and `.npz`.

use std::io::{Read, Seek};
use std::path::Path;

use npyz::npz::NpzArchive;
use npyz::{Deserialize, NpyFile, Order};

use super::{Format, MOST_VALUES, ReadOptions, open};
use crate::error::{Error, Result};
use crate::table::Table;

/// Named arrays.
pub const NPZ: Format = Format {
    name: "npz",
    endings: &[".npz"],
    summary: "NumPy archive with `X` (samples in rows) and `y`; `h` and `w` give the image shape",
    read: |path, options| {
        let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
        read_npz_from(std::io::BufReader::new(file), path, options)
    },
};

/// One array.
pub const NPY: Format = Format {
    name: "npy",
    endings: &[".npy"],
    summary: "NumPy array, samples in rows; the labels come from --labels FILE",
    read: |path, _| {
        let file = NpyFile::new(open(path)?).map_err(|e| Error::input(path, e))?;
        Samples::read(file, "the array", path)?.table(path, None)
    },
};

/// Reads an archive.
///
/// # Errors
/// When an array is missing, or is not what it should be.
pub fn read_npz_from(reader: impl Read + Seek, path: &Path, options: &ReadOptions) -> Result<Table> {
    let invalid = |e: std::io::Error| Error::input(path, format!("not a readable npz archive: {e}"));
    let mut archive = NpzArchive::new(reader).map_err(invalid)?;
    let (x_key, y_key) = (options.x_key.as_deref().unwrap_or("X"), options.y_key.as_deref().unwrap_or("y"));
    let names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    let samples = match archive.by_name(x_key).map_err(invalid)? {
        Some(file) => Samples::read(file, &format!("the array {x_key:?}"), path)?,
        None => {
            let problem = format!("there is no array {x_key:?} among {names:?}; name it with --x-key");
            return Err(Error::input(path, problem));
        }
    };
    let labels = match archive.by_name(y_key).map_err(invalid)? {
        Some(file) => Some(read_labels(file, &format!("the array {y_key:?}"), path)?),
        None if options.y_key.is_some() => {
            return Err(Error::input(path, format!("there is no array {y_key:?} among {names:?}")));
        }
        None => None,
    };
    let mut side = |name: &str| -> Result<Option<usize>> {
        match archive.by_name(name).map_err(invalid)? {
            Some(file) => {
                let (values, _) = numbers(file, &format!("the array {name:?}"), path)?;
                let whole = |x: &f64| x.fract() == 0.0 && *x >= 1.0 && *x < 1e9;
                match values.as_slice() {
                    [x] if whole(x) => Ok(Some(*x as usize)),
                    _ => Err(Error::input(path, format!("the array {name:?} is not one whole number >= 1"))),
                }
            }
            None => Ok(None),
        }
    };
    let shape = side("h")?.zip(side("w")?);
    let mut table = samples.table(path, labels)?;
    if let Some((height, width)) = shape {
        table.set_image_shape(height, width)?;
    }
    Ok(table)
}

/// Samples as they stand in an array.
struct Samples {
    values: Vec<f64>,
    rows: usize,
    columns: usize,
    image_shape: Option<(usize, usize)>,
}

impl Samples {
    /// n×p, or n×height×width.
    fn read<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Self> {
        let shape: Vec<usize> =
            file.shape().iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
        let (rows, columns, image_shape) = match shape[..] {
            [n, p] => (n, p, None),
            [n, h, w] => (n, h.saturating_mul(w), Some((h, w))),
            _ => {
                let problem =
                    format!("{what} has shape {shape:?}; samples in rows have two dimensions (images three)");
                return Err(Error::input(path, problem));
            }
        };
        let (values, order) = numbers(file, what, path)?;
        if rows == 0 || columns == 0 {
            return Err(Error::input(path, format!("{what} is empty, of shape {shape:?}")));
        }
        let values = match order {
            Order::C => values,
            Order::Fortran if image_shape.is_none() => (0..rows)
                .flat_map(|i| (0..columns).map(move |j| (i, j)))
                .map(|(i, j)| values[j * rows + i])
                .collect(),
            Order::Fortran => {
                return Err(Error::input(
                    path,
                    format!("{what} has three dimensions in Fortran order; save it in C order"),
                ));
            }
        };
        Ok(Samples { values, rows, columns, image_shape })
    }

    fn table(self, path: &Path, labels: Option<Vec<String>>) -> Result<Table> {
        if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != self.rows) {
            return Err(Error::input(path, format!("{} labels for {} samples", labels.len(), self.rows)));
        }
        Ok(Table {
            source: path.display().to_string(),
            values: self.values.into(),
            rows: self.rows,
            columns: self.columns,
            labels,
            feature_names: None,
            image_shape: self.image_shape,
        })
    }
}

/// The numbers of an array of any numeric type, in the order of the file.
fn numbers<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<(Vec<f64>, Order)> {
    let order = file.order();
    macro_rules! first_of {
        ($file:ident: $($kind:ty => $convert:expr),*) => {{
            $(let $file = match $file.try_data::<$kind>() {
                Ok(data) => return Ok((collect(data, $convert, what, path)?, order)),
                Err(file) => file,
            };)*
            $file
        }};
    }
    let file = first_of!(file:
        f64 => |x| x, f32 => f64::from, u8 => f64::from, i8 => f64::from, u16 => f64::from, i16 => f64::from,
        u32 => f64::from, i32 => f64::from, u64 => |x| x as f64, i64 => |x| x as f64,
        bool => |x| f64::from(u8::from(x)));
    let problem = format!("{what} is of type {}, which is not a number", file.dtype().descr());
    Err(Error::input(path, problem))
}

/// Labels: whole numbers of any type, or strings.
fn read_labels<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Vec<String>> {
    match file.try_data::<String>() {
        Ok(data) => collect(data, |x| x, what, path),
        Err(file) => Ok(numbers(file, what, path)?.0.iter().map(f64::to_string).collect()),
    }
}

/// Reads element by element: a header that claims absurd sizes meets the end of the file, not the end of memory.
fn collect<T: Deserialize, U>(
    data: npyz::NpyReader<T, impl Read>,
    convert: impl Fn(T) -> U,
    what: &str,
    path: &Path,
) -> Result<Vec<U>> {
    if data.total_len() > MOST_VALUES as u64 {
        return Err(Error::input(path, format!("{what} claims {} values", data.total_len())));
    }
    let mut values = Vec::new();
    for value in data {
        values.push(convert(
            value.map_err(|e| Error::input(path, format!("{what} is cut short or damaged: {e}")))?,
        ));
    }
    Ok(values)
}
