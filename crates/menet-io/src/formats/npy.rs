//! What stands before the numbers of a NumPy array: a magic, a version, and a Python dictionary with type, order and shape.
//!
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use std::io::{Error, ErrorKind, Read, Result};

/// The longest text of a header. NumPy itself refuses more than 10,000 characters unless told that the file is trusted.
const LONGEST: usize = 1 << 20;

/// How deep sequences may lie in each other.
const DEEPEST: usize = 32;

/// Which index moves fastest: the last (C) or the first (Fortran).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryOrder {
    C,
    Fortran,
}

/// What an array consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Text in UTF-32; the size counts bytes.
    Text,
    /// Bytes, filled up with zeros.
    Bytes,
    /// Bytes, all of which count.
    Raw,
    /// Anything else: complex numbers, Python objects, records.
    Other,
}

/// The header.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) shape: Vec<u64>,
    pub(super) order: MemoryOrder,
    pub(super) kind: ElementKind,
    /// Bytes per value.
    pub(super) size: usize,
    pub(super) big_endian: bool,
    /// The type as it is written, for messages.
    pub(super) descr: String,
}

impl Header {
    /// Values that it claims; the largest number where there would be more.
    pub(super) fn count(&self) -> u64 {
        self.shape.iter().fold(1, |count: u64, &size| count.saturating_mul(size))
    }
}

/// An array of which the header has been read.
#[derive(Debug)]
pub(super) struct Npy<R> {
    pub(super) header: Header,
    /// At the first value.
    pub(super) reader: R,
}

impl<R: Read> Npy<R> {
    pub(super) fn new(mut reader: R) -> Result<Self> {
        let mut start = [0; 8];
        let not_npy = || invalid("it does not begin as a NumPy array does");
        reader.read_exact(&mut start).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => not_npy(),
            _ => e,
        })?;
        let [magic @ .., major, minor] = start;
        if magic != *b"\x93NUMPY" {
            return Err(not_npy());
        }
        let length = match (major, minor) {
            (1, 0) => usize::from(u16::from_le_bytes(array(&mut reader)?)),
            (2 | 3, 0) => u32::from_le_bytes(array(&mut reader)?) as usize,
            _ => return Err(invalid(format!("version {major}.{minor} of the format is not known"))),
        };
        if length > LONGEST {
            return Err(invalid(format!("its header claims {length} characters")));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        let text = String::from_utf8(text).map_err(|_| invalid("its header is not text"))?;
        Ok(Npy { header: header(&text)?, reader })
    }
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn invalid(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, problem.into())
}

fn header(text: &str) -> Result<Header> {
    let mut parser = Parser { text, at: 0 };
    let literal = parser.literal(0)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    let Literal::Dictionary(entries) = literal else {
        return Err(invalid("its header is not a dictionary"));
    };
    let find = |name: &str| {
        let entry = entries.iter().find(|(key, _)| matches!(key, Literal::Text(key) if key == name));
        entry.map(|(_, value)| value).ok_or_else(|| invalid(format!("its header lacks {name:?}")))
    };
    let order = match find("fortran_order")? {
        Literal::Bool(true) => MemoryOrder::Fortran,
        Literal::Bool(false) => MemoryOrder::C,
        _ => return Err(invalid("`fortran_order` in its header is neither True nor False")),
    };
    let Literal::Sequence(sizes, _) = find("shape")? else {
        return Err(invalid("`shape` in its header is not a sequence"));
    };
    let size = |size: &Literal| match size {
        Literal::Whole(size) => Ok(*size),
        _ => Err(invalid("`shape` in its header has an entry that is not a whole number >= 0")),
    };
    let shape = sizes.iter().map(size).collect::<Result<_>>()?;
    let (kind, size, big_endian, descr) = match find("descr")? {
        Literal::Text(descr) => {
            let (kind, size, big_endian) = scalar(descr).unwrap_or((ElementKind::Other, 0, false));
            (kind, size, big_endian, format!("'{descr}'"))
        }
        Literal::Sequence(_, source) => (ElementKind::Other, 0, false, (*source).to_owned()),
        _ => return Err(invalid("`descr` in its header is not a type")),
    };
    Ok(Header { shape, order, kind, size, big_endian, descr })
}

