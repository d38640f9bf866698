//! The z-score in all its forms: what it learns, and how it is applied.
//!
//! No number here has a unit: a corpus in volts and the same corpus in microvolts give the same prepared series, to
//! rounding.

use super::{FittedStep, Per};
use crate::data::{Channel, SeriesSet};
use crate::error::{Error, Result};

/// Values that differ by no more than this share of their size are one value that was rounded.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// What a value becomes that leaves a channel (or a step of it) that is constant in the corpus: so many standard
/// deviations. The true number is infinite; this one is loud, and does not overflow.
const OFF_CONSTANT: f64 = 10.0;
/// Standard deviations in a median absolute deviation, and in a mean absolute one, of a normal law.
const MEDIAN_DEVIATION: f64 = 1.482_602_218_505_602;
const MEAN_DEVIATION: f64 = 1.253_314_137_315_500_3;
/// A channel whose standard deviation is below this share of its mean is told to be nearly constant.
const NEARLY: f64 = 1e-6;

const ADVICE: &str = "use `zscore=channel`, or bring them to one length with `resample` first";

pub(super) fn fit(per: Per, offset: f64, corpus: &SeriesSet) -> Result<FittedStep> {
    let channels = corpus.channels();
    // An offset stands in for the floor, as published: to the bit.
    let floor = offset == 0.0;
    let (means, mut scales) = match per {
        Per::Series | Per::SeriesGlobal => (Vec::new(), Vec::new()),
        Per::Channel => moments(corpus.values(), channels, floor),
        Per::Step => {
            let steps = corpus.require_equal_length("`zscore=step`", ADVICE)?;
            moments(corpus.values(), steps * channels, floor)
        }
        Per::Global => {
            let (means, scales) = moments(corpus.values(), channels, floor);
            (means, vec![root_mean_square(&scales); channels])
        }
        Per::Robust => (0..channels).map(|channel| robust(corpus.values(), channels, channel)).unzip(),
    };
    scales.iter_mut().for_each(|s| *s += offset);
    if let Some(at) = means.iter().zip(&scales).position(|(m, s)| !(m.is_finite() && s.is_finite())) {
        let (step, channel) = (at / channels, at % channels);
        let value = if means[at].is_finite() { scales[at] } else { means[at] };
        let after = " as a mean or a standard deviation: the values are too large for `zscore`".into();
        return Err(Error::NonFinite { series: 0, step, channel, value, after });
    }
    Ok(FittedStep::Zscore { per, means, scales, offset })
}

/// Means and standard deviations (N-1) of so many columns. With a floor, a column that is constant to rounding has
/// deviation 0, and its middle as the mean.
fn moments(values: &[f64], columns: usize, floor: bool) -> (Vec<f64>, Vec<f64>) {
    let count = (values.len() / columns.max(1)) as f64;
    let (mut low, mut high) = (vec![f64::INFINITY; columns], vec![f64::NEG_INFINITY; columns]);
    let mut means = vec![0.0; columns];
    for row in values.chunks_exact(columns) {
        means.iter_mut().zip(row).for_each(|(m, v)| *m += v / count);
        low.iter_mut().zip(row).for_each(|(l, v)| *l = l.min(*v));
        high.iter_mut().zip(row).for_each(|(h, v)| *h = h.max(*v));
    }
    // Squares are taken of shares of the range: those of values near 1e-200 or 1e200 are no numbers any more.
    let ranges: Vec<f64> = low.iter().zip(&high).map(|(l, h)| h - l).collect();
    let mut scales = vec![0.0; columns];
    for row in values.chunks_exact(columns) {
        for (at, v) in row.iter().enumerate() {
            let share = (v - means[at]) / unit(ranges[at]);
            scales[at] += share * share;
        }
    }
    for at in 0..columns {
        // One series has no spread: 0, as for a constant channel.
        scales[at] = (scales[at] / (count - 1.0).max(1.0)).sqrt() * unit(ranges[at]);
        if floor && is_constant(low[at], high[at]) {
            (means[at], scales[at]) = (low[at] + 0.5 * ranges[at], 0.0);
        }
    }
    (means, scales)
}

/// A power of two near a range, by which anything is divided without rounding; 1 for none, and for the ordinary ranges,
/// whose squares are numbers.
fn unit(range: f64) -> f64 {
    if range == 0.0 || !range.is_finite() || (1e-100..1e100).contains(&range) {
        1.0
    } else {
        range.log2().floor().exp2()
    }
}

