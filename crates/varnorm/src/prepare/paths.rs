//! Steps that learn nothing: each takes series and gives series.

use super::Visibility;
use crate::data::{Series, SeriesSet};
use crate::error::{Error, Result};

/// Every series through `path`, which appends the new values, step by step, to the buffer it is given.
fn map(set: &SeriesSet, channels: usize, path: impl Fn(Series<'_>, &mut Vec<f64>)) -> Result<SeriesSet> {
    let (mut values, mut lengths) = (Vec::new(), Vec::with_capacity(set.len()));
    for series in set.iter() {
        let before = values.len();
        path(series, &mut values);
        lengths.push((values.len() - before) / channels);
    }
    SeriesSet::from_lengths(values, &lengths, channels)
}

/// Linear interpolation of missing (NaN) values; the ends take the nearest value there is.
pub(super) fn interpolate(mut set: SeriesSet) -> Result<SeriesSet> {
    let (channels, lengths): (usize, Vec<usize>) = (set.channels(), set.lengths().collect());
    let mut rest = set.values_mut();
    for (series, steps) in lengths.into_iter().enumerate() {
        let (values, later) = rest.split_at_mut(steps * channels);
        rest = later;
        for channel in 0..channels {
            let known: Vec<usize> = (0..steps).filter(|t| !values[t * channels + channel].is_nan()).collect();
            let (Some(&first), Some(&last)) = (known.first(), known.last()) else {
                return Err(Error::bad_param(
                    "interpolate",
                    format!("series {series}, channel {channel}"),
                    "has no value at all to interpolate from; drop this series or this channel",
                ));
            };
            (0..first).for_each(|t| values[t * channels + channel] = values[first * channels + channel]);
            (last..steps).for_each(|t| values[t * channels + channel] = values[last * channels + channel]);
            for pair in known.windows(2) {
                let (from, to) = (values[pair[0] * channels + channel], values[pair[1] * channels + channel]);
                for t in pair[0] + 1..pair[1] {
                    let share = (t - pair[0]) as f64 / (pair[1] - pair[0]) as f64;
                    values[t * channels + channel] = between(from, to, share);
                }
            }
        }
    }
    set.require_finite("interpolate")?;
    Ok(set)
}

/// The point at a share of the way, in a form that cannot overflow.
fn between(from: f64, to: f64, share: f64) -> f64 {
    from * (1.0 - share) + to * share
}

pub(super) fn pool(set: &SeriesSet, window: usize) -> Result<SeriesSet> {
    map(set, set.channels(), |series, out| {
        let steps = series.steps();
        // A series shorter than the window keeps its mean rather than vanish.
        let width = window.min(steps);
        for start in (0..=steps - width).step_by(window) {
            for channel in 0..series.channels() {
                let sum: f64 = (start..start + width).map(|t| series.step(t)[channel]).sum();
                out.push(sum / width as f64);
            }
        }
    })
}

pub(super) fn resample(set: &SeriesSet, length: usize) -> Result<SeriesSet> {
    let values = set.len() as f64 * length as f64 * set.channels() as f64;
    let what = || format!("`resample={length}` of {} series", set.len());
    crate::memory::require(8.0 * values, what, "choose a smaller length, or give fewer series at a time")?;
    map(set, set.channels(), |series, out| stretch(series, length, out))
}

/// A series brought to another length by linear interpolation in time: its ends stay where they are.
pub(crate) fn stretched(series: Series<'_>, length: usize) -> Vec<f64> {
    if series.steps() == length {
        return series.values().to_vec();
    }
    let mut out = Vec::with_capacity(length * series.channels());
    stretch(series, length, &mut out);
    out
}

fn stretch(series: Series<'_>, length: usize, out: &mut Vec<f64>) {
    let last = series.steps() - 1;
    for i in 0..length {
        let position = if length == 1 { 0.0 } else { i as f64 * last as f64 / (length - 1) as f64 };
        let left = (position.floor() as usize).min(last);
        let (from, to) = (series.step(left), series.step((left + 1).min(last)));
        out.extend(from.iter().zip(to).map(|(a, b)| between(*a, *b, position - left as f64)));
    }
}

pub(super) fn basepoint(set: &SeriesSet) -> Result<SeriesSet> {
    map(set, set.channels(), |series, out| {
        out.extend(std::iter::repeat_n(0.0, series.channels()));
        out.extend_from_slice(series.values());
    })
}

pub(super) fn time(set: &SeriesSet, length: f64) -> Result<SeriesSet> {
    map(set, set.channels() + 1, |series, out| {
        let last = (series.steps() - 1).max(1) as f64;
        for t in 0..series.steps() {
            out.extend_from_slice(series.step(t));
            out.push(length * (t as f64 / last));
        }
    })
}

pub(super) fn visibility(set: &SeriesSet, end: Visibility) -> Result<SeriesSet> {
    map(set, set.channels() + 1, |series, out| {
        let mut push = |point: &[f64], visible: f64| {
            out.extend_from_slice(point);
            out.push(visible);
        };
        let zero = vec![0.0; series.channels()];
        if end == Visibility::I {
            push(&zero, 0.0);
            push(series.step(0), 0.0);
        }
        (0..series.steps()).for_each(|t| push(series.step(t), 1.0));
        if end == Visibility::T {
            push(series.step(series.steps() - 1), 0.0);
            push(&zero, 0.0);
        }
    })
}

pub(super) fn lead_lag(set: &SeriesSet) -> Result<SeriesSet> {
    map(set, 2 * set.channels(), |series, out| {
        for t in 0..series.steps() {
            if t > 0 {
                out.extend_from_slice(series.step(t));
                out.extend_from_slice(series.step(t - 1));
            }
            out.extend_from_slice(series.step(t));
            out.extend_from_slice(series.step(t));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(values: &[f64], channels: usize) -> SeriesSet {
        let mut set = SeriesSet::new(channels).unwrap();
        set.push(values).unwrap();
        set
    }

    #[test]
    fn each_path_on_a_small_series() {
        let x = one(&[1.0, 2.0, 3.0], 1);
        assert_eq!(pool(&x, 2).unwrap().values(), [1.5]);
        assert_eq!(pool(&x, 9).unwrap().values(), [2.0]);
        assert_eq!(resample(&x, 5).unwrap().values(), [1.0, 1.5, 2.0, 2.5, 3.0]);
        assert_eq!(resample(&x, 1).unwrap().values(), [1.0]);
        assert_eq!(resample(&one(&[4.0], 1), 3).unwrap().values(), [4.0, 4.0, 4.0]);
        assert_eq!(basepoint(&x).unwrap().values(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(time(&x, 1.0).unwrap().values(), [1.0, 0.0, 2.0, 0.5, 3.0, 1.0]);
        assert_eq!(time(&one(&[7.0], 1), 4.0).unwrap().values(), [7.0, 0.0]);
        assert_eq!(
            visibility(&x, Visibility::I).unwrap().values(),
            [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0]
        );
        assert_eq!(
            visibility(&x, Visibility::T).unwrap().values(),
            [1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 3.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(lead_lag(&x).unwrap().values(), [1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn interpolation_fills_the_inside_linearly_and_the_ends_with_the_nearest() {
        let nan = f64::NAN;
        let set = one(&[nan, 5.0, 1.0, nan, nan, nan, 4.0, 8.0, nan, nan], 2);
        let filled = interpolate(set).unwrap();
        assert_eq!(filled.values(), [1.0, 5.0, 1.0, 6.0, 2.5, 7.0, 4.0, 8.0, 4.0, 8.0]);
        let error = resample(&one(&[1.0, 2.0], 1), 10_000_000_000_000).unwrap_err().to_string();
        assert!(error.starts_with("`resample=10000000000000` of 1 series would need about"), "{error}");
        let error = interpolate(one(&[nan, nan], 1)).unwrap_err().to_string();
        assert!(error.contains("series 0, channel 0") && error.contains("no value at all"), "{error}");
        let error = interpolate(one(&[nan, f64::INFINITY], 1)).unwrap_err().to_string();
        assert!(error.contains("not finite"), "{error}");
    }
}
