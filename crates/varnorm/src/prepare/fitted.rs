//! A preparation that has seen its corpus.

use serde::{Deserialize, Serialize};

use super::{Per, Step, Visibility, paths};
use crate::data::SeriesSet;
use crate::error::{Error, Result};

/// Added to a standard deviation, so that a constant channel does not divide by zero (published value).
const EPSILON: f64 = 1e-4;

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
        /// Means: `T x d` of them per step, `d` per channel.
        means: Vec<f64>,
        /// Standard deviations plus 1e-4, likewise.
        scales: Vec<f64>,
    },
    /// See [`Step::Clip`].
    Clip {
        /// The largest absolute value.
        limit: f64,
    },
    /// See [`Step::Basepoint`].
    Basepoint {},
    /// See [`Step::Time`].
    Time {},
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
        self.steps.iter().fold(self.channels, |channels, step| match step {
            FittedStep::Time {} | FittedStep::Visibility { .. } => channels.saturating_add(1),
            FittedStep::LeadLag {} => channels.saturating_mul(2),
            _ => channels,
        })
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
    pub(super) fn fit(step: &Step, corpus: &SeriesSet) -> Result<Self> {
        Ok(match step {
            Step::Interpolate {} => Self::Interpolate {},
            Step::Pool { max_length } => {
                let longest = corpus.lengths().max().unwrap_or(1);
                Self::Pool { window: 1 + (longest - 1) / max_length }
            }
            Step::Resample { length } => Self::Resample { length: *length },
            Step::Zscore { per } => fit_zscore(*per, corpus)?,
            Step::Clip { limit } => Self::Clip { limit: *limit },
            Step::Basepoint {} => Self::Basepoint {},
            Step::Time {} => Self::Time {},
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
            Self::Zscore { per, means, scales } => apply_zscore(*per, means, scales, set),
            Self::Clip { limit } => {
                let mut set = set;
                set.values_mut().iter_mut().for_each(|v| *v = v.clamp(-limit, *limit));
                Ok(set)
            }
            Self::Basepoint {} => paths::basepoint(&set),
            Self::Time {} => paths::time(&set),
            Self::Visibility { end } => paths::visibility(&set, *end),
            Self::LeadLag {} => paths::lead_lag(&set),
        }
    }
}

const ZSCORE_ADVICE: &str = "use `zscore=channel`, or bring them to one length with `resample` first";

fn fit_zscore(per: Per, corpus: &SeriesSet) -> Result<FittedStep> {
    let cells = match per {
        Per::Channel => corpus.channels(),
        Per::Step => corpus.require_equal_length("`zscore=step`", ZSCORE_ADVICE)? * corpus.channels(),
    };
    let count = (corpus.values().len() / cells.max(1)) as f64;
    let mut means = vec![0.0; cells];
    for row in corpus.values().chunks_exact(cells) {
        means.iter_mut().zip(row).for_each(|(m, v)| *m += v / count);
    }
    let mut scales = vec![0.0; cells];
    for row in corpus.values().chunks_exact(cells) {
        scales.iter_mut().zip(&means).zip(row).for_each(|((s, m), v)| *s += (v - m) * (v - m));
    }
    // One series has no spread: 0, as for a constant channel.
    scales.iter_mut().for_each(|s| *s = (*s / (count - 1.0).max(1.0)).sqrt() + EPSILON);
    if let Some(at) = scales.iter().position(|s| !s.is_finite()) {
        let (step, channel) = (at / corpus.channels(), at % corpus.channels());
        return Err(Error::NonFinite {
            series: 0,
            step,
            channel,
            value: scales[at],
            after: " as a standard deviation: the values are too large for `zscore`".into(),
        });
    }
    Ok(FittedStep::Zscore { per, means, scales })
}

fn apply_zscore(per: Per, means: &[f64], scales: &[f64], mut set: SeriesSet) -> Result<SeriesSet> {
    let length = means.len() / set.channels();
    if per == Per::Step
        && let Some(series) = set.lengths().position(|l| l != length)
    {
        return Err(Error::UnequalLengths {
            needs: "`zscore=step`".into(),
            series,
            found: set.series(series).steps(),
            expected: length,
            advice: ZSCORE_ADVICE.into(),
        });
    }
    for row in set.values_mut().chunks_exact_mut(means.len()) {
        row.iter_mut().zip(means).zip(scales).for_each(|((v, m), s)| *v = (*v - m) / s);
    }
    set.require_finite("zscore")?;
    Ok(set)
}
