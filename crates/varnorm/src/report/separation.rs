//! How well scores tell labelled normal series from the others.

use serde::Serialize;

use crate::data::Dataset;
use crate::detector::Scored;
use crate::error::{Error, Result};
use crate::metrics::{Intervals, average_precision, bootstrap, curve, roc_auc};

/// Resamples of an interval, its level and its seed: the same as in studies.
const BOOTSTRAP: (usize, f64, u64) = (400, 0.95, 0);
/// Points that are kept of a curve.
const POINTS: usize = 500;

/// Curves and areas, with the novel series as the positive kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Separation {
    /// The label of normal series.
    pub label: String,
    /// Series that have it.
    pub normal: usize,
    /// Those of them that were flagged: false alarms.
    pub normal_flagged: usize,
    /// Series that do not.
    pub novel: usize,
    /// Those of them that were flagged.
    pub novel_flagged: usize,
    /// Area under the ROC curve.
    pub roc_auc: f64,
    /// Average precision.
    pub average_precision: f64,
    /// 95 percent bootstrap intervals of both.
    pub intervals: Intervals,
    /// (false alarms, found) as shares.
    pub roc: Vec<(f64, f64)>,
    /// (found, precision) as shares.
    pub precision_recall: Vec<(f64, f64)>,
}

impl Separation {
    /// Compares the scores of series with this label to those of the others; an error where one kind is missing.
    pub fn new(scored: &Scored, dataset: &Dataset, label: &str) -> Result<Self> {
        let normal = dataset.with_label(label)?;
        let mut novel = vec![true; scored.findings.len()];
        normal.iter().for_each(|at| novel[*at] = false);
        if normal.len() == novel.len() {
            return Err(Error::bad_param(
                "normal",
                label,
                "every series has this label; curves need others too",
            ));
        }
        let scores: Vec<f64> = scored.findings.iter().map(|one| one.finding.score).collect();
        // The bootstrap takes low scores to speak for its kind, and numbers from zero up.
        let inverse: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + s)).collect();
        let (samples, level, seed) = BOOTSTRAP;
        let points = curve(&scores, &novel);
        let step = points.len().div_ceil(POINTS).max(1);
        let last = points.len().saturating_sub(1);
        let kept = points.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, p)| p);
        let roc = kept.clone().map(|p| (p.false_positive_rate, p.true_positive_rate));
        let flagged = |kind: bool| {
            let both = scored.findings.iter().zip(&novel);
            both.filter(|(one, novel)| one.finding.novel == Some(true) && **novel == kind).count()
        };
        Ok(Self {
            label: label.into(),
            normal: normal.len(),
            normal_flagged: flagged(false),
            novel: novel.len() - normal.len(),
            novel_flagged: flagged(true),
            roc_auc: roc_auc(&scores, &novel),
            average_precision: average_precision(&scores, &novel),
            intervals: bootstrap(&inverse, &novel, samples, level, seed)?,
            roc: std::iter::once((0.0, 0.0)).chain(roc).collect(),
            precision_recall: from_nothing(kept.map(|p| (p.true_positive_rate, p.precision)).collect()),
        })
    }
}

/// With a first point at recall 0, as precise as the first that is there.
fn from_nothing(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if let Some(first) = points.first().copied() {
        points.insert(0, (0.0, first.1));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::ranker::Ranker;

    #[test]
    fn the_interval_is_of_the_area_that_is_told() {
        let scores = [0.5, 3.0, 1.0, f64::INFINITY, 0.2, 0.9, 4.0];
        let novel = [false, true, true, true, false, false, false];
        let inverse: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + s)).collect();
        let found = Ranker::default().separation(&inverse, &novel);
        assert!((found.roc_auc - roc_auc(&scores, &novel)).abs() < 1e-15);
        assert!((found.average_precision - average_precision(&scores, &novel)).abs() < 1e-15);
    }
}
