//! Benchmarks of detectors as they come: each class of labelled data sets in turn is normal, nothing is tuned.
//!
//! A method is fitted on the training series of one class, without a look at the others, and scores the whole test split.
//! Labels judge the scores; they choose nothing. A [`Benchmark`] says what is compared; [`Benchmark::run`] works it out,
//! one [`Outcome`] per data set, class and method, each on a line of a folder, so that a run that was stopped goes on.

mod contaminate;
mod halves;
mod method;
mod nearest;
mod outcome;
mod rows;
mod table;

pub use crate::sheet::Layout;
pub use contaminate::{Contaminated, Mixture, contamination_table};
pub use halves::{HALVES_DETECTORS, HALVES_FEWEST, HALVES_LEVELS, Halved, Halves, Rate, halves_table};
pub use method::{Method, names};
pub use outcome::{Judged, Outcome, Unit, promised_level};
pub use table::table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lines::Lines;
use crate::store::write_json;
use crate::unit::{labels, normal};
use outcome::checksum;
use varnorm::data::{Labels, Split, read_split};
use varnorm::{Error, Result, Run, Settings};

/// What is compared, on what.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Benchmark {
    /// The folder with `NAME/NAME_TRAIN.ts` and `NAME/NAME_TEST.ts`.
    pub folder: PathBuf,
    /// The data sets' names; none means all of the folder.
    pub datasets: Vec<String>,
    /// What is compared, in the order of tables.
    pub methods: Vec<Method>,
    /// The false-alarm rate that flags promise; see [`promised_level`].
    pub level: f64,
}

/// How far a benchmark has come.
pub struct Step<'a> {
    /// What was worked out.
    pub outcome: &'a Outcome,
    /// The place of its data set, from 1.
    pub dataset: usize,
    /// Data sets in all.
    pub datasets: usize,
    /// What it took.
    pub took: Duration,
}

/// What a folder of outcomes was begun with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    varnorm: String,
    level: f64,
}

const FORMAT: u32 = 1;
const HEADER: &str = "bench.json";
const LINES: &str = "outcomes.jsonl";

