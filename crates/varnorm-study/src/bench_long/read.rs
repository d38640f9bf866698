//! Readers of benchmark folders: every file says by its name or its header which family it is of.

mod npy;
mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use varnorm::{Error, Result};

/// The archives that are known, each with its own protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Family {
    /// UCR anomaly archive: `NAME_TRAINEND_START_END.txt`, one anomaly each.
    #[serde(rename = "UCR")]
    Ucr,
    /// SKAB: tables with the columns `anomaly` and `changepoint`; the first 400 rows are normal.
    #[serde(rename = "SKAB")]
    Skab,
    /// Triples `NAME_train.npy`, `NAME_test.npy`, `NAME_test_label.npy`, such as ASD, SMD, SMAP and MSL.
    #[serde(rename = "npy")]
    Npy,
    /// TSB-AD: `..._tr_N_1st_M.csv` with a last column `Label`; the first N rows are normal.
    #[serde(rename = "TSB-AD")]
    TsbAd,
    /// TimeEval: tables with the columns `timestamp` and `is_anomaly`.
    TimeEval,
    /// NAB: tables with the columns `timestamp` and `value`, and `combined_windows.json`.
    #[serde(rename = "NAB")]
    Nab,
}

impl Family {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ucr => "UCR",
            Self::Skab => "SKAB",
            Self::Npy => "npy",
            Self::TsbAd => "TSB-AD",
            Self::TimeEval => "TimeEval",
            Self::Nab => "NAB",
        }
    }
}

/// Rows of a SKAB file that are normal.
pub(super) const SKAB_NORMAL: usize = 400;

/// A recording that is known to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What it is of.
    pub family: Family,
    /// The group that means are over: the folder that it lies in, or the family's name at the top.
    pub group: String,
    /// The path within the folder, without what follows the last dot.
    pub name: String,
    path: PathBuf,
}

/// A recording with its normal part and the labels of the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// Numbers in a row.
    pub channels: usize,
    /// The normal part, row after row.
    pub normal: Vec<f64>,
    /// The rest.
    pub test: Vec<f64>,
    /// One label per row of the rest.
    pub anomalous: Vec<bool>,
}

impl Labelled {
    /// Rows of the test part.
    pub fn points(&self) -> usize {
        self.anomalous.len()
    }

    /// From all rows and labels, of which the first so many rows are normal.
    fn split(
        path: &Path,
        channels: usize,
        mut rows: Vec<f64>,
        mut labels: Vec<bool>,
        normal: usize,
    ) -> Result<Self> {
        let count = labels.len();
        if normal == 0 || normal >= count {
            let problem = format!(
                "{normal} of {count} rows are the normal part; there must be rows before and after its end"
            );
            return Err(Error::file(path, problem));
        }
        let test = rows.split_off(normal * channels);
        let anomalous = labels.split_off(normal);
        Ok(Self { channels, normal: rows, test, anomalous }.filled())
    }

    /// Missing numbers become the last one before them, or the first one after: every method sees the same rows.
    fn filled(mut self) -> Self {
        for part in [&mut self.normal, &mut self.test] {
            for channel in 0..self.channels {
                let first = part.iter().skip(channel).step_by(self.channels).find(|v| v.is_finite());
                let mut last = first.copied().unwrap_or(0.0);
                for value in part.iter_mut().skip(channel).step_by(self.channels) {
                    if value.is_finite() {
                        last = *value;
                    } else {
                        *value = last;
                    }
                }
            }
        }
        self
    }
}

