//! Kernels in words: what a row of the catalogue holds, and the forms that users write (`flat_rbf:sigma=0.7`, or JSON).

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::kernel::{CATALOGUE, Kernel, Parameter};

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ParameterKind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number, or one of these words.
    NumberOrWord(&'static [&'static str]),
}

/// Which values a parameter may have. Its words complete the sentence "must be ..".
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ParameterRange {
    /// All of its kind.
    Any,
    /// Above zero.
    Positive,
    /// Zero or above; with the reason, if it needs one.
    NonNegative(&'static str),
    /// From one number to another, both included; what they are comes first, as in "a level ".
    Between(&'static str, f64, f64),
    /// A rule of its own.
    Rule(&'static str),
}

impl std::fmt::Display for ParameterRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Positive => f.write_str("a positive number or auto"),
            Self::NonNegative(why) => write!(f, "zero, a positive number or auto{why}"),
            Self::Between(what, from, to) if from.fract() == 0.0 => write!(f, "{what}from {from} to {to}"),
            Self::Between(what, from, to) => write!(f, "{what}from {from:?} to {to:?}"),
            Self::Rule(rule) => f.write_str(rule),
        }
    }
}

impl serde::Serialize for ParameterRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One parameter of a kernel, described.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParameterKind,
    /// Which values it may have.
    pub range: ParameterRange,
    /// What is used when it is left out.
    pub default: &'static str,
    /// Whether it has no value of its own when it is left out: there is nothing, or another parameter in its place.
    pub optional: bool,
    /// What it means.
    pub meaning: &'static str,
}

impl ParameterInfo {
    /// A parameter that is a number.
    pub(crate) const fn number(
        name: &'static str,
        range: ParameterRange,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, kind: ParameterKind::Number, range, default, optional: false, meaning }
    }

    /// A parameter that is a whole number.
    pub(crate) const fn whole(
        name: &'static str,
        range: ParameterRange,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { kind: ParameterKind::Whole, ..Self::number(name, range, default, meaning) }
    }

    /// A parameter that is one of these words.
    pub(crate) const fn word(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        let kind = ParameterKind::Word(words);
        Self { kind, ..Self::number(name, ParameterRange::Any, default, meaning) }
    }

    /// The same, without a value of its own when it is left out.
    pub(crate) const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// An error that names the parameter, the value and the rule, if it is outside the range.
    pub(crate) fn check(&self, value: impl Into<f64>) -> Result<()> {
        let value = value.into();
        let inside = match self.range {
            ParameterRange::Any | ParameterRange::Rule(_) => true,
            ParameterRange::Positive => value > 0.0 && value.is_finite(),
            ParameterRange::NonNegative(_) => value >= 0.0 && value.is_finite(),
            ParameterRange::Between(_, from, to) => (from..=to).contains(&value),
        };
        if inside { Ok(()) } else { Err(self.refused(value)) }
    }

    /// The same for a parameter that may be `auto`.
    pub(crate) fn check_given(&self, parameter: Parameter) -> Result<()> {
        match parameter {
            Parameter::Auto => Ok(()),
            Parameter::Value(value) => self.check(value),
        }
    }

    /// The error for a value outside the range.
    pub(crate) fn refused(&self, value: impl std::fmt::Display) -> Error {
        Error::bad_param(self.name, value, format!("must be {}", self.range))
    }
}

/// One kernel, described.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct KernelInfo {
    /// Its name, as in JSON.
    pub name: &'static str,
    /// What it compares, in plain words.
    pub words: &'static str,
    /// Its formula.
    pub formula: &'static str,
    /// Whether it takes series of unequal lengths.
    pub any_lengths: bool,
    /// Its parameters.
    pub parameters: &'static [ParameterInfo],
    /// A specification that parses, with every parameter that it needs given.
    pub example: &'static str,
}

impl std::str::FromStr for Kernel {
    type Err = Error;

    /// `name`, `name:parameter=value,...` or the JSON object.
    fn from_str(text: &str) -> Result<Self> {
        let object =
            if text.trim_start().starts_with('{') { json_object(text)? } else { short_object(text)? };
        check_names(&object)?;
        let kernel: Self = serde_json::from_value(Value::Object(object))
            .map_err(|e| Error::bad_param("kernel", text, e.to_string()))?;
        kernel.validate()?;
        Ok(kernel)
    }
}

fn json_object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|e| Error::bad_param("kernel", text, format!("is not valid JSON: {e}")))
}

fn short_object(text: &str) -> Result<Map<String, Value>> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let mut object = Map::new();
    object.insert("kernel".into(), name.trim().into());
    for part in parameters.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(Error::bad_param(
                "kernel",
                text,
                format!("`{part}` is not of the form parameter=value"),
            ));
        };
        // A number if it is one, a word such as `auto` otherwise.
        let value = serde_json::from_str(value.trim()).unwrap_or_else(|_| value.trim().into());
        if object.insert(key.trim().into(), value).is_some() {
            return Err(Error::bad_param("kernel", text, format!("`{}` is given twice", key.trim())));
        }
    }
    Ok(object)
}

fn check_names(object: &Map<String, Value>) -> Result<()> {
    let name = object.get("kernel").and_then(Value::as_str).unwrap_or("");
    let Some(info) = CATALOGUE.iter().find(|info| info.name == name) else {
        let known: Vec<&str> = CATALOGUE.iter().map(|info| info.name).collect();
        return Err(Error::bad_param(
            "kernel",
            name,
            format!("is not a kernel; choose one of {}", known.join(", ")),
        ));
    };
    for key in object.keys().filter(|key| *key != "kernel") {
        if !info.parameters.iter().any(|p| p.name == key) {
            let known: Vec<&str> = info.parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(Error::bad_param(
                key,
                &object[key],
                format!("{name} has no such parameter; it has: {known}"),
            ));
        }
    }
    Ok(())
}

impl std::fmt::Display for Kernel {
    /// The short form: `flat_rbf:sigma=0.7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ok(Value::Object(object)) = serde_json::to_value(self) else { return Err(std::fmt::Error) };
        f.write_str(object.get("kernel").and_then(Value::as_str).unwrap_or(""))?;
        for (i, (key, value)) in object.iter().filter(|(key, _)| *key != "kernel").enumerate() {
            let mark = if i == 0 { ':' } else { ',' };
            match value {
                Value::String(word) => write!(f, "{mark}{key}={word}")?,
                number => write!(f, "{mark}{key}={number}")?,
            }
        }
        Ok(())
    }
}
