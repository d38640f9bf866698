//! [`Plan`]: how the rows of a file are read, told from its beginning and asked for where that is not certain.

use std::path::Path;

use crate::data::{StampFormat, StampReading};
use crate::error::{Error, Result};

use super::super::text;
use super::cells::{Records, Separator, split};
use super::choice::{Asked, Columns, TimeAsked, several, time_asked};
use super::header::{Head, header};
use super::number::{Decimal, Evidence, evidence, number};
use super::sniff::{Look, Row, Structure, is_comment, structure};
use super::words::{self, Meaning};

/// How the cells of a column are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Numbers, after which the same unit may stand in every cell.
    Number { suffix: Option<String> },
    /// `true` and `false`.
    Truth,
    /// Dates or clock times.
    Stamp(StampFormat),
    /// Words.
    Text,
    /// Not at all.
    Skip,
}

impl Kind {
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number { .. } | Self::Truth)
    }
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Without its unit; empty where it has none.
    pub name: String,
    pub unit: Option<String>,
    pub meaning: Meaning,
    pub kind: Kind,
}

/// How the rows of a file are read.
pub(super) struct Plan<'a> {
    pub path: &'a Path,
    pub separator: Separator,
    pub decimal: Decimal,
    /// Whether digits may be grouped by thousands.
    pub grouped: bool,
    pub head: Head,
    pub columns: Vec<Column>,
    /// Rows from the beginning of the file.
    pub sample: Vec<Row>,
    /// The line of the first row of data.
    pub first: usize,
    pub time: Option<TimeAsked>,
    pub case: CaseAsked,
    /// Channels in the order in which the user named them.
    pub channels: Option<Vec<usize>>,
    pub notes: Vec<String>,
}

/// What `case` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CaseAsked {
    /// Nothing was said.
    Unsaid,
    /// No column names series.
    None,
    /// A series begins where time begins again.
    Restart,
    /// These columns together.
    Columns(Vec<usize>),
}

/// The text without the lines that the user skips, and the number of its first line.
pub(super) fn skipped<'t>(path: &Path, text: &'t str, skip: usize) -> Result<(&'t str, usize)> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut rest = text;
    for line in 0..skip {
        rest = match rest.split_once(end) {
            Some((_, below)) if !below.trim().is_empty() => below,
            _ => {
                return Err(Error::file(
                    path,
                    format!("`--skip {skip}` leaves nothing: the file has {}", text::count(line + 1, "line")),
                ));
            }
        };
    }
    Ok((rest, skip + 1))
}

impl<'a> Plan<'a> {
    /// Looks at the beginning of a text, and at all of it where that is not enough.
    pub fn new(path: &'a Path, text: &str, first_line: usize, asked: &Columns) -> Result<Self> {
        let mut notes = Vec::new();
        let mut table = structure(path, text, first_line, asked.decimal)?;
        if table.rows.is_empty() {
            return Err(nothing(path, &table));
        }
        let raw = table.before.last().map(|row| row.cells.clone()).unwrap_or_default();
        let header = header(path, &mut table, &mut notes)?;
        if table.rows.is_empty() {
            return Err(nothing(path, &table));
        }
        let name = |i: usize| header.names[i].clone();
        let mut columns: Vec<Column> = (0..table.width)
            .map(|i| Column {
                name: name(i),
                unit: header.units[i].clone(),
                meaning: Meaning::Other,
                kind: Kind::Text,
            })
            .collect();
        for (i, column) in columns.iter_mut().enumerate() {
            let time_unit = column.unit.as_deref().is_none_or(|unit| words::time_unit(unit).is_some());
            column.meaning = match words::meaning(&column.name) {
                _ if header.head != Head::Named
                    && !matches!(table.looks[i], Look::Text)
                    && !column.name.is_empty() =>
                {
                    Meaning::Other
                }
                _ if header.head == Head::None => Meaning::Other,
                Meaning::Index if column.name.is_empty() && i > 0 => Meaning::Other,
                // `t [°C]` is no time.
                Meaning::MaybeTime if !time_unit => Meaning::Other,
                meaning => meaning,
            };
        }
        // The library's own files: whatever a channel is named, it is one.
        if columns.len() > 2 && columns[0].name == "case_id" && columns[1].name == "time" {
            for column in columns[2..].iter_mut().filter(|c| !matches!(c.meaning, Meaning::Label(_))) {
                column.meaning = Meaning::Other;
            }
        }
        let first = table.rows[0].line;
        let mut plan = Self {
            path,
            separator: table.separator,
            decimal: Decimal::Point,
            grouped: false,
            head: header.head,
            columns,
            sample: std::mem::take(&mut table.rows),
            first,
            time: None,
            case: CaseAsked::Unsaid,
            channels: None,
            notes,
        };
        plan.apply(asked, &raw)?;
        let comments = table.comments.len();
        if comments > 0 {
            plan.notes.push(format!("{} left out", text::count(comments, "comment line")));
        }
        (plan.decimal, plan.grouped) = plan.marks(text, first_line, asked.decimal, &table.looks)?;
        plan.kinds(text, first_line, &table.looks)?;
        Ok(plan)
    }

