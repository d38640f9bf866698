//! Writes CSV, wide or long.

use std::io::{self, Write};

use crate::data::{Channel, LabelKind, Labels};
use crate::error::Result;

use super::super::names;
use super::super::text;
use super::super::view::{Loss, View, is_trimmed};
use super::table::Role;

const TRIM: &str = "spaces at its ends are not kept";

/// One row per series.
pub(in super::super) fn write_wide<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    let view = prepared(view.without_times(loss)?, loss)?
        .channel_names_if(
            loss,
            |name| !name.is_empty() && is_trimmed(name) && !name.contains([';', '\t']),
            "it may not be empty, hold `;` or a tab, or have spaces at its ends",
        )?
        .without_units(loss)?;
    Ok(move |out: &mut dyn Write| {
        let mut writer = csv::Writer::from_writer(out);
        let steps = view.series.lengths().max().unwrap_or(0);
        writer.write_record(wide_header(&view, steps))?;
        for (i, series) in view.series.iter().enumerate() {
            let mut row: Vec<String> = Vec::new();
            row.extend(view.case_names.map(|names| names[i].clone()));
            row.extend(view.labels.map(|labels| labels.values[i].clone()));
            for channel in 0..series.channels() {
                row.extend(text::channel(series, channel).map(text::number));
                row.extend((series.steps()..steps).map(|_| String::new()));
            }
            writer.write_record(row)?;
        }
        writer.flush()
    })
}

fn wide_header(view: &View<'_>, steps: usize) -> Vec<String> {
    let mut header = Vec::new();
    header.extend(view.case_names.map(|_| "case_id".to_string()));
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
        is_trimmed(name) && Role::of(name) == Role::Value && !name.is_empty() && text::value(name).is_none()
    };
    let mut view = prepared(view, loss)?
        .channel_names_if(
            loss,
            names_a_channel,
            "it may not be empty, a number or the name of another column, or have spaces at its ends",
        )?
        .times_if(loss, is_trimmed, TRIM)?
        .without_units(loss)?;
    if let Some(twin) = view.case_names.and_then(twice) {
        loss.of(format!("the case name {} twice", text::quote(twin)))?;
        view.case_names = None;
    }
    if view.times_by_series().flatten().any(|times| !in_order(&times)) {
        loss.of("timestamps that are numbers and not in order")?;
        view.times = None;
    }
    Ok(move |out: &mut dyn Write| long_rows(&view, out))
}

fn long_rows(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header = vec!["case_id".to_string(), "time".into()];
    header.extend(channel_names(view));
    header.extend(view.labels.map(label_header));
    writer.write_record(&header)?;
    for (i, (series, times)) in view.series.iter().zip(view.times_by_series()).enumerate() {
        let case = view.case_names.map_or_else(|| i.to_string(), |names| names[i].clone());
        for step in 0..series.steps() {
            let time = times.as_ref().map_or_else(|| step.to_string(), |times| times[step].clone());
            let mut row = vec![case.clone(), time];
            row.extend(series.step(step).iter().map(|&v| text::number(v)));
            row.extend(view.labels.map(|labels| labels.values[i].clone()));
            writer.write_record(row)?;
        }
    }
    writer.flush()
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
