//! NumPy's arrays, and `.npy` files.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::npy::{ElementKind, Header, MemoryOrder, Npy};
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
    order: MemoryOrder,
}

impl Shape {
    pub(super) fn of(header: &Header, what: &str, path: &Path) -> Result<Self> {
        let shape: Vec<usize> =
            header.shape.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
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
        let order = header.order;
        if order == MemoryOrder::Fortran && image.is_some() {
            let problem = format!("{what} has three dimensions in Fortran order; save it in C order");
            return Err(Error::input(path, problem));
        }
        Ok(Shape { rows, columns, image, order })
    }

    /// The whole array, row after row.
    pub(super) fn in_rows(self, values: Vec<f64>) -> Vec<f64> {
        match self.order {
            MemoryOrder::C => values,
            MemoryOrder::Fortran => (0..self.rows)
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
    numbers: NumberReader,
    /// Where the numbers begin.
    start: u64,
    /// Samples so far.
    read: usize,
}

impl Array {
    fn open(path: &Path) -> Result<Self> {
        let invalid = |e: std::io::Error| Error::input(path, e);
        let file = open_file(path, "a NumPy array")?;
        let Npy { header, mut reader } =
            Npy::new(BufReader::with_capacity(1 << 16, file)).map_err(invalid)?;
        let shape = Shape::of(&header, ARRAY, path)?;
        let numbers = NumberReader::of(&header, ARRAY, path)?;
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
            MemoryOrder::Fortran => self.across(rows),
            MemoryOrder::C => {
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
struct NumberReader {
    /// Bytes of one.
    size: usize,
    decode: Decode,
}

/// Appends the numbers that some bytes hold.
type Decode = fn(&[u8], &mut Vec<f64>) -> std::io::Result<()>;

impl NumberReader {
    fn of(header: &Header, what: &str, path: &Path) -> Result<Self> {
        /// A decoder of a type in the order of bytes that the header tells.
        macro_rules! either {
            ($kind:ty, $convert:expr) => {
                if header.big_endian {
                    |bytes, values| each(bytes, values, |one| $convert(<$kind>::from_be_bytes(one)))
                } else {
                    |bytes, values| each(bytes, values, |one| $convert(<$kind>::from_le_bytes(one)))
                }
            };
        }
        let decode: Decode = match (header.kind, header.size) {
            (ElementKind::Float, 8) => either!(f64, sure),
            (ElementKind::Float, 4) => either!(f32, sure),
            (ElementKind::Float, 2) => either!(half::f16, sure),
            (ElementKind::Unsigned, 1) => either!(u8, sure),
            (ElementKind::Unsigned, 2) => either!(u16, sure),
            (ElementKind::Unsigned, 4) => either!(u32, sure),
            (ElementKind::Unsigned, 8) => either!(u64, |x: u64| exact(x.into())),
            (ElementKind::Signed, 1) => either!(i8, sure),
            (ElementKind::Signed, 2) => either!(i16, sure),
            (ElementKind::Signed, 4) => either!(i32, sure),
            (ElementKind::Signed, 8) => either!(i64, |x: i64| exact(x.into())),
            (ElementKind::Bool, 1) => {
                |bytes, values| each(bytes, values, |[one]| sure(u8::from(truth(one)?)))
            }
            _ => {
                let problem = format!("{what} is of type {}, which is not a number", header.descr);
                return Err(Error::input(path, problem));
            }
        };
        Ok(NumberReader { size: header.size, decode })
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

/// Appends what `convert` makes of every N bytes.
fn each<const N: usize>(
    bytes: &[u8],
    values: &mut Vec<f64>,
    convert: impl Fn([u8; N]) -> std::io::Result<f64>,
) -> std::io::Result<()> {
    values.reserve(bytes.len() / N);
    for &one in bytes.as_chunks::<N>().0 {
        values.push(convert(one)?);
    }
    Ok(())
}

fn truth(byte: u8) -> std::io::Result<bool> {
    match byte {
        0 | 1 => Ok(byte == 1),
        _ => Err(damaged(format!("{byte} is not a truth value"))),
    }
}

fn damaged(problem: String) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, problem)
}

fn sure(x: impl Into<f64>) -> std::io::Result<f64> {
    Ok(x.into())
}

/// A whole number that double precision holds.
fn exact(x: i128) -> std::io::Result<f64> {
    if x.abs() <= 1 << 53 {
        return Ok(x as f64);
    }
    Err(damaged(format!("{x} is a whole number beyond 2^53, which would be rounded")))
}

/// All numbers of an array, in the order of the file.
pub(super) fn numbers<R: Read>(mut file: Npy<R>, what: &str, path: &Path) -> Result<Vec<f64>> {
    let numbers = NumberReader::of(&file.header, what, path)?;
    let count = claimed(file.header.count(), what, path)?;
    let mut values = Vec::new();
    memory::reserve(&mut values, count, path)?;
    numbers.read(&mut file.reader, count, &mut values).map_err(|e| cut_short(what, path, &e))?;
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
pub(super) fn read_labels<R: Read>(mut file: Npy<R>, what: &str, path: &Path) -> Result<Vec<String>> {
    let Header { kind, size, big_endian, .. } = file.header;
    let label = |bytes: &[u8]| match kind {
        ElementKind::Bool => truth(bytes[0]).map(labels::from_bool),
        ElementKind::Signed | ElementKind::Unsigned => {
            Ok(integer(bytes, kind == ElementKind::Signed, big_endian).to_string())
        }
        ElementKind::Text => text(bytes, big_endian).map(|text| labels::normal(&text)),
        _ => {
            let end = if kind == ElementKind::Bytes { filled(bytes) } else { bytes.len() };
            Ok(labels::normal(&String::from_utf8_lossy(&bytes[..end])))
        }
    };
    if matches!(kind, ElementKind::Float | ElementKind::Other) {
        return Ok(numbers(file, what, path)?.into_iter().map(labels::from_number).collect());
    }
    let count = claimed(file.header.count(), what, path)?;
    claimed(size as u64, what, path)?;
    let mut bytes = vec![0; size];
    let next = |_| {
        file.reader.read_exact(&mut bytes).and_then(|()| label(&bytes)).map_err(|e| cut_short(what, path, &e))
    };
    (0..count).map(next).collect()
}

/// A whole number of at most eight bytes.
fn integer(bytes: &[u8], signed: bool, big_endian: bool) -> i128 {
    let unsigned = |value: i128, &byte: &u8| value << 8 | i128::from(byte);
    let value =
        if big_endian { bytes.iter().fold(0, unsigned) } else { bytes.iter().rev().fold(0, unsigned) };
    let bits = 8 * bytes.len();
    if signed && value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

/// A text in UTF-32 that zeros may follow.
fn text(bytes: &[u8], big_endian: bool) -> std::io::Result<String> {
    let code = |&one: &[u8; 4]| if big_endian { u32::from_be_bytes(one) } else { u32::from_le_bytes(one) };
    let codes: Vec<u32> = bytes.as_chunks().0.iter().map(code).collect();
    let end = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    let letter =
        |&code: &u32| char::from_u32(code).ok_or_else(|| damaged(format!("{code:#x} is not a character")));
    codes[..end].iter().map(letter).collect()
}

/// Where the zeros begin that fill bytes up.
fn filled(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
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
