//! The paper's experiments: protocol → results → figures → report.
//!
//! | module | contents |
//! |---|---|
//! | [`protocol`] | the experiment: sets, methods, splits, dimensions, seed |
//! | [`flags`] | the parameters of a fit on a command line |
//! | [`params`] | parameters of methods by name, from files |
//! | [`space`] | which parameters are searched for each method |
//! | [`tune`](mod@tune) | the choice of parameters by cross-validation inside the training samples |
//! | [`cell`] | one method on one split |
//! | [`folder`] | a folder of results, and which of its files are ours |
//! | [`journal`] | finished work on disk, so that a stopped run can continue |
//! | `workers` | pieces of work on all cores |
//! | [`run`](mod@run) | all cells, on all cores |
//! | [`progress`] | how far a run is, and how long the rest will take |
//! | [`summary`] | from cells to the rows of the table and to the confusion of classes |
//! | [`study`] | the results of a run |
//! | [`output`] | tables and files |
//! | [`charts`] | what figures show, as plain data: one file per chart |
//! | [`figures`] | static figures, one file per figure |
//! | [`report`] | the self-contained page |
//! | [`validate`] | how far a model can be trusted: held-out samples, permuted labels, half-samples |
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::unwrap_used)]

pub mod cell;
pub mod charts;
mod curves;
pub mod error;
pub mod figures;
pub mod flags;
pub mod folder;
pub mod journal;
mod names;
pub mod output;
mod palette;
pub mod params;
pub mod progress;
pub mod protocol;
pub mod report;
pub mod run;
pub mod settings;
pub mod space;
pub mod study;
pub mod summary;
pub mod tune;
pub mod validate;
mod workers;

pub use error::{Error, Result};
pub use folder::Folder;
pub use progress::{Progress, Status, TimeLeft};
pub use protocol::{MetricChoice, NamedSet, Protocol, TuneOptions};
pub use run::run;
pub use study::Study;
pub use tune::{TuningResult, tune};