fn is_constant(low: f64, high: f64) -> bool {
    high - low <= ROUNDING * low.abs().max(high.abs())
}

/// The root of the mean variance.
fn root_mean_square(deviations: &[f64]) -> f64 {
    let largest = deviations.iter().fold(0.0, |m: f64, d| m.max(*d));
    if largest == 0.0 {
        return 0.0;
    }
    let mean = deviations.iter().map(|d| (d / largest).powi(2)).sum::<f64>() / deviations.len() as f64;
    largest * mean.sqrt()
}

/// Median and median absolute deviation of a channel, the latter as a standard deviation. Where more than half of the
/// values are equal, the mean absolute deviation takes its place.
fn robust(values: &[f64], channels: usize, channel: usize) -> (f64, f64) {
    let mut all: Vec<f64> = values.iter().skip(channel).step_by(channels).copied().collect();
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let middle = median(&mut all);
    if is_constant(low, high) {
        return (low + 0.5 * (high - low), 0.0);
    }
    all.iter_mut().for_each(|v| *v = (*v - middle).abs());
    let mean = all.iter().map(|d| d / all.len() as f64).sum::<f64>();
    let deviation = median(&mut all);
    let rounded = deviation <= ROUNDING * low.abs().max(high.abs());
    (middle, if rounded { MEAN_DEVIATION * mean } else { MEDIAN_DEVIATION * deviation })
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    let at = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let upper = *values.select_nth_unstable_by(at, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..at].iter().fold(f64::NEG_INFINITY, |m: f64, v| m.max(*v));
    0.5 * lower + 0.5 * upper
}

pub(super) fn apply(per: Per, means: &[f64], scales: &[f64], mut set: SeriesSet) -> Result<SeriesSet> {
    match per {
        Per::Series | Per::SeriesGlobal => by_series(per, &mut set),
        Per::Step => {
            let length = means.len() / set.channels();
            if let Some(series) = set.lengths().position(|l| l != length) {
                return Err(Error::UnequalLengths {
                    needs: "`zscore=step`".into(),
                    series,
                    found: set.series(series).steps(),
                    expected: length,
                    advice: ADVICE.into(),
                });
            }
            scale_rows(set.values_mut(), means, scales);
        }
        Per::Channel | Per::Global | Per::Robust => scale_rows(set.values_mut(), means, scales),
    }
    set.require_finite("zscore")?;
    Ok(set)
}

fn scale_rows(values: &mut [f64], means: &[f64], scales: &[f64]) {
    for row in values.chunks_exact_mut(means.len()) {
        row.iter_mut().zip(means).zip(scales).for_each(|((v, m), s)| {
            *v = if *s > 0.0 { (*v - m) / s } else { off_constant(*v, *m) };
        });
    }
}

/// Zero for the constant itself, and far away for anything else.
fn off_constant(value: f64, constant: f64) -> f64 {
    let same = is_constant(value.min(constant), value.max(constant));
    if same { 0.0 } else { OFF_CONSTANT.copysign(value - constant) }
}

/// Each series by its own means and scales; one that is constant becomes zeros.
fn by_series(per: Per, set: &mut SeriesSet) {
    let (channels, lengths): (usize, Vec<usize>) = (set.channels(), set.lengths().collect());
    let mut rest = set.values_mut();
    for steps in lengths {
        let (values, later) = rest.split_at_mut(steps * channels);
        rest = later;
        let (means, mut scales) = moments(values, channels, true);
        if per == Per::SeriesGlobal {
            let scale = root_mean_square(&scales);
            scales.fill(scale);
        }
        scale_rows(values, &means, &scales);
    }
}