/// Kind, bytes and order of bytes of a type such as `<f8`; none of one that is not read.
fn scalar(descr: &str) -> Option<(ElementKind, usize, bool)> {
    let mut letters = descr.chars();
    let (order, letter) = (letters.next()?, letters.next()?);
    // A date has a unit in brackets after its size, and is read as what it counts.
    let (size, unit) = letters.as_str().split_once('[').unwrap_or((letters.as_str(), ""));
    let size: usize = size.parse().ok()?;
    let (kind, size) = match (letter, size) {
        ('M' | 'm', 8) => (ElementKind::Signed, 8),
        _ if !unit.is_empty() => return None,
        ('b', 1) => (ElementKind::Bool, 1),
        ('i', 1 | 2 | 4 | 8) => (ElementKind::Signed, size),
        ('u', 1 | 2 | 4 | 8) => (ElementKind::Unsigned, size),
        ('f', 2 | 4 | 8) => (ElementKind::Float, size),
        ('U', _) => (ElementKind::Text, size.checked_mul(4)?),
        ('S', _) => (ElementKind::Bytes, size),
        ('V', _) => (ElementKind::Raw, size),
        _ => return None,
    };
    let one_byte = size == 1 || matches!(kind, ElementKind::Bytes | ElementKind::Raw);
    match order {
        '<' => Some((kind, size, false)),
        '>' => Some((kind, size, true)),
        '|' if one_byte => Some((kind, size, false)),
        _ => None,
    }
}

/// What a header can be made of.
enum Literal<'a> {
    Text(String),
    Whole(u64),
    Bool(bool),
    /// A number that is not a size, or None.
    Other,
    /// A tuple or a list, and how it is written.
    Sequence(Vec<Literal<'a>>, &'a str),
    Dictionary(Vec<(Literal<'a>, Literal<'a>)>),
}

