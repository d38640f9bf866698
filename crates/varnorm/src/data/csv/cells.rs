//! Text cut into lines and cells, with quotes and right line numbers.

use memchr::{memchr, memchr2};

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// One character.
    Char(u8),
    /// Spaces or tabs, any number of them.
    Blank,
    /// At least two spaces, or a tab: names may hold single spaces.
    Blanks,
}

impl Separator {
    /// Every separator that is tried, the more common one first.
    pub const ALL: [Self; 6] =
        [Self::Char(b','), Self::Char(b';'), Self::Char(b'\t'), Self::Char(b'|'), Self::Blanks, Self::Blank];
}

/// The records of a text: a line each, or several where a quoted cell holds line breaks.
pub(super) struct Records<'t> {
    text: &'t str,
    separator: Option<u8>,
    end: u8,
    at: usize,
    line: usize,
}

impl<'t> Records<'t> {
    /// From a line of this number (from 1). Quotes open a cell only at its start.
    pub fn new(text: &'t str, separator: Separator, first_line: usize) -> Self {
        // A file without any line feed ends its lines with carriage returns.
        let end = if memchr(b'\n', text.as_bytes()).is_some() { b'\n' } else { b'\r' };
        let separator = match separator {
            Separator::Char(c) => Some(c),
            _ => None,
        };
        Self { text, separator, end, at: 0, line: first_line }
    }

    /// The end of the record that begins at `self.at`, and the line breaks in it.
    fn end_of_record(&self) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        let line_end = |from: usize| memchr(self.end, &bytes[from..]).map_or(bytes.len(), |at| from + at);
        let first = line_end(self.at);
        if memchr(b'"', &bytes[self.at..first]).is_none() {
            return (first, 0);
        }
        let (mut at, mut breaks, mut inside, mut start_of_cell) = (self.at, 0, false, true);
        let mut closed = usize::MAX;
        while at < bytes.len() {
            let byte = bytes[at];
            match byte {
                b'"' if inside => (inside, closed) = (false, at),
                // Right after a closing quote: the two were one quote inside the cell.
                b'"' if start_of_cell || closed.checked_add(1) == Some(at) => inside = true,
                _ if byte == self.end && !inside => return (at, breaks),
                _ if byte == self.end => breaks += 1,
                _ => {}
            }
            let is_separator = self.separator.map_or(byte.is_ascii_whitespace(), |s| byte == s);
            start_of_cell = !inside && (is_separator || (start_of_cell && byte == b' '));
            at += 1;
        }
        // A quote that nobody closes is a character like any other.
        if inside { (first, 0) } else { (bytes.len(), breaks) }
    }
}

impl<'t> Iterator for Records<'t> {
    /// The number of its first line, and the text without the line's end.
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.text.len() {
            return None;
        }
        let (end, breaks) = self.end_of_record();
        let (text, line) = (&self.text[self.at..end], self.line);
        self.at = end + 1;
        self.line += 1 + breaks;
        Some((line, text.trim_end_matches(['\r', '\n'])))
    }
}

/// Cuts a record into trimmed cells without their quotes; doubled quotes inside stay doubled (see [`plain`]).
pub(super) fn split<'t>(record: &'t str, separator: Separator, cells: &mut Vec<&'t str>) {
    cells.clear();
    match separator {
        Separator::Char(mark) => split_at(record, mark, cells),
        Separator::Blank => cells.extend(quoted_words(record.trim())),
        Separator::Blanks => {
            let record = record.trim().trim_matches('\t');
            let parts = record.split('\t').flat_map(|part| part.split("  "));
            cells.extend(parts.map(str::trim).filter(|part| !part.is_empty()));
        }
    }
}

fn split_at<'t>(record: &'t str, mark: u8, cells: &mut Vec<&'t str>) {
    let bytes = record.as_bytes();
    let mut start = 0;
    loop {
        let mut from = start;
        while bytes.get(from) == Some(&b' ') {
            from += 1;
        }
        let end = if bytes.get(from) == Some(&b'"') {
            match closing(bytes, from + 1) {
                Some(close) => memchr(mark, &bytes[close..]).map_or(bytes.len(), |at| close + at),
                None => memchr(mark, &bytes[start..]).map_or(bytes.len(), |at| start + at),
            }
        } else {
            memchr(mark, &bytes[start..]).map_or(bytes.len(), |at| start + at)
        };
        cells.push(unquoted(record[start..end].trim()));
        if end >= bytes.len() {
            return;
        }
        start = end + 1;
    }
}

/// The place of the quote that closes a cell opened before `from`.
fn closing(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr(b'"', bytes.get(from..)?)?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

fn unquoted(cell: &str) -> &str {
    match cell.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) => inner.trim(),
        None => cell,
    }
}

/// Words between blanks; a quoted one may hold blanks.
fn quoted_words(record: &str) -> impl Iterator<Item = &str> {
    let mut rest = record;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let end = match bytes[0] == b'"' {
            true => closing(bytes, 1).map_or(bytes.len(), |at| at + 1),
            false => memchr2(b' ', b'\t', bytes).unwrap_or(bytes.len()),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(unquoted(word))
    })
}

/// A cell with doubled quotes made single.
pub(super) fn plain(cell: &str) -> String {
    cell.replace("\"\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, separator: Separator) -> Vec<(usize, Vec<String>)> {
        let mut cells = Vec::new();
        Records::new(text, separator, 1)
            .map(|(line, record)| {
                split(record, separator, &mut cells);
                (line, cells.iter().map(|c| plain(c)).collect())
            })
            .collect()
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for end in ["\n", "\r\n", "\r", "\r\r\n"] {
            let text = ["a,b", "1,\"x", "y\"", "", "3, \"p,\"\"q\"\" \""].join(end);
            let found = records(&text, Separator::Char(b','));
            let lines: Vec<usize> = found.iter().map(|r| r.0).collect();
            assert_eq!(lines, [1, 2, 4, 5], "{end:?}");
            assert_eq!(found[1].1[1].replace(['\r', '\n'], ""), "xy");
            assert_eq!(found[3].1, ["3", "p,\"q\""]);
        }
    }

    #[test]
    fn a_lone_quote_is_a_character() {
        assert_eq!(
            records("5\" pipe,1\n6,2\n", Separator::Char(b',')),
            [(1, vec!["5\" pipe".into(), "1".into()]), (2, vec!["6".into(), "2".into()])]
        );
        assert_eq!(records("\"open,1\n6,2", Separator::Char(b','))[0].1, ["\"open", "1"]);
    }

    #[test]
    fn blanks_separate_too() {
        assert_eq!(records("  a  b c\t d", Separator::Blank)[0].1, ["a", "b", "c", "d"]);
        assert_eq!(records("  Time (s)   p x\td", Separator::Blanks)[0].1, ["Time (s)", "p x", "d"]);
        assert_eq!(records("\"a b\" c", Separator::Blank)[0].1, ["a b", "c"]);
        assert_eq!(records("1,,", Separator::Char(b','))[0].1, ["1", "", ""]);
    }
}
