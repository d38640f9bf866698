//! Numbers as people write them, and what stands for a missing one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::words::{Vocabulary, Word, spelled};

/// The mark between a number's whole part and its decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decimal {
    /// `1234.5`; a comma groups thousands.
    #[default]
    Point,
    /// `1234,5`; a point groups thousands.
    Comma,
}

const DECIMALS: Vocabulary = Vocabulary::names("decimal", "a decimal mark", Decimal::WORDS);

spelled!(Decimal, DECIMALS);

impl Decimal {
    /// Every mark, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("point", "1234.5, and a comma groups thousands").or(&[".", "dot"]),
        Word::new("comma", "1234,5, and a point groups thousands").or(&[","]),
    ];

    fn mark(self) -> u8 {
        if self == Self::Point { b'.' } else { b',' }
    }

    fn group(self) -> u8 {
        if self == Self::Point { b',' } else { b'.' }
    }
}

/// Words that stand for a missing value, in lower case.
const MISSING: [&str; 34] = [
    "", "?", "nan", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "#nv", "null", "none", "nil", "missing", "-",
    "--", "---", "----", "–", "—", ".", "..", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!",
    "#wert!", "k.a.", "<na>", "-nan", "+nan", "nat",
];

/// Whether the text stands for a missing value.
pub(super) fn is_missing(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 12 {
        return false;
    }
    let low = text.to_lowercase();
    MISSING.contains(&low.as_str())
        || (low.contains(".#") && !low.contains("#inf"))
        || low.starts_with("nan(")
}

/// The value of a cell: a number, or NaN where it is missing; `None` where it is neither.
pub(super) fn value(text: &str, decimal: Decimal) -> Option<f64> {
    let text = text.trim();
    let fast = match decimal {
        Decimal::Point => plain(text.as_bytes()),
        Decimal::Comma => None,
    };
    fast.or_else(|| number(text, decimal)).or_else(|| is_missing(text).then_some(f64::NAN))
}

/// The common case: nothing but a number with a point.
fn plain(text: &[u8]) -> Option<f64> {
    matches!(text.first()?, b'0'..=b'9' | b'-' | b'+' | b'.')
        .then(|| fast_float2::parse(text).ok())
        .flatten()
        .filter(|v: &f64| !v.is_nan())
}

/// A number with this decimal mark; groups of thousands have exactly three digits.
pub(super) fn number(text: &str, decimal: Decimal) -> Option<f64> {
    let text = tidy(text.trim());
    if let Some(infinite) = infinite(&text) {
        return Some(infinite);
    }
    let bytes = text.as_bytes();
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let end = bytes.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(bytes.len());
    let mantissa = bytes.get(start..end)?;
    let (whole, decimals) = match mantissa.iter().position(|b| *b == decimal.mark()) {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &[][..]),
    };
    if !decimals.iter().all(u8::is_ascii_digit) || whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len());
    out.extend_from_slice(&bytes[..start]);
    ungrouped(whole, decimal.group(), &mut out)?;
    out.push(b'.');
    out.extend_from_slice(decimals);
    out.extend_from_slice(&bytes[end..]);
    fast_float2::parse(&out).ok()
}

/// Digits without their groups of thousands.
fn ungrouped(whole: &[u8], group: u8, out: &mut Vec<u8>) -> Option<()> {
    let is_mark = |b: u8| b == group || b == b'\'' || b == b' ';
    if !whole.iter().any(|b| is_mark(*b)) {
        out.extend_from_slice(whole);
        return whole.iter().all(u8::is_ascii_digit).then_some(());
    }
    let mark = whole.iter().copied().find(|b| is_mark(*b))?;
    for (i, part) in whole.split(|b| *b == mark).enumerate() {
        let fits = if i == 0 { (1..=3).contains(&part.len()) } else { part.len() == 3 };
        if !fits || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        out.extend_from_slice(part);
    }
    Some(())
}

/// Typographic minus and spaces, Fortran's exponent.
fn tidy(text: &str) -> Cow<'_, str> {
    let odd = |c: char| matches!(c, '\u{2212}' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{2019}' | 'd' | 'D');
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let plain = |c: char| match c {
        '\u{2212}' => '-',
        '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        '\u{2019}' => '\'',
        'd' | 'D' if text.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c)) => 'e',
        c => c,
    };
    Cow::Owned(text.chars().map(plain).collect())
}

