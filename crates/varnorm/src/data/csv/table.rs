//! [`Table`]: the rows of a file that has one row per step, column by column.

use std::collections::HashMap;

use crate::data::ReadLimits;
use crate::error::Result;

use super::super::text;
use super::cells::{Records, Separator, plain, split};
use super::number::{self, Decimal};
use super::plan::{Kind, Plan};
use super::sniff::{Look, is_comment};
use super::words;

/// Rows that are not data and may stand below it.
const FOOTER: usize = 20;

/// Words of a column, each kept once.
#[derive(Default)]
pub(super) struct Words {
    /// One per row.
    pub ids: Vec<u32>,
    pub words: Vec<String>,
    known: HashMap<String, u32>,
    bytes: usize,
}

impl Words {
    fn push(&mut self, word: &str) {
        let id = match self.known.get(word) {
            Some(id) => *id,
            None => {
                let id = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
                self.words.push(word.to_string());
                self.known.insert(word.to_string(), id);
                self.bytes += 2 * word.len() + 100;
                id
            }
        };
        self.ids.push(id);
    }

    /// The word of a row.
    pub fn at(&self, row: usize) -> &str {
        &self.words[self.ids[row] as usize]
    }
}

/// What was read of a column.
pub(super) enum Cells {
    /// The place among the numbers of a row.
    Numbers(usize),
    /// Nanoseconds.
    Stamps(Vec<i64>),
    Words(Words),
    Skipped,
}

/// The rows of a file, column by column; numbers row by row, as series want them.
pub(super) struct Table {
    pub rows: usize,
    /// All columns of numbers, row by row.
    pub numbers: Vec<f64>,
    /// How many of them a row has.
    pub width: usize,
    pub columns: Vec<Cells>,
    /// The first row of each stretch of consecutive lines, and its line.
    lines: Vec<(usize, usize)>,
}

/// A row that is not data.
struct Odd {
    line: usize,
    problem: String,
    /// Whether it could stand below the data.
    footer: bool,
    header: bool,
}

impl Table {
    /// Reads all rows.
    pub fn read(plan: &mut Plan<'_>, text: &str, first_line: usize, limits: &ReadLimits) -> Result<Self> {
        let mut width = 0;
        let mut column = |kind: &Kind| match kind {
            Kind::Number { .. } | Kind::Truth => {
                width += 1;
                Cells::Numbers(width - 1)
            }
            Kind::Stamp(_) => Cells::Stamps(Vec::new()),
            Kind::Text => Cells::Words(Words::default()),
            Kind::Skip => Cells::Skipped,
        };
        let columns = plan.columns.iter().map(|c| column(&c.kind)).collect();
        let mut table = Self { rows: 0, numbers: Vec::new(), width, columns, lines: Vec::new() };
        table.reserve(plan, text);
        let mut odd: Vec<Odd> = Vec::new();
        for (line, record) in Records::new(text, plan.separator, first_line) {
            if line < plan.first || record.is_empty() {
                continue;
            }
            if is_comment(record) || record.trim().is_empty() {
                continue;
            }
            match table.row(plan, record) {
                Ok(()) => {}
                Err(problem) => {
                    if !is_blank(plan, record) {
                        odd.push(problem.at(plan, line, record));
                    }
                    continue;
                }
            }
            if !odd.is_empty() {
                between(plan, &odd)?;
                odd.clear();
            }
            table.note_line(line);
            if table.rows.is_multiple_of(1024) {
                table.admit(limits)?;
            }
        }
        table.admit(limits)?;
        below(plan, &odd)?;
        table.numbers.shrink_to_fit();
        Ok(table)
    }

    /// As many numbers as the text will have, told from its beginning.
    fn reserve(&mut self, plan: &Plan<'_>, text: &str) {
        let looked = plan.sample.len();
        let bytes: usize =
            plan.sample.iter().map(|row| row.cells.iter().map(|c| c.len() + 1).sum::<usize>()).sum();
        if looked > 100 && bytes > 0 {
            let rows = text.len() / (bytes / looked).max(1) + 16;
            self.numbers.reserve(rows.saturating_mul(self.width).min(1 << 27));
        }
    }

    fn admit(&self, limits: &ReadLimits) -> Result<()> {
        limits.check()?;
        let words: usize = self
            .columns
            .iter()
            .map(|c| if let Cells::Words(w) = c { w.bytes + 4 * w.ids.len() } else { 0 })
            .sum();
        limits.room(self.numbers.len() * 8 + words, 1)
    }

