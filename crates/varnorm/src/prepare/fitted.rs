//! A preparation that has seen its corpus.

use serde::{Deserialize, Serialize};

use super::{Per, Step, Visibility, is_zero, paths, zscore};
use crate::data::{Channel, SeriesSet};
use crate::error::{Error, Result};

/// One step with what it learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum FittedStep {
    /// See [`Step::Interpolate`].
    Interpolate {},
    /// See [`Step::Pool`].
    Pool {
        /// Steps averaged into one.
        window: usize,
    },
    /// See [`Step::Resample`].
    Resample {
        /// The length of every series afterwards.
        length: usize,
    },
    /// See [`Step::Zscore`].
    Zscore {
        /// What the numbers are per.
        per: Per,
        /// Means: `T x d` of them per step, `d` per channel, none where each series has its own.
        means: Vec<f64>,
        /// What is divided by, likewise: standard deviations plus the offset; 0 where the corpus is constant.
        scales: Vec<f64>,
        /// What was added to the standard deviations; models before it was kept do not tell.
        #[serde(default, skip_serializing_if = "is_zero")]
        offset: f64,
    },
    /// See [`Step::Clip`].
    Clip {
        /// The largest absolute value.
        limit: f64,
    },
    /// See [`Step::Asinh`].
    Asinh {},
    /// See [`Step::Basepoint`].
    Basepoint {},
    /// See [`Step::Time`].
    Time {
        /// Where the channel ends.
        #[serde(default = "super::unit", skip_serializing_if = "super::is_unit")]
        length: f64,
    },
    /// See [`Step::Visibility`].
    Visibility {
        /// Which end.
        end: Visibility,
    },
    /// See [`Step::LeadLag`].
    LeadLag {},
}

/// A preparation that has seen its corpus: the same treatment for anything that comes later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedPreparation {
    /// Channels of the raw series.
    pub(crate) channels: usize,
    /// The steps, first to last.
    pub(crate) steps: Vec<FittedStep>,
}

impl FittedPreparation {
    /// Channels that raw series must have.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Channels of prepared series.
    pub fn prepared_channels(&self) -> usize {
        self.steps.iter().fold(self.channels, |channels, step| step.channels_after(channels))
    }

    /// What the user should know about channels that hardly vary in the corpus, in plain sentences. Channels are numbered
    /// from 0 as they come to the z-score: after `time`, `visibility` and `lead_lag`, where these stand before it.
    /// `names` are those of the channels before preparation, where they are known.
    pub fn warnings(&self, names: Option<&[Channel]>) -> Vec<String> {
        let (mut channels, mut told) = (self.channels, Vec::new());
        for step in &self.steps {
            match step {
                FittedStep::Zscore { means, scales, offset, .. } => {
                    // Steps before this one may have made others of the channels.
                    let names = names.filter(|names| names.len() == channels);
                    told.extend(zscore::warnings(channels, means, scales, *offset, names));
                }
                step => channels = step.channels_after(channels),
            }
        }
        told
    }

    /// The steps, first to last, with what they learned.
    pub fn steps(&self) -> &[FittedStep] {
        &self.steps
    }

    /// Treats series as the corpus was treated.
    pub fn apply(&self, series: &SeriesSet) -> Result<SeriesSet> {
        let first =
            matches!(self.steps.first(), Some(FittedStep::Interpolate {})).then_some(Step::Interpolate {});
        let mut set = self.admit(series, first.as_ref())?;
        for step in &self.steps {
            set = step.apply(set)?;
        }
        Ok(set)
    }

    /// Checks raw series: channels, and values that are missing though nobody said what to do about them.
    pub(super) fn admit(&self, series: &SeriesSet, first: Option<&Step>) -> Result<SeriesSet> {
        if series.channels() != self.channels {
            return Err(Error::Channels {
                found: series.channels(),
                expected: self.channels,
                advice: "give series with the channels of the corpus, in its order".into(),
            });
        }
        if !matches!(first, Some(Step::Interpolate {})) {
            series.require_finite("")?;
        }
        Ok(series.clone())
    }
}

impl FittedStep {
    /// Channels of series with so many, after this step.
    pub(crate) fn channels_after(&self, channels: usize) -> usize {
        match self {
            Self::Time { .. } | Self::Visibility { .. } => channels.saturating_add(1),
            Self::LeadLag {} => channels.saturating_mul(2),
            _ => channels,
        }
    }

    pub(super) fn fit(step: &Step, corpus: &SeriesSet) -> Result<Self> {
        Ok(match step {
            Step::Interpolate {} => Self::Interpolate {},
            Step::Pool { max_length } => {
                let longest = corpus.lengths().max().unwrap_or(1);
                Self::Pool { window: 1 + (longest - 1) / max_length }
            }
            Step::Resample { length } => Self::Resample { length: *length },
            Step::Zscore { per, offset } => zscore::fit(*per, *offset, corpus)?,
            Step::Clip { limit } => Self::Clip { limit: *limit },
            Step::Asinh {} => Self::Asinh {},
            Step::Basepoint {} => Self::Basepoint {},
            Step::Time { length } => Self::Time { length: *length },
            Step::Visibility { end } => Self::Visibility { end: *end },
            Step::LeadLag {} => Self::LeadLag {},
        })
    }

    pub(super) fn apply(&self, set: SeriesSet) -> Result<SeriesSet> {
        match self {
            Self::Interpolate {} => paths::interpolate(set),
            Self::Pool { window: 1 } => Ok(set),
            Self::Pool { window } => paths::pool(&set, *window),
            Self::Resample { length } => paths::resample(&set, *length),
            Self::Zscore { per, means, scales, .. } => zscore::apply(*per, means, scales, set),
            Self::Clip { limit } => {
                let mut set = set;
                set.values_mut().iter_mut().for_each(|v| *v = v.clamp(-limit, *limit));
                Ok(set)
            }
            Self::Asinh {} => {
                let mut set = set;
                set.values_mut().iter_mut().for_each(|v| *v = v.asinh());
                Ok(set)
            }
            Self::Basepoint {} => paths::basepoint(&set),
            Self::Time { length } => paths::time(&set, *length),
            Self::Visibility { end } => paths::visibility(&set, *end),
            Self::LeadLag {} => paths::lead_lag(&set),
        }
    }
}
