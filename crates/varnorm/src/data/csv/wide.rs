//! Wide CSV: one row is one series.

use crate::data::{Channel, Dataset, LabelKind, SeriesSet};
use crate::error::{Error, Result};

use super::super::{label::of_kind, names, text};
use super::table::{Head, Role, Row, Table};

/// Where each channel's steps are: `columns[channel][step]`.
struct Layout {
    columns: Vec<Vec<usize>>,
    channels: Option<Vec<Channel>>,
}

pub(super) fn read(table: &Table<'_>, notes: &mut Vec<String>) -> Result<Dataset> {
    if let Some(time) = table.column(Role::Time) {
        return Err(Error::file(
            table.path,
            format!(
                "the wide layout has one row per series and no place for the time column `{}`; state \
                 another layout, \
                 or rename or remove the column",
                table.names[time]
            ),
        ));
    }
    let label = table.label().or_else(|| headless_label(table));
    let layout = layout(table, label.map(|l| l.0), notes)?;
    let mut series = SeriesSet::new(layout.columns.len())?;
    for row in &table.rows {
        // Without a header, a short row with a label would have it in the wrong column.
        if label.is_some() && table.head == Head::None && row.width() != table.names.len() {
            return Err(table.ragged(row));
        }
        series.push(&one_series(table, row, &layout)?)?;
    }
    if table.head != Head::Named && series.len() > 1 && series.equal_length() == Some(1) {
        notes.push(
            "every row was read as a series of one step; if the file is one recording, state `--csv-layout \
             recording`"
                .into(),
        );
    }
    let column = |c: usize| table.rows.iter().map(|row| row.cell(c).to_string()).collect::<Vec<_>>();
    let case = table.column(Role::Case).or_else(|| table.column(Role::Index));
    Ok(Dataset {
        labels: label.map(|(c, kind)| of_kind(kind, column(c))),
        case_names: case.and_then(|c| names::cases(column(c))),
        channels: layout.channels,
        ..Dataset::new(names::from_path(table.path), series)
    })
}

/// Without a header, a last column with a text in it is the label.
fn headless_label(table: &Table<'_>) -> Option<(usize, LabelKind)> {
    let last = table.names.len().checked_sub(1)?;
    let has_text = table.rows.iter().any(|row| text::value(row.cell(last)).is_none());
    (table.head == Head::None && has_text).then_some((last, LabelKind::Class))
}

/// `ax_12` is step 12 of channel `ax`.
pub(super) fn channel_and_step(name: &str) -> Option<(&str, usize)> {
    let (channel, step) = name.rsplit_once('_')?;
    let plain = !channel.is_empty() && step.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| step.parse().ok()).flatten().map(|step| (channel, step))
}

fn layout(table: &Table<'_>, label: Option<usize>, notes: &mut Vec<String>) -> Result<Layout> {
    let values: Vec<usize> = table.values().filter(|c| Some(*c) != label).collect();
    if values.is_empty() {
        return Err(Error::file(table.path, "there is no column of values; add one"));
    }
    let parts: Vec<_> =
        values.iter().filter_map(|&c| Some((c, channel_and_step(&table.names[c])?))).collect();
    if table.head == Head::Named && parts.len() == values.len() {
        return by_channel(table, &parts);
    }
    if !parts.is_empty() {
        notes.push(
            "only some columns are named `channel_step`; all were taken for steps of one channel".into(),
        );
    }
    Ok(Layout { columns: vec![values], channels: None })
}

fn by_channel(table: &Table<'_>, parts: &[(usize, (&str, usize))]) -> Result<Layout> {
    let mut channels: Vec<(&str, Vec<(usize, usize)>)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for &(column, (name, step)) in parts {
        let at = *known.entry(name).or_insert_with(|| {
            channels.push((name, Vec::new()));
            channels.len() - 1
        });
        channels[at].1.push((step, column));
    }
    let first = parts.iter().map(|p| p.1.1).min().unwrap_or(0).min(1);
    let steps = channels.iter().map(|c| c.1.len()).max().unwrap_or(0);
    for (name, columns) in &mut channels {
        columns.sort_unstable();
        let gap = (0..steps).find(|&i| columns.get(i).is_none_or(|c| c.0 != first + i));
        if let Some(step) = gap.map(|i| first + i) {
            return Err(Error::file(
                table.path,
                format!(
                    "there should be exactly one column `{name}_{step}`; number the steps of every channel \
                     from {first} \
                     to {} without gaps",
                    first + steps - 1
                ),
            ));
        }
    }
    Ok(Layout {
        channels: names::channels(channels.iter().map(|c| c.0.to_string()).collect()),
        columns: channels.into_iter().map(|c| c.1.into_iter().map(|s| s.1).collect()).collect(),
    })
}

fn one_series(table: &Table<'_>, row: &Row, layout: &Layout) -> Result<Vec<f64>> {
    let filled = |columns: &Vec<usize>| columns.iter().rposition(|&c| !row.cell(c).is_empty());
    let Some(last) = layout.columns.iter().filter_map(filled).max() else {
        return Err(table.wrong(row, "the series has no values; give at least one, or drop the row"));
    };
    let mut values = Vec::with_capacity((last + 1) * layout.columns.len());
    for step in 0..=last {
        for columns in &layout.columns {
            values.push(table.value(row, columns[step])?);
        }
    }
    Ok(values)
}
