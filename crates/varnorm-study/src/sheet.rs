//! [`Sheet`]: a table of a benchmark as text, Markdown or a page.

use std::fmt::Write;

use varnorm::internal::page;
use varnorm::internal::plot::escaped;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Aligned columns for people.
    Text,
    /// A table of a Markdown page.
    Markdown,
    /// A page.
    Html,
}

/// A table with what must be said about it.
pub(crate) struct Sheet<'a> {
    pub(crate) title: &'a str,
    pub(crate) legend: &'a str,
    pub(crate) columns: &'a [&'a str],
    /// Columns of words; the others are numbers.
    pub(crate) words: &'a [usize],
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
}

/// Three digits, without the leading zero, as areas are written.
pub(crate) fn share(value: f64) -> String {
    let text = format!("{value:.3}");
    text.strip_prefix('0').map_or(text.clone(), str::to_string)
}

impl Sheet<'_> {
    /// The table in a layout.
    pub(crate) fn written(&self, layout: Layout) -> String {
        match layout {
            Layout::Text => self.text(),
            Layout::Markdown => self.markdown(),
            Layout::Html => self.html(),
        }
    }

    fn text(&self) -> String {
        let heading = self.columns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = || std::iter::once(&heading).chain(&self.rows);
        let width = |c: usize| all().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut out = String::new();
        for row in all() {
            let cells = row.iter().zip(&widths).enumerate().map(|(c, (cell, width))| {
                let cell: String =
                    cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
                if self.words.contains(&c) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        self.notes
            .iter()
            .for_each(|note| out.push_str(&format!("note: {}\n", note.replace(char::is_control, " "))));
        out
    }

    fn markdown(&self) -> String {
        let rule = |c: usize| if self.words.contains(&c) { "---|" } else { "---:|" };
        let rules: String = (0..self.columns.len()).map(rule).collect();
        let mut out = format!("| {} |\n|{rules}\n", self.columns.join(" | "));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        let _ = write!(out, "\n{}\n", self.legend);
        if !self.notes.is_empty() {
            out.push('\n');
        }
        self.notes
            .iter()
            .for_each(|note| out.push_str(&format!("- {}\n", note.replace(char::is_control, " "))));
        out
    }

    fn html(&self) -> String {
        let title = self.title;
        let class = |c: usize| if self.words.contains(&c) { "" } else { " class=\"number\"" };
        let mut main = format!(
            "<h1>{title}</h1><p>{}</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
             <table class=\"areas\"><thead><tr>",
            escaped(self.legend)
        );
        for (c, heading) in self.columns.iter().enumerate() {
            let _ = write!(main, "<th scope=\"col\"{}>{heading}</th>", class(c));
        }
        main.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            main.push_str("<tr>");
            for (c, cell) in row.iter().enumerate() {
                let cell = escaped(cell);
                let _ = match c {
                    0 => write!(main, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(main, "<td{}>{cell}</td>", class(c)),
                };
            }
            main.push_str("</tr>");
        }
        main.push_str("</tbody></table></div>");
        if !self.notes.is_empty() {
            let notes: String = self.notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
            let _ = write!(main, "<ul>{notes}</ul>");
        }
        page::page(&format!("{title} · varnorm"), &main)
    }
}
