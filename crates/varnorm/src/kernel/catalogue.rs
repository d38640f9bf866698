//! Kernels in words: what a row of the catalogue holds, and the forms that users write (`flat_rbf:sigma=0.7`, or JSON).

use crate::error::{Error, Result};
use crate::kernel::{CATALOGUE, Kernel, Parameter};
use crate::words::{Entry, Vocabulary};

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

/// The field of a kernel's JSON that holds what it learned from a corpus beside its parameters: written by a fit, not by users.
const FITTED: &str = "fitted";

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

impl Entry for KernelInfo {
    fn name(&self) -> &str {
        self.name
    }

    fn keys(&self) -> Vec<&str> {
        self.parameters.iter().map(|parameter| parameter.name).collect()
    }

    fn example(&self) -> &str {
        self.example
    }

    fn listed(&self) -> &str {
        self.name
    }

    /// JSON also has what was learned from a corpus.
    fn takes(&self, key: &str) -> bool {
        key == FITTED || self.parameters.iter().any(|parameter| parameter.name == key)
    }
}

const KERNELS: Vocabulary<KernelInfo> = Vocabulary {
    setting: "kernel",
    noun: "a kernel",
    tag: Some("kernel"),
    entries: CATALOGUE,
    keyless: None,
    by_name: true,
};

impl std::str::FromStr for Kernel {
    type Err = Error;

    /// `name`, `name:parameter=value,...` or the JSON object.
    fn from_str(text: &str) -> Result<Self> {
        let kernel: Self = KERNELS.parse(text)?;
        kernel.validate()?;
        Ok(kernel)
    }
}

impl std::fmt::Display for Kernel {
    /// The short form: `flat_rbf:sigma=0.7`. What was learned from a corpus is in the JSON only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        KERNELS.print(self, &[FITTED], f)
    }
}