    /// Column names for the user's choice.
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// What the user said about the columns.
    fn apply(&mut self, asked: &Columns, raw: &[String]) -> Result<()> {
        let names = self.names();
        let find = |option: &'static str, words: &[String]| -> Result<Vec<usize>> {
            words.iter().map(|word| Asked(option).find(word, &names, raw)).collect()
        };
        for column in find("ignore", &asked.ignore)? {
            self.columns[column].kind = Kind::Skip;
        }
        if !asked.channels.is_empty() {
            self.channels = Some(find("columns", &asked.channels)?);
        }
        self.time = asked.time.as_deref().map(|word| time_asked(word, &names, raw)).transpose()?;
        self.case = match asked.case.as_deref() {
            None => CaseAsked::Unsaid,
            Some(word) => match several(Asked("case"), word, &names, raw) {
                Ok(columns) => CaseAsked::Columns(columns),
                Err(_) if word.eq_ignore_ascii_case("none") => CaseAsked::None,
                Err(_) if word.eq_ignore_ascii_case("restart") => CaseAsked::Restart,
                Err(error) => return Err(error),
            },
        };
        Ok(())
    }

    /// Whether the user named a column as one of the case.
    pub fn is_case(&self, column: usize) -> bool {
        match &self.case {
            CaseAsked::Columns(columns) => columns.contains(&column),
            CaseAsked::Unsaid => self.columns[column].meaning == Meaning::Case,
            _ => false,
        }
    }

    /// A column for a sentence: its name, or its number from 1.
    pub fn named(&self, column: usize) -> String {
        match self.columns[column].name.as_str() {
            "" => format!("column {}", column + 1),
            name => format!("column {}", text::quote(name)),
        }
    }

    /// A column for an option.
    pub fn word(&self, column: usize) -> String {
        let name = &self.columns[column].name;
        let twin = self.columns.iter().filter(|other| other.name == *name).count() > 1;
        if name.is_empty() || twin {
            (column + 1).to_string()
        } else if name.contains([' ', '(', '[', '#', ';', '&', '\'', '$', '*', '/', '=']) {
            format!("'{name}'")
        } else {
            name.clone()
        }
    }

    /// Every record of the text from the first row of data on, with its cells.
    fn each_row<'t>(
        &self,
        text: &'t str,
        first_line: usize,
        mut look: impl FnMut(usize, &[&'t str]) -> bool,
    ) {
        let mut cells = Vec::new();
        for (line, record) in Records::new(text, self.separator, first_line) {
            if line < self.first || record.trim().is_empty() || is_comment(record) {
                continue;
            }
            split(record, self.separator, &mut cells);
            if !look(line, &cells) {
                return;
            }
        }
    }

    /// The decimal mark, and whether thousands are grouped.
    fn marks(
        &self,
        text: &str,
        first_line: usize,
        stated: Option<Decimal>,
        looks: &[Look],
    ) -> Result<(Decimal, bool)> {
        if let Some(decimal) = stated {
            return Ok((decimal, true));
        }
        let mut found = Marks::default();
        let numbers: Vec<usize> = (0..looks.len())
            .filter(|&c| {
                matches!(looks[c], Look::Number | Look::Text | Look::Missing | Look::Empty)
                    && self.columns[c].kind != Kind::Skip
            })
            .collect();
        for row in &self.sample {
            for &column in &numbers {
                found.add(row.line, row.cells.get(column).map_or("", String::as_str));
            }
        }
        if !found.is_certain() && self.separator != Separator::Char(b',') {
            self.each_row(text, first_line, |line, cells| {
                for &column in &numbers {
                    found.add(line, cells.get(column).copied().unwrap_or(""));
                }
                !found.is_certain()
            });
        }
        found.decide(self.path, self.separator)
    }

    /// How each column is read.
    fn kinds(&mut self, text: &str, first_line: usize, looks: &[Look]) -> Result<()> {
        for column in 0..self.columns.len() {
            let keep = self.columns[column].kind == Kind::Skip && !self.is_case(column);
            let label = matches!(self.columns[column].meaning, Meaning::Label(_));
            self.columns[column].kind = match looks[column] {
                _ if keep => Kind::Skip,
                _ if self.is_case(column) || label => Kind::Text,
                Look::Stamp => self.stamps(column, text, first_line)?,
                Look::Truth => Kind::Truth,
                Look::Text => self.suffixed(column),
                Look::Number | Look::Empty | Look::Missing => Kind::Number { suffix: None },
            };
            if let Kind::Number { suffix: Some(unit) } = self.columns[column].kind.clone() {
                self.columns[column].unit.get_or_insert(unit);
            }
            self.by_format(column)?;
        }
        Ok(())
    }

    /// A pattern that the user gave, or a number written as a date: `20240102`.
    fn by_format(&mut self, column: usize) -> Result<()> {
        let Some(TimeAsked::Columns(columns, Some(format))) = &self.time else { return Ok(()) };
        if format.contains('%')
            && (columns.contains(&column)
                || (columns.is_empty() && self.columns[column].meaning == Meaning::Time))
        {
            self.columns[column].kind = Kind::Stamp(StampFormat::new(format)?);
        }
        Ok(())
    }

    /// `12.5 bar` in every cell is a number with a unit.
    fn suffixed(&self, column: usize) -> Kind {
        let mut suffix: Option<String> = None;
        for row in &self.sample {
            let Some(cell) =
                row.cells.get(column).map(|cell| cell.trim()).filter(|cell| !super::number::is_missing(cell))
            else {
                continue;
            };
            let end = cell.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
            let (digits, unit) = cell.split_at(end);
            let unit = unit.trim();
            let same = suffix.get_or_insert_with(|| unit.to_string()) == unit;
            if !same || !words::is_unit(unit) || number(digits, self.decimal).is_none() {
                return Kind::Text;
            }
        }
        match suffix {
            Some(unit) => Kind::Number { suffix: Some(unit) },
            None => Kind::Text,
        }
    }

    /// The format of a column of stamps.
    fn stamps(&self, column: usize, text: &str, first_line: usize) -> Result<Kind> {
        let cell =
            |row: &'_ Row| row.cells.get(column).filter(|cell| !super::number::is_missing(cell)).cloned();
        let sample: Vec<String> = self.sample.iter().filter_map(cell).collect();
        match StampFormat::of(sample.iter().map(String::as_str)) {
            StampReading::Certain(format) => return Ok(Kind::Stamp(format)),
            // Rows at the end may be no data at all.
            StampReading::Unknown => {
                let most = sample.len().saturating_sub(sample.len() / 10 + 1).max(1);
                return Ok(
                    match StampFormat::of(sample[..most.min(sample.len())].iter().map(String::as_str)) {
                        StampReading::Certain(format) => Kind::Stamp(format),
                        StampReading::Ambiguous(a, b) => {
                            Kind::Stamp(self.one_of(column, &sample[..most], a, b)?)
                        }
                        StampReading::Unknown => Kind::Text,
                    },
                );
            }
            StampReading::Ambiguous(..) => {}
        }
        let mut all = Vec::new();
        self.each_row(text, first_line, |_, cells| {
            all.extend(cells.get(column).filter(|cell| super::stamp::is_stamp(cell)).copied());
            true
        });
        match StampFormat::of(all.iter().copied()) {
            StampReading::Certain(format) => Ok(Kind::Stamp(format)),
            StampReading::Unknown => Ok(Kind::Text),
            StampReading::Ambiguous(a, b) => self.one_of(column, &all, a, b).map(Kind::Stamp),
        }
    }

    /// Decides between two readings of stamps: by what the user said, else by their order.
    fn one_of<T: AsRef<str>>(
        &self,
        column: usize,
        stamps: &[T],
        a: StampFormat,
        b: StampFormat,
    ) -> Result<StampFormat> {
        let order = |format: &StampFormat| match format.pattern() {
            pattern if pattern.starts_with("%d") => "dmy",
            pattern if pattern.starts_with("%m") => "mdy",
            _ => "ymd",
        };
        let said = match &self.time {
            Some(TimeAsked::Columns(columns, Some(format)))
                if columns.is_empty() || columns.contains(&column) =>
            {
                Some(format.as_str())
            }
            _ => None,
        };
        if let Some(found) = [&a, &b].into_iter().find(|format| said == Some(order(format))) {
            return Ok(found.clone());
        }
        let sorted = |format: &StampFormat| {
            let all: Option<Vec<i64>> = stamps.iter().map(|stamp| format.parse(stamp.as_ref())).collect();
            all.is_some_and(|all| all.is_sorted())
        };
        match (sorted(&a), sorted(&b)) {
            (true, false) => Ok(a),
            (false, true) => Ok(b),
            _ => {
                let word = self.word(column);
                Err(Error::file(
                    self.path,
                    format!(
                        "times such as {} can be read in two ways: day first (`--time {word}=dmy`) or month first (`--time {word}=mdy`); \
                         state which",
                        text::quote(stamps.first().map_or("", AsRef::as_ref)),
                    ),
                ))
            }
        }
    }

    /// An error about a line.
    pub fn wrong(&self, line: usize, problem: impl Into<String>) -> Error {
        Error::parse(self.path, line, problem)
    }

    /// The error for a file that can be read in two ways.
    pub fn two_ways(&self, what: &str, one: &str, other: &str) -> Error {
        Error::file(self.path, format!("{what} can be read in two ways: {one}, or {other}; state which"))
    }

    /// Rows of the whole text, nearly: blank lines and comments do not count.
    pub fn count_rows(&self, text: &str, first_line: usize) -> usize {
        let mut rows = 0;
        self.each_row(text, first_line, |_, _| {
            rows += 1;
            true
        });
        rows
    }
}

