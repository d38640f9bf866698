//! [`StampFormat`]: how dates and times are written.

use jiff::civil::Date;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil};

use crate::error::{Error, Result};

/// How stamps are written: a pattern as `strftime` has it, such as `%Y-%m-%d %H:%M:%S%.f`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampFormat {
    /// Fractions of seconds are `%.f`.
    pattern: String,
    /// The same with as many digits of the fraction as the first stamp has.
    printed: String,
    /// Whether fractions follow a comma.
    comma: bool,
    /// Seconds east of UTC, of the first stamp.
    offset: i32,
}

/// What stamps can be read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StampReading {
    /// In one way.
    Certain(StampFormat),
    /// In two ways that mean different times.
    Ambiguous(StampFormat, StampFormat),
    /// In no known format.
    Unknown,
}

/// Dates, by the order in which they are tried.
const DATES: &[&str] = &[
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%Y%m%d",
    "%d-%b-%Y",
    "%d %b %Y",
    "%b %d %Y",
    "%b %d, %Y",
    "%a %b %d %Y",
    "%d %B %Y",
];
/// What stands between a date and a clock time.
const BETWEEN: &[&str] = &["T", " ", ", ", "  ", "_"];
/// Clock times.
const CLOCKS: &[&str] = &["%H:%M:%S%.f", "%H:%M", "%I:%M:%S%.f %p", "%I:%M %p", "%H%M%S%.f", "%H.%M.%S"];
/// Zones, the empty one included.
const ZONES: &[&str] = &["", "Z", "%:z", "%z", " %:z", " %z", " UTC"];

impl StampFormat {
    /// A pattern as `strftime` has it: `%d/%m/%Y %H:%M`.
    pub fn new(pattern: &str) -> Result<Self> {
        let format = Self { pattern: pattern.into(), printed: pattern.into(), comma: false, offset: 0 };
        let at = |second| {
            let zoned = Timestamp::from_second(second).unwrap_or_default().to_zoned(TimeZone::UTC);
            BrokenDownTime::from(&zoned).to_string(pattern).ok()
        };
        // A day, an hour, a minute and a second later it must print something else.
        match (at(0), at(90_061)) {
            (Some(printed), later)
                if later.as_ref() != Some(&printed) && format.parse(&printed).is_some() =>
            {
                Ok(format)
            }
            _ => {
                let rule =
                    "must be a pattern of strftime with a date or a clock time, such as %d/%m/%Y %H:%M:%S";
                Err(Error::bad_param("time_format", pattern, rule))
            }
        }
    }

    /// ISO 8601 in UTC, as it is printed where nothing was read.
    pub(super) fn iso() -> Self {
        let pattern = "%Y-%m-%dT%H:%M:%S%.fZ";
        Self { pattern: pattern.into(), printed: pattern.into(), comma: false, offset: 0 }
    }

