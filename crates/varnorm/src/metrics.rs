//! ROC-AUC and average precision: how well scores separate two kinds.
//!
//! Higher scores speak for the positive kind. Equal scores are treated as one group, so that no order among them
//! is invented.

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
}