/// A text of which some has been read.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Whether `token` comes next, which is then read.
    fn takes(&mut self, token: char) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn unexpected(&self) -> Error {
        match self.rest().chars().next() {
            Some(c) => invalid(format!("its header cannot be read: {c:?} at byte {}", self.at)),
            None => invalid("its header ends too early"),
        }
    }

    fn literal(&mut self, depth: usize) -> Result<Literal<'a>> {
        if depth > DEEPEST {
            return Err(invalid("its header is nested too deeply"));
        }
        self.space();
        let start = self.at;
        match self.rest().chars().next() {
            Some(open @ ('(' | '[')) => {
                self.at += 1;
                let end = if open == '(' { ')' } else { ']' };
                let parts = self.list(end, |parser| parser.literal(depth + 1))?;
                Ok(Literal::Sequence(parts, &self.text[start..self.at]))
            }
            Some('{') => {
                self.at += 1;
                let entry = |parser: &mut Self| {
                    let key = parser.literal(depth + 1)?;
                    if !parser.takes(':') {
                        return Err(parser.unexpected());
                    }
                    Ok((key, parser.literal(depth + 1)?))
                };
                Ok(Literal::Dictionary(self.list('}', entry)?))
            }
            Some(quote @ ('\'' | '"')) => self.quoted(quote).map(Literal::Text),
            _ => self.word(),
        }
    }

    /// What stands before `end`, with commas between and perhaps after.
    fn list<T>(&mut self, end: char, mut part: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut parts = Vec::new();
        while !self.takes(end) {
            parts.push(part(self)?);
            if !self.takes(',') {
                return if self.takes(end) { Ok(parts) } else { Err(self.unexpected()) };
            }
        }
        Ok(parts)
    }

    /// A text in quotes. A backslash keeps the quote after it from ending it; names in records alone can have one.
    fn quoted(&mut self, quote: char) -> Result<String> {
        self.at += quote.len_utf8();
        let mut out = String::new();
        let mut escaped = false;
        for (k, c) in self.rest().char_indices() {
            if c == quote && !escaped {
                self.at += k + c.len_utf8();
                return Ok(out);
            }
            out.push(c);
            escaped = c == '\\' && !escaped;
        }
        self.at = self.text.len();
        Err(self.unexpected())
    }

    /// A truth value, a number or None.
    fn word(&mut self) -> Result<Literal<'a>> {
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let (word, _) = rest.split_at(rest.find(|c| !inside(c)).unwrap_or(rest.len()));
        let literal = match word {
            "True" => Literal::Bool(true),
            "False" => Literal::Bool(false),
            "None" => Literal::Other,
            // Python 2 wrote whole numbers with an L.
            _ => match word.strip_suffix('L').unwrap_or(word).parse() {
                Ok(whole) => Literal::Whole(whole),
                Err(_) if word.parse::<f64>().is_ok() => Literal::Other,
                Err(_) => return Err(self.unexpected()),
            },
        };
        self.at += word.len();
        Ok(literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Header> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(77);
        let npy = Npy::new(&bytes[..])?;
        assert_eq!(npy.reader, [77]);
        Ok(npy.header)
    }

    #[test]
    fn headers_as_numpy_and_others_write_them() {
        let plain = of("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }          \n").unwrap();
        assert_eq!((plain.kind, plain.size, plain.big_endian), (ElementKind::Float, 8, false));
        assert_eq!((plain.order, &plain.shape[..], plain.count()), (MemoryOrder::C, &[3, 4][..], 12));
        let other = of("{\"shape\":[7L,],\"fortran_order\":True,\"descr\":\">U5\"}").unwrap();
        assert_eq!((other.kind, other.size, other.big_endian), (ElementKind::Text, 20, true));
        assert_eq!((other.order, &other.shape[..]), (MemoryOrder::Fortran, &[7][..]));
        let date = of("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,)}").unwrap();
        assert_eq!((date.kind, date.size), (ElementKind::Signed, 8));
        assert_eq!(of("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").unwrap().count(), 1);
        let huge = of("{'descr': '|u1', 'fortran_order': False, 'shape': (9999999999, 9999999999)}").unwrap();
        assert_eq!(huge.count(), u64::MAX);
    }

    #[test]
    fn types_that_are_not_read_are_named() {
        for descr in ["'<c16'", "'|O'", "'|f8'", "'f8'", "'<f16'", "''", "'<é'"] {
            let header = of(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}")).unwrap();
            assert_eq!((header.kind, header.descr.as_str()), (ElementKind::Other, descr));
        }
        let record = "[('a', '<f8'), ('it\\'s', '<i4', (2,))]";
        let header = of(&format!("{{'descr': {record}, 'fortran_order': False, 'shape': (1,)}}")).unwrap();
        assert_eq!((header.kind, header.descr.as_str()), (ElementKind::Other, record));
    }

    #[test]
    fn damaged_headers_are_errors() {
        let deep = "[".repeat(60_000);
        for text in [
            "",
            "{",
            "nothing",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} x",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3.5,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8, 'fortran_order': False, 'shape': (3,)}",
            "{'descr': 8, 'fortran_order': False, 'shape': (3,)}",
            &deep,
        ] {
            assert_eq!(
                of(text).unwrap_err().kind(),
                ErrorKind::InvalidData,
                "{}",
                &text[..text.len().min(70)]
            );
        }
        for bytes in [
            &b""[..],
            b"\x93NUMPY",
            b"\x93NUMPX\x01\0\0\0",
            b"\x93NUMPY\x04\0\0\0",
            b"\x93NUMPY\x02\0\xff\xff\xff\xff",
        ] {
            assert_eq!(Npy::new(bytes).unwrap_err().kind(), ErrorKind::InvalidData, "{bytes:?}");
        }
        // The header is cut short.
        assert_eq!(Npy::new(&b"\x93NUMPY\x01\0\xff\xff{"[..]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