impl Benchmark {
    /// Everything that needs no other file, on all data sets of a folder, at the library's own level.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            datasets: Vec::new(),
            methods: Method::own(),
            level: Settings::default().level,
        }
    }

    /// Works out what is not in the output folder yet; an outcome is there when `told` hears of it. Without a folder
    /// nothing is kept. Outcomes come by data set, class and method, in the order of tables.
    pub fn run(
        &self,
        output: Option<&Path>,
        run: &Run,
        mut told: impl FnMut(Step<'_>),
    ) -> Result<Vec<Outcome>> {
        let datasets = self.checked()?;
        let mut lines = match output {
            Some(folder) => Some(Lines::open(folder, LINES, || self.begin(folder))?),
            None => None,
        };
        let mut outcomes = Vec::new();
        for (at, dataset) in datasets.iter().enumerate() {
            run.check()?;
            let split = read_split(&self.folder, dataset)?;
            let data = checksum(&split);
            for class in Labels::classes(labels(&split)?.to_vec()).declared {
                for method in &self.methods {
                    let unit =
                        Unit { dataset: dataset.clone(), class: class.clone(), method: method.name().into() };
                    let known = lines.as_ref().and_then(|lines| lines.get(&unit));
                    if let Some(known) = known.filter(|known| method.stands(known, data)) {
                        outcomes.push(known.clone());
                        continue;
                    }
                    let began = Instant::now();
                    let outcome = self.one(unit, method, &split, data, run)?;
                    if let Some(lines) = &mut lines {
                        // What comes out the same again, such as a reason to skip, is not written again.
                        if lines.get(&outcome.unit) != Some(&outcome) {
                            lines.add(outcome.clone())?;
                        }
                    }
                    let (place, of) = (at + 1, datasets.len());
                    told(Step { outcome: &outcome, dataset: place, datasets: of, took: began.elapsed() });
                    outcomes.push(outcome);
                }
            }
        }
        if let Some(lines) = lines {
            lines.close_sorted()?;
        }
        Ok(outcomes)
    }

    /// One outcome. What a method of this library cannot do on a class is told in the outcome, and is no error; a file of
    /// scores that does not fit the data is one.
    fn one(&self, unit: Unit, method: &Method, split: &Split, data: u32, run: &Run) -> Result<Outcome> {
        let normal = normal(split, &unit.class)?;
        let members = split.train.with_label(&unit.class)?;
        let count = normal.iter().filter(|n| **n).count();
        let level = promised_level(self.level, members.len());
        let mut outcome = Outcome {
            corpus: members.len(),
            normal: count,
            novel: normal.len() - count,
            data,
            skipped: None,
            judged: None,
            unit,
        };
        if outcome.normal == 0 || outcome.novel == 0 {
            let (normal, all) = (outcome.normal, normal.len());
            outcome.skipped =
                Some(format!("{normal} of {all} test series are of this class; areas need both kinds"));
            return Ok(outcome);
        }
        match method.scored(&outcome.unit, split, &members, level, run) {
            Ok(Some(scored)) => outcome.judged = Some(scored.judged(&normal, level)),
            Ok(None) => outcome.skipped = Some("the file of scores has none of this class".into()),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) if method.is_external() => return Err(error),
            Err(error) => outcome.skipped = Some(error.to_string()),
        }
        Ok(outcome)
    }

    /// The data sets' names, after a look at everything that can be wrong before the work begins.
    fn checked(&self) -> Result<Vec<String>> {
        Settings::default().with_level(self.level).validate()?;
        if self.methods.is_empty() {
            return Err(Error::bad_param("methods", "", format!("name at least one of {}", names())));
        }
        for (at, method) in self.methods.iter().enumerate() {
            if self.methods[..at].iter().any(|other| other.name() == method.name()) {
                return Err(Error::bad_param("methods", method.name(), "is the name of two columns"));
            }
        }
        let found = listed(&self.folder)?;
        for (at, name) in self.datasets.iter().enumerate() {
            if !found.contains(name) {
                let known = if found.is_empty() { "none".into() } else { found.join(", ") };
                let rule = format!("there is no such data set in {}; it has {known}", self.folder.display());
                return Err(Error::bad_param("datasets", name, rule));
            }
            if self.datasets[..at].contains(name) {
                return Err(Error::bad_param("datasets", name, "is named twice"));
            }
        }
        match (self.datasets.is_empty(), found.is_empty()) {
            (false, _) => Ok(self.datasets.clone()),
            (true, false) => Ok(found),
            (true, true) => Err(Error::file(
                &self.folder,
                "there is no data set here: a set NAME is a folder NAME with NAME_TRAIN.ts and NAME_TEST.ts",
            )),
        }
    }

    /// Writes what a folder is begun with, or compares it with what is there.
    fn begin(&self, folder: &Path) -> Result<()> {
        let header = Header { format: FORMAT, varnorm: env!("CARGO_PKG_VERSION").into(), level: self.level };
        let path = folder.join(HEADER);
        if !path.exists() {
            return write_json(&path, &header);
        }
        let bytes = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        let begun: Header =
            serde_json::from_slice(&bytes).map_err(|e| Error::parse(&path, e.line(), e.to_string()))?;
        if begun == header {
            return Ok(());
        }
        let what = if begun.level == header.level {
            format!("varnorm {}, format {}", begun.varnorm, begun.format)
        } else {
            format!("level {}", begun.level)
        };
        let problem =
            format!("this benchmark was begun with {what}; go on with the same, or give another folder");
        Err(Error::file(folder, problem))
    }
}

/// The data sets of a folder, by name: folders with a training split that is named after them.
fn listed(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io("read", folder, e))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", folder, e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_there = |extension: &str| entry.path().join(format!("{name}_TRAIN.{extension}")).is_file();
        if is_there("ts") || is_there("arff") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
