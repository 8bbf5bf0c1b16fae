//! Errors about files. Every error names its file.

use std::path::{Path, PathBuf};

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// How many characters of a text from a file a message repeats.
const SHORT: usize = 60;

/// The largest number of characters of a message.
const LONG: usize = 600;

/// The file, and what is wrong with it.
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
    /// The program that read standard output has closed it, as `| head` does.
    #[error("standard output was closed before all was written")]
    BrokenPipe,
    /// A model that cannot be serialised or read back.
    #[error("{0}")]
    Model(String),
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] menet::Error),
}

impl Error {
    pub(crate) fn input(path: &Path, problem: impl ToString) -> Self {
        Error::Input { path: path.to_owned(), problem: cut(&problem.to_string(), LONG) }
    }

    pub(crate) fn output(path: &Path, problem: impl ToString) -> Self {
        Error::Output { path: path.to_owned(), problem: cut(&problem.to_string(), LONG) }
    }
}

/// The beginning of a text from a file, for messages.
pub(crate) fn short(text: &str) -> String {
    cut(text, SHORT)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
