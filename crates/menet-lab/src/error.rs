//! Errors of experiments.

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What was given, where, and what is allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option, a parameter file, or a folder of another run.
    #[error("{0}")]
    Usage(String),
    /// A method failed unexpectedly.
    #[error("{context}: {source}")]
    Method {
        /// Which method, on which split.
        context: String,
        /// Why.
        source: menet::Error,
    },
    /// What a procedure of the caller's raised.
    #[error("{context}: {source}")]
    Foreign {
        /// Which method, on which split.
        context: String,
        /// The caller's own error, who can recognise it by its type.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A study whose parts are inconsistent.
    #[error("the study is inconsistent: {0}")]
    Study(String),
    /// A figure that could not be drawn.
    #[error("figure `{figure}` could not be drawn: {problem}")]
    Figure {
        /// Its name.
        figure: String,
        /// Why not.
        problem: String,
    },
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] menet::Error),
    /// An error about files.
    #[error(transparent)]
    File(#[from] menet_io::Error),
}