    fn note_line(&mut self, line: usize) {
        let row = self.rows;
        self.rows += 1;
        match self.lines.last() {
            Some((first, at)) if at + (row - first) == line => {}
            _ => self.lines.push((row, line)),
        }
    }

    /// The line of a row.
    pub fn line(&self, row: usize) -> usize {
        let at = self.lines.partition_point(|(first, _)| *first <= row).saturating_sub(1);
        self.lines.get(at).map_or(0, |(first, line)| line + (row - first))
    }

    /// Takes one row, all of it or nothing.
    fn row(&mut self, plan: &Plan<'_>, record: &str) -> std::result::Result<(), Problem> {
        let before = self.numbers.len();
        let taken = if memchr::memchr(b'"', record.as_bytes()).is_some() {
            self.quoted(plan, record)
        } else {
            self.plain(plan, record)
        };
        if taken.is_err() {
            self.numbers.truncate(before);
            for column in &mut self.columns {
                match column {
                    Cells::Stamps(stamps) => stamps.truncate(self.rows),
                    Cells::Words(words) => words.ids.truncate(self.rows),
                    _ => {}
                }
            }
        }
        taken
    }

    fn quoted(&mut self, plan: &Plan<'_>, record: &str) -> std::result::Result<(), Problem> {
        let mut cells = Vec::new();
        split(record, plan.separator, &mut cells);
        let cells: Vec<String> = cells.into_iter().map(plain).collect();
        self.cells(plan, cells.iter().map(String::as_str))
    }

    fn plain(&mut self, plan: &Plan<'_>, record: &str) -> std::result::Result<(), Problem> {
        let Separator::Char(mark) = plan.separator else {
            let mut cells = Vec::new();
            split(record, plan.separator, &mut cells);
            return self.cells(plan, cells.into_iter());
        };
        // The fast way: a number is parsed where it stands, and ends where the separator is.
        let bytes = record.as_bytes();
        let mut at = 0;
        let fast = plan.decimal == Decimal::Point;
        for column in 0..plan.columns.len() {
            if at > bytes.len() {
                return Err(Problem::Width(column));
            }
            if fast
                && let (Kind::Number { suffix: None }, Some(b'0'..=b'9' | b'-' | b'.' | b'+')) =
                    (&plan.columns[column].kind, bytes.get(at))
                && let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(&bytes[at..])
                && bytes.get(at + length).is_none_or(|next| *next == mark)
                && !value.is_nan()
            {
                self.numbers.push(value);
                at += length + 1;
                continue;
            }
            let end = memchr::memchr(mark, &bytes[at..]).map_or(bytes.len(), |found| at + found);
            self.cell(plan, column, record[at..end].trim())?;
            at = end + 1;
        }
        // Nothing but separators may follow.
        if at <= bytes.len() && bytes[at..].iter().any(|b| *b != mark && !b.is_ascii_whitespace()) {
            let more = bytes[at..].iter().filter(|b| **b == mark).count();
            return Err(Problem::Width(plan.columns.len() + 1 + more));
        }
        Ok(())
    }

    fn cells<'c>(
        &mut self,
        plan: &Plan<'_>,
        cells: impl Iterator<Item = &'c str>,
    ) -> std::result::Result<(), Problem> {
        let (mut count, mut filled) = (0, 0);
        for (column, cell) in cells.enumerate() {
            count += 1;
            if !cell.is_empty() {
                filled = count;
            }
            if column < plan.columns.len() {
                self.cell(plan, column, cell)?;
            }
        }
        if count < plan.columns.len() || filled > plan.columns.len() {
            Err(Problem::Width(count))
        } else {
            Ok(())
        }
    }

    fn cell(&mut self, plan: &Plan<'_>, column: usize, cell: &str) -> std::result::Result<(), Problem> {
        let wrong = || Problem::Cell(column, cell.to_string());
        match (&mut self.columns[column], &plan.columns[column].kind) {
            (Cells::Skipped, _) => {}
            (Cells::Words(words), _) => words.push(cell),
            (Cells::Stamps(stamps), Kind::Stamp(format)) => {
                stamps.push(format.parse(cell).ok_or_else(wrong)?)
            }
            (_, Kind::Truth) => {
                let value = number::truth(cell).or_else(|| value(cell, plan)).ok_or_else(wrong)?;
                self.numbers.push(value);
            }
            (_, Kind::Number { suffix: Some(unit) }) => {
                let bare = cell.strip_suffix(unit.as_str()).unwrap_or(cell);
                self.numbers.push(value(bare, plan).ok_or_else(wrong)?);
            }
            _ => self.numbers.push(value(cell, plan).ok_or_else(wrong)?),
        }
        Ok(())
    }

    /// The numbers of a column, row by row.
    pub fn numbers_of(&self, column: usize) -> Option<impl Iterator<Item = f64> + Clone + '_> {
        match self.columns[column] {
            Cells::Numbers(place) => {
                Some((0..self.rows).map(move |row| self.numbers[row * self.width + place]))
            }
            _ => None,
        }
    }
}

