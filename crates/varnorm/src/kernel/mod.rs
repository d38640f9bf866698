//! Kernels: plain data that says which inner product of time series is meant.
//!
//! [`Kernel`] is what users write, save and send: the same JSON in configurations, model files, reports and
//! other languages. How values are computed is private: a `Pass` walks over pairs of series once for all kernels
//! that can share the walk.
//!
//! All that is known of a kernel stands in its file in `family/`, as an implementation of the trait `Family`; the one list of
//! kernels is in `family/mod.rs`. To add a kernel: see CONTRIBUTING.md.

mod auto;
mod catalogue;
pub(crate) mod drive;
mod family;
pub(crate) mod features;
mod goursat;
pub(crate) mod pass;
mod points;

pub use catalogue::{KernelInfo, ParameterInfo, ParameterKind, ParameterRange};
pub use family::radon::RadonFit;
pub use family::rocket::RocketFit;
pub use family::shares::share_features;
pub use family::sig::{Compat, Lift};
pub use family::sig_explicit::{signature_feature_names, signature_features};
pub use family::sig_fourier::{Form, fourier_signature_features};
pub use family::sig_random::random_signature;
pub use family::vrk::{Clip, NamedClip};
pub use family::*;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A kernel parameter: a number, or `auto`, which is worked out from the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Parameter {
    /// Worked out from the corpus when a model is fitted.
    #[default]
    Auto,
    /// Taken literally.
    Value(f64),
}

impl Parameter {
    /// The same, with `auto` worked out.
    fn or_else(self, auto: impl FnOnce() -> f64) -> Self {
        match self {
            Self::Auto => Self::Value(auto()),
            given => given,
        }
    }

    /// The same for what may fail.
    fn or_try(self, auto: impl FnOnce() -> Result<f64>) -> Result<Self> {
        match self {
            Self::Auto => auto().map(Self::Value),
            given => Ok(given),
        }
    }

    /// The number, or an error when it is still `auto`.
    pub(crate) fn resolved(self, name: &str) -> Result<f64> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Auto => {
                Err(Error::bad_param(name, "auto", "is worked out from a corpus; call Kernel::resolve first"))
            }
        }
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Value(value) => value.fmt(f),
        }
    }
}

impl std::str::FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Value).map_err(|_| "must be a number or auto".into()),
        }
    }
}

impl Serialize for Parameter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Value(value) => serializer.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number or \"auto\"")]
        enum Text {
            Number(f64),
            Word(String),
        }
        match Text::deserialize(deserializer)? {
            Text::Number(value) => Ok(Self::Value(value)),
            Text::Word(word) if word == "auto" => Ok(Self::Auto),
            Text::Word(word) => {
                Err(serde::de::Error::custom(format!("\"{word}\" is neither a number nor \"auto\"")))
            }
        }
    }
}

impl Default for Kernel {
    /// The flat RBF kernel with the median bandwidth.
    fn default() -> Self {
        FlatRbf::default().into()
    }
}

/// `-1 / (2 sigma^2)`, in a form that does not overflow before its result does.
fn rbf_factor(sigma: f64) -> f64 {
    -0.5 / sigma / sigma
}

/// `base^exponent` of every lane, by squaring: the same bits in every lane and on every path.
#[inline(always)]
fn powers<const N: usize>(bases: [f64; N], exponent: u32) -> [f64; N] {
    let (mut results, mut squares, mut left) = ([1.0; N], bases, exponent);
    while left > 0 {
        for lane in 0..N {
            if left & 1 == 1 {
                results[lane] *= squares[lane];
            }
            squares[lane] *= squares[lane];
        }
        left >>= 1;
    }
    results
}
