//! Data sets and model files for menet.
//!
//! [`read`] takes the name of a built-in set, a file or a folder and returns a [`Table`], which can be used as a
//! [`menet::Dataset`] without a copy. [`blocks`] reads data larger than memory, and [`transform()`] projects them. [`model`]
//! saves and loads fitted models. Files are written whole or not at all ([`atomic`]).
//!
//! To add a format: one file in `formats/`, and one line in [`formats::REGISTRY`].
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod atomic;
pub mod blocks;
pub mod builtin;
mod counted;
mod doubts;
pub mod edges;
pub mod error;
pub mod export;
pub mod fingerprint;
pub mod formats;
pub mod formulas;
pub mod groups;
pub mod guard;
pub mod labels;
pub mod memory;
mod missing;
pub mod model;
mod needs;
mod source;
pub mod table;
pub mod terminal;
pub mod transform;
pub mod whole;
pub mod write;

pub use error::{Error, Result};
pub use formats::{Delimiter, ReadOptions, read};
pub use groups::read_groups;
pub use model::ModelFile;
pub use needs::{ModelVariables, TableModel};
pub use table::{Ids, Table, TableValues};
pub use transform::{TransformReport, transform};
