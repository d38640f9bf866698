//! The paper's statements, watched.

use pyo3::prelude::*;
use varnorm_study::theory::Report;

use crate::json;
use crate::work::{Call, LONG};

/// Watches the statements on a law with known norms: the program's JSON, and pictures by the names of their files.
#[pyfunction]
#[pyo3(signature = (dimension=60, repeats=20, alpha=0.01, n_jobs=None, progress=None))]
pub fn theory(
    py: Python<'_>,
    dimension: u16,
    repeats: u16,
    alpha: f64,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<(String, String)>)> {
    let call = Call { n_jobs, progress, operations: LONG };
    let report = call.run(py, move |run| Report::new(dimension, repeats, alpha, run))?;
    let plots = report.plots().into_iter().map(|(name, plot)| (name.to_string(), plot.to_svg())).collect();
    Ok((json::write(&report)?, plots))
}