/// Everything in a folder and the folders in it, by group and name.
pub fn list(folder: &Path) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    walk(folder, 0, &mut files)?;
    let windows = files.iter().any(|path| path.ends_with(tables::NAB_WINDOWS));
    let mut found = Vec::new();
    for path in files {
        let Some(family) = family(&path, windows)? else { continue };
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let name = inside.with_extension("").to_string_lossy().replace('\\', "/");
        let name = name.strip_suffix("_test_label").unwrap_or(&name).to_string();
        let group = group(folder, inside, family);
        found.push(Listed { family, group, name, path });
    }
    if found.is_empty() {
        let problem = "no recording of a known archive is here: UCR (NAME_TRAINEND_START_END.txt), SKAB, TSB-AD \
                       (_tr_N_1st_M.csv), TimeEval (timestamp, is_anomaly), NAB (with combined_windows.json), or \
                       NAME_train.npy, NAME_test.npy and NAME_test_label.npy";
        return Err(Error::file(folder, problem));
    }
    found.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    Ok(found)
}

/// The first folder on the way to a file; for files at the top the name of the folder itself.
fn group(folder: &Path, inside: &Path, family: Family) -> String {
    let mut parts = inside.components();
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned());
    match (first, parts.next()) {
        (Some(first), Some(_)) if family != Family::Skab || first.to_uppercase().contains("SKAB") => first,
        _ if family == Family::Npy => folder
            .file_name()
            .map_or_else(|| family.name().into(), |name| name.to_string_lossy().into_owned()),
        _ => family.name().into(),
    }
}

const DEEPEST: usize = 6;

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let wrong = |e| Error::io("read", folder, e);
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            if depth < DEEPEST {
                walk(&path, depth + 1, files)?;
            }
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// What a file is of; nothing for files of no known archive, and for parts that another file speaks for.
fn family(path: &Path, windows: bool) -> Result<Option<Family>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.ends_with(".txt") {
        return Ok(ucr_numbers(&name).map(|_| Family::Ucr));
    }
    if name.ends_with("_test_label.npy") {
        return Ok(Some(Family::Npy));
    }
    if !name.ends_with(".csv") || name.ends_with(".train.csv") {
        return Ok(None);
    }
    if tables::tsb_ad_rows(&name).is_some() {
        return Ok(Some(Family::TsbAd));
    }
    tables::family(path, windows)
}

/// `TRAINEND`, `START` and `END` of a name.
fn ucr_numbers(name: &str) -> Option<[usize; 3]> {
    let mut parts = name.strip_suffix(".txt")?.rsplit('_').map(|part| part.parse::<usize>());
    let (end, start, train) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some([train, start, end])
}

impl Listed {
    /// Reads it.
    pub fn read(&self, folder: &Path) -> Result<Labelled> {
        match self.family {
            Family::Ucr => self.ucr(),
            Family::Npy => npy::read(&self.path),
            Family::Skab => tables::skab(&self.path),
            Family::TsbAd => tables::tsb_ad(&self.path),
            Family::TimeEval => tables::time_eval(&self.path),
            Family::Nab => tables::nab(&self.path, folder),
        }
    }

    fn ucr(&self) -> Result<Labelled> {
        let path = &self.path;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wrong_name = || Error::file(path, "the name must end in _TRAINEND_START_END.txt");
        let [train, start, end] = ucr_numbers(&name).ok_or_else(wrong_name)?;
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        let mut rows = Vec::new();
        for (number, line) in text.lines().enumerate() {
            for word in line.split_whitespace() {
                let value = word.parse::<f64>();
                rows.push(
                    value.map_err(|_| Error::parse(path, number + 1, format!("`{word}` is no number")))?,
                );
            }
        }
        if start > end || end >= rows.len() {
            let problem = format!(
                "the name says that the anomaly is from {start} to {end}, and there are {} points",
                rows.len()
            );
            return Err(Error::file(path, problem));
        }
        let labels = (0..rows.len()).map(|at| (start..=end).contains(&at)).collect();
        Labelled::split(path, 1, rows, labels, train)
    }
}

/// The recordings of each group.
pub(super) fn groups(listed: &[Listed]) -> BTreeMap<&str, usize> {
    let mut groups = BTreeMap::new();
    listed.iter().for_each(|one| *groups.entry(one.group.as_str()).or_default() += 1);
    groups
}

#[cfg(test)]
mod tests;
