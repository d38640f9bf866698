//! A sample of a corpus and its folds, both chosen by what series contain: the same series whatever the order and the
//! parts that they come in.

use crate::data::Series;

/// Series whose scores calibrate, at most.
pub(crate) const SAMPLE: usize = 1000;
/// Sampled series whose values are kept, to be shown.
pub(crate) const EXAMPLES: usize = 128;

/// One sampled series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    /// What it contains, as a number.
    pub(crate) content: u64,
    /// Its place among all series.
    pub(crate) place: usize,
    /// Its coordinates; not turned.
    pub(crate) coordinates: Vec<f64>,
    /// `k(x,x)`, after normalising.
    pub(crate) square: f64,
    /// The prepared series, for the first [`EXAMPLES`].
    pub(crate) values: Vec<f64>,
}

/// A number for what a series contains: equal for equal series, and as good as random else.
pub(crate) fn content(series: Series<'_>) -> u64 {
    let start = mixed(series.channels() as u64);
    series.values().iter().fold(start, |sum, value| mixed(sum.rotate_left(23) ^ value.to_bits()))
}

/// The order in which series are sampled.
pub(crate) fn order(content: u64) -> u64 {
    mixed(content ^ 0x5851_F42D_4C95_7F2D)
}

/// The fold of a series.
pub(crate) fn fold(content: u64, folds: usize, seed: u64) -> u8 {
    // Folds are few: they fit, and the rest of the division is as good as even.
    (mixed(content.wrapping_add(mixed(seed))) % folds.max(1) as u64) as u8
}

/// Every bit of the result depends on every bit given (the finish of MurmurHash3).
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

/// The first of each content in order of sampling, at most [`SAMPLE`]; values are kept of the first [`EXAMPLES`].
pub(crate) fn cut(sample: &mut Vec<Sampled>) {
    sample.sort_by_key(|one| (order(one.content), one.place));
    // Copies of one series would calibrate more than once.
    sample.dedup_by_key(|one| one.content);
    sample.truncate(SAMPLE);
    sample.iter_mut().skip(EXAMPLES).for_each(|one| one.values = Vec::new());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeriesSet;

    #[test]
    fn contents_and_folds_are_pinned_and_even() {
        let set = SeriesSet::from_equal((0..40_000).map(f64::from).collect(), 2, 2).unwrap();
        let contents: Vec<u64> = set.iter().map(content).collect();
        // These numbers may never change: they say which series calibrate a saved model.
        assert_eq!(contents[0], PINNED);
        let mut seen = [0; 5];
        contents.iter().for_each(|c| seen[usize::from(fold(*c, 5, 0))] += 1);
        assert!(seen.iter().all(|count| (1850..2150).contains(count)), "{seen:?}");
        assert_ne!(fold(contents[0], 250, 0), fold(contents[0], 250, 1));
    }

    const PINNED: u64 = 14_500_880_987_040_726_771;
}
