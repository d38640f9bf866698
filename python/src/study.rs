//! Studies: kernels, norms and distances compared on labelled data sets.

use std::path::PathBuf;

use pyo3::prelude::*;
use varnorm::run::Progress;
use varnorm::study::{
    External, Grid, Layout, Method, Parameters, Results, Shard, UnitResult, compare, figures, merge,
    read_run, table,
};

use crate::errors::{bad_param, raised};
use crate::json;
use crate::work::{Call, LONG};

/// The results of a study: what its tables and figures are made of.
#[pyclass(frozen, module = "varnorm._core")]
pub struct Study {
    units: Vec<UnitResult>,
    published: Option<Parameters>,
}

/// Reads a file of parameters where one is given.
fn parameters(file: Option<PathBuf>) -> PyResult<Option<Parameters>> {
    file.map(|file| Parameters::read(&file)).transpose().map_err(|e| raised(&e))
}

fn method(letter: &str) -> PyResult<Method> {
    let mut all = Method::MEASURED.into_iter().chain([Method::External]);
    let known = "rows are C, C+, M, M+, N, R and E";
    all.find(|m| m.letter() == letter).ok_or_else(|| bad_param("rows", letter, known))
}

#[pymethods]
impl Study {
    /// Works a study out; every finished unit is kept in the folder `run`, where one is given.
    #[staticmethod]
    #[pyo3(signature = (folder, datasets, kernels=None, run=None, grid=None, published=None, compat=None, select="joint", shard=None, baselines=true, scores=Vec::new(), n_jobs=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn run(
        py: Python<'_>,
        folder: PathBuf,
        datasets: Vec<String>,
        kernels: Option<Vec<String>>,
        run: Option<PathBuf>,
        grid: Option<&str>,
        published: Option<PathBuf>,
        compat: Option<&str>,
        select: &str,
        shard: Option<&str>,
        baselines: bool,
        scores: Vec<(String, PathBuf)>,
        n_jobs: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let published = parameters(published)?;
        let mut tried: Grid = grid.map_or_else(|| Ok(Grid::default()), |text| json::read("grid", text))?;
        if let Some(kernels) = kernels {
            tried = tried.only(&kernels).map_err(|e| raised(&e))?;
        }
        let compat = compat.unwrap_or(if published.is_some() { "published" } else { "none" });
        let external = scores.iter().map(|(name, file)| External::read(name, file));
        let study = varnorm::study::Study {
            folder,
            datasets,
            grid: tried,
            compat: json::word("compat", compat)?,
            select: json::word("select", select)?,
            baselines: baselines && published.is_none(),
            published: published.clone(),
            external: external.collect::<Result<_, _>>().map_err(|e| raised(&e))?,
        };
        let shard: Shard = shard.map_or(Ok(Shard::default()), str::parse).map_err(|e| raised(&e))?;
        let units = Call { n_jobs, progress, operations: LONG }.run_telling(py, move |on, tell| {
            let loaded = study.load()?;
            loaded.run(run.as_deref(), shard, on, |step| {
                let stage = step.result.unit.to_string();
                tell(Progress { stage: &stage, done: step.done, total: step.total });
            })
        })?;
        Ok(Self { units, published })
    }

    /// Reads a run folder: what is done of it.
    #[staticmethod]
    #[pyo3(signature = (run, published=None))]
    fn read(run: PathBuf, published: Option<PathBuf>) -> PyResult<Self> {
        let (_, units) = read_run(&run).map_err(|e| raised(&e))?;
        Ok(Self { units, published: parameters(published)? })
    }

    /// Every unit: the lines of a run folder, as a JSON list.
    fn units(&self) -> PyResult<String> {
        json::write(&self.units)
    }

    /// Means over classes: the program's JSON.
    fn results(&self) -> PyResult<String> {
        json::write(&Results::new(&self.units).json())
    }

    /// The program's tables: text, csv, markdown or latex.
    #[pyo3(signature = (layout="text", rows=None))]
    fn table(&self, layout: &str, rows: Option<Vec<String>>) -> PyResult<String> {
        let layout = match layout {
            "text" => Layout::Text,
            "csv" => Layout::Csv,
            "markdown" => Layout::Markdown,
            "latex" => Layout::Latex,
            other => return Err(bad_param("layout", other, "must be text, csv, markdown or latex")),
        };
        let methods: Vec<Method> = match rows {
            Some(rows) => rows.iter().map(|row| method(row)).collect::<PyResult<_>>()?,
            None => Method::MEASURED.into_iter().chain([Method::External]).collect(),
        };
        Ok(table(&Results::new(&self.units), &methods, self.published.as_ref(), layout))
    }

    /// The three figures: names of files and SVG.
    #[pyo3(signature = (envelope=false))]
    fn figures(&self, envelope: bool) -> Vec<(String, String)> {
        figures(&self.units, envelope).into_iter().map(|(name, svg)| (name.into(), svg)).collect()
    }

    /// Which means moved since another study: the program's JSON.
    #[pyo3(signature = (before, tolerance=5e-4))]
    fn compare(&self, before: &Self, tolerance: f64) -> PyResult<String> {
        json::write(&compare(&before.units, &self.units, tolerance))
    }
}

/// Joins pieces of one study into one run folder.
#[pyfunction]
pub fn study_merge(pieces: Vec<PathBuf>, output: PathBuf) -> PyResult<Study> {
    let (_, units) = merge(&pieces, &output).map_err(|e| raised(&e))?;
    Ok(Study { units, published: None })
}

/// The published grid: the program's JSON.
#[pyfunction]
pub fn study_grid() -> PyResult<String> {
    json::write(&Grid::default())
}
