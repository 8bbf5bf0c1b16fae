//! The bytes of a `.mat` file.
//!
//! A file is a header of 128 bytes and a list of elements, each a tag (type and size) and its bytes. A variable is an
//! element that holds four or more others: flags, dimensions, name, and contents, column by column. It may be compressed, and
//! then has a checksum.
//! We parse it ourselves because the only crate for it, matrw 0.1.4, refuses the header of files that SciPy writes.

use std::path::Path;

use crate::error::{Error, Result as FileResult};
use crate::memory;

type Result<T> = std::result::Result<T, String>;

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// How deep cells may be nested.
const DEEPEST: usize = 4;

/// A variable.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) dimensions: Vec<usize>,
    pub(super) content: VariableContent,
}

/// What a variable holds.
pub(super) enum VariableContent {
    /// Column by column.
    Full(Numbers),
    Sparse(Sparse),
    /// The rows of a matrix of characters, or the cells of a cell array.
    Texts(Vec<String>),
    /// Contents that can be neither samples nor labels.
    Other(&'static str),
}

pub(super) enum Numbers {
    Floats(Vec<f64>),
    /// 64-bit integers, which double precision may not hold.
    Integers(Vec<i128>),
    Truths(Vec<bool>),
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Numbers::Floats(values) => values.len(),
            Numbers::Integers(values) => values.len(),
            Numbers::Truths(values) => values.len(),
        }
    }

    /// In double precision, which must be exact.
    pub(super) fn floats(&self) -> Result<Vec<f64>> {
        match self {
            Numbers::Floats(values) => Ok(values.clone()),
            Numbers::Truths(values) => Ok(values.iter().map(|&x| f64::from(u8::from(x))).collect()),
            Numbers::Integers(values) => match values.iter().find(|x| x.abs() > 1 << 53) {
                Some(x) => Err(format!("{x} is a whole number beyond 2^53, which would be rounded")),
                None => Ok(values.iter().map(|&x| x as f64).collect()),
            },
        }
    }
}

/// Entries column by column.
pub(super) struct Sparse {
    /// The start of each column, and the end of the last.
    pub(super) starts: Vec<usize>,
    /// The row of each entry.
    pub(super) rows: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// All variables of a file.
pub(super) fn parse(bytes: &[u8], path: &Path) -> FileResult<Vec<Variable>> {
    let in_file = |problem: String| Error::input(path, problem);
    if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF") {
        return Err(in_file(
            "a MATLAB 7.3 (HDF5) file, which menet does not read; save it with -v7".to_owned(),
        ));
    }
    let header = bytes.get(..128).ok_or_else(|| in_file("too short for a MATLAB file".to_owned()))?;
    match &header[124..128] {
        [0x00, 0x01, b'I', b'M'] => {}
        [0x01, 0x00, b'M', b'I'] => {
            return Err(in_file(
                "a big-endian MATLAB file, which menet does not read; save it with a current MATLAB"
                    .to_owned(),
            ));
        }
        other => {
            return Err(in_file(format!("not a MATLAB file of version 5: its header ends in {other:?}")));
        }
    }
    let mut variables = Vec::new();
    let mut rest = &bytes[128..];
    while !rest.is_empty() {
        let (kind, data, next) = element(rest).map_err(in_file)?;
        match kind {
            COMPRESSED => {
                let unpacked = memory::read_to_end(&mut flate2::read::ZlibDecoder::new(data), path)?;
                let (kind, data, _) = element(&unpacked).map_err(in_file)?;
                if kind != MATRIX {
                    return Err(in_file(format!(
                        "a compressed element has type {kind} and is not a variable"
                    )));
                }
                variables.push(variable(data, 0).map_err(in_file)?);
                // A compressed element is not padded to eight bytes.
                let end = 8 + word(rest, 4).map_err(in_file)? as usize;
                rest = rest.get(end..).unwrap_or_default();
            }
            MATRIX => {
                variables.push(variable(data, 0).map_err(in_file)?);
                rest = next;
            }
            other => {
                return Err(in_file(format!("damaged: an element has type {other} and is not a variable")));
            }
        }
    }
    Ok(variables)
}

