//! Studies: one class against the rest, over data sets, kernels, classes and parameters (paper, section 5).
//! [`theory`] has the experiments behind sections 2 to 4; [`mod@bench`] compares detectors as they come, without a search;
//! [`mod@bench_long`] does so on long recordings.
//!
//! A [`Study`] says what is wanted; [`Loaded::run`] works it out unit by unit ([`Unit`]: a data set, a kernel, a class),
//! keeping each on a line of a run folder ([`Store`]), so that nothing is lost when it is stopped. Tables ([`table`]),
//! figures ([`figures`]) and comparisons ([`compare`]) are made from the lines alone.

mod baselines;
pub mod bench;
pub mod bench_long;
mod compare;
mod estimate;
mod figures;
mod folds;
mod grid;
mod lines;
mod measure;
mod median;
mod method;
mod published;
mod report;
mod results;
mod select;
mod sheet;
mod store;
mod table;
pub mod theory;
mod times;
mod unit;

pub use baselines::External;
pub use compare::{Comparison, Moved, compare};
pub use estimate::{Estimate, estimate};
pub use figures::figures;
pub use folds::{Fold, stratified_folds};
pub use grid::{Choices, Compat, Grid, ROWS, Setting, known_rows};
pub use method::Method;
pub use published::Parameters;
pub use report::StudyReport;
pub use results::{Areas, Results};
pub use select::Select;
pub use store::{Header, Store, merge, read_header, read_run};
pub use table::{Layout, table};
pub use times::{Took, read_times};
pub use unit::{Chosen, Found, KNN, Unit, UnitResult};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use unit::Worker;
use varnorm::data::{Labels, Split, read_split};
use varnorm::{Error, Result, Run};

/// What is studied, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Study {
    /// The folder with `NAME/NAME_TRAIN.ts` and `NAME/NAME_TEST.ts`.
    pub folder: PathBuf,
    /// The data sets' names.
    pub datasets: Vec<String>,
    /// What a search tries; for given parameters, its rows are those that are judged.
    pub grid: Grid,
    /// Which variants.
    pub compat: Compat,
    /// How the best is chosen.
    pub select: Select,
    /// Given parameters: no search.
    pub published: Option<Parameters>,
    /// Whether k nearest neighbours of flattened series are a row too.
    pub baselines: bool,
    /// Columns of scores made elsewhere.
    pub external: Vec<External>,
}

/// A part of the units: the `piece`-th of so many (from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    piece: usize,
    pieces: usize,
}

impl Shard {
    /// The `piece`-th of `pieces`; an error unless `1 <= piece <= pieces`.
    pub fn new(piece: usize, pieces: usize) -> Result<Self> {
        if (1..=pieces).contains(&piece) {
            return Ok(Self { piece, pieces });
        }
        Err(Error::bad_param("shard", format!("{piece}/{pieces}"), Self::RULE))
    }

    const RULE: &'static str = "must be k/n with k from 1 to n, such as 2/5";

    /// Which piece, from 1.
    pub fn piece(self) -> usize {
        self.piece
    }

    /// Of how many.
    pub fn pieces(self) -> usize {
        self.pieces
    }
}

impl Default for Shard {
    fn default() -> Self {
        Self { piece: 1, pieces: 1 }
    }
}

impl std::str::FromStr for Shard {
    type Err = Error;

    /// `2/5`.
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        let refused = || Error::bad_param("shard", text, Self::RULE);
        parts.and_then(|(piece, pieces)| Self::new(piece, pieces).ok()).ok_or_else(refused)
    }
}

/// How far a study has come.
pub struct Step<'a> {
    /// The unit that was finished.
    pub result: &'a UnitResult,
    /// Units finished, of this piece.
    pub done: usize,
    /// Units of this piece.
    pub total: usize,
    /// What it took.
    pub took: Duration,
    /// What the rest will take, judging by what is done.
    pub left: Duration,
}

/// A study with its data read.
pub struct Loaded {
    study: Study,
    splits: BTreeMap<String, Split>,
    units: Vec<Unit>,
}

impl Study {
    /// A search of the default grid over data sets of a folder, with nothing beside it; set fields to change that.
    pub fn new(folder: impl Into<PathBuf>, datasets: Vec<String>) -> Self {
        Self { folder: folder.into(), datasets, ..Self::default() }
    }

    /// Reads the data sets and lists the units.
    pub fn load(&self) -> Result<Loaded> {
        self.grid.validate()?;
        if self.datasets.is_empty() {
            return Err(Error::bad_param("datasets", "", "name at least one"));
        }
        let mut splits = BTreeMap::new();
        let mut units: Vec<Unit> = Vec::new();
        for dataset in &self.datasets {
            let split = read_split(&self.folder, dataset)?;
            let classes = Labels::classes(unit::labels(&split)?.to_vec()).declared;
            for kernel in self.rows(dataset)? {
                units.extend(classes.iter().map(|class| Unit {
                    dataset: dataset.clone(),
                    kernel: kernel.clone(),
                    class: class.clone(),
                }));
            }
            if splits.insert(dataset.clone(), split).is_some() {
                return Err(Error::bad_param("datasets", dataset, "is named twice"));
            }
        }
        Ok(Loaded { study: self.clone(), splits, units })
    }

