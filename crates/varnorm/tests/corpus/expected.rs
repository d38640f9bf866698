//! What is expected of a file.

use std::path::Path;

use varnorm::data::{Channel, Columns, CsvLayout, Dataset, ReadOptions, read};

/// A file of the corpus.
pub struct File {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub extension: &'static str,
    pub options: ReadOptions,
    pub expected: Expected,
    pub answers: Vec<Answer>,
}

/// What comes out.
pub enum Expected {
    Read(Reading),
    /// These words are in the refusal.
    Asks(&'static [&'static str]),
}

/// Options that answer a refusal, and what is read then.
pub struct Answer {
    pub options: ReadOptions,
    pub reading: Reading,
}

/// What is read.
#[derive(Clone, Default)]
pub struct Reading {
    pub lengths: Vec<usize>,
    pub channels: Option<Vec<&'static str>>,
    pub count: usize,
    pub step: Option<&'static str>,
    pub cases: Option<Vec<&'static str>>,
    pub notes: Vec<&'static str>,
    /// Values by step of all series and channel, to so many decimals; NaN for missing.
    pub values: Option<fn(usize, usize) -> f64>,
    pub tolerance: f64,
    pub first_time: Option<&'static str>,
}

/// One recording of so many steps with these channels, whose values are those of the made-up sensors.
pub fn recording(steps: usize, channels: &[&'static str]) -> Reading {
    Reading {
        lengths: vec![steps],
        channels: Some(channels.to_vec()),
        count: channels.len(),
        values: Some(super::made::sensor),
        tolerance: 0.0051,
        ..Reading::default()
    }
}

/// Series of these lengths.
pub fn several(lengths: &[usize], channels: &[&'static str]) -> Reading {
    Reading { lengths: lengths.to_vec(), ..recording(0, channels) }
}

impl Reading {
    pub fn apart(mut self, step: &'static str) -> Self {
        self.step = Some(step);
        self
    }

    pub fn noted(mut self, note: &'static str) -> Self {
        self.notes.push(note);
        self
    }

    pub fn cases(mut self, names: &[&'static str]) -> Self {
        self.cases = Some(names.to_vec());
        self
    }

    pub fn valued(mut self, values: fn(usize, usize) -> f64) -> Self {
        self.values = Some(values);
        self
    }

    pub fn from(mut self, first: &'static str) -> Self {
        self.first_time = Some(first);
        self
    }

    pub fn unnamed(mut self, count: usize) -> Self {
        self.channels = None;
        self.count = count;
        self
    }

    fn check(&self, found: &Dataset) -> Result<(), String> {
        let lengths: Vec<usize> = found.series.lengths().collect();
        same("lengths", &lengths, &self.lengths)?;
        let channels =
            found.channels.as_ref().map(|all| all.iter().map(Channel::to_string).collect::<Vec<_>>());
        let wanted =
            self.channels.as_ref().map(|all| all.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        same("channels", &channels, &wanted)?;
        same("count of channels", &found.series.channels(), &self.count)?;
        let step = found.sampling_step().map(|step| step.to_string());
        same("sampling step", &step.as_deref(), &self.step)?;
        let cases = found.case_names.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
        if self.cases.is_some() {
            same("case names", &cases, &self.cases)?;
        }
        if let Some(first) = self.first_time {
            same(
                "first time",
                &found.times.as_ref().map(|times| times.written(0).into_owned()).as_deref(),
                &Some(first),
            )?;
        }
        for note in &self.notes {
            if !found.notes.iter().any(|found| found.contains(note)) {
                return Err(format!("no note `{note}` among {:?}", found.notes));
            }
        }
        let Some(values) = self.values else { return Ok(()) };
        for (at, &value) in found.series.values().iter().enumerate() {
            let (step, channel) = (at / self.count, at % self.count);
            let expected = values(step, channel);
            let close = (value - expected).abs() <= self.tolerance
                || (value.is_nan() && expected.is_nan())
                || value == expected;
            if !close {
                return Err(format!("step {step}, channel {channel}: {value} where {expected} is expected"));
            }
        }
        Ok(())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} where {expected:?} is expected")) }
}

impl File {
    /// Writes the file and reads it.
    pub fn check(&self, folder: &Path) -> Result<(), String> {
        match (self.open(folder, &self.options), &self.expected) {
            (Ok(found), Expected::Read(reading)) => reading.check(&found),
            (Ok(found), Expected::Asks(_)) => Err(format!(
                "read as {} series of {} channels ({:?}) where it should be refused",
                found.series.len(),
                found.series.channels(),
                found.series.lengths().take(3).collect::<Vec<_>>()
            )),
            (Err(error), Expected::Read(_)) => Err(format!("refused: {error}")),
            (Err(error), Expected::Asks(words)) => match words.iter().find(|word| !error.contains(**word)) {
                Some(word) => Err(format!("the refusal has no `{word}`: {error}")),
                None => Ok(()),
            },
        }
    }

    fn open(&self, folder: &Path, options: &ReadOptions) -> Result<Dataset, String> {
        let path = folder.join(format!("file.{}", self.extension));
        std::fs::write(&path, &self.bytes).unwrap();
        read(&path, options).map_err(|error| error.to_string())
    }
}

impl Answer {
    pub fn check(&self, file: &File, folder: &Path) -> Result<(), String> {
        self.reading.check(&file.open(folder, &self.options)?)
    }
}

/// Options by their words: `layout=wide time=Date=dmy decimal=comma`.
pub fn options(words: &str) -> ReadOptions {
    let (mut options, mut columns) = (ReadOptions::default(), Columns::default());
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap();
        let list = || value.split(',').map(String::from).collect::<Vec<_>>();
        match name {
            "layout" => options = options.with_csv_layout(value.parse::<CsvLayout>().unwrap()),
            "time" => columns = columns.with_time(value.to_string()),
            "case" => columns = columns.with_case(value.to_string()),
            "columns" => columns = columns.with_channels(list()),
            "ignore" => columns = columns.with_ignore(list()),
            "decimal" => columns = columns.with_decimal(value.parse::<varnorm::data::Decimal>().unwrap()),
            "skip" => columns = columns.with_skip(value.parse().unwrap()),
            other => panic!("{other}"),
        }
    }
    options.with_columns(columns)
}
