//! Tables of text: SKAB, TSB-AD, TimeEval and NAB.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Family, Labelled, SKAB_NORMAL};
use varnorm::{Error, Result};

/// The file with NAB's labels.
pub(super) const NAB_WINDOWS: &str = "combined_windows.json";
/// The share of rows that NAB calls probation, and the length beyond which it does not grow.
const PROBATION: f64 = 0.15;
const NAB_LONGEST: usize = 5000;

/// What a table is of, from its first line.
pub(super) fn family(path: &Path, windows: bool) -> Result<Option<Family>> {
    use std::io::{BufRead, BufReader, Read};
    let file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    let mut line = Vec::new();
    let read = BufReader::new(file.take(1 << 16)).read_until(b'\n', &mut line);
    read.map_err(|e| Error::io("read", path, e))?;
    let line = String::from_utf8_lossy(&line).trim().to_string();
    let has = |separator: char, wanted: &str| line.split(separator).any(|name| name.trim() == wanted);
    Ok(if has(';', "anomaly") && has(';', "changepoint") {
        Some(Family::Skab)
    } else if has(',', "timestamp") && has(',', "is_anomaly") {
        Some(Family::TimeEval)
    } else if windows && has(',', "timestamp") && has(',', "value") {
        Some(Family::Nab)
    } else {
        None
    })
}

/// `N` of a name that ends in `_tr_N_1st_M.csv`.
pub(super) fn tsb_ad_rows(name: &str) -> Option<usize> {
    let (before, first) = name.strip_suffix(".csv")?.rsplit_once("_1st_")?;
    first.parse::<usize>().ok()?;
    before.rsplit_once("_tr_")?.1.parse().ok()
}

/// A table: names, rows of cells.
struct Table {
    names: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl Table {
    fn read(path: &Path, separator: u8) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .from_path(path)
            .map_err(|e| Error::file(path, e.to_string()))?;
        let wrong = |e: csv::Error| {
            let line = e.position().map_or(1, |position| position.line() as usize);
            Error::parse(path, line, e.to_string())
        };
        let names = reader.headers().map_err(wrong)?.iter().map(|name| name.trim().to_string()).collect();
        let rows = reader.records().collect::<std::result::Result<_, _>>().map_err(wrong)?;
        Ok(Self { names, rows })
    }

    fn column(&self, path: &Path, name: &str) -> Result<usize> {
        let missing = || Error::parse(path, 1, format!("there is no column `{name}`"));
        self.names.iter().position(|other| other == name).ok_or_else(missing)
    }

    /// The numbers of all columns but some; an empty cell is a missing number.
    fn numbers(&self, path: &Path, without: &[usize]) -> Result<(Vec<f64>, usize)> {
        let columns: Vec<usize> = (0..self.names.len()).filter(|c| !without.contains(c)).collect();
        if columns.is_empty() {
            return Err(Error::parse(path, 1, "there is no column of numbers"));
        }
        let mut values = Vec::with_capacity(self.rows.len() * columns.len());
        for (row, cells) in self.rows.iter().enumerate() {
            for column in &columns {
                values.push(number(path, row, &self.names[*column], cells.get(*column).unwrap_or(""))?);
            }
        }
        Ok((values, columns.len()))
    }

    /// Labels of a column: zero is normal.
    fn labels(&self, path: &Path, column: usize) -> Result<Vec<bool>> {
        let label = |(row, cells): (usize, &csv::StringRecord)| {
            let found = number(path, row, &self.names[column], cells.get(column).unwrap_or(""))?;
            Ok(found != 0.0)
        };
        self.rows.iter().enumerate().map(label).collect()
    }
}

fn number(path: &Path, row: usize, column: &str, cell: &str) -> Result<f64> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Ok(f64::NAN);
    }
    let problem = || Error::parse(path, row + 2, format!("column `{column}`: `{cell}` is no number"));
    cell.parse().map_err(|_| problem())
}

pub(super) fn skab(path: &Path) -> Result<Labelled> {
    let table = Table::read(path, b';')?;
    let label = table.column(path, "anomaly")?;
    let without = [label, table.column(path, "changepoint")?, table.column(path, "datetime")?];
    let (values, channels) = table.numbers(path, &without)?;
    let labels = table.labels(path, label)?;
    Labelled::split(path, channels, values, labels, SKAB_NORMAL)
}

