//! The series themselves, channel by channel, beside the quantile band of the corpus.
//!
//! Curves are kept as paths of whole numbers: x in steps, y from 0 (top of the axis) to [`HEIGHT`] (bottom). That takes
//! about four characters a point, where numbers take twenty.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use crate::data::{Dataset, Series, SeriesSet};
use crate::detector::{Detector, Scored};
use crate::error::Result;

/// The height of an axis in units of a path.
pub(super) const HEIGHT: f64 = 1000.0;
/// Points of a curve at most.
const POINTS: usize = 400;
/// Channels that are shown at most.
const CHANNELS: usize = 32;
/// Points of all curves of the scored series together.
const BUDGET: usize = 400_000;
/// Which quantiles of the corpus are shown.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The corpus in one channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// The channel, after preparation.
    pub channel: usize,
    /// Its name.
    pub name: String,
    /// The lower end of the axis.
    pub low: f64,
    /// The upper end of the axis.
    pub high: f64,
    /// Quantiles of the corpus (5, 25, 50, 75 and 95 %) at each kept step.
    pub quantiles: Vec<[f64; 5]>,
}

/// Series as curves, in prepared units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// The longest series, in prepared steps.
    pub steps: usize,
    /// Every so many steps one is kept.
    pub stride: usize,
    /// Channel by channel.
    pub bands: Vec<Band>,
    /// Scored series, by their place: a path per band.
    pub series: BTreeMap<usize, Vec<String>>,
    /// Normal series that they are nearest to, by their place among those the detector was fitted on.
    pub normal: BTreeMap<usize, Vec<String>>,
    /// What was thinned.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
}

impl Curves {
    /// The most novel series (the first of `order`), and the normal ones nearest to them.
    pub(super) fn new(
        detector: &Detector,
        dataset: &Dataset,
        scored: &Scored,
        order: &[usize],
        limit: usize,
    ) -> Result<Self> {
        let corpus = detector.corpus();
        let width = corpus.channels();
        let candidates = &order[..limit.min(order.len())];
        let prepared = match candidates {
            [] => SeriesSet::new(width)?,
            some => detector
                .preparation()
                .apply(&dataset.series.select(some))
                .map_err(|e| e.renumbered(some, &[]))?,
        };
        let steps = prepared.lengths().chain(corpus.lengths()).max().unwrap_or(1);
        let stride = steps.div_ceil(POINTS).max(1);
        let each = steps.div_ceil(stride) * width.min(CHANNELS);
        let shown = candidates.len().min((BUDGET / each.max(1)).max(1));
        let channels = chosen_channels(corpus, &prepared);
        let names = channel_names(detector, dataset);
        let bands: Vec<Band> =
            channels.iter().map(|c| band(corpus, *c, names[*c].clone(), steps, stride)).collect();
        let path_of = |series: Series<'_>| -> Vec<String> {
            bands.iter().map(|band| path(series, band, stride)).collect()
        };
        let series = (0..shown).map(|at| (candidates[at], path_of(prepared.series(at)))).collect();
        let nearest: BTreeSet<usize> =
            candidates[..shown].iter().map(|at| scored.findings[*at].finding.nearest).collect();
        // Members are ascending: the place in the corpus is found by halving.
        let place = |member: usize| detector.members().binary_search(&member).ok();
        let normal = nearest
            .into_iter()
            .filter_map(|member| Some((member, path_of(corpus.series(place(member)?)))))
            .collect();
        let mut notes = Vec::new();
        if stride > 1 {
            notes.push(format!("curves show every {stride}th of up to {steps} prepared steps"));
        }
        if width > CHANNELS {
            notes.push(format!(
                "of {width} prepared channels the {CHANNELS} are shown in which the most novel series leave the corpus \
                 most"
            ));
        }
        Ok(Self { steps, stride, bands, series, normal, notes })
    }
}

/// All channels, or those in which the series are farthest from the corpus' mean.
fn chosen_channels(corpus: &SeriesSet, prepared: &SeriesSet) -> Vec<usize> {
    let width = corpus.channels();
    if width <= CHANNELS {
        return (0..width).collect();
    }
    let mut means = vec![0.0; width];
    corpus.values().iter().enumerate().for_each(|(at, value)| means[at % width] += value);
    let steps = (corpus.values().len() / width).max(1) as f64;
    let mut far = vec![0.0; width];
    for (at, value) in prepared.values().iter().enumerate() {
        far[at % width] += (value - means[at % width] / steps).powi(2);
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|a, b| far[*b].total_cmp(&far[*a]).then(a.cmp(b)));
    order.truncate(CHANNELS);
    order.sort_unstable();
    order
}

