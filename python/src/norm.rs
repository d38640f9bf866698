//! Variance norms of any sample: inner products, vectors, functions, coordinates, series under a kernel.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use varnorm::gram::{Cross, Scaling};
use varnorm::sample::{Elements, Measured};
use varnorm::{Distance, Gram, Kernel, Matrix, Measure, Rank, Run};

use crate::errors::raised;
use crate::kernels::parsed;
use crate::series::{SeriesSet, to_matrix};
use crate::work::{Call, LONG};

/// Scores, nearest elements (for conformance) and distances from the span.
type Found<'py> = (Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<i64>>>, Bound<'py, PyArray1<f64>>);

/// The variance norms of a sample.
#[pyclass(frozen, module = "varnorm._core")]
pub struct VarianceNorm {
    norm: Arc<varnorm::VarianceNorm>,
}

impl VarianceNorm {
    /// From a sample that is a matrix.
    fn decomposed(
        py: Python<'_>,
        matrix: Matrix,
        make: impl FnOnce(&Matrix, &Run) -> varnorm::Result<varnorm::VarianceNorm> + Send + 'static,
    ) -> PyResult<Self> {
        let norm =
            Call { n_jobs: None, progress: None, operations: LONG }.run(py, move |run| make(&matrix, run))?;
        Ok(Self { norm: Arc::new(norm) })
    }

    fn measured<'py>(
        &self,
        py: Python<'py>,
        measure: Measure,
        elements: OwnElements,
    ) -> PyResult<Found<'py>> {
        let norm = Arc::clone(&self.norm);
        let found: Measured =
            Call { n_jobs: None, progress: None, operations: LONG }.run(py, move |run| {
                let elements = match &elements {
                    OwnElements::Products(cross) => Elements::Products(cross),
                    OwnElements::Vectors(vectors) => Elements::Vectors(vectors),
                    OwnElements::Series(series) => Elements::Series(series),
                };
                norm.measure(elements, measure, run)
            })?;
        let nearest = found.scores.nearest.map(|n| n.into_iter().map(|at| at as i64).collect());
        Ok((
            PyArray1::from_vec(py, found.scores.values),
            nearest.map(|n| PyArray1::from_vec(py, n)),
            PyArray1::from_vec(py, found.off_span),
        ))
    }
}

/// Elements that the work can take with it.
enum OwnElements {
    Products(Cross),
    Vectors(Matrix),
    Series(Arc<varnorm::SeriesSet>),
}

fn rank(max_rank: Option<usize>, eigenvalue_threshold: Option<f64>) -> Rank {
    Rank::at_most(max_rank).above(eigenvalue_threshold)
}

fn measure(norm: &str, alpha: f64, distance: &str, neighbour: usize) -> PyResult<Measure> {
    let distance = match parsed(distance)? {
        Distance::Conformance { .. } => Distance::Conformance { neighbour },
        mean => mean,
    };
    Ok(Measure { norm: parsed(norm)?, alpha, distance })
}

#[pymethods]
impl VarianceNorm {
    /// From all inner products of the sample.
    #[staticmethod]
    #[pyo3(signature = (gram, max_rank=None, eigenvalue_threshold=None))]
    fn from_gram(
        py: Python<'_>,
        gram: PyReadonlyArray2<'_, f64>,
        max_rank: Option<usize>,
        eigenvalue_threshold: Option<f64>,
    ) -> PyResult<Self> {
        let rank = rank(max_rank, eigenvalue_threshold);
        Self::decomposed(py, to_matrix(&gram)?, move |matrix, run| {
            varnorm::VarianceNorm::from_gram(&Gram::from_matrix(matrix.clone())?, rank, run)
        })
    }

    /// From vectors, one per row.
    #[staticmethod]
    #[pyo3(signature = (vectors, max_rank=None, eigenvalue_threshold=None))]
    fn from_vectors(
        py: Python<'_>,
        vectors: PyReadonlyArray2<'_, f64>,
        max_rank: Option<usize>,
        eigenvalue_threshold: Option<f64>,
    ) -> PyResult<Self> {
        let rank = rank(max_rank, eigenvalue_threshold);
        Self::decomposed(py, to_matrix(&vectors)?, move |matrix, run| {
            varnorm::VarianceNorm::from_vectors(matrix, rank, run)
        })
    }

