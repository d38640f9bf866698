//! Seeded splits of a corpus. A seed means the same split for ever: the generator and the shuffle are pinned.

use crate::error::{Error, Result};
use crate::random::shuffled;

/// Splits `0..n` into (fitted on, held out), each ascending; at least 2 and 1 of them.
pub fn holdout(n: usize, share: f64, seed: u64) -> Result<(Vec<usize>, Vec<usize>)> {
    if n < 3 {
        return Err(Error::TooFew {
            what: "a held-out split".into(),
            needed: 3,
            found: n,
            advice: "give more normal series, or calibration none".into(),
        });
    }
    let held = ((n as f64 * share).round() as usize).clamp(1, n - 2);
    let mut order = shuffled(n, seed);
    let mut rest = order.split_off(held);
    order.sort_unstable();
    rest.sort_unstable();
    Ok((rest, order))
}

/// Splits `0..n` into so many folds of sizes that differ by at most one, each ascending.
pub fn k_folds(n: usize, folds: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    if n < folds || n - n.div_ceil(folds) < 2 {
        return Err(Error::TooFew {
            what: format!("cross-fitting with {folds} folds"),
            needed: folds.max(4),
            found: n,
            advice: "give more normal series, fewer folds, or calibration none".into(),
        });
    }
    let mut parts = vec![Vec::new(); folds];
    for (i, index) in shuffled(n, seed).into_iter().enumerate() {
        parts[i % folds].push(index);
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_partitions_and_pinned() {
        let (fit, held) = holdout(10, 0.3, 7).unwrap();
        let mut all: Vec<usize> = fit.iter().chain(&held).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert_eq!(held.len(), 3);
        let folds = k_folds(11, 4, 7).unwrap();
        let mut all: Vec<usize> = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..11).collect::<Vec<_>>());
        // These numbers may never change: seeds are part of saved models and published results.
        assert_eq!(shuffled(8, 0), PINNED);
        assert!(holdout(2, 0.5, 0).is_err() && k_folds(3, 4, 0).is_err() && k_folds(3, 2, 0).is_err());
    }

    const PINNED: [usize; 8] = [3, 6, 0, 5, 1, 7, 2, 4];
}
