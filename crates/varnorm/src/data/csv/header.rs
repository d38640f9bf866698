//! The header: names, units, and what stands before it.

use std::path::Path;

use crate::error::{Error, Result};

use super::super::text;
use super::cells::{Separator, split};
use super::sniff::{Look, Row, Structure};
use super::words;

/// The kind of first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// The first row is data.
    None,
    /// `0,1,2,...`
    Counted,
    /// Times: `0.00,0.01,0.02,...`
    Times,
    /// Names.
    Named,
}

/// What stands above the data.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub head: Head,
    /// One per column, without units; empty where a column has none.
    pub names: Vec<String>,
    pub units: Vec<Option<String>>,
}

/// Finds the header, and takes it out of the rows of data where it looks like them.
pub(super) fn header(path: &Path, table: &mut Structure, notes: &mut Vec<String>) -> Result<Header> {
    drop_trailing(table);
    widen(table);
    if let Some(header) = numbers(table) {
        return Ok(header);
    }
    let mut units = None;
    let mut found = None;
    for at in (0..table.before.len()).rev() {
        let row = &table.before[at];
        if is_types(row) {
            continue;
        }
        if units.is_none()
            && is_units(row, table.width)
            && table.before[..at].iter().any(|above| could_name(above, table))
        {
            units = Some((row.line, padded(row, table.width)));
            continue;
        }
        match names_in(row, table) {
            Some(names) => found = Some((at, row.line, names)),
            // A title, or names that do not fit the rows.
            None if row.cells.iter().filter(|c| !c.is_empty()).count() > 1
                && at + 1 == table.before.len()
                && units.is_none() =>
            {
                return misfit(path, row, table);
            }
            None => {}
        }
        if found.is_some() {
            break;
        }
    }
    let commented =
        || table.comments.iter().rev().find_map(|(line, comment)| names_in_comment(*line, comment, table));
    let Some((at, line, mut names)) = found.or_else(|| commented().map(|(line, names)| (0, line, names)))
    else {
        if let (Some(first), Some(last)) = (table.before.first(), table.before.last()) {
            notes.push(format!("{} before the data left out", lines(first.line, last.line)));
        }
        return Ok(Header {
            head: Head::None,
            names: vec![String::new(); table.width],
            units: vec![None; table.width],
        });
    };
    if let Some(above) =
        at.checked_sub(1).and_then(|above| table.before.get(above)).filter(|_| has_twins(&names))
    {
        names = grouped(above, names);
    }
    let titles = table.before[..at.min(table.before.len())].iter().map(|row| row.line).collect::<Vec<_>>();
    if let (Some(first), Some(last)) = (titles.first(), titles.last()) {
        notes.push(format!("{} before the header left out", lines(*first, *last)));
    }
    if let Some((units_line, _)) = &units {
        notes.push(format!("line {units_line} was read as units"));
    }
    let between =
        table.before.iter().filter(|row| row.line > line && units.as_ref().is_none_or(|u| u.0 != row.line));
    between.for_each(|row| notes.push(format!("line {} between header and data left out", row.line)));
    Ok(named(names, units.map(|u| u.1)))
}

fn lines(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// A separator at the end of every row makes no column.
fn drop_trailing(table: &mut Structure) {
    while table.width > 1 {
        let last = table.width - 1;
        let empty = |row: &Row| row.cells.get(last).is_none_or(String::is_empty);
        let named = table.before.iter().any(|row| {
            row.cells.len() > last
                && !empty(row)
                && row.cells.iter().filter(|c| !c.is_empty()).count() * 2 > last
        });
        if named || !table.rows.iter().all(empty) || table.looks[last] != Look::Empty {
            return;
        }
        table.width = last;
        table.looks.pop();
        for row in table.rows.iter_mut().chain(&mut table.before) {
            row.cells.truncate(last);
            row.looks.truncate(last);
        }
    }
}

/// A header with more names than most rows have cells: rows may end early.
fn widen(table: &mut Structure) {
    let Some(last) = table.before.last() else { return };
    let names = last.cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |at| at + 1);
    let all = last.cells[..names].iter().all(|cell| !cell.is_empty())
        && last.looks[..names].iter().all(|look| *look == Look::Text);
    if names > table.width && all && table.width > 1 {
        table.width = names;
        table.looks.resize(names, Look::Empty);
    }
}

/// Whether a row could be one of names.
fn could_name(row: &Row, table: &Structure) -> bool {
    names_in(row, table).is_some()
}

