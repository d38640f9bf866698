//! [`Preset`]: views that a corpus can take, chosen by stated rules and without labels.

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::model::View;

/// A ready choice of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Views that complement each other: the default.
    #[default]
    Auto,
    /// One pass of features: the fastest.
    Fast,
    /// The paper's kernels alone.
    Paper,
}

/// Views for a corpus, and what a user should know about the choice.
pub(super) struct Choice {
    pub(super) views: Vec<View>,
    pub(super) notes: Vec<String>,
}

impl std::str::FromStr for Preset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_value(text.into()).map_err(|_| {
            let known: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
            Error::bad_param("preset", text, format!("is not a preset; choose one of {}", known.join(", ")))
        })
    }
}

impl Preset {
    /// Every preset, with what it is.
    pub const WORDS: [(&'static str, &'static str); 3] = [
        ("auto", "views that complement each other, combined"),
        ("fast", "one pass of features"),
        ("paper", "the paper's kernels alone"),
    ];

    /// The views for a corpus.
    pub(super) fn choose(self, corpus: &SeriesSet) -> Result<Choice> {
        let _ = corpus;
        Ok(Choice { views: vec![View::default()], notes: Vec::new() })
    }
}
