//! Writing a file whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Writes `path` by way of a temporary file beside it, which takes its place only when all is written. `-` is standard
/// output.
///
/// # Errors
/// When the folder does not exist, the disk is full, or `fill` fails; `path` is then as it was.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |e: std::io::Error| Error::output(path, format!("cannot be written: {e}"));
    if path.as_os_str() == "-" {
        let mut out = BufWriter::new(std::io::stdout().lock());
        return match fill(&mut out).and_then(|()| out.flush()) {
            // Whoever read has had enough, as `| head` does.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
            done => done.map_err(failed),
        };
    }
    if path.is_dir() {
        return Err(Error::output(path, "is a folder; a file to write is needed"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::output(path, format!("the folder {} does not exist", folder.display())));
    }
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut buffer = BufWriter::new(temporary.as_file_mut());
    fill(&mut buffer).and_then(|()| buffer.flush()).map_err(failed)?;
    drop(buffer);
    temporary.as_file().sync_all().map_err(failed)?;
    readable(temporary.as_file()).map_err(failed)?;
    temporary.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
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
