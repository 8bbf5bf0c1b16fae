//! How a text file separates fields and writes numbers; its records one by one.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::ReadOptions;
use crate::error::{Error, Result, short};
use crate::labels::MISSING;
use crate::memory;
use crate::source::{BoundedReader, Source, TOO_LONG, peek};

/// The most bytes and columns of a header.
const HEADER: u64 = 64 << 20;
const MOST_COLUMNS: usize = 4 << 20;

/// The most bytes of a row: a constant plus a number per column.
const ROW: u64 = 4 << 20;
const FIELD: u64 = 256;

/// How many bytes are read ahead.
const BUFFER: usize = 1 << 18;

/// The separator of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// One character.
    Byte(u8),
    /// Any number of spaces and tabs.
    Spaces,
}

impl std::str::FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(match text {
            "comma" => Delimiter::Byte(b','),
            "semicolon" => Delimiter::Byte(b';'),
            "tab" | "\\t" => Delimiter::Byte(b'\t'),
            "bar" => Delimiter::Byte(b'|'),
            "space" | " " => Delimiter::Spaces,
            _ => match text.as_bytes() {
                [byte]
                    if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r.+-".contains(byte) =>
                {
                    Delimiter::Byte(*byte)
                }
                _ => return Err("use comma, semicolon, tab, bar, space, or one such character".to_owned()),
            },
        })
    }
}

/// Signs that separate fields, and how to ask for them.
const SIGNS: [(u8, &str); 4] = [(b'\t', "tab"), (b';', "semicolon"), (b',', "comma"), (b'|', "bar")];

/// The rows of a text, split into fields.
pub(super) struct Records {
    path: PathBuf,
    reader: csv::Reader<BoundedReader<Source>>,
    /// Records that were read already and are returned first.
    held: Option<csv::ByteRecord>,
    /// The number of fields per row, once it is known.
    fields: Option<usize>,
    limit: u64,
    pub(super) decimal_comma: bool,
    /// Whether the user gave the separator.
    delimiter_given: bool,
}

impl Records {
    /// `usual` is the separator of files with this ending; without it, the first line decides.
    pub(super) fn new(
        source: Source,
        usual: Option<Delimiter>,
        path: &Path,
        options: &ReadOptions,
    ) -> Result<Self> {
        let comma = options.decimal_comma;
        let usual = usual.filter(|usual| !(comma && *usual == Delimiter::Byte(b',')));
        let (delimiter, source) = match options.delimiter.or(usual) {
            Some(delimiter) => (delimiter, source),
            None => {
                let (start, source) = peek(source, 1 << 16).map_err(|e| Error::input(path, e))?;
                (sniff(&start, comma), source)
            }
        };
        if comma && delimiter == Delimiter::Byte(b',') {
            let problem =
                "a comma cannot be both the separator and the decimal sign; give another --delimiter";
            return Err(Error::input(path, problem));
        }
        let (byte, source): (u8, Source) = match delimiter {
            Delimiter::Byte(byte) => (byte, source),
            Delimiter::Spaces => (b'\t', Box::new(SpacesToTabs::new(source))),
        };
        let reader = csv::ReaderBuilder::new()
            .delimiter(byte)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(BoundedReader::new(source, 0));
        let delimiter_given = options.delimiter.is_some();
        let path = path.to_owned();
        Ok(Records {
            path,
            reader,
            held: None,
            fields: None,
            limit: HEADER,
            decimal_comma: comma,
            delimiter_given,
        })
    }

    /// Returns `record` again.
    pub(super) fn hold(&mut self, record: csv::ByteRecord) {
        self.held = Some(record);
    }

    /// From here on every row must have this many fields.
    pub(super) fn require(&mut self, fields: usize) -> Result<()> {
        self.fields = Some(fields);
        self.bound(fields)
    }

    /// Limits the length of rows for this many fields.
    pub(super) fn bound(&mut self, fields: usize) -> Result<()> {
        if fields > MOST_COLUMNS {
            let problem =
                format!("its first line has {fields} fields, but at most {MOST_COLUMNS} columns are allowed");
            return Err(Error::input(&self.path, problem));
        }
        self.limit = ROW + FIELD * fields as u64;
        Ok(())
    }

