//! The `.ts` format of the UEA archive (sktime, aeon).
//!
//! One line per series: channels separated by `:`, values by `,`, then the label. With timestamps a value is
//! `(time,value)`. The header describes the data; where it is wrong, the data decide and a note says so.
//! Holds unequal lengths, missing values, timestamps and labels without spaces; no case or channel names.

mod header;
mod line;
mod write;

use std::path::Path;

use crate::data::{Dataset, LabelKind, Labels, ReadLimits, SeriesSet, Times};
use crate::error::{Error, Result};

use super::text;
use header::Header;
use line::Line;

pub(super) use write::write;

/// Reads a `.ts` file from memory.
pub(super) fn read(path: &Path, bytes: &[u8], limits: &ReadLimits) -> Result<Dataset> {
    let mut notes = Vec::new();
    let decoded = text::decode(path, bytes, &mut notes)?;
    let mut lines = text::lines(&decoded, &['#', '%']);
    let header = Header::read(path, &mut lines, &mut notes)?;
    let mut body = Body::default();
    for (number, text) in lines {
        let before = body.series.as_ref().map_or(0, |series| series.values().len());
        limits.room(before.saturating_add(text::most_values(text)), 8)?;
        body.add(path, number, text, &header)?;
        if let Some(series) = &body.series {
            series.admit_last(limits)?;
        }
    }
    let Some(series) = body.series.take() else {
        return Err(Error::file(path, "no series follow the `@data` line; give at least one line of values"));
    };
    let labels = body.labels(&header, &mut notes);
    header.compare(&series, body.times.is_some(), &mut notes);
    let name = header.name.clone().unwrap_or_else(|| super::names::from_path(path));
    Ok(Dataset { labels, times: body.times.map(Times::from_written), notes, ..Dataset::new(name, series) })
}

/// What the data lines add up to.
#[derive(Default)]
struct Body {
    series: Option<SeriesSet>,
    labels: Vec<String>,
    times: Option<Vec<String>>,
}

impl Body {
    fn add(&mut self, path: &Path, number: usize, text: &str, header: &Header) -> Result<()> {
        let wrong = |problem: String| Error::parse(path, number, problem);
        let line = Line::read(text, header.labels, header.timestamps == Some(true)).map_err(wrong)?;
        let channels = line.channels;
        let first = self.series.is_none();
        let series = match &mut self.series {
            Some(series) => series,
            none => none.insert(SeriesSet::new(channels)?),
        };
        if channels != series.channels() {
            return Err(wrong(different_channels(channels, series.channels(), header.labels)));
        }
        if !first && line.times.is_some() != self.times.is_some() {
            return Err(wrong(
                "some lines have timestamps, `(time,value)`, and some have none; write all in one way".into(),
            ));
        }
        series.push(&line.values)?;
        self.labels.extend(line.label);
        if let Some(times) = line.times {
            self.times.get_or_insert_default().extend(times);
        }
        Ok(())
    }

    fn labels(&mut self, header: &Header, notes: &mut Vec<String>) -> Option<Labels> {
        let kind = header.labels?;
        let mut labels = super::label::of_kind(kind, std::mem::take(&mut self.labels));
        if kind == LabelKind::Class {
            super::label::declare(&mut labels, header.classes.clone(), notes);
        }
        Some(labels)
    }
}

fn different_channels(found: usize, expected: usize, labels: Option<LabelKind>) -> String {
    let channels = text::count(found, "channel");
    let after = if labels.is_some() { " before the label" } else { "" };
    format!(
        "{channels}{after} where the lines above have {expected}; separate channels by `:` and give every \
         series the same channels"
    )
}

#[cfg(test)]
mod tests;
