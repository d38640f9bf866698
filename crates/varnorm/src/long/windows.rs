//! Windows of segments: how long they are, where they begin, which of them a model keeps.

use std::ops::Range;

use super::settings::{LONGEST, LongSettings, SHORTEST, Window};
use crate::error::{Error, Result};
use crate::random::Uniform;

/// Rows that the autocorrelation is computed from.
const ROWS_FOR_PERIOD: usize = 20_000;
/// The window of several channels, where it is left open.
const SEVERAL_CHANNELS: usize = 32;
/// The window of one channel without a period.
const NO_PERIOD: usize = 64;

/// The window in effect. `longest` is the longest segment, in the units of the model.
pub(super) fn choose(settings: &LongSettings, channels: usize, longest: &[f64]) -> usize {
    match settings.window {
        Window::Steps(steps) => steps,
        Window::Auto if channels > 1 => SEVERAL_CHANNELS,
        Window::Auto => period(&longest[..longest.len().min(ROWS_FOR_PERIOD)]).unwrap_or(NO_PERIOD),
    }
}

/// The highest peak of the autocorrelation; the first of equal ones.
fn period(values: &[f64]) -> Option<usize> {
    let longest = LONGEST.min(values.len() / 4);
    if longest <= SHORTEST {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let at = |lag: usize| -> f64 { centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum() };
    let correlation: Vec<f64> = (0..=longest + 1).map(at).collect();
    let is_peak =
        |lag: &usize| correlation[*lag] > correlation[lag - 1] && correlation[*lag] >= correlation[lag + 1];
    let highest = |best: usize, lag: usize| if correlation[lag] > correlation[best] { lag } else { best };
    (SHORTEST..=longest).filter(is_peak).reduce(highest)
}

/// Where all windows of some segments begin, as the ranges of their first rows.
pub(super) fn starts(segments: &[Range<usize>], window: usize) -> Vec<Range<usize>> {
    let long = segments.iter().filter(|segment| segment.len() >= window);
    long.map(|segment| segment.start..segment.end + 1 - window).collect()
}

/// At most so many of the starts, one at a random place of every stretch of equal length: a fixed step could meet the same phase of
/// a period every time.
pub(super) fn sample(starts: &[Range<usize>], most: usize, seed: u64) -> Vec<usize> {
    let total: usize = starts.iter().map(ExactSizeIterator::len).sum();
    let kept = most.min(total);
    let mut random = Uniform::new(seed);
    let mut before = 0;
    let mut ranges = starts.iter().peekable();
    (0..kept)
        .filter_map(|i| {
            let (from, to) = (i * total / kept, (i + 1) * total / kept);
            let place = from + random.below(to - from);
            while ranges.peek().is_some_and(|range| place >= before + range.len()) {
                before += ranges.next().map_or(0, ExactSizeIterator::len);
            }
            ranges.peek().map(|range| range.start + (place - before))
        })
        .collect()
}

/// An error that says how much is needed where there are too few windows.
pub(super) fn require(count: usize, window: usize, longest: usize) -> Result<()> {
    if count >= 2 {
        return Ok(());
    }
    let rule = format!(
        "the normal part has {count} windows of so many steps (its longest stretch without a gap has {longest} rows); \
         choose a shorter window, or give more rows"
    );
    Err(Error::bad_param("window", window, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_windows_of_segments_spread_over_all() {
        let found = starts(&[0..10, 20..24, 30..33, 40..44], 4);
        assert_eq!(found, [0..7, 20..21, 40..41]);
        assert_eq!(sample(&found, 100, 1), [0, 1, 2, 3, 4, 5, 6, 20, 40]);
        let some = sample(&starts(&[0..1000, 2000..3000], 11), 99, 5);
        assert_eq!(some.len(), 99);
        assert!(some.is_sorted_by(|a, b| a < b));
        assert!(some.iter().all(|s| *s < 990 || (2000..2990).contains(s)));
        assert!(some.windows(2).filter(|w| w[1] < 1000).all(|w| w[1] - w[0] < 41));
        assert!(sample(&[], 5, 0).is_empty());
    }

    #[test]
    fn the_window_is_the_period() {
        let wave = |period: f64| {
            (0..4000).map(|t| (std::f64::consts::TAU * f64::from(t) / period).sin()).collect::<Vec<_>>()
        };
        let settings = LongSettings::default();
        for steps in [20usize, 50, 200] {
            assert_eq!(choose(&settings, 1, &wave(steps as f64)), steps);
        }
        // A short period is met again later; without one there is a default.
        assert_eq!(choose(&settings, 1, &wave(9.0)), 18);
        assert_eq!(choose(&settings, 1, &[1.0; 3000]), NO_PERIOD);
        assert_eq!(choose(&settings, 3, &wave(50.0)), SEVERAL_CHANNELS);
        assert_eq!(choose(&settings.with_window(Window::Steps(33)), 1, &wave(50.0)), 33);
    }
}
