//! [`Ranker`]: both areas from one sort, without allocating, for the thousands of score vectors of a search.

/// How well scores separate two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Separation {
    /// The area under the ROC curve.
    pub roc_auc: f64,
    /// Average precision.
    pub average_precision: f64,
}

/// Reusable memory for ranking novelty scores, with the normal kind as the positive one.
#[derive(Debug, Clone, Default)]
pub struct Ranker {
    /// A score's bits with the kind as the lowest one: numbers from zero up are ordered as their bits are, and have
    /// no sign to lose.
    keys: Vec<u64>,
}

impl Ranker {
    /// Both areas for scores from zero up, where low ones speak for the normal kind. NaN counts as infinite.
    ///
    /// ```
    /// use varnorm::internal::Ranker;
    /// let found = Ranker::default().separation(&[0.1, 0.2, 0.3, 0.4], &[true, false, true, false]);
    /// assert_eq!(found.roc_auc, 0.75);
    /// ```
    pub fn separation(&mut self, novelty: &[f64], normal: &[bool]) -> Separation {
        self.keys.clear();
        let pairs = novelty.iter().zip(normal);
        self.keys.extend(pairs.map(|(score, normal)| {
            let score = if score.is_nan() { f64::INFINITY } else { score.max(0.0) };
            (score.to_bits() << 1) | u64::from(*normal)
        }));
        self.keys.sort_unstable();
        let total = self.keys.iter().filter(|key| **key & 1 == 1).count() as f64;
        let (mut positives, mut negatives, mut area, mut precision) = (0.0, 0.0, 0.0, 0.0);
        let mut at = 0;
        while at < self.keys.len() {
            let score = self.keys[at] >> 1;
            let (mut p, mut n) = (0.0, 0.0);
            while at < self.keys.len() && self.keys[at] >> 1 == score {
                if self.keys[at] & 1 == 1 {
                    p += 1.0
                } else {
                    n += 1.0
                }
                at += 1;
            }
            area += n * (positives + 0.5 * p);
            positives += p;
            negatives += n;
            precision += positives / (positives + negatives) * p;
        }
        Separation { roc_auc: area / (positives * negatives), average_precision: precision / total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{average_precision, roc_auc};

    #[test]
    fn it_agrees_with_the_plain_definitions() {
        let mut ranker = Ranker::default();
        for size in 2..40usize {
            // Few distinct values, so that there are ties; some infinite.
            let score = |i: usize| match (i * 7919 + size * 31) % 11 {
                10 => f64::INFINITY,
                v => v as f64 * 0.3,
            };
            let scores: Vec<f64> = (0..size).map(score).collect();
            let normal: Vec<bool> = (0..size).map(|i| (i * 13 + size) % 3 == 0 || i == 0).collect();
            let normality: Vec<f64> = scores.iter().map(|s| -s).collect();
            let found = ranker.separation(&scores, &normal);
            let expected = roc_auc(&normality, &normal);
            assert!((found.roc_auc - expected).abs() < 1e-15 || expected.is_nan(), "{size}");
            assert!((found.average_precision - average_precision(&normality, &normal)).abs() < 1e-14);
        }
        assert!(ranker.separation(&[1.0, 2.0], &[true, true]).roc_auc.is_nan());
        assert!(ranker.separation(&[1.0, 2.0], &[false, false]).average_precision.is_nan());
    }
}
