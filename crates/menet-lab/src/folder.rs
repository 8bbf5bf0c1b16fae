//! A folder of results, and which of its files are ours.
//!
//! `evaluate`, `tune`, `validate`, `inspect --png` and `demo` write many files into a folder that the user names. One rule holds for
//! all of them:
//!
//! - The file [`MARK`] names the command and every file that it wrote. Only these files are replaced.
//! - A file that is not named there is the user's, or another command's. If a result would replace it, the command refuses to start.
//! - At the end, files that an earlier run wrote and this one did not are removed, so that all files are of one run.
//! - The mark is locked while a command works in the folder. A command that wrote nothing leaves neither mark nor folder behind.
//!
//! A name is added to the mark before its file is written, and removed after its file was, so that a kill at any time leaves no file that
//! belongs to nobody.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use menet_io::atomic;

use crate::error::{Error, Result};

/// The file that names the files of a run.
pub const MARK: &str = "menet-files.txt";

/// A folder of results that this process may write to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Whether we made the folder.
    made: bool,
    command: &'static str,
    /// What an earlier run wrote.
    before: BTreeSet<String>,
    now: Mutex<FolderLock>,
}

/// The locked mark, and what this run wrote.
#[derive(Debug)]
struct FolderLock {
    mark: File,
    written: BTreeSet<String>,
}

impl Folder {
    /// Takes a folder for `command`, and makes it if need be. `files` are the names that will be written, as far as they are known; names
    /// that end in `/` are of folders, whose files are checked when they are written.
    ///
    /// # Errors
    /// When another process uses the folder, it holds results of another command, one of `files` is there and not ours, or the folder
    /// cannot be written.
    pub fn open(path: &Path, command: &'static str, files: &[&str]) -> Result<Self> {
        if path.as_os_str().is_empty() {
            let message = "the name of the folder is empty; give a folder for the results";
            return Err(Error::Usage(message.to_owned()));
        }
        let made = !path.exists();
        std::fs::create_dir_all(path).map_err(|e| broken(path, &e))?;
        let at = path.join(MARK);
        let mut mark = marked(path, &at)?;
        let mut text = String::new();
        mark.read_to_string(&mut text).map_err(|e| broken(&at, &e))?;
        // A line that a kill cut short names a file that was not begun.
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let before = match lines.next() {
            Some(line) if line == first_line(command) => named(lines),
            Some(line) => return Err(of_another(path, line)),
            None => BTreeSet::new(),
        };
        let whole = if before.is_empty() { 0 } else { text.rfind('\n').map_or(0, |end| end + 1) };
        mark.set_len(whole as u64).map_err(|e| broken(&at, &e))?;
        let folder = Folder {
            path: path.to_owned(),
            made,
            command,
            before,
            now: Mutex::new(FolderLock { mark, written: BTreeSet::new() }),
        };
        let foreign = files.iter().filter(|name| !name.ends_with('/')).find(|name| folder.is_foreign(name));
        match foreign {
            Some(name) => Err(folder.foreign(name)),
            None => Ok(folder),
        }
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an earlier run of the command wrote this file.
    pub fn had(&self, name: &str) -> bool {
        self.before.contains(name)
    }

    /// The path of a file that is about to be written, which belongs to this run from now on. `name` may be in a folder of its own, as
    /// `figures/roc.svg`.
    ///
    /// # Errors
    /// When there is such a file that is not ours, or the mark or the inner folder cannot be written.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path.join(name);
        if !now.written.contains(name) {
            if self.is_foreign(name) {
                return Err(self.foreign(name));
            }
            let first = self.before.is_empty() && now.written.is_empty();
            let heading = if first { first_line(self.command) + "\n" } else { String::new() };
            if !self.before.contains(name) {
                self.append(&mut now.mark, &format!("{heading}{name}\n"))?;
            }
            now.written.insert(name.to_owned());
            if let Some(inner) = path.parent() {
                std::fs::create_dir_all(inner).map_err(|e| broken(inner, &e))?;
            }
        }
        Ok(path)
    }

