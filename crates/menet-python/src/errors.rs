//! What went wrong, as Python's exceptions.

use pyo3::exceptions::{PyBrokenPipeError, PyIndexError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// An error of the core, of files or of a validation on its way to Python.
#[derive(Debug)]
pub(crate) enum Failure {
    Core(menet::Error),
    /// About a Gram matrix that Python calls by another name.
    Gram {
        error: menet::Error,
        called: String,
    },
    Io(menet_io::Error),
    Lab(menet_lab::Error),
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

impl From<menet_lab::Error> for Failure {
    fn from(error: menet_lab::Error) -> Self {
        match error {
            menet_lab::Error::Core(error) => Failure::Core(error),
            menet_lab::Error::File(error) => Failure::Io(error),
            other => Failure::Lab(other),
        }
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
            Failure::Core(error) | Failure::Io(menet_io::Error::Core(error)) => core(error, |text| text),
            Failure::Gram { error, called } => {
                core(error, |text| text.replace("`gram`", &format!("`{called}`")))
            }
            Failure::Lab(error) => lab(error),
            Failure::Io(menet_io::Error::Output { path, problem }) => {
                PyOSError::new_err(format!("{}: {problem}", path.display()))
            }
            Failure::Io(error @ menet_io::Error::BrokenPipe) => PyBrokenPipeError::new_err(error.to_string()),
            Failure::Io(error) => PyValueError::new_err(error.to_string()),
        }
    }
}

fn lab(error: menet_lab::Error) -> PyErr {
    match error {
        menet_lab::Error::Method { context, source } => core(source, |text| format!("{context}: {text}")),
        menet_lab::Error::Foreign { context, source } => match source.downcast::<PyErr>() {
            Ok(error) => Python::attach(|py| {
                // Python 3.10 has no notes; the exception is worth more than the place.
                let _ = error.value(py).call_method1("add_note", (format!("menet.validate: {context}"),));
                *error
            }),
            Err(other) => PyValueError::new_err(format!("{context}: {other}")),
        },
        other => PyValueError::new_err(in_python(&other.to_string())),
    }
}

fn core(error: menet::Error, rename: impl Fn(String) -> String) -> PyErr {
    use menet::Error::{
        Classes, Components, Degenerate, Empty, Indefinite, NoVariable, NotFinite, Numerical, Parameter,
        PathTooShort, Size, Sparse, Stopped, Tie, TooLarge,
    };
    let message = rename(in_python(&error.to_string()));
    match error {
        NotFinite { what: "the data", row, column, .. } => Python::attach(|py| {
            // The package knows the names of the variables, and says which one this is.
            let error = PyValueError::new_err(message);
            let placed = error.value(py).setattr("place", (row, column));
            placed.err().unwrap_or(error)
        }),
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
        | NoVariable { .. }
        | Tie { .. }
        | TooLarge { .. }
        | Sparse { .. }
        | Degenerate(_)
        | Indefinite { .. }
        | PathTooShort { .. }
        | _ => PyValueError::new_err(message),
    }
}

/// A message with the parameters called as Python calls them.
fn in_python(message: &str) -> String {
    let names = [
        ("`components`", "`n_components`"),
        ("`nonzeros`", "`n_nonzeros`"),
        ("`voters`", "`n_neighbors`"),
        ("`weights`", "`sample_weight`"),
        ("`neighbors` is 0", "`n_neighbors` is 0"),
    ];
    names.iter().fold(message.to_owned(), |text, (core, python)| text.replace(core, python))
}

/// That there is no such component.
pub(crate) fn no_component(component: usize, components: usize) -> PyErr {
    PyIndexError::new_err(format!(
        "component {component} was asked for, but there are 0 to {}",
        components - 1
    ))
}
