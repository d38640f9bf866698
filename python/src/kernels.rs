//! Kernels, Gram matrices and features.

use std::sync::Arc;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use varnorm::gram::{self as grams, Scaled, Scaling};
use varnorm::internal::{self, Side};
use varnorm::kernel::{CATALOGUE, fourier_signature_features, random_signature as random_features};
use varnorm::kernel::{Parameter, SigRandom, share_features as shares};
use varnorm::kernel::{signature_feature_names as feature_names, signature_features as features};
use varnorm::{Kernel, Preparation};

use crate::errors::raised;
use crate::json;
use crate::series::{SeriesSet, aligned, from_matrix, matrix};
use crate::work::{Call, LONG};

/// Every kernel with its formula and parameters: the program's JSON.
#[pyfunction]
pub fn catalogue() -> PyResult<String> {
    json::write(&CATALOGUE)
}

/// A kernel as JSON, from its words or its JSON.
#[pyfunction]
pub fn kernel_json(kernel: &str) -> PyResult<String> {
    json::write(&parsed::<Kernel>(kernel)?)
}

/// A kernel in words, from its words or its JSON.
#[pyfunction]
pub fn kernel_words(kernel: &str) -> PyResult<String> {
    Ok(parsed::<Kernel>(kernel)?.to_string())
}

/// A kernel with every `auto` worked out from the series, as JSON.
#[pyfunction]
pub fn resolve(py: Python<'_>, kernel: &str, corpus: &SeriesSet) -> PyResult<String> {
    let kernel: Kernel = parsed(kernel)?;
    let resolved = py.detach(|| kernel.resolve(&corpus.set)).map_err(|e| raised(&e))?;
    json::write(&resolved)
}

/// From the words that users write.
pub fn parsed<T: std::str::FromStr<Err = varnorm::Error>>(words: &str) -> PyResult<T> {
    words.parse().map_err(|e| raised(&e))
}

/// Kernel values of all pairs. What is learned from data is learned from the columns: `y` if given, else `x`.
#[pyfunction]
#[pyo3(signature = (kernel, x, y=None, prepare="none", normalize=false, log=false, n_jobs=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn gram<'py>(
    py: Python<'py>,
    kernel: &str,
    x: &SeriesSet,
    y: Option<&SeriesSet>,
    prepare: &str,
    normalize: bool,
    log: bool,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (kernel, prepare): (Kernel, Preparation) = (parsed(kernel)?, parsed(prepare)?);
    let (x, y) = (Arc::clone(&x.set), y.map(|y| Arc::clone(&y.set)));
    let scaling = Scaling::of(normalize, log);
    let operations = kernel.operations(&x, y.as_ref().unwrap_or(&x));
    let values = Call { n_jobs, progress, operations }.run(py, move |run| {
        let (fitted, corpus) = prepare.fit(y.as_ref().unwrap_or(&x))?;
        let kernel = kernel.resolve(&corpus)?;
        if y.is_none() {
            return Ok(grams::gram(&kernel, &corpus, scaling, run)?.matrix);
        }
        let queries = fitted.apply(&x)?;
        let selves = grams::self_values(std::slice::from_ref(&kernel), &corpus, run)?;
        Ok(grams::cross(&kernel, &queries, &corpus, &selves[0], scaling, run)?.matrix)
    })?;
    from_matrix(py, values)
}

/// Whether a kernel without `auto` can take the series of `rows` with those of `columns`: an error says why not.
#[pyfunction]
#[pyo3(signature = (kernel, rows, columns=None))]
pub fn gram_check(kernel: &str, rows: &SeriesSet, columns: Option<&SeriesSet>) -> PyResult<()> {
    let columns = columns.map_or(&rows.set, |columns| &columns.set);
    internal::check(&parsed(kernel)?, &rows.set, columns).map_err(|e| raised(&e))
}

/// `k(x,x)` of every series under a kernel without `auto`: mantissas and exponents of two.
#[pyfunction]
#[pyo3(signature = (kernel, series, n_jobs=None))]
pub fn self_values<'py>(
    py: Python<'py>,
    kernel: &str,
    series: &SeriesSet,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (kernel, series): (Kernel, _) = (parsed(kernel)?, Arc::clone(&series.set));
    let rows = series.len();
    let found = Call { n_jobs, progress: None, operations: LONG }
        .run(py, move |run| grams::self_values(std::slice::from_ref(&kernel), &series, run))?;
    let values = found.into_iter().flatten().flat_map(|s| [s.mantissa, s.exponent]).collect();
    matrix(py, values, rows, 2)
}