    /// Reads the next row, and returns whether there is one.
    pub(super) fn next(&mut self, record: &mut csv::ByteRecord) -> Result<bool> {
        if let Some(held) = self.held.take() {
            *record = held;
        } else {
            self.reader.get_mut().allow(self.limit + BUFFER as u64);
            let read = self.reader.read_byte_record(record);
            let line = self.reader.position().line();
            match read {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(e) => {
                    let cause = match e.into_kind() {
                        csv::ErrorKind::Io(e) if e.to_string() == TOO_LONG => {
                            let what = if self.limit == HEADER { "a header" } else { "a row" };
                            format!("{TOO_LONG} ({what} may have at most {} here)", memory::size(self.limit))
                        }
                        csv::ErrorKind::Io(e) => e.to_string(),
                        other => format!("{other:?}"),
                    };
                    return Err(Error::input(&self.path, format!("line {line}: {cause}")));
                }
            }
        }
        match self.fields {
            Some(fields) if fields != record.len() => {
                let count = record.len();
                let problem =
                    format!("line {} has {count} fields, but there are {fields} columns", line(record));
                Err(Error::input(&self.path, problem))
            }
            _ => Ok(true),
        }
    }

    /// Refuses a first line that is one field, but looks as if another character separated its fields.
    pub(super) fn check_separated(&self, first: &csv::ByteRecord) -> Result<()> {
        let Some(only) = first.get(0).filter(|_| first.len() == 1 && !self.delimiter_given) else {
            return Ok(());
        };
        let Some((_, name)) = SIGNS.iter().find(|(sign, _)| only.contains(sign)) else { return Ok(()) };
        let problem = format!(
            "its first line, {:?}, is one column, but another separator is likely; give --delimiter {name} (and --decimal , \
             if its numbers have a decimal comma)",
            short(&String::from_utf8_lossy(only)),
        );
        Err(Error::input(&self.path, problem))
    }

    /// A number, NaN if it is missing, none if it is anything else.
    pub(super) fn number(&self, field: &[u8]) -> Option<f64> {
        number(field, self.decimal_comma)
    }
}

/// The line that a record began at.
pub(super) fn line(record: &csv::ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// A field as text, or an error if it is not UTF-8.
pub(super) fn utf8<'a>(
    field: &'a [u8],
    record: &csv::ByteRecord,
    name: &str,
    path: &Path,
) -> Result<&'a str> {
    std::str::from_utf8(field).map_err(|e| {
        let (at, line) = (e.valid_up_to(), line(record));
        let problem = format!(
            "line {line}, column {:?}: byte {} of the field (0x{:02X}) is not UTF-8; give --encoding latin1, or whatever \
             the text is, or save it as UTF-8",
            short(name),
            at + 1,
            field.get(at).copied().unwrap_or_default(),
        );
        Error::input(path, problem)
    })
}

/// A number, NaN if it is missing, none if it is anything else.
pub(super) fn number(field: &[u8], decimal_comma: bool) -> Option<f64> {
    let field = field.trim_ascii();
    let parsed = if decimal_comma { with_comma(field) } else { fast_float2::parse::<f64, _>(field).ok() };
    match parsed {
        Some(value) if value.is_finite() && (field.len() < 16 || exact(field, value)) => Some(value),
        _ if MISSING.iter().any(|missing| missing.as_bytes() == field) => Some(f64::NAN),
        _ => None,
    }
}

/// Whether a whole number is exact: beyond 2^53 it may have been rounded.
fn exact(field: &[u8], value: f64) -> bool {
    let whole = std::str::from_utf8(field).ok().and_then(|text| text.parse::<i128>().ok());
    whole.is_none_or(|whole| value as i128 == whole)
}

/// `1,5` is one and a half. A decimal point is refused, because it may separate thousands.
fn with_comma(field: &[u8]) -> Option<f64> {
    let mut digits = [0; 64];
    let digits = digits.get_mut(..field.len())?;
    for (digit, &byte) in digits.iter_mut().zip(field) {
        *digit = match byte {
            b',' => b'.',
            b'.' => return None,
            other => other,
        };
    }
    fast_float2::parse::<f64, _>(digits).ok()
}

