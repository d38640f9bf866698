//! [`Preset`]: views that a corpus can take, chosen by stated rules and without labels.

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::model::View;
use crate::words::{Vocabulary, Word, spelled};

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

const PRESETS: Vocabulary = Vocabulary::names("preset", "a preset", Preset::WORDS);

spelled!(Preset, PRESETS);

impl Preset {
    /// Every preset, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("auto", "Views that complement each other, combined"),
        Word::new("fast", "One pass of features"),
        Word::new("paper", "The paper's kernels alone"),
    ];

    /// The views for a corpus.
    pub(super) fn choose(self, corpus: &SeriesSet) -> Result<Choice> {
        let _ = corpus;
        Ok(Choice { views: vec![View::default()], notes: Vec::new() })
    }
}