fn word(bytes: &[u8], at: usize) -> Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).ok_or("cut short in a tag")?;
    Ok(u32::from_le_bytes(four))
}

/// The type and bytes of the first element, and what follows it.
fn element(bytes: &[u8]) -> Result<(u32, &[u8], &[u8])> {
    let first = word(bytes, 0)?;
    // Up to four bytes are stored in the tag itself, with their number in the upper half of the type.
    let (kind, start, length) = match first >> 16 {
        0 => (first, 8, word(bytes, 4)? as usize),
        small => (first & 0xffff, 4, small as usize),
    };
    let data = bytes
        .get(start..start + length)
        .ok_or_else(|| format!("cut short: an element claims {length} bytes"))?;
    let end = if start == 4 { 8 } else { 8 + length.div_ceil(8) * 8 };
    Ok((kind, data, bytes.get(end..).unwrap_or_default()))
}

fn variable(bytes: &[u8], depth: usize) -> Result<Variable> {
    let (_, flags, rest) = element(bytes)?;
    let flags = word(flags, 0)?;
    let (class, logical, complex) = (flags & 0xff, flags & 0x0200 != 0, flags & 0x0800 != 0);
    let other = |what| VariableContent::Other(what);
    // Objects have no dimensions.
    if !(1..=15).contains(&class) {
        return Ok(Variable { name: String::new(), dimensions: Vec::new(), content: other("an object") });
    }
    let (_, dimensions, rest) = element(rest)?;
    let (sizes, _) = dimensions.as_chunks::<4>();
    let dimensions: Vec<usize> = sizes.iter().map(|&size| u32::from_le_bytes(size) as usize).collect();
    let (_, name, rest) = element(rest)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let total = dimensions.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
    let content = match class {
        _ if complex => other("complex"),
        1 => cells(rest, total, depth)?,
        4 => VariableContent::Texts(characters(rest, &dimensions)?),
        5 => VariableContent::Sparse(sparse(rest, &dimensions, &name)?),
        6..=15 => {
            let (kind, data, _) = element(rest)?;
            let values = numbers(kind, data)
                .ok_or_else(|| format!("the values of {name} have the unknown type {kind}"))?;
            if total != Some(values.len()) {
                let held = values.len();
                return Err(format!("{name} claims dimensions {dimensions:?} but holds {held} values"));
            }
            VariableContent::Full(match values {
                Numbers::Floats(values) if logical => {
                    Numbers::Truths(values.into_iter().map(|x| x != 0.0).collect())
                }
                values => values,
            })
        }
        2 => other("a structure"),
        _ => other("an object"),
    };
    Ok(Variable { name, dimensions, content })
}

/// A cell array of texts and single numbers; anything else is `Other`.
fn cells(mut rest: &[u8], total: Option<usize>, depth: usize) -> Result<VariableContent> {
    const OTHER: VariableContent = VariableContent::Other("a cell array that does not hold texts");
    if depth == DEEPEST {
        return Ok(OTHER);
    }
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (kind, data, next) = element(rest)?;
        if kind != MATRIX {
            return Err(format!("damaged: a cell has type {kind} and is not a variable"));
        }
        texts.push(match variable(data, depth + 1)?.content {
            VariableContent::Texts(rows) if rows.len() <= 1 => rows.into_iter().next().unwrap_or_default(),
            VariableContent::Full(numbers) if numbers.len() == 1 => {
                numbers.floats()?.first().map_or_else(String::new, f64::to_string)
            }
            _ => return Ok(OTHER),
        });
        rest = next;
    }
    if Some(texts.len()) != total {
        return Err(format!("a cell array holds {} cells, but claims {total:?}", texts.len()));
    }
    Ok(VariableContent::Texts(texts))
}

