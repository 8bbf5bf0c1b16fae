//! Finished work on disk, so that a stopped run can continue.
//!
//! A journal has a first line that identifies the run, then one line per finished piece of work, each written and synced at once.
//! If a kill cut a line short, it is dropped when the run continues. Every line has a checksum; the work of a damaged one is done again.
//!
//! The first line does not contain the number of repeats. A repeat depends on its number alone, so a run with more repeats
//! continues the same run, and the lines of both are the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;
use twox_hash::XxHash64;

use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::protocol::NamedSet;

/// The name of the journal of `evaluate` in its folder.
pub const NAME: &str = "cells.jsonl";

/// A finished piece of work.
pub trait JournalLine: Serialize + DeserializeOwned {
    /// What it is of.
    type Key: Clone + Eq + Hash;

    /// The name of the file.
    const NAME: &'static str;

    /// The format of the lines.
    const FORMAT: u32;

    /// What it is of.
    fn place(&self) -> Self::Key;
}

/// Identifies the run of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    menet: String,
    /// The options that the lines depend on; as TOML, because parameters may be infinite and JSON has no infinity.
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
    /// The XXH64 hash of every part that was given, in hexadecimal: values, labels, names, weights and all others.
    pub parts: BTreeMap<String, String>,
}

impl Fingerprint {
    /// The fingerprint of a set.
    pub fn new(set: &NamedSet<'_>) -> Self {
        // Every field is named, so that a new one cannot be forgotten.
        let NamedSet { name, data, rows, ids } = set;
        let mut parts: BTreeMap<String, u64> =
            data.digest::<XxHash64>().into_iter().map(|(part, hash)| (part.to_owned(), hash)).collect();
        if let Some(rows) = rows {
            parts.insert("rows".to_owned(), hash_of(&rows));
        }
        if let Some(ids) = ids {
            parts.insert("sample names".to_owned(), hash_of(ids));
        }
        Fingerprint {
            name: name.clone(),
            samples: data.samples(),
            variables: data.variables(),
            classes: data.classes().len(),
            parts: parts.into_iter().map(|(part, hash)| (part, format!("{hash:016x}"))).collect(),
        }
    }

    /// What differs between two sets, in words.
    fn difference(&self, other: &Fingerprint) -> Vec<String> {
        let sizes = |set: &Fingerprint| (set.name.clone(), set.samples, set.variables, set.classes);
        let parts: BTreeSet<&String> = self.parts.keys().chain(other.parts.keys()).collect();
        let parts = parts.into_iter().filter(|&part| self.parts.get(part) != other.parts.get(part)).cloned();
        let sized = (sizes(self) != sizes(other)).then(|| "name or size".to_owned());
        sized.into_iter().chain(parts).collect()
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hash = XxHash64::default();
    value.hash(&mut hash);
    hash.finish()
}

/// The open journal of a run.
#[derive(Debug)]
pub struct Journal<L: JournalLine> {
    path: PathBuf,
    file: File,
    header: Header,
    lines: Vec<L>,
    places: HashMap<L::Key, usize>,
}

impl<L: JournalLine> Journal<L> {
    /// Opens the journal in `folder`, and keeps its finished work. `options` are those that the lines depend on.
    ///
    /// # Errors
    /// When the folder holds another run, or it cannot be written.
    pub fn open(folder: &Folder, options: &Table, data: &[Fingerprint]) -> Result<Self> {
        let path = folder.file(L::NAME)?;
        let header = Header::new::<L>(options, data)?;
        let file = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = file.map_err(|e| broken(&path, &e))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| broken(&path, &e))?;
        // Only lines that end in a line break are complete.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|&byte| byte == b'\n');
        let mut journal =
            Journal { path, file, header: header.clone(), lines: Vec::new(), places: HashMap::new() };
        // A run of this version that finished nothing does not occupy its folder.
        let finished = lines.clone().skip(1).any(|line| !line.is_empty());
        let own = |first: &[u8]| {
            let found = unsealed(first).and_then(|text| serde_json::from_slice::<Header>(text).ok());
            found.is_some_and(|found| found.format == L::FORMAT)
        };
        match lines.next().filter(|first| !first.is_empty() && (finished || !own(first))) {
            None => {
                journal.file.set_len(0).map_err(|e| broken(&journal.path, &e))?;
                journal.write(&header)?;
            }
            Some(first) => {
                header.check::<L>(first).map_err(|difference| other_run(folder.path(), &difference))?;
                journal.file.set_len(whole as u64).map_err(|e| broken(&journal.path, &e))?;
                // The work of a damaged line is done again.
                lines
                    .filter_map(|line| serde_json::from_slice(unsealed(line)?).ok())
                    .for_each(|line| journal.keep(line));
            }
        }
        Ok(journal)
    }

