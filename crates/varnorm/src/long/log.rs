//! [`LogReader`]: the rows of a log, one at a time, from CSV or JSON lines of any length.
//!
//! One row is one step. A column is the time where its name says so, or where it is the first and has no numbers; columns with labels
//! are left out; all others are channels. An empty cell, `?`, `NaN` or `null` is a missing value.

use std::io::{BufRead, Cursor, Read};
use std::path::{Path, PathBuf};

use csv::StringRecord;
use serde_json::Value;

use crate::data::log_value;
use crate::error::{Error, Result};

const TIMES: &[&str] =
    &["time", "timestamp", "timepoint", "datetime", "date", "date_time", "ts", "t", "step"];
const LABELS: &[&str] = &["label", "class", "target", "anomaly", "is_anomaly", "changepoint"];

/// One row of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogRow {
    /// Its line, from 1.
    pub line: u64,
    /// Its time, as written.
    pub time: Option<String>,
    /// A value per channel; NaN where it is missing.
    pub values: Vec<f64>,
}

/// Reads the rows of a log.
pub struct LogReader {
    path: PathBuf,
    source: Source,
    columns: Columns,
    /// Rows that were read to see what the columns are.
    waiting: Vec<StringRecord>,
    notes: Vec<String>,
}

enum Source {
    Csv(Box<csv::Reader<Box<dyn Read>>>, Decimal),
    Json { lines: Box<dyn BufRead>, line: u64 },
}

/// How numbers have their fractions.
#[derive(Clone, Copy, PartialEq)]
enum Decimal {
    Point,
    /// Where cells are not separated by commas.
    PointOrComma,
}

#[derive(Default)]
struct Columns {
    /// Cells of a row.
    width: usize,
    time: Option<usize>,
    channels: Vec<usize>,
    names: Option<Vec<String>>,
    /// The field of a JSON object that has the time.
    time_name: Option<String>,
}

