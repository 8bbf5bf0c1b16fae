//! NumPy's arrays, and `.npy` files.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use npyz::{Deserialize, NpyFile, NpyHeader, Order, TypeRead};

use super::{Format, MOST_VALUES, Reader};
use crate::blocks::{Blocks, OneBlock, room, whole};
use crate::error::{Error, Result};
use crate::source::open_file;
use crate::table::Table;
use crate::{labels, memory};

/// One array.
pub const NPY: Format = Format {
    name: "npy",
    endings: &[".npy"],
    summary: "NumPy array, samples in rows; the labels come from --labels FILE",
    reader: Reader::Blocks(|path, options| {
        let mut array = Array::open(path)?;
        if options.transpose {
            return Ok(OneBlock::boxed(whole(&mut array, path)?.transposed()?));
        }
        Ok(Box::new(array))
    }),
};

/// What the array of a `.npy` file is called in messages.
const ARRAY: &str = "the array";

/// Numbers that are converted at a time.
const PIECE: usize = 1 << 15;

/// Columns in Fortran order that are read before they are written as parts of rows.
const ACROSS: usize = 16;

/// Samples of an array: n×p, or n×height×width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    columns: usize,
    image: Option<(usize, usize)>,
    order: Order,
}

impl Shape {
    pub(super) fn of(header: &NpyHeader, what: &str, path: &Path) -> Result<Self> {
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
    pub(super) fn in_rows(self, values: Vec<f64>) -> Vec<f64> {
        match self.order {
            Order::C => values,
            Order::Fortran => (0..self.rows)
                .flat_map(|i| (0..self.columns).map(move |j| (i, j)))
                .map(|(i, j)| values[j * self.rows + i])
                .collect(),
        }
    }

    pub(super) fn table(self, rows: usize, values: Vec<f64>, path: &Path) -> Table {
        Table { image_shape: self.image, ..Table::new(path, values, rows, self.columns) }
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
        let file = open_file(path, "a NumPy array")?;
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
        if meta.is_file() && meta.len() > end as u64 {
            let more = meta.len() - end as u64;
            let problem = format!(
                "{more} bytes follow the array that its header describes; one array per file is read"
            );
            return Err(Error::input(path, problem));
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
                            values.push($convert(reader.read_one(&mut bytes)?)?);
                        }
                        Ok(())
                    });
                    return Ok(Numbers { size: size_of::<$kind>(), decode });
                })*
            };
        }
        first_of!(f64 => Ok::<f64, std::io::Error>, f32 => sure, half::f16 => sure, u8 => sure,
            i8 => sure, u16 => sure, i16 => sure, u32 => sure, i32 => sure,
            u64 => |x: u64| exact(x.into()), i64 => |x: i64| exact(x.into()), bool => |x: bool| sure(u8::from(x)));
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

fn sure(x: impl Into<f64>) -> std::io::Result<f64> {
    Ok(x.into())
}

/// A whole number that double precision holds.
fn exact(x: i128) -> std::io::Result<f64> {
    if x.abs() <= 1 << 53 {
        return Ok(x as f64);
    }
    let problem = format!("{x} is a whole number beyond 2^53, which would be rounded");
    Err(std::io::Error::new(ErrorKind::InvalidData, problem))
}

/// All numbers of an array, in the order of the file.
pub(super) fn numbers<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Vec<f64>> {
    let numbers = Numbers::of(file.header(), what, path)?;
    let count = claimed(file.len(), what, path)?;
    let mut values = Vec::new();
    memory::reserve(&mut values, count, path)?;
    numbers.read(&mut file.into_inner(), count, &mut values).map_err(|e| cut_short(what, path, &e))?;
    Ok(values)
}

/// Sees to it that nothing follows. An archive knows the checksum of an array only at its end.
pub(super) fn ended(reader: &mut impl Read, what: &str, path: &Path) -> Result<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(Error::input(path, format!("more bytes follow {what} than its header describes"))),
        Err(e) => Err(cut_short(what, path, &e)),
    }
}

/// Labels: numbers or truth values of any type, or texts, in their normal form.
pub(super) fn read_labels<R: Read>(file: NpyFile<R>, what: &str, path: &Path) -> Result<Vec<String>> {
    /// As many as the header claims.
    fn all<T: Deserialize, R: Read>(
        data: npyz::NpyReader<T, R>,
        what: &str,
        path: &Path,
        label: impl Fn(T) -> String,
    ) -> Result<Vec<String>> {
        let count = claimed(data.total_len(), what, path)?;
        data.take(count).map(|value| value.map(&label).map_err(|e| cut_short(what, path, &e))).collect()
    }
    macro_rules! first_of {
        ($file:expr, $($kind:ty => $label:expr),*) => {{
            let file = $file;
            $(let file = match file.try_data::<$kind>() {
                Ok(data) => return all(data, what, path, $label),
                Err(file) => file,
            };)*
            file
        }};
    }
    let whole = |x: i128| x.to_string();
    let file = first_of!(file, String => |text: String| labels::normal(&text),
        Vec<u8> => |bytes: Vec<u8>| labels::normal(&String::from_utf8_lossy(&bytes)), bool => labels::from_bool,
        i64 => |x: i64| whole(x.into()), u64 => |x: u64| whole(x.into()), i32 => |x: i32| whole(x.into()),
        u32 => |x: u32| whole(x.into()), u8 => |x: u8| whole(x.into()));
    Ok(numbers(file, what, path)?.into_iter().map(labels::from_number).collect())
}

/// The number of values a header claims, if it is to be believed.
fn claimed(count: u64, what: &str, path: &Path) -> Result<usize> {
    match usize::try_from(count) {
        Ok(count) if count <= MOST_VALUES => Ok(count),
        _ => Err(Error::input(path, format!("{what} claims {count} values"))),
    }
}

fn cut_short(what: &str, path: &Path, e: &std::io::Error) -> Error {
    if e.kind() == ErrorKind::InvalidData {
        return Error::input(path, format!("{what} cannot be read: {e}"));
    }
    Error::input(path, format!("{what} is cut short or damaged: {e}"))
}