    /// Refuses fewer repeats than there are: the tables would silently leave out finished work.
    ///
    /// # Errors
    /// Naming both numbers.
    pub fn refuse_fewer(&self, folder: &Path, repeats: usize, repeat: impl Fn(&L) -> usize) -> Result<()> {
        match self.lines.iter().map(|line| repeat(line) + 1).max() {
            Some(there) if there > repeats => Err(Error::Usage(format!(
                "--repeats {repeats}: {} already holds {there} repeats of this run; give --repeats {there} or more \
                 to go on there, or another folder",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Adds finished work.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, line: L) -> Result<()> {
        self.write(&line)?;
        self.keep(line);
        Ok(())
    }

    fn keep(&mut self, line: L) {
        self.places.insert(line.place(), self.lines.len());
        self.lines.push(line);
    }

    /// The finished work of a place.
    pub fn find(&self, place: &L::Key) -> Option<&L> {
        self.places.get(place).map(|&at| &self.lines[at])
    }

    /// Writes the file anew with the lines of `places` in that order, so that it does not show who finished first.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn arrange(&self, places: &[L::Key]) -> Result<()> {
        let unwritten = |e: serde_json::Error| Error::Usage(e.to_string());
        let mut text = sealed(&self.header).map_err(unwritten)?;
        // More than was asked for now stays, in the order in which it was finished.
        let asked: std::collections::HashSet<&L::Key> = places.iter().collect();
        let others = self.lines.iter().filter(|line| !asked.contains(&line.place()));
        for line in places.iter().filter_map(|place| self.find(place)).chain(others) {
            text += &sealed(line).map_err(unwritten)?;
        }
        Ok(menet_io::atomic::write(&self.path, |out| out.write_all(text.as_bytes()))?)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let text = sealed(line).map_err(|e| Error::Usage(e.to_string()))?;
        let done = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        done.map_err(|e| broken(&self.path, &e))
    }
}

/// The two parts of a line around its text: the checksum comes first, so that it is found without reading the text.
const OPEN: [&str; 2] = ["{\"sum\":\"", "\",\"line\":"];

/// A line of the journal: JSON with the checksum of what it says, so that a damaged digit is not believed.
fn sealed(line: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(line)?;
    let sum = XxHash64::oneshot(0, text.as_bytes());
    Ok(format!("{}{sum:016x}{}{text}}}\n", OPEN[0], OPEN[1]))
}

/// The text of a line; none if it is damaged.
fn unsealed(line: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = line.strip_prefix(OPEN[0].as_bytes())?.split_at_checked(16)?;
    let text = rest.strip_prefix(OPEN[1].as_bytes())?.strip_suffix(b"}")?;
    (sum == format!("{:016x}", XxHash64::oneshot(0, text)).as_bytes()).then_some(text)
}

impl Header {
    fn new<L: JournalLine>(options: &Table, data: &[Fingerprint]) -> Result<Self> {
        let protocol = toml::to_string(options).map_err(|e| Error::Usage(e.to_string()))?;
        let menet = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Header { format: L::FORMAT, menet, protocol, data: data.to_vec() })
    }

    /// Checks that a first line belongs to this run; the error says what differs.
    fn check<L: JournalLine>(&self, line: &[u8]) -> std::result::Result<(), String> {
        let name = L::NAME;
        // Headers of earlier formats had no checksum.
        let text = unsealed(line).unwrap_or(line);
        let Ok(any) = serde_json::from_slice::<serde_json::Value>(text) else {
            return Err(format!("its {name} cannot be read"));
        };
        let format = any.get("format").and_then(serde_json::Value::as_u64);
        if format != Some(u64::from(L::FORMAT)) && any.get("protocol").is_some() {
            let format = format.unwrap_or(1);
            return Err(format!(
                "made by another version of menet: its {name} has format {format}, but this version continues format {}",
                L::FORMAT
            ));
        }
        match serde_json::from_value::<Header>(any) {
            Ok(_) if unsealed(line).is_none() => Err(format!("its {name} is damaged in the first line")),
            Ok(found) if found == *self => Ok(()),
            Ok(found) => Err(found.difference(self)),
            Err(_) => Err(format!("its {name} cannot be read")),
        }
    }

    fn difference(&self, other: &Header) -> String {
        if self.data != other.data {
            let pairs = self.data.iter().zip(&other.data);
            let mut parts: BTreeSet<String> =
                pairs.flat_map(|(there, here)| there.difference(here)).collect();
            if self.data.len() != other.data.len() {
                parts.insert("number of sets".to_owned());
            }
            let parts: Vec<String> = parts.into_iter().collect();
            return format!("of other data: {}", parts.join(", "));
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
