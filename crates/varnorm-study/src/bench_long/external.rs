//! [`ExternalPoints`]: scores of points that were made elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use varnorm::{Error, Result};

/// A column of scores that were made elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalPoints {
    /// The method's name in tables.
    pub name: String,
    file: PathBuf,
    /// By recording: a score per point of the test part.
    scores: BTreeMap<String, Vec<f64>>,
}

impl ExternalPoints {
    /// Reads a CSV file with the columns `recording` (its path within the folder, without the ending), `point` (0 is the
    /// first of the test part; in order) and `score` (higher is more novel).
    pub fn read(name: &str, file: &Path) -> Result<Self> {
        let wrong = |line: usize, problem: String| Error::parse(file, line, problem);
        let mut reader = csv::Reader::from_path(file).map_err(|e| Error::file(file, e.to_string()))?;
        let headers = reader.headers().map_err(|e| wrong(1, e.to_string()))?.clone();
        let column = |wanted: &str| {
            let found = headers.iter().position(|header| header.trim() == wanted);
            found.ok_or_else(|| {
                wrong(1, format!("there is no column `{wanted}`; the columns are recording, point, score"))
            })
        };
        let (recording, point, score) = (column("recording")?, column("point")?, column("score")?);
        let mut scores: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (row, record) in reader.records().enumerate() {
            let line = row + 2;
            let record = record.map_err(|e| wrong(line, e.to_string()))?;
            let cell = |at: usize| record.get(at).unwrap_or("").trim();
            let bad = |what: &str, at: usize| wrong(line, format!("`{}` is not {what}", cell(at)));
            let value: f64 = cell(score).parse().map_err(|_| bad("a score", score))?;
            if value.is_nan() {
                return Err(bad("a score", score));
            }
            let list = scores.entry(cell(recording).into()).or_default();
            if cell(point).parse().ok() != Some(list.len()) {
                return Err(bad(&format!("point {}, which comes next", list.len()), point));
            }
            list.push(value);
        }
        Ok(Self { name: name.into(), file: file.into(), scores })
    }

    /// The scores of one recording; `None` where the file has none of it.
    pub(super) fn of(&self, recording: &str, points: usize) -> Result<Option<Vec<f64>>> {
        let Some(list) = self.scores.get(recording) else { return Ok(None) };
        if list.len() == points {
            return Ok(Some(list.clone()));
        }
        let problem = format!("{recording}: {} scores for {points} points of the test part", list.len());
        Err(Error::file(&self.file, problem))
    }
}
