//! The pieces of work of a validation, each finished once and kept.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::permutation::Statistic;
use super::procedure::Decisions;
use crate::error::Result;
use crate::folder::Folder;
use crate::journal::{Fingerprint, Journal, JournalLine};

/// Which piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkItem {
    /// A procedure on one fold.
    Fold {
        /// The name of the procedure.
        method: String,
        /// The repeat, from 0.
        repeat: usize,
        /// The fold, from 0.
        fold: usize,
    },
    /// The first procedure on all folds with permuted labels; the number of the permutation.
    Permutation(usize),
    /// The selection in a half-sample; its number.
    Half(usize),
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkResult {
    Decided(Decisions),
    Statistic(Statistic),
    /// The variables in the order in which they enter.
    Order(Vec<usize>),
}

/// A finished piece of work: a line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedWork {
    place: WorkItem,
    found: WorkResult,
}

/// The name of the journal of `validate` in its folder.
pub const NAME: &str = "work.jsonl";

impl JournalLine for FinishedWork {
    type Key = WorkItem;
    const NAME: &'static str = NAME;
    /// Format 1 had no checksums, and a permutation that could not be fitted had no result.
    const FORMAT: u32 = 2;

    fn place(&self) -> WorkItem {
        self.place.clone()
    }
}

/// Finished work: on disk, or only in memory where no folder was given.
#[derive(Debug)]
pub(super) enum WorkStore {
    Disk(Box<Journal<FinishedWork>>),
    Memory(HashMap<WorkItem, FinishedWork>),
}

impl WorkStore {
    pub(super) fn open(folder: Option<&Folder>, options: &Table, data: &Fingerprint) -> Result<Self> {
        Ok(match folder {
            Some(folder) => {
                WorkStore::Disk(Box::new(Journal::open(folder, options, std::slice::from_ref(data))?))
            }
            None => WorkStore::Memory(HashMap::new()),
        })
    }

    pub(super) fn add(&mut self, place: WorkItem, found: WorkResult) -> Result<()> {
        let done = FinishedWork { place, found };
        match self {
            WorkStore::Disk(journal) => journal.add(done),
            WorkStore::Memory(kept) => {
                kept.insert(done.place(), done);
                Ok(())
            }
        }
    }

    fn find(&self, place: &WorkItem) -> Option<&WorkResult> {
        match self {
            WorkStore::Disk(journal) => journal.find(place),
            WorkStore::Memory(kept) => kept.get(place),
        }
        .map(|done| &done.found)
    }

    pub(super) fn has(&self, place: &WorkItem) -> bool {
        self.find(place).is_some()
    }

    pub(super) fn decided(&self, place: &WorkItem) -> Option<&Decisions> {
        match self.find(place)? {
            WorkResult::Decided(decided) => Some(decided),
            _ => None,
        }
    }

    pub(super) fn statistic(&self, k: usize) -> Option<Statistic> {
        match self.find(&WorkItem::Permutation(k))? {
            WorkResult::Statistic(statistic) => Some(*statistic),
            _ => None,
        }
    }

    pub(super) fn order(&self, k: usize) -> Option<&Vec<usize>> {
        match self.find(&WorkItem::Half(k))? {
            WorkResult::Order(order) => Some(order),
            _ => None,
        }
    }

    /// Puts the lines on disk in the order of `places`.
    pub(super) fn arrange(&self, places: &[WorkItem]) -> Result<()> {
        match self {
            WorkStore::Disk(journal) => journal.arrange(places),
            WorkStore::Memory(_) => Ok(()),
        }
    }
}
