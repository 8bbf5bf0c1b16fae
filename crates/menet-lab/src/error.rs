//! What can go wrong when results become figures and reports.

/// `Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that could not be written.
    #[error(transparent)]
    File(#[from] menet_io::Error),
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
}
