//! Reports: the program's pages, as text.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use varnorm::data::{Dataset, Labels};
use varnorm::report::{Options, Report};
use varnorm_study::StudyReport;

use crate::detector::Detector;
use crate::errors::raised;
use crate::kernels::parsed;
use crate::series::SeriesSet;
use crate::work::{Call, LONG};

/// Everything there is to see about series, or about the detector alone, as one HTML page.
#[pyfunction]
#[pyo3(signature = (detector, series=None, title="Series", names=None, labels=None, normal=None, level=None, decision=None, explain=20, segments=10, n_jobs=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn report(
    py: Python<'_>,
    detector: &Detector,
    series: Option<&SeriesSet>,
    title: &str,
    names: Option<Vec<String>>,
    labels: Option<Vec<String>>,
    normal: Option<String>,
    level: Option<f64>,
    decision: Option<&str>,
    explain: usize,
    segments: usize,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let decision = decision.map(parsed).transpose()?;
    let options = Options::default()
        .with_level(level)
        .with_decision(decision)
        .with_normal(normal)
        .with_explain(explain)
        .with_segments(segments);
    let dataset = series.map(|series| Dataset {
        labels: labels.map(Labels::classes),
        case_names: names,
        ..series.to_data(title)
    });
    let detector = Arc::clone(&detector.detector);
    Call { n_jobs, progress, operations: LONG }.run(py, move |run| match dataset {
        Some(dataset) => {
            let dataset = detector.admit(dataset)?;
            Ok(Report::new(&detector, &dataset, &options, run)?.to_html())
        }
        None => Ok(Report::of_detector(&detector, run)?.to_html()),
    })
}

/// The folder of a study as one HTML page.
#[pyfunction]
#[pyo3(signature = (run, published=None, compare=None))]
pub fn study_report(run: PathBuf, published: Option<PathBuf>, compare: Option<PathBuf>) -> PyResult<String> {
    let report = StudyReport::read(&run, published.as_deref(), compare.as_deref()).map_err(|e| raised(&e))?;
    Ok(report.to_html())
}
