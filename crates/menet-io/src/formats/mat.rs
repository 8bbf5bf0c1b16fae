//! MATLAB's `.mat` files, version 5 (what `save -v6` and `-v7` write).
//!
//! A file is a header of 128 bytes and a list of elements, each a tag (type and size) and its bytes. A variable is an
//! element that holds four or more others: flags, dimensions, name, and values, column by column. It may be packed.
//! Read here by hand: the one crate for it, matrw 0.1.4, refuses the header of files that SciPy writes.

use std::io::Read;
use std::path::Path;

use super::{Format, ReadOptions, Reader, open};
use crate::error::{Error, Result};
use crate::table::Table;

/// Named matrices.
pub const MAT: Format = Format {
    name: "mat",
    endings: &[".mat"],
    summary: "MATLAB file (version 5 to 7) with `fea` and `gnd`, `X` and `Y`, or --x-key and --y-key",
    reader: Reader::Whole(read),
};

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// A numeric matrix, column by column.
struct Matrix {
    name: String,
    dimensions: Vec<usize>,
    values: Vec<f64>,
}

fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| Error::input(path, e))?;
    let matrices = parse(&bytes).map_err(|problem| Error::input(path, problem))?;
    let names: Vec<&str> = matrices.iter().map(|matrix| matrix.name.as_str()).collect();
    let find = |asked: &Option<String>, usual: &[&str]| {
        let wanted: Vec<&str> = asked.as_deref().map_or_else(|| usual.to_vec(), |name| vec![name]);
        wanted.iter().find_map(|name| matrices.iter().find(|matrix| matrix.name == *name))
    };
    let Some(x) = find(&options.x_key, &["X", "fea"]) else {
        let problem = format!(
            "there are no samples X or fea among its numeric matrices {names:?}; name them with --x-key"
        );
        return Err(Error::input(path, problem));
    };
    let &[rows, columns] = &x.dimensions[..] else {
        return Err(Error::input(
            path,
            format!("{} has dimensions {:?}; two are needed", x.name, x.dimensions),
        ));
    };
    if rows == 0 || columns == 0 {
        return Err(Error::input(path, format!("{} is empty, {rows} x {columns}", x.name)));
    }
    let labels = match find(&options.y_key, &["y", "Y", "gnd"]) {
        Some(y) if y.values.len() == rows => Some(y.values.iter().map(f64::to_string).collect()),
        Some(y) => {
            return Err(Error::input(
                path,
                format!("{} labels in {} for {rows} samples", y.values.len(), y.name),
            ));
        }
        None if options.y_key.is_some() => {
            return Err(Error::input(
                path,
                format!("there are no labels {:?} among {names:?}", options.y_key),
            ));
        }
        None => None,
    };
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        values.extend((0..columns).map(|column| x.values[column * rows + row]));
    }
    let source = path.display().to_string();
    let values = values.into();
    Ok(Table { source, values, rows, columns, labels, feature_names: None, image_shape: None })
}

/// All numeric matrices of a file; what else it holds is passed over.
fn parse(bytes: &[u8]) -> std::result::Result<Vec<Matrix>, String> {
    if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF") {
        return Err("a MATLAB 7.3 (HDF5) file; save it with -v7".to_owned());
    }
    let header = bytes.get(..128).ok_or("too short for a MATLAB file")?;
    match &header[124..128] {
        [0x00, 0x01, b'I', b'M'] => {}
        [0x01, 0x00, b'M', b'I'] => return Err("a big-endian MATLAB file; save it anew".to_owned()),
        other => return Err(format!("not a MATLAB file of version 5: its header ends in {other:?}")),
    }
    let mut matrices = Vec::new();
    let mut rest = &bytes[128..];
    while !rest.is_empty() {
        let (kind, data, next) = element(rest)?;
        if kind == COMPRESSED {
            let mut unpacked = Vec::new();
            flate2::read::ZlibDecoder::new(data)
                .read_to_end(&mut unpacked)
                .map_err(|e| format!("a packed variable is damaged: {e}"))?;
            let (kind, data, _) = element(&unpacked)?;
            matrices.extend(if kind == MATRIX { matrix(data)? } else { None });
            // A packed element is not filled up to eight bytes.
            rest = rest.get(8 + data_length(rest)?..).unwrap_or_default();
        } else {
            matrices.extend(if kind == MATRIX { matrix(data)? } else { None });
            rest = next;
        }
    }
    Ok(matrices)
}

/// The length in the tag at the beginning of `bytes`.
fn data_length(bytes: &[u8]) -> std::result::Result<usize, String> {
    Ok(word(bytes, 4)? as usize)
}

fn word(bytes: &[u8], at: usize) -> std::result::Result<u32, String> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).ok_or("cut short in a tag")?;
    Ok(u32::from_le_bytes(four))
}

/// The type and bytes of the first element, and what follows it.
fn element(bytes: &[u8]) -> std::result::Result<(u32, &[u8], &[u8]), String> {
    let first = word(bytes, 0)?;
    // Up to four bytes stand in the tag itself, their number in the upper half of the type.
    let (kind, start, length) = match first >> 16 {
        0 => (first, 8, data_length(bytes)?),
        small => (first & 0xffff, 4, small as usize),
    };
    let data = bytes
        .get(start..start + length)
        .ok_or_else(|| format!("cut short: an element claims {length} bytes"))?;
    let end = if start == 4 { 8 } else { 8 + length.div_ceil(8) * 8 };
    Ok((kind, data, bytes.get(end..).unwrap_or_default()))
}

/// A variable, if it is a real, full, numeric matrix.
fn matrix(bytes: &[u8]) -> std::result::Result<Option<Matrix>, String> {
    let (_, flags, rest) = element(bytes)?;
    let flags = word(flags, 0)?;
    let (class, complex) = (flags & 0xff, flags & 0x0800 != 0);
    if !(6..=15).contains(&class) || complex {
        return Ok(None);
    }
    let (_, dimensions, rest) = element(rest)?;
    let (sizes, _) = dimensions.as_chunks::<4>();
    let dimensions: Vec<usize> = sizes.iter().map(|&size| u32::from_le_bytes(size) as usize).collect();
    let (_, name, rest) = element(rest)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let (kind, data, _) = element(rest)?;
    let values =
        numbers(kind, data).ok_or_else(|| format!("the values of {name} are of the unknown type {kind}"))?;
    let expected = dimensions.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
    if expected != Some(values.len()) {
        return Err(format!("{name} claims dimensions {dimensions:?} but holds {} values", values.len()));
    }
    Ok(Some(Matrix { name, dimensions, values }))
}

/// Values of any numeric type.
fn numbers(kind: u32, data: &[u8]) -> Option<Vec<f64>> {
    fn each<const N: usize>(data: &[u8], convert: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        data.as_chunks::<N>().0.iter().map(|&bytes| convert(bytes)).collect()
    }
    Some(match kind {
        1 => each(data, |b| f64::from(i8::from_le_bytes(b))),
        2 => each(data, |b| f64::from(u8::from_le_bytes(b))),
        3 => each(data, |b| f64::from(i16::from_le_bytes(b))),
        4 => each(data, |b| f64::from(u16::from_le_bytes(b))),
        5 => each(data, |b| f64::from(i32::from_le_bytes(b))),
        6 => each(data, |b| f64::from(u32::from_le_bytes(b))),
        7 => each(data, |b| f64::from(f32::from_le_bytes(b))),
        9 => each(data, f64::from_le_bytes),
        12 => each(data, |b| i64::from_le_bytes(b) as f64),
        13 => each(data, |b| u64::from_le_bytes(b) as f64),
        _ => return None,
    })
}
