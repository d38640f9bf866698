//! Benchmarks on long recordings with labelled stretches: a method learns from the normal part and scores the rest.
//!
//! The archives' files are read as they are ([`Family`]); labels judge scores and choose nothing. A [`LongBenchmark`] says
//! what is compared; [`LongBenchmark::run`] works it out, one [`LongOutcome`] per recording and method, each on a line of
//! a folder, so that a run that was stopped goes on.

mod external;
mod method;
mod outcome;
mod read;
mod table;
mod windows;

pub use external::ExternalPoints;
pub use method::{LongMethod, names};
pub use outcome::{Counts, Judged, LongOutcome, LongUnit};
pub use read::{Family, Labelled, Listed, list};
pub use table::table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lines::Lines;
use crate::store::write_json;
use outcome::checksum;
use varnorm::metrics::VUS_WINDOW;
use varnorm::{Error, Result, Run};

/// What is compared, on what.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LongBenchmark {
    /// The folder with the archives' files.
    pub folder: PathBuf,
    /// Groups of recordings, such as `UCR`; none means all of the folder.
    pub groups: Vec<String>,
    /// What is compared, in the order of tables.
    pub methods: Vec<LongMethod>,
    /// The widest buffer of VUS-PR and VUS-ROC.
    pub vus_window: usize,
    /// The share of held-out normal scores that a threshold is above (SKAB): 0.9 unless told otherwise.
    pub cut: f64,
    /// Whether point-adjusted F1 is worked out, which is misleading.
    pub point_adjusted: bool,
}

/// How far a benchmark has come.
pub struct LongStep<'a> {
    /// What was worked out.
    pub outcome: &'a LongOutcome,
    /// The place of its recording, from 1.
    pub recording: usize,
    /// Recordings in all.
    pub recordings: usize,
    /// What it took.
    pub took: Duration,
}

/// What a folder of outcomes was begun with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    varnorm: String,
    vus_window: usize,
    cut: f64,
    point_adjusted: bool,
}

const FORMAT: u32 = 1;
const HEADER: &str = "bench_long.json";
const LINES: &str = "outcomes.jsonl";

impl LongBenchmark {
    /// Everything that needs no other file, on all recordings of a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            groups: Vec::new(),
            methods: LongMethod::own(),
            vus_window: VUS_WINDOW,
            cut: 0.9,
            point_adjusted: false,
        }
    }

    /// Works out what is not in the output folder yet; an outcome is there when `told` hears of it. Without a folder
    /// nothing is kept. Outcomes come by group, recording and method, in the order of tables.
    pub fn run(
        &self,
        output: Option<&Path>,
        run: &Run,
        mut told: impl FnMut(LongStep<'_>),
    ) -> Result<Vec<LongOutcome>> {
        let recordings = self.checked()?;
        let mut lines: Option<Lines<LongOutcome>> = match output {
            Some(folder) => Some(Lines::open(folder, LINES, || self.begin(folder))?),
            None => None,
        };
        let mut outcomes = Vec::new();
        for (at, listed) in recordings.iter().enumerate() {
            run.check()?;
            let data = listed.read(&self.folder)?;
            let sum = checksum(&data);
            for method in &self.methods {
                let unit = LongUnit {
                    group: listed.group.clone(),
                    recording: listed.name.clone(),
                    method: method.name().into(),
                };
                let known = lines.as_ref().and_then(|lines| lines.get(&unit));
                let stands = |known: &&LongOutcome| {
                    !method.is_external() && known.data == sum && known.judged.is_some()
                };
                if let Some(known) = known.filter(stands) {
                    outcomes.push(known.clone());
                    continue;
                }
                let began = Instant::now();
                let outcome = self.one(unit, method, listed, &data, sum, run)?;
                if let Some(lines) = &mut lines
                    && lines.get(&outcome.unit) != Some(&outcome)
                {
                    lines.add(outcome.clone())?;
                }
                let (recording, recordings) = (at + 1, recordings.len());
                told(LongStep { outcome: &outcome, recording, recordings, took: began.elapsed() });
                outcomes.push(outcome);
            }
        }
        if let Some(lines) = lines {
            lines.close_sorted()?;
        }
        Ok(outcomes)
    }

    /// One outcome. What a method of this library cannot do on a recording is told in the outcome; a file of scores that
    /// does not fit the data is an error.
    fn one(
        &self,
        unit: LongUnit,
        method: &LongMethod,
        listed: &Listed,
        data: &Labelled,
        sum: u32,
        run: &Run,
    ) -> Result<LongOutcome> {
        let mut outcome = LongOutcome {
            unit,
            family: listed.family,
            normal: data.normal.len() / data.channels,
            points: data.points(),
            anomalous: data.anomalous.iter().filter(|a| **a).count(),
            data: sum,
            skipped: None,
            judged: None,
        };
        if outcome.anomalous == 0 || outcome.anomalous == outcome.points {
            let (anomalous, points) = (outcome.anomalous, outcome.points);
            outcome.skipped =
                Some(format!("{anomalous} of {points} test points are labelled; areas need both kinds"));
            return Ok(outcome);
        }
        let found = method.scored(listed, data, self.cut, run).and_then(|scored| {
            let judge =
                |one: method::Scored| one.judged(listed.family, data, self.vus_window, self.point_adjusted);
            scored.map(judge).transpose()
        });
        match found {
            Ok(Some(judged)) => outcome.judged = Some(judged),
            Ok(None) => outcome.skipped = Some("the file of scores has none of this recording".into()),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) if method.is_external() => return Err(error),
            Err(error) => outcome.skipped = Some(error.to_string()),
        }
        Ok(outcome)
    }

    /// The recordings, after a look at everything that can be wrong before the work begins.
    fn checked(&self) -> Result<Vec<Listed>> {
        if self.methods.is_empty() {
            return Err(Error::bad_param("methods", "", format!("name at least one of {}", names())));
        }
        for (at, method) in self.methods.iter().enumerate() {
            if self.methods[..at].iter().any(|other| other.name() == method.name()) {
                return Err(Error::bad_param("methods", method.name(), "is the name of two methods"));
            }
        }
        if !(self.cut > 0.0 && self.cut <= 1.0) {
            return Err(Error::bad_param("cut", self.cut, "must be above 0 and at most 1"));
        }
        let mut found = list(&self.folder)?;
        let groups = read::groups(&found);
        for group in &self.groups {
            if !groups.contains_key(group.as_str()) {
                let known = groups.keys().copied().collect::<Vec<_>>().join(", ");
                let rule = format!("there is no such group in {}; it has {known}", self.folder.display());
                return Err(Error::bad_param("groups", group, rule));
            }
        }
        found.retain(|listed| self.groups.is_empty() || self.groups.contains(&listed.group));
        Ok(found)
    }

    /// Writes what a folder is begun with, or compares it with what is there.
    fn begin(&self, folder: &Path) -> Result<()> {
        let header = Header {
            format: FORMAT,
            varnorm: env!("CARGO_PKG_VERSION").into(),
            vus_window: self.vus_window,
            cut: self.cut,
            point_adjusted: self.point_adjusted,
        };
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
        let problem = format!(
            "this benchmark was begun with varnorm {}, format {}, VUS window {}, cut {}, point adjustment {}; go on with \
             the same, or give another folder",
            begun.varnorm, begun.format, begun.vus_window, begun.cut, begun.point_adjusted
        );
        Err(Error::file(folder, problem))
    }
}