/// What the user should know about channels that hardly vary in the corpus.
pub(super) fn warnings(
    channels: usize,
    means: &[f64],
    scales: &[f64],
    offset: f64,
    names: Option<&[Channel]>,
) -> Vec<String> {
    let of_channel = |channel: usize| {
        let cells = means.iter().zip(scales).skip(channel).step_by(channels);
        cells.map(|(m, s)| (m.abs(), s - offset))
    };
    let which = |holds: &dyn Fn(f64, f64) -> bool| -> Vec<usize> {
        (0..channels).filter(|c| !scales.is_empty() && of_channel(*c).all(|(m, s)| holds(m, s))).collect()
    };
    let constant = which(&|m, s| s <= ROUNDING * m);
    let nearly: Vec<usize> = which(&|m, s| s <= NEARLY * m);
    let nearly: Vec<usize> = nearly.into_iter().filter(|c| !constant.contains(c)).collect();
    let small: Vec<usize> = which(&|_, s| s < offset);
    let small: Vec<usize> = small.into_iter().filter(|c| !constant.contains(c)).collect();
    let mut told = Vec::new();
    if !constant.is_empty() {
        told.push(format!(
            "{} constant in the corpus: nothing can be learned from {} there, and any other value in a new series \
             counts as far away; drop {} if that is not meant",
            listed(&constant, names, "is", "are"),
            it(&constant),
            it(&constant)
        ));
    }
    if !nearly.is_empty() {
        told.push(format!(
            "{} nearly constant in the corpus (standard deviation below {NEARLY:e} of the mean): what is left may be \
             rounding; take the offset off before the data are saved, or drop {}",
            listed(&nearly, names, "is", "are"),
            it(&nearly)
        ));
    }
    if !small.is_empty() {
        told.push(format!(
            "{} a standard deviation below the offset {offset} that this z-score adds to it, so {} nearly erased; \
             use larger units, or a z-score without an offset",
            listed(&small, names, "has", "have"),
            if small.len() == 1 { "it is" } else { "they are" }
        ));
    }
    told
}

fn it(which: &[usize]) -> &'static str {
    if which.len() == 1 { "it" } else { "them" }
}