    /// The format of these stamps: one in which all of them can be read.
    pub fn of<'a>(stamps: impl Iterator<Item = &'a str> + Clone) -> StampReading {
        let Some(first) = stamps.clone().next() else { return StampReading::Unknown };
        if !first.bytes().any(|b| b.is_ascii_digit()) || first.len() > 48 {
            return StampReading::Unknown;
        }
        let mut candidates: Vec<Self> =
            candidates().filter_map(|pattern| Self::fitted(&pattern, first)).collect();
        for stamp in stamps.clone() {
            candidates.retain(|format| format.parse(stamp).is_some());
            if candidates.is_empty() {
                return StampReading::Unknown;
            }
        }
        let differs =
            |other: &Self| stamps.clone().any(|stamp| other.parse(stamp) != candidates[0].parse(stamp));
        match candidates.iter().skip(1).find(|other| differs(other)) {
            Some(other) => StampReading::Ambiguous(candidates[0].clone(), other.clone()),
            None => StampReading::Certain(candidates.swap_remove(0)),
        }
    }

    /// The pattern with what the first stamp tells: digits of fractions, comma, offset.
    fn fitted(pattern: &str, first: &str) -> Option<Self> {
        let comma = pattern.contains("%.f") && first.contains(',') && !pattern.contains(',');
        let mut format = Self { pattern: pattern.into(), printed: pattern.into(), comma, offset: 0 };
        let (_, offset) = format.read(first)?;
        // Points stand in dates too: a fraction follows the clock time.
        let clock = first.rsplit_once(':').map_or("", |(_, after)| after);
        let digits = clock
            .split_once(if comma { ',' } else { '.' })
            .map_or(0, |(_, after)| after.bytes().take_while(u8::is_ascii_digit).count());
        let fraction = if digits == 0 { String::new() } else { format!("%.{digits}f") };
        format.offset = offset.map_or(0, Offset::seconds);
        format.printed = pattern.replace("%.f", &fraction);
        Some(format)
    }

    /// The pattern, as `strftime` has it.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether it has no date.
    pub(super) fn is_clock(&self) -> bool {
        !["%d", "%j", "%F", "%D", "%s", "%e"].iter().any(|day| self.pattern.contains(day))
    }

    /// Nanoseconds since 1970 in UTC.
    pub fn parse(&self, stamp: &str) -> Option<i64> {
        self.read(stamp).map(|(nanoseconds, _)| nanoseconds)
    }

    fn read(&self, stamp: &str) -> Option<(i64, Option<Offset>)> {
        let stamp = stamp.trim();
        let replaced = self.comma.then(|| stamp.replace(',', "."));
        let found = BrokenDownTime::parse(&self.pattern, replaced.as_deref().unwrap_or(stamp)).ok()?;
        if let Some(instant) = found.timestamp() {
            return Some((i64::try_from(instant.as_nanosecond()).ok()?, None));
        }
        let offset = found.offset();
        let at: civil::DateTime = match self.is_clock() {
            true => Date::constant(1970, 1, 1).to_datetime(found.to_time().ok()?),
            false => found.to_datetime().ok()?,
        };
        let instant = offset.unwrap_or(Offset::UTC).to_timestamp(at).ok()?;
        Some((i64::try_from(instant.as_nanosecond()).ok()?, offset))
    }

    /// The stamp of so many nanoseconds since 1970; empty where no such stamp can be written.
    pub fn print(&self, nanoseconds: i64) -> String {
        let zone = TimeZone::fixed(Offset::from_seconds(self.offset).unwrap_or(Offset::UTC));
        let Ok(instant) = Timestamp::from_nanosecond(i128::from(nanoseconds)) else { return String::new() };
        let text = BrokenDownTime::from(&instant.to_zoned(zone)).to_string(&self.printed).unwrap_or_default();
        if self.comma { text.replace('.', ",") } else { text }
    }
}

/// The pattern.
impl std::fmt::Display for StampFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.pattern)
    }
}

/// Every known pattern: dates with and without clock times and zones, then clock times alone.
fn candidates() -> impl Iterator<Item = String> {
    let dated = DATES.iter().flat_map(|date| {
        let clocked = BETWEEN.iter().flat_map(move |between| {
            CLOCKS
                .iter()
                .flat_map(move |clock| ZONES.iter().map(move |zone| format!("{date}{between}{clock}{zone}")))
        });
        std::iter::once(date.to_string()).chain(clocked)
    });
    dated.chain(CLOCKS.iter().map(|clock| clock.to_string()))
}

/// Clock times without a date go on after midnight.
pub(super) fn unroll(stamps: &mut [i64]) {
    const DAY: i64 = 86_400_000_000_000;
    let mut days = 0;
    for at in 1..stamps.len() {
        stamps[at] += days * DAY;
        if stamps[at - 1] - stamps[at] > DAY / 2 {
            stamps[at] += DAY;
            days += 1;
        }
    }
}
