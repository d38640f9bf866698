//! The arrays of an `.npz` file beside the numbers.

use std::path::Path;

use crate::data::{Channel, Dataset, LabelKind, Labels, SeriesSet, TimeUnit, Times};
use crate::error::Result;

use super::super::{label, names, text};
use super::Archive;
use super::array::Array;

/// Everything but `X`, checked against the shape of `X`.
pub(super) struct Parts {
    name: Option<String>,
    labels: Option<Labels>,
    lengths: Option<Vec<usize>>,
    case_names: Option<Vec<String>>,
    channels: Option<Vec<Channel>>,
    time_unit: Option<TimeUnit>,
    /// Padded, as stored.
    times: Option<Vec<String>>,
}

impl Parts {
    pub fn read(archive: &mut Archive<'_>, [series, steps, channels]: [usize; 3]) -> Result<Self, String> {
        let lengths = part(archive, "lengths", series, |array| array.counts())?;
        if let Some(bad) = lengths.iter().flatten().find(|&&l| l == 0 || l > steps) {
            return Err(format!("array `lengths`: {bad} is not between 1 and the {steps} steps of `X`"));
        }
        let padded = series.checked_mul(steps).ok_or("the array `X` is too large")?;
        Ok(Self {
            name: texts(archive, "name", 1)?.and_then(|n| n.into_iter().next()),
            labels: labels(archive, series)?,
            lengths,
            case_names: texts(archive, "case_names", series)?,
            channels: channels_of(archive, channels)?,
            time_unit: time_unit(archive)?,
            times: texts(archive, "times", padded)?,
        })
    }

    pub fn dataset(self, path: &Path, values: Vec<f64>, [_, steps, channels]: [usize; 3]) -> Result<Dataset> {
        let (series, times) = match &self.lengths {
            None => (SeriesSet::from_equal(values, steps, channels)?, self.times),
            Some(lengths) => {
                let values = unpad(values, lengths, steps * channels, channels);
                let times = self.times.map(|times| unpad(times, lengths, steps, 1));
                (SeriesSet::from_lengths(values, lengths, channels)?, times)
            }
        };
        Ok(Dataset {
            labels: self.labels,
            case_names: self.case_names,
            channels: self.channels,
            times: times.map(|times| Times::from_written(times).with_unit(self.time_unit)),
            ..Dataset::new(self.name.unwrap_or_else(|| names::from_path(path)), series)
        })
    }
}

/// Bytes of a text in memory, beside its letters.
const TEXT: usize = 32;

/// Drops what lies beyond the length of each row.
fn unpad<T>(all: Vec<T>, lengths: &[usize], row: usize, width: usize) -> Vec<T> {
    let keep = |i: usize| i % row < lengths[i / row] * width;
    all.into_iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, v)| v).collect()
}

fn labels(archive: &mut Archive<'_>, series: usize) -> Result<Option<Labels>, String> {
    let read = |array: &Array<'_>| Ok((array.is_float(), array.texts()?));
    let Some((float, values)) = array(archive, "y", read)? else { return Ok(None) };
    if values.len() != series {
        return Err(wrong_size("y", values.len(), series));
    }
    let stated = texts(archive, "label_kind", 1)?.and_then(|k| k.into_iter().next());
    let kind = match stated.as_deref() {
        Some("target") => LabelKind::Target,
        Some("class") => LabelKind::Class,
        Some(other) => return Err(format!("array `label_kind`: `{other}` is neither `class` nor `target`")),
        None if float => LabelKind::Target,
        None => LabelKind::Class,
    };
    if kind == LabelKind::Target {
        return Ok(Some(Labels { kind, values, declared: Vec::new() }));
    }
    let mut labels = Labels::classes(values);
    if let Some(classes) = array(archive, "classes", |array| array.texts())? {
        let found = std::mem::replace(&mut labels.declared, classes);
        label::add_new(&mut labels.declared, found);
    }
    Ok(Some(labels))
}

/// An array of the archive, if it is there.
fn array<T>(
    archive: &mut Archive<'_>,
    name: &str,
    read: impl FnOnce(&Array<'_>) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let Some(bytes) = archive.entry(name)? else { return Ok(None) };
    // A text takes a place of its own beside its letters.
    let room = |array: &Array<'_>| {
        let count = array.shape().iter().fold(1usize, |product, axis| product.saturating_mul(*axis));
        archive.limits.check().and_then(|()| archive.limits.room(count, TEXT)).map_err(|e| e.to_string())
    };
    let value = Array::read(&bytes).and_then(|array| room(&array).and_then(|()| read(&array)));
    value.map(Some).map_err(|problem| format!("array `{name}`: {problem}"))
}

/// As [`array()`], with the number of values that it must have.
fn part<T>(
    archive: &mut Archive<'_>,
    name: &str,
    expected: usize,
    read: impl FnOnce(&Array<'_>) -> Result<Vec<T>, String>,
) -> Result<Option<Vec<T>>, String> {
    match array(archive, name, read)? {
        Some(values) if values.len() != expected => Err(wrong_size(name, values.len(), expected)),
        values => Ok(values),
    }
}

/// Names, and units beside them; an empty unit is none.
fn channels_of(archive: &mut Archive<'_>, channels: usize) -> Result<Option<Vec<Channel>>, String> {
    let Some(names) = texts(archive, "channel_names", channels)? else { return Ok(None) };
    let units = texts(archive, "channel_units", channels)?.unwrap_or_else(|| vec![String::new(); channels]);
    Ok(Some(names.into_iter().zip(units).map(|(name, unit)| Channel::new(name).with_unit(unit)).collect()))
}

fn time_unit(archive: &mut Archive<'_>) -> Result<Option<TimeUnit>, String> {
    let Some(word) = texts(archive, "time_unit", 1)?.and_then(|words| words.into_iter().next()) else {
        return Ok(None);
    };
    let wrong = || format!("array `time_unit`: {} is no unit of time, such as ms", text::quote(&word));
    TimeUnit::from_word(&word).map(Some).ok_or_else(wrong)
}

fn texts(archive: &mut Archive<'_>, name: &str, expected: usize) -> Result<Option<Vec<String>>, String> {
    part(archive, name, expected, |array| array.texts())
}

fn wrong_size(name: &str, found: usize, expected: usize) -> String {
    let found = crate::data::text::count(found, "value");
    format!(
        "array `{name}` has {found} where `X` asks for {expected}; save it in the shape that belongs to `X`"
    )
}
