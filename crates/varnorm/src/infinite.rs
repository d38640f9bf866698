//! Numbers that may be infinite, in JSON, which has no infinity: the words `"inf"` and `"-inf"`.

use serde::{Deserialize, Deserializer, Serializer};

/// A number where it is finite, else a word.
pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        v if v.is_finite() => serializer.serialize_f64(v),
        v if v < 0.0 => serializer.serialize_str("-inf"),
        _ => serializer.serialize_str("inf"),
    }
}

/// A number, or one of the two words.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number, \"inf\" or \"-inf\"")]
    enum Text {
        Number(f64),
        Word(String),
    }
    match Text::deserialize(deserializer)? {
        Text::Number(value) => Ok(value),
        Text::Word(word) if word == "inf" => Ok(f64::INFINITY),
        Text::Word(word) if word == "-inf" => Ok(f64::NEG_INFINITY),
        Text::Word(word) => Err(serde::de::Error::custom(format!("\"{word}\" is not a number"))),
    }
}
