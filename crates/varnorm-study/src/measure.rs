//! Scores of every method, alpha and rank of one kernel setting, from one decomposition and one sweep.

use super::grid::Compat;
use super::method::{Cells, Method};
use crate::error::Result;
use crate::gram::{Cross, Gram};
use crate::metrics::{Ranker, Separation};
use crate::norm::Norm;
use crate::run::Run;
use crate::simd::{Isa, W, Work, dispatch};
use crate::spectrum::{Projection, Rank, Spectrum};

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
        let (spectrum, signs) = match self.compat {
            Compat::Published => Spectrum::published(gram, self.max_rank, &run)?,
            Compat::None => {
                let rank = Rank { max_rank: Some(self.max_rank), eigenvalue_threshold: Some(THRESHOLD) };
                let spectrum = Spectrum::new(gram, rank, &run)?;
                let signs = vec![1.0; spectrum.rank()];
                (spectrum, signs)
            }
        };
        let projection = spectrum.project(cross, &run)?;
        // A corpus without variance has no rank: one column of scores says what can be said.
        self.cells.ranks = spectrum.rank().max(1);
        self.queries = cross.matrix.rows();
        self.scores.clear();
        self.scores.resize(self.cells.len() * self.queries, 0.0);
        let norms = norms(spectrum.eigenvalues(), self.alphas);
        let panels = panels(&spectrum, &signs);
        dispatch(Sweep {
            spectrum: &spectrum,
            panels: &panels,
            norms: &norms,
            cross,
            projection: &projection,
            cells: self.cells,
            out: &mut self.scores,
        });
        if self.compat == Compat::Published {
            self.scores.iter_mut().for_each(|score| *score = score.sqrt() + PUBLISHED_OFFSET);
        }
        Ok(())
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

/// One norm at one alpha: weights of the squared coordinates, and the factor of what lies outside their span.
struct NormWeights {
    weights: Vec<f64>,
    outside: f64,
}

/// The paper's norm at every alpha, then the envelope norm at every alpha.
fn norms(eigenvalues: &[f64], alphas: &[f64]) -> Vec<NormWeights> {
    let at = |norm: Norm| {
        move |alpha: &f64| NormWeights {
            weights: eigenvalues.iter().map(|value| norm.weight(*value, *alpha)).collect(),
            outside: norm.outside(*alpha, 0.0).factor(),
        }
    };
    alphas.iter().map(at(Norm::Tikhonov)).chain(alphas.iter().map(at(Norm::Envelope))).collect()
}

/// The corpus' coordinates, W series side by side: panel after panel, one `[f64; W]` per coordinate.
fn panels(spectrum: &Spectrum, signs: &[f64]) -> Vec<[f64; W]> {
    let (n, rank) = (spectrum.corpus_len(), spectrum.rank());
    let mut panels = vec![[0.0; W]; n.div_ceil(W) * rank];
    for (j, sign) in signs.iter().enumerate() {
        for (p, lanes) in spectrum.coordinates().row(j).chunks(W).enumerate() {
            let cells = panels[p * rank + j].iter_mut().zip(lanes);
            cells.for_each(|(cell, value)| *cell = sign * value);
        }
    }
    panels
}

/// All scores of all queries.
struct Sweep<'a> {
    spectrum: &'a Spectrum,
    panels: &'a [[f64; W]],
    norms: &'a [NormWeights],
    cross: &'a Cross,
    projection: &'a Projection,
    cells: Cells,
    out: &'a mut [f64],
}

impl Work for Sweep<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (norms, ranks, queries) = (self.norms.len(), self.cells.ranks, self.cross.matrix.rows());
        let mut best = vec![[f64::INFINITY; W]; norms * ranks];
        let mut running = vec![[0.0; W]; norms];
        let mut means = vec![0.0; norms];
        for q in 0..queries {
            best.fill([f64::INFINITY; W]);
            let nearest = self.conformance::<I>(q, &mut best, &mut running);
            // The norms of conformance lie side by side in the cells, alpha by alpha.
            for (cell, lanes) in best.iter().enumerate() {
                self.out[cell * queries + q] = smallest(lanes);
            }
            self.out[self.cells.of(Method::Nearest).start * queries + q] = nearest;
            means.fill(0.0);
            let mut left = self.projection.squared_norms[q];
            for rank in 0..ranks {
                let coordinate = self.projection.coordinates.row(q).get(rank).copied().unwrap_or(0.0);
                let square = coordinate * coordinate;
                left -= square;
                for (m, norm) in self.norms.iter().enumerate() {
                    means[m] += norm.weights.get(rank).copied().unwrap_or(0.0) * square;
                    let cell = (norms + m) * ranks + rank;
                    self.out[cell * queries + q] = means[m] + norm.outside * left.max(0.0);
                }
                let cell = self.cells.of(Method::Residual).start + rank;
                self.out[cell * queries + q] = left.max(0.0);
            }
        }
    }
}

impl Sweep<'_> {
    /// The smallest squared norms of a query's differences from the corpus series, lane by lane; returns the smallest
    /// plain one.
    #[inline(always)]
    fn conformance<I: Isa>(&self, q: usize, best: &mut [[f64; W]], running: &mut [[f64; W]]) -> f64 {
        let (n, rank, ranks) = (self.spectrum.corpus_len(), self.spectrum.rank(), self.cells.ranks);
        let (products, square) = (self.cross.matrix.row(q), self.cross.self_values[q]);
        let coordinates = self.projection.coordinates.row(q);
        let mut nearest = [f64::INFINITY; W];
        for start in (0..n).step_by(W) {
            let width = W.min(n - start);
            // |y - x|^2 = <y,y> + <x,x> - 2 <x,y>; lanes without a series are infinitely far.
            let (mut left, mut far) = ([f64::INFINITY; W], [f64::INFINITY; W]);
            for lane in 0..width {
                let i = start + lane;
                left[lane] = (square + self.spectrum.squares[i] - 2.0 * products[i]).max(0.0);
                far[lane] = 0.0;
                nearest[lane] = nearest[lane].min(left[lane]);
            }
            running.fill(far);
            let panel = &self.panels[start / W * rank..];
            for j in 0..ranks {
                let mut squares = [0.0; W];
                if j < rank {
                    for lane in 0..W {
                        let difference = coordinates[j] - panel[j][lane];
                        squares[lane] = difference * difference;
                        left[lane] -= squares[lane];
                    }
                }
                for (m, norm) in self.norms.iter().enumerate() {
                    let weight = if j < rank { norm.weights[j] } else { 0.0 };
                    let (running, best) = (&mut running[m], &mut best[m * ranks + j]);
                    for lane in 0..W {
                        running[lane] = I::mul_add(weight, squares[lane], running[lane]);
                        let outside = if left[lane] > 0.0 { left[lane] } else { 0.0 };
                        let whole = if norm.outside > 0.0 {
                            I::mul_add(norm.outside, outside, running[lane])
                        } else {
                            running[lane]
                        };
                        best[lane] = if whole < best[lane] { whole } else { best[lane] };
                    }
                }
            }
        }
        smallest(&nearest)
    }
}

#[inline(always)]
fn smallest(lanes: &[f64; W]) -> f64 {
    lanes.iter().fold(f64::INFINITY, |m, v| if *v < m { *v } else { m })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesSet;
    use crate::gram::with_queries;
    use crate::score::{Distance, Measure, score_grid};

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
            let rank = Rank { max_rank: Some(9), eigenvalue_threshold: Some(THRESHOLD) };
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
