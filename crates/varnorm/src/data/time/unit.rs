//! [`TimeUnit`]: units of time.

use serde::{Deserialize, Serialize};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanosecond,
    /// Microseconds.
    #[serde(rename = "us")]
    Microsecond,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Minutes.
    #[serde(rename = "min")]
    Minute,
    /// Hours.
    #[serde(rename = "h")]
    Hour,
    /// Days of 24 hours.
    #[serde(rename = "d")]
    Day,
}

/// Each unit with its words, the one that is printed first, and how many of it (or 1 / so many) make a second.
const UNITS: [(TimeUnit, &[&str], f64); 7] = [
    (TimeUnit::Nanosecond, &["ns", "nsec", "nanosecond", "nanoseconds"], 1e-9),
    (TimeUnit::Microsecond, &["us", "µs", "μs", "usec", "microsecond", "microseconds"], 1e-6),
    (TimeUnit::Millisecond, &["ms", "msec", "millis", "millisecond", "milliseconds"], 1e-3),
    (TimeUnit::Second, &["s", "sec", "secs", "second", "seconds"], 1.0),
    (TimeUnit::Minute, &["min", "mins", "minute", "minutes"], 60.0),
    (TimeUnit::Hour, &["h", "hr", "hrs", "hour", "hours"], 3600.0),
    (TimeUnit::Day, &["d", "day", "days"], 86400.0),
];

impl TimeUnit {
    /// By a word for it: `ms`, `msec`, `milliseconds`; in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase();
        UNITS.iter().find(|(_, words, _)| words.contains(&word.as_str())).map(|(unit, ..)| *unit)
    }

    /// Its short word: `ms`.
    pub fn word(self) -> &'static str {
        UNITS[self as usize].1[0]
    }

    /// How many seconds it is.
    pub fn seconds(self) -> f64 {
        UNITS[self as usize].2
    }

    /// The largest unit of which so many seconds are at least one.
    pub(super) fn fitting(seconds: f64) -> Self {
        // Minutes and days only where they come out even: 90 s, not 1.5 min.
        let fits = |unit: &Self| {
            let many = seconds / unit.seconds();
            let exact = (many - many.round()).abs() <= 1e-6 * many;
            many >= 1.0 && (*unit <= Self::Second || exact)
        };
        UNITS.iter().rev().map(|(unit, ..)| *unit).find(fits).unwrap_or(Self::Nanosecond)
    }
}

impl std::fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
