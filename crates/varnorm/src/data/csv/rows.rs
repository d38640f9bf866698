//! Files with one row per step: which rows make a series, and which columns are channels.

use crate::data::{Channel, CsvLayout, Dataset, LabelKind, Labels, ReadLimits, SeriesSet};
use crate::error::{Error, Result};

use super::super::{label::of_kind, names, text};
use super::axis::{self, Axis};
use super::case::{self, Series};
use super::header::Head;
use super::plan::{Kind, Plan};
use super::table::{Cells, Table};
use super::words::Meaning;

/// Reads a file with one row per step.
pub(super) fn read(
    plan: &mut Plan<'_>,
    text: &str,
    first_line: usize,
    layout: CsvLayout,
    limits: &ReadLimits,
) -> Result<Dataset> {
    let table = Table::read(plan, text, first_line, limits)?;
    let time = axis::choose(plan, &table)?;
    let series = case::split(plan, &table, &time, layout)?;
    limits.admit(series.len(), series.longest(), 0, 0)?;
    let label = label(plan);
    let channels = channels(plan, &table, &time.columns, &series.columns)?;
    let names: Vec<String> = channels.iter().map(|&c| channel_name(plan, c)).collect();
    let labels = label.map(|(c, kind)| labels(plan, &table, &series, c, kind)).transpose()?;
    let values = values(table, &channels, series.order.as_deref());
    let set = SeriesSet::from_lengths(values, &series.lengths(), channels.len())?;
    let named = plan.head == Head::Named;
    let described = channels.iter().zip(&names).map(|(&c, name)| {
        Channel::new(name.clone()).with_unit(plan.columns[c].unit.clone().unwrap_or_default())
    });
    let described: Vec<Channel> = described.collect();
    let plain = names::channels(names).is_none() && described.iter().all(|channel| channel.unit.is_none());
    Ok(Dataset {
        labels,
        case_names: series.names.and_then(names::cases),
        channels: Some(described).filter(|_| named && !plain),
        times: time.axis.into_times(series.order.as_deref(), &series.starts),
        ..Dataset::new(names::from_path(plan.path), set)
    })
}

fn channel_name(plan: &Plan<'_>, column: usize) -> String {
    match plan.columns[column].name.as_str() {
        "" => format!("column {}", column + 1),
        name => name.to_string(),
    }
}

/// The numbers of the channels, row by row in this order.
fn values(table: Table, channels: &[usize], order: Option<&[usize]>) -> Vec<f64> {
    let place = |c: &usize| match table.columns[*c] {
        Cells::Numbers(place) => place,
        _ => 0,
    };
    let places: Vec<usize> = channels.iter().map(place).collect();
    let width = table.width;
    if order.is_none() && places.iter().copied().eq(0..width) {
        return table.numbers;
    }
    if let Some(order) = order {
        return order
            .iter()
            .flat_map(|&row| places.iter().map(move |p| (row, *p)))
            .map(|(row, p)| table.numbers[row * width + p])
            .collect();
    }
    if places.is_sorted() {
        // In place: what is kept of a row never moves to the right.
        let mut numbers = table.numbers;
        let mut end = 0;
        for row in 0..table.rows {
            for place in &places {
                numbers[end] = numbers[row * width + place];
                end += 1;
            }
        }
        numbers.truncate(end);
        numbers.shrink_to_fit();
        return numbers;
    }
    (0..table.rows)
        .flat_map(|row| places.iter().map(move |p| row * width + p))
        .map(|at| table.numbers[at])
        .collect()
}

fn label(plan: &Plan<'_>) -> Option<(usize, LabelKind)> {
    plan.columns.iter().enumerate().find_map(|(i, column)| match (&column.kind, column.meaning) {
        (Kind::Text, Meaning::Label(kind)) => Some((i, kind)),
        _ => None,
    })
}

