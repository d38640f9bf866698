//! The covariance operator of a corpus, seen through its Gram matrix (paper, theorem 3.9 and algorithm 1).
//!
//! [`Spectrum`] holds the eigenvalues of `K = (1/N) sum (x_i - m)(x_i - m)^T` and the coordinates of the corpus in
//! its eigenvectors; [`Spectrum::project`] gives those of queries.

pub(crate) mod centred;
mod without;

pub(crate) use without::Leaver;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gram::{Cross, Gram};
use crate::linalg::eigen;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;
use crate::run::Run;
use centred::{Centred, mean};

/// Eigenvalues at most this share of the largest count as zero unless a threshold is given.
pub const RELATIVE_THRESHOLD: f64 = 1e-10;

/// Which eigenpairs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Rank {
    /// At most so many; `None` is all of them.
    pub max_rank: Option<usize>,
    /// Only eigenvalues above this; `None` is [`RELATIVE_THRESHOLD`] times the largest.
    pub eigenvalue_threshold: Option<f64>,
}

impl Rank {
    /// At most so many eigenpairs.
    pub fn at_most(max_rank: impl Into<Option<usize>>) -> Self {
        Self { max_rank: max_rank.into(), eigenvalue_threshold: None }
    }

    /// Only eigenvalues above this, whatever the largest is.
    pub fn above(mut self, threshold: impl Into<Option<f64>>) -> Self {
        self.eigenvalue_threshold = threshold.into();
        self
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        if self.max_rank == Some(0) {
            return Err(Error::bad_param("max_rank", 0, "must be at least 1"));
        }
        match self.eigenvalue_threshold {
            Some(t) if !(t >= 0.0 && t.is_finite()) => {
                Err(Error::bad_param("eigenvalue_threshold", t, "must be zero or a positive number"))
            }
            _ => Ok(()),
        }
    }
}

/// The spectral decomposition of a corpus' covariance operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Kept eigenvalues of the covariance operator, descending. Empty for a degenerate corpus.
    pub(crate) eigenvalues: Vec<f64>,
    /// `<x_n - m, e_j>` for unit eigenvectors e_j: one row per j, one column per corpus series n.
    pub(crate) coordinates: Matrix,
    /// The mean of each row of the Gram matrix.
    pub(crate) row_means: Vec<f64>,
    /// The mean of the whole Gram matrix: `<m, m>`.
    pub(crate) grand_mean: f64,
    /// The diagonal of the Gram matrix: `<x_n, x_n>`.
    pub(crate) squares: Vec<f64>,
    /// The total variance: trace of the covariance operator, kept or not.
    pub(crate) variance: f64,
    /// What the threshold was, as a number.
    pub(crate) threshold: f64,
    /// The number of series that the covariance is of: a compact model has the coordinates of a few of them only.
    pub(crate) count: usize,
    /// The largest rank there could be.
    pub(crate) highest_rank: usize,
}

/// All eigenpairs of a symmetric matrix, descending: values, and unit vectors row by row.
pub(crate) fn eigenpairs(matrix: &Matrix, run: &Run) -> Result<(Vec<f64>, Matrix)> {
    let found = eigen::leading(matrix, None, run)?;
    Ok((found.values, found.vectors))
}

/// Queries in the coordinates of a spectrum.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// `<y - m, e_j>`: one row per query, one column per kept eigenvector.
    pub coordinates: Matrix,
    /// `|y - m|^2` in feature space.
    pub squared_norms: Vec<f64>,
}

impl Spectrum {
    /// Centres the Gram matrix and decomposes it.
    pub fn new(gram: &Gram, rank: Rank, run: &Run) -> Result<Self> {
        rank.validate()?;
        let n = gram.len();
        if n < 2 {
            return Err(Error::TooFew {
                what: "a covariance".into(),
                needed: 2,
                found: n,
                advice: "give more normal series".into(),
            });
        }
        let centred = Centred::new(gram);
        let variance = centred.trace().max(0.0);
        let eigen = centred.eigenpairs(rank.max_rank.map(|r| r.min(n)), run)?;
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        // Rounding of the centring alone is this large: what lies below is noise, whatever was asked for.
        let noise = f64::EPSILON * centred.squares.iter().fold(0.0, |m: f64, v| m.max(*v));
        let threshold = rank.eigenvalue_threshold.unwrap_or(RELATIVE_THRESHOLD * largest.max(0.0)).max(noise);
        let kept = eigen.values.iter().take_while(|v| **v > threshold).count();
        let vectors: Vec<&[f64]> = (0..kept).map(|j| eigen.vectors.row(j)).collect();
        Ok(centred.spectrum(eigen.values[..kept].to_vec(), &vectors, variance, threshold))
    }