    /// From functions on a grid, one per row.
    #[staticmethod]
    #[pyo3(signature = (values, grid, max_rank=None, eigenvalue_threshold=None))]
    fn from_functions(
        py: Python<'_>,
        values: PyReadonlyArray2<'_, f64>,
        grid: Vec<f64>,
        max_rank: Option<usize>,
        eigenvalue_threshold: Option<f64>,
    ) -> PyResult<Self> {
        let rank = rank(max_rank, eigenvalue_threshold);
        Self::decomposed(py, to_matrix(&values)?, move |matrix, run| {
            varnorm::VarianceNorm::from_functions(matrix, &grid, rank, run)
        })
    }

    /// From coordinates in a basis of a Banach space, one element per row.
    #[staticmethod]
    #[pyo3(signature = (coordinates, max_rank=None, eigenvalue_threshold=None))]
    fn from_coordinates(
        py: Python<'_>,
        coordinates: PyReadonlyArray2<'_, f64>,
        max_rank: Option<usize>,
        eigenvalue_threshold: Option<f64>,
    ) -> PyResult<Self> {
        let rank = rank(max_rank, eigenvalue_threshold);
        Self::decomposed(py, to_matrix(&coordinates)?, move |matrix, run| {
            varnorm::VarianceNorm::from_coordinates(matrix, rank, run)
        })
    }

    /// From series under a kernel.
    #[staticmethod]
    #[pyo3(signature = (kernel, sample, normalize=true, max_rank=None, eigenvalue_threshold=None, n_jobs=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn from_kernel(
        py: Python<'_>,
        kernel: &str,
        sample: &SeriesSet,
        normalize: bool,
        max_rank: Option<usize>,
        eigenvalue_threshold: Option<f64>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (kernel, sample): (Kernel, _) = (parsed(kernel)?, Arc::clone(&sample.set));
        let rank = rank(max_rank, eigenvalue_threshold);
        let norm = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
            sample.require_finite("")?;
            varnorm::VarianceNorm::from_kernel(&kernel, &sample, Scaling::of(normalize, false), rank, run)
        })?;
        Ok(Self { norm: Arc::new(norm) })
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of the other two")]
    /// Measures elements by their inner products with the sample (one row each) and with themselves.
    fn measure_products<'py>(
        &self,
        py: Python<'py>,
        products: PyReadonlyArray2<'_, f64>,
        squares: PyReadonlyArray1<'_, f64>,
        norm: &str,
        alpha: f64,
        distance: &str,
        neighbour: usize,
    ) -> PyResult<Found<'py>> {
        let cross = Cross { matrix: to_matrix(&products)?, self_values: squares.as_array().to_vec() };
        self.measured(py, measure(norm, alpha, distance, neighbour)?, OwnElements::Products(cross))
    }

    /// Measures vectors, functions or coordinates, one per row.
    fn measure_vectors<'py>(
        &self,
        py: Python<'py>,
        vectors: PyReadonlyArray2<'_, f64>,
        norm: &str,
        alpha: f64,
        distance: &str,
        neighbour: usize,
    ) -> PyResult<Found<'py>> {
        let vectors = OwnElements::Vectors(to_matrix(&vectors)?);
        self.measured(py, measure(norm, alpha, distance, neighbour)?, vectors)
    }

    /// Measures series.
    fn measure_series<'py>(
        &self,
        py: Python<'py>,
        series: &SeriesSet,
        norm: &str,
        alpha: f64,
        distance: &str,
        neighbour: usize,
    ) -> PyResult<Found<'py>> {
        let series = OwnElements::Series(Arc::clone(&series.set));
        self.measured(py, measure(norm, alpha, distance, neighbour)?, series)
    }

    /// The chance of a Gaussian element having at least these Mahalanobis scores.
    fn gaussian_survival<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
        norm: &str,
        alpha: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let law = self.norm.gaussian_law(parsed(norm)?, alpha).map_err(|e| raised(&e))?;
        Ok(PyArray1::from_vec(py, scores.as_array().iter().map(|s| law.survival(s * s)).collect()))
    }

    /// Eigenvalues of the covariance, descending.
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.norm.spectrum().eigenvalues().to_vec())
    }

    /// The largest distance from the span that counts as on it.
    #[getter]
    fn tolerance(&self) -> f64 {
        self.norm.tolerance()
    }
}
