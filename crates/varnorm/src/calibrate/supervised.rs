//! A threshold chosen with labelled outliers.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

/// What the threshold is to make best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The F1 score of the flags: the harmonic mean of precision and recall. Depends on the share of outliers given.
    F1,
    /// Youden's J: the share of outliers flagged minus the share of normal series flagged.
    #[default]
    Youden,
    /// The least cost: so much per false alarm, so much per missed outlier.
    Cost,
}

const OBJECTIVES: Vocabulary = Vocabulary::names("objective", "an objective", Objective::WORDS);

impl Objective {
    /// Every objective, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("f1", "The F1 score of the flags"),
        Word::new("youden", "The share of outliers flagged minus the share of normal series flagged"),
        Word::new("cost", "The least cost of false alarms and missed outliers"),
    ];
}

spelled!(Objective, OBJECTIVES);

/// A chosen threshold, and how it did on the scores that it was chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// Scores above are flagged; infinite where none is.
    #[serde(with = "crate::infinite")]
    pub threshold: f64,
    /// Share of normal series above.
    pub false_alarm_rate: f64,
    /// Share of outliers not above.
    pub miss_rate: f64,
    /// Labelled outliers used.
    pub outliers: usize,
}

/// The threshold that makes the objective best on these scores; of equal ones the highest, which alarms least.
///
/// ```
/// use varnorm::calibrate::{Objective, choose_threshold};
/// let chosen = choose_threshold(&[1.0, 2.0, 3.0], &[2.5, 4.0, 5.0], Objective::Youden, (1.0, 1.0)).unwrap();
/// assert_eq!((chosen.threshold, chosen.false_alarm_rate), (3.5, 0.0));
/// ```
pub fn choose_threshold(
    normal: &[f64],
    outliers: &[f64],
    objective: Objective,
    (false_alarm_cost, miss_cost): (f64, f64),
) -> Result<Chosen> {
    if normal.is_empty() || outliers.is_empty() {
        return Err(Error::TooFew {
            what: "choosing a threshold".into(),
            needed: 1,
            found: normal.len().min(outliers.len()),
            advice: "give normal series and labelled outliers".into(),
        });
    }
    let above = |scores: &[f64], t: f64| scores.iter().filter(|s| **s > t).count() as f64;
    let (n, m) = (normal.len() as f64, outliers.len() as f64);
    let value = |t: f64| {
        let (alarms, hits) = (above(normal, t), above(outliers, t));
        match objective {
            Objective::F1 => 2.0 * hits / (m + hits + alarms),
            // Over n m, in whole numbers: equals must be equal.
            Objective::Youden => hits * n - alarms * m,
            Objective::Cost => -(false_alarm_cost * alarms + miss_cost * (m - hits)),
        }
    };
    let mut best = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for t in candidates(normal, outliers) {
        let value = value(t);
        if value >= best.0 {
            best = (value, t);
        }
    }
    Ok(Chosen {
        threshold: best.1,
        false_alarm_rate: above(normal, best.1) / n,
        miss_rate: 1.0 - above(outliers, best.1) / m,
        outliers: outliers.len(),
    })
}

/// Below all scores, between each two, and above all; ascending.
fn candidates(normal: &[f64], outliers: &[f64]) -> Vec<f64> {
    let mut scores: Vec<f64> = normal.iter().chain(outliers).copied().collect();
    scores.sort_by(f64::total_cmp);
    scores.dedup();
    let between = |pair: &[f64]| if pair[1].is_finite() { 0.5 * (pair[0] + pair[1]) } else { pair[0] };
    let mut all = vec![scores.first().map_or(0.0, |s| s - 1.0)];
    all.extend(scores.windows(2).map(between));
    all.extend(scores.last());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_objective_is_the_best_over_all_thresholds() {
        let normal = [0.1, 0.4, 0.9, 1.3, 2.0, 2.2, 0.7];
        let outliers = [1.1, 1.9, 2.1, 3.0, f64::INFINITY];
        let rates = |t: f64| {
            let share = |s: &[f64]| s.iter().filter(|v| **v > t).count() as f64;
            (share(&normal), share(&outliers))
        };
        for (objective, costs) in [
            (Objective::F1, (1.0, 1.0)),
            (Objective::Youden, (1.0, 1.0)),
            (Objective::Cost, (1.0, 1.0)),
            (Objective::Cost, (10.0, 1.0)),
            (Objective::Cost, (1.0, 10.0)),
        ] {
            let chosen = choose_threshold(&normal, &outliers, objective, costs).unwrap();
            let value = |t: f64| {
                let (alarms, hits) = rates(t);
                match objective {
                    Objective::F1 => {
                        let (precision, recall) = (hits / (hits + alarms).max(1.0), hits / 5.0);
                        if hits == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
                    }
                    Objective::Youden => hits / 5.0 - alarms / 7.0,
                    Objective::Cost => -(costs.0 * alarms + costs.1 * (5.0 - hits)),
                }
            };
            let best = (0..400).map(|i| value(f64::from(i) * 0.01 - 0.5)).fold(f64::NEG_INFINITY, f64::max);
            assert!((value(chosen.threshold) - best).abs() < 1e-12, "{objective} {chosen:?} {best}");
            assert_eq!(chosen.false_alarm_rate, rates(chosen.threshold).0 / 7.0);
        }
        assert!(choose_threshold(&normal, &[], Objective::F1, (1.0, 1.0)).is_err());
    }
}
