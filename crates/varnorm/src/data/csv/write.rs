//! Writes CSV, wide or long.

use std::io::{self, Write};

use crate::data::{Channel, LabelKind, Labels};
use crate::error::Result;

use super::super::names;
use super::super::text;
use super::super::view::{Loss, View, is_trimmed};
use super::sniff::{Look, is_comment};
use super::words::{Meaning, meaning, name_and_unit};

const TRIM: &str = "spaces at its ends are not kept";

/// One row per series.
pub(in super::super) fn write_wide<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    let view = prepared(view.without_times(loss)?, loss)?
        .channel_names_if(
            loss,
            |name| !name.is_empty() && is_trimmed(name),
            "it may not be empty or have spaces at its ends",
        )?
        .without_units(loss)?;
    let view = one_name_each(view, loss)?;
    Ok(move |out: &mut dyn Write| {
        let steps = view.series.lengths().max().unwrap_or(0);
        line(out, &wide_header(&view, steps))?;
        for (i, series) in view.series.iter().enumerate() {
            // Rows with names of their own are series: the reader is told so even where nobody named them.
            let mut row = vec![view.case_names.map_or_else(|| i.to_string(), |names| names[i].clone())];
            row.extend(view.labels.map(|labels| labels.values[i].clone()));
            for channel in 0..series.channels() {
                row.extend(text::channel(series, channel).map(text::number));
                row.extend((series.steps()..steps).map(|_| String::new()));
            }
            line(out, &row)?;
        }
        Ok(())
    })
}

fn wide_header(view: &View<'_>, steps: usize) -> Vec<String> {
    let mut header = vec!["case_id".to_string()];
    header.extend(view.labels.map(label_header));
    for channel in channel_names(view) {
        header.extend((0..steps).map(|step| format!("{channel}_{step}")));
    }
    header
}

/// One row per step.
pub(in super::super) fn write_long<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    let names_a_channel = |name: &str| {
        is_trimmed(name)
            && !matches!(meaning(name), Meaning::Label(_))
            && !name.is_empty()
            && Look::of(name) == Look::Text
            && name_and_unit(name).1.is_none()
    };
    let mut view = prepared(view, loss)?
        .channel_names_if(
            loss,
            names_a_channel,
            "it may not be empty, a number, a unit in brackets or the name of another column, or have spaces at its ends",
        )?
        .times_if(loss, is_trimmed, TRIM)?;
    if !units_fit(&view) {
        view = view.without_units(loss)?;
    }
    let mut view = one_name_each(view, loss)?;
    if view.times_by_series().flatten().any(|times| !in_order(&times)) {
        loss.of("timestamps that are numbers and not in order")?;
        view.times = None;
    }
    Ok(move |out: &mut dyn Write| long_rows(&view, out))
}

fn long_rows(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let units = units_fit(view);
    let unit = view.times.and_then(crate::data::Times::unit).filter(|_| units);
    let mut header =
        vec!["case_id".to_string(), unit.map_or_else(|| "time".into(), |unit| format!("time [{unit}]"))];
    match view.channels.filter(|_| units) {
        Some(channels) => header.extend(channels.iter().map(Channel::to_string)),
        None => header.extend(channel_names(view)),
    }
    header.extend(view.labels.map(label_header));
    line(out, &header)?;
    for (i, (series, times)) in view.series.iter().zip(view.times_by_series()).enumerate() {
        let case = view.case_names.map_or_else(|| i.to_string(), |names| names[i].clone());
        for step in 0..series.steps() {
            let time = times.as_ref().map_or_else(|| step.to_string(), |times| times[step].clone());
            let mut row = vec![case.clone(), time];
            row.extend(series.step(step).iter().map(|&v| text::number(v)));
            row.extend(view.labels.map(|labels| labels.values[i].clone()));
            line(out, &row)?;
        }
    }
    Ok(())
}

/// Whether units in brackets after the names come back as they are.
fn units_fit(view: &View<'_>) -> bool {
    let fits = |channel: &Channel| {
        name_and_unit(&channel.to_string()) == (channel.name.clone(), channel.unit.clone())
    };
    view.channels.is_none_or(|channels| channels.iter().all(fits))
}

/// Series that share a name would be read as one.
fn one_name_each<'a>(mut view: View<'a>, loss: &mut Loss) -> Result<View<'a>> {
    if let Some(twin) = view.case_names.and_then(twice) {
        loss.of(format!("the case name {} twice", text::quote(twin)))?;
        view.case_names = None;
    }
    Ok(view)
}

/// One row; what could be taken for something else is quoted.
fn line(out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        let odd = cell.contains([',', '"', '\n', '\r', ';', '\t', '|'])
            || is_comment(cell)
            || (cells.len() == 1 && cell.is_empty());
        match odd {
            true => write!(out, "\"{}\"", cell.replace('"', "\"\""))?,
            false => out.write_all(cell.as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

/// What both layouts ask of labels and case names.
fn prepared<'a>(view: View<'a>, loss: &mut Loss) -> Result<View<'a>> {
    view.labels_if(loss, is_trimmed, TRIM)?.case_names_if(loss, is_trimmed, TRIM)
}

fn label_header(labels: &Labels) -> String {
    if labels.kind == LabelKind::Target { "target" } else { "label" }.into()
}

fn channel_names(view: &View<'_>) -> Vec<String> {
    match view.channels {
        Some(channels) => Channel::names(channels),
        None => (0..view.series.channels()).map(names::channel).collect(),
    }
}

fn twice(names: &[String]) -> Option<&str> {
    let mut seen = std::collections::HashSet::new();
    names.iter().map(String::as_str).find(|name| !seen.insert(*name))
}

/// The reader sorts by times that are numbers; times that are not stay as they are.
fn in_order(times: &[String]) -> bool {
    let numbers: Option<Vec<f64>> = times.iter().map(|t| text::value(t).filter(|v| !v.is_nan())).collect();
    numbers.is_none_or(|numbers| numbers.is_sorted())
}
