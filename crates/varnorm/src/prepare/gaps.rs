//! [`Gaps`]: what happens to missing values inside series.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Preparation, Step, paths};
use crate::data::{Dataset, SeriesSet};
use crate::error::Result;
use crate::words::{Vocabulary, Word, spelled};

/// What happens to missing values (NaN) inside series. They are never filled unless somebody says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// An error names the first one.
    #[default]
    Refuse,
    /// Linear interpolation in time; the ends take the nearest value.
    Interpolate,
}

const GAPS: Vocabulary = Vocabulary::names("gaps", "a way with missing values", Gaps::WORDS);

spelled!(Gaps, GAPS);

impl Gaps {
    /// Every way, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("refuse", "An error names the first one"),
        Word::new("interpolate", "Filled in on a line between their neighbours"),
    ];

    /// The series with their gaps filled, where that is the choice.
    ///
    /// ```
    /// use varnorm::{SeriesSet, prepare::Gaps};
    /// let set = SeriesSet::from_equal(vec![1.0, f64::NAN, 3.0], 3, 1).unwrap();
    /// assert_eq!(Gaps::Interpolate.fill(&set).unwrap().values(), [1.0, 2.0, 3.0]);
    /// assert!(Gaps::Refuse.fill(&set).unwrap().values()[1].is_nan());
    /// ```
    pub fn fill(self, series: &SeriesSet) -> Result<Cow<'_, SeriesSet>> {
        match self {
            Self::Interpolate if series.values().iter().any(|v| v.is_nan()) => {
                paths::interpolate(series.clone()).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(series)),
        }
    }

    /// Fills the gaps of a data set, where that is the choice, and says so: the number of values is returned.
    pub fn fill_dataset(self, dataset: &mut Dataset) -> Result<usize> {
        let missing = dataset.series.values().iter().filter(|v| v.is_nan()).count();
        if self == Self::Refuse || missing == 0 {
            return Ok(0);
        }
        dataset.series = self.fill(&dataset.series)?.into_owned();
        dataset.notes.push(format!("{missing} missing values were filled in by interpolation"));
        Ok(missing)
    }

    /// A preparation that does so before anything else.
    pub(crate) fn before(self, mut prepare: Preparation) -> Preparation {
        if self == Self::Interpolate && !prepare.fills_missing() {
            prepare.steps.insert(0, Step::Interpolate {});
        }
        prepare
    }
}
