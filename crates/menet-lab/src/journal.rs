//! Finished cells on disk, so that a stopped run goes on.
//!
//! `cells.jsonl`: a first line that says what is run, then one line a finished cell, each written and synced at once. A
//! line that a kill cut short is dropped when the run goes on.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Place};
use crate::error::{Error, Result};
use crate::protocol::{Protocol, Set};

/// The file's name in the folder of a run.
pub const NAME: &str = "cells.jsonl";

/// What a journal belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    menet: String,
    /// As TOML: JSON knows no infinity, which parameters may hold.
    protocol: String,
    data: Vec<Fingerprint>,
}

/// Enough of a data set to tell it from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The name.
    pub name: String,
    /// Number of samples.
    pub samples: usize,
    /// Number of variables.
    pub variables: usize,
    /// Number of classes.
    pub classes: usize,
    /// FNV-1a of labels and values, in hexadecimal.
    pub hash: String,
}

impl Fingerprint {
    /// Of a set.
    ///
    /// # Errors
    /// When it is sparse.
    pub fn new(set: &Set<'_>) -> Result<Self> {
        let data = &set.data;
        let x = data.x()?;
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bytes: &[u8]| {
            for &byte in bytes {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for i in 0..data.samples() {
            add(data.classes()[data.class_of(i)].as_bytes());
            add(&[0]);
            x.row(i).iter().for_each(|x| add(&x.to_bits().to_le_bytes()));
        }
        Ok(Fingerprint {
            name: set.name.clone(),
            samples: data.samples(),
            variables: data.variables(),
            classes: data.classes().len(),
            hash: format!("{hash:016x}"),
        })
    }
}

/// The open journal of a run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    cells: Vec<Cell>,
    places: HashMap<Place, usize>,
}

impl Journal {
    /// Opens the journal in `folder`, which is made if need be; what is finished there is kept.
    ///
    /// # Errors
    /// When the folder holds another run, another process is at it, or it cannot be written.
    pub fn open(folder: &Path, protocol: &Protocol, data: &[Fingerprint]) -> Result<Self> {
        let path = folder.join(NAME);
        std::fs::create_dir_all(folder).map_err(|e| broken(folder, &e))?;
        let protocol = toml::to_string(protocol).map_err(|e| Error::Usage(e.to_string()))?;
        let header = Header { menet: env!("CARGO_PKG_VERSION").to_owned(), protocol, data: data.to_vec() };
        let file = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = file.map_err(|e| broken(&path, &e))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let message = format!("{}: another menet is at work in this folder", folder.display());
            return Err(Error::Usage(message));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| broken(&path, &e))?;
        // Only what ends in a new line was written whole.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|&byte| byte == b'\n');
        let mut journal = Journal { path, file, cells: Vec::new(), places: HashMap::new() };
        match lines.next().filter(|first| !first.is_empty()) {
            None => {
                journal.file.set_len(0).map_err(|e| broken(&journal.path, &e))?;
                journal.write(&header)?;
            }
            Some(first) => {
                let found: Option<Header> = serde_json::from_slice(first).ok();
                if found.as_ref() != Some(&header) {
                    let difference = found.map_or("it cannot be read", |found| found.difference(&header));
                    return Err(Error::Usage(format!(
                        "{}: this folder holds another run ({difference}); give another folder, or remove it",
                        folder.display()
                    )));
                }
                journal.file.set_len(whole as u64).map_err(|e| broken(&journal.path, &e))?;
                // A line that was damaged since is a cell to be computed again.
                lines
                    .filter_map(|line| serde_json::from_slice(line).ok())
                    .for_each(|cell| journal.keep(cell));
            }
        }
        Ok(journal)
    }

    /// Keeps a finished cell.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, cell: Cell) -> Result<()> {
        self.write(&cell)?;
        self.keep(cell);
        Ok(())
    }

    fn keep(&mut self, cell: Cell) {
        self.places.insert(cell.place.clone(), self.cells.len());
        self.cells.push(cell);
    }

    /// The finished cell at a place.
    pub fn find(&self, place: &Place) -> Option<&Cell> {
        self.places.get(place).map(|&at| &self.cells[at])
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(line).map_err(|e| Error::Usage(e.to_string()))?;
        let done = self.file.write_all((text + "\n").as_bytes()).and_then(|()| self.file.sync_data());
        done.map_err(|e| broken(&self.path, &e))
    }
}

impl Header {
    fn difference(&self, other: &Header) -> &'static str {
        if self.data != other.data {
            "of other data"
        } else if self.menet != other.menet {
            "by another version of menet"
        } else {
            "with other options"
        }
    }
}

fn broken(path: &Path, error: &std::io::Error) -> Error {
    let problem = format!("cannot be used: {error}");
    menet_io::Error::Output { path: path.to_owned(), problem }.into()
}