/// Guesses the separator from the first line.
fn sniff(start: &[u8], decimal_comma: bool) -> Delimiter {
    let first = start.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = first.unwrap_or_default();
    let found = SIGNS.iter().find(|(sign, _)| first.contains(sign) && !(decimal_comma && *sign == b','));
    found.map_or(Delimiter::Spaces, |(sign, _)| Delimiter::Byte(*sign))
}

/// Replaces every run of spaces and tabs by one tab, and removes those at the ends of a line. Quoted text is kept.
struct SpacesToTabs {
    source: Source,
    input: Vec<u8>,
    held: std::ops::Range<usize>,
    /// Whether spaces were skipped since the last field.
    gap: bool,
    /// Whether nothing of the line was returned yet.
    fresh: bool,
    quoted: bool,
}

impl SpacesToTabs {
    fn new(source: Source) -> Self {
        SpacesToTabs { source, input: vec![0; 1 << 16], held: 0..0, gap: false, fresh: true, quoted: false }
    }
}

impl Read for SpacesToTabs {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut written = 0;
        while written == 0 && !out.is_empty() {
            if self.held.is_empty() {
                self.held = 0..self.source.read(&mut self.input)?;
                if self.held.is_empty() {
                    break;
                }
            }
            while written < out.len() && !self.held.is_empty() {
                let byte = self.input[self.held.start];
                let space = !self.quoted && (byte == b' ' || byte == b'\t');
                let end = byte == b'\n' || byte == b'\r';
                if space {
                    self.gap = !self.fresh;
                } else if self.gap && !end {
                    // The byte itself comes in the next round.
                    out[written] = b'\t';
                    written += 1;
                    self.gap = false;
                    continue;
                } else {
                    out[written] = byte;
                    written += 1;
                    self.quoted ^= byte == b'"';
                    (self.fresh, self.gap) = (end && !self.quoted, false);
                }
                self.held.start += 1;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_spaces_separate_once() {
        for size in [1, 2, 3, 100] {
            let text = "  a \t b\n1   2  \r\n \"x  y\"  3\n";
            let mut spaces = SpacesToTabs::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())));
            let (mut out, mut piece) = (Vec::new(), vec![0; size]);
            loop {
                match spaces.read(&mut piece).unwrap() {
                    0 => break,
                    count => out.extend_from_slice(&piece[..count]),
                }
            }
            assert_eq!(String::from_utf8(out).unwrap(), "a\tb\n1\t2\r\n\"x  y\"\t3\n");
        }
    }

    #[test]
    fn numbers_as_they_are_written() {
        assert_eq!(number(b" 1.5 ", false), Some(1.5));
        assert_eq!(number(b"1,5", true), Some(1.5));
        assert_eq!(
            (number(b"1,5", false), number(b"1.5", true), number(b"1.000,5", true)),
            (None, None, None)
        );
        assert!(number(b"NA", true).unwrap().is_nan() && number(b"", false).unwrap().is_nan());
        assert_eq!((number(b"inf", false), number(b"1e400", false), number(b"x", false)), (None, None, None));
        assert_eq!(number(&[b'1'; 100], true), None);
        assert_eq!(number(b"9007199254740993", false), None, "it would be rounded");
        assert_eq!(number(b"9007199254740992", false), Some(9007199254740992.0));
        assert_eq!(number(b"0.12345678901234567890", false), Some(0.123_456_789_012_345_68));
    }

    #[test]
    fn delimiters_by_name_and_by_sight() {
        assert_eq!("tab".parse(), Ok(Delimiter::Byte(b'\t')));
        assert_eq!(":".parse(), Ok(Delimiter::Byte(b':')));
        for wrong in ["", "x", "7", "\"", ".", "ab", "ä"] {
            assert!(wrong.parse::<Delimiter>().is_err(), "{wrong:?}");
        }
        assert_eq!(sniff(b"\n a b;c,d\n", false), Delimiter::Byte(b';'));
        assert_eq!(sniff(b"1,5 2,5", true), Delimiter::Spaces);
        assert_eq!(sniff(b"", false), Delimiter::Spaces);
    }
}