/// The names in a row, one per column; `None` where it cannot be a header.
fn names_in(row: &Row, table: &Structure) -> Option<Vec<String>> {
    let width = table.width;
    let filled = row.cells.iter().filter(|cell| !cell.is_empty()).count();
    let words =
        row.looks.iter().filter(|look| matches!(look, Look::Text | Look::Truth | Look::Missing)).count();
    if filled == 0 || words == 0 {
        return None;
    }
    let mut cells = row.cells.clone();
    while cells.len() > width && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    if cells.len() == width {
        return (filled * 2 >= width).then_some(cells);
    }
    // The header is cut by another separator than the rows.
    let whole = row.cells.join(" ");
    for other in Separator::ALL.into_iter().filter(|s| *s != table.separator && row.cells.len() == 1) {
        let mut parts = Vec::new();
        split(&whole, other, &mut parts);
        if parts.len() == width {
            return Some(parts.into_iter().map(str::to_string).collect());
        }
    }
    if let (Separator::Blanks | Separator::Blank, true) = (table.separator, cells.len() != width) {
        let mut parts = Vec::new();
        let other = if table.separator == Separator::Blank { Separator::Blanks } else { Separator::Blank };
        // The cells are joined with single spaces: only the finer cut can be done again.
        if other == Separator::Blank {
            split(&whole, other, &mut parts);
        }
        if parts.len() == width {
            return Some(parts.into_iter().map(str::to_string).collect());
        }
    }
    // R writes no name above the names of rows.
    if cells.len() + 1 == width && width > 2 && unnamed_first(table) {
        cells.insert(0, String::new());
        return Some(cells);
    }
    // `2024-01-02 03:04:05` between blanks is two cells under one name.
    let two = table.looks.first() == Some(&Look::Stamp) && table.looks.get(1) == Some(&Look::Stamp);
    if cells.len() + 1 == width && two && matches!(table.separator, Separator::Blank) {
        cells.insert(1, String::new());
        return Some(cells);
    }
    None
}

/// Whether the first column counts rows or names them.
fn unnamed_first(table: &Structure) -> bool {
    let first: Vec<&str> =
        table.rows.iter().filter_map(|row| row.cells.first()).map(String::as_str).collect();
    let counts = |from: usize| first.iter().enumerate().all(|(i, cell)| *cell == (i + from).to_string());
    first.len() > 1 && (counts(0) || counts(1) || table.looks.first() == Some(&Look::Text))
}

fn names_in_comment(line: usize, comment: &str, table: &Structure) -> Option<(usize, Vec<String>)> {
    let first = table.rows.first().map_or(usize::MAX, |row| row.line);
    if line > first {
        return None;
    }
    let separators = std::iter::once(table.separator).chain(Separator::ALL);
    for separator in separators {
        let mut cells = Vec::new();
        split(comment, separator, &mut cells);
        let words = cells
            .iter()
            .all(|cell| matches!(Look::of(cell), Look::Text | Look::Empty) && !cell.contains(':'));
        if cells.len() == table.width && words && !comment.is_empty() {
            return Some((line, cells.into_iter().map(str::to_string).collect()));
        }
    }
    None
}

/// A row of units: nothing else is in it.
fn is_units(row: &Row, width: usize) -> bool {
    if row.cells.len() > width + 1 || row.cells.len() + 1 < width {
        return false;
    }
    let stated = row.cells.first().is_some_and(|cell| words::says_units(cell));
    let cells: Vec<&String> =
        row.cells.iter().skip(usize::from(stated)).filter(|cell| !cell.is_empty()).collect();
    let real = cells.iter().any(|cell| !matches!(cell.as_str(), "-" | "--"));
    !cells.is_empty() && real && (stated || cells.iter().all(|cell| words::is_unit(cell)) || mostly(&cells))
}

/// Names of signals under units happen to be words; three of four units are enough where there are many.
fn mostly(cells: &[&String]) -> bool {
    cells.len() >= 4 && cells.iter().filter(|cell| words::is_unit(cell)).count() * 4 >= cells.len() * 3
}

fn padded(row: &Row, width: usize) -> Vec<String> {
    let stated = row.cells.first().is_some_and(|cell| words::says_units(cell));
    let mut cells = row.cells.clone();
    if stated {
        cells[0].clear();
    }
    cells.resize(width, String::new());
    cells
}

/// A row of types, as controllers export it.
fn is_types(row: &Row) -> bool {
    const TYPES: [&str; 18] = [
        "real", "lreal", "int", "dint", "uint", "udint", "bool", "float", "double", "string", "word",
        "dword", "byte", "datetime", "integer", "time", "float32", "float64",
    ];
    let cells: Vec<&String> = row.cells.iter().filter(|cell| !cell.is_empty()).collect();
    cells.len() > 1 && cells.iter().all(|cell| TYPES.contains(&cell.to_lowercase().as_str()))
}

