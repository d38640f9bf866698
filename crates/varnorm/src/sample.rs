//! [`VarianceNorm`]: a law on a Hilbert space, seen through a sample.
//!
//! The one type behind every way to give a sample: inner products of any kind, vectors, functions on a grid,
//! coordinates in a basis of a Banach space, time series under a kernel. All of them end in a [`Spectrum`] and the
//! same norms.
//!
//! Vectors are decomposed by the singular values of the centred data, on their smaller side (d x d where d < N): the
//! condition number is not squared, as it is in a Gram matrix. Eigenvalues above 1e-20 of the largest are kept, where
//! a Gram matrix can be trusted down to 1e-10.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, Par};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::{self, Cross, Gram, Scaling};
use crate::kernel::Kernel;
use crate::law::WeightedChiSquare;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::linalg::product::inner_products;
use crate::run::Run;
use crate::score::{Measure, Norm, Scores, scores_by_rank};
use crate::spectrum::{Projection, Rank, Spectrum};

/// Eigenvalues at most this share of the largest count as zero where vectors were given.
pub const VECTOR_THRESHOLD: f64 = 1e-20;

/// Elements to be measured, in the form in which the sample was given.
#[derive(Debug, Clone, Copy)]
pub enum Elements<'a> {
    /// Inner products with the sample, for a norm from a Gram matrix.
    Products(&'a Cross),
    /// One element per row: vectors, values on the grid (step by step), or coordinates.
    Vectors(&'a Matrix),
    /// Time series, for a norm from a kernel.
    Series(&'a SeriesSet),
}

/// Scores of some elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The norms; infinite off the Cameron-Martin space under the exact one.
    pub scores: Scores,
    /// How far off: the distance of each element from the Cameron-Martin space around the mean, in the norm of the
    /// Hilbert space. At most [`VarianceNorm::tolerance`] counts as on it.
    pub off_span: Vec<f64>,
}

/// The variance norms of a sample of N elements of a Hilbert space.
///
/// ```
/// use varnorm::{Distance, Matrix, Measure, Norm, Rank, Run};
/// use varnorm::sample::{Elements, VarianceNorm};
/// let run = Run::sequential();
/// // Four points of the plane on a line: the third direction of no variance is off the Cameron-Martin space.
/// let points = Matrix::from_values(4, 2, vec![0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0]).unwrap();
/// let norm = VarianceNorm::from_vectors(&points, Rank::default(), &run).unwrap();
/// let exact = Measure { norm: Norm::Exact, alpha: 0.0, distance: Distance::Mahalanobis {} };
/// let queries = Matrix::from_values(2, 2, vec![1.5 + 1.25f64.sqrt(), 0.0, 1.5, 0.25]).unwrap();
/// let found = norm.measure(Elements::Vectors(&queries), exact, &run).unwrap();
/// assert!((found.scores.values[0] - 1.0).abs() < 1e-12);
/// assert_eq!(found.scores.values[1], f64::INFINITY);
/// assert!((found.off_span[1] - 0.25).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VarianceNorm {
    space: Space,
    spectrum: Spectrum,
}

/// How inner products of new elements with the sample are found.
#[derive(Debug, Clone, PartialEq)]
enum Space {
    /// The caller knows them.
    Products,
    Vectors(Vectors),
    Kernel {
        kernel: Kernel,
        sample: SeriesSet,
        self_values: Vec<Scaled>,
        scaling: Scaling,
    },
}

/// A sample of vectors, shifted to its mean and scaled.
#[derive(Debug, Clone, PartialEq)]
struct Vectors {
    mean: Vec<f64>,
    /// A factor per coordinate: roots of quadrature weights, or units.
    factors: Vec<f64>,
    /// The sample, shifted and scaled, one element per row.
    centred: Matrix,
    /// Unit eigenvectors, one per row.
    directions: Matrix,
    geometry: Geometry,
}

/// What the inner product of coordinates means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Geometry {
    /// It is the space's own.
    Hilbert,
    /// Nothing: a basis of a Banach space has no inner product, and the exact norm needs none.
    Banach,
}

impl VarianceNorm {
    /// From all inner products of the sample.
    pub fn from_gram(gram: &Gram, rank: Rank, run: &Run) -> Result<Self> {
        Ok(Self { space: Space::Products, spectrum: Spectrum::new(gram, rank, run)? })
    }

    /// From vectors of R^d with the usual inner product, one per row.
    pub fn from_vectors(vectors: &Matrix, rank: Rank, run: &Run) -> Result<Self> {
        let factors = vec![1.0; vectors.columns()];
        Self::decompose(vectors, factors, Geometry::Hilbert, rank, run)
    }

