//! Finished cells on disk, so that a stopped run can continue.
//!
//! `cells.jsonl` has a first line that identifies the run, then one line per finished cell, each written and synced at once. If
//! a kill cut a line short, it is dropped when the run continues.
//!
//! The first line does not contain the number of repeats. A repeat depends on its number alone, so a run with more repeats
//! continues the same run, and the lines of both are the same.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::cell::{Cell, Place};
use crate::error::{Error, Result};
use crate::protocol::{Protocol, Set};

/// The file's name in the folder of a run.
pub const NAME: &str = "cells.jsonl";

/// The format of the lines. Format 1 had no such number, and its cells had rates only, without variables and mistakes. Format 2
/// had no log loss and AUC, and MEN decided by the nearest neighbour.
const FORMAT: u32 = 3;

/// Identifies the run of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    menet: String,
    /// The protocol without the number of repeats; as TOML, because parameters may be infinite and JSON has no infinity.
    protocol: String,
    data: Vec<Fingerprint>,
}

/// Identifies a data set.
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
    /// The fingerprint of a set.
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
    /// Opens the journal in `folder`, which is made if necessary, and keeps its finished cells.
    ///
    /// # Errors
    /// When the folder holds another run, another process uses it, or it cannot be written.
    pub fn open(folder: &Path, protocol: &Protocol, data: &[Fingerprint]) -> Result<Self> {
        let path = folder.join(NAME);
        std::fs::create_dir_all(folder).map_err(|e| broken(folder, &e))?;
        let header = Header::new(protocol, data)?;
        let file = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = file.map_err(|e| broken(&path, &e))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let message = format!(
                "{}: another menet process is using this folder; wait until it ends, or give another folder",
                folder.display()
            );
            return Err(Error::Usage(message));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| broken(&path, &e))?;
        // Only lines that end in a line break are complete.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|&byte| byte == b'\n');
        let mut journal = Journal { path, file, cells: Vec::new(), places: HashMap::new() };
        match lines.next().filter(|first| !first.is_empty()) {
            None => {
                journal.file.set_len(0).map_err(|e| broken(&journal.path, &e))?;
                journal.write(&header)?;
            }
            Some(first) => {
                header.check(first).map_err(|difference| other_run(folder, &difference))?;
                journal.file.set_len(whole as u64).map_err(|e| broken(&journal.path, &e))?;
                // The cell of a damaged line is computed again.
                lines
                    .filter_map(|line| serde_json::from_slice(line).ok())
                    .for_each(|cell| journal.keep(cell));
                journal.refuse_fewer(folder, protocol.repeats)?;
            }
        }
        Ok(journal)
    }

    /// Refuses fewer repeats than there are: the tables would silently leave out finished work.
    fn refuse_fewer(&self, folder: &Path, repeats: usize) -> Result<()> {
        match self.cells.iter().map(|cell| cell.place.repeat + 1).max() {
            Some(there) if there > repeats => Err(Error::Usage(format!(
                "--repeats {repeats}: {} already holds {there} repeats of this run; give --repeats {there} or more \
                 to go on there, or another folder",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Adds a finished cell.
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

    /// The finished cell of a place.
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
    fn new(protocol: &Protocol, data: &[Fingerprint]) -> Result<Self> {
        let broken = |e: toml::ser::Error| Error::Usage(e.to_string());
        let mut table = Table::try_from(protocol).map_err(broken)?;
        table.remove("repeats");
        let protocol = toml::to_string(&table).map_err(broken)?;
        let menet = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Header { format: FORMAT, menet, protocol, data: data.to_vec() })
    }

    /// Checks that a first line belongs to this run; the error says what differs.
    fn check(&self, line: &[u8]) -> std::result::Result<(), String> {
        let Ok(any) = serde_json::from_slice::<serde_json::Value>(line) else {
            return Err(format!("its {NAME} cannot be read"));
        };
        let format = any.get("format").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(FORMAT)) && any.get("protocol").is_some() {
            let format = format.unwrap_or(1);
            return Err(format!(
                "made by another version of menet: its {NAME} has format {format}, but this version continues format \
                 {FORMAT}"
            ));
        }
        match serde_json::from_value::<Header>(any) {
            Ok(found) if found == *self => Ok(()),
            Ok(found) => Err(found.difference(self)),
            Err(_) => Err(format!("its {NAME} cannot be read")),
        }
    }

    fn difference(&self, other: &Header) -> String {
        if self.data != other.data {
            return "of other data".to_owned();
        }
        if self.menet != other.menet {
            return format!("made by menet {}, but this is {}", self.menet, other.menet);
        }
        let parse = |header: &Header| header.protocol.parse::<Table>().unwrap_or_default();
        let (there, here) = (parse(self), parse(other));
        let names: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
        let differing: Vec<&str> =
            names.into_iter().filter(|&name| there.get(name) != here.get(name)).map(String::as_str).collect();
        format!("with other options: {}", differing.join(", "))
    }
}

fn other_run(folder: &Path, difference: &str) -> Error {
    Error::Usage(format!(
        "{}: this folder holds another run ({difference}); give another folder, or remove this one",
        folder.display()
    ))
}

fn broken(path: &Path, error: &std::io::Error) -> Error {
    let problem = format!("cannot be used: {error}");
    menet_io::Error::Output { path: path.to_owned(), problem }.into()
}
