//! The `.arff` format of the UEA archive (Weka).
//!
//! Multivariate files have one relational attribute: a quoted cell with the two characters `\n` between
//! channels. Univariate files have one numeric attribute per step. Either is followed by the class.
//!
//! Every line is as long as the longest series, so shorter series are padded with `?`. On reading, trailing
//! steps at which *all* channels are `?` are taken for padding and stripped; a series that really ends in
//! such a step cannot be written. Timestamps, case names and channel names have no place here.

mod cells;
mod header;
mod write;

use std::path::Path;

use crate::data::{Dataset, LabelKind, ReadLimits, SeriesSet};
use crate::error::{Error, Result};

use super::text;
use cells::Cell;
use header::{Header, Shape};

pub(super) use write::write;

/// Reads an `.arff` file from memory.
pub(super) fn read(path: &Path, bytes: &[u8], limits: &ReadLimits) -> Result<Dataset> {
    let mut notes = Vec::new();
    let decoded = text::decode(path, bytes, &mut notes)?;
    let mut lines = text::lines(&decoded, &['%']);
    let header = Header::read(path, &mut lines)?;
    let mut series: Option<SeriesSet> = None;
    let mut labels = Vec::new();
    for (number, line) in lines {
        let wrong = |problem: String| Error::parse(path, number, problem);
        let before = series.as_ref().map_or(0, |series| series.values().len());
        limits.room(before.saturating_add(text::most_values(line)), 8)?;
        let (channels, label) = one_series(line, &header).map_err(wrong)?;
        let set = match &mut series {
            Some(set) => set,
            none => none.insert(SeriesSet::new(channels.len())?),
        };
        if channels.len() != set.channels() {
            return Err(wrong(format!(
                "{} where the lines above have {}; give every series the same channels",
                text::count(channels.len(), "channel"),
                set.channels()
            )));
        }
        set.push(&without_padding(text::by_steps(&channels), channels.len()).map_err(wrong)?)?;
        set.admit_last(limits)?;
        labels.extend(label);
    }
    let Some(series) = series else {
        return Err(Error::file(path, "no series follow the `@data` line; give at least one line of values"));
    };
    let labels = header.label.as_ref().map(|class| {
        let mut all = super::label::of_kind(class.kind, labels);
        if let Some(names) = &class.names {
            super::label::declare(&mut all, names.clone(), &mut notes);
        }
        all
    });
    let name = header.name.unwrap_or_else(|| super::names::from_path(path));
    Ok(Dataset { labels, notes, ..Dataset::new(name, series) })
}

fn one_series(line: &str, header: &Header) -> Result<(Vec<Vec<f64>>, Option<String>), String> {
    if line.starts_with('{') {
        return Err("sparse lines, `{...}`, are not supported; write every value".into());
    }
    let mut row = cells::split(line)?;
    if row.len() != header.attributes {
        return Err(format!(
            "{} where the header declares {}; give one cell per attribute and put the channels of a series \
             into \
             one quoted cell",
            text::count(row.len(), "cell"),
            text::count(header.attributes, "attribute")
        ));
    }
    let label = match &header.label {
        Some(class) => Some(label(row.remove(class.position), class.kind)?),
        None => None,
    };
    let channels = match header.shape {
        Shape::Univariate => vec![univariate(&row)?],
        Shape::Relational => relational(&row[0])?,
    };
    Ok((channels, label))
}

fn label(cell: Cell<'_>, kind: LabelKind) -> Result<String, String> {
    let label = cell.text();
    if kind == LabelKind::Target && text::value(&label).is_none() {
        return Err(format!("the target {} is not a number; write a number", text::quote(&label)));
    }
    Ok(label)
}

fn univariate(row: &[Cell<'_>]) -> Result<Vec<f64>, String> {
    row.iter().enumerate().map(|(step, cell)| value(0, step, &cell.text())).collect()
}

fn relational(cell: &Cell<'_>) -> Result<Vec<Vec<f64>>, String> {
    let mut channels: Vec<Vec<f64>> = Vec::new();
    for (c, part) in cell.raw.split("\\n").enumerate() {
        let channel: Vec<f64> =
            part.split(',').enumerate().map(|(step, v)| value(c, step, v)).collect::<Result<_, _>>()?;
        if let Some(first) = channels.first().filter(|first| first.len() != channel.len()) {
            return Err(format!(
                "channel 0 has {} and channel {c} has {}; give the channels of one series equal lengths, \
                 with `?` \
                 for missing values",
                text::count(first.len(), "value"),
                channel.len()
            ));
        }
        channels.push(channel);
    }
    Ok(channels)
}

fn value(channel: usize, step: usize, cell: &str) -> Result<f64, String> {
    text::value(cell).ok_or_else(|| {
        format!(
            "channel {channel}, step {step}: {} is not a number; write a number, or `?` for a missing value",
            text::quote(cell.trim())
        )
    })
}

fn without_padding(mut values: Vec<f64>, channels: usize) -> Result<Vec<f64>, String> {
    let last = values.iter().rposition(|v| !v.is_nan());
    let Some(last) = last else {
        return Err("all values of the series are missing; give at least one, or drop the line".into());
    };
    values.truncate((last / channels + 1) * channels);
    Ok(values)
}

#[cfg(test)]
mod tests;
