//! Plain tables: headings and cells, aligned or for a Markdown page.

use super::Layout;

/// The first column is of words, the others of numbers.
pub(super) fn written(columns: &[&str], rows: &[Vec<String>], layout: Layout) -> String {
    let heading: Vec<String> = columns.iter().map(ToString::to_string).collect();
    let mut lines = Vec::new();
    match layout {
        Layout::Text => {
            let width = |c: usize| {
                let cells = std::iter::once(&heading).chain(rows);
                cells.map(|row| row[c].chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..columns.len()).map(width).collect();
            for row in std::iter::once(&heading).chain(rows) {
                let cells = row.iter().zip(&widths).enumerate();
                let padded: Vec<String> = cells
                    .map(
                        |(c, (cell, width))| {
                            if c == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                        },
                    )
                    .collect();
                lines.push(padded.join("  "));
            }
        }
        Layout::Markdown | Layout::Html => {
            let line = |row: &[String]| format!("| {} |", row.join(" | "));
            lines.push(line(&heading));
            lines.push(format!("|{}", "---|".repeat(columns.len())));
            lines.extend(rows.iter().map(|row| line(row)));
        }
    }
    lines.join("\n") + "\n"
}
