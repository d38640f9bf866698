//! Wide CSV: one row is one series.

use crate::data::{Channel, Dataset, LabelKind, ReadLimits, SeriesSet};
use crate::error::{Error, Result};

use super::super::{label::of_kind, names, text};
use super::cells::{Records, Separator, plain, split};
use super::header::Head;
use super::layout::value_columns;
use super::number::Decimal;
use super::plan::{CaseAsked, Kind, Plan};
use super::sniff::is_comment;
use super::table::{not_a_value, value};
use super::words::{Meaning, numbered};

/// Where each channel's steps are: `columns[channel][step]`.
struct Layout {
    columns: Vec<Vec<usize>>,
    channels: Option<Vec<Channel>>,
}

pub(super) fn read(
    plan: &mut Plan<'_>,
    source: &str,
    first_line: usize,
    limits: &ReadLimits,
) -> Result<Dataset> {
    if let Some(time) = plan.columns.iter().find(|c| c.meaning == Meaning::Time && c.kind != Kind::Skip) {
        return Err(Error::file(
            plan.path,
            format!(
                "the wide layout has one row per series and no place for the time column `{}`; state another layout, or leave the column \
                 out with `--ignore {}`",
                time.name, time.name
            ),
        ));
    }
    let label = label(plan);
    let case = case(plan);
    // A word among the steps of a series is an error, not another column.
    for column in (0..plan.columns.len()).filter(|c| Some(*c) != label.map(|l| l.0) && Some(*c) != case) {
        let one = &mut plan.columns[column];
        if one.kind == Kind::Text && (numbered(&one.name).is_some() || plan.head == Head::Counted) {
            one.kind = Kind::Number { suffix: None };
        }
    }
    if plan.head == Head::None {
        widen(plan, source, first_line);
    }
    let layout = layout(plan, label.map(|l| l.0), case)?;
    let mut reader = Reader::new(plan, &layout, label.map(|l| l.0), case);
    let mut series = SeriesSet::new(layout.columns.len())?;
    let (mut labels, mut cases) = (Vec::new(), Vec::new());
    let mut footer: Option<(usize, String)> = None;
    for (line, record) in Records::new(source, plan.separator, first_line) {
        if line < plan.first || record.trim().is_empty() || is_comment(record) {
            continue;
        }
        if let Some((line, problem)) = footer.take() {
            return Err(plan.wrong(line, problem));
        }
        match reader.row(plan, record) {
            Ok(()) => {}
            Err(Some(problem)) => {
                footer = Some((line, problem));
                continue;
            }
            // Nothing but separators.
            Err(None) => continue,
        }
        let values = reader.series(&layout).ok_or_else(|| {
            plan.wrong(line, "the series has no values; give at least one, or drop the row")
        })?;
        series.push(values)?;
        series.admit_last(limits)?;
        labels.extend(label.map(|_| reader.label.clone()));
        cases.extend(case.map(|_| reader.case.clone()));
    }
    if let Some((line, problem)) = footer {
        return Err(plan.wrong(line, problem));
    }
    if plan.head != Head::Named && series.len() > 1 && series.equal_length() == Some(1) {
        plan.notes.push(
            "every row was read as a series of one step; if the file is one recording, state `--csv-layout recording`".into(),
        );
    }
    left_out(plan, label.map(|l| l.0), case);
    Ok(Dataset {
        labels: label.map(|(_, kind)| of_kind(kind, labels)),
        case_names: case.and_then(|_| names::cases(cases)),
        channels: layout.channels,
        ..Dataset::new(names::from_path(plan.path), series)
    })
}

/// Words that are neither names nor labels.
fn left_out(plan: &mut Plan<'_>, label: Option<usize>, case: Option<usize>) {
    for column in 0..plan.columns.len() {
        let used = Some(column) == label || Some(column) == case;
        if !used && plan.columns[column].kind == Kind::Text && !plan.columns[column].name.is_empty() {
            let name = plan.named(column);
            plan.notes.push(format!("{name} holds words and was left out"));
        }
    }
}

