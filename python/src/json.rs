//! Plain data of the library, to and from JSON.

use pyo3::PyResult;
use serde_json::{Map, Value};
use varnorm::Settings;

use crate::errors::bad_param;

/// To JSON.
pub fn write(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| bad_param("value", "of the library", e.to_string()))
}

/// From JSON; `name` is what the user calls it.
pub fn read<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| bad_param(name, text, e.to_string()))
}

/// Settings from JSON; what cannot be read is told alone, not with all the rest.
pub fn settings(text: &str) -> PyResult<Settings> {
    let all: Map<String, Value> = read("settings", text)?;
    for (name, value) in &all {
        let one = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        serde_json::from_value::<Settings>(one).map_err(|e| bad_param(name, value, e.to_string()))?;
    }
    read("settings", text)
}

/// From a single word, such as the name of a norm.
pub fn word<T: serde::de::DeserializeOwned>(name: &str, word: &str) -> PyResult<T> {
    serde_json::from_value(Value::String(word.into())).map_err(|e| bad_param(name, word, e.to_string()))
}
