//! Writing a file whole or not at all.

use std::io::{BufWriter, Seek, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes `path` by way of a temporary file beside it, which takes its place only when all is written. `-` is standard
/// output.
///
/// # Errors
/// When the folder does not exist, the disk is full, or `fill` fails; `path` is then as it was.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let mut draft = Draft::new(path)?;
    fill(&mut draft).map_err(|e| failed(path, e))?;
    draft.finish()
}

/// A file in the making, for those who do not have all of it at once. Until [`Draft::finish`] it is a temporary file, which
/// goes away with the draft. `-` is standard output.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    out: Out,
}

#[derive(Debug)]
enum Out {
    File(BufWriter<NamedTempFile>),
    Standard(BufWriter<Stdout>),
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// When `path` is a folder, or cannot be written beside.
    pub fn new(path: &Path) -> Result<Self> {
        let draft = |out| Draft { path: path.to_owned(), out };
        if path.as_os_str() == "-" {
            return Ok(draft(Out::Standard(BufWriter::new(std::io::stdout()))));
        }
        if path.is_dir() {
            return Err(Error::output(path, "is a folder; a file to write is needed"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Error::output(path, format!("the folder {} does not exist", folder.display())));
        }
        let temporary = NamedTempFile::new_in(folder).map_err(|e| failed(path, e))?;
        Ok(draft(Out::File(BufWriter::with_capacity(1 << 16, temporary))))
    }

    /// Writes over the first bytes, once the rest is known. Nothing can be taken back of standard output.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.out {
            Out::File(out) => {
                out.rewind()?;
                out.write_all(bytes)?;
                out.seek(std::io::SeekFrom::End(0)).map(|_| ())
            }
            Out::Standard(_) => Err(std::io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// When the disk is full or the file cannot be renamed; `path` is then as it was.
    pub fn finish(self) -> Result<()> {
        let path = self.path;
        match self.out {
            Out::Standard(mut out) => out.flush().map_err(|e| failed(&path, e)),
            Out::File(out) => {
                let file = out.into_inner().map_err(|e| failed(&path, e.into_error()))?;
                file.as_file().sync_all().map_err(|e| failed(&path, e))?;
                readable(file.as_file()).map_err(|e| failed(&path, e))?;
                file.persist(&path).map_err(|e| failed(&path, e.error))?;
                Ok(())
            }
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.out {
            Out::File(out) => out.write(bytes),
            Out::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.out {
            Out::File(out) => out.flush(),
            Out::Standard(out) => out.flush(),
        }
    }
}

/// What is told of a file that cannot be written. Where whoever read standard output has had enough, as `| head` does, the
/// program ends.
pub(crate) fn failed(path: &Path, e: std::io::Error) -> Error {
    if path.as_os_str() == "-" && e.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Error::output(path, format!("cannot be written: {e}"))
}

/// A temporary file is private; the file it becomes is as readable as any other.
#[cfg(unix)]
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
