//! The drafts of this process, and those that an earlier process left behind.
//!
//! A draft is a temporary file `.menet-XXXXXXXXXX.tmp` in the folder of the file it will become. Its process holds an
//! advisory lock on it. A killed process cannot remove its drafts, but its locks end with it. So a draft that can be
//! locked is stale, and the next process that writes into the folder removes it.
//!
//! All drafts of this process are in one registry, so that a program that must end can remove them
//! ([`super::remove_drafts`]). The registry is locked while a draft replaces its file. So either the file is counted as
//! written or its draft is removed, never both and never neither.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::{Builder, NamedTempFile};

const PREFIX: &str = ".menet-";
const SUFFIX: &str = ".tmp";
/// The number of letters and digits between the two.
const RANDOM: usize = 10;

/// The files that this process has written so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFiles {
    /// How many files are whole and in their place.
    pub files: usize,
    /// The latest of them, as its path was given.
    pub last: Option<PathBuf>,
}

struct Registry {
    live: BTreeSet<PathBuf>,
    swept: BTreeSet<PathBuf>,
    written: WrittenFiles,
    closed: bool,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    live: BTreeSet::new(),
    swept: BTreeSet::new(),
    written: WrittenFiles { files: 0, last: None },
    closed: false,
});

fn registry() -> MutexGuard<'static, Registry> {
    // Every change is a single call, so a panic elsewhere leaves the registry consistent.
    REGISTRY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(super) fn written() -> WrittenFiles {
    registry().written.clone()
}

pub(super) fn remove_all() -> WrittenFiles {
    let mut registry = registry();
    registry.closed = true;
    for path in std::mem::take(&mut registry.live) {
        // If it is gone already or cannot be removed, there is nothing left to do.
        let _ = std::fs::remove_file(path);
    }
    registry.written.clone()
}

/// A temporary file in the registry. It is removed with this value, unless it has replaced its file.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    // Dropped first: the file is gone before the registry forgets it.
    file: NamedTempFile,
    entry: RegistryEntry,
}

#[derive(Debug)]
struct RegistryEntry(PathBuf);

impl Drop for RegistryEntry {
    fn drop(&mut self) {
        registry().live.remove(&self.0);
    }
}

impl TemporaryFile {
    /// A new draft in `folder`, with the mode that the umask allows.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let first_visit = registry().swept.insert(folder.to_owned());
        if first_visit {
            remove_stale(folder);
        }
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        loop {
            let mut registry = registry();
            if registry.closed {
                return Err(ending());
            }
            let file = builder.tempfile_in(folder)?;
            match file.as_file().try_lock() {
                // Another process swept the folder and took the draft for stale before it was locked.
                Err(TryLockError::WouldBlock) => continue,
                Ok(()) if !file.path().exists() => continue,
                // Without file locks no process can lock a draft, so no process removes it.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            let path = file.path().to_owned();
            registry.live.insert(path.clone());
            return Ok(TemporaryFile { file, entry: RegistryEntry(path) });
        }
    }

    pub(super) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Renames the draft to `target`, which the user named `path`.
    pub(super) fn place(self, target: &Path, path: &Path) -> io::Result<()> {
        let TemporaryFile { file, entry } = self;
        {
            let mut registry = registry();
            if registry.closed {
                return Err(ending());
            }
            file.persist(target).map_err(|e| e.error)?;
            registry.written.files += 1;
            registry.written.last = Some(path.to_owned());
        }
        drop(entry);
        Ok(())
    }
}

impl io::Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl io::Seek for TemporaryFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn ending() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the program was asked to end")
}

/// Removes the drafts in `folder` that no process holds. Files that cannot be read, locked or removed stay.
fn remove_stale(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(is_draft_name);
        // A link is not a draft, and opening a pipe would wait.
        if !named || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_draft_name(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_ours() {
        assert!(is_draft_name(".menet-0aZ9bcdefg.tmp"));
        for other in
            [".menet-.tmp", ".menet-short.tmp", ".tmp0aZ9bc", "menet-0aZ9bcdefg.tmp", ".menet-0aZ9bcdefg"]
        {
            assert!(!is_draft_name(other), "{other}");
        }
    }

    #[test]
    fn stale_drafts_go_and_live_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let live = TemporaryFile::create(dir.path()).unwrap();
        // Another process would hold its lock in the same way: a lock belongs to an open file.
        let held = File::create(path(".menet-heldbyothe.tmp")).unwrap();
        held.lock().unwrap();
        std::fs::write(path(".menet-abandoned1.tmp"), "half").unwrap();
        std::fs::write(path(".menet-notes.tmp"), "a file of the user").unwrap();
        std::fs::create_dir(path(".menet-afolder123.tmp")).unwrap();
        remove_stale(dir.path());
        assert!(live.file.path().exists());
        assert!(path(".menet-heldbyothe.tmp").exists());
        assert!(!path(".menet-abandoned1.tmp").exists());
        assert!(path(".menet-notes.tmp").exists() && path(".menet-afolder123.tmp").exists());
        drop(held);
        remove_stale(dir.path());
        assert!(!path(".menet-heldbyothe.tmp").exists());
    }
}
