//! How many series there are, how wide and how long.

use serde::Serialize;

use super::count;
use crate::data::SeriesSet;

/// Lengths of series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lengths {
    /// The shortest.
    pub min: usize,
    /// The upper median.
    pub median: usize,
    /// The longest.
    pub max: usize,
}

impl Lengths {
    /// Of some series; zeros where there are none.
    pub fn of(series: &SeriesSet) -> Self {
        let mut lengths: Vec<usize> = series.lengths().collect();
        lengths.sort_unstable();
        let at = |i: usize| lengths.get(i).copied().unwrap_or(0);
        Self { min: at(0), median: at(lengths.len() / 2), max: at(lengths.len().saturating_sub(1)) }
    }
}

impl std::fmt::Display for Lengths {
    /// "100 steps each", or "7 to 29 steps, median 12".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self { min, max, .. } if min == max => write!(f, "{} each", count(*max, "step")),
            Self { min, median, max } => write!(f, "{min} to {max} steps, median {median}"),
        }
    }
}

/// "10 series of 6 channels, 100 steps each".
pub fn series(set: &SeriesSet) -> String {
    let (series, channels) = (count(set.len(), "series"), count(set.channels(), "channel"));
    format!("{series} of {channels}, {}", Lengths::of(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_said_once_where_they_are_equal() {
        let mut set = SeriesSet::new(2).unwrap();
        set.push(&[0.0; 6]).unwrap();
        assert_eq!(series(&set), "1 series of 2 channels, 3 steps each");
        set.push(&[0.0; 2]).unwrap();
        set.push(&[0.0; 8]).unwrap();
        assert_eq!(series(&set), "3 series of 2 channels, 1 to 4 steps, median 3");
    }
}
