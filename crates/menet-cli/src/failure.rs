//! Why a command failed, and its exit code: 2 for usage and input, 1 for writing and numerics, 130 for a fit that was
//! stopped (the signal that stopped it decides, see `signals`).

use std::fmt;

use crate::text;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Options that cannot be combined, or an invalid parameter file.
    Usage(String),
    /// Reading, writing, or the core.
    Io(menet_io::Error),
}

impl Failure {
    /// The stage in which a signal stopped the work.
    pub(crate) fn stopped(&self) -> Option<menet::Stage> {
        match self {
            Failure::Io(menet_io::Error::Core(menet::Error::Stopped { stage })) => Some(*stage),
            _ => None,
        }
    }

    /// Whether the reader of standard output has gone away (`| head`): nobody is left to tell, and nothing is wrong.
    pub(crate) fn closed(&self) -> bool {
        matches!(self, Failure::Io(menet_io::Error::BrokenPipe))
    }

    pub(crate) fn code(&self) -> i32 {
        match self {
            Failure::Io(menet_io::Error::BrokenPipe) => 0,
            Failure::Usage(_) | Failure::Io(menet_io::Error::Input { .. }) => 2,
            Failure::Io(menet_io::Error::Core(error)) => match error {
                menet::Error::Stopped { .. } => 130,
                menet::Error::Numerical { .. } | menet::Error::Indefinite { .. } => 1,
                _ => 2,
            },
            Failure::Io(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) => f.write_str(message),
            // On one line, whatever characters the path has.
            Failure::Io(
                menet_io::Error::Input { path, problem } | menet_io::Error::Output { path, problem },
            ) => {
                write!(f, "{}: {}", text::path(path), text::inline(problem))
            }
            Failure::Io(error) => error.fmt(f),
        }
    }
}

impl From<menet_io::Error> for Failure {
    fn from(error: menet_io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<menet::Error> for Failure {
    fn from(error: menet::Error) -> Self {
        Failure::Io(error.into())
    }
}

impl From<menet_lab::Error> for Failure {
    fn from(error: menet_lab::Error) -> Self {
        match error {
            menet_lab::Error::File(error) => Failure::Io(error),
            menet_lab::Error::Core(error) => error.into(),
            menet_lab::Error::Method { source: source @ menet::Error::Stopped { .. }, .. } => source.into(),
            other => Failure::Usage(other.to_string()),
        }
    }
}
