//! The library's errors as Python exceptions: `varnorm.errors` names them, the library's sentence is their text.

use pyo3::prelude::*;
use pyo3::types::PyModule;
use varnorm::Error;

/// Which exception of `varnorm.errors` stands for an error.
fn exception(error: &Error) -> &'static str {
    match error {
        Error::BadParam { .. } => "ParameterError",
        Error::Io { .. } => "FileError",
        Error::Parse { .. } | Error::File { .. } | Error::Model { .. } | Error::CannotHold { .. } => {
            "FormatError"
        }
        Error::Cancelled => "Cancelled",
        Error::Eigen { .. } => "VarnormError",
        Error::Memory { .. } => "OutOfMemory",
        Error::Within { error, .. } => exception(error),
        _ => "DataError",
    }
}

/// The exception, ready to be raised.
pub fn raised(error: &Error) -> PyErr {
    named(exception(error), error.to_string())
}

/// A parameter outside its domain, in the library's form.
pub fn bad_param(name: &str, value: impl ToString, rule: impl Into<String>) -> PyErr {
    raised(&Error::bad_param(name, value, rule))
}

/// An exception of `varnorm.errors` by its name.
pub fn named(name: &str, sentence: String) -> PyErr {
    Python::attach(|py| {
        let class = PyModule::import(py, "varnorm.errors").and_then(|errors| errors.getattr(name));
        match class.and_then(|class| class.call1((sentence,))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    })
}