impl LogReader {
    /// A file. The channels of a model are looked for by their names, where it has them.
    pub fn open(path: &Path, wanted: Option<&[String]>) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
        Self::new(path, Box::new(std::io::BufReader::with_capacity(1 << 16, file)), wanted)
    }

    /// Any rows; `name` stands for the file in errors.
    pub fn new(name: &Path, mut rows: Box<dyn BufRead>, wanted: Option<&[String]>) -> Result<Self> {
        let (mut first, mut blank) = (Vec::new(), 0);
        loop {
            first.clear();
            let read = rows.read_until(b'\n', &mut first).map_err(|e| Error::io("read", name, e))?;
            if read == 0 {
                return Err(Error::file(name, "there are no rows; give a header and at least one row"));
            }
            if first.starts_with(b"\xef\xbb\xbf") {
                first.drain(..3);
            }
            if !first.trim_ascii().is_empty() {
                break;
            }
            blank += 1;
        }
        let is_json = matches!(first.trim_ascii_start()[0], b'{' | b'[');
        let delimiter = [b',', b';', b'\t'].into_iter().find(|d| first.contains(d)).unwrap_or(b',');
        let path = name.to_path_buf();
        let all = Cursor::new(first).chain(rows);
        let mut reader = if is_json {
            let source = Source::Json { lines: Box::new(all), line: blank };
            Self { path, source, columns: Columns::default(), waiting: Vec::new(), notes: Vec::new() }
        } else {
            let mut builder = csv::ReaderBuilder::new();
            builder.has_headers(false).flexible(true).delimiter(delimiter);
            let decimal = if delimiter == b',' { Decimal::Point } else { Decimal::PointOrComma };
            let source = Source::Csv(Box::new(builder.from_reader(Box::new(all))), decimal);
            Self { path, source, columns: Columns::default(), waiting: Vec::new(), notes: Vec::new() }
        };
        match is_json {
            true => reader.columns.names = wanted.map(<[String]>::to_vec),
            false => reader.find_columns(wanted)?,
        }
        Ok(reader)
    }

    /// The names of the channels, where the log has them. JSON lines have them after the first row.
    pub fn channel_names(&self) -> Option<&[String]> {
        self.columns.names.as_deref()
    }

    /// What the user should know about what was left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Reads the next row; false where there is none.
    pub fn read(&mut self, row: &mut LogRow) -> Result<bool> {
        match &mut self.source {
            Source::Json { .. } => self.read_json(row),
            Source::Csv(..) => match self.next_record()? {
                Some(record) => self.read_record(&record, row).map(|()| true),
                None => Ok(false),
            },
        }
    }

    /// An error about a row.
    pub fn wrong(&self, line: u64, problem: impl Into<String>) -> Error {
        Error::parse(&self.path, usize::try_from(line).unwrap_or(usize::MAX), problem)
    }

    fn next_record(&mut self) -> Result<Option<StringRecord>> {
        if !self.waiting.is_empty() {
            return Ok(Some(self.waiting.remove(0)));
        }
        let Source::Csv(reader, _) = &mut self.source else { return Ok(None) };
        let mut record = StringRecord::new();
        loop {
            let read = reader.read_record(&mut record);
            if !read.map_err(|e| Error::file(&self.path, format!("not readable as CSV: {e}")))? {
                return Ok(None);
            }
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                return Ok(Some(record));
            }
        }
    }

    fn decimal(&self) -> Decimal {
        match self.source {
            Source::Csv(_, decimal) => decimal,
            Source::Json { .. } => Decimal::Point,
        }
    }

    /// What the columns are, from the header and the first row of data.
    fn find_columns(&mut self, wanted: Option<&[String]>) -> Result<()> {
        let first = self.next_record()?.unwrap_or_default();
        let decimal = self.decimal();
        let is_number = |cell: &str| !cell.trim().is_empty() && number(cell, decimal).is_some();
        let values = first.iter().skip(1).any(is_number) || (first.len() == 1 && is_number(&first[0]));
        let headed = !values;
        let names: Option<Vec<String>> =
            headed.then(|| first.iter().map(|name| name.trim().to_string()).collect());
        let data = if headed { self.next_record()? } else { Some(first) };
        let Some(data) = data else {
            return Err(Error::file(
                &self.path,
                "there is a header and no row of data below it; give at least one row",
            ));
        };
        let lower = |name: &String| name.to_ascii_lowercase();
        let named = |of: &[&str]| {
            names.as_ref().and_then(|names| names.iter().position(|name| of.contains(&lower(name).as_str())))
        };
        // A first column without numbers is the time, whatever it is called.
        let wordy = (data.len() > 1 && !data[0].trim().is_empty() && number(&data[0], decimal).is_none())
            .then_some(0);
        let time = named(TIMES).or(wordy);
        let mut channels: Vec<usize> =
            (0..names.as_ref().map_or(data.len(), Vec::len)).filter(|c| Some(*c) != time).collect();
        if let Some(names) = &names {
            let left_out =
                |c: &usize| LABELS.contains(&lower(&names[*c]).as_str()) || (*c == 0 && names[0].is_empty());
            let out: Vec<&str> =
                channels.iter().filter(|c| left_out(c)).map(|c| names[*c].as_str()).collect();
            if !out.is_empty() && wanted.is_none() {
                self.notes.push(format!("left out, as no channels: {}", out.join(", ")));
            }
            channels.retain(|c| !left_out(c));
        }
        if let Some(wanted) = wanted {
            channels = self.matched(wanted, names.as_deref(), channels)?;
        }
        if channels.is_empty() {
            return Err(Error::file(&self.path, "there is no column with values; give one per channel"));
        }
        let width = names.as_ref().map_or(data.len(), Vec::len);
        let names = names.map(|names| channels.iter().map(|c| names[*c].clone()).collect());
        self.columns = Columns { width, time, channels, names, time_name: None };
        self.waiting.push(data);
        Ok(())
    }

    /// The columns of the channels of a model.
    fn matched(
        &self,
        wanted: &[String],
        names: Option<&[String]>,
        channels: Vec<usize>,
    ) -> Result<Vec<usize>> {
        let Some(names) = names else {
            return match channels.len() == wanted.len() {
                true => Ok(channels),
                false => Err(Error::file(
                    &self.path,
                    format!(
                        "{} columns where the model has {} channels ({})",
                        channels.len(),
                        wanted.len(),
                        wanted.join(", ")
                    ),
                )),
            };
        };
        let find = |name: &String| {
            names.iter().position(|found| found == name).ok_or_else(|| {
                let there: Vec<&str> = channels.iter().map(|c| names[*c].as_str()).collect();
                let problem = format!(
                    "the model's channel `{name}` is no column here; columns are: {}",
                    there.join(", ")
                );
                Error::file(&self.path, problem)
            })
        };
        wanted.iter().map(find).collect()
    }

    fn read_record(&self, record: &StringRecord, row: &mut LogRow) -> Result<()> {
        let (columns, decimal) = (&self.columns, self.decimal());
        row.line = record.position().map_or(0, csv::Position::line);
        if record.len() != columns.width {
            let problem = format!(
                "{} cells where {} are expected; give every row one cell per column",
                record.len(),
                columns.width
            );
            return Err(self.wrong(row.line, problem));
        }
        row.time = columns.time.map(|c| record[c].trim().to_string());
        row.values.clear();
        for (at, column) in columns.channels.iter().enumerate() {
            let value = number(&record[*column], decimal).ok_or_else(|| {
                let name =
                    columns.names.as_ref().map_or_else(|| at.to_string(), |names| format!("`{}`", names[at]));
                let problem = format!(
                    "column {name}: {:?} is not a number; leave the cell empty if it is missing",
                    &record[*column]
                );
                self.wrong(row.line, problem)
            })?;
            row.values.push(value);
        }
        Ok(())
    }

    fn read_json(&mut self, row: &mut LogRow) -> Result<bool> {
        let Source::Json { lines, line } = &mut self.source else { return Ok(false) };
        let mut text = String::new();
        while text.trim().is_empty() {
            text.clear();
            if lines.read_line(&mut text).map_err(|e| Error::io("read", &self.path, e))? == 0 {
                return Ok(false);
            }
            *line += 1;
        }
        row.line = *line;
        let value: Value = serde_json::from_str(&text)
            .map_err(|e| self.wrong(row.line, format!("not a JSON object or array on one line: {e}")))?;
        self.take_json(value, row)?;
        Ok(true)
    }

    fn take_json(&mut self, value: Value, row: &mut LogRow) -> Result<()> {
        row.values.clear();
        row.time = None;
        let cells = match value {
            Value::Array(cells) => cells,
            Value::Object(mut fields) => {
                if self.columns.time_name.is_none() {
                    let of = |name: &&str| fields.contains_key(*name);
                    self.columns.time_name =
                        Some(TIMES.iter().find(|name| of(name)).map_or("", |name| name).into());
                }
                let time_name = self.columns.time_name.clone().unwrap_or_default();
                row.time = fields.remove(&time_name).map(|time| match time {
                    Value::String(text) => text,
                    other => other.to_string(),
                });
                if self.columns.names.is_none() {
                    let names =
                        fields.keys().filter(|name| !LABELS.contains(&name.to_ascii_lowercase().as_str()));
                    self.columns.names = Some(names.cloned().collect());
                }
                let names = self.columns.names.clone().unwrap_or_default();
                let mut cells = Vec::with_capacity(names.len());
                for name in &names {
                    // A field that is not there is a missing value, as null is.
                    cells.push(fields.remove(name).unwrap_or(Value::Null));
                }
                cells
            }
            other => {
                return Err(
                    self.wrong(row.line, format!("{other} is no row: give an object or an array per line"))
                );
            }
        };
        for (at, cell) in cells.iter().enumerate() {
            let value = match cell {
                Value::Null => Some(f64::NAN),
                Value::Number(number) => number.as_f64(),
                Value::String(text) => log_value(text),
                _ => None,
            };
            row.values.push(
                value.ok_or_else(|| self.wrong(row.line, format!("value {at}: {cell} is not a number")))?,
            );
        }
        Ok(())
    }
}