    /// Writes a file whole or not at all.
    ///
    /// # Errors
    /// As [`Self::file`], and when it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.file(name)?;
        atomic::write(&path, |out| out.write_all(bytes))?;
        Ok(path)
    }

    /// Removes what an earlier run wrote and this one did not.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn finish(&self) -> Result<()> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let FolderLock { mark, written } = &mut *now;
        for name in self.before.difference(written) {
            let path = self.path.join(name);
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(broken(&path, &e)),
                _ => self.append(mark, &format!("{GONE}{name}\n"))?,
            }
        }
        Ok(())
    }

    fn append(&self, mark: &mut File, text: &str) -> Result<()> {
        let done = mark.write_all(text.as_bytes()).and_then(|()| mark.sync_data());
        done.map_err(|e| broken(&self.path.join(MARK), &e))
    }

    fn is_foreign(&self, name: &str) -> bool {
        !self.before.contains(name) && self.path.join(name).symlink_metadata().is_ok()
    }

    fn foreign(&self, name: &str) -> Error {
        Error::Usage(format!(
            "{}: this folder has a {name} that menet {} did not write, which would be overwritten; give another folder",
            self.path.display(),
            self.command
        ))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let now = self.now.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.before.is_empty() && now.written.is_empty() {
            // While it is locked; whoever opened it meanwhile finds that out (see `marked`).
            drop(std::fs::remove_file(self.path.join(MARK)));
            if self.made {
                drop(std::fs::remove_dir(&self.path));
            }
        }
    }
}

/// Before the name of a file that was removed.
const GONE: &str = "removed: ";

/// The mark, open and locked.
fn marked(folder: &Path, at: &Path) -> Result<File> {
    loop {
        let opened = OpenOptions::new().create(true).read(true).append(true).open(at);
        let mark = opened.map_err(|e| broken(at, &e))?;
        if let Err(TryLockError::WouldBlock) = mark.try_lock() {
            return Err(Error::Usage(format!(
                "{}: another menet process is using this folder; wait until it ends, or give another folder",
                folder.display()
            )));
        }
        // A process that wrote nothing may have removed it between the two.
        if at.exists() {
            return Ok(mark);
        }
    }
}

fn first_line(command: &str) -> String {
    format!("menet {command} wrote these files, and replaces or removes no others:")
}

/// The files that are there according to the lines of a mark. A name that leads out of the folder is none that we wrote.
fn named<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let inside = |line: &&str| Path::new(line).components().all(|part| matches!(part, Component::Normal(_)));
    for line in lines.filter(inside) {
        match line.strip_prefix(GONE) {
            Some(name) => names.remove(name),
            None => names.insert(line.to_owned()),
        };
    }
    names
}

fn of_another(path: &Path, line: &str) -> Error {
    let whose = match line.split_once(" wrote these files") {
        Some((command, _)) => format!("holds the results of {}", command.escape_debug()),
        None => format!("has a {MARK} that menet did not write"),
    };
    Error::Usage(format!("{}: this folder {whose}; give another folder", path.display()))
}

