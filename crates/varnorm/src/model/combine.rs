//! Scores of several views made comparable, and combined into one.
//!
//! A view's scores are compared with its own leave-one-out scores L, on the scale of logarithms:
//! `z = (ln s - ln median L) / (standard deviation of ln L + floor)`. The floor keeps a view whose normal scores hardly vary from
//! taking over.

use serde::{Deserialize, Serialize};

use crate::words::{Vocabulary, Word, spelled};

/// How the comparable scores of several views become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Combination {
    /// The mean of z.
    #[default]
    Mean,
    /// `ln mean exp z`: near the mean where views agree, near the maximum where one stands out.
    LogMeanExp,
    /// The largest z.
    Max,
}

const COMBINATIONS: Vocabulary = Vocabulary::names("combination", "a combination", Combination::WORDS);

spelled!(Combination, COMBINATIONS);

impl Combination {
    /// Every combination, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("mean", "The mean of the views"),
        Word::new("log_mean_exp", "Near the mean where views agree, near the largest where one stands out"),
        Word::new("max", "The largest of the views"),
    ];

    /// The combined score of one series.
    pub fn of(self, scores: &[f64]) -> f64 {
        let largest = scores.iter().fold(f64::NEG_INFINITY, |m, z| m.max(*z));
        let count = scores.len() as f64;
        match self {
            Self::Max => largest,
            Self::Mean => scores.iter().sum::<f64>() / count,
            // Differences from the largest neither overflow nor vanish.
            Self::LogMeanExp if largest.is_finite() => {
                largest + (scores.iter().map(|z| (z - largest).exp()).sum::<f64>() / count).ln()
            }
            Self::LogMeanExp => largest,
        }
    }
}

/// Added to the spread of a view's logarithms.
const FLOOR: f64 = 0.05;
/// Scores below this share of the median count as this share: the logarithm of a copy's score would be endless.
const LEAST: f64 = 1e-6;

/// What makes a view's scores comparable: location and spread of the logarithms of its leave-one-out scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standard {
    /// The median of the scores.
    pub(crate) median: f64,
    /// The standard deviation of their logarithms, with the floor added.
    pub(crate) spread: f64,
}

impl Standard {
    /// From a view's leave-one-out scores.
    pub(crate) fn new(scores: &[f64]) -> Self {
        let found = median(scores.iter().copied().filter(|s| s.is_finite()).collect());
        let centred = Self { median: if found > 0.0 { found } else { f64::MIN_POSITIVE }, spread: 1.0 };
        let logs: Vec<f64> = scores.iter().map(|s| centred.of(*s)).filter(|log| log.is_finite()).collect();
        Self { spread: deviation(&logs) + FLOOR, ..centred }
    }

    /// The comparable score.
    pub(crate) fn of(&self, score: f64) -> f64 {
        (score / self.median).max(LEAST).ln() / self.spread
    }

    /// Whether it can have come from scores.
    pub(crate) fn is_sound(&self) -> bool {
        self.median > 0.0 && self.median.is_finite() && self.spread >= FLOOR && self.spread.is_finite()
    }
}

/// The median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = |i: usize| values.get(i).copied().unwrap_or(0.0);
    0.5 * (at(values.len().saturating_sub(1) / 2) + at(values.len() / 2))
}

/// The standard deviation; 0 of fewer than two.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_lie_between_mean_and_maximum() {
        let z = [0.5, -1.0, 3.0];
        let (mean, max) = (Combination::Mean.of(&z), Combination::Max.of(&z));
        assert!((mean - 2.5 / 3.0).abs() < 1e-15 && max == 3.0);
        let soft = Combination::LogMeanExp.of(&z);
        let naive = ((0.5f64.exp() + (-1.0f64).exp() + 3.0f64.exp()) / 3.0).ln();
        assert!((soft - naive).abs() < 1e-14 && mean < soft && soft < max);
        assert_eq!(Combination::LogMeanExp.of(&[1e4, 1e4]), 1e4);
        assert_eq!(Combination::LogMeanExp.of(&[f64::INFINITY, 0.0]), f64::INFINITY);
    }

    #[test]
    fn comparable_scores_do_not_depend_on_units() {
        let scores = [1.0, 2.0, 4.0, 3.0, 0.5];
        let plain = Standard::new(&scores);
        let scaled = Standard::new(&scores.map(|s| 1e-9 * s));
        assert!((plain.of(7.0) - scaled.of(7e-9)).abs() < 1e-9);
        assert_eq!(plain.of(2.0), 0.0);
        // Normal scores that do not vary, or are zero, still give numbers.
        assert!(Standard::new(&[1.0; 4]).of(2.0).is_finite());
        assert!(Standard::new(&[0.0; 4]).of(2.0).is_finite());
        assert!(Standard::new(&[]).of(2.0).is_finite());
    }
}