/// The number in a cell, NaN where it is missing.
fn number(cell: &str, decimal: Decimal) -> Option<f64> {
    let cell = cell.trim();
    match decimal == Decimal::PointOrComma && cell.contains(',') && !cell.contains('.') {
        true => log_value(&cell.replace(',', ".")),
        false => log_value(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &'static str, wanted: Option<&[String]>) -> Result<(Vec<LogRow>, Option<Vec<String>>)> {
        let mut reader = LogReader::new(Path::new("log"), Box::new(text.as_bytes()), wanted)?;
        let (mut all, mut row) = (Vec::new(), LogRow::default());
        while reader.read(&mut row)? {
            all.push(row.clone());
        }
        Ok((all, reader.channel_names().map(<[String]>::to_vec)))
    }

    fn values(text: &'static str) -> Vec<Vec<f64>> {
        rows(text, None).unwrap().0.into_iter().map(|row| row.values).collect()
    }

    #[test]
    fn logs_are_read_as_people_write_them() {
        assert_eq!(values("a,b\n1,2\n\n3,4\n"), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(values("1,2\n3,4"), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(
            values("\u{feff}time;a;anomaly\n2020-01-01 00:00:00;1,5;0\n2020-01-01 00:00:01;2,5;1\n"),
            [[1.5], [2.5]]
        );
        assert_eq!(values("{\"a\":1,\"b\":2,\"time\":5}\n[3,4]\n"), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(values("5\n6\n"), [[5.0], [6.0]]);
        assert_eq!(values("value\n5\n6\n"), [[5.0], [6.0]]);
        let (found, names) = rows("when,x,y\nmon,1,\ntue,2,?\n", None).unwrap();
        assert_eq!((found[1].time.as_deref(), found[1].line), (Some("tue"), 3));
        assert!(found.iter().all(|row| row.values[1].is_nan()));
        assert_eq!(names.unwrap(), ["x", "y"]);
        let wanted = ["y".to_string(), "x".to_string()];
        let of = |text| rows(text, Some(&wanted)).map(|(rows, _)| rows[0].values.clone());
        assert_eq!(of("time,x,z,y\n1,2,3,4\n").unwrap(), [4.0, 2.0]);
        assert_eq!(of("{\"x\":1,\"y\":2,\"z\":3}\n").unwrap(), [2.0, 1.0]);
        assert_eq!(of("7,8\n").unwrap(), [7.0, 8.0]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, says) in [
            ("", "no rows"),
            ("a,b\n", "no row of data"),
            ("a,b\n1,2\n3\n", "line 3: 1 cells where 2 are expected"),
            ("a,b\n1,2\n3,on\n", "line 3: column `b`: \"on\" is not a number"),
            ("{\"a\":1}\n{\"a\":true}\n", "line 2: value 0: true is not a number"),
            ("{\"a\":1}\n{a\n", "line 2: not a JSON object"),
            ("[1]\n7\n", "line 2: 7 is no row"),
        ] {
            let error = rows(text, None).unwrap_err().to_string();
            assert!(error.contains(says), "{text:?}: {error}");
        }
        let error = rows("a,b\n1,2\n", Some(&["c".to_string()])).unwrap_err().to_string();
        assert!(error.contains("`c` is no column here; columns are: a, b"), "{error}");
        assert!(rows("1,2\n", Some(&["c".to_string()])).is_err());
    }
}
