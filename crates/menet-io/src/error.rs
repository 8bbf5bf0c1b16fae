//! What can go wrong with files, always naming the file.

use std::path::{Path, PathBuf};

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Which file, and what about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder that cannot be read, or holds something invalid.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong, where, and what is allowed.
        problem: String,
    },
    /// A file that cannot be written.
    #[error("{}: {problem}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A model that cannot be written down or understood.
    #[error("{0}")]
    Model(String),
    /// What the core says.
    #[error(transparent)]
    Core(#[from] menet::Error),
}

impl Error {
    pub(crate) fn input(path: &Path, problem: impl ToString) -> Self {
        Error::Input { path: path.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn output(path: &Path, problem: impl ToString) -> Self {
        Error::Output { path: path.to_owned(), problem: problem.to_string() }
    }
}
