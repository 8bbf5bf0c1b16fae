//! Writing a file whole or not at all.
//!
//! The bytes go into a draft in the same folder, which replaces the file only when it is complete. The file keeps the
//! mode (and, where the system allows it, the owner) of the file it replaces; the umask decides the mode of a new file. A
//! symbolic link stays a link: its target is written. A pipe or a device is written directly, because it cannot be replaced.
//! Standard output gets the bytes unchanged, unless it is a terminal ([`crate::terminal`]).

mod drafts;

use std::fs::{File, Metadata};
use std::io::{BufWriter, IsTerminal, Seek, Stdout, Write};
use std::path::{Path, PathBuf};

use drafts::TemporaryFile;
pub use drafts::WrittenFiles;

use crate::error::{Error, Result};
use crate::terminal::Terminal;

/// Writes `path` through a temporary file in the same folder, which replaces it only when complete. `-` is standard
/// output.
///
/// # Errors
/// When the folder does not exist, the disk is full, or `fill` fails; `path` is then unchanged.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let mut draft = Draft::new(path)?;
    fill(&mut draft).map_err(|e| failed(path, e))?;
    draft.finish()
}

/// Removes all drafts of this process, for a program that is about to end, and returns what was written. After this call no
/// draft is begun and none replaces a file, so the answer stays true.
pub fn remove_drafts() -> WrittenFiles {
    drafts::remove_all()
}

/// The files that this process has written so far.
pub fn written() -> WrittenFiles {
    drafts::written()
}

/// The path that is written: `path` itself, or the target of the symbolic link, even if that does not exist.
///
/// # Errors
/// When links form a circle.
pub fn target(path: &Path) -> std::io::Result<PathBuf> {
    let mut target = path.to_owned();
    // Linux follows as many.
    for _ in 0..40 {
        match std::fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(std::io::Error::other("symbolic links form a circle"))
}

/// A file that is written piece by piece. Until [`Draft::finish`] it is a temporary file, which is removed with the draft.
/// `-` is standard output.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    out: DraftOutput,
}

#[derive(Debug)]
enum DraftOutput {
    File {
        draft: BufWriter<TemporaryFile>,
        target: PathBuf,
    },
    /// A pipe or a device.
    Direct(BufWriter<File>),
    Standard(BufWriter<Stdout>),
    /// Standard output on a terminal.
    Shown(Terminal<BufWriter<Stdout>>),
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// When `path` is a folder, or its folder cannot be written.
    pub fn new(path: &Path) -> Result<Self> {
        let draft = |out| Draft { path: path.to_owned(), out };
        if path.as_os_str() == "-" {
            let out = BufWriter::new(std::io::stdout());
            let shown = out.get_ref().is_terminal();
            return Ok(draft(if shown {
                DraftOutput::Shown(Terminal::new(out))
            } else {
                DraftOutput::Standard(out)
            }));
        }
        let before = path.metadata().ok();
        if before.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Error::output(path, "is a folder; name a file to write"));
        }
        // A draft would replace the device by a file.
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            let file = File::options().write(true).open(path).map_err(|e| failed(path, e))?;
            return Ok(draft(DraftOutput::Direct(BufWriter::with_capacity(1 << 16, file))));
        }
        let target = target(path).map_err(|e| failed(path, e))?;
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Error::output(path, format!("the folder {} does not exist", folder.display())));
        }
        let live = TemporaryFile::create(folder).map_err(|e| failed(path, e))?;
        if let Some(before) = before {
            // Set the mode now, not at the end, so that the draft of a private file is private from its first byte.
            keep_access(live.file(), &before).map_err(|e| failed(path, e))?;
        }
        Ok(draft(DraftOutput::File { draft: BufWriter::with_capacity(1 << 16, live), target }))
    }

    /// Overwrites the first bytes, once the rest is known. This is not possible for standard output or a pipe.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rewrite_start(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.out {
            DraftOutput::File { draft, .. } => {
                draft.rewind()?;
                draft.write_all(bytes)?;
                draft.seek(std::io::SeekFrom::End(0)).map(|_| ())
            }
            DraftOutput::Direct(_) | DraftOutput::Standard(_) | DraftOutput::Shown(_) => {
                Err(std::io::ErrorKind::NotSeekable.into())
            }
        }
    }

    /// Replaces the file by the draft.
    ///
    /// # Errors
    /// When the disk is full or the file cannot be renamed; `path` is then unchanged.
    pub fn finish(self) -> Result<()> {
        let path = self.path;
        match self.out {
            DraftOutput::Standard(mut out) => out.flush().map_err(|e| failed(&path, e)),
            DraftOutput::Shown(mut out) => out.flush().map_err(|e| failed(&path, e)),
            DraftOutput::Direct(mut out) => out.flush().map_err(|e| failed(&path, e)),
            DraftOutput::File { draft, target } => {
                let live = draft.into_inner().map_err(|e| failed(&path, e.into_error()))?;
                live.file().sync_all().map_err(|e| failed(&path, e))?;
                live.place(&target, &path).map_err(|e| failed(&path, e))
            }
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.out {
            DraftOutput::File { draft, .. } => draft.write(bytes),
            DraftOutput::Direct(out) => out.write(bytes),
            DraftOutput::Standard(out) => out.write(bytes),
            DraftOutput::Shown(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.out {
            DraftOutput::File { draft, .. } => draft.flush(),
            DraftOutput::Direct(out) => out.flush(),
            DraftOutput::Standard(out) => out.flush(),
            DraftOutput::Shown(out) => out.flush(),
        }
    }
}

/// The error of a file that cannot be written. A closed standard output (`| head`) is an error of its own: the program that
/// called decides what to do about it.
pub(crate) fn failed(path: &Path, e: std::io::Error) -> Error {
    if path.as_os_str() == "-" && e.kind() == std::io::ErrorKind::BrokenPipe {
        return Error::BrokenPipe;
    }
    Error::output(path, format!("cannot be written: {e}"))
}

/// Gives a draft the owner and the mode of the file that it will replace.
#[cfg(unix)]
fn keep_access(draft: &File, before: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = draft.metadata()?;
    let mut mode = before.mode() & 0o7777;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        // Only root may change the owner. The group can often be kept; if not, another group must not get its rights.
        let kept = fchown(draft, Some(before.uid()), Some(before.gid()))
            .or_else(|_| fchown(draft, None, Some(before.gid())));
        if kept.is_err() {
            mode &= !0o070;
        }
    }
    draft.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_access(_: &File, _: &Metadata) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_standard_output_is_an_error_that_the_caller_sees() {
        let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(matches!(failed(Path::new("-"), closed()), Error::BrokenPipe));
        assert!(matches!(failed(Path::new("pipe"), closed()), Error::Output { .. }));
        assert!(matches!(failed(Path::new("-"), std::io::Error::other("full")), Error::Output { .. }));
    }
}
