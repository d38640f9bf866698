//! Arrays as series: NumPy's memory is used as it is.

use std::sync::Arc;

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{bad_param, raised};

/// The memory of an array, kept alive.
struct ArrayMemory {
    start: *const f64,
    length: usize,
    /// Never read: as long as it is there, so is the memory.
    _array: Py<PyArray2<f64>>,
}

// SAFETY: the memory belongs to the array, which lives as long as this does and cannot be resized while it is referred
// to; only reading takes place. A caller that writes to an array while it is worked on gets some of both values, as
// with any NumPy function that releases the lock.
unsafe impl Send for ArrayMemory {}
// SAFETY: as above.
unsafe impl Sync for ArrayMemory {}

impl AsRef<[f64]> for ArrayMemory {
    fn as_ref(&self) -> &[f64] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `start` and `length` are those of a contiguous array of f64 that is kept alive.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// Many series with one number of channels and any lengths.
#[pyclass(frozen, module = "varnorm._core")]
pub struct SeriesSet {
    pub set: Arc<varnorm::SeriesSet>,
}

impl SeriesSet {
    pub fn of(set: varnorm::SeriesSet) -> Self {
        Self { set: Arc::new(set) }
    }
}

/// Values and lengths.
type Reduced<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl SeriesSet {
    /// All steps of all series, one row each, with the number of steps of every series. The array is not copied: it
    /// must be contiguous.
    #[new]
    fn new(values: &Bound<'_, PyArray2<f64>>, lengths: &Bound<'_, PyArray1<i64>>) -> PyResult<Self> {
        if !values.is_c_contiguous() {
            return Err(bad_param("values", "strided", "must be contiguous; see numpy.ascontiguousarray"));
        }
        let (values, lengths) = (aligned(values)?, aligned(lengths)?.readonly());
        let lengths: Vec<usize> =
            lengths.as_array().iter().map(|length| usize::try_from(*length).unwrap_or(0)).collect();
        let memory =
            ArrayMemory { start: values.data(), length: values.len(), _array: values.clone().unbind() };
        let channels = values.shape()[1];
        let set = varnorm::SeriesSet::from_shared(Arc::new(memory), &lengths, channels);
        Ok(Self::of(set.map_err(|e| raised(&e))?))
    }

    fn __len__(&self) -> usize {
        self.set.len()
    }

    /// What pickle keeps: the arguments of the class.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let (py, set) = (slf.py(), slf.get());
        Ok((slf.get_type().into_any(), (set.values(py)?, set.lengths(py))))
    }

    /// Number of channels of every series.
    #[getter]
    fn channels(&self) -> usize {
        self.set.channels()
    }

    /// Whether the numbers are those of an array, without a copy.
    #[getter]
    fn is_view(&self) -> bool {
        self.set.is_shared()
    }

    /// The number of steps of every series.
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.set.lengths().map(|length| length as i64).collect())
    }

    /// All steps of all series, one row each: a copy.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.set.values().len() / self.set.channels();
        matrix(py, self.set.values().to_vec(), rows, self.set.channels())
    }

    /// The same with missing values filled in: `interpolate`.
    fn filled(&self, gaps: &str) -> PyResult<Self> {
        let gaps: varnorm::prepare::Gaps = gaps.parse().map_err(|e| raised(&e))?;
        Ok(Self::of(gaps.fill(&self.set).map_err(|e| raised(&e))?.into_owned()))
    }

    /// The series at these places, in that order.
    fn select(&self, places: Vec<usize>) -> PyResult<Self> {
        if let Some(place) = places.iter().find(|place| **place >= self.set.len()) {
            return Err(bad_param("series", place, format!("there are {} series", self.set.len())));
        }
        Ok(Self::of(self.set.select(&places)))
    }
}

/// An array as it is, or a copy: one that came over a network can begin anywhere in memory.
pub fn aligned<'py, T: Element, D: Dimension>(
    array: &Bound<'py, PyArray<T, D>>,
) -> PyResult<Bound<'py, PyArray<T, D>>> {
    if array.data().is_aligned() { Ok(array.clone()) } else { Ok(array.call_method0("copy")?.cast_into()?) }
}

/// Numbers as an array of rows.
pub fn matrix<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// A matrix of the library as an array.
pub fn from_matrix<'py>(py: Python<'py>, found: varnorm::Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (rows, columns) = (found.rows(), found.columns());
    matrix(py, found.into_values(), rows, columns)
}

/// An array as a matrix of the library: a copy.
pub fn to_matrix(array: &numpy::PyReadonlyArray2<'_, f64>) -> PyResult<varnorm::Matrix> {
    let array = array.as_array();
    let values: Vec<f64> = array.iter().copied().collect();
    let wrong = || bad_param("array", "shape", "has another number of values than its shape says");
    varnorm::Matrix::from_values(array.nrows(), array.ncols(), values).ok_or_else(wrong)
}
