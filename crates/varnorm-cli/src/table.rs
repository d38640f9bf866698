//! [`Table`]: rows and columns, aligned for people or as CSV for programs.

use std::io::{self, Write};

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Cells under headings.
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: Vec<(&'static str, Align)>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Appends a row; it should have a cell per column.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Columns as wide as their widest cell, two spaces apart.
    pub fn write_aligned(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_colored(out, &[])
    }

    /// The same with some rows in colour, for a terminal.
    pub fn write_colored(&self, out: &mut dyn Write, marked: &[bool]) -> io::Result<()> {
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_string()).collect();
        let all = || std::iter::once(&headings).chain(&self.rows);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|c| all().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        for (at, row) in all().enumerate() {
            // The first row is that of the headings.
            let (start, end) = match at.checked_sub(1).and_then(|at| marked.get(at)) {
                Some(true) => ("\u{1b}[31m", "\u{1b}[0m"),
                _ => ("", ""),
            };
            let cells = row.iter().zip(&self.columns).zip(&widths);
            let line: Vec<String> = cells
                .map(|((cell, (_, align)), width)| match align {
                    Align::Left => format!("{:<width$}", printable(cell)),
                    Align::Right => format!("{:>width$}", printable(cell)),
                })
                .collect();
            writeln!(out, "{start}{}{end}", line.join("  ").trim_end())?;
        }
        Ok(())
    }

    /// Comma-separated, with a header row.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let headings: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        writeln!(out, "{}", headings.join(","))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }
}

/// Two columns of words: what, and its value; long values go on below themselves.
pub fn write_facts<N: AsRef<str>>(out: &mut dyn Write, facts: &[(N, String)]) -> io::Result<()> {
    let width = facts.iter().map(|(name, _)| name.as_ref().chars().count()).max().unwrap_or(0);
    for (name, value) in facts {
        for (i, line) in value.lines().enumerate() {
            let name = if i == 0 { name.as_ref() } else { "" };
            writeln!(out, "{name:<width$}  {}", printable(line))?;
        }
    }
    Ok(())
}

/// Names come from files: no control character may reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_csv_needs_it() {
        let mut table = Table::new(vec![("a", Align::Left), ("b", Align::Right)]);
        table.push(vec!["x,\"y\"".into(), "1".into()]);
        let mut out = Vec::new();
        table.write_csv(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\n\"x,\"\"y\"\"\",1\n");
    }

    #[test]
    fn marked_rows_are_coloured_and_no_others() {
        let mut table = Table::new(vec![("a", Align::Left)]);
        table.push(vec!["x".into()]);
        table.push(vec!["y".into()]);
        let mut out = Vec::new();
        table.write_colored(&mut out, &[false, true]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\nx\n\u{1b}[31my\u{1b}[0m\n");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut table = Table::new(vec![("a", Align::Left)]);
        table.push(vec!["\u{1b}[31m".into()]);
        let mut out = Vec::new();
        table.write_aligned(&mut out).unwrap();
        assert!(!out.contains(&0x1b));
    }
}
