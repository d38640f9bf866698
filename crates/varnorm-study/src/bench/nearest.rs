//! [`Nearest`]: the plainest detector, as the line that others have to pass.

use varnorm::calibrate::Calibrated;
use varnorm::data::SeriesSet;
use varnorm::prepare::{FittedPreparation, Per, Preparation, Step};
use varnorm::{Result, Run};

/// The Euclidean distance to the nearest corpus series, after a z-score per channel. Gaps are filled and series of several
/// lengths are resampled to the longest of the corpus. Distances of corpus series to the nearest other are the calibration.
pub(super) struct Nearest {
    preparation: FittedPreparation,
    corpus: SeriesSet,
    calibrated: Calibrated,
}

impl Nearest {
    /// Fits on a corpus, for queries of this length, or of several.
    pub(super) fn fit(corpus: &SeriesSet, queries: Option<usize>, run: &Run) -> Result<Self> {
        let mut steps = vec![Step::Interpolate {}];
        if corpus.equal_length().is_none() || corpus.equal_length() != queries {
            steps.push(Step::Resample { length: corpus.lengths().max().unwrap_or(1) });
        }
        steps.push(Step::Zscore { per: Per::Channel, offset: 0.0 });
        let (preparation, corpus) = Preparation { steps }.fit(corpus)?;
        let scores = distances(&corpus, &corpus, true, run)?;
        Ok(Self { preparation, corpus, calibrated: Calibrated::new(scores) })
    }

    /// The distance of every series.
    pub(super) fn score(&self, series: &SeriesSet, run: &Run) -> Result<Vec<f64>> {
        distances(&self.preparation.apply(series)?, &self.corpus, false, run)
    }

    /// The chance of a normal series being as far away.
    pub(super) fn p_value(&self, score: f64) -> f64 {
        self.calibrated.p_value(score)
    }
}

/// From every query to the nearest of the corpus; for the corpus itself to the nearest `other`.
fn distances(queries: &SeriesSet, corpus: &SeriesSet, other: bool, run: &Run) -> Result<Vec<f64>> {
    let mut nearest = vec![f64::INFINITY; queries.len()];
    let tasks: Vec<_> = nearest.iter_mut().enumerate().collect();
    run.for_each("nearest neighbours", tasks, |(q, nearest)| {
        let query = queries.series(q).values();
        for (_, member) in corpus.iter().enumerate().filter(|(i, _)| !other || *i != q) {
            let square: f64 = member.values().iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum();
            *nearest = nearest.min(square.sqrt());
        }
        Ok(())
    })?;
    Ok(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_definition() {
        let run = Run::sequential();
        // Mean 3; squares of deviations sum to 16 over six values.
        let corpus = SeriesSet::from_equal(vec![1.0, 1.0, 3.0, 3.0, 5.0, 5.0], 2, 1).unwrap();
        let deviation = (16.0f64 / 5.0).sqrt();
        let nearest = Nearest::fit(&corpus, Some(2), &run).unwrap();
        let step = 2.0 * 2f64.sqrt() / deviation;
        for score in nearest.calibrated.scores() {
            assert!((score - step).abs() < 1e-12, "{score}");
        }
        let queries = SeriesSet::from_equal(vec![5.0, 9.0, 3.0, 3.0], 2, 1).unwrap();
        let scores = nearest.score(&queries, &run).unwrap();
        assert!((scores[0] - 4.0 / deviation).abs() < 1e-12 && scores[1] == 0.0, "{scores:?}");
        assert_eq!(nearest.p_value(scores[0]), 0.25);
        assert_eq!(nearest.p_value(scores[1]), 1.0);
    }

    #[test]
    fn lengths_may_differ() {
        let run = Run::sequential();
        let corpus = SeriesSet::from_lengths(vec![0.0, 2.0, 0.0, 1.0, 2.0, 5.0, 5.0], &[2, 3, 2], 1).unwrap();
        let queries = SeriesSet::from_lengths(vec![0.0, 0.5, 1.0, 1.5, 2.0], &[5], 1).unwrap();
        let nearest = Nearest::fit(&corpus, queries.equal_length(), &run).unwrap();
        let scores = nearest.score(&queries, &run).unwrap();
        assert!(scores[0] < 1e-12, "the same line, drawn finer: {scores:?}");
    }
}
