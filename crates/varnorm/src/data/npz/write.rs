//! Writes `.npy` and `.npz` files.

use std::io::{self, Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::data::{Channel, LabelKind, Labels};
use crate::error::Result;

use super::super::text;
use super::super::view::{Loss, View};
use super::header::npy_header;

/// The numbers only.
pub(in super::super) fn write_npy<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    if view.series.equal_length().is_none() {
        return Err(loss.refuse("series of unequal length"));
    }
    let view = view
        .without_labels(loss)?
        .without_case_names(loss)?
        .without_channel_names(loss)?
        .without_times(loss)?;
    Ok(move |out: &mut dyn Write| out.write_all(&numbers(&view)))
}

/// Everything that a data set has but its notes.
pub(in super::super) fn write_npz<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    let ends_well = |t: &str| !t.ends_with('\0');
    let why = "NumPy drops zero bytes at its end";
    let view = view
        .labels_if(loss, ends_well, why)?
        .case_names_if(loss, ends_well, why)?
        .times_if(loss, ends_well, why)?;
    let ends_badly = |c: &&Channel| !ends_well(&c.name) || !ends_well(c.unit.as_deref().unwrap_or_default());
    let view = match view.channels.and_then(|channels| channels.iter().find(ends_badly)) {
        Some(_) => view.without_channel_names(loss)?,
        None => view,
    };
    Ok(move |out: &mut dyn Write| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in arrays(&view) {
            zip.start_file(format!("{name}.npy"), entry_options(bytes.len()))?;
            zip.write_all(&bytes)?;
        }
        out.write_all(zip.finish()?.get_ref())
    })
}

/// Same data, same bytes: no time of day in the file.
fn entry_options(size: usize) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .large_file(u32::try_from(size).is_err())
}

fn arrays(view: &View<'_>) -> Vec<(&'static str, Vec<u8>)> {
    let (series, steps) = (view.series.len(), longest(view));
    let mut arrays = vec![("X", numbers(view))];
    if view.series.equal_length().is_none() {
        let lengths: Vec<u8> = view.series.lengths().flat_map(|l| (l as i64).to_le_bytes()).collect();
        arrays.push(("lengths", [npy_header("<i8", &[series]), lengths].concat()));
    }
    if let Some(labels) = view.labels {
        arrays.extend(label_arrays(labels));
    }
    if let Some(names) = view.case_names {
        arrays.push(("case_names", texts(names, &[series])));
    }
    if let Some(channels) = view.channels {
        let shape = [channels.len()];
        arrays.push(("channel_names", texts(&Channel::names(channels), &shape)));
        let units: Vec<String> = channels.iter().map(|c| c.unit.clone().unwrap_or_default()).collect();
        if units.iter().any(|unit| !unit.is_empty()) {
            arrays.push(("channel_units", texts(&units, &shape)));
        }
    }
    if let Some(times) = view.times {
        arrays.extend(times.unit().map(|unit| ("time_unit", texts(&[unit.to_string()], &[]))));
        arrays.push(("times", texts(&padded_times(view, steps), &[series, steps])));
    }
    arrays.push(("name", texts(&[view.name.to_string()], &[])));
    arrays
}

fn longest(view: &View<'_>) -> usize {
    view.series.lengths().max().unwrap_or(0)
}

/// `X`: series x steps x channels, padded with NaN.
fn numbers(view: &View<'_>) -> Vec<u8> {
    let (steps, channels) = (longest(view), view.series.channels());
    let mut bytes = npy_header("<f8", &[view.series.len(), steps, channels]);
    bytes.reserve(view.series.len() * steps * channels * size_of::<f64>());
    for series in view.series.iter() {
        let padding = std::iter::repeat_n(&f64::NAN, (steps - series.steps()) * channels);
        bytes.extend(series.values().iter().chain(padding).flat_map(|v| v.to_le_bytes()));
    }
    bytes
}

fn label_arrays(labels: &Labels) -> Vec<(&'static str, Vec<u8>)> {
    let shape = [labels.values.len()];
    let number = |t: &String| text::value(t).filter(|&v| text::number(v) == *t);
    match labels.kind {
        LabelKind::Class => {
            let mut arrays = vec![("y", texts(&labels.values, &shape))];
            if labels.declared != Labels::classes(labels.values.clone()).declared {
                arrays.push(("classes", texts(&labels.declared, &[labels.declared.len()])));
            }
            arrays
        }
        // As numbers only if they read back in the spelling that they have here.
        LabelKind::Target => match labels.values.iter().map(number).collect::<Option<Vec<f64>>>() {
            Some(numbers) => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
                vec![("y", [npy_header("<f8", &shape), bytes].concat())]
            }
            None => {
                vec![("y", texts(&labels.values, &shape)), ("label_kind", texts(&["target".into()], &[]))]
            }
        },
    }
}

fn padded_times(view: &View<'_>, steps: usize) -> Vec<String> {
    let pad = |times: Vec<String>| {
        let padding = std::iter::repeat_n(String::new(), steps - times.len());
        times.into_iter().chain(padding).collect::<Vec<_>>()
    };
    view.times_by_series().flatten().flat_map(pad).collect()
}

/// Texts of one width in UTF-32, as NumPy's `U` type has them.
fn texts(texts: &[String], shape: &[usize]) -> Vec<u8> {
    // NumPy has no use for texts of width zero.
    let width = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = npy_header(&format!("<U{width}"), shape);
    for text in texts {
        let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        bytes.extend(letters.flat_map(u32::to_le_bytes));
    }
    bytes
}