/// The columns that are channels; the others are told.
fn channels(plan: &mut Plan<'_>, table: &Table, time: &[usize], case: &[usize]) -> Result<Vec<usize>> {
    if let Some(asked) = plan.channels.clone() {
        if let Some(&wrong) = asked.iter().find(|&&c| !plan.columns[c].kind.is_number()) {
            return Err(Error::file(
                plan.path,
                format!("{} is no column of numbers; give others with `--columns`", plan.named(wrong)),
            ));
        }
        return Ok(asked);
    }
    let mut channels = Vec::new();
    let mut out: Vec<(&str, usize)> = Vec::new();
    for column in 0..plan.columns.len() {
        let one = &plan.columns[column];
        if time.contains(&column) || case.contains(&column) || one.kind == Kind::Skip {
            continue;
        }
        let Some(mut numbers) = table.numbers_of(column) else {
            match (one.meaning, &table.columns[column]) {
                (Meaning::Label(_), _) => {}
                (_, Cells::Words(words)) if words.words.iter().all(String::is_empty) => {}
                (_, Cells::Stamps(_)) => out.push(("more times", column)),
                _ => out.push(("words", column)),
            }
            continue;
        };
        let first = numbers.clone().next();
        let empty = |row: &super::sniff::Row| row.cells.get(column).is_none_or(String::is_empty);
        if numbers.clone().all(f64::is_nan) && plan.sample.iter().all(empty) {
            if !one.name.is_empty() || plan.head != Head::Named {
                out.push(("no values", column));
            }
        } else if one.meaning == Meaning::Index
            && axis::counts(&numbers.clone().collect::<Vec<_>>())
            && table.rows > 1
        {
            if !one.name.is_empty() {
                out.push(("the numbers of rows", column));
            }
        } else if plan.head != Head::Named
            && column == 0
            && plan.columns.len() > 1
            && table.rows > 2
            && axis::counts(&numbers.clone().collect::<Vec<_>>())
        {
            out.push(("the numbers of rows", column));
        } else if one.meaning == Meaning::Annotation && is_mark(&mut numbers) {
            out.push(("marks, not measurements", column));
        } else if one.meaning == Meaning::Time && !time.is_empty() {
            out.push(("more times", column));
        } else if one.meaning == Meaning::MaybeCase
            && case.is_empty()
            && first.is_some_and(|f| f.fract() == 0.0)
            && table.rows > 2
            && numbers.clone().all(|v| Some(v) == first)
        {
            out.push(("one value only", column));
        } else if one.meaning == Meaning::MaybeCase
            && case.is_empty()
            && table.rows > 2
            && axis::counts(&numbers.clone().collect::<Vec<_>>())
        {
            out.push(("the numbers of rows", column));
        } else {
            channels.push(column);
        }
    }
    for (what, column) in out {
        let (name, word) = (plan.named(column), plan.word(column));
        let more = if what == "words" || what == "no values" || what == "more times" {
            String::new()
        } else {
            format!("; `--columns` with {word} takes it in")
        };
        plan.notes.push(format!("{name} holds {what} and was left out{more}"));
    }
    let truths: Vec<String> =
        channels.iter().filter(|&&c| plan.columns[c].kind == Kind::Truth).map(|&c| plan.named(c)).collect();
    for name in truths {
        plan.notes.push(format!("{name}: true and false were read as 1 and 0"));
    }
    if channels.is_empty() {
        return Err(Error::file(plan.path, "there is no column of values; add one"));
    }
    one_name_each(plan, &channels)?;
    Ok(channels)
}

/// Whether there are at most two values: a mark.
fn is_mark(numbers: &mut dyn Iterator<Item = f64>) -> bool {
    let mut seen: Vec<f64> = Vec::new();
    for value in numbers.filter(|v| !v.is_nan()) {
        if !seen.contains(&value) {
            seen.push(value);
        }
        if seen.len() > 2 {
            return false;
        }
    }
    true
}

fn one_name_each(plan: &Plan<'_>, channels: &[usize]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for &column in channels {
        let name = plan.columns[column].name.as_str();
        if let Some(first) = seen.insert(name, column).filter(|_| !name.is_empty()) {
            return Err(Error::file(
                plan.path,
                format!(
                    "columns {} and {} are both named {}; give every channel its own name, or leave one out with `--ignore {}`",
                    first + 1,
                    column + 1,
                    text::quote(name),
                    column + 1
                ),
            ));
        }
    }
    Ok(())
}

fn labels(plan: &Plan<'_>, table: &Table, series: &Series, column: usize, kind: LabelKind) -> Result<Labels> {
    let Cells::Words(words) = &table.columns[column] else { return Ok(of_kind(kind, Vec::new())) };
    let row = |at: usize| series.order.as_ref().map_or(at, |order| order[at]);
    let mut values = Vec::with_capacity(series.len());
    for (i, range) in series.starts.windows(2).enumerate() {
        let first = row(range[0]);
        let label = words.ids[first];
        if let Some(other) = (range[0]..range[1]).map(row).find(|&r| words.ids[r] != label) {
            let name = series
                .names
                .as_ref()
                .map_or_else(|| "the recording".to_string(), |names| text::quote(&names[i]));
            let problem = format!(
                "{name} has the label {} here and {} in line {}; give all rows of a series the same label, or leave the column out with \
                 `--ignore {}`",
                text::quote(words.at(other)),
                text::quote(words.at(first)),
                table.line(first),
                plan.word(column)
            );
            return Err(plan.wrong(table.line(other), problem));
        }
        values.push(words.at(first).to_string());
    }
    Ok(of_kind(kind, values))
}

/// Whether the times say nothing.
pub(super) fn is_none(axis: &Axis) -> bool {
    matches!(axis, Axis::None | Axis::Words(_))
}
