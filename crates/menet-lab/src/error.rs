//! What can go wrong in an experiment.

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What was given, where, and what is allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option, a parameter file, or a folder of another run.
    #[error("{0}")]
    Usage(String),
    /// A method failed where it should not.
    #[error("{context}: {source}")]
    Method {
        /// Which method, on which split.
        context: String,
        /// Why.
        source: menet::Error,
    },
    /// A study whose parts do not fit together.
    #[error("the study does not fit together: {0}")]
    Study(String),
    /// A figure that could not be drawn.
    #[error("figure `{figure}` could not be drawn: {problem}")]
    Figure {
        /// Its name.
        figure: String,
        /// Why not.
        problem: String,
    },
    /// The core.
    #[error(transparent)]
    Core(#[from] menet::Error),
    /// Files.
    #[error(transparent)]
    File(#[from] menet_io::Error),
}