/// A block of a matrix of kernel values, with the bits of the whole; the kernel has no `auto`. `within` is one set of which
/// the rows come before the columns. `self_values` gives the last two, which only normalised values need.
#[pyfunction]
#[pyo3(signature = (kernel, rows, columns, within, normalize=false, log=false, row_self_values=None, column_self_values=None, n_jobs=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn gram_block<'py>(
    py: Python<'py>,
    kernel: &str,
    rows: &SeriesSet,
    columns: &SeriesSet,
    within: bool,
    normalize: bool,
    log: bool,
    row_self_values: Option<&Bound<'py, PyArray2<f64>>>,
    column_self_values: Option<&Bound<'py, PyArray2<f64>>>,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel: Kernel = parsed(kernel)?;
    let (rows, columns) = (Arc::clone(&rows.set), Arc::clone(&columns.set));
    let (x, y) = (scaled(row_self_values)?, scaled(column_self_values)?);
    let scaling = Scaling::of(normalize, log);
    let operations = kernel.operations(&rows, &columns);
    let values = Call { n_jobs, progress: None, operations }.run(py, move |run| {
        let rows = Side { set: &rows, self_values: &x };
        let columns = Side { set: &columns, self_values: &y };
        let block = if within { internal::gram_block } else { internal::cross_block };
        block(&kernel, rows, columns, scaling, run)
    })?;
    from_matrix(py, values)
}

fn scaled(values: Option<&Bound<'_, PyArray2<f64>>>) -> PyResult<Vec<Scaled>> {
    let Some(values) = values else { return Ok(Vec::new()) };
    let values = aligned(values)?.readonly();
    let values = values.as_array();
    let pairs = values.rows().into_iter().filter(|row| row.len() == 2);
    Ok(pairs.map(|row| Scaled { mantissa: row[0], exponent: row[1] }).collect())
}

/// Signatures up to a level, one row per series, without level 0.
#[pyfunction]
#[pyo3(signature = (series, level, n_jobs=None, progress=None))]
pub fn signature_features<'py>(
    py: Python<'py>,
    series: &SeriesSet,
    level: u32,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let series = Arc::clone(&series.set);
    let found = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
        series.require_finite("")?;
        features(&series, level, run)
    })?;
    from_matrix(py, found)
}

/// The words of the signature features, in their order.
#[pyfunction]
pub fn signature_feature_names(channels: usize, level: u32) -> Vec<String> {
    feature_names(channels, level)
}

/// Random Fourier signature features of a kernel `sig_fourier`, one row per series, the constant 1 first. What is `auto` is
/// worked out from these series.
#[pyfunction]
#[pyo3(signature = (series, kernel, n_jobs=None, progress=None))]
pub fn fourier_signature<'py>(
    py: Python<'py>,
    series: &SeriesSet,
    kernel: &str,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (series, kernel) = (Arc::clone(&series.set), parsed::<Kernel>(kernel)?);
    let found = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
        series.require_finite("")?;
        fourier_signature_features(&series, &kernel.resolve(&series)?, run)
    })?;
    from_matrix(py, found)
}

/// Randomised signatures, one row per series. The variance is 1 / features where it is left out.
#[pyfunction]
#[pyo3(signature = (series, features, variance=None, seed=0, n_jobs=None, progress=None))]
pub fn random_signature<'py>(
    py: Python<'py>,
    series: &SeriesSet,
    features: u32,
    variance: Option<f64>,
    seed: u64,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let series = Arc::clone(&series.set);
    let found = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
        series.require_finite("")?;
        let variance = variance.map_or(Parameter::Auto, Parameter::Value);
        let kernel = Kernel::from(SigRandom { features, variance, seed }).resolve(&series)?;
        let Kernel::SigRandom(SigRandom { variance: Parameter::Value(variance), .. }) = kernel else {
            return Err(varnorm::Error::bad_param("variance", "auto", "was not worked out"));
        };
        random_features(&series, features, variance, seed, run)
    })?;
    from_matrix(py, found)
}

/// The features of a kernel `rocket` or `radon` that was resolved on a corpus, one row per series.
#[pyfunction]
#[pyo3(signature = (series, kernel, n_jobs=None, progress=None))]
pub fn share_features<'py>(
    py: Python<'py>,
    series: &SeriesSet,
    kernel: &str,
    n_jobs: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (series, kernel) = (Arc::clone(&series.set), parsed::<Kernel>(kernel)?);
    let found = Call { n_jobs, progress, operations: LONG }.run(py, move |run| {
        series.require_finite("")?;
        shares(&series, &kernel, run)
    })?;
    from_matrix(py, found)
}
