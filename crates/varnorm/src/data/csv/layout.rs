//! Whether a row is a series or a step.

use crate::data::CsvLayout;
use crate::error::Result;

use super::super::text;
use super::choice::TimeAsked;
use super::header::Head;
use super::plan::{Kind, Plan};
use super::words::{self, Meaning};

/// Whether every row is a series: as stated, or as the header and the columns tell; an error where it could be both.
pub(super) fn rows_are_series(
    plan: &Plan<'_>,
    text: &str,
    first_line: usize,
    stated: CsvLayout,
) -> Result<bool> {
    match stated {
        CsvLayout::Wide => return Ok(true),
        CsvLayout::Long | CsvLayout::Recording => return Ok(false),
        CsvLayout::Auto => {}
    }
    let asked = matches!(&plan.time, Some(TimeAsked::Columns(columns, _)) if !columns.is_empty());
    let used = || plan.columns.iter().filter(|column| column.kind != Kind::Skip);
    if asked || used().any(|column| matches!(column.kind, Kind::Stamp(_)) || column.meaning == Meaning::Time)
    {
        return Ok(false);
    }
    match plan.head {
        Head::Times => Ok(true),
        Head::None => without_header(plan, text, first_line),
        Head::Counted => {
            let described = used().any(|column| {
                matches!(column.meaning, Meaning::Case | Meaning::MaybeCase | Meaning::Label(_))
            });
            if described { Ok(true) } else { Err(both(plan, text, first_line, "the columns 0, 1, 2, ...")) }
        }
        Head::Named => with_names(plan, text, first_line),
    }
}

fn without_header(plan: &Plan<'_>, text: &str, first_line: usize) -> Result<bool> {
    let width = plan.columns.len();
    let ragged =
        plan.sample.iter().any(|row| row.cells.len() != width && row.cells.iter().any(|c| !c.is_empty()));
    let uneven = ragged
        && plan.sample.iter().take(plan.sample.len().saturating_sub(1)).any(|row| row.cells.len() != width);
    if width == 1 {
        return Ok(false);
    }
    if uneven || (plan.sample.len() == 1 && plan.count_rows(text, first_line) == 1) {
        return Ok(true);
    }
    if first_grows(plan) {
        return Ok(false);
    }
    Err(both(plan, text, first_line, "a table without a header"))
}

/// Whether the first column grows by one step that is no count: a time.
fn first_grows(plan: &Plan<'_>) -> bool {
    let first: Option<Vec<f64>> = plan
        .sample
        .iter()
        .map(|row| row.cells.first().and_then(|cell| super::number::number(cell, plan.decimal)))
        .collect();
    let Some(first) = first.filter(|all| all.len() >= 3) else { return false };
    let step = first[1] - first[0];
    let regular = step > 0.0 && first.windows(2).all(|w| ((w[1] - w[0]) - step).abs() <= 1e-3 * step);
    regular && first.iter().any(|t| t.fract() != 0.0)
}

fn with_names(plan: &Plan<'_>, text: &str, first_line: usize) -> Result<bool> {
    let values = value_columns(plan);
    let numbered: Vec<(&str, usize)> =
        values.iter().filter_map(|&c| words::numbered(&plan.columns[c].name)).collect();
    let label =
        plan.columns.iter().position(|c| matches!(c.meaning, Meaning::Label(_)) && c.kind == Kind::Text);
    let case = plan
        .columns
        .iter()
        .position(|c| matches!(c.meaning, Meaning::Case | Meaning::MaybeCase) && c.kind != Kind::Skip);
    let distinct = |column: usize| {
        let mut seen = std::collections::HashSet::new();
        plan.sample.iter().all(|row| seen.insert(row.cells.get(column)))
    };
    // One step per series is no series, unless the file says so.
    if let ([one], Some(case)) = (&values[..], case)
        && super::wide::channel_and_step(&plan.columns[*one].name).is_some_and(|(_, step)| step == 0)
        && distinct(case)
    {
        return Ok(true);
    }
    if values.len() >= 2 && numbered.len() == values.len() && plan.channels.is_none() {
        if numbered.iter().all(|(prefix, _)| words::is_step_word(prefix)) {
            return Ok(true);
        }
        return match (case, label) {
            (Some(case), _) => Ok(distinct(case)),
            (None, Some(_)) => Ok(true),
            (None, None)
                if plan.columns[0].name.is_empty() && plan.columns[0].kind == Kind::Text && distinct(0) =>
            {
                Ok(true)
            }
            (None, None) => Err(both(
                plan,
                text,
                first_line,
                &format!("columns that are numbered ({})", listed(plan, &values)),
            )),
        };
    }
    if numbered.len() >= 4
        && numbered.len() * 3 >= values.len() * 2
        && is_counted(&numbered)
        && case.is_some_and(distinct)
    {
        return Err(both(
            plan,
            text,
            first_line,
            &format!("columns of which most are numbered ({})", listed(plan, &values)),
        ));
    }
    let varies = |column: usize| {
        plan.sample.iter().any(|row| row.cells.get(column) != plan.sample[0].cells.get(column))
    };
    if let Some(label) = label.filter(|&label| case.is_none() && varies(label)) {
        let word = plan.word(label);
        return Err(plan.two_ways(
            &format!("{}, which differs from row to row,", plan.named(label)),
            "as the label of one series per row (`--csv-layout wide`)",
            &format!("as a note on the steps of one recording (`--ignore {word}`)"),
        ));
    }
    Ok(false)
}

fn is_counted(numbered: &[(&str, usize)]) -> bool {
    numbered.windows(2).filter(|w| w[0].0 == w[1].0 && w[1].1 == w[0].1 + 1).count() * 2 > numbered.len()
}

/// Columns of numbers that no name takes.
pub(super) fn value_columns(plan: &Plan<'_>) -> Vec<usize> {
    let is_value = |c: &usize| {
        let column = &plan.columns[*c];
        column.kind.is_number()
            && !matches!(
                column.meaning,
                Meaning::Case | Meaning::MaybeCase | Meaning::Label(_) | Meaning::Time | Meaning::Index
            )
    };
    (0..plan.columns.len()).filter(is_value).collect()
}

fn listed(plan: &Plan<'_>, columns: &[usize]) -> String {
    let mut names: Vec<String> = columns.iter().take(4).map(|&c| text::cut(&plan.columns[c].name)).collect();
    if let Some(fourth) = names.get_mut(3) {
        *fourth = "...".into();
    }
    names.join(", ")
}

/// The error for rows that are steps or series.
fn both(plan: &Plan<'_>, text: &str, first_line: usize, what: &str) -> crate::error::Error {
    let (rows, columns) = (plan.count_rows(text, first_line), value_columns(plan).len());
    let channels = self::text::count(columns, "channel");
    plan.two_ways(
        what,
        &format!(
            "one recording of {} x {channels} (`--csv-layout recording`)",
            self::text::count(rows, "step")
        ),
        &format!(
            "{rows} series of {}, one per row (`--csv-layout wide`)",
            self::text::count(columns, "step")
        ),
    )
}