/// The label column; without a header, a last column of words.
fn label(plan: &Plan<'_>) -> Option<(usize, LabelKind)> {
    let named =
        plan.columns.iter().enumerate().find_map(|(i, column)| match (column.meaning, &column.kind) {
            (Meaning::Label(kind), Kind::Text) => Some((i, kind)),
            _ => None,
        });
    let last = plan.columns.len().checked_sub(1)?;
    let words = plan.head == Head::None && plan.columns[last].kind == Kind::Text;
    named.or_else(|| words.then_some((last, LabelKind::Class)))
}

/// The column that names the series.
fn case(plan: &Plan<'_>) -> Option<usize> {
    match &plan.case {
        CaseAsked::Columns(columns) => return columns.first().copied(),
        CaseAsked::None => return None,
        _ => {}
    }
    let used = |c: &usize| plan.columns[*c].kind != Kind::Skip;
    let by =
        |meaning: Meaning| (0..plan.columns.len()).filter(used).find(|&c| plan.columns[c].meaning == meaning);
    let unnamed = || (plan.head != Head::None && plan.columns[0].name.is_empty() && used(&0)).then_some(0);
    by(Meaning::Case).or_else(|| by(Meaning::MaybeCase)).or_else(unnamed)
}

/// Without a header, the longest row tells how many steps there are.
fn widen(plan: &mut Plan<'_>, source: &str, first_line: usize) {
    let mut cells = Vec::new();
    let mut width = plan.columns.len();
    if plan.columns.iter().any(|c| c.kind == Kind::Text) {
        return;
    }
    for (line, record) in Records::new(source, plan.separator, first_line) {
        if line >= plan.first && !is_comment(record) {
            split(record, plan.separator, &mut cells);
            width = width.max(cells.len());
        }
    }
    if let Some(last) = plan.columns.last().cloned() {
        plan.columns.resize(width, last);
    }
}

/// `ax_12` is step 12 of channel `ax`.
pub(super) fn channel_and_step(name: &str) -> Option<(&str, usize)> {
    let (channel, step) = name.rsplit_once('_')?;
    let plain = !channel.is_empty() && step.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| step.parse().ok()).flatten().map(|step| (channel, step))
}

fn layout(plan: &mut Plan<'_>, label: Option<usize>, case: Option<usize>) -> Result<Layout> {
    let values: Vec<usize> = match &plan.channels {
        Some(channels) => channels.clone(),
        None => value_columns(plan).into_iter().filter(|c| Some(*c) != label && Some(*c) != case).collect(),
    };
    if values.is_empty() {
        return Err(Error::file(plan.path, "there is no column of values; add one"));
    }
    let parts: Vec<_> =
        values.iter().filter_map(|&c| Some((c, channel_and_step(&plan.columns[c].name)?))).collect();
    if plan.head == Head::Named && parts.len() == values.len() {
        return by_channel(plan, &parts);
    }
    if !parts.is_empty() {
        plan.notes.push(
            "only some columns are named `channel_step`; all were taken for steps of one channel".into(),
        );
    }
    Ok(Layout { columns: vec![values], channels: None })
}

