//! Preparation of series: fitted on some, applied to any.

use pyo3::prelude::*;
use varnorm::Preparation;
use varnorm::prepare::FittedPreparation;

use crate::errors::raised;
use crate::json;
use crate::kernels::parsed;
use crate::series::SeriesSet;

/// Learns a preparation from series: what was learned, as JSON, and the prepared series.
#[pyfunction]
pub fn prepare_fit(py: Python<'_>, prepare: &str, series: &SeriesSet) -> PyResult<(String, SeriesSet)> {
    let prepare: Preparation = parsed(prepare)?;
    let (fitted, prepared) = py.detach(|| prepare.fit(&series.set)).map_err(|e| raised(&e))?;
    Ok((json::write(&fitted)?, SeriesSet::of(prepared)))
}

/// Prepares series as was learned.
#[pyfunction]
pub fn prepare_apply(py: Python<'_>, fitted: &str, series: &SeriesSet) -> PyResult<SeriesSet> {
    let fitted: FittedPreparation = json::read("preparation", fitted)?;
    Ok(SeriesSet::of(py.detach(|| fitted.apply(&series.set)).map_err(|e| raised(&e))?))
}
