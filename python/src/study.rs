//! Studies: kernels, norms and distances compared on labelled data sets.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use varnorm::run::Progress;
use varnorm_study::{
    External, Grid, Layout, Loaded, Method, Parameters, Results, Shard, Store, Unit, UnitResult, compare,
    figures, merge, read_run, table,
};

use crate::errors::{bad_param, raised};
use crate::json;
use crate::kernels::parsed;
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

/// What is studied, in the library's form.
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn asked(
    folder: PathBuf,
    datasets: Vec<String>,
    kernels: Option<Vec<String>>,
    grid: Option<&str>,
    published: Option<PathBuf>,
    compat: Option<&str>,
    select: &str,
    baselines: bool,
    scores: &[(String, PathBuf)],
) -> PyResult<varnorm_study::Study> {
    let published = parameters(published)?;
    let mut tried: Grid = grid.map_or_else(|| Ok(Grid::default()), |text| json::read("grid", text))?;
    if let Some(kernels) = kernels {
        tried = tried.only(&kernels).map_err(|e| raised(&e))?;
    }
    let compat = compat.unwrap_or(if published.is_some() { "published" } else { "none" });
    let external = scores.iter().map(|(name, file)| External::read(name, file));
    let mut study = varnorm_study::Study::new(folder, datasets);
    study.grid = tried;
    study.compat = parsed(compat)?;
    study.select = parsed(select)?;
    study.baselines = baselines && published.is_none();
    study.published = published;
    study.external = external.collect::<Result<_, _>>().map_err(|e| raised(&e))?;
    Ok(study)
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
        let study = asked(folder, datasets, kernels, grid, published, compat, select, baselines, &scores)?;
        let published = study.published.clone();
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

/// A study with its data read, to be worked out unit by unit, wherever.
#[pyclass(frozen, module = "varnorm._core")]
pub struct StudyUnits {
    loaded: Arc<Loaded>,
}

#[pymethods]
impl StudyUnits {
    /// The arguments of a study; its data are read.
    #[new]
    #[pyo3(signature = (folder, datasets, kernels=None, grid=None, published=None, compat=None, select="joint", baselines=true, scores=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn new(
        folder: PathBuf,
        datasets: Vec<String>,
        kernels: Option<Vec<String>>,
        grid: Option<&str>,
        published: Option<PathBuf>,
        compat: Option<&str>,
        select: &str,
        baselines: bool,
        scores: Vec<(String, PathBuf)>,
    ) -> PyResult<Self> {
        let study = asked(folder, datasets, kernels, grid, published, compat, select, baselines, &scores)?;
        Ok(Self { loaded: Arc::new(study.load().map_err(|e| raised(&e))?) })
    }

    /// Every unit in the order of tables: data set, kernel, class.
    fn units(&self) -> Vec<(String, String, String)> {
        let parts = |unit: &Unit| (unit.dataset.clone(), unit.kernel.clone(), unit.class.clone());
        self.loaded.units().iter().map(parts).collect()
    }

    /// Works out one unit: its line of a run folder.
    #[pyo3(signature = (unit, n_jobs=None))]
    fn work(&self, py: Python<'_>, unit: (String, String, String), n_jobs: Option<i64>) -> PyResult<String> {
        let (dataset, kernel, class) = unit;
        let (loaded, unit) = (Arc::clone(&self.loaded), Unit { dataset, kernel, class });
        let found =
            Call { n_jobs, progress: None, operations: LONG }.run(py, move |run| loaded.one(&unit, run))?;
        json::write(&found)
    }

    /// Opens a run folder of this study, or begins it; nobody else can meanwhile.
    fn open(&self, run: PathBuf) -> PyResult<StudyFolder> {
        let store = Store::open(&run, &self.loaded.header()).map_err(|e| raised(&e))?;
        Ok(StudyFolder { loaded: Arc::clone(&self.loaded), store: Mutex::new(Some(store)) })
    }
}

/// An open run folder.
#[pyclass(frozen, module = "varnorm._core")]
pub struct StudyFolder {
    loaded: Arc<Loaded>,
    store: Mutex<Option<Store>>,
}

#[pymethods]
impl StudyFolder {
    /// The units that are not done yet.
    fn missing(&self) -> Vec<(String, String, String)> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |unit: &&Unit| store.as_ref().is_some_and(|store| store.get(unit).is_none());
        let parts = |unit: &Unit| (unit.dataset.clone(), unit.kernel.clone(), unit.class.clone());
        self.loaded.units().iter().filter(open).map(parts).collect()
    }

    /// Records a unit's line, once, with what it took: it is on disk when this returns.
    fn add(&self, line: &str, seconds: f64) -> PyResult<()> {
        let result: UnitResult = json::read("line", line)?;
        let unit = result.unit.clone();
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(store) = store.as_mut() else { return Err(bad_param("run", &unit, "the folder is closed")) };
        if store.get(&unit).is_none() {
            store.add(result).map_err(|e| raised(&e))?;
            store.took(&unit, seconds);
        }
        Ok(())
    }

    /// Closes the folder with its lines in the order of tables: the bytes of a run on one machine.
    fn close(&self) -> PyResult<()> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        store.map_or(Ok(()), |store| store.close(self.loaded.units())).map_err(|e| raised(&e))
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
