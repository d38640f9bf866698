//! [`Table`]: a CSV file as rows of cells, with what its header says about the columns.

use std::path::Path;

use csv::StringRecord;

use crate::data::LabelKind;
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

/// One data row.
pub(super) struct Row {
    pub line: usize,
    cells: StringRecord,
}

impl Row {
    /// The trimmed cell; nothing where the row is shorter.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or("").trim()
    }

    pub fn width(&self) -> usize {
        self.cells.len()
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
    pub fn read(path: &'a Path, text: &str, notes: &mut Vec<String>) -> Result<Self> {
        let mut rows = rows(path, text)?;
        let head = rows.first().map_or(Head::None, |row| head(&row.cells, rows.len()));
        let width = rows.iter().map(Row::width).max().unwrap_or(0);
        let (names, mut roles): (Vec<String>, Vec<Role>) = match head {
            Head::None => ((0..width).map(|i| i.to_string()).collect(), vec![Role::Value; width]),
            _ => rows.remove(0).cells.iter().map(|n| (n.trim().to_string(), Role::of(n.trim()))).unzip(),
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

fn rows(path: &Path, text: &str) -> Result<Vec<Row>> {
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
    let mut rows = Vec::new();
    for record in reader.records() {
        let cells = record.map_err(|e| Error::file(path, format!("not readable as CSV: {e}")))?;
        let line = cells.position().map_or(0, |p| usize::try_from(p.line()).unwrap_or(usize::MAX));
        if cells.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(Row { line, cells });
        }
    }
    Ok(rows)
}

fn head(first: &StringRecord, rows: usize) -> Head {
    let is_value = |cell: &str| !cell.trim().is_empty() && text::value(cell).is_some();
    if !first.iter().any(is_value) {
        return Head::Named;
    }
    // Columns with a role may stand among the numbers that pandas gives to the others.
    let unnamed = usize::from(first.get(0).is_some_and(|c| c.trim().is_empty()));
    let counted: Vec<&str> =
        first.iter().skip(unnamed).map(str::trim).filter(|c| Role::of(c) == Role::Value).collect();
    let is_count = counted.len() >= 2 && counted.iter().enumerate().all(|(i, c)| **c == *i.to_string());
    if is_count && rows > 1 { Head::Counted } else { Head::None }
}
