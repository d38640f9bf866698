//! [`Recording`]: one long series with its gaps.

use std::ops::Range;

use crate::error::{Error, Result};

/// One long recording: rows of channels, and where rows are missing between two of them.
///
/// A row with a missing value (NaN) is a gap of its own: it is in no window and has no score.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    values: &'a [f64],
    channels: usize,
    breaks: &'a [usize],
}

impl<'a> Recording<'a> {
    /// Rows after rows, without gaps.
    pub fn new(values: &'a [f64], channels: usize) -> Result<Self> {
        if channels == 0 || !values.len().is_multiple_of(channels) {
            let rule = format!("must be whole rows of {channels} channels, at least one");
            return Err(Error::bad_param("values", format!("{} numbers", values.len()), rule));
        }
        Ok(Self { values, channels, breaks: &[] })
    }

    /// The same with gaps: rows are missing before each of these rows. They must ascend.
    pub fn with_breaks(self, breaks: &'a [usize]) -> Result<Self> {
        if !breaks.is_sorted_by(|a, b| a < b) || breaks.last().is_some_and(|last| *last > self.rows()) {
            let rule = format!("must ascend and be at most {}, the number of rows", self.rows());
            return Err(Error::bad_param("breaks", format!("{} rows", breaks.len()), rule));
        }
        Ok(Self { breaks, ..self })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.channels
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All values, row by row.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The rows before which rows are missing.
    pub fn breaks(&self) -> &'a [usize] {
        self.breaks
    }

    /// Some rows.
    pub(super) fn values_of(&self, rows: Range<usize>) -> &'a [f64] {
        &self.values[rows.start * self.channels..rows.end * self.channels]
    }

    /// The parts without a gap, in order: no window crosses their ends.
    pub(super) fn segments(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        let mut breaks = self.breaks.iter().copied().peekable();
        let mut close = |start: usize, end: usize| {
            if start < end {
                found.push(start..end);
            }
        };
        for (row, values) in self.values.chunks_exact(self.channels).enumerate() {
            if breaks.next_if_eq(&row).is_some() {
                close(start, row);
                start = row;
            }
            if !is_present(values) {
                close(start, row);
                start = row + 1;
            }
        }
        close(start, self.rows());
        found
    }

    /// An error where a value is infinite.
    pub(super) fn require_no_infinity(&self) -> Result<()> {
        match self.values.iter().position(|v| v.is_infinite()) {
            None => Ok(()),
            Some(at) => Err(Error::NonFinite {
                series: 0,
                step: at / self.channels,
                channel: at % self.channels,
                value: self.values[at],
                after: String::new(),
            }),
        }
    }
}

/// Whether a row can be scored: all its values are there.
pub(super) fn is_present(row: &[f64]) -> bool {
    row.iter().all(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_end_at_breaks_and_at_missing_values() {
        let mut values: Vec<f64> = (0..20).map(f64::from).collect();
        values[9] = f64::NAN;
        let breaks = [0, 2, 7, 10];
        let recording = Recording::new(&values, 2).unwrap().with_breaks(&breaks).unwrap();
        assert_eq!(recording.segments(), [0..2, 2..4, 5..7, 7..10]);
        assert!(Recording::new(&values, 3).is_err() && Recording::new(&values, 0).is_err());
        assert!(recording.with_breaks(&[3, 3]).is_err() && recording.with_breaks(&[11]).is_err());
        assert!(Recording::new(&[], 2).unwrap().segments().is_empty());
    }
}
