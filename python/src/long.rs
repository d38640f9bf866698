//! Models of one long recording: fit, scores of points, windows and events, streams.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use varnorm::long::{LongSettings, PointScore, Pushed, Recording, Stream};

use crate::errors::{bad_param, named, raised};
use crate::json;
use crate::work::{Call, LONG};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Whole<'py> = Bound<'py, PyArray1<i64>>;
/// First row, causal scores, first settled row, settled scores, and alarms and events as JSON.
type Told<'py> = (u64, Floats<'py>, u64, Floats<'py>, String);

fn kind(causal: bool) -> PointScore {
    if causal { PointScore::Causal } else { PointScore::Settled }
}

/// The rows of an array, and how many channels they have.
fn rows(values: &PyReadonlyArray2<'_, f64>) -> PyResult<(Vec<f64>, usize)> {
    let channels = values.shape()[1];
    let slice = values.as_slice();
    let slice = slice
        .map_err(|_| bad_param("values", "strided", "must be contiguous; see numpy.ascontiguousarray"))?;
    Ok((slice.to_vec(), channels))
}

/// A model of the windows of one long recording.
#[pyclass(frozen, module = "varnorm._core")]
pub struct LongDetector {
    detector: Arc<varnorm::long::LongDetector>,
}

impl LongDetector {
    fn of(detector: varnorm::long::LongDetector) -> Self {
        Self { detector: Arc::new(detector) }
    }

    /// Works on another recording.
    fn on<T: Send + 'static>(
        &self,
        py: Python<'_>,
        values: &PyReadonlyArray2<'_, f64>,
        breaks: Vec<usize>,
        n_jobs: Option<i64>,
        work: impl FnOnce(&varnorm::long::LongDetector, &Recording<'_>, &varnorm::Run) -> varnorm::Result<T>
        + Send
        + 'static,
    ) -> PyResult<T> {
        let (values, channels) = rows(values)?;
        let detector = Arc::clone(&self.detector);
        let call = Call { n_jobs, progress: None, operations: LONG };
        call.run(py, move |run| {
            let recording = Recording::new(&values, channels)?.with_breaks(&breaks)?;
            work(&detector, &recording, run)
        })
    }
}

#[pymethods]
impl LongDetector {
    /// Fits on a normal recording: one row per step, one column per channel. Rows are missing before each of `breaks`.
    #[staticmethod]
    #[pyo3(signature = (values, breaks, settings, names=None, n_jobs=None, progress=None))]
    fn fit(
        py: Python<'_>,
        values: PyReadonlyArray2<'_, f64>,
        breaks: Vec<usize>,
        settings: &str,
        names: Option<Vec<String>>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let settings =
            LongSettings::from_choices(json::read("settings", settings)?).map_err(|e| raised(&e))?;
        let (values, channels) = rows(&values)?;
        let fitted = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
            let recording = Recording::new(&values, channels)?.with_breaks(&breaks)?;
            let fitted = varnorm::long::LongDetector::fit(&recording, &settings, run)?;
            match names {
                Some(names) => fitted.with_channel_names(names),
                None => Ok(fitted),
            }
        })?;
        Ok(Self::of(fitted))
    }

    /// Settled and causal scores of every row; NaN for rows in no window.
    #[pyo3(signature = (values, breaks, n_jobs=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        breaks: Vec<usize>,
        n_jobs: Option<i64>,
    ) -> PyResult<(Floats<'py>, Floats<'py>)> {
        let found =
            self.on(py, &values, breaks, n_jobs, |detector, recording, run| detector.score(recording, run))?;
        Ok((PyArray1::from_vec(py, found.settled), PyArray1::from_vec(py, found.causal)))
    }

    /// First row, score and nearest normal window of every scored window.
    #[pyo3(signature = (values, breaks, n_jobs=None))]
    fn windows<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        breaks: Vec<usize>,
        n_jobs: Option<i64>,
    ) -> PyResult<(Whole<'py>, Floats<'py>, Whole<'py>)> {
        let found = self.on(py, &values, breaks, n_jobs, |detector, recording, run| {
            detector.score_windows(recording, run)
        })?;
        Ok((
            PyArray1::from_vec(py, found.iter().map(|one| one.start as i64).collect()),
            PyArray1::from_vec(py, found.iter().map(|one| one.score).collect()),
            PyArray1::from_vec(py, found.iter().map(|one| one.nearest as i64).collect()),
        ))
    }

    /// The events of a recording, as JSON.
    #[pyo3(signature = (values, breaks, causal=false, n_jobs=None))]
    fn events(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray2<'_, f64>,
        breaks: Vec<usize>,
        causal: bool,
        n_jobs: Option<i64>,
    ) -> PyResult<String> {
        let found = self.on(py, &values, breaks, n_jobs, move |detector, recording, run| {
            detector.events(recording, kind(causal), run)
        })?;
        json::write(&found)
    }

    /// The chance of a normal block with a score as high as each of these, at most; none without calibration.
    #[pyo3(signature = (scores, causal=false))]
    fn p_values<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
        causal: bool,
    ) -> Option<Floats<'py>> {
        self.detector.promise(kind(causal))?;
        let of = |score: &f64| self.detector.p_value(*score, kind(causal)).unwrap_or(f64::NAN);
        Some(PyArray1::from_vec(py, scores.as_array().iter().map(of).collect()))
    }

    /// Scores of normal points that a model has not seen, ascending.
    #[pyo3(signature = (causal=false))]
    fn normal_scores<'py>(&self, py: Python<'py>, causal: bool) -> Floats<'py> {
        PyArray1::from_slice(py, self.detector.normal_scores(kind(causal)))
    }

    /// The highest scores of normal blocks that a model has not seen, ascending.
    #[pyo3(signature = (causal=false))]
    fn normal_block_maxima<'py>(&self, py: Python<'py>, causal: bool) -> Floats<'py> {
        PyArray1::from_slice(py, self.detector.normal_block_maxima(kind(causal)))
    }

    /// The first row of a normal window in the recording that it was fitted on.
    fn window_row(&self, window: usize) -> PyResult<usize> {
        match window < self.detector.windows() {
            true => Ok(self.detector.window_row(window)),
            false => Err(bad_param(
                "window",
                window,
                format!("the model keeps {} windows", self.detector.windows()),
            )),
        }
    }

    /// The threshold and what it promises, in words; none where the model makes no alarms.
    #[pyo3(signature = (causal=false))]
    fn promise(&self, causal: bool) -> Option<(f64, String)> {
        self.detector.promise(kind(causal)).map(|promise| (promise.threshold, promise.in_words()))
    }

    /// Why there are no alarms, or what is wrong with them, where that is so.
    fn warning(&self) -> Option<String> {
        self.detector.warning()
    }

    /// What was chosen: the program's JSON.
    fn settings(&self) -> PyResult<String> {
        json::write(self.detector.settings())
    }

    /// The names of the channels, where they are known.
    #[getter]
    fn channel_names(&self) -> Option<Vec<String>> {
        self.detector.channel_names().map(<[String]>::to_vec)
    }

    /// Steps of a window.
    #[getter]
    fn window(&self) -> usize {
        self.detector.window()
    }

    /// Steps from one scored window to the next.
    #[getter]
    fn stride(&self) -> usize {
        self.detector.stride()
    }

    /// Steps of a block.
    #[getter]
    fn block(&self) -> usize {
        self.detector.block()
    }

    /// Number of channels.
    #[getter]
    fn channels(&self) -> usize {
        self.detector.channels()
    }

    /// Writes the model file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.detector.save(&path)).map_err(|e| raised(&e))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::of(py.detach(|| varnorm::long::LongDetector::load(&path)).map_err(|e| raised(&e))?))
    }

    /// The content of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.detector.to_bytes().map_err(|problem| named("FormatError", problem))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// From the content of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let read = varnorm::long::LongDetector::from_bytes(bytes);
        Ok(Self::of(read.map_err(|problem| named("FormatError", format!("not a usable model: {problem}")))?))
    }

    /// What pickle keeps.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }
}