/// `channel 3 is`, `channels 3, 4 are`, `channel pressure is`; at most ten.
fn listed(which: &[usize], names: Option<&[Channel]>, one: &str, many: &str) -> String {
    const MOST: usize = 10;
    let word = |at: &usize| names.map_or_else(|| at.to_string(), |names| names[*at].name.clone());
    let numbers: Vec<String> = which.iter().take(MOST).map(word).collect();
    let more = if which.len() > MOST { format!(" and {} more", which.len() - MOST) } else { String::new() };
    match which.len() {
        1 => format!("channel {} {one}", numbers[0]),
        _ => format!("channels {}{more} {many}", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Preparation;

    fn prepared(prepare: &str, corpus: &[f64], channels: usize, query: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let set = |values: &[f64]| SeriesSet::from_equal(values.to_vec(), 2, channels).unwrap();
        let prepare: Preparation = prepare.parse().unwrap();
        let (fitted, corpus) = prepare.fit(&set(corpus)).unwrap();
        (corpus.values().to_vec(), fitted.apply(&set(query)).unwrap().values().to_vec())
    }

    #[track_caller]
    fn near(found: &[f64], expected: &[f64]) {
        let all = found.len() == expected.len();
        assert!(all && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-14), "{found:?}");
    }

    #[test]
    fn each_form_on_a_small_corpus() {
        // Two series of two steps, one channel: mean 3, variance (4 + 1 + 1 + 4) / 3.
        let (corpus, query) = prepared("zscore=channel", &[1.0, 2.0, 4.0, 5.0], 1, &[3.0, 3.0]);
        let sd = (10.0f64 / 3.0).sqrt();
        assert_eq!((corpus, query), (vec![-2.0 / sd, -1.0 / sd, 1.0 / sd, 2.0 / sd], vec![0.0, 0.0]));
        let (corpus, _) = prepared("zscore=step", &[1.0, 2.0, 4.0, 6.0], 1, &[0.0, 0.0]);
        let half = 0.5f64.sqrt();
        near(&corpus, &[-half, -half, half, half]);
        // Channel variances 10/3 and 1000/3.
        let both = [1.0, 10.0, 2.0, 20.0, 4.0, 40.0, 5.0, 50.0];
        let (corpus, _) = prepared("zscore=global", &both, 2, &both);
        let scale = (505.0f64 / 3.0).sqrt();
        near(&corpus, &[-2.0, -20.0, -1.0, -10.0, 1.0, 10.0, 2.0, 20.0].map(|v| v / scale));
        let (corpus, query) = prepared("zscore=series", &both, 2, &[7.0, 7.0, 9.0, 7.0]);
        near(&corpus[..4], &[-half, -half, half, half]);
        near(&query, &[-half, 0.0, half, 0.0]);
        let (_, query) = prepared("zscore=series_global", &both, 2, &[7.0, 7.0, 9.0, 7.0]);
        near(&query, &[-1.0, 0.0, 1.0, 0.0]);
        // Median 3, absolute deviations 2, 1, 1, 997: median 1.5.
        let (corpus, _) = prepared("zscore=robust", &[1.0, 2.0, 4.0, 1000.0], 1, &[0.0, 0.0]);
        let scale = 1.5 * MEDIAN_DEVIATION;
        assert_eq!(corpus, [-2.0 / scale, -1.0 / scale, 1.0 / scale, 997.0 / scale]);
        // More than half are equal: the mean absolute deviation.
        let (corpus, _) = prepared("zscore=robust", &[1.0, 1.0, 1.0, 5.0], 1, &[0.0, 0.0]);
        assert_eq!(corpus, [0.0, 0.0, 0.0, 4.0 / MEAN_DEVIATION]);
        assert_eq!(prepared("asinh", &[0.0, 1.0], 1, &[-2.0, 0.0]).1, [(-2.0f64).asinh(), 0.0]);
    }

    #[test]
    fn a_constant_channel_becomes_zeros_in_any_unit_and_leaving_it_is_far() {
        for size in [0.0, 1e-300, 1e-12, 0.1, 1e12, 1e300] {
            for form in ["channel", "step", "robust", "series", "series_global"] {
                // The second value is off by rounding.
                let near = size * (1.0 + 3.0 * f64::EPSILON);
                let query = [size * 1.5 + if size == 0.0 { 1e-9 } else { 0.0 }, size];
                let (corpus, query) =
                    prepared(&format!("zscore={form}"), &[size, near, near, size], 1, &query);
                assert_eq!(corpus, [0.0; 4], "{form} {size}");
                if !form.starts_with("series") {
                    assert_eq!(query, [OFF_CONSTANT, 0.0], "{form} {size}");
                }
            }
        }
    }

    #[test]
    fn units_do_not_matter_to_any_form() {
        let values = [0.3, 7.0, -1.1, 2.0, 0.9, 3.5, 0.2, -4.0];
        for form in ["channel", "step", "robust", "series", "global", "series_global"] {
            let one = prepared(&format!("zscore={form}"), &values, 2, &values).0;
            for power in [-300, -30, 30, 300] {
                let unit = 10f64.powi(power);
                let other = prepared(&format!("zscore={form}"), &values.map(|v| v * unit), 2, &values).0;
                let near = one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(near, "{form} {unit}: {one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_published_offset_is_added_where_it_is_asked_for() {
        let (corpus, _) = prepared("zscore=step+0.0001", &[1.0, 2.0, 4.0, 6.0], 1, &[0.0, 0.0]);
        assert_eq!(corpus[0], -1.5 / (4.5f64.sqrt() + 1e-4));
        let published = Preparation::published().to_string();
        assert_eq!(published, "pool=100,zscore=step+0.0001,clip=5,basepoint");
        assert_eq!(published.parse::<Preparation>().unwrap(), Preparation::published());
        assert!("zscore=step+x".parse::<Preparation>().is_err());
        assert!("zscore=step+-1".parse::<Preparation>().is_err());
        assert!("zscore=series+1".parse::<Preparation>().is_err());
    }

    #[test]
    fn channels_that_hardly_vary_are_told_by_number() {
        let told = |prepare: &str| {
            let rows: Vec<[f64; 4]> =
                (0..6).map(|i| [f64::from(i).sin(), 5.0, 1e9 + f64::from(i), 1e-9 * f64::from(i)]).collect();
            let corpus = SeriesSet::from_equal(rows.concat(), 2, 4).unwrap();
            prepare.parse::<Preparation>().unwrap().fit(&corpus).unwrap().0.warnings(None).join("\n")
        };
        let channel = told("pool=1,zscore=channel,time");
        assert!(channel.starts_with("channel 1 is constant"), "{channel}");
        assert!(
            channel.contains("channel 2 is nearly constant") && !channel.contains("offset 0"),
            "{channel}"
        );
        let published = told("published");
        assert!(published.starts_with("channel 1 is constant"), "{published}");
        assert!(
            published.contains("channel 3 has a standard deviation below the offset 0.0001"),
            "{published}"
        );
        assert_eq!(told("none"), "");
    }
}
