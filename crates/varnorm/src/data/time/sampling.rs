//! [`SamplingStep`]: how far apart the steps of series are.

use serde::{Deserialize, Serialize};

use super::{TimeUnit, Times};
use crate::error::{Error, Result};

/// A difference may leave the median by so much of it and still count as regular.
const JITTER: f64 = 0.1;
/// The share of differences that must not leave it.
const REGULAR: f64 = 0.9;

/// How far apart the steps of series are: the median difference of their times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingStep {
    /// The median difference, in the unit.
    pub step: f64,
    /// The unit; none where times are bare numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<TimeUnit>,
    /// Whether nine differences of ten are within a tenth of the median.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub regular: bool,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_yes(regular: &bool) -> bool {
    *regular
}

impl SamplingStep {
    /// A regular step.
    pub fn new(step: f64, unit: Option<TimeUnit>) -> Self {
        Self { step, unit, regular: true }
    }

    /// Reads `10ms`, `0.5 s`, or a bare number for times whose unit nobody named.
    pub fn from_words(words: &str) -> Result<Self> {
        let words = words.trim();
        let end = words.find(|c: char| !(c.is_ascii_digit() || ".eE+-".contains(c))).unwrap_or(words.len());
        let rule = "must be a number above 0 and a unit of time, such as 10ms, 0.5s, 1min, 2h";
        let wrong = || Error::bad_param("step", words, rule);
        let step: f64 = words[..end].parse().map_err(|_| wrong())?;
        let unit = words[end..].trim();
        let unit = match unit.is_empty() {
            true => None,
            false => Some(TimeUnit::from_word(unit).ok_or_else(wrong)?),
        };
        if !step.is_finite() || step <= 0.0 {
            return Err(wrong());
        }
        Ok(Self::new(step, unit))
    }

    /// In seconds, where the unit is known.
    pub fn seconds(&self) -> Option<f64> {
        self.unit.map(|unit| self.step * unit.seconds())
    }

    /// This step over the other one. Bare numbers are compared as they are.
    pub fn over(&self, other: &Self) -> f64 {
        match (self.seconds(), other.seconds()) {
            (Some(a), Some(b)) => a / b,
            _ => self.step / other.step,
        }
    }

    /// Whether the two are the same but for a share.
    pub fn agrees(&self, other: &Self, share: f64) -> bool {
        (self.over(other) - 1.0).abs() <= share
    }

    /// Of the steps at these places of the times; `None` without two different times.
    pub(in super::super) fn of(times: &Times, range: std::ops::Range<usize>) -> Option<Self> {
        let mut differences: Vec<f64> = range
            .clone()
            .zip(range.skip(1))
            .filter_map(|(a, b)| times.difference(a, b))
            .filter(|d| *d > 0.0)
            .collect();
        let step = median(&mut differences)?;
        let near = differences.iter().filter(|d| (**d - step).abs() <= JITTER * step).count();
        let regular = near as f64 >= REGULAR * differences.len() as f64;
        let unit = if times.as_stamps().is_some() { Some(TimeUnit::Second) } else { times.unit() };
        Some(Self { step, unit, regular })
    }

    /// The median of several, regular if all are.
    pub(in super::super) fn middle(all: &[Self]) -> Option<Self> {
        let first = all.first()?;
        let mut steps: Vec<f64> = all.iter().map(|one| one.step).collect();
        Some(Self { step: median(&mut steps)?, unit: first.unit, regular: all.iter().all(|one| one.regular) })
    }
}

/// The lower median, which is one of the values.
fn median(values: &mut [f64]) -> Option<f64> {
    let at = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// In the unit that suits it: 0.01 s is `10 ms`.
impl std::fmt::Display for SamplingStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (number, unit) = match self.seconds() {
            Some(seconds) => {
                let unit = TimeUnit::fitting(seconds * (1.0 + 1e-9));
                (seconds / unit.seconds(), format!(" {unit}"))
            }
            None => (self.step, String::new()),
        };
        write!(f, "{}{unit}", short(number))
    }
}

/// At most six digits, no zeros at the end.
fn short(value: f64) -> String {
    let decimals = (5 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}
