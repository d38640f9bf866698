//! Scores of every method, alpha and rank of one kernel setting, from one decomposition and one sweep.

use varnorm::gram::{Cross, Gram};
use varnorm::internal::sweep::{Corpus, Norms, Query, Search};
use varnorm::internal::{Ranker, Separation};
use varnorm::{Norm, Rank, Result, Run, Spectrum};

use crate::grid::Compat;
use crate::method::{Cells, Method};
use crate::published;

/// Eigenvalues at most this large are dropped, as published.
const THRESHOLD: f64 = 1e-10;
/// What the published experiments add to a score before they rank by its reciprocal.
const PUBLISHED_OFFSET: f64 = 0.001;

/// Reusable memory, and what is asked for.
pub(crate) struct Measurer<'a> {
    alphas: &'a [f64],
    max_rank: usize,
    compat: Compat,
    /// The ranks that the last measured setting has.
    cells: Cells,
    queries: usize,
    /// One row of scores per cell; squared, unless compatible with the published ranking.
    scores: Vec<f64>,
    ranker: Ranker,
}

impl<'a> Measurer<'a> {
    pub(crate) fn new(alphas: &'a [f64], max_rank: usize, compat: Compat) -> Self {
        let cells = Cells { alphas: alphas.len(), ranks: 1 };
        Self { alphas, max_rank, compat, cells, queries: 0, scores: Vec::new(), ranker: Ranker::default() }
    }

    /// Scores all queries in every way.
    pub(crate) fn measure(&mut self, gram: &Gram, cross: &Cross) -> Result<()> {
        let run = Run::sequential();
        let (spectrum, signed) = match self.compat {
            Compat::Published => {
                let (spectrum, signed) = published::spectrum(gram, self.max_rank, &run)?;
                (spectrum, Some(signed))
            }
            Compat::None => {
                let rank = Rank::at_most(self.max_rank).above(THRESHOLD);
                (Spectrum::new(gram, rank, &run)?, None)
            }
        };
        let projection = spectrum.project(cross, &run)?;
        let corpus = Corpus::at(&spectrum, signed.as_ref().unwrap_or(spectrum.coordinates()));
        let mut search = Search::new(corpus, Norms::new(&spectrum, &norms(self.alphas)));
        self.cells.ranks = search.ranks();
        self.queries = cross.matrix.rows();
        self.scores.clear();
        self.scores.resize(self.cells.len() * self.queries, 0.0);
        for q in 0..self.queries {
            self.measure_one(&mut search, &Query::new(cross, &projection, q), q);
        }
        if self.compat == Compat::Published {
            self.scores.iter_mut().for_each(|score| *score = score.sqrt() + PUBLISHED_OFFSET);
        }
        Ok(())
    }

    /// All scores of one query. Both kinds of norms lie side by side in the cells, alpha by alpha.
    fn measure_one(&mut self, search: &mut Search<'_>, query: &Query<'_>, q: usize) {
        let (cells, queries, out) = (self.cells, self.queries, &mut self.scores);
        let start = |method: Method| cells.of(method).start;
        let conformance = start(Method::Conformance);
        let nearest =
            search.conformance(query, |cell, square| out[(conformance + cell) * queries + q] = square);
        out[start(Method::Nearest) * queries + q] = nearest;
        let (mahalanobis, residual) = (start(Method::Mahalanobis), start(Method::Residual));
        search.mahalanobis(query, |norm, rank, square, outside| {
            out[(mahalanobis + norm * cells.ranks + rank) * queries + q] = square;
            if norm == 0 {
                out[(residual + rank) * queries + q] = outside;
            }
        });
    }

    /// The ranks that the last measured setting has.
    pub(crate) fn ranks(&self) -> usize {
        self.cells.ranks
    }

    /// The scores of a cell at a rank, or at the largest there is.
    pub(crate) fn scores(&self, method: Method, alpha: usize, rank: usize) -> &[f64] {
        let cell = self.cells.at(method, alpha, rank.min(self.cells.ranks));
        &self.scores[cell * self.queries..(cell + 1) * self.queries]
    }

    /// Both areas of one cell.
    pub(crate) fn separation(
        &mut self,
        method: Method,
        alpha: usize,
        rank: usize,
        normal: &[bool],
    ) -> Separation {
        let cell = self.cells.at(method, alpha, rank.min(self.cells.ranks));
        self.ranker.separation(&self.scores[cell * self.queries..(cell + 1) * self.queries], normal)
    }

