//! Long CSV and recordings: one row is one step.

use std::collections::HashMap;

use crate::data::{Dataset, LabelKind, Labels, SeriesSet};
use crate::error::{Error, Result};

use super::super::{label::of_kind, names, text};
use super::table::{Head, Role, Row, Table};

/// Reads a table with a case and a time column.
pub(super) fn long(table: &Table<'_>, notes: &mut Vec<String>) -> Result<Dataset> {
    let (Some(case), Some(time)) = (table.column(Role::Case), table.column(Role::Time)) else {
        return Err(Error::file(
            table.path,
            "the long layout needs a case column and a time column; name them `case_id` and `time` in a \
             header",
        ));
    };
    if table.column(Role::Index).is_some() {
        notes.push("the first column has no name and was ignored".into());
    }
    let mut cases: Vec<(&str, Vec<&Row>)> = Vec::new();
    let mut known = HashMap::new();
    for row in &table.rows {
        let name = row.cell(case);
        let at = *known.entry(name).or_insert_with(|| {
            cases.push((name, Vec::new()));
            cases.len() - 1
        });
        cases[at].1.push(row);
    }
    let case_names = names::cases(cases.iter().map(|c| c.0.to_string()).collect());
    let dataset = steps(table, cases, Some(time), notes)?;
    Ok(Dataset { case_names, ..dataset })
}

/// Reads a table whose rows are the steps of one series.
pub(super) fn recording(table: &Table<'_>, notes: &mut Vec<String>) -> Result<Dataset> {
    if let Some(case) = table.column(Role::Case) {
        return Err(Error::file(
            table.path,
            format!(
                "a recording is one series and has no case column, but there is `{}`; state `--csv-layout \
                 long`, or \
                 rename or remove the column",
                table.names[case]
            ),
        ));
    }
    let time = table.column(Role::Time).or_else(|| table.column(Role::Index));
    steps(table, vec![("the recording", table.rows.iter().collect())], time, notes)
}

/// Cases of rows become series.
fn steps(
    table: &Table<'_>,
    mut cases: Vec<(&str, Vec<&Row>)>,
    time: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Dataset> {
    let columns = value_columns(table)?;
    if let Some(row) = table.rows.iter().find(|row| row.width() != table.names.len()) {
        return Err(table.ragged(row));
    }
    if let Some(time) = time {
        sort_by_time(&mut cases, time, notes);
    }
    let mut series = SeriesSet::new(columns.len())?;
    for (_, rows) in &cases {
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for row in rows {
            for &column in &columns {
                values.push(table.value(row, column)?);
            }
        }
        series.push(&values)?;
    }
    let text_of =
        |c: usize| cases.iter().flat_map(move |(_, rows)| rows.iter().map(move |r| r.cell(c).to_string()));
    let times = time.and_then(|c| names::times(text_of(c).collect(), series.lengths()));
    let channels = names::channels(columns.iter().map(|&c| table.names[c].clone()).collect());
    Ok(Dataset {
        labels: table.label().map(|(c, kind)| case_labels(table, &cases, c, kind)).transpose()?,
        channels: channels.filter(|_| table.head == Head::Named),
        times,
        ..Dataset::new(names::from_path(table.path), series)
    })
}

fn value_columns(table: &Table<'_>) -> Result<Vec<usize>> {
    let columns: Vec<usize> = table.values().collect();
    if columns.is_empty() {
        return Err(Error::file(table.path, "there is no column of values; add one"));
    }
    let mut seen = std::collections::HashSet::new();
    match columns.iter().find(|&&c| !seen.insert(&table.names[c])) {
        Some(&twin) => Err(Error::file(
            table.path,
            format!("two columns are named `{}`; give every channel its own name", table.names[twin]),
        )),
        None => Ok(columns),
    }
}

/// Times that are numbers put the steps of a case in order; other times are left as the file has them.
fn sort_by_time(cases: &mut [(&str, Vec<&Row>)], time: usize, notes: &mut Vec<String>) {
    let mut sorted = 0;
    for (_, rows) in cases {
        let Some(times) = rows.iter().map(|r| number(r.cell(time))).collect::<Option<Vec<f64>>>() else {
            continue;
        };
        if !times.is_sorted() {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            *rows = order.into_iter().map(|i| rows[i]).collect();
            sorted += 1;
        }
    }
    if sorted > 0 {
        notes.push(format!(
            "the steps of {sorted} series were not in the order of their times and were sorted"
        ));
    }
}

fn number(cell: &str) -> Option<f64> {
    text::value(cell).filter(|v| !v.is_nan()).map(|v| v + 0.0)
}

fn case_labels(
    table: &Table<'_>,
    cases: &[(&str, Vec<&Row>)],
    column: usize,
    kind: LabelKind,
) -> Result<Labels> {
    let mut values = Vec::with_capacity(cases.len());
    for (name, rows) in cases {
        let label = rows[0].cell(column);
        if let Some(row) = rows.iter().find(|row| row.cell(column) != label) {
            return Err(table.wrong(
                row,
                format!(
                    "{} has the label {} here and {} in line {}; give all rows of a series the same label",
                    text::quote(name),
                    text::quote(row.cell(column)),
                    text::quote(label),
                    rows[0].line
                ),
            ));
        }
        values.push(label.to_string());
    }
    Ok(of_kind(kind, values))
}