fn broken(path: &Path, error: &std::io::Error) -> Error {
    let problem = format!("cannot be used: {error}");
    menet_io::Error::Output { path: path.to_owned(), problem }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<impl std::fmt::Debug>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn files_of_others_are_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("summary.csv"), "mine").unwrap();
        let refusal = message(Folder::open(dir.path(), "tune", &["trials.csv", "summary.csv"]));
        assert!(refusal.contains("summary.csv that menet tune did not write"), "{refusal}");
        let folder = Folder::open(dir.path(), "tune", &["trials.csv", "figures/"]).unwrap();
        folder.write("trials.csv", b"ours").unwrap();
        assert!(message(folder.file("summary.csv")).contains("did not write"));
        std::fs::create_dir(dir.path().join("figures")).unwrap();
        std::fs::write(dir.path().join("figures/a.svg"), "mine").unwrap();
        assert!(message(folder.write("figures/a.svg", b"ours")).contains("figures/a.svg"));
        folder.write("figures/b.svg", b"ours").unwrap();
        folder.finish().unwrap();
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!([text("summary.csv"), text("figures/a.svg")], ["mine"; 2]);
        drop(folder);
        let refusal = message(Folder::open(dir.path(), "validate", &[]));
        assert!(refusal.contains("holds the results of menet tune"), "{refusal}");
    }

    #[test]
    fn all_files_are_of_one_run() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name).exists();
        let run = |names: &[&str]| {
            let folder = Folder::open(dir.path(), "validate", names).unwrap();
            names.iter().for_each(|name| drop(folder.write(name, b"x").unwrap()));
            folder.finish().unwrap();
        };
        run(&["a.csv", "b.csv", "figures/c.svg"]);
        std::fs::write(dir.path().join("figures/mine.svg"), "mine").unwrap();
        run(&["a.csv"]);
        assert!(there("a.csv") && !there("b.csv") && !there("figures/c.svg") && there("figures/mine.svg"));
        // What was removed is not ours any more.
        std::fs::write(dir.path().join("b.csv"), "mine").unwrap();
        assert!(message(Folder::open(dir.path(), "validate", &["b.csv"])).contains("b.csv"));
        run(&["a.csv", "figures/c.svg"]);
        assert!(there("figures/c.svg"));
        // A user may remove a file.
        std::fs::remove_file(dir.path().join("a.csv")).unwrap();
        run(&["d.csv"]);
        assert!(!there("a.csv") && there("d.csv"));
    }

    #[test]
    fn one_process_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = Folder::open(dir.path(), "tune", &[]).unwrap();
        assert!(message(Folder::open(dir.path(), "tune", &[])).contains("another menet process"));
        drop(Folder::open(&dir.path().join("new"), "tune", &[]).unwrap());
        drop(first);
        // Nothing was written, so the folder is nobody's, and holds no trace of us.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        Folder::open(dir.path(), "evaluate", &[]).unwrap();
        std::fs::write(dir.path().join(MARK), "a list of mine\n").unwrap();
        assert!(message(Folder::open(dir.path(), "tune", &[])).contains("menet did not write"));
        assert!(message(Folder::open(Path::new(""), "tune", &[])).contains("empty"));
    }

    /// A folder may come from somebody else, with a mark that names files elsewhere.
    #[test]
    fn names_that_lead_out_of_the_folder_are_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (outer, inner) = (dir.path().join("mine.csv"), dir.path().join("run"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&outer, "mine").unwrap();
        let text = format!("{}\n../mine.csv\n{}\na.csv\n", first_line("tune"), outer.display());
        std::fs::write(inner.join(MARK), text).unwrap();
        let folder = Folder::open(&inner, "tune", &[]).unwrap();
        assert!(folder.had("a.csv"));
        folder.finish().unwrap();
        assert_eq!(std::fs::read_to_string(outer).unwrap(), "mine");
    }

    #[test]
    fn a_mark_that_a_kill_cut_short_is_read_as_far_as_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let text = first_line("tune") + "\na.csv\nb.cs";
        for length in 0..=text.len() {
            std::fs::write(dir.path().join(MARK), &text[..length]).unwrap();
            let folder = Folder::open(dir.path(), "tune", &[]).unwrap();
            assert_eq!(folder.had("a.csv"), length >= text.len() - 4, "{length}");
            folder.write("c.csv", b"x").unwrap();
            drop(folder);
            assert!(Folder::open(dir.path(), "tune", &["c.csv"]).unwrap().had("c.csv"), "{length}");
            std::fs::remove_file(dir.path().join("c.csv")).unwrap();
        }
    }
}
