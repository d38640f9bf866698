//! [`CannotFlag`]: why no series of a batch was flagged, or could be, and how many normal series would be needed.

use serde::Serialize;

use super::Detector;
use crate::calibrate::{Calibration, Lord, Rule, normal_share};
use crate::describe;

/// Why no series of a batch could be flagged, with what would be needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CannotFlag {
    /// Normal scores that p-values compare with.
    pub calibration_scores: usize,
    /// So many series have to score above all of them at once before one is flagged; absent where no number does.
    pub at_once: Option<usize>,
    /// Normal series with which a series that stands out alone can be flagged.
    pub normal_series_needed: usize,
    /// The same as a sentence.
    pub words: String,
}

impl CannotFlag {
    /// Of a batch with these p-values that a rule looks at, where nothing can be flagged, or where nothing was because
    /// one series that stands out alone cannot be.
    pub(super) fn of_batch(
        detector: &Detector,
        rule: Rule,
        level: f64,
        p_values: &[f64],
        flagged: usize,
    ) -> Option<Self> {
        if flagged > 0 {
            return None;
        }
        let count = p_values.len();
        // The level that the most extreme of the batch is compared with when it stands alone, and with all others.
        let (alone, together) = match rule {
            Rule::Each => (level, level),
            Rule::Lord => (Lord::new(level).next_level(), Lord::new(level).next_level()),
            Rule::BenjaminiHochberg => (level / count.max(1) as f64, level),
            Rule::Storey => {
                let level = (level / normal_share(p_values)).min(1.0);
                (level / count.max(1) as f64, level)
            }
            Rule::None | Rule::Quantile | Rule::Supervised | Rule::Fixed => return None,
        };
        Self::new(detector, rule, level, (alone, together), count)
    }

    /// Of a model, before any batch: where no series can ever be flagged.
    pub(super) fn of_model(detector: &Detector, rule: Rule, level: f64) -> Option<Self> {
        match rule {
            // Storey raises the level where much of a batch is novel.
            Rule::Storey => None,
            Rule::BenjaminiHochberg => Self::new(detector, rule, level, (level, level), 1),
            other => Self::of_batch(detector, other, level, &[], 0),
        }
    }

    fn new(
        detector: &Detector,
        rule: Rule,
        level: f64,
        (alone, together): (f64, f64),
        count: usize,
    ) -> Option<Self> {
        // Laws and fitted tails have no smallest p-value.
        let smallest = detector.smallest_p_value()?;
        let rounding = 1.0 + 1e-9;
        if smallest <= alone * rounding {
            return None;
        }
        // 1 / (n + 1) <= alone, and a split uses a share of the series only.
        let scores_needed = (1.0 / (alone * rounding)).ceil() - 1.0;
        let needed = match detector.settings().calibration {
            Calibration::Split { holdout, .. } => (scores_needed / holdout).ceil(),
            _ => scores_needed,
        };
        let scores = detector.calibrated()?.scores().len();
        // The first k with 1 / (n + 1) <= level k / m.
        let at_once =
            (smallest <= together * rounding).then(|| (smallest / alone * (1.0 - 1e-12)).ceil() as usize);
        let words = match at_once {
            None if rule == Rule::Lord => describe::lord_cannot_flag(scores, smallest, alone, needed),
            None => describe::too_few_scores(scores, smallest, level, needed),
            Some(at_once) => describe::batch_too_large(rule, scores, count, at_once, needed),
        };
        Some(Self { calibration_scores: scores, at_once, normal_series_needed: needed as usize, words })
    }
}
