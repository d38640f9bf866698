//! The detector: fit, score, explain, save, load.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use varnorm::Error;
use varnorm::calibrate::Decision;
use varnorm::detector::View;

use crate::errors::{bad_param, named, raised};
use crate::json;
use crate::kernels::parsed;
use crate::series::{SeriesSet, matrix};
use crate::settings::Settings;
use crate::work::{Call, LONG, decomposition};

/// What a detector says about a batch.
#[pyclass(frozen, module = "varnorm._core")]
pub struct Findings {
    findings: varnorm::Findings,
    /// What was noticed about the data.
    notes: Vec<String>,
}

#[pymethods]
impl Findings {
    fn __len__(&self) -> usize {
        self.findings.len()
    }

    /// What was noticed about the data.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// How novel each series is: higher is more.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.findings.scores())
    }

    /// The chance of a normal series scoring at least as high; none without calibration.
    #[getter]
    fn p_values<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let values: Option<Vec<f64>> = self.findings.findings.iter().map(|f| f.p_value).collect();
        values.map(|values| PyArray1::from_vec(py, values))
    }

    /// Whether each series is flagged; none without calibration.
    #[getter]
    fn novel<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<bool>>> {
        let flags: Option<Vec<bool>> = self.findings.findings.iter().map(|f| f.novel).collect();
        flags.map(|flags| PyArray1::from_vec(py, flags))
    }

    /// The nearest normal series, by its place among those the detector was fitted on.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.findings.findings.iter().map(|f| f.nearest as i64).collect())
    }

    /// The share of each squared distance from the mean that no corpus series explains.
    #[getter]
    fn outside_span<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.findings.findings.iter().map(|f| f.outside_span).collect())
    }

    /// Comparable scores of the views, a row per series; without columns where there is one view.
    #[getter]
    fn view_scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = self.findings.findings.first().map_or(0, |f| f.views.len());
        let values = self.findings.findings.iter().flat_map(|f| f.views.iter().map(|v| v.score)).collect();
        matrix(py, values, self.findings.len(), columns)
    }

    /// The score above which series of this batch are flagged; none without calibration, and for LORD++.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.findings.threshold
    }

    /// Why nothing was flagged, where nothing could be.
    #[getter]
    fn cannot_flag(&self) -> Option<String> {
        self.findings.cannot_flag.as_ref().map(|cannot| cannot.words.clone())
    }

    /// The program's JSON.
    fn to_json(&self) -> PyResult<String> {
        json::write(&self.findings)
    }
}

/// A fitted detector.
#[pyclass(frozen, module = "varnorm._core")]
pub struct Detector {
    pub detector: Arc<varnorm::Detector>,
}

impl Detector {
    fn of(detector: varnorm::Detector) -> Self {
        Self { detector: Arc::new(detector) }
    }

    /// Series as the model wants them, and what to tell about it.
    fn admit(&self, series: &SeriesSet) -> PyResult<(Arc<varnorm::SeriesSet>, Vec<String>)> {
        let (set, notes) =
            self.detector.origin().admit_series(&series.set, &series.origin).map_err(|e| raised(&e))?;
        Ok((Arc::new(set), notes))
    }

    fn names(&self) -> Option<Vec<varnorm::data::Channel>> {
        self.detector.origin().channels.clone()
    }

    /// Level and decision: the detector's where they are left out.
    fn deciding(&self, level: Option<f64>, decision: Option<&str>) -> PyResult<(f64, Decision)> {
        let settings = self.detector.settings();
        let decision = decision.map_or(Ok(settings.decision), parsed)?;
        Ok((level.unwrap_or(settings.level), decision))
    }
}

/// An error about a channel, with its name where it has one.
fn with_names(error: Error, channels: &Option<Vec<varnorm::data::Channel>>) -> Error {
    let at = match &error {
        Error::Missing { channel, .. } | Error::NonFinite { channel, .. } => *channel,
        _ => return error,
    };
    match channels.as_ref().and_then(|channels| channels.get(at)) {
        Some(channel) => error.within(format!("channel {at}, named {}", channel.name)),
        None => error,
    }
}

/// At most how many operations it takes to fit: the whole and its folds, which are ten or fewer, or to leave one out.
fn fitting(settings: &varnorm::Settings, corpus: &varnorm::SeriesSet) -> f64 {
    // What a preset will choose is not known yet.
    if settings.given().is_empty() {
        return LONG;
    }
    let one = |view: &View| view.kernel.operations(corpus, corpus) + decomposition(corpus.len());
    10.0 * settings.given().iter().map(one).sum::<f64>()
}

