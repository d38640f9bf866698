//! [`Table`]: a CSV file as rows of cells, with what its header says about the columns.

use std::path::Path;

use csv::StringRecord;

use crate::data::{LabelKind, ReadLimits};
use crate::error::{Error, Result};

use super::super::text;

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Case,
    Time,
    Label(LabelKind),
    /// A first column without a name, as pandas writes its row index.
    Index,
    Value,
}

impl Role {
    /// By the header's name, in any case.
    pub fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "case_id" | "case" | "series_id" | "series" | "id" => Self::Case,
            "time" | "timestamp" | "timepoint" | "step" | "t" => Self::Time,
            "label" | "class" => Self::Label(LabelKind::Class),
            "target" => Self::Label(LabelKind::Target),
            _ => Self::Value,
        }
    }

    fn is_same(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::Label(_), Self::Label(_)))
    }
}

/// The kind of first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// The first row is data.
    None,
    /// `0,1,2,...`
    Counted,
    /// Names.
    Named,
}

/// One data row. A file has millions of them: cells lie in one text.
pub(super) struct Row {
    pub line: usize,
    text: Box<str>,
    ends: Box<[u32]>,
}

impl Row {
    fn new(record: &StringRecord) -> Option<Self> {
        let line = record.position().map_or(0, |p| usize::try_from(p.line()).unwrap_or(usize::MAX));
        let end = |cell: usize| record.range(cell).and_then(|range| u32::try_from(range.end).ok());
        let ends: Option<Box<[u32]>> = (0..record.len()).map(end).collect();
        Some(Self { line, text: record.as_slice().into(), ends: ends? })
    }

    /// The trimmed cell; nothing where the row is shorter.
    pub fn cell(&self, column: usize) -> &str {
        let Some(end) = self.ends.get(column) else { return "" };
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        self.text.get(start as usize..*end as usize).unwrap_or("").trim()
    }

    pub fn width(&self) -> usize {
        self.ends.len()
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.width()).map(|column| self.cell(column))
    }

    /// About the memory that it takes, with what allocations take beside their content.
    fn bytes(&self) -> usize {
        96 + self.text.len() + 4 * self.ends.len()
    }
}

/// A CSV file as rows of cells.
pub(super) struct Table<'a> {
    pub path: &'a Path,
    pub head: Head,
    pub names: Vec<String>,
    pub roles: Vec<Role>,
    pub rows: Vec<Row>,
}

impl<'a> Table<'a> {
    pub fn read(path: &'a Path, text: &str, notes: &mut Vec<String>, limits: &ReadLimits) -> Result<Self> {
        let mut rows = rows(path, text, limits)?;
        let head = rows.first().map_or(Head::None, |row| head(row, rows.len()));
        let width = rows.iter().map(Row::width).max().unwrap_or(0);
        let (names, mut roles): (Vec<String>, Vec<Role>) = match head {
            Head::None => ((0..width).map(|i| i.to_string()).collect(), vec![Role::Value; width]),
            _ => rows.remove(0).cells().map(|n| (n.to_string(), Role::of(n))).unzip(),
        };
        if head == Head::Counted {
            notes.push("the first row (0, 1, 2, ...) was taken for column numbers, not for data".into());
        }
        if head != Head::None && names[0].is_empty() {
            roles[0] = Role::Index;
        }
        if rows.is_empty() {
            return Err(Error::file(
                path,
                "there is a header and no row of data below it; give at least one row",
            ));
        }
        let table = Self { path, head, names, roles, rows };
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<()> {
        for (i, &role) in self.roles.iter().enumerate() {
            let twin = self.roles[..i].iter().position(|r| role != Role::Value && role.is_same(*r));
            if let Some(first) = twin {
                return Err(Error::file(
                    self.path,
                    format!(
                        "the columns `{}` and `{}` have the same meaning; rename or remove one",
                        self.names[first], self.names[i]
                    ),
                ));
            }
        }
        if let Some(row) = self.rows.iter().find(|row| row.width() > self.names.len()) {
            return Err(self.ragged(row));
        }
        Ok(())
    }

    /// The first column with this role.
    pub fn column(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|r| *r == role)
    }

    /// The label column.
    pub fn label(&self) -> Option<(usize, LabelKind)> {
        self.roles.iter().enumerate().find_map(|(i, role)| match role {
            Role::Label(kind) => Some((i, *kind)),
            _ => None,
        })
    }

    /// Columns of values.
    pub fn values(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|&i| self.roles[i] == Role::Value)
    }

    /// The number in a cell, NaN where it is missing.
    pub fn value(&self, row: &Row, column: usize) -> Result<f64> {
        let cell = row.cell(column);
        text::value(cell).ok_or_else(|| {
            let name = if self.head == Head::Named {
                format!("column `{}`", self.names[column])
            } else {
                format!("column {column}")
            };
            self.wrong(
                row,
                format!(
                    "{name}: {} is not a number; write a number (with a decimal point), or leave the cell \
                     empty if \
                     the value is missing",
                    text::quote(cell)
                ),
            )
        })
    }

    /// An error about a row.
    pub fn wrong(&self, row: &Row, problem: impl Into<String>) -> Error {
        Error::parse(self.path, row.line, problem)
    }

    /// The error for a row of another width than the table.
    pub fn ragged(&self, row: &Row) -> Error {
        self.wrong(
            row,
            format!(
                "{} where {} are expected; give every row one cell per column",
                text::count(row.width(), "cell"),
                self.names.len()
            ),
        )
    }
}

fn rows(path: &Path, text: &str, limits: &ReadLimits) -> Result<Vec<Row>> {
    let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    let delimiter = match first {
        _ if first.contains(',') => b',',
        _ if first.contains(';') => b';',
        _ if first.contains('\t') => b'\t',
        _ => b',',
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let unreadable =
        |problem: &dyn std::fmt::Display| Error::file(path, format!("not readable as CSV: {problem}"));
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|e| unreadable(&e))? {
        let row = Row::new(&record).ok_or_else(|| unreadable(&"a row has more than 4 GB"))?;
        bytes += row.bytes();
        limits.check()?;
        limits.room(bytes, 1)?;
        if row.cells().any(|cell| !cell.is_empty()) {
            rows.push(row);
        }
    }
    Ok(rows)
}

fn head(first: &Row, rows: usize) -> Head {
    let is_value = |cell: &str| !cell.trim().is_empty() && text::value(cell).is_some();
    if !first.cells().any(is_value) {
        return Head::Named;
    }
    // Columns with a role may stand among the numbers that pandas gives to the others.
    let unnamed = usize::from(first.width() > 0 && first.cell(0).is_empty());
    let counted: Vec<&str> = first.cells().skip(unnamed).filter(|c| Role::of(c) == Role::Value).collect();
    let is_count = counted.len() >= 2 && counted.iter().enumerate().all(|(i, c)| **c == *i.to_string());
    if is_count && rows > 1 { Head::Counted } else { Head::None }
}
