//! Preparation of series: fitted on the corpus, applied to anything.
//!
//! A [`Preparation`] is a list of [`Step`]s, plain data. [`Preparation::fit`] learns what there is to learn (means,
//! scales, a pooling window) from the corpus and returns a [`FittedPreparation`], which treats every later series
//! in the same way.

mod fitted;
mod gaps;
mod paths;
mod spec;
mod zscore;

pub use fitted::{FittedPreparation, FittedStep};
pub use gaps::Gaps;
pub(crate) use paths::stretched;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};

/// What a z-score is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Per {
    /// One mean and scale per time step and channel; needs series of one length.
    Step,
    /// One mean and scale per channel.
    Channel,
    /// One mean per channel and one scale for all: the root of the mean variance of the channels. For channels in one
    /// unit, whose sizes mean something.
    Global,
    /// Each series by its own mean and standard deviation per channel: level and size of a series are forgotten.
    Series,
    /// Each series by its own mean per channel, and one scale for all its channels: the root of their mean variance.
    SeriesGlobal,
    /// Median and median absolute deviation per channel (times 1.4826, which makes it the standard deviation of a normal
    /// law): a few wild values in the corpus change nothing.
    Robust,
}

/// The length of a time channel when none is given.
pub(crate) fn unit() -> f64 {
    1.0
}

/// For fields that are left out of JSON where they are 1.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(crate) fn is_unit(value: &f64) -> bool {
    *value == 1.0
}

/// For fields that are left out of JSON where they are 0.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Which end of the series becomes visible to translation-invariant kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The initial position: prepends `(0, 0)` and `(x_1, 0)`.
    I,
    /// The terminal position: appends `(x_T, 0)` and `(0, 0)`.
    T,
}

/// One step of a preparation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Step {
    /// Fills missing values by linear interpolation in time; the ends take the nearest value.
    Interpolate {},
    /// Average pooling with window `1 + (T-1)/max_length` (integer division; T the longest corpus series); an
    /// incomplete last window is dropped, unless it is all there is.
    Pool {
        /// Length that no corpus series exceeds afterwards.
        max_length: usize,
    },
    /// Linear interpolation in time to one length.
    Resample {
        /// The length of every series afterwards.
        length: usize,
    },
    /// Subtracts the corpus mean and divides by the corpus standard deviation (N-1). A channel (or step) that is constant
    /// in the corpus, to rounding, becomes zeros; a new value that differs there becomes 10 or -10.
    Zscore {
        /// What mean and deviation are taken over.
        per: Per,
        /// Added to the standard deviation, in the unit of the data; 0 unless stated. The published experiments have
        /// 1e-4, which erases channels in small units.
        #[serde(default, skip_serializing_if = "is_zero")]
        offset: f64,
    },
    /// Limits every value to `[-limit, limit]`.
    Clip {
        /// The largest absolute value.
        limit: f64,
    },
    /// The inverse hyperbolic sine of every value: a soft `clip`, linear near 0 and logarithmic far away. Put it after a
    /// z-score, so that it does not depend on units.
    Asinh {},
    /// Prepends a row of zeros, so that translation-invariant kernels see where a series starts.
    Basepoint {},
    /// Appends a channel that runs from 0 to a length.
    Time {
        /// Where it ends: 1 unless stated.
        #[serde(default = "unit", skip_serializing_if = "is_unit")]
        length: f64,
    },
    /// Appends a channel that makes one end of the series visible.
    Visibility {
        /// Which end.
        end: Visibility,
    },
    /// Doubles the channels: each series beside itself one step behind.
    LeadLag {},
}

/// A list of steps, in order.
///
/// ```
/// use varnorm::prepare::{Preparation, Step};
/// let published: Preparation = "published".parse().unwrap();
/// assert_eq!(published, "pool=100,zscore=step+0.0001,clip=5,basepoint".parse().unwrap());
/// assert_eq!("none".parse::<Preparation>().unwrap().steps, []);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Preparation {
    /// The steps, first to last.
    pub steps: Vec<Step>,
}

impl Preparation {
    /// Whether missing values are filled before anything else looks at them.
    pub fn fills_missing(&self) -> bool {
        matches!(self.steps.first(), Some(Step::Interpolate {}))
    }

    /// The published one: section 5 of the paper, with the offset of its z-score. Append [`Step::Time`] for the variant with time.
    pub fn published() -> Self {
        Self {
            steps: vec![
                Step::Pool { max_length: 100 },
                Step::Zscore { per: Per::Step, offset: 1e-4 },
                Step::Clip { limit: 5.0 },
                Step::Basepoint {},
            ],
        }
    }

    /// The default one: pooling to 100 steps, z-score per channel, clipping to [-5, 5].
    pub fn standard() -> Self {
        Self {
            steps: vec![
                Step::Pool { max_length: 100 },
                Step::Zscore { per: Per::Channel, offset: 0.0 },
                Step::Clip { limit: 5.0 },
            ],
        }
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        for step in &self.steps {
            match step {
                Step::Pool { max_length: 0 } => {
                    return Err(Error::bad_param("pool", 0, "must be at least 1"));
                }
                Step::Resample { length: 0 } => {
                    return Err(Error::bad_param("resample", 0, "must be at least 1"));
                }
                Step::Clip { limit } if limit.is_nan() || *limit <= 0.0 => {
                    return Err(Error::bad_param("clip", limit, "must be a positive number"));
                }
                Step::Time { length } if !(length.is_finite() && *length > 0.0) => {
                    return Err(Error::bad_param("time", length, "must be a positive number"));
                }
                Step::Zscore { offset, .. } if !(offset.is_finite() && *offset >= 0.0) => {
                    return Err(Error::bad_param("zscore offset", offset, "must be 0 or a positive number"));
                }
                Step::Zscore { per: Per::Series | Per::SeriesGlobal, offset } if *offset != 0.0 => {
                    let rule = "a z-score of each series by itself takes no offset";
                    return Err(Error::bad_param("zscore offset", offset, rule));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Learns from the corpus; returns the fitted preparation and the prepared corpus.
    pub fn fit(&self, corpus: &SeriesSet) -> Result<(FittedPreparation, SeriesSet)> {
        self.validate()?;
        let mut fitted = FittedPreparation { channels: corpus.channels(), steps: Vec::new() };
        let mut set = fitted.admit(corpus, self.steps.first())?;
        for step in &self.steps {
            let one = FittedStep::fit(step, &set)?;
            set = one.apply(set)?;
            fitted.steps.push(one);
        }
        Ok((fitted, set))
    }
}