fn by_channel(plan: &Plan<'_>, parts: &[(usize, (&str, usize))]) -> Result<Layout> {
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
                plan.path,
                format!(
                    "there should be exactly one column `{name}_{step}`; number the steps of every channel from {first} to {} without gaps",
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

/// The cells of one row at a time.
struct Reader {
    /// By column; NaN where nothing is.
    values: Vec<f64>,
    /// Whether a cell has something in it.
    filled: Vec<bool>,
    wanted: Vec<bool>,
    label_column: Option<usize>,
    case_column: Option<usize>,
    label: String,
    case: String,
    out: Vec<f64>,
}

impl Reader {
    fn new(
        plan: &Plan<'_>,
        layout: &Layout,
        label_column: Option<usize>,
        case_column: Option<usize>,
    ) -> Self {
        let mut wanted = vec![false; plan.columns.len()];
        layout.columns.iter().flatten().for_each(|&c| wanted[c] = true);
        let (label, case) = (String::new(), String::new());
        Self {
            values: Vec::new(),
            filled: Vec::new(),
            wanted,
            label_column,
            case_column,
            label,
            case,
            out: Vec::new(),
        }
    }

    /// Reads a row; `Err(None)` where it is blank, else what is wrong.
    fn row(&mut self, plan: &Plan<'_>, record: &str) -> std::result::Result<(), Option<String>> {
        let width = plan.columns.len();
        self.values.clear();
        self.values.resize(width, f64::NAN);
        self.filled.clear();
        self.filled.resize(width, false);
        self.label.clear();
        self.case.clear();
        let ragged = |count: usize| {
            Some(format!(
                "{} where {width} are expected; give every row one cell per column",
                text::count(count, "cell")
            ))
        };
        // Without a header, a short row with a label would have it in the wrong column.
        if plan.head == Head::None && self.label_column.is_some() {
            let mut cells = Vec::new();
            split(record, plan.separator, &mut cells);
            if cells.len() != width {
                return Err(ragged(cells.len()));
            }
        }
        let count = match plan.separator {
            Separator::Char(mark) if memchr::memchr(b'"', record.as_bytes()).is_none() => {
                self.fast(plan, record, mark)?
            }
            _ => {
                let mut cells = Vec::new();
                split(record, plan.separator, &mut cells);
                for (column, cell) in cells.iter().enumerate().take(width) {
                    self.cell(plan, column, cell)?;
                }
                let filled = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |at| at + 1);
                if filled > width { filled } else { cells.len().min(width) }
            }
        };
        if !self.filled.iter().any(|f| *f) && self.label.is_empty() && self.case.is_empty() {
            return Err(None);
        }
        if count > width {
            return Err(ragged(count));
        }
        Ok(())
    }

    fn fast(
        &mut self,
        plan: &Plan<'_>,
        record: &str,
        mark: u8,
    ) -> std::result::Result<usize, Option<String>> {
        let bytes = record.as_bytes();
        let (mut at, mut column) = (0, 0);
        let point = plan.decimal == Decimal::Point;
        while at <= bytes.len() {
            if column == self.wanted.len() {
                let more = bytes[at..].iter().filter(|b| **b == mark).count() + 1;
                let blank = bytes[at..].iter().all(|b| *b == mark || b.is_ascii_whitespace());
                return Ok(if blank { column } else { column + more });
            }
            if point
                && self.wanted[column]
                && matches!(bytes.get(at), Some(b'0'..=b'9' | b'-' | b'.' | b'+'))
                && let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(&bytes[at..])
                && bytes.get(at + length).is_none_or(|next| *next == mark)
                && !value.is_nan()
            {
                (self.values[column], self.filled[column]) = (value, true);
                at += length + 1;
            } else {
                let end = memchr::memchr(mark, &bytes[at..]).map_or(bytes.len(), |found| at + found);
                self.cell(plan, column, record[at..end].trim())?;
                at = end + 1;
            }
            column += 1;
        }
        Ok(column)
    }

    fn cell(
        &mut self,
        plan: &Plan<'_>,
        column: usize,
        cell: &str,
    ) -> std::result::Result<(), Option<String>> {
        if Some(column) == self.label_column {
            self.label = plain(cell);
        } else if Some(column) == self.case_column {
            self.case = plain(cell);
        } else if self.wanted[column] && !cell.is_empty() {
            let suffix = match &plan.columns[column].kind {
                Kind::Number { suffix: Some(suffix) } => cell.strip_suffix(suffix.as_str()),
                _ => None,
            };
            let found = value(suffix.unwrap_or(cell), plan).or_else(|| super::number::truth(cell));
            let found = found.ok_or_else(|| Some(not_a_value(plan, column, cell)))?;
            (self.values[column], self.filled[column]) = (found, true);
        }
        Ok(())
    }

    /// The row as a series, step by step; `None` where it has no value.
    fn series(&mut self, layout: &Layout) -> Option<&[f64]> {
        let last = layout
            .columns
            .iter()
            .filter_map(|columns| columns.iter().rposition(|&c| self.filled[c]))
            .max()?;
        self.out.clear();
        for step in 0..=last {
            self.out.extend(layout.columns.iter().map(|columns| self.values[columns[step]]));
        }
        Some(&self.out)
    }
}
