//! Plain data of the library, to and from JSON.

use pyo3::PyResult;

use crate::errors::bad_param;

/// To JSON.
pub fn write(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| bad_param("value", "of the library", e.to_string()))
}

/// From JSON; `name` is what the user calls it.
pub fn read<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| bad_param(name, text, e.to_string()))
}
