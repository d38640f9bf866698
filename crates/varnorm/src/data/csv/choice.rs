//! [`Columns`]: what the user says about the columns of tables, where a file does not tell.

use crate::error::{Error, Result};

use super::super::text;
use super::number::Decimal;

/// What the user says about the columns of a table (CSV, Parquet, Arrow), where the file does not tell.
///
/// A column is given by its name, in any case and without its unit, or by its number from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Columns {
    /// The column of times, `none`, or two columns as `Date+Time`; what it holds may follow, as `Date=dmy`.
    pub time: Option<String>,
    /// The column that names the series, `none`, several as `machine+run`, or `restart`: a series begins where time does.
    pub case: Option<String>,
    /// The channels; all columns of numbers without.
    pub channels: Vec<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The decimal mark of numbers.
    pub decimal: Option<Decimal>,
    /// Lines before the header, or before the data.
    pub skip: usize,
}

impl Columns {
    /// The column of times.
    pub fn with_time(mut self, time: impl Into<Option<String>>) -> Self {
        self.time = time.into();
        self
    }

    /// The column that names the series.
    pub fn with_case(mut self, case: impl Into<Option<String>>) -> Self {
        self.case = case.into();
        self
    }

    /// The channels.
    pub fn with_channels(mut self, channels: Vec<String>) -> Self {
        self.channels = channels;
        self
    }

    /// Columns to leave out.
    pub fn with_ignore(mut self, ignore: Vec<String>) -> Self {
        self.ignore = ignore;
        self
    }

    /// The decimal mark of numbers.
    pub fn with_decimal(mut self, decimal: impl Into<Option<Decimal>>) -> Self {
        self.decimal = decimal.into();
        self
    }

    /// Lines before the header.
    pub fn with_skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }
}

/// The option that asked for a column, for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked(pub &'static str);

impl Asked {
    /// The place of a column by its name or number.
    pub fn find(self, word: &str, names: &[String], raw: &[String]) -> Result<usize> {
        let word = word.trim();
        let low = word.to_lowercase();
        let tests: [&dyn Fn(usize) -> bool; 4] = [
            &|i| raw.get(i).is_some_and(|name| name == word),
            &|i| names[i] == word,
            &|i| raw.get(i).is_some_and(|name| name.to_lowercase() == low),
            &|i| names[i].to_lowercase() == low,
        ];
        for test in tests {
            let found: Vec<usize> = (0..names.len()).filter(|&i| test(i)).collect();
            match found[..] {
                [] => {}
                [one] => return Ok(one),
                [first, second, ..] => {
                    let rule = format!(
                        "columns {} and {} have this name; give the column's number",
                        first + 1,
                        second + 1
                    );
                    return Err(Error::bad_param(self.0, word, rule));
                }
            }
        }
        match word.parse::<usize>() {
            Ok(number) if (1..=names.len()).contains(&number) => Ok(number - 1),
            _ => {
                let known: Vec<String> =
                    names.iter().filter(|n| !n.is_empty()).take(12).map(|n| text::cut(n)).collect();
                let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
                let rule = format!(
                    "there is no such column{known}; give a name, or a number from 1 to {}",
                    names.len()
                );
                Err(Error::bad_param(self.0, word, rule))
            }
        }
    }
}

/// What `time` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TimeAsked {
    /// No column.
    None,
    /// These columns (one, or a date and a clock time; none where only the format is given), and what they hold.
    Columns(Vec<usize>, Option<String>),
}

/// Words for what a column of times holds.
const FORMATS: [&str; 12] = ["dmy", "mdy", "ymd", "excel", "epoch", "ns", "us", "ms", "s", "min", "h", "d"];

/// Reads `Date+Time=dmy`.
pub(super) fn time_asked(word: &str, names: &[String], raw: &[String]) -> Result<TimeAsked> {
    let asked = Asked("time");
    if let Ok(column) = asked.find(word, names, raw) {
        return Ok(TimeAsked::Columns(vec![column], None));
    }
    if word.trim().eq_ignore_ascii_case("none") {
        return Ok(TimeAsked::None);
    }
    let is_format = |format: &str| FORMATS.contains(&format) || format.contains('%');
    if FORMATS.contains(&word) || word.starts_with('%') {
        return Ok(TimeAsked::Columns(Vec::new(), Some(word.into())));
    }
    let (columns, format) = match word.rsplit_once('=') {
        Some((columns, format)) if is_format(format) => (columns, Some(format.to_string())),
        Some((columns, format)) if !columns.is_empty() && !word.contains('+') => {
            asked.find(columns, names, raw)?;
            let rule =
                format!("must be one of {}, or a pattern of strftime such as %d/%m/%Y", FORMATS.join(", "));
            return Err(Error::bad_param("time", format, rule));
        }
        _ => (word, None),
    };
    let found: Result<Vec<usize>> = several(asked, columns, names, raw);
    Ok(TimeAsked::Columns(found?, format))
}

/// Columns joined by `+`.
pub(super) fn several(asked: Asked, word: &str, names: &[String], raw: &[String]) -> Result<Vec<usize>> {
    if let Ok(one) = asked.find(word, names, raw) {
        return Ok(vec![one]);
    }
    word.split('+').map(|part| asked.find(part, names, raw)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|n| n.to_string()).collect()
    }

    #[test]
    fn columns_are_found_by_name_or_number() {
        let (bare, raw) = (names(&["Date", "Time", "p", "a=b"]), names(&["Date", "Time", "p [bar]", "a=b"]));
        let find = |word: &str| Asked("ignore").find(word, &bare, &raw);
        assert_eq!((find("p").unwrap(), find("P [bar]").unwrap(), find("3").unwrap()), (2, 2, 2));
        assert_eq!(
            find("q").unwrap_err().to_string(),
            "ignore = q: there is no such column (Date, Time, p, a=b); give a name, or a number from 1 to 4"
        );
        let twins = names(&["a", "a"]);
        assert!(
            Asked("ignore")
                .find("a", &twins, &twins)
                .unwrap_err()
                .to_string()
                .contains("columns 1 and 2 have this name")
        );
        let time = |word: &str| time_asked(word, &bare, &raw);
        assert_eq!(time("none").unwrap(), TimeAsked::None);
        assert_eq!(time("date+time=dmy").unwrap(), TimeAsked::Columns(vec![0, 1], Some("dmy".into())));
        assert_eq!(time("a=b").unwrap(), TimeAsked::Columns(vec![3], None));
        assert_eq!(time("mdy").unwrap(), TimeAsked::Columns(vec![], Some("mdy".into())));
        assert_eq!(time("Date=%d/%m/%Y").unwrap(), TimeAsked::Columns(vec![0], Some("%d/%m/%Y".into())));
        assert!(time("Date=xyz").unwrap_err().to_string().contains("must be one of dmy"));
    }
}
