//! [`Lines`]: a file of finished records, one JSON line each, to which a run that was stopped goes back.
//!
//! A line is written whole and flushed to disk before the next record is begun; a torn last line, left by a kill, is cut
//! off and its record made again. A line ends with the checksum of what stands before it, so that a changed digit is
//! noticed; lines of earlier versions have none and are read too.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use varnorm::data::write_atomically;
use varnorm::{Error, Result};

/// What a line holds.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// What a record is about: there is one record of each.
    type Key: Ord + Clone + std::fmt::Display;

    /// What this record is about.
    fn key(&self) -> &Self::Key;
}

/// An open file of records; nobody else can open it meanwhile.
pub(crate) struct Lines<R: Record> {
    path: PathBuf,
    file: File,
    done: BTreeMap<R::Key, R>,
}

impl<R: Record> Lines<R> {
    /// Opens the file, or begins it. `check` says whether the folder is that of the same run, before a line is read.
    pub(crate) fn open(folder: &Path, name: &str, check: impl FnOnce() -> Result<()>) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("make", folder, e))?;
        let path = folder.join(name);
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .map_err(|e| Error::io("open", &path, e))?;
        if file.try_lock().is_err() {
            return Err(Error::file(
                folder,
                "another run is at work in this folder; wait for it, or stop it",
            ));
        }
        check()?;
        let (done, whole) = read::<R>(&path)?;
        // What is torn is cut off, so that the next line begins a line.
        file.set_len(whole).map_err(|e| Error::io("repair", &path, e))?;
        file.seek(SeekFrom::End(0)).map_err(|e| Error::io("repair", &path, e))?;
        let done = done.into_iter().map(|record| (record.key().clone(), record)).collect();
        Ok(Self { path, file, done })
    }

    /// The record about something, if it is there.
    pub(crate) fn get(&self, key: &R::Key) -> Option<&R> {
        self.done.get(key)
    }

    /// Adds a record: it is on disk when this returns. Of two about the same, the later counts.
    pub(crate) fn add(&mut self, record: R) -> Result<()> {
        let line = line(&record)?;
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::io("write", &self.path, e))?;
        self.done.insert(record.key().clone(), record);
        Ok(())
    }

    /// Closes the file with the lines in this order: the same bytes, in whatever order they were made.
    pub(crate) fn close<'a>(self, keys: impl IntoIterator<Item = &'a R::Key>) -> Result<()>
    where
        R::Key: 'a,
    {
        let text = text(keys.into_iter().filter_map(|key| self.done.get(key)))?;
        let there = std::fs::read(&self.path).map_err(|e| Error::io("read", &self.path, e))?;
        if there == text.as_bytes() {
            return Ok(());
        }
        write_atomically(&self.path, |out| out.write_all(text.as_bytes()))
    }

    /// Closes the file with all lines, ordered by what they are about.
    pub(crate) fn close_sorted(self) -> Result<()> {
        let keys: Vec<R::Key> = self.done.keys().cloned().collect();
        self.close(&keys)
    }
}

/// Records as a file has them.
pub(crate) fn text<'a, R: Record + 'a>(records: impl IntoIterator<Item = &'a R>) -> Result<String> {
    Ok(records.into_iter().map(line).collect::<Result<Vec<String>>>()?.concat())
}

fn line<R: Record>(record: &R) -> Result<String> {
    let mut text = serde_json::to_string(record)
        .map_err(|e| Error::bad_param("unit", record.key(), format!("cannot be written: {e}")))?;
    // The object stays open for one more field.
    text.pop();
    let sum = crc32fast::hash(text.as_bytes());
    Ok(format!("{text}{CHECKSUM}{sum:08x}\"}}\n"))
}

/// What stands between a record and its checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

/// A record from its line, the end of the line included.
fn parsed<R: Record>(line: &[u8]) -> Result<R, String> {
    let text = std::str::from_utf8(line).map_err(|e| e.to_string())?.trim_end();
    let record = match text.rsplit_once(CHECKSUM) {
        Some((before, after)) => {
            let sum = format!("{:08x}\"}}", crc32fast::hash(before.as_bytes()));
            if after != sum {
                return Err("the line does not fit its checksum".into());
            }
            serde_json::from_str(&format!("{before}}}"))
        }
        None => serde_json::from_str(text),
    };
    record.map_err(|e| e.to_string())
}

/// The whole lines, and the length of the file up to the end of the last of them.
pub(crate) fn read<R: Record>(path: &Path) -> Result<(Vec<R>, u64)> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let (mut records, mut whole) = (Vec::new(), 0);
    for (number, part) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let is_last = whole + part.len() == bytes.len();
        match parsed(part) {
            Ok(record) if part.ends_with(b"\n") => records.push(record),
            _ if is_last => break,
            Ok(_) => break,
            Err(e) => {
                let problem = format!("{e}; delete this line, and its unit is done again");
                return Err(Error::parse(path, number + 1, problem));
            }
        }
        whole += part.len();
    }
    Ok((records, whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Unit, UnitResult};

    fn result() -> UnitResult {
        let unit =
            Unit { dataset: "a".into(), kernel: "b".into(), class: "c,\"checksum\":\"00000000\"}".into() };
        UnitResult { unit, folds: 12, skipped: None, methods: BTreeMap::new() }
    }

    #[test]
    fn a_changed_line_is_noticed_and_an_old_one_is_read() {
        let line = line(&result()).unwrap();
        assert_eq!(parsed::<UnitResult>(line.as_bytes()).unwrap(), result());
        let old = serde_json::to_string(&UnitResult {
            unit: Unit { class: "c".into(), ..result().unit },
            ..result()
        });
        assert_eq!(parsed::<UnitResult>(old.unwrap().as_bytes()).unwrap().folds, 12);
        assert!(line.contains("\"folds\":12"), "{line}");
        let changed = line.replace("\"folds\":12", "\"folds\":13");
        assert!(parsed::<UnitResult>(changed.as_bytes()).unwrap_err().contains("checksum"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("units.jsonl");
        std::fs::write(&path, changed + &line).unwrap();
        let error = read::<UnitResult>(&path).unwrap_err().to_string();
        assert!(error.contains("line 1: the line does not fit its checksum; delete this line"), "{error}");
    }
}