#[pymethods]
impl Detector {
    /// Fits on normal series.
    #[staticmethod]
    #[pyo3(signature = (settings, corpus, outliers=None, names=None, n_jobs=None, progress=None))]
    fn fit(
        py: Python<'_>,
        settings: &Settings,
        corpus: &SeriesSet,
        outliers: Option<&SeriesSet>,
        names: Option<Vec<String>>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let settings = settings.settings.clone();
        let origin = corpus.origin.clone();
        let admitted = |o: &SeriesSet| origin.admit_series(&o.set, &o.origin).map_err(|e| raised(&e));
        let outliers = outliers.map(admitted).transpose()?.map(|(set, _)| set);
        let (corpus, channels) = (Arc::clone(&corpus.set), origin.channels.clone());
        let operations = fitting(&settings, &corpus);
        let fitted = Call { n_jobs, progress, operations }.run(py, move |run| match outliers {
            Some(outliers) => settings.fit_with_outliers(&corpus, &outliers, run),
            None => settings.fit(&corpus, run).map_err(|error| with_names(error, &channels)),
        })?;
        Ok(Self::of(fitted.with_corpus_names(names).with_origin(origin)))
    }

    /// The model of these series and more (spaces landmarks and features): preparation, kernel and landmarks stay.
    #[pyo3(signature = (more, n_jobs=None, progress=None))]
    fn partial_fit(
        &self,
        py: Python<'_>,
        more: &SeriesSet,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (detector, (more, _)) = (Arc::clone(&self.detector), self.admit(more)?);
        let operations = self.detector.operations(&more) + fitting(detector.settings(), detector.corpus());
        let call = Call { n_jobs, progress, operations };
        Ok(Self::of(call.run(py, move |run| (*detector).clone().partial_fit(&more, run))?))
    }

    /// A model of other series with the settings, the preparation, the kernel and the landmarks of this one.
    #[pyo3(signature = (series, names=None, n_jobs=None, progress=None))]
    fn fit_like(
        &self,
        py: Python<'_>,
        series: &SeriesSet,
        names: Option<Vec<String>>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (detector, (series, _)) = (Arc::clone(&self.detector), self.admit(series)?);
        let operations = self.detector.operations(&series) + fitting(detector.settings(), detector.corpus());
        let call = Call { n_jobs, progress, operations };
        let fitted = call.run(py, move |run| {
            let mut fitting = varnorm::detector::Fitting::like(&detector)?;
            fitting.add(&series, run)?;
            fitting.finish(run)
        })?;
        let origin = self.detector.origin().clone();
        Ok(Self::of(fitted.with_corpus_names(names).with_origin(origin)))
    }

    /// The model of the series of all these models, in their order.
    #[staticmethod]
    #[pyo3(signature = (models, n_jobs=None))]
    fn merge(py: Python<'_>, models: Vec<PyRef<'_, Self>>, n_jobs: Option<i64>) -> PyResult<Self> {
        let models: Vec<Arc<varnorm::Detector>> = models.iter().map(|m| Arc::clone(&m.detector)).collect();
        let series: usize = models.iter().map(|m| m.corpus_series()).sum();
        let call = Call { n_jobs, progress: None, operations: 1e6 * series as f64 };
        let whole = move |run: &varnorm::Run| {
            varnorm::Detector::merge(models.iter().map(|m| (**m).clone()).collect(), run)
        };
        Ok(Self::of(call.run(py, whole)?))
    }

    /// Number of normal series that the model is of.
    #[getter]
    fn corpus_series(&self) -> usize {
        self.detector.corpus_series()
    }

    /// The share of the sum of `k(x,x)` that landmarks miss; 0 without.
    #[getter]
    fn trace_error(&self) -> f64 {
        self.detector.trace_error()
    }

    /// Number of landmarks, where there are some.
    #[getter]
    fn landmarks(&self) -> Option<usize> {
        self.detector.landmarks()
    }

