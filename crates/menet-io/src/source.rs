//! Opening the input: files or standard input, compressed or not, in any encoding, with a limit on the length of a line.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Error, Result};

/// A reader of any kind.
pub(crate) type Source = Box<dyn Read + Send>;

/// The first bytes of compressed files.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of files that are not text.
const BINARY: [(&[u8], &str, &str); 6] = [
    (b"PAR1", "a Parquet file", "parquet"),
    (b"ARROW1", "an Arrow file", "feather"),
    (b"PK\x03\x04", "a zip archive", "npz"),
    (b"\x93NUMPY", "a NumPy array", "npy"),
    (b"MATLAB 5", "a MATLAB file", "mat"),
    (b"\x89HDF", "an HDF5 file", "mat"),
];

/// Endings of compressed files, which follow the ending of the format.
pub(crate) const PACKED: [&str; 2] = [".gz", ".zst"];

/// Opens a file, or standard input for `-`, and decompresses gzip and zstd, whatever the name of the file.
pub(crate) fn open(path: &Path) -> Result<Source> {
    Ok(open_metered(path)?.0)
}

/// Like [`open`], and reports how far the file has been read.
pub(crate) fn open_metered(path: &Path) -> Result<(Source, Meter)> {
    let meter = Meter::default();
    let (input, size): (Source, u64) = if is_standard_input(path) {
        (Box::new(std::io::stdin()), 0)
    } else {
        let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
        let size = file.metadata().map_or(0, |meta| meta.len());
        (Box::new(file), size)
    };
    let meter = Meter { size, ..meter };
    let metered: Source = Box::new(MeteredReader { input, read: Arc::clone(&meter.read) });
    let (start, input) = peek(metered, 4).map_err(|e| Error::input(path, e))?;
    let reader = BufReader::with_capacity(1 << 20, input);
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let unpacked: Source = if start.starts_with(&GZIP) {
        Box::new(flate2::bufread::MultiGzDecoder::new(reader))
    } else if start.starts_with(&ZSTD) {
        let decoder = zstd::stream::read::Decoder::with_buffer(reader).map_err(|e| Error::input(path, e))?;
        Box::new(decoder)
    } else if PACKED.contains(&format!(".{ending}").as_str()) {
        let problem = format!(
            "the name ends in .{ending}, but the file is not compressed with gzip or zstd; rename it"
        );
        return Err(Error::input(path, problem));
    } else {
        Box::new(reader)
    };
    Ok((unpacked, meter))
}

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file for formats that need random access, which standard input does not allow.
pub(crate) fn open_file(path: &Path, format: &str) -> Result<std::fs::File> {
    if is_standard_input(path) {
        let problem = format!("{format} cannot be read from standard input; save it as a file");
        return Err(Error::input(path, problem));
    }
    std::fs::File::open(path).map_err(|e| Error::input(path, e))
}

/// The first bytes (fewer if the file is shorter), and a reader that repeats them.
pub(crate) fn peek(mut reader: Source, count: usize) -> std::io::Result<(Vec<u8>, Source)> {
    let mut start = Vec::new();
    reader.by_ref().take(count as u64).read_to_end(&mut start)?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(reader))))
}

/// Text as UTF-8, and a notice about it. Bytes that are not valid in `encoding` are an error. Without an encoding, text is
/// UTF-8, which the caller must check, unless it begins with the byte order mark of UTF-16.
pub(crate) fn decoded(
    source: Source,
    encoding: Option<&str>,
    path: &Path,
) -> Result<(Source, Option<String>)> {
    let (start, source) = peek(source, 8).map_err(|e| Error::input(path, e))?;
    if let Some((_, name, format)) = BINARY.iter().find(|(magic, ..)| start.starts_with(magic)) {
        let problem = format!("is {name}, not text; rename it, or give --format {format}");
        return Err(Error::input(path, problem));
    }
    let start = &start[..start.len().min(4)];
    let marked = Encoding::for_bom(start);
    let (encoding, notice) = match (encoding, marked) {
        (None, Some((mark, _))) if mark != UTF_8 => (
            mark,
            Some(format!("{}: read as {}, because of its byte order mark", path.display(), mark.name())),
        ),
        (None, None) if start.len() == 4 && (start[0] == 0) != (start[1] == 0) && start.contains(&0) => {
            let name = if start[0] == 0 { UTF_16BE.name() } else { UTF_16LE.name() };
            let problem = format!(
                "every second byte is 0, so the text seems to be {name}; give --encoding {}, or save it as UTF-8",
                name.to_lowercase()
            );
            return Err(Error::input(path, problem));
        }
        (None, _) => (UTF_8, None),
        (Some(name), _) => match Encoding::for_label(name.as_bytes()) {
            Some(encoding) => (encoding, None),
            None => {
                let known = "utf-8, latin1, windows-1252, utf-16le, utf-16be, shift_jis, gb18030, ...";
                return Err(Error::input(path, format!("--encoding {name}: unknown encoding; use {known}")));
            }
        },
    };
    if encoding == UTF_8 {
        let skip = if marked.is_some() { 3 } else { 0 };
        let (_, source) = skipped(source, skip).map_err(|e| Error::input(path, e))?;
        return Ok((source, None));
    }
    let decoder = encoding.new_decoder_with_bom_removal();
    let reader = DecodedText {
        source,
        decoder,
        name: encoding.name(),
        input: vec![0; 1 << 16],
        passed: 0,
        text: Vec::new(),
        given: 0,
        over: false,
    };
    Ok((Box::new(reader), notice))
}

