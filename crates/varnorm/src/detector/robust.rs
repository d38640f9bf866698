//! [`Robust`]: what is done about members of a corpus that do not belong there.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word};

/// What is done about members of the corpus that do not belong there.
///
/// ```
/// use varnorm::detector::Robust;
/// assert_eq!("trim:0.1".parse::<Robust>().unwrap(), Robust::Trim { share: Some(0.1) });
/// assert_eq!("trim".parse::<Robust>().unwrap().to_string(), "trim");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Robust {
    /// They are named, and stay.
    None {},
    /// They are left out of the model and of its calibration, and named.
    Trim {
        /// The share that is left out; absent: those that the rule finds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share: Option<f64>,
    },
}

impl Default for Robust {
    fn default() -> Self {
        Self::None {}
    }
}

/// More than this cannot be told from the normal series: they are the majority.
const MOST: f64 = 0.4;

impl Robust {
    /// Every choice, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("none", "Suspicious members of the corpus are named, and stay"),
        Word::new("trim", "They are left out: those that stand out, or a share of the corpus")
            .with(&["share"], "trim or trim:0.1"),
    ];

    /// An error that names the parameter and the rule, if it is outside its domain.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Trim { share: Some(share) } if !(*share > 0.0 && *share <= MOST) => {
                let rule =
                    format!("must be a share above 0 and at most {MOST}: normal series are the majority");
                Err(Error::bad_param("share", share, rule))
            }
            _ => Ok(()),
        }
    }
}

const ROBUST: Vocabulary = Vocabulary {
    keyless: Some("share"),
    ..Vocabulary::tagged("robust", "a robust fit", "method", Robust::WORDS)
};

impl std::str::FromStr for Robust {
    type Err = Error;

    /// `none`, `trim`, `trim:0.1`, or JSON.
    fn from_str(text: &str) -> Result<Self> {
        let read: Self = ROBUST.parse(text)?;
        read.validate()?;
        Ok(read)
    }
}

impl std::fmt::Display for Robust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        ROBUST.print(self, &[], f)
    }
}
