//! Benchmarks: detectors as they come, compared on labelled data sets.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Deserialize;
use varnorm::run::Progress;
use varnorm_study::External;
use varnorm_study::bench::{Layout, Method, Outcome, table};

use crate::errors::{bad_param, raised};
use crate::json;
use crate::work::{Call, LONG};

/// What is compared, on what: the arguments of `varnorm.benchmark`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    folder: PathBuf,
    datasets: Vec<String>,
    methods: Option<Vec<String>>,
    scores: Vec<(String, PathBuf)>,
    level: Option<f64>,
    output: Option<PathBuf>,
}

impl Asked {
    fn benchmark(&self) -> varnorm::Result<varnorm_study::bench::Benchmark> {
        let mut benchmark = varnorm_study::bench::Benchmark::new(&self.folder);
        benchmark.datasets.clone_from(&self.datasets);
        if let Some(names) = &self.methods {
            benchmark.methods = names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        }
        for (name, file) in &self.scores {
            benchmark.methods.push(Method::External(External::read(name, file)?));
        }
        benchmark.level = self.level.unwrap_or(benchmark.level);
        Ok(benchmark)
    }
}

/// The outcomes of a benchmark: what its table is made of.
#[pyclass(frozen, module = "varnorm._core")]
pub struct Benchmark {
    outcomes: Vec<Outcome>,
}

#[pymethods]
impl Benchmark {
    /// Works a benchmark out; what is asked for comes as JSON.
    #[staticmethod]
    #[pyo3(signature = (asked, n_jobs=None, progress=None))]
    fn run(py: Python<'_>, asked: &str, n_jobs: Option<i64>, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let asked: Asked = json::read("asked", asked)?;
        let benchmark = asked.benchmark().map_err(|e| raised(&e))?;
        let outcomes = Call { n_jobs, progress, operations: LONG }.run_telling(py, move |run, tell| {
            benchmark.run(asked.output.as_deref(), run, |step| {
                let stage = step.outcome.unit.to_string();
                tell(Progress { stage: &stage, done: step.dataset, total: step.datasets });
            })
        })?;
        Ok(Self { outcomes })
    }

    /// Every outcome: the program's JSON.
    fn outcomes(&self) -> PyResult<String> {
        json::write(&self.outcomes)
    }

    /// The program's table: text, markdown or html.
    fn table(&self, layout: &str) -> PyResult<String> {
        let layout = match layout {
            "text" => Layout::Text,
            "markdown" => Layout::Markdown,
            "html" => Layout::Html,
            other => return Err(bad_param("layout", other, "must be text, markdown or html")),
        };
        Ok(table(&self.outcomes, layout))
    }
}