    /// Scores new series; level and decision are the detector's where they are left out.
    #[pyo3(signature = (series, level=None, decision=None, n_jobs=None, progress=None))]
    fn score(
        &self,
        py: Python<'_>,
        series: &SeriesSet,
        level: Option<f64>,
        decision: Option<&str>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Findings> {
        let (detector, (series, notes)) = (Arc::clone(&self.detector), self.admit(series)?);
        let (level, decision) = self.deciding(level, decision)?;
        let call = Call { n_jobs, progress, operations: self.detector.operations(&series) };
        let named = self.names();
        let scored = move |run: &varnorm::Run| {
            detector.score_at(&series, level, decision, run).map_err(|error| with_names(error, &named))
        };
        let findings = call.run(py, scored)?;
        Ok(Findings { findings, notes })
    }

    /// What is found about series that were scored in pieces: flags are made over all of them.
    #[pyo3(signature = (scores, nearest, outside_span, view_scores, level=None, decision=None))]
    fn findings_of(
        &self,
        scores: Vec<f64>,
        nearest: Vec<usize>,
        outside_span: Vec<f64>,
        view_scores: Vec<Vec<f64>>,
        level: Option<f64>,
        decision: Option<&str>,
    ) -> PyResult<Findings> {
        let counts = [nearest.len(), outside_span.len(), view_scores.len()];
        if counts.iter().any(|count| *count != scores.len()) {
            let rule = "every series has a score, a nearest one, a share and scores of the views";
            return Err(bad_param("nearest", nearest.len(), rule));
        }
        let (level, decision) = self.deciding(level, decision)?;
        let shares = nearest.into_iter().zip(outside_span).zip(view_scores);
        let scored = scores.into_iter().zip(shares).map(|(score, ((nearest, outside_span), views))| {
            // No map is drawn of findings from elsewhere.
            varnorm::detector::Measured { score, nearest, outside_span, coordinates: [0.0; 2], views }
        });
        let findings = self.detector.findings_of(scored, level, decision).map_err(|e| raised(&e))?;
        Ok(Findings { findings, notes: Vec::new() })
    }

    /// Why a series has its score: the program's JSON.
    #[pyo3(signature = (series, index=0, segments=10, n_jobs=None))]
    fn explain(
        &self,
        py: Python<'_>,
        series: &SeriesSet,
        index: usize,
        segments: usize,
        n_jobs: Option<i64>,
    ) -> PyResult<String> {
        let (detector, (series, _)) = (Arc::clone(&self.detector), self.admit(series)?);
        // A series per channel and stretch is scored.
        let variants = (segments + detector.corpus().channels() + 1) as f64;
        let call = Call { n_jobs, progress: None, operations: variants * self.detector.operations(&series) };
        let explanation = call.run(py, move |run| detector.explain(&series, index, segments, run))?;
        json::write(&explanation)
    }

    /// Writes the model file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.detector.save(&path)).map_err(|e| raised(&e))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::of(py.detach(|| varnorm::Detector::load(&path)).map_err(|e| raised(&e))?))
    }

