//! Stratified, repeated, seeded folds of a training set.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use varnorm::internal::shuffle;

/// One fold: what is fitted on and what is held out, as ascending indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Indices that models are fitted on.
    pub train: Vec<usize>,
    /// Indices that they are judged on.
    pub validation: Vec<usize>,
}

/// Cuts the series into `folds` parts, `repeats` times over: `folds * repeats` folds. Every part has its share of
/// every class, to within one series. A seed means the same folds on every machine, whatever the threads.
pub fn stratified_folds(labels: &[String], folds: usize, repeats: usize, seed: u64) -> Vec<Fold> {
    let mut classes: Vec<&String> = labels.iter().collect();
    classes.sort();
    classes.dedup();
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::with_capacity(folds * repeats);
    for _ in 0..repeats {
        let mut part = vec![0; labels.len()];
        // Dealt round and round: the next class begins where the last one ended, so that parts are of one size.
        let mut next = 0;
        for class in &classes {
            let mut members: Vec<usize> = (0..labels.len()).filter(|i| labels[*i] == **class).collect();
            shuffle(&mut members, &mut generator);
            for index in members {
                part[index] = next % folds;
                next += 1;
            }
        }
        for fold in 0..folds {
            let (validation, train) = (0..labels.len()).partition(|i| part[*i] == fold);
            all.push(Fold { train, validation });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_stratified_partitions() {
        let labels: Vec<String> = (0..50).map(|i| ["a", "b", "b", "c", "a"][i % 5].to_string()).collect();
        let folds = stratified_folds(&labels, 4, 3, 1);
        assert_eq!(folds.len(), 12);
        for repeat in folds.chunks(4) {
            let mut seen: Vec<usize> = repeat.iter().flat_map(|f| f.validation.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..50).collect::<Vec<_>>());
            for fold in repeat {
                assert_eq!(fold.train.len() + fold.validation.len(), 50);
                assert!((12..=13).contains(&fold.validation.len()));
                for (class, total) in [("a", 20), ("b", 20), ("c", 10)] {
                    let held = fold.validation.iter().filter(|i| labels[**i] == class).count();
                    assert!((total / 4..=total / 4 + 1).contains(&held), "{class} {held}");
                }
            }
        }
        assert_ne!(folds[0], folds[4]);
        assert_eq!(folds, stratified_folds(&labels, 4, 3, 1));
        assert_ne!(folds, stratified_folds(&labels, 4, 3, 2));
        // These may never change: seeds are part of results.
        assert_eq!(folds[0].validation, PINNED);
    }

    const PINNED: [usize; 13] = [0, 1, 2, 3, 8, 9, 13, 15, 24, 26, 27, 30, 46];
}