pub(super) fn tsb_ad(path: &Path) -> Result<Labelled> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rows = tsb_ad_rows(&name).ok_or_else(|| Error::file(path, "the name must end in _tr_N_1st_M.csv"))?;
    let table = Table::read(path, b',')?;
    let label = table.column(path, "Label")?;
    let (values, channels) = table.numbers(path, &[label])?;
    Labelled::split(path, channels, values, table.labels(path, label)?, rows)
}

/// With a file `NAME.train.csv` beside `NAME.test.csv`, that is the normal part; without, the first 15 % of the rows.
pub(super) fn time_eval(path: &Path) -> Result<Labelled> {
    let (values, channels, labels) = time_eval_part(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let train = name.strip_suffix(".test.csv").map(|stem| path.with_file_name(format!("{stem}.train.csv")));
    match train.filter(|train| train.is_file()) {
        Some(train) => {
            let (normal, of_train, _) = time_eval_part(&train)?;
            if of_train != channels {
                let problem = format!("{of_train} channels, and {channels} in the test part");
                return Err(Error::file(train, problem));
            }
            Ok(Labelled { channels, normal, test: values, anomalous: labels }.filled())
        }
        None => {
            let normal = (PROBATION * labels.len() as f64) as usize;
            Labelled::split(path, channels, values, labels, normal)
        }
    }
}

fn time_eval_part(path: &Path) -> Result<(Vec<f64>, usize, Vec<bool>)> {
    let table = Table::read(path, b',')?;
    let (time, label) = (table.column(path, "timestamp")?, table.column(path, "is_anomaly")?);
    let (values, channels) = table.numbers(path, &[time, label])?;
    Ok((values, channels, table.labels(path, label)?))
}

/// The first 15 % of the rows are the normal part, of 5,000 rows at most, as in NAB.
pub(super) fn nab(path: &Path, folder: &Path) -> Result<Labelled> {
    let table = Table::read(path, b',')?;
    let time = table.column(path, "timestamp")?;
    let (values, channels) = table.numbers(path, &[time])?;
    let windows = nab_windows(path, folder)?;
    // Times are written alike but for fractions of a second, so that their order is that of the texts.
    let second = |text: &str| text.trim().replace('T', " ").chars().take(19).collect::<String>();
    let windows: Vec<(String, String)> =
        windows.iter().map(|[from, to]| (second(from), second(to))).collect();
    let label = |cells: &csv::StringRecord| {
        let time = second(cells.get(time).unwrap_or(""));
        windows.iter().any(|(from, to)| *from <= time && time <= *to)
    };
    let labels: Vec<bool> = table.rows.iter().map(label).collect();
    let normal = (PROBATION * labels.len().min(NAB_LONGEST) as f64) as usize;
    Labelled::split(path, channels, values, labels, normal)
}

/// The labelled windows of a file, from the first `combined_windows.json` above it or in a folder `labels` there.
fn nab_windows(path: &Path, folder: &Path) -> Result<Vec<[String; 2]>> {
    let above = path.ancestors().skip(1).take_while(|above| above.starts_with(folder));
    let mut places =
        above.flat_map(|above| [above.join(NAB_WINDOWS), above.join("labels").join(NAB_WINDOWS)]);
    let missing = || Error::file(path, format!("there is no {NAB_WINDOWS} in a folder above"));
    let file = places.find(|place| place.is_file()).ok_or_else(missing)?;
    let bytes = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
    let all: BTreeMap<String, Vec<[String; 2]>> =
        serde_json::from_slice(&bytes).map_err(|e| Error::parse(&file, e.line(), e.to_string()))?;
    let whole = path.to_string_lossy().replace('\\', "/");
    let found = all.into_iter().find(|(name, _)| whole.ends_with(&format!("/{name}")));
    let missing = || Error::file(path, format!("{} has no windows of this file", file.display()));
    found.map(|(_, windows)| windows).ok_or_else(missing)
}
