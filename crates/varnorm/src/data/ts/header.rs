//! The lines of a `.ts` file up to `@data`.

use std::path::Path;

use crate::data::{LabelKind, SeriesSet};
use crate::error::{Error, Result};

use super::super::text;

/// What the header says; `None` where it says nothing.
#[derive(Default)]
pub(super) struct Header {
    pub name: Option<String>,
    pub labels: Option<LabelKind>,
    pub classes: Vec<String>,
    pub timestamps: Option<bool>,
    missing: Option<bool>,
    univariate: Option<bool>,
    equal_length: Option<bool>,
    dimensions: Option<usize>,
    series_length: Option<usize>,
}

impl Header {
    /// Takes the lines up to and with `@data`.
    pub fn read<'a>(
        path: &Path,
        lines: &mut impl Iterator<Item = (usize, &'a str)>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let mut header = Self::default();
        for (number, line) in lines {
            let wrong = |problem: String| Error::parse(path, number, problem);
            let Some(rest) = line.strip_prefix('@') else {
                return Err(wrong(format!(
                    "{} stands before the `@data` line; put `@data` on a line of its own above the first \
                     series",
                    text::quote(line)
                )));
            };
            let (key, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if key.eq_ignore_ascii_case("data") {
                return Ok(header);
            }
            header.set(key, rest.trim(), notes).map_err(wrong)?;
        }
        Err(Error::file(
            path,
            "there is no `@data` line; put `@data` on a line of its own above the first series",
        ))
    }

    fn set(&mut self, key: &str, rest: &str, notes: &mut Vec<String>) -> Result<(), String> {
        match key.to_ascii_lowercase().as_str() {
            "problemname" => self.name = (!rest.is_empty()).then(|| rest.into()),
            "timestamps" => self.timestamps = flag(key, rest, notes),
            "missing" => self.missing = flag(key, rest, notes),
            "univariate" => self.univariate = flag(key, rest, notes),
            "equallength" => self.equal_length = flag(key, rest, notes),
            "dimension" | "dimensions" => self.dimensions = number(key, rest, notes),
            "serieslength" => self.series_length = number(key, rest, notes),
            "classlabel" => self.set_labels(LabelKind::Class, key, rest)?,
            "targetlabel" => self.set_labels(LabelKind::Target, key, rest)?,
            _ => notes.push(format!("unknown header key `@{key}` ignored")),
        }
        Ok(())
    }

    fn set_labels(&mut self, kind: LabelKind, key: &str, rest: &str) -> Result<(), String> {
        let mut words = rest.split_whitespace();
        let flag = words.next().unwrap_or("");
        if flag.eq_ignore_ascii_case("false") {
            return Ok(());
        }
        if !flag.eq_ignore_ascii_case("true") {
            return Err(format!(
                "`@{key}` is followed by {}; write `true` or `false` first, then the class names",
                text::quote(flag)
            ));
        }
        if self.labels.is_some_and(|other| other != kind) {
            return Err("`@classLabel` and `@targetLabel` are both true; keep one of them".into());
        }
        self.labels = Some(kind);
        if kind == LabelKind::Class {
            self.classes = words.map(String::from).collect();
        }
        Ok(())
    }

    /// Notes where the header and the data disagree.
    pub fn compare(&self, series: &SeriesSet, timestamps: bool, notes: &mut Vec<String>) {
        let channels = text::count(series.channels(), "channel");
        let steps = text::step_range(series.lengths());
        let missing = series.values().iter().any(|v| v.is_nan());
        let mut flag = |key: &str, said: Option<bool>, is: bool, fact: &str| {
            if let Some(said) = said.filter(|&said| said != is) {
                notes.push(format!("the header says `@{key} {said}`, but {fact}; the data decide"));
            }
        };
        let held = |is: bool, what: &str| format!("the series have {}{what}", if is { "" } else { "no " });
        flag("timeStamps", self.timestamps, timestamps, &held(timestamps, "timestamps"));
        flag("missing", self.missing, missing, &held(missing, "missing values"));
        flag("univariate", self.univariate, series.channels() == 1, &format!("the series have {channels}"));
        let equal = series.equal_length().is_some();
        flag("equalLength", self.equal_length, equal, &format!("the series have {steps}"));
        if let Some(said) = self.dimensions.filter(|&said| said != series.channels()) {
            notes.push(format!(
                "the header says `@dimensions {said}`, but the series have {channels}; the data decide"
            ));
        }
        if let Some(said) = self.series_length.filter(|&said| series.lengths().any(|l| l != said)) {
            notes.push(format!(
                "the header says `@seriesLength {said}`, but the series have {steps}; the data decide"
            ));
        }
    }
}

fn flag(key: &str, rest: &str, notes: &mut Vec<String>) -> Option<bool> {
    let said = rest.to_ascii_lowercase().parse().ok();
    if said.is_none() {
        notes.push(format!("`@{key} {rest}` ignored: neither `true` nor `false`"));
    }
    said
}

fn number(key: &str, rest: &str, notes: &mut Vec<String>) -> Option<usize> {
    let said = rest.parse().ok();
    if said.is_none() {
        notes.push(format!("`@{key} {rest}` ignored: not a whole number"));
    }
    said
}