    /// The rows of the study on one data set, in the order of tables.
    fn rows(&self, dataset: &str) -> Result<Vec<String>> {
        let mut rows = self.grid.rows();
        if let Some(parameters) = &self.published {
            let given = parameters.rows(dataset);
            if given.is_empty() {
                let known = parameters.datasets().join(", ");
                let rule = format!("the file of parameters has no such data set; it has {known}");
                return Err(Error::bad_param("datasets", dataset, rule));
            }
            rows.retain(|row| given.contains(row));
        }
        if self.baselines {
            rows.push(KNN.into());
        }
        for external in &self.external {
            if rows.contains(&external.name) {
                return Err(Error::bad_param("scores", &external.name, "is the name of another row"));
            }
            rows.push(external.name.clone());
        }
        Ok(rows)
    }
}

impl Loaded {
    /// All units, in the order of tables.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The units of one piece. Neighbours are of one kernel and cost alike: dealt out in turn, pieces are even.
    pub fn units_of(&self, shard: Shard) -> Vec<&Unit> {
        self.units.iter().skip(shard.piece - 1).step_by(shard.pieces).collect()
    }

    /// What a run folder of this study says at its head.
    pub fn header(&self) -> Header {
        Header {
            format: store::FORMAT,
            grid: self.study.grid.clone(),
            compat: self.study.compat,
            select: self.study.select,
            published: self.study.published.as_ref().map(|p| p.checksum),
            units: self.units.clone(),
        }
    }

    fn split(&self, unit: &Unit) -> Result<&Split> {
        let missing = || Error::bad_param("datasets", &unit.dataset, "is not of this study");
        self.splits.get(&unit.dataset).ok_or_else(missing)
    }

    /// Works out one unit; an error names it.
    pub fn one(&self, unit: &Unit, run: &Run) -> Result<UnitResult> {
        self.worked_out(unit, run).map_err(|error| error.within(unit))
    }

    fn worked_out(&self, unit: &Unit, run: &Run) -> Result<UnitResult> {
        let split = self.split(unit)?;
        let study = &self.study;
        let worker = Worker { grid: &study.grid, compat: study.compat, select: study.select, run };
        let methods = if let Some(external) = study.external.iter().find(|e| e.name == unit.kernel) {
            external.judge(unit, split)?.map(|found| (Method::External, found)).into_iter().collect()
        } else if let Some(parameters) = study.published.as_ref().filter(|_| unit.kernel != KNN) {
            let wanted = parameters.wanted(&unit.dataset, &unit.kernel, &unit.class)?;
            worker.judge(unit, split, wanted)?
        } else {
            return worker.search(unit, split);
        };
        Ok(UnitResult { unit: unit.clone(), folds: 0, skipped: None, methods })
    }

    /// Works out what is not done yet of one piece; every unit is in the folder when `told` hears of it. Without a
    /// folder nothing is kept. Returns the results of this piece, in the order of tables.
    pub fn run(
        &self,
        folder: Option<&Path>,
        shard: Shard,
        run: &Run,
        mut told: impl FnMut(Step<'_>),
    ) -> Result<Vec<UnitResult>> {
        let mut store = folder.map(|folder| Store::open(folder, &self.header())).transpose()?;
        let units = self.units_of(shard);
        let mut pace = Pace::default();
        let mut results = Vec::with_capacity(units.len());
        for (at, unit) in units.iter().enumerate() {
            if let Some(done) = store.as_ref().and_then(|s| s.get(unit)) {
                results.push(done.clone());
                continue;
            }
            let began = Instant::now();
            let result = self.one(unit, run)?;
            if let Some(store) = &mut store {
                store.add(result.clone())?;
            }
            pace.add(unit, began.elapsed());
            if let Some(store) = &store {
                store.took(unit, began.elapsed().as_secs_f64());
            }
            let waiting = units[at + 1..].iter().copied();
            let open = waiting.filter(|u| store.as_ref().is_none_or(|s| s.get(u).is_none()));
            let left = pace.left(open);
            told(Step { result: &result, done: at + 1, total: units.len(), took: began.elapsed(), left });
            results.push(result);
        }
        store.map(|store| store.close(&self.units)).transpose()?;
        Ok(results)
    }
}

/// How long units of each kernel take.
#[derive(Default)]
struct Pace {
    by_kernel: BTreeMap<String, (f64, f64)>,
}

impl Pace {
    fn add(&mut self, unit: &Unit, took: Duration) {
        let entry = self.by_kernel.entry(unit.kernel.clone()).or_default();
        *entry = (entry.0 + took.as_secs_f64(), entry.1 + 1.0);
    }

    /// A kernel that has not been met yet takes as long as the slowest that has.
    fn left<'a>(&self, units: impl Iterator<Item = &'a Unit>) -> Duration {
        let mean = |(seconds, count): &(f64, f64)| seconds / count;
        let slowest = self.by_kernel.values().map(mean).fold(0.0, f64::max);
        let seconds: f64 = units.map(|u| self.by_kernel.get(&u.kernel).map_or(slowest, mean)).sum();
        Duration::from_secs_f64(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_one_of_its_pieces() {
        for (piece, pieces) in [(0, 0), (0, 3), (4, 3)] {
            let error = Shard::new(piece, pieces).unwrap_err().to_string();
            assert!(error.contains("k from 1 to n"), "{error}");
            assert!(format!("{piece}/{pieces}").parse::<Shard>().is_err());
        }
        assert_eq!("2/5".parse::<Shard>().unwrap(), Shard::new(2, 5).unwrap());
        assert!("2".parse::<Shard>().is_err());
    }
}
