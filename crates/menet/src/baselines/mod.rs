//! Methods to compare with, each short and reading like its definition.

mod pca;

pub use pca::pca;