    /// Adds ROC-AUC plus average precision of every cell to `sums`, which has cells for `max_rank` ranks. A rank
    /// that there is not counts as the largest there is (published: as nothing).
    pub(crate) fn add_objectives(&mut self, normal: &[bool], sums: &mut [f64]) {
        let wide = Cells { alphas: self.alphas.len(), ranks: self.max_rank };
        for method in Method::MEASURED {
            let alphas = if method.has_alpha() { self.alphas.len() } else { 1 };
            let ranks = if method.has_rank() { self.max_rank } else { 1 };
            for alpha in 0..alphas {
                let mut last = 0.0;
                for rank in 1..=ranks {
                    if rank <= self.cells.ranks {
                        let found = self.separation(method, alpha, rank, normal);
                        last = found.roc_auc + found.average_precision;
                    } else if self.compat == Compat::Published {
                        last = 0.0;
                    }
                    sums[wide.at(method, alpha, rank)] += last;
                }
            }
        }
    }
}

/// The paper's norm at every alpha, then the envelope norm at every alpha.
fn norms(alphas: &[f64]) -> Vec<(Norm, f64)> {
    let at = |norm: Norm| alphas.iter().map(move |alpha| (norm, *alpha));
    at(Norm::Tikhonov).chain(at(Norm::Envelope)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use varnorm::SeriesSet;
    use varnorm::internal::with_queries;
    use varnorm::score::{Distance, Measure, score_grid};

    fn pairs(kernel: &str) -> (Gram, Cross) {
        let values: Vec<f64> =
            (0..31 * 6 * 2).map(|i| ((i * i) as f64 * 0.19).sin() + (i % 7) as f64 * 0.1).collect();
        let set = SeriesSet::from_equal(values, 6, 2).unwrap();
        with_queries(&[kernel.parse().unwrap()], &set, 20, &Run::sequential()).unwrap().remove(0)
    }

    #[test]
    fn every_cell_is_the_score_of_the_plain_route() {
        let alphas = [1e-5, 1e-2];
        for kernel in ["flat_rbf:sigma=2", "sig:level=3,scale=0.5", "integral_poly:c=1,p=2"] {
            let (gram, cross) = pairs(kernel);
            let mut measurer = Measurer::new(&alphas, 9, Compat::None);
            measurer.measure(&gram, &cross).unwrap();
            let run = Run::sequential();
            let rank = Rank::at_most(9).above(THRESHOLD);
            let spectrum = Spectrum::new(&gram, rank, &run).unwrap();
            assert_eq!(spectrum.rank(), 9);
            for (method, norm, distance) in [
                (Method::Conformance, Norm::Tikhonov, Distance::default()),
                (Method::ConformanceEnvelope, Norm::Envelope, Distance::default()),
                (Method::Mahalanobis, Norm::Tikhonov, Distance::Mahalanobis {}),
                (Method::MahalanobisEnvelope, Norm::Envelope, Distance::Mahalanobis {}),
            ] {
                for (a, alpha) in alphas.iter().enumerate() {
                    let measure = Measure { norm, alpha: *alpha, distance };
                    let expected = score_grid(&spectrum, &cross, &[measure], &run).unwrap().remove(0);
                    for rank in 1..=9 {
                        let found = measurer.scores(method, a, rank);
                        for (found, expected) in found.iter().zip(&expected[rank - 1].values) {
                            let near = (found.sqrt() - expected).abs() <= 1e-9 * expected.max(1.0);
                            assert!(near, "{kernel} {method:?} {alpha} {rank}: {found} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn baselines_follow_their_definitions() {
        let (gram, cross) = pairs("flat_rbf:sigma=2");
        let alphas = [1e-2];
        let mut measurer = Measurer::new(&alphas, 50, Compat::None);
        measurer.measure(&gram, &cross).unwrap();
        for q in 0..cross.matrix.rows() {
            let distances = cross.matrix.row(q).iter().map(|k| 2.0 - 2.0 * k);
            let nearest = distances.fold(f64::INFINITY, f64::min);
            assert!((measurer.scores(Method::Nearest, 0, 1)[q] - nearest).abs() < 1e-12);
            // More components leave less; all of them leave what is outside the span.
            let left: Vec<f64> = (1..=19).map(|rank| measurer.scores(Method::Residual, 0, rank)[q]).collect();
            assert!(left.is_sorted_by(|a, b| a >= b) && left[18] > 0.0);
        }
    }

    #[test]
    fn ranks_that_are_not_there() {
        let (gram, cross) = pairs("flat_linear");
        let normal: Vec<bool> = (0..11).map(|i| i % 3 == 0).collect();
        let alphas = [1e-2];
        let cells = Cells { alphas: 1, ranks: 50 };
        for compat in [Compat::None, Compat::Published] {
            let mut measurer = Measurer::new(&alphas, 50, compat);
            measurer.measure(&gram, &cross).unwrap();
            let kept = measurer.cells.ranks;
            assert!(kept <= 12, "twelve dimensions: {kept}");
            let mut sums = vec![0.0; cells.len()];
            measurer.add_objectives(&normal, &mut sums);
            let at = |rank: usize| sums[cells.at(Method::Conformance, 0, rank)];
            assert!(at(kept) > 0.0);
            assert_eq!(at(kept + 1), if compat == Compat::None { at(kept) } else { 0.0 });
        }
    }
}