fn channel_names(detector: &Detector, dataset: &Dataset) -> Vec<String> {
    let width = detector.corpus().channels();
    let original = width == detector.preparation().channels();
    match dataset.channel_names().or_else(|| detector.prepared_names(width)) {
        Some(names) if original && names.len() == width => names,
        _ => (0..width).map(|c| format!("channel {c}")).collect(),
    }
}

/// Quantiles step by step, as far as half of the corpus reaches; the axis holds the corpus, and as much again above
/// and below for what is novel.
fn band(corpus: &SeriesSet, channel: usize, name: String, steps: usize, stride: usize) -> Band {
    let mut quantiles = Vec::new();
    for step in (0..steps).step_by(stride) {
        let mut values: Vec<f64> = corpus
            .iter()
            .filter(|series| step < series.steps())
            .map(|series| series.step(step)[channel])
            .collect();
        if 2 * values.len() < corpus.len() {
            break;
        }
        values.sort_by(f64::total_cmp);
        let last = (values.len() - 1) as f64;
        quantiles.push(QUANTILES.map(|q| {
            let place = q * last;
            let (left, right) = (values[place.floor() as usize], values[place.ceil() as usize]);
            left + place.fract() * (right - left)
        }));
    }
    let all = corpus.values().iter().skip(channel).step_by(corpus.channels());
    let (low, high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    let air = if high > low { 0.5 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    Band { channel, name, low: low - air, high: high + air, quantiles }
}

/// The height of a value, in units of a path; beyond the axis is at its edge.
pub(super) fn height(value: f64, band: &Band) -> f64 {
    (HEIGHT * (band.high - value) / (band.high - band.low)).clamp(0.0, HEIGHT).round()
}

/// `M0 500l1-3 1 2`: the first place, then moves.
fn path(series: Series<'_>, band: &Band, stride: usize) -> String {
    let mut out = String::new();
    let mut last = 0.0;
    for step in (0..series.steps()).step_by(stride) {
        let now = height(series.step(step)[band.channel], band);
        // Writing to a string cannot fail.
        let _ = match step {
            0 => write!(out, "M0 {now}l"),
            _ => {
                let gap = if step == stride { "" } else { " " };
                let moved = now - last;
                // A minus sign parts two numbers as well as a space does.
                let part = if moved < 0.0 { "" } else { " " };
                write!(out, "{gap}{stride}{part}{moved}")
            }
        };
        last = now;
    }
    // A single point is a line of no length.
    if series.steps() <= stride {
        out.push_str("0 0");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_band() -> Band {
        Band { channel: 0, name: "c".into(), low: 0.0, high: 10.0, quantiles: Vec::new() }
    }

    #[test]
    fn paths_are_moves_in_whole_numbers() {
        let set = SeriesSet::from_equal(vec![5.0, 6.0, 4.0, 4.0, 99.0], 5, 1).unwrap();
        assert_eq!(path(set.series(0), &unit_band(), 1), "M0 500l1-100 1 200 1 0 1-600");
        assert_eq!(path(set.series(0), &unit_band(), 2), "M0 500l2 100 2-600");
        let one = SeriesSet::from_equal(vec![5.0], 1, 1).unwrap();
        assert_eq!(path(one.series(0), &unit_band(), 1), "M0 500l0 0");
    }

    #[test]
    fn a_band_is_of_the_series_that_reach_so_far() {
        let mut corpus = SeriesSet::new(1).unwrap();
        corpus.push(&[0.0, 0.0, 9.0]).unwrap();
        corpus.push(&[1.0, 2.0]).unwrap();
        corpus.push(&[2.0]).unwrap();
        let found = band(&corpus, 0, "c".into(), 3, 1);
        // The third step has one series of three.
        assert_eq!(found.quantiles.len(), 2);
        assert_eq!((found.quantiles[0][2], found.quantiles[1][2]), (1.0, 1.0));
        assert_eq!((found.low, found.high), (-4.5, 13.5));
    }
}
