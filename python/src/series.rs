//! Arrays as series: NumPy's memory is used as it is.

use std::sync::Arc;

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use varnorm::Error;
use varnorm::data::{Channel, Dataset, Gaps, Origin, TimeUnit, Times};

use crate::errors::{bad_param, raised};
use crate::json;

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
    /// Names of channels and sampling step, as far as they are known.
    pub origin: Origin,
    /// What was noticed about their times.
    notes: Vec<String>,
}

impl SeriesSet {
    pub fn of(set: varnorm::SeriesSet) -> Self {
        Self { set: Arc::new(set), origin: Origin::default(), notes: Vec::new() }
    }

    /// The same with what is known about them.
    pub fn of_origin(set: varnorm::SeriesSet, origin: Origin) -> Self {
        Self { origin, ..Self::of(set) }
    }

    /// The series of data, with what is known about them. Series that were sampled differently are an error.
    pub fn of_data(data: Dataset) -> Result<Self, Error> {
        let origin = Origin::of(&data)?;
        Ok(Self { set: Arc::new(data.series), origin, notes: data.notes })
    }

    /// As data with this name.
    pub fn to_data(&self, name: &str) -> Dataset {
        Dataset { channels: self.origin.channels.clone(), ..Dataset::new(name, (*self.set).clone()) }
    }
}

/// Nanoseconds since 1970, numbers in a unit or in none, or texts.
#[derive(FromPyObject)]
pub enum Steps<'py> {
    /// Nanoseconds since 1970 in UTC.
    Stamps(PyReadonlyArray1<'py, i64>),
    /// Numbers.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// As written.
    Texts(Vec<String>),
}

impl Steps<'_> {
    fn times(&self, unit: Option<&str>) -> PyResult<Times> {
        let no_unit = |unit: &str| bad_param("time_unit", unit, "must be a unit of time, such as ms");
        match self {
            Self::Stamps(stamps) => Ok(Times::stamps(stamps.as_array().to_vec())),
            Self::Texts(texts) => Ok(Times::from_written(texts.clone())),
            Self::Numbers(numbers) => {
                let unit = unit.map(|u| TimeUnit::from_word(u).ok_or_else(|| no_unit(u))).transpose()?;
                let not_finite =
                    || bad_param("times", "NaN", "a time is missing; fill it in, or leave the row out");
                Times::numbers(numbers.as_array().to_vec(), unit).ok_or_else(not_finite)
            }
        }
    }
}

/// Values, lengths, and what else is known.
type Reduced<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Option<Vec<String>>,
    Option<f64>,
    Option<String>,
    String,
);

#[pymethods]
impl SeriesSet {
    /// All steps of all series, one row each, with the number of steps of every series. The array is not copied: it
    /// must be contiguous.
    ///
    /// Times are one per step: nanoseconds since 1970 as whole numbers, or numbers in a unit. Steps out of order are
    /// sorted, duplicates and gaps noted.
    #[new]
    #[pyo3(signature = (values, lengths, channel_names=None, times=None, time_unit=None, origin=None))]
    fn new(
        values: &Bound<'_, PyArray2<f64>>,
        lengths: &Bound<'_, PyArray1<i64>>,
        channel_names: Option<Vec<String>>,
        times: Option<Steps<'_>>,
        time_unit: Option<&str>,
        origin: Option<&str>,
    ) -> PyResult<Self> {
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
        let set = set.map_err(|e| raised(&e))?;
        if let Some(names) = channel_names.as_ref().filter(|names| names.len() != channels) {
            return Err(bad_param("channel_names", names.len(), format!("there must be {channels}")));
        }
        if let Some(known) = origin {
            let origin =
                serde_json::from_str(known).map_err(|e| bad_param("origin", known, e.to_string()))?;
            return Ok(Self { origin, ..Self::of(set) });
        }
        // Names that files have where nobody gave any are none, as in the program.
        let counted =
            |names: &Vec<String>| names.iter().enumerate().all(|(i, name)| *name == format!("c{i}"));
        let channel_names = channel_names.filter(|names| !counted(names));
        let mut data = Dataset { channels: channel_names.map(Channel::named), ..Dataset::new("X", set) };
        if let Some(times) = times {
            let times = times.times(time_unit)?;
            let steps = data.series.lengths().sum::<usize>();
            if times.len() != steps {
                return Err(bad_param("times", times.len(), format!("there must be one per step: {steps}")));
            }
            data.times = Some(times);
            data = data.settle_times(Gaps::Keep, Gaps::LIMIT).map_err(|e| raised(&e))?;
        }
        Self::of_data(data).map_err(|e| raised(&e))
    }

    /// Names of the channels, where they are known.
    #[getter]
    fn channel_names(&self) -> Option<Vec<String>> {
        self.origin.channels.as_deref().map(Channel::names)
    }

    /// How far apart steps are, in words, where it is known.
    #[getter]
    fn sampling_step(&self) -> Option<String> {
        self.origin.sampling.map(|step| step.to_string())
    }

    /// What was noticed about the times.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn __len__(&self) -> usize {
        self.set.len()
    }

    /// What pickle keeps: the arguments of the class.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let (py, set) = (slf.py(), slf.get());
        let origin = json::write(&set.origin)?;
        Ok((slf.get_type().into_any(), (set.values(py)?, set.lengths(py), None, None, None, origin)))
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
        let set = gaps.fill(&self.set).map_err(|e| raised(&e))?.into_owned();
        Ok(Self::of_origin(set, self.origin.clone()))
    }

    /// The series at these places, in that order.
    fn select(&self, places: Vec<usize>) -> PyResult<Self> {
        if let Some(place) = places.iter().find(|place| **place >= self.set.len()) {
            return Err(bad_param("series", place, format!("there are {} series", self.set.len())));
        }
        let set = Arc::new(self.set.select(&places));
        Ok(Self { set, origin: self.origin.clone(), notes: Vec::new() })
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