/// The rows of a matrix of characters, without trailing spaces.
fn characters(rest: &[u8], dimensions: &[usize]) -> Result<Vec<String>> {
    let (kind, data, _) = element(rest)?;
    let wrong = || "a matrix of characters is not valid text".to_owned();
    let units: Vec<u32> = match kind {
        16 => std::str::from_utf8(data).map_err(|_| wrong())?.chars().map(u32::from).collect(),
        1 | 2 => data.iter().map(|&byte| byte.into()).collect(),
        4 | 17 => data.as_chunks::<2>().0.iter().map(|&two| u16::from_le_bytes(two).into()).collect(),
        18 => data.as_chunks::<4>().0.iter().map(|&four| u32::from_le_bytes(four)).collect(),
        other => return Err(format!("a matrix of characters has the unknown type {other}")),
    };
    let &[rows, columns] = dimensions else {
        return Err(format!("a matrix of characters has dimensions {dimensions:?}, but needs two"));
    };
    if rows.checked_mul(columns) != Some(units.len()) {
        return Err(format!(
            "its header claims {rows} x {columns} characters, but there are {}",
            units.len()
        ));
    }
    let row = |i: usize| -> Result<String> {
        let own = (0..columns).map(|j| units[j * rows + i]);
        let text: Option<String> = match kind {
            4 | 17 => String::from_utf16(&own.map(|unit| unit as u16).collect::<Vec<_>>()).ok(),
            _ => own.map(char::from_u32).collect(),
        };
        text.map(|text| text.trim_end().to_owned()).ok_or_else(wrong)
    };
    (0..rows).map(row).collect()
}

fn sparse(rest: &[u8], dimensions: &[usize], name: &str) -> Result<Sparse> {
    let &[rows, columns] = dimensions else {
        return Err(format!("the sparse matrix {name} has dimensions {dimensions:?}, but needs two"));
    };
    let (_, row_indices, rest) = element(rest)?;
    let (_, starts, rest) = element(rest)?;
    let (kind, data, _) = element(rest)?;
    let indices = |bytes: &[u8]| -> Vec<usize> {
        bytes.as_chunks::<4>().0.iter().map(|&four| u32::from_le_bytes(four) as usize).collect()
    };
    let (mut row_indices, starts) = (indices(row_indices), indices(starts));
    let mut values = numbers(kind, data)
        .ok_or_else(|| format!("the values of {name} have the unknown type {kind}"))?
        .floats()?;
    let held = starts.last().copied().unwrap_or(0);
    let sound = starts.len() == columns + 1
        && starts[0] == 0
        && starts.windows(2).all(|pair| pair[0] <= pair[1])
        && row_indices.len() >= held
        && values.len() >= held
        && starts.windows(2).all(|pair| {
            let own = &row_indices[pair[0]..pair[1]];
            own.windows(2).all(|pair| pair[0] < pair[1]) && own.iter().all(|&row| row < rows)
        });
    if !sound {
        return Err(format!("the parts of the sparse matrix {name} are inconsistent"));
    }
    // Unused room may follow.
    row_indices.truncate(held);
    values.truncate(held);
    Ok(Sparse { starts, rows: row_indices, values })
}

/// Values of any numeric type.
fn numbers(kind: u32, data: &[u8]) -> Option<Numbers> {
    fn each<const N: usize, T>(data: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
        data.as_chunks::<N>().0.iter().map(|&bytes| convert(bytes)).collect()
    }
    Some(match kind {
        1 => Numbers::Floats(each(data, |b| i8::from_le_bytes(b).into())),
        2 => Numbers::Floats(each(data, |b| u8::from_le_bytes(b).into())),
        3 => Numbers::Floats(each(data, |b| i16::from_le_bytes(b).into())),
        4 => Numbers::Floats(each(data, |b| u16::from_le_bytes(b).into())),
        5 => Numbers::Floats(each(data, |b| i32::from_le_bytes(b).into())),
        6 => Numbers::Floats(each(data, |b| u32::from_le_bytes(b).into())),
        7 => Numbers::Floats(each(data, |b| f32::from_le_bytes(b).into())),
        9 => Numbers::Floats(each(data, f64::from_le_bytes)),
        12 => Numbers::Integers(each(data, |b| i64::from_le_bytes(b).into())),
        13 => Numbers::Integers(each(data, |b| u64::from_le_bytes(b).into())),
        _ => return None,
    })
}
