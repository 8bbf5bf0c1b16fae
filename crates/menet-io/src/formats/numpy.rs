//! NumPy's `.npy` and `.npz`.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use npyz::npz::NpzArchive;
use npyz::{Deserialize, NpyFile, NpyHeader, Order, TypeRead};

use super::{Format, MOST_VALUES, ReadOptions, Reader};
use crate::blocks::{Blocks, room};
use crate::error::{Error, Result};
use crate::table::Table;

/// Named arrays.
pub const NPZ: Format = Format {
    name: "npz",
    endings: &[".npz"],
    summary: "NumPy archive with `X` (samples in rows) and `y`; `h` and `w` give the image shape",
    reader: Reader::Whole(|path, options| {
        let file = File::open(path).map_err(|e| Error::input(path, e))?;
        read_npz_from(BufReader::new(file), path, options)
    }),
};

/// One array.
pub const NPY: Format = Format {
    name: "npy",
    endings: &[".npy"],
    summary: "NumPy array, samples in rows; the labels come from --labels FILE",
    reader: Reader::Blocks(|path, _| Ok(Box::new(Array::open(path)?))),
};

/// What the array of a `.npy` file is called in messages.
const ARRAY: &str = "the array";

/// Numbers that are converted at a time.
const PIECE: usize = 1 << 15;

/// Columns in Fortran order that are read before they are written as parts of rows.
const ACROSS: usize = 16;

/// Reads an archive.
///
/// # Errors
/// When an array is missing, or is not what it should be.
pub fn read_npz_from(reader: impl Read + Seek, path: &Path, options: &ReadOptions) -> Result<Table> {
    let invalid = |e: std::io::Error| Error::input(path, format!("not a readable npz archive: {e}"));
    let mut archive = NpzArchive::new(reader).map_err(invalid)?;
    let (x_key, y_key) = (options.x_key.as_deref().unwrap_or("X"), options.y_key.as_deref().unwrap_or("y"));
    let names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    let (shape, values) = match archive.by_name(x_key).map_err(invalid)? {
        Some(file) => {
            let what = format!("the array {x_key:?}");
            let shape = Shape::of(file.header(), &what, path)?;
            (shape, shape.in_rows(numbers(file, &what, path)?))
        }
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
                let values = numbers(file, &format!("the array {name:?}"), path)?;
                let whole = |x: &f64| x.fract() == 0.0 && *x >= 1.0 && *x < 1e9;
                match values.as_slice() {
                    [x] if whole(x) => Ok(Some(*x as usize)),
                    _ => Err(Error::input(path, format!("the array {name:?} is not one whole number >= 1"))),
                }
            }
            None => Ok(None),
        }
    };
    let image = side("h")?.zip(side("w")?);
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != shape.rows) {
        return Err(Error::input(path, format!("{} labels for {} samples", labels.len(), shape.rows)));
    }
    let mut table = Table { labels, ..shape.table(shape.rows, values, path) };
    if let Some((height, width)) = image {
        table.set_image_shape(height, width)?;
    }
    Ok(table)
}

/// Samples of an array: n×p, or n×height×width.
#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    image: Option<(usize, usize)>,
    order: Order,
}

impl Shape {
    fn of(header: &NpyHeader, what: &str, path: &Path) -> Result<Self> {
        let shape: Vec<usize> =
            header.shape().iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
        let (rows, columns, image) = match shape[..] {
            [n, p] => (n, p, None),
            [n, h, w] => (n, h.saturating_mul(w), Some((h, w))),
            _ => {
                let problem =
                    format!("{what} has shape {shape:?}; samples in rows have two dimensions (images three)");
                return Err(Error::input(path, problem));
            }
        };
        if rows == 0 || columns == 0 {
            return Err(Error::input(path, format!("{what} is empty, of shape {shape:?}")));
        }
        if columns > MOST_VALUES
            || rows.checked_mul(columns).is_none_or(|size| size > isize::MAX as usize / 8)
        {
            return Err(Error::input(path, format!("{what} claims the shape {shape:?}")));
        }
        let order = header.order();
        if order == Order::Fortran && image.is_some() {
            let problem = format!("{what} has three dimensions in Fortran order; save it in C order");
            return Err(Error::input(path, problem));
        }
        Ok(Shape { rows, columns, image, order })
    }

    /// The whole array, row after row.
    fn in_rows(self, values: Vec<f64>) -> Vec<f64> {
        match self.order {
            Order::C => values,
            Order::Fortran => (0..self.rows)
                .flat_map(|i| (0..self.columns).map(move |j| (i, j)))
                .map(|(i, j)| values[j * self.rows + i])
                .collect(),
        }
    }

    fn table(self, rows: usize, values: Vec<f64>, path: &Path) -> Table {
        Table {
            source: path.display().to_string(),
            values: values.into(),
            rows,
            columns: self.columns,
            labels: None,
            feature_names: None,
            image_shape: self.image,
        }
    }
}

/// An `.npy` file of which the header has been read.
struct Array {
    path: PathBuf,
    reader: BufReader<File>,
    shape: Shape,
    numbers: Numbers,
    /// Where the numbers begin.
    start: u64,
    /// Samples so far.
    read: usize,
}

