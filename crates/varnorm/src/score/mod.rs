//! Scores: the variance norm of a query's difference from the mean, or from its nearest corpus series.
//!
//! The squared norms are those of [`Norm`]. Scores are their square roots; higher is more novel. Every rank comes from one decomposition by running sums.

mod leave_one_out;

pub use crate::norm::Norm;
pub use leave_one_out::leave_one_out;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gram::Cross;
use crate::norm::Outside;
use crate::run::Run;
use crate::simd::{Isa, W, Work, dispatch};
use crate::spectrum::{Projection, Spectrum};

/// Distance to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "distance", deny_unknown_fields)]
pub enum Distance {
    /// To the corpus mean.
    Mahalanobis {},
    /// To the nearest corpus series, or the `neighbour`-th nearest.
    Conformance {
        /// 1 is the nearest.
        #[serde(default = "one")]
        neighbour: usize,
    },
}

fn one() -> usize {
    1
}

impl Default for Distance {
    fn default() -> Self {
        Self::Conformance { neighbour: 1 }
    }
}

/// One way to measure: norm, regularisation, distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// Which norm.
    pub norm: Norm,
    /// Regularisation; the exact norm does not use it.
    pub alpha: f64,
    /// Distance to what.
    pub distance: Distance,
}

impl Measure {
    /// What squared coordinates in the directions of these eigenvalues count.
    pub(crate) fn weights(&self, eigenvalues: &[f64]) -> Vec<f64> {
        eigenvalues.iter().map(|value| self.norm.weight(*value, self.alpha)).collect()
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self, corpus: usize) -> Result<()> {
        let least = if self.norm == Norm::Envelope { f64::MIN_POSITIVE } else { 0.0 };
        if !self.alpha.is_finite() {
            return Err(Error::bad_param("alpha", self.alpha, "must be a finite number"));
        }
        if self.norm != Norm::Exact && self.alpha < least {
            let rule = match self.norm {
                Norm::Envelope => "must be positive for the envelope norm (its limit at 0 is the exact norm)",
                _ => "must be zero or positive",
            };
            return Err(Error::bad_param("alpha", self.alpha, rule));
        }
        match self.distance {
            Distance::Conformance { neighbour } if neighbour == 0 || neighbour > corpus => {
                Err(Error::bad_param(
                    "neighbour",
                    neighbour,
                    format!("must be from 1 to the number of corpus series, {corpus}"),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Scores of some queries under one measure and rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores {
    /// One per query; higher is more novel. The exact norm gives infinity off the span.
    pub values: Vec<f64>,
    /// The corpus series that a conformance score was measured to.
    pub nearest: Option<Vec<usize>>,
}

/// The share of each query's squared distance from the mean that lies outside the span of the kept eigenvectors.
pub fn outside_shares(projection: &Projection) -> Vec<f64> {
    let queries = projection.squared_norms.iter().enumerate();
    queries
        .map(|(q, norm)| {
            let inside: f64 = projection.coordinates.row(q).iter().map(|p| p * p).sum();
            if *norm > 0.0 { (1.0 - inside / norm).clamp(0.0, 1.0) } else { 0.0 }
        })
        .collect()
}

/// Scores at the full kept rank.
pub fn scores(spectrum: &Spectrum, cross: &Cross, measure: Measure, run: &Run) -> Result<Scores> {
    let projection = spectrum.project(cross, run)?;
    let mut by_rank = scores_by_rank(spectrum, cross, &projection, measure, &[spectrum.rank()], run)?;
    by_rank.pop().ok_or_else(|| Error::bad_param("ranks", 0, "give at least one rank"))
}

/// Scores at each of the given ranks (ascending, at most the kept one), from one decomposition.
pub fn scores_by_rank(
    spectrum: &Spectrum,
    cross: &Cross,
    projection: &Projection,
    measure: Measure,
    ranks: &[usize],
    run: &Run,
) -> Result<Vec<Scores>> {
    measure.validate(spectrum.corpus_len())?;
    if !ranks.is_sorted() || ranks.last().is_some_and(|r| *r > spectrum.rank()) {
        let rule = format!("must ascend and be at most the kept rank, {}", spectrum.rank());
        return Err(Error::bad_param("ranks", format!("{ranks:?}"), rule));
    }
    let queries = cross.matrix.rows();
    // One row per query: for each rank the squared norm and the index of the series it was measured to.
    let mut cells = vec![(0.0, 0usize); queries * ranks.len()];
    let formula = Formula::new(spectrum, measure);
    let chunk = TASK.min(queries.div_ceil(run.threads()).max(1));
    let tasks: Vec<_> = cells.chunks_mut(chunk * ranks.len().max(1)).enumerate().collect();
    run.for_each("scores", tasks, |(task, cells)| {
        let mut scratch = Vec::new();
        for (at, cells) in cells.chunks_exact_mut(ranks.len()).enumerate() {
            let query = Query::new(cross, projection, task * chunk + at);
            match measure.distance {
                Distance::Mahalanobis {} => formula.mahalanobis(&query, ranks, cells),
                Distance::Conformance { neighbour } => {
                    formula.conformance(&query, ranks, neighbour, &mut scratch, cells);
                }
            }
        }
        Ok(())
    })?;
    let conformance = matches!(measure.distance, Distance::Conformance { .. });
    let column = |r: usize| cells.iter().skip(r).step_by(ranks.len());
    Ok((0..ranks.len())
        .map(|r| Scores {
            values: column(r).map(|(square, _)| square.sqrt()).collect(),
            nearest: conformance.then(|| column(r).map(|(_, n)| *n).collect()),
        })
        .collect())
}

/// Queries per task, at most.
const TASK: usize = 32;

/// One query, ready to be measured.
struct Query<'a> {
    products: &'a [f64],
    square: f64,
    coordinates: &'a [f64],
    squared_norm: f64,
}

impl<'a> Query<'a> {
    fn new(cross: &'a Cross, projection: &'a Projection, index: usize) -> Self {
        Self {
            products: cross.matrix.row(index),
            square: cross.self_values[index],
            coordinates: projection.coordinates.row(index),
            squared_norm: projection.squared_norms[index],
        }
    }
}

/// A norm on the coordinates of one spectrum.
struct Formula<'a> {
    spectrum: &'a Spectrum,
    weights: Vec<f64>,
    outside: Outside,
    /// The corpus' coordinates, W series side by side: panel after panel, one `[f64; W]` per coordinate.
    panels: Vec<[f64; W]>,
}

/// Rows of `n` numbers each would put a panel's coordinates `8 n` bytes apart: for round n into one cache set.
fn panels(spectrum: &Spectrum) -> Vec<[f64; W]> {
    let (n, rank) = (spectrum.corpus_len(), spectrum.rank());
    let mut panels = vec![[0.0; W]; n.div_ceil(W) * rank];
    for j in 0..rank {
        for (p, lanes) in spectrum.coordinates().row(j).chunks(W).enumerate() {
            panels[p * rank + j][..lanes.len()].copy_from_slice(lanes);
        }
    }
    panels
}

impl<'a> Formula<'a> {
    fn new(spectrum: &'a Spectrum, measure: Measure) -> Self {
        let alpha = measure.alpha;
        let outside = measure.norm.outside(alpha, spectrum.off_span());
        let weights = measure.weights(spectrum.eigenvalues());
        let panels = match measure.distance {
            Distance::Mahalanobis {} => Vec::new(),
            Distance::Conformance { .. } => panels(spectrum),
        };
        Self { spectrum, weights, outside, panels }
    }

    fn mahalanobis(&self, query: &Query<'_>, ranks: &[usize], cells: &mut [(f64, usize)]) {
        let (mut weighted, mut plain, mut done) = (0.0, 0.0, 0);
        for (rank, cell) in ranks.iter().zip(cells) {
            for j in done..*rank {
                let square = query.coordinates[j] * query.coordinates[j];
                weighted += self.weights[j] * square;
                plain += square;
            }
            done = *rank;
            *cell = (self.outside.add(weighted, query.squared_norm - plain), 0);
        }
    }

    fn conformance(
        &self,
        query: &Query<'_>,
        ranks: &[usize],
        neighbour: usize,
        scratch: &mut Vec<f64>,
        cells: &mut [(f64, usize)],
    ) {
        let n = self.spectrum.corpus_len();
        scratch.resize(ranks.len() * n, 0.0);
        dispatch(Distances { formula: self, query, ranks, out: scratch });
        for (squares, cell) in scratch.chunks_exact(n).zip(cells) {
            *cell = nth_smallest(squares, neighbour);
        }
    }
}

impl Spectrum {
    /// Squared lengths outside the kept span above this count as off the span for the exact norm: 1e-8 of the
    /// largest `<x,x>` of the corpus, and what the eigenvalue threshold itself may have cut off a corpus series.
    pub fn off_span(&self) -> f64 {
        let largest = self.squares.iter().fold(0.0, |m: f64, v| m.max(*v));
        1e-8 * largest + self.count() as f64 * self.threshold
    }
}

/// The squared norms of one query's differences from all corpus series, one row per rank.
struct Distances<'a> {
    formula: &'a Formula<'a>,
    query: &'a Query<'a>,
    ranks: &'a [usize],
    out: &'a mut [f64],
}

impl Work for Distances<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let spectrum = self.formula.spectrum;
        let n = spectrum.corpus_len();
        for start in (0..n).step_by(W) {
            let width = W.min(n - start);
            // |y - x|^2 = <y,y> + <x,x> - 2 <x,y>.
            let mut whole = [0.0; W];
            let squares = &spectrum.squares[start..start + width];
            let products = &self.query.products[start..start + width];
            for ((cell, square), product) in whole.iter_mut().zip(squares).zip(products) {
                *cell = (self.query.square + square - 2.0 * product).max(0.0);
            }
            let panel = &self.formula.panels[start / W * spectrum.rank()..];
            let (mut weighted, mut plain, mut done) = ([0.0; W], [0.0; W], 0);
            for (r, rank) in self.ranks.iter().enumerate() {
                let coordinates = done..*rank;
                let weights = &self.formula.weights[coordinates.clone()];
                let query = &self.query.coordinates[coordinates.clone()];
                for ((lanes, p), weight) in panel[coordinates].iter().zip(query).zip(weights) {
                    for lane in 0..W {
                        let difference = p - lanes[lane];
                        let square = difference * difference;
                        weighted[lane] = I::mul_add(*weight, square, weighted[lane]);
                        plain[lane] += square;
                    }
                }
                done = *rank;
                let cells = &mut self.out[r * n + start..r * n + start + width];
                for (lane, cell) in cells.iter_mut().enumerate() {
                    *cell = self.formula.outside.add(weighted[lane], whole[lane] - plain[lane]);
                }
            }
        }
    }
}

/// The `k`-th smallest value and its index; equal values in order of their indices.
fn nth_smallest(values: &[f64], k: usize) -> (f64, usize) {
    let order = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]).then(a.cmp(b));
    let at = if k == 1 {
        (0..values.len()).min_by(order).unwrap_or(0)
    } else {
        let mut indices: Vec<usize> = (0..values.len()).collect();
        *indices.select_nth_unstable_by(k - 1, order).1
    };
    (values[at], at)
}

/// Scores of every rank 1..=kept for many measures: what cross-validation wants. `result[measure][rank - 1]`.
pub fn score_grid(
    spectrum: &Spectrum,
    cross: &Cross,
    measures: &[Measure],
    run: &Run,
) -> Result<Vec<Vec<Scores>>> {
    let projection = spectrum.project(cross, run)?;
    let ranks: Vec<usize> = (1..=spectrum.rank()).collect();
    measures.iter().map(|m| scores_by_rank(spectrum, cross, &projection, *m, &ranks, run)).collect()
}
