//! [`Store`]: the folder of a run, one JSON line per finished unit.
//!
//! `study.json` says what was asked for, `units.jsonl` what is done ([`Lines`]), `times.jsonl` what units took.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::grid::{Compat, Grid};
use crate::lines::{self, Lines, Record};
use crate::select::Select;
use crate::times;
use crate::unit::{Unit, UnitResult};
use varnorm::data::write_atomically;
use varnorm::{Error, Result};

/// What a run was asked for: the same in every piece of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the folder's format.
    pub format: u32,
    /// What was tried.
    pub grid: Grid,
    /// Which variants.
    pub compat: Compat,
    /// How the best was chosen.
    pub select: Select,
    /// Checksum of the file of given parameters, where there was no search.
    pub published: Option<u32>,
    /// All units of the study, whoever does them.
    pub units: Vec<Unit>,
}

/// The format that is written.
pub(crate) const FORMAT: u32 = 1;

impl Record for UnitResult {
    type Key = Unit;

    fn key(&self) -> &Unit {
        &self.unit
    }
}

/// An open run folder; nobody else can open it meanwhile.
pub struct Store {
    folder: PathBuf,
    lines: Lines<UnitResult>,
}

impl Store {
    /// Opens the folder, or begins it. One that was begun with something else is an error.
    pub fn open(folder: &Path, header: &Header) -> Result<Self> {
        let lines = Lines::open(folder, LINES, || begin(folder, header))?;
        Ok(Self { folder: folder.into(), lines })
    }

    /// The result of a unit, if it is done.
    pub fn get(&self, unit: &Unit) -> Option<&UnitResult> {
        self.lines.get(unit)
    }

    /// Records a finished unit: it is on disk when this returns.
    pub fn add(&mut self, result: UnitResult) -> Result<()> {
        self.lines.add(result)
    }

    /// Tells what a unit took. A folder that does not take it is no error.
    pub fn took(&self, unit: &Unit, seconds: f64) {
        times::add(&self.folder, unit, seconds);
    }

    /// Closes the folder with the lines in the order of the units: the same bytes, in whatever order they were done.
    pub fn close(self, units: &[Unit]) -> Result<()> {
        self.lines.close(units)
    }
}

/// Writes what was asked for, or compares it with what is there.
fn begin(folder: &Path, header: &Header) -> Result<()> {
    let head = folder.join(HEADER);
    if !head.exists() {
        return write_json(&head, header);
    }
    match difference(&read_header(folder)?, header) {
        None => Ok(()),
        Some(what) => {
            let problem =
                format!("this run was begun with {what}; go on with the same, or give another folder");
            Err(Error::file(folder, problem))
        }
    }
}

const HEADER: &str = "study.json";
const LINES: &str = "units.jsonl";

/// Writes JSON that a person can read too.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}

/// What a run folder was asked for.
pub fn read_header(folder: &Path) -> Result<Header> {
    let path = folder.join(HEADER);
    let bytes = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
    let header: Header =
        serde_json::from_slice(&bytes).map_err(|e| Error::parse(&path, e.line(), e.to_string()))?;
    if header.format != FORMAT {
        return Err(Error::file(
            &path,
            format!("is of format {}, this version reads {FORMAT}", header.format),
        ));
    }
    Ok(header)
}

/// A run folder: what was asked for, and what is done, in the order of the units.
pub fn read_run(folder: &Path) -> Result<(Header, Vec<UnitResult>)> {
    let header = read_header(folder)?;
    let (lines, _) = lines::read::<UnitResult>(&folder.join(LINES))?;
    let done: BTreeMap<Unit, UnitResult> = lines.into_iter().map(|r| (r.unit.clone(), r)).collect();
    let results = header.units.iter().filter_map(|unit| done.get(unit).cloned()).collect();
    Ok((header, results))
}

/// What two runs differ in, in words.
fn difference(begun: &Header, now: &Header) -> Option<&'static str> {
    let checks = [
        (begun.grid != now.grid, "another grid"),
        (begun.compat != now.compat, "another --compat"),
        (begun.select != now.select, "another --select"),
        (begun.published != now.published, "other given parameters"),
        (begun.units != now.units, "other data sets, kernels, classes or baselines"),
    ];
    checks.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

/// Joins the pieces of a study into one run folder. Pieces must be of one study and agree where they overlap.
pub fn merge(pieces: &[PathBuf], output: &Path) -> Result<(Header, Vec<UnitResult>)> {
    let Some(first) = pieces.first() else {
        return Err(Error::bad_param("pieces", 0, "give at least one run folder"));
    };
    let header = read_header(first)?;
    let mut done: BTreeMap<Unit, UnitResult> = BTreeMap::new();
    for piece in pieces {
        let (other, results) = read_run(piece)?;
        if let Some(what) = difference(&header, &other) {
            return Err(Error::file(piece, format!("is of another study than {}: {what}", first.display())));
        }
        for result in results {
            match done.get(&result.unit) {
                Some(known) if *known != result => {
                    return Err(Error::file(piece, format!("has another result for {}", result.unit)));
                }
                _ => done.insert(result.unit.clone(), result),
            };
        }
    }
    std::fs::create_dir_all(output).map_err(|e| Error::io("make", output, e))?;
    let results: Vec<UnitResult> = header.units.iter().filter_map(|unit| done.get(unit).cloned()).collect();
    let lines = lines::text(&results)?;
    write_atomically(&output.join(LINES), |out| out.write_all(lines.as_bytes()))?;
    write_json(&output.join(HEADER), &header)?;
    times::merge(pieces, output);
    Ok((header, results))
}