/// What was found of decimal marks.
#[derive(Default)]
struct Marks {
    point: Option<(usize, String)>,
    comma: Option<(usize, String)>,
    open_point: Option<(usize, String)>,
    open_comma: Option<(usize, String)>,
}

impl Marks {
    fn add(&mut self, line: usize, cell: &str) {
        let place = match evidence(cell) {
            Evidence::None => return,
            Evidence::Certain(Decimal::Point) => &mut self.point,
            Evidence::Certain(Decimal::Comma) => &mut self.comma,
            Evidence::Open(b'.') => &mut self.open_point,
            Evidence::Open(_) => &mut self.open_comma,
        };
        place.get_or_insert_with(|| (line, cell.to_string()));
    }

    fn is_certain(&self) -> bool {
        self.point.is_some() || self.comma.is_some()
    }

    fn decide(self, path: &Path, separator: Separator) -> Result<(Decimal, bool)> {
        let refuse = |what: String| {
            Err(Error::file(
                path,
                format!(
                    "{what}; state which mark comes before decimals: `--decimal point` or `--decimal comma`"
                ),
            ))
        };
        match (&self.point, &self.comma) {
            (Some((a, point)), Some((b, comma))) => refuse(format!(
                "{} in line {a} has a decimal point and {} in line {b} a decimal comma",
                text::quote(point),
                text::quote(comma)
            )),
            (Some(_), None) => Ok((Decimal::Point, true)),
            (None, Some(_)) => Ok((Decimal::Comma, true)),
            (None, None) => match (self.open_point, self.open_comma) {
                (None, None) => Ok((Decimal::Point, false)),
                (Some(_), None) if separator != Separator::Char(b';') => Ok((Decimal::Point, false)),
                (open, other) => {
                    let (line, cell) = other.or(open).unwrap_or_default();
                    let mark = if cell.contains(',') { ',' } else { '.' };
                    let (with, without) = (cell.replace(mark, "."), cell.replace(mark, ""));
                    refuse(format!(
                        "{} in line {line} can be read in two ways: {with} or {without}",
                        text::quote(&cell)
                    ))
                }
            },
        }
    }
}

fn nothing(path: &Path, table: &Structure) -> Error {
    let words = table
        .before
        .iter()
        .filter(|row| row.looks.iter().all(|look| !matches!(look, Look::Number | Look::Stamp)))
        .count();
    let problem = match table.before.len() {
        0 => "there is no row of data; give at least one",
        1 => "there is a header and no row of data below it; give at least one row",
        count if words == count => "there is no column of numbers; give at least one",
        _ => {
            "no rows of numbers of one width were found; state `--skip N` if lines before the header hide them"
        }
    };
    Error::file(path, problem)
}
