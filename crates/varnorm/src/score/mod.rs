//! Scores: the variance norm of a query's difference from the mean, or from its nearest corpus series.
//!
//! The squared norms are those of [`Norm`]. Scores are their square roots; higher is more novel. Every rank comes from one decomposition by running sums.

mod leave_one_out;
pub(crate) mod sweep;

pub use crate::norm::Norm;
pub use leave_one_out::leave_one_out;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gram::Cross;
use crate::run::Run;
use crate::spectrum::{Projection, Spectrum};
use crate::words::{Vocabulary, Word, spelled};
use sweep::{Corpus, Norms, Query};

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

const DISTANCES: Vocabulary = Vocabulary::tagged("distance", "a distance", "distance", Distance::WORDS);

spelled!(Distance, DISTANCES);

impl Distance {
    /// Every distance, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("conformance", "To the nearest normal series")
            .with(&["neighbour"], "conformance:neighbour=1"),
        Word::new("mahalanobis", "To the mean of the normal series"),
    ];
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
    let norms = Norms::new(spectrum, &[(measure.norm, measure.alpha)]);
    let (neighbour, corpus) = match measure.distance {
        Distance::Mahalanobis {} => (0, None),
        Distance::Conformance { neighbour } => (neighbour, Some(Corpus::new(spectrum))),
    };
    let chunk = TASK.min(queries.div_ceil(run.threads()).max(1));
    let tasks: Vec<_> = cells.chunks_mut(chunk * ranks.len().max(1)).enumerate().collect();
    run.for_each("scores", tasks, |(task, cells)| {
        let mut scratch = Vec::new();
        for (at, cells) in cells.chunks_exact_mut(ranks.len()).enumerate() {
            let query = Query::new(cross, projection, task * chunk + at);
            let Some(corpus) = &corpus else {
                norms.mahalanobis(&query, ranks, |rank, square| cells[rank] = (square, 0));
                continue;
            };
            scratch.resize(ranks.len() * spectrum.corpus_len(), 0.0);
            corpus.distances(&norms, &query, ranks, &mut scratch);
            for (squares, cell) in scratch.chunks_exact(spectrum.corpus_len()).zip(cells) {
                *cell = nth_smallest(squares, neighbour);
            }
        }
        Ok(())
    })?;
    let column = |r: usize| cells.iter().skip(r).step_by(ranks.len());
    Ok((0..ranks.len())
        .map(|r| Scores {
            values: column(r).map(|(square, _)| square.sqrt()).collect(),
            nearest: corpus.as_ref().map(|_| column(r).map(|(_, n)| *n).collect()),
        })
        .collect())
}

/// Queries per task, at most.
const TASK: usize = 32;

impl Spectrum {
    /// Squared lengths outside the kept span above this count as off the span for the exact norm: 1e-8 of the
    /// largest `<x,x>` of the corpus, and what the eigenvalue threshold itself may have cut off a corpus series.
    pub fn off_span(&self) -> f64 {
        let largest = self.squares.iter().fold(0.0, |m: f64, v| m.max(*v));
        1e-8 * largest + self.count() as f64 * self.threshold
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
