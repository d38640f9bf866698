//! How a text is a table: separator, header, units, kinds of columns.

use crate::error::{Error, Result};

use super::cells::{Records, Separator, plain, split};
use super::number::{self, Decimal};
use super::stamp::is_stamp;

/// Rows that are looked at to tell the structure.
const LOOKED_AT: usize = 2000;

/// What a cell looks like, before the decimal mark is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Empty,
    Missing,
    Number,
    Stamp,
    Truth,
    Text,
}

impl Look {
    pub fn of(cell: &str) -> Self {
        if cell.is_empty() {
            Self::Empty
        } else if number::number(cell, Decimal::Point).is_some()
            || number::number(cell, Decimal::Comma).is_some()
        {
            Self::Number
        } else if number::is_missing(cell) {
            Self::Missing
        } else if is_stamp(cell) {
            Self::Stamp
        } else if number::truth(cell).is_some() {
            Self::Truth
        } else {
            Self::Text
        }
    }

    fn is_blank(self) -> bool {
        matches!(self, Self::Empty | Self::Missing)
    }
}

/// One row of the beginning of a file.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub line: usize,
    pub cells: Vec<String>,
    pub looks: Vec<Look>,
}

impl Row {
    fn new(line: usize, cells: &[&str]) -> Self {
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        let looks = cells.iter().map(|cell| Look::of(cell)).collect();
        Self { line, cells, looks }
    }
}

/// Lines that hold no data: comments, and rules made of dashes.
pub(super) fn is_comment(record: &str) -> bool {
    let text = record.trim_start();
    let low = || text.to_lowercase();
    match text.as_bytes().first() {
        Some(b'#') => !["#n/a", "#na", "#nv", "#value!", "#div/0!", "#ref!", "#num!", "#wert!"]
            .iter()
            .any(|word| low().starts_with(word)),
        Some(b'%') => true,
        Some(b'/') => text.starts_with("//"),
        Some(b'-' | b'=' | b'+' | b'|' | b'*') => is_rule(text),
        _ => false,
    }
}

fn is_rule(text: &str) -> bool {
    text.bytes().all(|b| b"-=+|:_* \t".contains(&b)) && (text.contains("---") || text.contains("==="))
}

/// The structure of a table.
#[derive(Debug, Clone)]
pub(super) struct Structure {
    pub separator: Separator,
    /// Cells of a row.
    pub width: usize,
    /// Rows of data from the beginning of the file.
    pub rows: Vec<Row>,
    /// Rows and comments before the data; comments are one cell.
    pub before: Vec<Row>,
    /// The comments among them, without their marks.
    pub comments: Vec<(usize, String)>,
    /// What most cells of a column look like.
    pub looks: Vec<Look>,
}

/// The separator that a first line `sep=;` states, as spreadsheets write it.
fn stated(text: &str) -> Option<Separator> {
    let first = text.lines().next()?.trim().trim_matches('"');
    let rest = first.strip_prefix("sep=").or_else(|| first.strip_prefix("SEP="))?;
    rest.bytes().next().map(Separator::Char).or(Some(Separator::Char(b'\t')))
}

/// Finds the structure; `first_line` is the number of the text's first line.
pub(super) fn structure(
    path: &std::path::Path,
    text: &str,
    first_line: usize,
    decimal: Option<Decimal>,
) -> Result<Structure> {
    let (separator, width) = match stated(text) {
        Some(separator) => (separator, modal_width(text, separator)),
        None => separator(path, text, decimal)?,
    };
    let mut comments = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut cells = Vec::new();
    for (line, record) in Records::new(text, separator, first_line) {
        if rows.len() >= LOOKED_AT {
            break;
        }
        if record.trim().is_empty() || (line == first_line && stated(text).is_some()) {
            continue;
        }
        if is_comment(record) {
            comments.push((line, record.trim_start().trim_start_matches(['#', '%', '/']).trim().to_string()));
            continue;
        }
        split(record, separator, &mut cells);
        if cells.iter().any(|cell| !cell.is_empty()) {
            rows.push(Row::new(line, &cells));
        }
    }
    let looks = looks(&rows, width);
    let mut first = rows.iter().position(|row| is_data(row, &looks)).unwrap_or(rows.len());
    // Rows of numbers of another width are data too: what is wrong with them is said later.
    let numbers = |row: &Row| {
        row.looks.contains(&Look::Number)
            && row.looks.iter().all(|l| matches!(l, Look::Number | Look::Stamp | Look::Empty | Look::Missing))
    };
    while first < rows.len() && first > 0 && numbers(&rows[first - 1]) {
        first -= 1;
    }
    let data = rows.split_off(first);
    Ok(Structure { separator, width, rows: data, before: rows, comments, looks })
}

