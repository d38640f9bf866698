//! Rows of logs: a whole one to learn from, or a few at a time to score.

use std::path::{Path, PathBuf};

use varnorm::data::CsvLayout;
use varnorm::data::ReadOptions;
use varnorm::long::{Follows, GAP_LIMIT, LogReader, LogRow, LongDetector, Order, Recording, median_step};
use varnorm::{Dataset, Error};

use crate::console::Console;
use crate::failure::Failure;

/// Rows that are scored at a time.
pub const BATCH: usize = 8192;

/// What was done with rows that do not follow the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Dropped: their time was before that of a row already taken.
    pub late: u64,
    /// Dropped: their time was that of the row before.
    pub duplicate: u64,
    /// Places where rows are missing.
    pub gaps: u64,
    /// Rows with a missing value, which are gaps too.
    pub missing: u64,
}

impl Counts {
    /// A sentence about every kind that there was.
    pub fn notes(&self) -> Vec<String> {
        let note = |count: u64, words: &str| (count > 0).then(|| format!("{count} {words}"));
        [
            note(self.late, "late rows were dropped: their times are before those of earlier rows"),
            note(self.duplicate, "rows were dropped: they have the time of the row before"),
            note(self.gaps, "gaps in time: no window goes across them"),
            note(
                self.missing,
                "rows have a missing value: no window goes across them, and they have no score",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A whole log.
pub struct Log {
    pub values: Vec<f64>,
    pub channels: usize,
    pub breaks: Vec<usize>,
    /// As written; empty where there are none.
    pub times: Vec<String>,
    pub names: Option<Vec<String>>,
    /// From one row to the next, and whether in seconds.
    pub step: Option<(f64, bool)>,
    pub counts: Counts,
}

impl Log {
    /// Reads files that are one log after the other, with a gap between them.
    pub fn read(console: &Console, paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut log: Option<Self> = None;
        for path in paths {
            let next =
                if is_log(path) { Self::from_text(console, path)? } else { Self::from_data(console, path)? };
            log = Some(match log {
                None => next,
                Some(log) => log.joined(next, path)?,
            });
        }
        log.ok_or_else(|| Failure::Words("give a log to learn from".into()))
    }

    fn from_text(console: &Console, path: &Path) -> Result<Self, Failure> {
        let mut reader = LogReader::open(path, None)?;
        let (mut row, mut values, mut times, mut channels) = (LogRow::default(), Vec::new(), Vec::new(), 0);
        while reader.read(&mut row)? {
            if channels == 0 {
                channels = row.values.len();
            }
            check_width(&reader, &row, channels)?;
            values.extend_from_slice(&row.values);
            times.extend(row.time.take());
            if row.line.is_multiple_of(4096) {
                console.run.check()?;
            }
        }
        console.notes(reader.notes());
        let names = reader.channel_names().map(<[String]>::to_vec);
        Ok(Self::ordered(values, channels, times, names))
    }

    fn from_data(console: &Console, path: &Path) -> Result<Self, Failure> {
        let dataset = one_series(console, path)?;
        let series = dataset.series.series(0);
        Ok(Self::ordered(series.values().to_vec(), series.channels(), Vec::new(), None))
    }

    /// Drops late and duplicate rows and finds the gaps.
    fn ordered(values: Vec<f64>, channels: usize, times: Vec<String>, names: Option<Vec<String>>) -> Self {
        let rows = values.len() / channels.max(1);
        let step = (times.len() == rows).then(|| median_step(times.iter().map(String::as_str))).flatten();
        let mut log = Self {
            values: Vec::new(),
            channels,
            breaks: Vec::new(),
            times: Vec::new(),
            names,
            step,
            counts: Counts::default(),
        };
        let mut order = Order::new(step.map(|(step, _)| step), GAP_LIMIT);
        for (at, row) in values.chunks_exact(channels.max(1)).enumerate() {
            let time = times.get(at);
            match order.judge(time.map(String::as_str)) {
                Follows::Late => log.counts.late += 1,
                Follows::Duplicate => log.counts.duplicate += 1,
                follows => {
                    if follows == Follows::AfterGap {
                        log.counts.gaps += 1;
                        log.breaks.push(log.values.len() / channels);
                    }
                    log.counts.missing += u64::from(row.iter().any(|value| value.is_nan()));
                    log.values.extend_from_slice(row);
                    log.times.extend(time.cloned());
                }
            }
        }
        log
    }

    fn joined(mut self, next: Self, path: &Path) -> Result<Self, Failure> {
        if next.channels != self.channels || next.names != self.names {
            let problem = "its channels are not those of the first log; give logs with the same columns";
            return Err(Error::file(path, problem).into());
        }
        let rows = self.rows();
        self.breaks.push(rows);
        self.breaks.extend(next.breaks.iter().map(|at| at + rows));
        self.values.extend(next.values);
        self.times.extend(next.times);
        self.counts.late += next.counts.late;
        self.counts.duplicate += next.counts.duplicate;
        self.counts.gaps += next.counts.gaps + 1;
        self.counts.missing += next.counts.missing;
        Ok(self)
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.channels.max(1)
    }

    pub fn recording(&self) -> Result<Recording<'_>, Error> {
        Recording::new(&self.values, self.channels)?.with_breaks(&self.breaks)
    }

    /// Seconds from one row to the next, where the times are dates.
    pub fn seconds(&self) -> Option<f64> {
        self.step.filter(|(_, dated)| *dated).map(|(step, _)| step)
    }
}

/// Some rows that follow each other.
#[derive(Default)]
pub struct Batch {
    /// Whether rows are missing before the first.
    pub after_gap: bool,
    pub values: Vec<f64>,
    /// As written; empty where there are none.
    pub times: Vec<String>,
}

/// The rows of a log for a model, some at a time.
pub struct Feed {
    source: Source,
    order: Order,
    channels: usize,
    pub counts: Counts,
    /// A row that was read, and belongs after a gap.
    held: Option<LogRow>,
}

enum Source {
    Text(Box<LogReader>),
    Data { values: Vec<f64>, at: usize },
}

impl Feed {
    pub fn open(console: &Console, path: &Path, detector: &LongDetector) -> Result<Self, Failure> {
        let source = if is_log(path) {
            Source::Text(Box::new(LogReader::open(path, detector.channel_names())?))
        } else {
            let dataset = one_series(console, path)?;
            Source::Data { values: dataset.series.series(0).values().to_vec(), at: 0 }
        };
        let order = order_of(detector);
        Ok(Self { source, order, channels: detector.channels(), counts: Counts::default(), held: None })
    }

    /// The next rows; nothing at the end.
    pub fn next(&mut self) -> Result<Option<Batch>, Failure> {
        let mut batch = Batch::default();
        if let Some(row) = self.held.take() {
            batch.after_gap = true;
            batch.push(row);
        }
        while batch.values.len() < BATCH * self.channels {
            let Some(row) = self.read()? else { break };
            match self.order.judge(row.time.as_deref()) {
                Follows::Late => self.counts.late += 1,
                Follows::Duplicate => self.counts.duplicate += 1,
                Follows::AfterGap => {
                    self.counts.gaps += 1;
                    self.held = Some(row);
                    break;
                }
                Follows::Directly => {
                    self.counts.missing += u64::from(row.values.iter().any(|value| !value.is_finite()));
                    batch.push(row);
                }
            }
        }
        Ok((!batch.values.is_empty() || self.held.is_some()).then_some(batch))
    }

    fn read(&mut self) -> Result<Option<LogRow>, Failure> {
        match &mut self.source {
            Source::Text(reader) => {
                let mut row = LogRow::default();
                if !reader.read(&mut row)? {
                    return Ok(None);
                }
                check_width(reader, &row, self.channels)?;
                Ok(Some(row))
            }
            Source::Data { values, at } => {
                let row = values.get(*at..*at + self.channels).map(<[f64]>::to_vec);
                *at += self.channels;
                Ok(row.map(|values| LogRow { values, ..LogRow::default() }))
            }
        }
    }
}

impl Batch {
    pub fn push(&mut self, row: LogRow) {
        self.values.extend_from_slice(&row.values);
        self.times.extend(row.time);
    }
}

/// How rows for a model are judged by their times.
pub fn order_of(detector: &LongDetector) -> Order {
    Order::new(detector.time_step(), GAP_LIMIT)
}

/// An error where a row has other channels than the rest.
pub fn check_width(reader: &LogReader, row: &LogRow, channels: usize) -> Result<(), Error> {
    if row.values.len() == channels {
        return Ok(());
    }
    Err(reader.wrong(row.line, format!("{} values where {channels} are expected", row.values.len())))
}

/// Whether a file is read row by row.
fn is_log(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    !matches!(extension.as_str(), "ts" | "arff" | "npy" | "npz")
}

fn one_series(console: &Console, path: &Path) -> Result<Dataset, Failure> {
    let options = ReadOptions::default().with_csv_layout(CsvLayout::Recording);
    let dataset = varnorm::data::read(path, &options)?;
    console.notes(&dataset.notes);
    match dataset.series.len() {
        1 => Ok(dataset),
        n => {
            Err(Error::file(path, format!("it holds {n} series; windows are cut from one long recording"))
                .into())
        }
    }
}