/// Rows as they come, to the same bits as all at once.
#[pyclass(frozen, module = "varnorm._core")]
pub struct LongStream {
    stream: Mutex<Stream>,
}

impl LongStream {
    fn locked(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(py: Python<'_>, pushed: Pushed) -> PyResult<Told<'_>> {
    let certain = json::write(&(pushed.alarms, pushed.events))?;
    let (causal, settled) = (PyArray1::from_vec(py, pushed.causal), PyArray1::from_vec(py, pushed.settled));
    Ok((pushed.first_row, causal, pushed.settled_from, settled, certain))
}

#[pymethods]
impl LongStream {
    /// At the beginning.
    #[new]
    #[pyo3(signature = (detector, causal=false))]
    fn new(detector: &LongDetector, causal: bool) -> Self {
        Self { stream: Mutex::new(Stream::new(Arc::clone(&detector.detector), kind(causal))) }
    }

    /// Takes the next rows.
    fn push<'py>(&self, py: Python<'py>, values: PyReadonlyArray2<'py, f64>) -> PyResult<Told<'py>> {
        let (values, channels) = rows(&values)?;
        if channels != self.locked().detector().channels() {
            let rule = format!("the model has {}", self.locked().detector().channels());
            return Err(bad_param("channels", channels, rule));
        }
        let pushed = py.detach(|| self.locked().push(&values, &varnorm::Run::sequential()));
        told(py, pushed.map_err(|e| raised(&e))?)
    }

    /// Rows are missing here.
    fn gap<'py>(&self, py: Python<'py>) -> PyResult<Told<'py>> {
        let pushed = py.detach(|| self.locked().gap());
        told(py, pushed.map_err(|e| raised(&e))?)
    }

    /// Rows so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.locked().rows()
    }

    /// The next row whose settled score is not known yet.
    #[getter]
    fn settled(&self) -> u64 {
        self.locked().settled()
    }

    /// The content of the file of the state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.locked().to_bytes("").map_err(|problem| named("FormatError", problem))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// From the content of the file of a state, for the model that it was made with.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], detector: &LongDetector) -> PyResult<Self> {
        let read = Stream::from_bytes(bytes, Arc::clone(&detector.detector));
        let (stream, _) =
            read.map_err(|problem| named("FormatError", format!("not a usable state: {problem}")))?;
        Ok(Self { stream: Mutex::new(stream) })
    }
}