fn skipped(mut source: Source, count: u64) -> std::io::Result<(u64, Source)> {
    let skipped = std::io::copy(&mut source.by_ref().take(count), &mut std::io::sink())?;
    Ok((skipped, source))
}

/// Text in another encoding, converted to UTF-8.
struct DecodedText {
    source: Source,
    decoder: Decoder,
    name: &'static str,
    input: Vec<u8>,
    /// How many bytes were decoded before `input`.
    passed: u64,
    /// The text decoded last, and how much of it was returned.
    text: Vec<u8>,
    given: usize,
    over: bool,
}

impl DecodedText {
    /// Decodes the next piece.
    fn refill(&mut self) -> std::io::Result<()> {
        let count = self.source.read(&mut self.input)?;
        self.over = count == 0;
        let most = self.decoder.max_utf8_buffer_length_without_replacement(count).unwrap_or(4 * count + 16);
        self.text.resize(most, 0);
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(&self.input[..count], &mut self.text, self.over);
        self.text.truncate(written);
        self.given = 0;
        if result != DecoderResult::InputEmpty {
            let at = self.passed + read as u64;
            let problem = format!("the bytes before byte {} are not valid {}", at + 1, self.name);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, problem));
        }
        self.passed += count as u64;
        Ok(())
    }
}

impl Read for DecodedText {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while self.given == self.text.len() && !self.over {
            self.refill()?;
        }
        let count = out.len().min(self.text.len() - self.given);
        out[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// A reader with a limit on the number of bytes, which can be raised. Without it, a line without an end or an unclosed
/// quotation mark would be read into memory as far as it goes.
pub(crate) struct BoundedReader<R> {
    reader: R,
    left: u64,
}

impl<R> BoundedReader<R> {
    pub(crate) fn new(reader: R, bytes: u64) -> Self {
        BoundedReader { reader, left: bytes }
    }

    /// Sets the limit for the following bytes.
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.left = bytes;
    }
}

/// The error of a bounded reader at its limit.
pub(crate) const TOO_LONG: &str =
    "a line is too long; a quotation mark may be unclosed, or the file may not be text";

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, TOO_LONG));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let read = self.reader.read(&mut out[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// How much of a file has been read.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    read: Arc<AtomicU64>,
    size: u64,
}

impl Meter {
    /// Bytes read, and bytes in all; 0 if unknown.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.size)
    }

    /// Megabytes read, and megabytes in all.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let (read, size) = self.bytes();
        (read >> 20, size >> 20)
    }
}

struct MeteredReader {
    input: Source,
    read: Arc<AtomicU64>,
}

impl Read for MeteredReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], encoding: Option<&str>) -> std::result::Result<String, String> {
        let (mut source, _) = decoded(Box::new(Cursor::new(bytes.to_vec())), encoding, Path::new("t.csv"))
            .map_err(|e| e.to_string())?;
        let mut text = String::new();
        source.read_to_string(&mut text).map_err(|e| e.to_string())?;
        Ok(text)
    }

    #[test]
    fn encodings() {
        assert_eq!(text(b"a,b", None).unwrap(), "a,b");
        assert_eq!(text(b"", None).unwrap(), "");
        assert_eq!(text(b"\xef\xbb\xbfa", None).unwrap(), "a");
        assert_eq!(text(b"M\xfcll", Some("latin1")).unwrap(), "Müll");
        assert_eq!(text(b"\xff\xfea\0\xe4\0", None).unwrap(), "aä");
        assert_eq!(text(b"\xfe\xff\0a\0\xe4", None).unwrap(), "aä");
        assert_eq!(text(b"a\0\xe4\0", Some("utf-16le")).unwrap(), "aä");
        assert!(text(b"a\0b\0", None).unwrap_err().contains("--encoding utf-16le"));
        assert!(text(b"\0a\0b", None).unwrap_err().contains("--encoding utf-16be"));
        assert!(text(b"a", Some("klingon")).unwrap_err().contains("klingon"));
        assert!(text(b"\0a\xd8\0\0b", Some("utf-16be")).unwrap_err().contains("not valid"));
        // A character across the edge of a piece.
        let long = "ä".repeat(70_000);
        let bytes: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text(&bytes, Some("utf-16le")).unwrap(), long);
    }

    #[test]
    fn a_line_without_an_end_is_noticed() {
        let mut reader = BoundedReader::new(std::io::repeat(b'a'), 1000);
        let mut out = Vec::new();
        assert!(reader.read_to_end(&mut out).unwrap_err().to_string().contains("too long"));
        assert_eq!(out.len(), 1000);
        reader.allow(5);
        assert_eq!(reader.read(&mut [0; 9]).unwrap(), 5);
    }
}
