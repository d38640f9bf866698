//! [`Store`]: the folder of a run, one JSON line per finished unit.
//!
//! `study.json` says what was asked for, `units.jsonl` what is done. A line is written whole and flushed to disk before
//! the next unit begins; a torn last line, left by a kill, is cut off and its unit done again. A line ends with the checksum
//! of what stands before it, so that a changed digit is noticed; lines of earlier versions have none and are read too.
//! `times.jsonl` says what units took.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::grid::{Compat, Grid};
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

/// An open run folder; nobody else can open it meanwhile.
pub struct Store {
    folder: PathBuf,
    lines: File,
    done: BTreeMap<Unit, UnitResult>,
}

impl Store {
    /// Opens the folder, or begins it. One that was begun with something else is an error.
    pub fn open(folder: &Path, header: &Header) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("make", folder, e))?;
        let path = folder.join(LINES);
        let mut lines = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .map_err(|e| Error::io("open", &path, e))?;
        if lines.try_lock().is_err() {
            return Err(Error::file(
                folder,
                "another run is at work in this folder; wait for it, or stop it",
            ));
        }
        let head = folder.join(HEADER);
        if head.exists() {
            let begun = read_header(folder)?;
            if let Some(what) = difference(&begun, header) {
                let problem =
                    format!("this run was begun with {what}; go on with the same, or give another folder");
                return Err(Error::file(folder, problem));
            }
        } else {
            write_json(&head, header)?;
        }
        let (done, whole) = read_lines(&path)?;
        // What is torn is cut off, so that the next line begins a line.
        lines.set_len(whole).map_err(|e| Error::io("repair", &path, e))?;
        lines.seek(SeekFrom::End(0)).map_err(|e| Error::io("repair", &path, e))?;
        let done = done.into_iter().map(|result| (result.unit.clone(), result)).collect();
        Ok(Self { folder: folder.into(), lines, done })
    }

    /// The result of a unit, if it is done.
    pub fn get(&self, unit: &Unit) -> Option<&UnitResult> {
        self.done.get(unit)
    }

    /// Records a finished unit: it is on disk when this returns.
    pub fn add(&mut self, result: UnitResult) -> Result<()> {
        let line = line(&result)?;
        let written = self.lines.write_all(line.as_bytes()).and_then(|()| self.lines.sync_data());
        written.map_err(|e| Error::io("write", self.folder.join(LINES), e))?;
        self.done.insert(result.unit.clone(), result);
        Ok(())
    }

    /// Tells what a unit took. A folder that does not take it is no error.
    pub fn took(&self, unit: &Unit, seconds: f64) {
        times::add(&self.folder, unit, seconds);
    }

    /// Closes the folder with the lines in the order of the units: the same bytes, in whatever order they were done.
    pub fn close(self, units: &[Unit]) -> Result<()> {
        let path = self.folder.join(LINES);
        let lines: Result<Vec<String>> =
            units.iter().filter_map(|unit| self.done.get(unit)).map(line).collect();
        let lines = lines?.concat();
        let there = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        if there == lines.as_bytes() {
            return Ok(());
        }
        write_atomically(&path, |out| out.write_all(lines.as_bytes()))
    }
}

const HEADER: &str = "study.json";
const LINES: &str = "units.jsonl";

fn line(result: &UnitResult) -> Result<String> {
    let mut text = serde_json::to_string(result)
        .map_err(|e| Error::bad_param("unit", &result.unit, format!("cannot be written: {e}")))?;
    // The object stays open for one more field.
    text.pop();
    let sum = crc32fast::hash(text.as_bytes());
    Ok(format!("{text}{CHECKSUM}{sum:08x}\"}}\n"))
}

/// What stands between a result and its checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

/// A result from its line, the end of the line included.
fn parsed(line: &[u8]) -> Result<UnitResult, String> {
    let text = std::str::from_utf8(line).map_err(|e| e.to_string())?.trim_end();
    let result = match text.rsplit_once(CHECKSUM) {
        Some((before, after)) => {
            let sum = format!("{:08x}\"}}", crc32fast::hash(before.as_bytes()));
            if after != sum {
                return Err("the line does not fit its checksum".into());
            }
            serde_json::from_str(&format!("{before}}}"))
        }
        None => serde_json::from_str(text),
    };
    result.map_err(|e| e.to_string())
}

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
    let (lines, _) = read_lines(&folder.join(LINES))?;
    let done: BTreeMap<Unit, UnitResult> = lines.into_iter().map(|r| (r.unit.clone(), r)).collect();
    let results = header.units.iter().filter_map(|unit| done.get(unit).cloned()).collect();
    Ok((header, results))
}

/// The whole lines, and the length of the file up to the end of the last of them.
fn read_lines(path: &Path) -> Result<(Vec<UnitResult>, u64)> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let (mut results, mut whole) = (Vec::new(), 0);
    for (number, part) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let is_last = whole + part.len() == bytes.len();
        match parsed(part) {
            Ok(result) if part.ends_with(b"\n") => results.push(result),
            _ if is_last => break,
            Ok(_) => break,
            Err(e) => {
                let problem = format!("{e}; delete this line, and its unit is done again");
                return Err(Error::parse(path, number + 1, problem));
            }
        }
        whole += part.len();
    }
    Ok((results, whole as u64))
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
    let lines: Result<Vec<String>> = results.iter().map(line).collect();
    let lines = lines?.concat();
    write_atomically(&output.join(LINES), |out| out.write_all(lines.as_bytes()))?;
    write_json(&output.join(HEADER), &header)?;
    times::merge(pieces, output);
    Ok((header, results))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> UnitResult {
        let unit =
            Unit { dataset: "a".into(), kernel: "b".into(), class: "c,\"checksum\":\"00000000\"}".into() };
        UnitResult { unit, folds: 12, skipped: None, methods: BTreeMap::new() }
    }

    #[test]
    fn a_changed_line_is_noticed_and_an_old_one_is_read() {
        let line = line(&result()).unwrap();
        assert_eq!(parsed(line.as_bytes()).unwrap(), result());
        let old = serde_json::to_string(&UnitResult {
            unit: Unit { class: "c".into(), ..result().unit },
            ..result()
        });
        assert_eq!(parsed(old.unwrap().as_bytes()).unwrap().folds, 12);
        assert!(line.contains("\"folds\":12"), "{line}");
        let changed = line.replace("\"folds\":12", "\"folds\":13");
        assert!(parsed(changed.as_bytes()).unwrap_err().contains("checksum"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LINES);
        std::fs::write(&path, changed + &line).unwrap();
        let error = read_lines(&path).unwrap_err().to_string();
        assert!(error.contains("line 1: the line does not fit its checksum; delete this line"), "{error}");
    }
}