    /// The content of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.detector.to_bytes().map_err(|problem| named("FormatError", problem))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// From the content of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let wrong = |problem| Error::Model { path: "the pickled detector".into(), problem };
        Ok(Self::of(varnorm::Detector::from_bytes(bytes).map_err(|e| raised(&wrong(e)))?))
    }

    /// What was chosen: the program's JSON.
    fn settings(&self) -> PyResult<String> {
        json::write(self.detector.settings())
    }

    /// The kernel with every `auto` worked out, as JSON.
    fn kernel(&self) -> PyResult<String> {
        json::write(self.detector.kernel())
    }

    /// What the corpus and the norm are good for: the program's JSON.
    fn diagnostics(&self) -> PyResult<String> {
        json::write(&self.detector.diagnostics())
    }

    /// What one should know before trusting this model.
    fn warnings(&self) -> Vec<String> {
        self.detector.warnings()
    }

    /// The score above which a single series has a p-value of at most this level; none without calibration.
    fn threshold(&self, level: f64) -> Option<f64> {
        self.detector.threshold(level)
    }

    /// The score above which a series is flagged; none without calibration, and where that depends on the batch.
    fn decision_threshold(&self) -> Option<f64> {
        self.detector.decision_threshold()
    }

    /// The chance of a normal series scoring at least so high; none without calibration.
    fn p_values<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
    ) -> Option<Bound<'py, PyArray1<f64>>> {
        let values: Option<Vec<f64>> = scores.as_array().iter().map(|s| self.detector.p_value(*s)).collect();
        values.map(|values| PyArray1::from_vec(py, values))
    }

    /// The normal scores that p-values compare with, ascending; none without calibration.
    fn calibration_scores<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(PyArray1::from_vec(py, self.detector.calibrated()?.scores().to_vec()))
    }

    /// Eigenvalues of the covariance, descending.
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.detector.spectrum().eigenvalues().to_vec())
    }

    /// The views, in order: the program's JSON.
    fn views(&self) -> PyResult<String> {
        json::write(&varnorm::detector::ModelSummary::new(&self.detector).views.all())
    }

    /// Members of the corpus that do not seem to belong there: the program's JSON.
    fn suspects(&self) -> PyResult<String> {
        json::write(&self.detector.suspects())
    }

    /// What the user should know about the choice of views.
    fn notes(&self) -> Vec<String> {
        self.detector.notes().to_vec()
    }

    /// The false-alarm rate that flags aim at.
    #[getter]
    fn level(&self) -> f64 {
        self.detector.settings().level
    }

    /// Number of views.
    #[getter]
    fn n_views(&self) -> usize {
        self.detector.views()
    }

    /// Whether series can be added to the model.
    #[getter]
    fn grows(&self) -> bool {
        !self.detector.is_all_pairs()
    }

    /// The model's corpus, by places in the series that it was fitted on.
    fn members<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.detector.members().iter().map(|m| *m as i64).collect())
    }

    /// Names of the channels, where they are known; new data are matched by them.
    #[getter]
    fn channel_names(&self) -> Option<Vec<String>> {
        self.detector.origin().channels.as_deref().map(varnorm::data::Channel::names)
    }

    /// How far apart the steps of the corpus are, in words, where it is known.
    #[getter]
    fn sampling_step(&self) -> Option<String> {
        self.detector.origin().sampling.map(|step| step.to_string())
    }

    /// Number of channels that series must have.
    #[getter]
    fn channels(&self) -> usize {
        self.detector.preparation().channels()
    }
}

/// A running test of whether scores still look like those of the corpus.
#[pyclass(module = "varnorm._core")]
pub struct Drift {
    drift: varnorm::calibrate::Drift,
}

#[pymethods]
impl Drift {
    /// From calibration scores; the seed breaks ties.
    #[new]
    #[pyo3(signature = (calibration, seed=0))]
    fn new(calibration: PyReadonlyArray1<'_, f64>, seed: u64) -> Self {
        let scores: Vec<f64> = calibration.as_array().iter().copied().collect();
        Self { drift: varnorm::calibrate::Drift::new(&scores, seed) }
    }

    /// Looks at more scores, in their order.
    fn add(&mut self, scores: PyReadonlyArray1<'_, f64>) {
        scores.as_array().iter().for_each(|score| self.drift.add(*score));
    }

    /// What it says now: the program's JSON.
    fn state(&self) -> PyResult<String> {
        json::write(&self.drift.state())
    }
}

/// What it would take to fit on so many series like these, from a measured sample: the program's JSON. An error says what would
/// fit where a budget of bytes is given and this does not.
#[pyfunction]
#[pyo3(signature = (settings, like, count, memory=None, n_jobs=None))]
pub fn estimate(
    py: Python<'_>,
    settings: &Settings,
    like: &SeriesSet,
    count: usize,
    memory: Option<f64>,
    n_jobs: Option<i64>,
) -> PyResult<String> {
    let (settings, like) = (settings.settings.clone(), Arc::clone(&like.set));
    // A sample is worked out on the threads that a fit would have.
    let call = Call { n_jobs, progress: None, operations: f64::INFINITY };
    let found = call.run(py, move |run| {
        memory.map_or(Ok(()), |bytes| settings.check_memory(&like, count, bytes))?;
        settings.estimate(&like, count, run)
    })?;
    json::write(&found)
}

/// Scores of normal series, each by the model without it.
#[pyfunction]
#[pyo3(signature = (settings, corpus, n_jobs=None, progress=None))]
pub fn leave_one_out<'py>(
    py: Python<'py>,
    settings: &Settings,
    corpus: &SeriesSet,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let settings = settings.settings.clone();
    let corpus = Arc::clone(&corpus.set);
    let operations = fitting(&settings, &corpus);
    let scores =
        Call { n_jobs, progress, operations }.run(py, move |run| settings.leave_one_out(&corpus, run))?;
    Ok(PyArray1::from_vec(py, scores))
}