impl Array {
    fn open(path: &Path) -> Result<Self> {
        let invalid = |e: std::io::Error| Error::input(path, e);
        let file = File::open(path).map_err(invalid)?;
        let file = NpyFile::new(BufReader::with_capacity(1 << 16, file)).map_err(invalid)?;
        let shape = Shape::of(file.header(), ARRAY, path)?;
        let numbers = Numbers::of(file.header(), ARRAY, path)?;
        let mut reader = file.into_inner();
        let meta = reader.get_ref().metadata().map_err(invalid)?;
        let start = if meta.is_file() { reader.stream_position().map_err(invalid)? } else { 0 };
        let end = start as usize + shape.rows * shape.columns * numbers.size;
        if meta.is_file() && meta.len() < end as u64 {
            return Err(cut_short(ARRAY, path, &ErrorKind::UnexpectedEof.into()));
        }
        Ok(Array { path: path.to_owned(), reader, shape, numbers, start, read: 0 })
    }

    /// Rows in Fortran order: a piece of every column, [`ACROSS`] at a time, so that rows are written in runs.
    fn across(&mut self, rows: usize) -> std::io::Result<Vec<f64>> {
        let (n, p) = (self.shape.rows, self.shape.columns);
        let mut values = vec![0.0; rows * p];
        let mut pieces = Vec::new();
        for first in (0..p).step_by(ACROSS) {
            pieces.clear();
            let width = ACROSS.min(p - first);
            for column in first..first + width {
                let at = ((column * n + self.read) * self.numbers.size) as u64;
                self.reader.seek(SeekFrom::Start(self.start + at))?;
                self.numbers.read(&mut self.reader, rows, &mut pieces)?;
            }
            for (i, row) in values.chunks_mut(p).enumerate() {
                for (k, value) in row[first..first + width].iter_mut().enumerate() {
                    *value = pieces[k * rows + i];
                }
            }
        }
        Ok(values)
    }
}

impl Blocks for Array {
    fn columns(&self) -> usize {
        self.shape.columns
    }

    fn next(&mut self, rows: usize) -> Result<Option<Table>> {
        let rows = rows.min(self.shape.rows - self.read);
        if rows == 0 {
            return Ok(None);
        }
        let values = match self.shape.order {
            Order::Fortran => self.across(rows),
            Order::C => {
                let count = rows * self.shape.columns;
                let mut values = room(count);
                self.numbers.read(&mut self.reader, count, &mut values).map(|()| values)
            }
        };
        let values = values.map_err(|e| cut_short(ARRAY, &self.path, &e))?;
        self.read += rows;
        Ok(Some(self.shape.table(rows, values, &self.path)))
    }

    fn progress(&self) -> (u64, u64) {
        (self.read as u64, self.shape.rows as u64)
    }
}

/// How the numbers of an array are read, of whichever type they are.
struct Numbers {
    /// Bytes of one.
    size: usize,
    decode: Decode,
}

type Decode = Box<dyn Fn(&[u8], &mut Vec<f64>) -> std::io::Result<()> + Send>;

impl Numbers {
    fn of(header: &NpyHeader, what: &str, path: &Path) -> Result<Self> {
        let dtype = header.dtype();
        macro_rules! first_of {
            ($($kind:ty => $convert:expr),*) => {
                $(if let Ok(reader) = <$kind>::reader(&dtype) {
                    let decode: Decode = Box::new(move |mut bytes, values| {
                        while !bytes.is_empty() {
                            values.push($convert(reader.read_one(&mut bytes)?));
                        }
                        Ok(())
                    });
                    return Ok(Numbers { size: size_of::<$kind>(), decode });
                })*
            };
        }
        first_of!(f64 => |x: f64| x, f32 => f64::from, u8 => f64::from, i8 => f64::from, u16 => f64::from,
            i16 => f64::from, u32 => f64::from, i32 => f64::from, u64 => |x: u64| x as f64,
            i64 => |x: i64| x as f64, bool => |x: bool| f64::from(u8::from(x)));
        Err(Error::input(path, format!("{what} is of type {}, which is not a number", dtype.descr())))
    }

    /// Reads piece by piece: a header that claims absurd sizes meets the end of the file, not the end of memory.
    fn read(&self, reader: &mut impl Read, count: usize, values: &mut Vec<f64>) -> std::io::Result<()> {
        let mut buffer = vec![0; self.size * count.min(PIECE)];
        let mut left = count;
        while left > 0 {
            let piece = &mut buffer[..self.size * left.min(PIECE)];
            reader.read_exact(piece)?;
            (self.decode)(piece, values)?;
            left -= left.min(PIECE);
        }
        Ok(())
    }
}

/// All numbers of an array, in the order of the file.
fn numbers<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Vec<f64>> {
    let numbers = Numbers::of(file.header(), what, path)?;
    let count = claimed(file.len(), what, path)?;
    let mut values = Vec::new();
    numbers.read(&mut file.into_inner(), count, &mut values).map_err(|e| cut_short(what, path, &e))?;
    Ok(values)
}

/// Labels: whole numbers of any type, or strings.
fn read_labels<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Vec<String>> {
    match file.try_data::<String>() {
        Ok(data) => {
            claimed(data.total_len(), what, path)?;
            data.map(|label| label.map_err(|e| cut_short(what, path, &e))).collect()
        }
        Err(file) => Ok(numbers(file, what, path)?.iter().map(f64::to_string).collect()),
    }
}

/// The number of values a header claims, if it is to be believed.
fn claimed(count: u64, what: &str, path: &Path) -> Result<usize> {
    match usize::try_from(count) {
        Ok(count) if count <= MOST_VALUES => Ok(count),
        _ => Err(Error::input(path, format!("{what} claims {count} values"))),
    }
}

fn cut_short(what: &str, path: &Path, e: &std::io::Error) -> Error {
    Error::input(path, format!("{what} is cut short or damaged: {e}"))
}
