//! [`Space`]: where the covariance of a corpus is worked out.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word};

/// Where the covariance of a corpus is worked out. All pairs of series are exact and cost their number; the two others
/// cost the number of series.
///
/// ```
/// use varnorm::detector::Space;
/// let space: Space = "landmarks:count=256,seed=1".parse().unwrap();
/// assert_eq!(space.to_string(), "landmarks:count=256,choice=pivoted,seed=1");
/// assert_eq!("landmarks:256".parse::<Space>().unwrap().to_string(), "landmarks:count=256,choice=pivoted,seed=0");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "space", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Space {
    /// The Gram matrix of all pairs: exact.
    Gram {},
    /// The span of some series of the corpus.
    Landmarks {
        /// At most so many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<usize>,
        /// As many as it takes for the span to miss at most this share of the sum of `k(x,x)`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tolerance: Option<f64>,
        /// How they are chosen.
        #[serde(default)]
        choice: Choice,
        /// Chance of the choice.
        #[serde(default)]
        seed: u64,
        /// With the choice `given`: the series, by their places in the corpus.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<usize>,
    },
    /// The kernel's own features: exact, for the kernels that have them.
    Features {},
}

/// How landmarks are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Randomly pivoted Cholesky: each with a chance in proportion to what those before it miss of it.
    #[default]
    Pivoted,
    /// Each with the same chance.
    Uniform,
    /// As given.
    Given,
}

impl Default for Space {
    fn default() -> Self {
        Self::Gram {}
    }
}

impl Space {
    /// Every space, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("gram", "All pairs of series: exact"),
        Word::new("features", "The kernel's own features: exact, for the kernels that have them"),
        Word::new("landmarks", "The span of some series of the corpus").with(
            &["count", "tolerance", "choice", "seed", "given"],
            "landmarks:256 or landmarks:tolerance=0.001 (with choice=pivoted or uniform, and seed=0)",
        ),
    ];

    /// So many landmarks, chosen by randomly pivoted Cholesky.
    pub fn landmarks(count: usize) -> Self {
        let (tolerance, choice, seed) = (None, Choice::Pivoted, 0);
        Self::Landmarks { count: Some(count), tolerance, choice, seed, given: Vec::new() }
    }

    /// Whether series can be added to a model in this space, and models in it merge.
    pub fn grows(&self) -> bool {
        !self.is_gram()
    }

    /// Whether it is that of all pairs.
    pub fn is_gram(&self) -> bool {
        *self == Self::Gram {}
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        let Self::Landmarks { count, tolerance, choice, given, .. } = self else { return Ok(()) };
        if *count == Some(0) {
            return Err(Error::bad_param("landmarks", 0, "must be at least 1"));
        }
        match tolerance {
            Some(t) if !(*t > 0.0 && *t < 1.0) => {
                return Err(Error::bad_param("tolerance", t, "must be a share between 0 and 1"));
            }
            Some(_) if *choice == Choice::Given => {
                let rule = "given landmarks are taken as they are; leave the tolerance out";
                return Err(Error::bad_param("tolerance", "given", rule));
            }
            None if count.is_none() && *choice != Choice::Given => {
                let rule = "say how many (count=256) or how good (tolerance=0.001)";
                return Err(Error::bad_param("landmarks", "none", rule));
            }
            _ => {}
        }
        if (*choice == Choice::Given) == given.is_empty() {
            let rule = "the places of given landmarks go with the choice `given`, and with it alone";
            return Err(Error::bad_param("given", format!("{} places", given.len()), rule));
        }
        Ok(())
    }
}

const SPACES: Vocabulary =
    Vocabulary { keyless: Some("count"), ..Vocabulary::tagged("space", "a space", "space", Space::WORDS) };

impl std::str::FromStr for Space {
    type Err = Error;

    /// `gram`, `features`, `landmarks:256`, `landmarks:tolerance=0.001,choice=uniform,seed=1`, or JSON.
    fn from_str(text: &str) -> Result<Self> {
        let read: Self = SPACES.parse(text)?;
        read.validate()?;
        Ok(read)
    }
}

impl std::fmt::Display for Space {
    /// The form that is parsed; places of given landmarks are counted only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Landmarks { given, .. } if !given.is_empty() => {
                write!(f, "landmarks:count={},choice=given", given.len())
            }
            _ => SPACES.print(self, &[], f),
        }
    }
}