    /// Kept eigenvalues of the covariance operator, descending. Empty for a degenerate corpus (all series equal).
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Number of kept eigenpairs.
    pub fn rank(&self) -> usize {
        self.eigenvalues.len()
    }

    /// Number of series that the covariance is of.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of corpus series whose coordinates are known: all of them, but in a compact model.
    pub fn corpus_len(&self) -> usize {
        self.squares.len()
    }

    /// The total variance of the corpus in feature space: the trace of its covariance operator.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The share of the variance that the kept eigenpairs carry; 1 for a degenerate corpus.
    pub fn kept_variance(&self) -> f64 {
        if self.variance > 0.0 {
            (self.eigenvalues.iter().sum::<f64>() / self.variance).min(1.0)
        } else {
            1.0
        }
    }

    /// The effective dimension `tr(K)^2 / |K|_HS^2` of the kept part; 0 for a degenerate corpus.
    pub fn effective_dimension(&self) -> f64 {
        crate::norm::effective_dimension(&self.eigenvalues)
    }

    /// `<x_n - m, e_j>` of the corpus: one row per kept eigenvector, one column per series.
    pub fn coordinates(&self) -> &Matrix {
        &self.coordinates
    }

    /// The coordinates of queries, `p_j = <y - m, e_j>` (algorithm 2, with the mean taken off).
    ///
    /// A query's numbers do not depend on what other queries are in the batch.
    pub fn project(&self, cross: &Cross, run: &Run) -> Result<Projection> {
        let n = self.corpus_len();
        if cross.matrix.columns() != n {
            return Err(Error::bad_param(
                "cross",
                format!("{} columns", cross.matrix.columns()),
                format!("must have one column per corpus series: {n}"),
            ));
        }
        let count = cross.matrix.rows();
        let mut projection =
            Projection { coordinates: Matrix::zeros(count, self.rank()), squared_norms: vec![0.0; count] };
        // Rank 0 has no coordinates, and chunks of zero cells do not exist.
        let rank = self.rank().max(1);
        let mut cells = vec![0.0; count * rank];
        let tasks: Vec<_> = cells
            .chunks_mut(QUERIES * rank)
            .zip(projection.squared_norms.chunks_mut(QUERIES))
            .enumerate()
            .collect();
        run.for_each("projections", tasks, |(task, (cells, norms))| {
            self.project_some(cross, task * QUERIES, cells, norms);
            Ok(())
        })?;
        if self.rank() > 0 {
            projection.coordinates.values_mut().copy_from_slice(&cells);
        }
        Ok(projection)
    }

    fn project_some(&self, cross: &Cross, first: usize, cells: &mut [f64], norms: &mut [f64]) {
        let (n, rank) = (self.corpus_len(), self.rank());
        let mut centred = vec![0.0; norms.len() * n];
        for (q, (row, norm)) in centred.chunks_exact_mut(n).zip(norms.iter_mut()).enumerate() {
            let products = cross.matrix.row(first + q);
            let average = mean(products);
            // |y - m|^2 = <y,y> - 2 <y,m> + <m,m>.
            *norm = (cross.self_values[first + q] - 2.0 * average + self.grand_mean).max(0.0);
            for ((cell, s), a) in row.iter_mut().zip(products).zip(&self.row_means) {
                *cell = (s - average) - (a - self.grand_mean);
            }
        }
        if rank == 0 {
            return;
        }
        inner_products(&centred, self.coordinates.values(), n, cells, rank);
        for row in cells.chunks_exact_mut(rank) {
            for (cell, eigenvalue) in row.iter_mut().zip(&self.eigenvalues) {
                *cell /= n as f64 * eigenvalue;
            }
        }
    }
}

/// Queries per task.
const QUERIES: usize = 48;