fn named(cells: Vec<String>, units: Option<Vec<String>>) -> Header {
    let split: Vec<(String, Option<String>)> = cells.iter().map(|cell| words::name_and_unit(cell)).collect();
    let bare: Vec<String> = split.iter().map(|s| s.0.clone()).collect();
    // Names that only their brackets tell apart keep them.
    let keep = has_twins(&bare) && !has_twins(&cells);
    let mut header = Header { head: Head::Named, names: Vec::new(), units: Vec::new() };
    for (i, (name, unit)) in split.into_iter().enumerate() {
        let below = units.as_ref().and_then(|units| words::unit_of(units.get(i)?));
        header.names.push(if keep { cells[i].clone() } else { name });
        header.units.push(if keep { below } else { unit.or(below) });
    }
    header
}

fn has_twins(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    names.iter().filter(|name| !name.is_empty()).any(|name| !seen.insert(name.as_str()))
}

/// Names under the names of groups: `left`, ``, `right`, `` above `x`, `y`, `x`, `y`.
fn grouped(above: &Row, names: Vec<String>) -> Vec<String> {
    let mut group = String::new();
    let joined: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            if let Some(cell) = above.cells.get(i).filter(|cell| !cell.is_empty()) {
                group.clone_from(cell);
            }
            if group.is_empty() { name.clone() } else { format!("{group} {name}") }
        })
        .collect();
    let fits = above.cells.len() + 1 >= names.len() && above.looks.contains(&Look::Text);
    if fits && !has_twins(&joined) { joined } else { names }
}

/// A first row of numbers that are not data: a count, or times.
fn numbers(table: &mut Structure) -> Option<Header> {
    if !table.before.is_empty() || table.rows.len() < 2 {
        return None;
    }
    let row = &table.rows[0];
    let named = |i: usize| {
        row.cells[i].is_empty()
            || (row.looks[i] == Look::Text && words::meaning(&row.cells[i]) != words::Meaning::Other)
    };
    let rest: Vec<usize> = (0..row.cells.len()).filter(|&i| !named(i)).collect();
    let counted = rest.len() >= 2 && rest.iter().enumerate().all(|(at, &i)| row.cells[i] == at.to_string());
    let head = if counted {
        Head::Counted
    } else if rest.len() >= 8
        && is_regular(&rest.iter().map(|&i| row.cells[i].as_str()).collect::<Vec<_>>())
        && !is_regular(&table.rows[1].cells.iter().map(String::as_str).collect::<Vec<_>>())
    {
        Head::Times
    } else {
        return None;
    };
    let row = table.rows.remove(0);
    let units = vec![None; row.cells.len()];
    Some(Header { head, names: row.cells, units })
}

/// Whether numbers grow by one step.
fn is_regular(cells: &[&str]) -> bool {
    let numbers: Option<Vec<f64>> =
        cells.iter().map(|cell| text::value(cell).filter(|v| v.is_finite())).collect();
    let Some(numbers) = numbers.filter(|all| all.len() >= 3) else { return false };
    let step = (numbers[numbers.len() - 1] - numbers[0]) / (numbers.len() - 1) as f64;
    step > 0.0 && numbers.windows(2).all(|w| ((w[1] - w[0]) - step).abs() <= 1e-3 * step)
}

/// A header that does not fit the rows.
fn misfit(path: &Path, row: &Row, table: &Structure) -> Result<Header> {
    let (names, width) = (row.cells.iter().filter(|cell| !cell.is_empty()).count(), table.width);
    let only_title = names * 2 < width && row.cells.len() != width;
    let commas = table.separator == Separator::Char(b',') && width > names && width <= 2 * names;
    if only_title && !commas {
        return Ok(Header { head: Head::None, names: vec![String::new(); width], units: vec![None; width] });
    }
    let first = table.rows.first().map_or(row.line + 1, |r| r.line);
    let advice = match commas {
        true => {
            "if these are decimal commas, they cannot be told from separators: write the file with semicolons or tabs, or with quotes \
             around numbers"
        }
        false => "give every column its name, or leave lines before the header out with `--skip N`",
    };
    Err(Error::parse(
        path,
        first,
        format!(
            "{} where the header in line {} has {}; {advice}",
            text::count(width, "cell"),
            row.line,
            text::count(names, "name")
        ),
    ))
}