    /// From functions on an interval with values in R^c: `(L2)^c`, the integral by the trapezoidal rule on the grid.
    /// A row holds one function, step by step, c values per step.
    pub fn from_functions(values: &Matrix, grid: &[f64], rank: Rank, run: &Run) -> Result<Self> {
        let channels = values.columns() / grid.len().max(1);
        if grid.len() < 2 || channels * grid.len() != values.columns() || !grid.is_sorted_by(|a, b| a < b) {
            let rule = "needs at least 2 ascending points, and the values as many columns or a multiple";
            return Err(Error::bad_param("grid", format!("{} points", grid.len()), rule));
        }
        let last = grid.len() - 1;
        let weight = |t: usize| 0.5 * (grid[(t + 1).min(last)] - grid[t.saturating_sub(1)]);
        let factors = (0..values.columns()).map(|at| weight(at / channels).sqrt()).collect();
        Self::decompose(values, factors, Geometry::Hilbert, rank, run)
    }

    /// From coordinates in a basis of a Banach space, one element per row (paper, theoremEmpiricalBanachVarianceNorm). Only the exact
    /// norm exists there: it does not depend on the basis.
    pub fn from_coordinates(coordinates: &Matrix, rank: Rank, run: &Run) -> Result<Self> {
        // The norm is the same in any units: those of unit variance are the best conditioned.
        let (n, d) = (coordinates.rows().max(1) as f64, coordinates.columns());
        let column = |c: usize| (0..coordinates.rows()).map(move |r| coordinates.get(r, c));
        let spread = |c: usize| {
            let mean = column(c).sum::<f64>() / n;
            (column(c).map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
        };
        let factors = (0..d).map(spread).map(|s| if s > 0.0 { 1.0 / s } else { 1.0 }).collect();
        Self::decompose(coordinates, factors, Geometry::Banach, rank, run)
    }

    /// From time series under a kernel; `auto` parameters are worked out from the sample.
    pub fn from_kernel(
        kernel: &Kernel,
        sample: &SeriesSet,
        scaling: Scaling,
        rank: Rank,
        run: &Run,
    ) -> Result<Self> {
        let kernel = kernel.resolve(sample)?;
        let gram = gram::gram(&kernel, sample, scaling, run)?;
        let spectrum = Spectrum::new(&gram, rank, run)?;
        let sample = sample.clone().into_owned();
        let space = Space::Kernel { kernel, sample, self_values: gram.self_values, scaling };
        Ok(Self { space, spectrum })
    }

    /// Eigenvalues and coordinates of the sample.
    pub fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    /// The largest distance from the Cameron-Martin space that counts as on it; see [`Spectrum::off_span`].
    pub fn tolerance(&self) -> f64 {
        self.spectrum.off_span().sqrt()
    }

    /// The law of the squared Mahalanobis norm of a new element, if the sample comes from a Gaussian.
    pub fn gaussian_law(&self, norm: Norm, alpha: f64) -> Result<WeightedChiSquare> {
        let rest = self.spectrum.variance() * (1.0 - self.spectrum.kept_variance());
        WeightedChiSquare::of_norm(self.spectrum.eigenvalues(), rest, norm, alpha)
    }

    /// Norms of the differences from the mean, or from the nearest elements of the sample.
    pub fn measure(&self, elements: Elements<'_>, measure: Measure, run: &Run) -> Result<Measured> {
        if let Space::Vectors(Vectors { geometry: Geometry::Banach, .. }) = &self.space
            && measure.norm != Norm::Exact
        {
            let rule = "a Banach space has the exact norm only: the regularised ones need an inner product";
            return Err(Error::bad_param("norm", format!("{:?}", measure.norm), rule));
        }
        let (cross, projection) = self.locate(elements, run)?;
        let ranks = [self.spectrum.rank()];
        let mut found = scores_by_rank(&self.spectrum, &cross, &projection, measure, &ranks, run)?;
        let outside = |(q, norm): (usize, &f64)| {
            let inside: f64 = projection.coordinates.row(q).iter().map(|p| p * p).sum();
            (norm - inside).max(0.0).sqrt()
        };
        let off_span = projection.squared_norms.iter().enumerate().map(outside).collect();
        Ok(Measured { scores: found.pop().unwrap_or_default(), off_span })
    }

    /// Inner products with the sample, and coordinates.
    fn locate(&self, elements: Elements<'_>, run: &Run) -> Result<(Cross, Projection)> {
        match (&self.space, elements) {
            (Space::Products, Elements::Products(cross)) => {
                Ok((cross.clone(), self.spectrum.project(cross, run)?))
            }
            (Space::Vectors(vectors), Elements::Vectors(queries)) => vectors.locate(queries),
            (Space::Kernel { kernel, sample, self_values, scaling }, Elements::Series(queries)) => {
                let cross = gram::cross(kernel, queries, sample, self_values, *scaling, run)?;
                let projection = self.spectrum.project(&cross, run)?;
                Ok((cross, projection))
            }
            _ => {
                let rule = "must be given in the form of the sample: products, vectors or series";
                Err(Error::bad_param("elements", "of another form", rule))
            }
        }
    }

    fn decompose(
        values: &Matrix,
        factors: Vec<f64>,
        geometry: Geometry,
        rank: Rank,
        run: &Run,
    ) -> Result<Self> {
        rank.validate()?;
        run.check()?;
        let (n, d) = (values.rows(), values.columns());
        if n < 2 {
            let advice = "give more elements".into();
            return Err(Error::TooFew { what: "a covariance".into(), needed: 2, found: n, advice });
        }
        if let Some(at) = values.values().iter().position(|v| !v.is_finite()) {
            let rule = "must be finite";
            return Err(Error::bad_param("vectors", format!("row {}, column {}", at / d, at % d), rule));
        }
        let mean: Vec<f64> =
            (0..d).map(|c| (0..n).map(|r| values.get(r, c)).sum::<f64>() / n as f64).collect();
        let centred = shifted(values, &mean, &factors);
        let (singular, mut directions) = right_singular(&centred)?;
        let eigenvalues: Vec<f64> = singular.iter().map(|s| s * s / n as f64).collect();
        let largest = eigenvalues.first().copied().unwrap_or(0.0);
        let threshold = rank.eigenvalue_threshold.unwrap_or(VECTOR_THRESHOLD * largest);
        let most = rank.max_rank.unwrap_or(usize::MAX);
        let kept = eigenvalues.iter().take(most).take_while(|v| **v > threshold).count();
        let rows: Vec<usize> = (0..kept).collect();
        directions = directions.select(&rows, &(0..d).collect::<Vec<_>>());
        let mut coordinates = Matrix::zeros(kept, n);
        if kept > 0 {
            let out = coordinates.values_mut();
            inner_products(directions.values(), centred.values(), d, out, n);
        }
        let squares: Vec<f64> = (0..n).map(|r| centred.row(r).iter().map(|v| v * v).sum()).collect();
        let spectrum = Spectrum {
            variance: squares.iter().sum::<f64>() / n as f64,
            eigenvalues: eigenvalues[..kept].to_vec(),
            coordinates,
            row_means: vec![0.0; n],
            grand_mean: 0.0,
            squares,
            threshold,
            count: n,
            highest_rank: n.saturating_sub(1).min(d),
        };
        Ok(Self { space: Space::Vectors(Vectors { mean, factors, centred, directions, geometry }), spectrum })
    }
}

impl Vectors {
    fn locate(&self, queries: &Matrix) -> Result<(Cross, Projection)> {
        let d = self.mean.len();
        if queries.columns() != d {
            let rule = format!("must have as many columns as the sample: {d}");
            return Err(Error::bad_param("elements", format!("{} columns", queries.columns()), rule));
        }
        let queries = shifted(queries, &self.mean, &self.factors);
        let products = |columns: &Matrix| {
            let mut out = Matrix::zeros(queries.rows(), columns.rows());
            if columns.rows() > 0 && queries.rows() > 0 {
                let stride = columns.rows();
                inner_products(queries.values(), columns.values(), d, out.values_mut(), stride);
            }
            out
        };
        let squares: Vec<f64> =
            (0..queries.rows()).map(|q| queries.row(q).iter().map(|v| v * v).sum()).collect();
        let cross = Cross { matrix: products(&self.centred), self_values: squares.clone() };
        Ok((cross, Projection { coordinates: products(&self.directions), squared_norms: squares }))
    }
}

/// `(value - mean) factor`, column by column.
fn shifted(values: &Matrix, mean: &[f64], factors: &[f64]) -> Matrix {
    let mut out = values.clone();
    for r in 0..out.rows() {
        for ((cell, m), f) in out.row_mut(r).iter_mut().zip(mean).zip(factors) {
            *cell = (*cell - m) * f;
        }
    }
    out
}

/// Singular values, descending, with the right singular vectors, one per row.
fn right_singular(matrix: &Matrix) -> Result<(Vec<f64>, Matrix)> {
    let (n, d) = (matrix.rows(), matrix.columns());
    let size = n.min(d);
    let failed = |problem: &str| Error::Eigen { size, problem: problem.into() };
    let mut values = faer::diag::Diag::<f64>::zeros(size);
    let mut right = Mat::<f64>::zeros(d, size);
    let (no, thin) = (ComputeSvdVectors::No, ComputeSvdVectors::Thin);
    let need = svd_scratch::<f64>(n, d, no, thin, Par::Seq, Default::default());
    let mut memory = MemBuffer::try_new(need).map_err(|_| failed("out of memory"))?;
    svd(
        faer::MatRef::from_row_major_slice(matrix.values(), n, d),
        values.as_mut(),
        None,
        Some(right.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|e| failed(&format!("{e:?}")))?;
    let mut rows = Matrix::zeros(size, d);
    for j in 0..size {
        for (i, cell) in rows.row_mut(j).iter_mut().enumerate() {
            *cell = right[(i, j)];
        }
    }
    Ok(((0..size).map(|j| values[j]).collect(), rows))
}
