//! [`ReadLimits`]: how much a reader takes in, for files of strangers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// How much a reader may take in, and when it is to stop. Readers look while they read: what is beyond costs no more than
/// what is allowed.
#[derive(Debug, Clone)]
pub struct ReadLimits {
    /// Series.
    pub series: usize,
    /// Steps of a series.
    pub steps: usize,
    /// Channels.
    pub channels: usize,
    /// Bytes of memory that what is read may take, eight for a value; about as much again is needed while reading.
    pub bytes: usize,
    /// Reading stops where this is set.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for ReadLimits {
    /// No limits.
    fn default() -> Self {
        Self { series: usize::MAX, steps: usize::MAX, channels: usize::MAX, bytes: usize::MAX, cancel: None }
    }
}

impl ReadLimits {
    /// Looks at what was read so far: series, steps of the last of them, channels, and values in all.
    pub(super) fn admit(&self, series: usize, steps: usize, channels: usize, values: usize) -> Result<()> {
        self.check()?;
        over(series, self.series, "series")?;
        over(steps, self.steps, "steps of a series")?;
        over(channels, self.channels, "channels")?;
        self.room(values, 8)
    }

    /// Whether so many things of so many bytes may be held.
    pub(super) fn room(&self, count: usize, each: usize) -> Result<()> {
        over(count.saturating_mul(each), self.bytes, "bytes of memory for the values of one file")
    }

    /// `Err(Cancelled)` once the caller has asked to stop.
    pub(super) fn check(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

fn over(found: usize, most: usize, what: &str) -> Result<()> {
    if found <= most { Ok(()) } else { Err(Error::Limit { found: format!("there are more {what}"), most }) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::data::{Format, ReadOptions, read_bytes_within};

    fn refused(format: Format, bytes: &[u8], limits: &ReadLimits) -> String {
        let read = read_bytes_within(Path::new("x"), bytes, format, &ReadOptions::default(), limits);
        read.unwrap_err().to_string()
    }

    #[test]
    fn every_text_reader_stops_while_it_reads() {
        // What follows the limit is not readable: a reader that gets there says so instead.
        let files = [
            (Format::Ts, "@data\n1,2,3\n4,5,6\n7,8,9\nnot a number\n".to_string()),
            (Format::Arff, "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@data\n1,2,3\n4,5,6\n7,8,9\nnot a number\n".into()),
        ];
        for (format, text) in files {
            let none = ReadLimits::default();
            for (limits, words) in [
                (ReadLimits { series: 2, ..none.clone() }, "more series where at most 2"),
                (ReadLimits { steps: 2, ..none.clone() }, "more steps of a series where at most 2"),
                (ReadLimits { channels: 0, ..none.clone() }, "more channels where at most 0"),
                (ReadLimits { bytes: 7 * 8, ..none.clone() }, "more bytes of memory"),
                (ReadLimits { cancel: Some(Arc::new(AtomicBool::new(true))), ..none }, "stopped on request"),
            ] {
                let error = refused(format, text.as_bytes(), &limits);
                assert!(error.contains(words), "{format:?}: {error}");
            }
        }
    }

    #[test]
    fn a_table_is_held_to_the_memory_of_its_values() {
        let text = "1\n".repeat(100_000);
        let limits = ReadLimits { bytes: 1 << 19, ..ReadLimits::default() };
        assert!(refused(Format::Csv, text.as_bytes(), &limits).contains("bytes of memory"));
        let limits = ReadLimits { series: 10, ..ReadLimits::default() };
        let rows: String = (0..20).map(|i| format!("s{i},1,2\n")).collect();
        let rows = format!("case_id,a_0,a_1\n{rows}");
        assert!(refused(Format::Csv, rows.as_bytes(), &limits).contains("more series"));
    }

    #[test]
    fn an_array_is_held_to_the_numbers_that_it_becomes() {
        // One byte each in the file, eight in memory.
        let mut file = crate::data::npz::header_for_tests("|u1", &[100, 10, 2]);
        file.extend(vec![0; 2000]);
        let none = ReadLimits::default();
        for (limits, words) in [
            (ReadLimits { bytes: 15_999, ..none.clone() }, "bytes of memory"),
            (ReadLimits { series: 99, ..none.clone() }, "more series where at most 99"),
            (ReadLimits { steps: 9, ..none.clone() }, "more steps of a series where at most 9"),
            (ReadLimits { channels: 1, ..none.clone() }, "more channels where at most 1"),
        ] {
            let error = refused(Format::Npy, &file, &limits);
            assert!(error.contains(words), "{error}");
        }
        let limits = ReadLimits { bytes: 16_000, series: 100, steps: 10, channels: 2, ..none };
        let read = read_bytes_within(Path::new("x"), &file, Format::Npy, &ReadOptions::default(), &limits);
        assert_eq!(read.unwrap().series.len(), 100);
    }
}
