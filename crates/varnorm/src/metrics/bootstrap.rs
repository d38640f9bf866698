//! Bootstrap intervals of both areas.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::ranker::{Ranker, Separation};
use crate::error::{Error, Result};

/// Percentile intervals.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Intervals {
    /// Lower and upper end for the area under the ROC curve.
    pub roc_auc: (f64, f64),
    /// Lower and upper end for average precision.
    pub average_precision: (f64, f64),
}

/// Intervals that hold the `level` share of `samples` resampled areas. Normal and other series are drawn apart, so
/// that a sample has as many of each as the data. A seed means the same intervals on every machine.
pub fn bootstrap(
    novelty: &[f64],
    normal: &[bool],
    samples: usize,
    level: f64,
    seed: u64,
) -> Result<Intervals> {
    if samples == 0 {
        return Err(Error::bad_param("samples", 0, "must be at least 1"));
    }
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::bad_param("level", level, "must be between 0 and 1"));
    }
    let count = novelty.len().min(normal.len());
    let (positives, negatives): (Vec<usize>, Vec<usize>) = (0..count).partition(|i| normal[*i]);
    if positives.is_empty() || negatives.is_empty() {
        return Err(Error::bad_param(
            "normal",
            format!("{} of {count}", positives.len()),
            "an area needs at least one normal series and one other",
        ));
    }
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut ranker = Ranker::default();
    let kinds: Vec<bool> = (0..count).map(|i| i < positives.len()).collect();
    let mut drawn = vec![0.0; count];
    let found: Vec<Separation> = (0..samples)
        .map(|_| {
            let (front, back) = drawn.split_at_mut(positives.len());
            for (part, from) in [(front, &positives), (back, &negatives)] {
                for cell in part {
                    *cell = novelty[from[(generator.next_u64() % from.len() as u64) as usize]];
                }
            }
            ranker.separation(&drawn, &kinds)
        })
        .collect();
    Ok(Intervals {
        roc_auc: percentiles(found.iter().map(|s| s.roc_auc).collect(), level),
        average_precision: percentiles(found.iter().map(|s| s.average_precision).collect(), level),
    })
}

fn percentiles(mut values: Vec<f64>, level: f64) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5 * (1.0 - level)), at(0.5 * (1.0 + level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_area_and_shrink_with_the_data() {
        let width = |count: usize| {
            let scores: Vec<f64> =
                (0..count).map(|i| ((i * 7919) % 101) as f64 + (i % 2) as f64 * 30.0).collect();
            let normal: Vec<bool> = (0..count).map(|i| i % 2 == 0).collect();
            let whole = Ranker::default().separation(&scores, &normal);
            let found = bootstrap(&scores, &normal, 400, 0.95, 3).unwrap();
            assert!(found.roc_auc.0 < whole.roc_auc && whole.roc_auc < found.roc_auc.1);
            assert!(found.average_precision.0 < whole.average_precision);
            assert_eq!(found, bootstrap(&scores, &normal, 400, 0.95, 3).unwrap());
            found.roc_auc.1 - found.roc_auc.0
        };
        let ratio = width(40) / width(640);
        assert!((2.5..6.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn what_has_no_area_has_no_interval() {
        assert!(bootstrap(&[1.0, 2.0], &[true, true], 10, 0.9, 0).is_err());
        assert!(bootstrap(&[1.0, 2.0], &[true, false], 0, 0.9, 0).is_err());
        assert!(bootstrap(&[1.0, 2.0], &[true, false], 10, 1.0, 0).is_err());
    }
}
