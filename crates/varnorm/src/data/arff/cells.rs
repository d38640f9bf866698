//! Cells and quotes: `1,'a b',"c"`.

use std::borrow::Cow;

/// One cell as written, without its quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    /// Escapes (`\n`, `\'`) still in place.
    pub raw: &'a str,
    pub quoted: bool,
}

impl Cell<'_> {
    /// The text meant, escapes resolved.
    pub fn text(&self) -> String {
        if self.quoted { unescape(self.raw).into_owned() } else { self.raw.into() }
    }
}

/// The cells of a line, at commas outside quotes. The error is a sentence.
pub(super) fn split(line: &str) -> Result<Vec<Cell<'_>>, String> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = next(rest)?;
        cells.push(cell);
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(cells),
            None => return Err("something follows a closing quote; put a comma between cells".into()),
        }
    }
}

/// The cell at the start of a text, and what follows it.
fn next(text: &str) -> Result<(Cell<'_>, &str), String> {
    if let Some((raw, after)) = quoted(text.trim_start())? {
        return Ok((Cell { raw, quoted: true }, after));
    }
    let end = text.find(',').unwrap_or(text.len());
    Ok((Cell { raw: text[..end].trim(), quoted: false }, &text[end..]))
}

/// A word at the start of a text, quoted or up to white space or a brace, and what follows it.
pub(super) fn word(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    if let Some((raw, after)) = quoted(text)? {
        return Ok((unescape(raw).into_owned(), after));
    }
    // `class{a,b}` is as good as `class {a,b}`.
    let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
    Ok((text[..end].into(), &text[end..]))
}

fn quoted(text: &str) -> Result<Option<(&str, &str)>, String> {
    let Some(quote) = text.bytes().next().filter(|b| b"'\"".contains(b)) else { return Ok(None) };
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return Ok(Some((&text[1..at], &text[at + 1..]))),
            _ => {}
        }
    }
    Err(format!("the quote {} is never closed; close it on the same line", char::from(quote)))
}

fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    let mut text = String::with_capacity(raw.len());
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next().map(|escaped| match escaped {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            })),
            _ => text.push(letter),
        }
    }
    text.into()
}

/// A name or label as written: in quotes wherever leaving them out could change its meaning.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    let mut quoted = String::from("'");
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => quoted.extend(['\\', letter]),
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted.into()
}