fn infinite(text: &str) -> Option<f64> {
    let low = text.to_ascii_lowercase();
    let (sign, rest) = match low.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, low.strip_prefix('+').unwrap_or(&low)),
    };
    let is = matches!(rest, "inf" | "infinity" | "\u{221e}") || rest.starts_with("1.#inf");
    is.then_some(sign * f64::INFINITY)
}

/// `true` and `false`, as programs write states.
pub(super) fn truth(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        return Some(1.0);
    }
    text.eq_ignore_ascii_case("false").then_some(0.0)
}

/// What a cell says about the decimal mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Nothing: no mark in it, or not a number.
    None,
    /// Only this mark makes it a number.
    Certain(Decimal),
    /// `1,234`: a number either way, and a different one. With the mark that it has.
    Open(u8),
}

/// Looks at the marks of one cell.
pub(super) fn evidence(text: &str) -> Evidence {
    let text = text.trim();
    let Some(mark) = text.bytes().find(|b| matches!(b, b'.' | b',')) else { return Evidence::None };
    let (point, comma) = (number(text, Decimal::Point), number(text, Decimal::Comma));
    match (point, comma) {
        (Some(_), None) => Evidence::Certain(Decimal::Point),
        (None, Some(_)) => Evidence::Certain(Decimal::Comma),
        (Some(_), Some(_)) if text.trim_start_matches(['-', '+']).starts_with('0') => {
            // A group of thousands does not begin with a zero.
            Evidence::Certain(if mark == b'.' { Decimal::Point } else { Decimal::Comma })
        }
        (Some(a), Some(b)) if a == b => Evidence::None,
        (Some(_), Some(_)) => Evidence::Open(mark),
        (None, None) => Evidence::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        use Decimal::{Comma, Point};
        for (text, decimal, expected) in [
            ("1234.5", Point, 1234.5),
            ("1,234.5", Point, 1234.5),
            ("1,234,567", Point, 1_234_567.0),
            ("1'234.5", Point, 1234.5),
            ("1 234.5", Point, 1234.5),
            ("1234,5", Comma, 1234.5),
            ("1.234,5", Comma, 1234.5),
            ("1\u{a0}234,5", Comma, 1234.5),
            ("\u{2212}1,5E-3", Comma, -1.5e-3),
            ("1.5D+03", Point, 1500.0),
            ("-1.#INF", Point, f64::NEG_INFINITY),
            (",5", Comma, 0.5),
            ("5.", Point, 5.0),
        ] {
            assert_eq!(value(text, decimal), Some(expected), "{text}");
        }
        for (text, decimal) in [
            ("1,23", Point),
            ("1.23", Comma),
            ("12,34,567", Point),
            ("1.2.3", Point),
            ("abc", Point),
            (".", Point),
            ("1e", Point),
            ("0x1f", Point),
            ("1 23", Point),
            ("2024-01-02", Point),
        ] {
            assert!(number(text, decimal).is_none(), "{text}");
        }
        for text in
            ["", "NaN", "-nan", "N/A", "#N/A", "null", "-", "1.#QNAN", "-1.#IND000", "nan(ind)", "?", "NA"]
        {
            assert!(value(text, Point).is_some_and(f64::is_nan), "{text}");
        }
    }

    #[test]
    fn marks_are_told_from_groups_where_they_can_be() {
        use Decimal::{Comma, Point};
        use Evidence::{Certain, Open};
        for (text, expected) in [
            ("1,5", Certain(Comma)),
            ("0,123", Certain(Comma)),
            ("1234,567", Certain(Comma)),
            ("1.234,5", Certain(Comma)),
            ("1,234.5", Certain(Point)),
            ("1,234,567", Certain(Point)),
            ("-0.500", Certain(Point)),
            ("1,234", Open(b',')),
            ("-12.345", Open(b'.')),
            ("15", Evidence::None),
            ("abc,d", Evidence::None),
        ] {
            assert_eq!(evidence(text), expected, "{text}");
        }
    }
}