/// A number in the plan's style.
pub(super) fn value(cell: &str, plan: &Plan<'_>) -> Option<f64> {
    let group = if plan.decimal == Decimal::Point { ',' } else { '.' };
    if !plan.grouped && cell.contains(group) && !number::is_missing(cell) {
        return None;
    }
    number::value(cell, plan.decimal)
}

/// Why a row could not be taken.
enum Problem {
    /// So many cells.
    Width(usize),
    /// The column, and what is in it.
    Cell(usize, String),
}

impl Problem {
    fn at(self, plan: &Plan<'_>, line: usize, record: &str) -> Odd {
        let mut cells = Vec::new();
        split(record, plan.separator, &mut cells);
        let first = cells.iter().find(|cell| !cell.is_empty()).copied().unwrap_or("");
        let lone = cells.iter().filter(|cell| !cell.is_empty()).count() == 1;
        let footer =
            matches!(Look::of(first), Look::Text) && (lone || !first.contains(|c: char| c.is_ascii_digit()));
        let header =
            cells.len() >= plan.columns.len()
                && plan.columns.iter().zip(&cells).all(|(column, cell)| {
                    !column.name.is_empty() && words::name_and_unit(cell).0 == column.name
                });
        let problem = match self {
            Self::Width(count) => format!(
                "{} where {} are expected; give every row one cell per column",
                text::count(count.min(cells.len().max(1)).max(cells.len()), "cell"),
                plan.columns.len()
            ),
            Self::Cell(column, cell) => not_a_value(plan, column, &cell),
        };
        Odd { line, problem, footer, header }
    }
}

/// The sentence for a cell that cannot be read as the others of its column.
pub(super) fn not_a_value(plan: &Plan<'_>, column: usize, cell: &str) -> String {
    let what = match &plan.columns[column].kind {
        Kind::Stamp(_) => "is not a time as the others are",
        _ => "is not a number",
    };
    let mark = if plan.decimal == Decimal::Point { "point" } else { "comma" };
    let advice = match &plan.columns[column].kind {
        Kind::Stamp(_) => "write it as the others".to_string(),
        _ => {
            format!("write a number (with a decimal {mark}), or leave the cell empty if the value is missing")
        }
    };
    format!(
        "{}: {} {what}; {advice}; `--ignore {}` leaves the column out",
        plan.named(column),
        text::quote(cell),
        plan.word(column)
    )
}

/// Rows without anything in them, as spreadsheets leave them.
fn is_blank(plan: &Plan<'_>, record: &str) -> bool {
    let mut cells = Vec::new();
    split(record, plan.separator, &mut cells);
    cells.iter().all(|cell| cell.is_empty())
}

/// Rows between rows of data: only the header again is no error.
fn between(plan: &mut Plan<'_>, odd: &[Odd]) -> Result<()> {
    match odd.iter().find(|odd| !odd.header) {
        Some(odd) => Err(plan.wrong(odd.line, odd.problem.clone())),
        None => {
            let line = odd.first().map_or(0, |odd| odd.line);
            plan.notes.push(format!("line {line} is the header again and was left out"));
            Ok(())
        }
    }
}

/// Rows below the data.
fn below(plan: &mut Plan<'_>, odd: &[Odd]) -> Result<()> {
    let Some(first) = odd.first() else { return Ok(()) };
    if !first.footer || odd.len() > FOOTER {
        return Err(plan.wrong(first.line, first.problem.clone()));
    }
    plan.notes.push(match odd.len() {
        1 => format!("line {} below the data left out", first.line),
        count => format!("{count} lines below the data left out, from line {}", first.line),
    });
    Ok(())
}