/// The kinds of columns: those of the longest run of rows that look alike and have numbers; where no row has one, of
/// rows whose values are all missing.
fn looks(rows: &[Row], width: usize) -> Vec<Look> {
    let typed: fn(&Look) -> bool = |look| matches!(look, Look::Number | Look::Stamp);
    let found = looks_of(rows, width, typed, merge);
    // Then words and missing values are what tells the header from the data.
    let strict: fn(Look, Look) -> Option<Look> = |a, b| match (a, b) {
        (Look::Text, Look::Missing) | (Look::Missing, Look::Text) => None,
        _ => merge(a, b),
    };
    if found.iter().any(typed) { found } else { looks_of(rows, width, |look| *look == Look::Missing, strict) }
}

fn looks_of(
    rows: &[Row],
    width: usize,
    is_typed: fn(&Look) -> bool,
    merge: fn(Look, Look) -> Option<Look>,
) -> Vec<Look> {
    let (mut best, mut best_length) = (vec![Look::Empty; width], 0);
    let (mut now, mut length, mut start, mut best_start) = (vec![Look::Empty; width], 0, 0, 0);
    for (at, row) in rows.iter().enumerate() {
        if row.cells.len() != width {
            continue;
        }
        let merged: Option<Vec<Look>> = now.iter().zip(&row.looks).map(|(a, b)| merge(*a, *b)).collect();
        (now, length, start) = match merged {
            Some(merged) => (merged, length + 1, start),
            None => (row.looks.clone(), 1, at),
        };
        if now.iter().any(is_typed) && length > best_length {
            (best, best_length, best_start) = (now.clone(), length, start);
        }
    }
    // A column of words and numbers is one of words, unless words are few.
    let typed = |row: &&Row| {
        row.looks.len() == width && row.looks.iter().zip(&best).any(|(a, b)| a == b && is_typed(a))
    };
    let below: Vec<&Row> = rows.iter().skip(best_start).filter(typed).collect();
    let count =
        |column: usize, is: fn(Look) -> bool| below.iter().filter(|row| is(row.looks[column])).count();
    let mixed: Vec<usize> = (0..width)
        .filter(|&c| {
            let (words, all) =
                (count(c, |l| matches!(l, Look::Text | Look::Truth)), count(c, |l| !l.is_blank()));
            words * 5 > all
        })
        .collect();
    for column in mixed.into_iter().filter(|&c| count(c, |l| l == Look::Text) > 0) {
        best[column] = Look::Text;
    }
    // A column that is empty there may have values elsewhere.
    for (column, look) in best.iter_mut().enumerate().filter(|(_, look)| look.is_blank()) {
        let found = rows
            .iter()
            .rev()
            .filter_map(|row| row.looks.get(column))
            .find(|l| !l.is_blank() && **l != Look::Text);
        *look = found.copied().unwrap_or(*look);
    }
    best
}

fn merge(a: Look, b: Look) -> Option<Look> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (Look::Empty, b) => Some(b),
        (a, Look::Empty) => Some(a),
        (Look::Missing, b) => Some(b),
        (a, Look::Missing) => Some(a),
        _ => None,
    }
}

/// Whether a row has what the columns of data have.
pub(super) fn is_data(row: &Row, looks: &[Look]) -> bool {
    let fits = |(have, want): (&Look, &Look)| match want {
        Look::Number | Look::Stamp | Look::Truth => have == want || have.is_blank(),
        Look::Empty | Look::Missing => have.is_blank(),
        Look::Text => true,
    };
    let none = !looks.iter().any(|look| matches!(look, Look::Number | Look::Stamp));
    let is_typed =
        |look: &Look| matches!(look, Look::Number | Look::Stamp) || (none && *look == Look::Missing);
    let typed = row.looks.iter().zip(looks).any(|(have, want)| is_typed(want) && have == want);
    row.looks.len() == looks.len() && typed && row.looks.iter().zip(looks).all(fits)
}

/// How much a cell speaks for the separator that made it.
fn weight(cell: &str) -> f64 {
    match Look::of(cell) {
        Look::Number | Look::Stamp => 1.0,
        Look::Missing | Look::Truth => 0.8,
        Look::Empty => 0.5,
        Look::Text if cell.contains([',', ';', '\t', '|']) => 0.0,
        Look::Text if cell.contains(' ') && cell.contains(|c: char| c.is_ascii_digit()) => 0.1,
        Look::Text => 0.3,
    }
}

