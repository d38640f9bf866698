//! How well scores separate two kinds.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::bad_param;

fn pairs(
    scores: &PyReadonlyArray1<'_, f64>,
    positive: &PyReadonlyArray1<'_, bool>,
) -> PyResult<(Vec<f64>, Vec<bool>)> {
    let (scores, positive) = (scores.as_array().to_vec(), positive.as_array().to_vec());
    if scores.len() != positive.len() {
        let rule = format!("must be as many as there are labels, {}", positive.len());
        return Err(bad_param("scores", format!("{} of them", scores.len()), rule));
    }
    if let Some(at) = scores.iter().position(|s| s.is_nan()) {
        return Err(bad_param("scores", format!("NaN at {at}"), "must be numbers"));
    }
    Ok((scores, positive))
}

/// The probability that a positive scores higher than a negative, equal scores counting half.
#[pyfunction]
pub fn roc_auc(scores: PyReadonlyArray1<'_, f64>, positive: PyReadonlyArray1<'_, bool>) -> PyResult<f64> {
    let (scores, positive) = pairs(&scores, &positive)?;
    Ok(varnorm::metrics::roc_auc(&scores, &positive))
}

/// The sum over thresholds of precision times the gain in recall.
#[pyfunction]
pub fn average_precision(
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<f64> {
    let (scores, positive) = pairs(&scores, &positive)?;
    Ok(varnorm::metrics::average_precision(&scores, &positive))
}
