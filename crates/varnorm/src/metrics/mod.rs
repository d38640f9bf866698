//! ROC-AUC and average precision: how well scores separate two kinds. [`volumes`] is their like for stretches of one long
//! series.
//!
//! Higher scores speak for the positive kind. Equal scores are treated as one group, so that no order among them
//! is invented.

mod bootstrap;
mod range;
pub(crate) mod ranker;

pub use bootstrap::{Intervals, bootstrap};
pub use range::{VUS_WINDOW, Volumes, point_adjusted_f1, stretches, volumes};

/// Indices in descending order of score, cut into groups of equal scores; each as (positives, negatives).
fn groups(scores: &[f64], positive: &[bool]) -> Vec<(f64, f64)> {
    let mut order: Vec<usize> = (0..scores.len().min(positive.len())).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let mut groups: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for i in order {
        if last != Some(scores[i]) {
            groups.push((0.0, 0.0));
            last = Some(scores[i]);
        }
        if let Some(group) = groups.last_mut() {
            if positive[i] { group.0 += 1.0 } else { group.1 += 1.0 }
        }
    }
    groups
}

/// The probability that a positive scores higher than a negative, equal scores counting half. NaN unless both
/// kinds are there.
pub fn roc_auc(scores: &[f64], positive: &[bool]) -> f64 {
    let groups = groups(scores, positive);
    let (mut positives, mut negatives, mut area) = (0.0, 0.0, 0.0);
    for (p, n) in groups {
        area += n * (positives + 0.5 * p);
        positives += p;
        negatives += n;
    }
    area / (positives * negatives)
}

/// Average precision: the sum over thresholds of precision times the gain in recall. NaN without positives.
pub fn average_precision(scores: &[f64], positive: &[bool]) -> f64 {
    let groups = groups(scores, positive);
    let total: f64 = groups.iter().map(|g| g.0).sum();
    let (mut positives, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for (p, n) in groups {
        positives += p;
        seen += p + n;
        sum += positives / seen * p / total;
    }
    if total > 0.0 { sum } else { f64::NAN }
}

/// One point of a curve: what is called positive when every score of at least `threshold` is.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CurvePoint {
    /// The score.
    pub threshold: f64,
    /// The share of the positives that is found: the recall.
    pub true_positive_rate: f64,
    /// The share of the negatives that is called positive.
    pub false_positive_rate: f64,
    /// The share of positives among what is called positive.
    pub precision: f64,
}

/// The points of the ROC curve and of the precision-recall curve, one per distinct score, highest first.
pub fn curve(scores: &[f64], positive: &[bool]) -> Vec<CurvePoint> {
    let mut thresholds: Vec<f64> = scores.iter().take(positive.len()).copied().collect();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    thresholds.dedup();
    let groups = groups(scores, positive);
    let (all_positives, all_negatives) = groups.iter().fold((0.0, 0.0), |(p, n), g| (p + g.0, n + g.1));
    let (mut positives, mut negatives) = (0.0, 0.0);
    let points = thresholds.into_iter().zip(groups).map(|(threshold, group)| {
        positives += group.0;
        negatives += group.1;
        CurvePoint {
            threshold,
            true_positive_rate: positives / all_positives,
            false_positive_rate: negatives / all_negatives,
            precision: positives / (positives + negatives),
        }
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_worked_values() {
        let positive = [true, false, true, false];
        assert_eq!(roc_auc(&[4.0, 3.0, 2.0, 1.0], &positive), 0.75);
        assert!((average_precision(&[4.0, 3.0, 2.0, 1.0], &positive) - 5.0 / 6.0).abs() < 1e-15);
        assert_eq!(roc_auc(&[1.0; 4], &positive), 0.5);
        assert_eq!(average_precision(&[1.0; 4], &positive), 0.5);
        assert_eq!(roc_auc(&[f64::INFINITY, 0.0, f64::INFINITY, 1.0], &positive), 1.0);
        assert!(roc_auc(&[1.0, 2.0], &[true, true]).is_nan());
        assert!(average_precision(&[1.0, 2.0], &[false, false]).is_nan());
    }

    #[test]
    fn the_areas_under_the_curves_are_the_areas() {
        let scores = [0.9, 0.8, 0.8, 0.8, 0.4, 0.3, 0.3, 0.1];
        let positive = [true, true, false, true, false, true, false, false];
        let points = curve(&scores, &positive);
        assert_eq!(points.len(), 5);
        assert_eq!((points[4].true_positive_rate, points[4].false_positive_rate), (1.0, 1.0));
        let (mut area, mut precision, mut last) = (0.0, 0.0, (0.0, 0.0));
        for point in &points {
            let (x, y) = (point.false_positive_rate, point.true_positive_rate);
            area += (x - last.0) * 0.5 * (y + last.1);
            precision += (y - last.1) * point.precision;
            last = (x, y);
        }
        assert!((area - roc_auc(&scores, &positive)).abs() < 1e-15);
        assert!((precision - average_precision(&scores, &positive)).abs() < 1e-15);
    }
}
