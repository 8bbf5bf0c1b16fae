//! What went wrong, as Python's exceptions.

use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// An error of the core or of files on its way to Python.
#[derive(Debug)]
pub(crate) enum Failure {
    Core(menet::Error),
    Io(menet_io::Error),
    Python(PyErr),
}

impl From<menet::Error> for Failure {
    fn from(error: menet::Error) -> Self {
        Failure::Core(error)
    }
}

impl From<menet_io::Error> for Failure {
    fn from(error: menet_io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Core(error) | Failure::Io(menet_io::Error::Core(error)) => core(&error),
            Failure::Io(menet_io::Error::Output { path, problem }) => {
                PyOSError::new_err(format!("{}: {problem}", path.display()))
            }
            Failure::Io(error) => PyValueError::new_err(error.to_string()),
        }
    }
}

fn core(error: &menet::Error) -> PyErr {
    use menet::Error::{
        Classes, Components, Degenerate, Empty, Indefinite, NotFinite, Numerical, Parameter, PathTooShort,
        Size, Stopped, Tie, TooLarge,
    };
    let message = in_python(&error.to_string());
    match error {
        Stopped { .. } => PyKeyboardInterrupt::new_err(message),
        Numerical { .. } => Python::attach(|py| {
            // numpy.linalg.LinAlgError is a ValueError that says which kind.
            let kind = py.import("numpy.linalg").and_then(|module| module.getattr("LinAlgError"));
            kind.and_then(|kind| kind.call1((message,))).map_or_else(|e| e, PyErr::from_value)
        }),
        Parameter { .. }
        | Size { .. }
        | Empty { .. }
        | NotFinite { .. }
        | Classes { .. }
        | Components { .. }
        | Tie { .. }
        | TooLarge { .. }
        | Degenerate(_)
        | Indefinite { .. }
        | PathTooShort { .. }
        | _ => PyValueError::new_err(message),
    }
}

/// A message with the parameters called as Python calls them.
fn in_python(message: &str) -> String {
    message.replace("`components`", "`n_components`").replace("`nonzeros`", "`n_nonzeros`")
}

/// That there is no such component.
pub(crate) fn no_component(component: usize, components: usize) -> PyErr {
    PyIndexError::new_err(format!(
        "component {component} was asked for, but there are 0 to {}",
        components - 1
    ))
}
