//! Files that are read whole: models, parameters, lists of variables. A device may never end, and a pipe may be longer than memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::memory::{self, size};

/// The largest file of parameters, which may hold a number per variable.
pub const PARAMETERS: u64 = 64_000_000;

/// The largest file of groups of variables, or of edges between them.
pub const LISTS: u64 = 1_000_000_000;

/// The text of a file or pipe of at most so many bytes, without a byte order mark.
///
/// # Errors
/// When it cannot be read, is a device, is longer, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let bytes = memory::read_to_end(&mut open(path)?.take(most + 1), path)?;
    if bytes.len() as u64 > most {
        let most = size(most);
        return Err(Error::input(
            path,
            format!("is longer than {most}, the most that is read here; is it the right file?"),
        ));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to() + 1;
        Error::input(path, format!("byte {at} is not UTF-8; save it as text in UTF-8"))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Opens a file or a pipe.
///
/// # Errors
/// When it cannot be opened, or is a device.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|e| Error::input(path, e))?;
    match file.metadata() {
        Ok(about) if is_device(&about) => {
            Err(Error::input(path, "is a device, which may never end; give a file or a pipe"))
        }
        _ => Ok(file),
    }
}

#[cfg(unix)]
fn is_device(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    about.file_type().is_char_device() || about.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path, most: u64) -> String {
        read_text(path, most).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, "\u{feff}größe").unwrap();
        assert_eq!(read_text(&path, 10).unwrap(), "größe");
        assert!(refusal(&path, 9).contains("longer than 9 bytes"), "{}", refusal(&path, 9));
        std::fs::write(&path, b"ab\xff").unwrap();
        assert!(refusal(&path, 10).contains("byte 3 is not UTF-8"), "{}", refusal(&path, 10));
        assert!(read_text(folder.path(), 10).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused_and_pipes_are_read() {
        assert!(refusal(Path::new("/dev/zero"), 10).contains("is a device"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for (text, most) in [("a,b\n", 4), ("a,b\n", 3)] {
            let to = path.clone();
            // The reader goes away at its limit.
            let writer = std::thread::spawn(move || drop(std::fs::write(to, text)));
            assert_eq!(read_text(&path, most).ok().as_deref(), (most == 4).then_some(text));
            writer.join().unwrap();
        }
    }
}