/// The share of lines that a separator cuts into rows of one width, weighed by what their cells look like; and
/// that width.
fn score(text: &str, separator: Separator) -> (f64, usize) {
    let mut cells = Vec::new();
    let mut widths: std::collections::BTreeMap<usize, f64> = std::collections::BTreeMap::new();
    let mut lines = 0;
    let records = Records::new(text, separator, 1)
        .filter(|(_, record)| !record.trim().is_empty() && !is_comment(record));
    for (_, record) in records.take(LOOKED_AT / 4) {
        split(record, separator, &mut cells);
        lines += 1;
        let typed =
            cells.iter().any(|cell| matches!(Look::of(cell), Look::Number | Look::Stamp | Look::Missing));
        if cells.len() > 1 && typed {
            *widths.entry(cells.len()).or_default() +=
                cells.iter().map(|c| weight(c)).sum::<f64>() / cells.len() as f64;
        }
    }
    let best = widths.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or((0.0, 1), |(width, sum)| (sum / lines as f64, width))
}

fn modal_width(text: &str, separator: Separator) -> usize {
    score(text, separator).1
}

/// The share of lines that are one number or stamp as they are.
fn score_of_one(text: &str) -> f64 {
    let lines: Vec<&str> = Records::new(text, Separator::Char(0), 1)
        .map(|(_, line)| line.trim().trim_matches('"'))
        .filter(|line| !line.is_empty() && !is_comment(line))
        .take(LOOKED_AT / 4)
        .collect();
    let typed = lines.iter().filter(|line| !matches!(Look::of(line), Look::Text | Look::Truth)).count();
    typed as f64 / lines.len().max(1) as f64
}

/// The separator and the width that it makes.
fn separator(path: &std::path::Path, text: &str, decimal: Option<Decimal>) -> Result<(Separator, usize)> {
    const ONE: (Separator, usize) = (Separator::Char(b','), 1);
    let mut best = (0.0, ONE.0, 1);
    for separator in Separator::ALL {
        let (score, width) = score(text, separator);
        // Blanks stand in cells too: they must be clearly better.
        let share = if matches!(separator, Separator::Char(_)) { 1.0 } else { 0.8 };
        if score * share > best.0 + 1e-9 {
            best = (score, separator, width);
        }
    }
    let single = score_of_one(text);
    let comma = best.1 == Separator::Char(b',') && best.2 == 2 && single > best.0 * 0.7;
    if comma {
        return one_or_two(path, text, (best.1, best.2), decimal);
    }
    if best.2 < 2 || single > best.0 + 1e-9 {
        return Ok(if single > 0.0 { (Separator::Char(0), 1) } else { ONE });
    }
    if single > best.0 - 1e-9 {
        return one_or_two(path, text, (best.1, best.2), decimal);
    }
    Ok((best.1, best.2))
}

/// Lines such as `12,5` are one number with a decimal comma, or two whole numbers.
fn one_or_two(
    path: &std::path::Path,
    text: &str,
    (separator, width): (Separator, usize),
    decimal: Option<Decimal>,
) -> Result<(Separator, usize)> {
    const ONE: (Separator, usize) = (Separator::Char(0), 1);
    if separator != Separator::Char(b',') {
        // `2024-01-02 03:04:05` alone in its line, or `1 234,5`.
        let header =
            Records::new(text, separator, 1).map(|r| r.1).find(|r| !r.trim().is_empty()).unwrap_or("");
        let mut cells = Vec::new();
        split(header, separator, &mut cells);
        return Ok(if cells.len() == width && Look::of(header.trim()) == Look::Text {
            (separator, width)
        } else {
            ONE
        });
    }
    let first = text.lines().find(|line| !line.trim().is_empty() && !is_comment(line)).unwrap_or("");
    let header = Look::of(first.trim()) == Look::Text;
    let mut below = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !is_comment(line))
        .skip(usize::from(header))
        .take(LOOKED_AT);
    if below.any(|line| matches!(Look::of(line.trim()), Look::Text | Look::Truth | Look::Stamp)) {
        return Ok((separator, width));
    }
    match decimal {
        _ if header && !first.contains(',') => Ok(ONE),
        _ if header => Ok((separator, width)),
        Some(Decimal::Comma) => Ok(ONE),
        Some(Decimal::Point) => Ok((separator, width)),
        None => Err(Error::file(
            path,
            format!(
                "lines such as `{}` can be read in two ways: one number with a decimal comma (`--decimal comma`), or {width} numbers \
                 between commas (`--decimal point`); state which",
                super::super::text::cut(first.trim())
            ),
        )),
    }
}
