//! What the text formats share: decoding bytes, reading and printing numbers without losing a bit.

#[cfg(feature = "files")]
use std::borrow::Cow;
#[cfg(feature = "files")]
use std::path::Path;

#[cfg(feature = "files")]
use crate::error::{Error, Result};

/// The file's text without a byte order mark: UTF-8 or UTF-16. Other bytes are read as Windows-1252, of which Latin-1 is
/// a part, and a note says so.
#[cfg(feature = "files")]
pub(super) fn decode<'a>(path: &Path, bytes: &'a [u8], notes: &mut Vec<String>) -> Result<Cow<'a, str>> {
    let empty = || Error::file(path, "the file is empty; give a file with at least one series");
    if let Some(encoding) = utf16(bytes) {
        let (text, _) = encoding.decode_with_bom_removal(bytes);
        return if text.trim().is_empty() { Err(empty()) } else { Ok(text) };
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(empty());
    }
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            notes.push("the file is not UTF-8 text; it was read as Windows-1252 (Latin-1)".into());
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0
        }
    })
}

/// UTF-16 has a mark at its beginning, or a zero beside nearly every letter.
#[cfg(feature = "files")]
fn utf16(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let start = &bytes[..bytes.len().min(512)];
    let zeros = |parity: usize| start.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let most = |count: usize| start.len() >= 8 && count * 10 > start.len() * 4;
    if bytes.starts_with(&[0xff, 0xfe]) || (most(zeros(1)) && zeros(0) == 0) {
        return Some(encoding_rs::UTF_16LE);
    }
    (bytes.starts_with(&[0xfe, 0xff]) || (most(zeros(0)) && zeros(1) == 0)).then_some(encoding_rs::UTF_16BE)
}

/// Numbered lines (from 1), trimmed, without blank ones and comments.
pub(super) fn lines<'a>(text: &'a str, comments: &'a [char]) -> impl Iterator<Item = (usize, &'a str)> {
    text.lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
        .filter(move |(_, line)| !line.is_empty() && !line.starts_with(comments))
}

/// A number, or NaN for a missing value (`?`, `NaN` or nothing); `None` when it is neither.
pub(crate) fn value(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() || text == "?" {
        return Some(f64::NAN);
    }
    let number: f64 = text.parse().ok()?;
    // `-nan` must not bring its sign along: there is one way to be missing.
    Some(if number.is_nan() { f64::NAN } else { number })
}

/// Whether a text is a number as a person would write one (not missing).
pub(super) fn is_number(text: &str) -> bool {
    value(text).is_some_and(|v| !v.is_nan())
}

/// The shortest text that reads back as the same bits.
pub(super) fn number(value: f64) -> String {
    format!("{value:?}")
}

/// As [`number`], with `?` for missing.
pub(super) fn number_or_mark(value: f64) -> String {
    if value.is_nan() { "?".into() } else { number(value) }
}

/// A text from the user's file, cut to a length that fits in a sentence.
pub(super) fn quote(text: &str) -> String {
    format!("`{}`", cut(text))
}

/// The same without quotes. A control character, which could command a terminal, is shown as U+FFFD.
pub(super) fn cut(text: &str) -> String {
    const MOST: usize = 40;
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].chars().map(shown).chain("...".chars()).collect(),
        None => text.chars().map(shown).collect(),
    }
}

/// More values than this are not in a line: they would need separators.
pub(super) fn most_values(line: &str) -> usize {
    1 + line.bytes().filter(|byte| matches!(byte, b',' | b':' | b'\\')).count()
}

/// "7 steps", or "7 to 29 steps".
pub(super) fn step_range(lengths: impl Iterator<Item = usize>) -> String {
    let (low, high) = lengths.fold((usize::MAX, 0), |(low, high), l| (low.min(l), high.max(l)));
    if low >= high { format!("{high} steps") } else { format!("{low} to {high} steps") }
}

/// "1 value", "2 values".
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A name on one line, for header lines that end with the line.
pub(super) fn one_line(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts channels (each a list of values) side by side: step by step, as [`crate::SeriesSet`] wants it.
pub(super) fn by_steps(channels: &[Vec<f64>]) -> Vec<f64> {
    let steps = channels.first().map_or(0, Vec::len);
    (0..steps).flat_map(|step| channels.iter().map(move |channel| channel[step])).collect()
}

/// The values of one channel of a series, in order.
pub(super) fn channel(series: crate::Series<'_>, channel: usize) -> impl Iterator<Item = f64> + '_ {
    (0..series.steps()).map(move |step| series.step(step)[channel])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_bit_by_bit() {
        for v in [0.1, -0.0, 1e-308, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 1e16, f64::NAN] {
            assert_eq!(value(&number(v)).map(f64::to_bits), Some(v.to_bits()));
        }
        assert_eq!(value("-nan").map(f64::to_bits), Some(f64::NAN.to_bits()));
        assert_eq!(value(" Infinity "), Some(f64::INFINITY));
        assert_eq!(value("1,5"), None);
    }

    #[test]
    fn bytes_become_text() {
        let mut notes = Vec::new();
        let path = Path::new("x");
        assert_eq!(decode(path, b"\xef\xbb\xbfa", &mut notes).unwrap(), "a");
        assert!(notes.is_empty());
        assert_eq!(decode(path, b"caf\xe9", &mut notes).unwrap(), "caf\u{e9}");
        assert_eq!(notes, ["the file is not UTF-8 text; it was read as Windows-1252 (Latin-1)"]);
        assert!(decode(path, b" \r\n", &mut notes).is_err());
        assert_eq!(decode(path, b"\xff\xfea\0", &mut notes).unwrap(), "a");
        assert_eq!(decode(path, b"\xfe\xff\0a", &mut notes).unwrap(), "a");
        assert_eq!(decode(path, b"a\0,\0b\0\n\0", &mut notes).unwrap(), "a,b\n");
        assert!(decode(path, b"\xff\xfe", &mut notes).is_err());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(quote(&"\u{e9}".repeat(50)), format!("`{}...`", "\u{e9}".repeat(40)));
    }
}
