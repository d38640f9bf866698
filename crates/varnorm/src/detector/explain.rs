//! Why a series has the score it has.
//!
//! Three views: which eigendirections the squared score comes from; how the score changes when one channel, or one
//! stretch of time, is made that of the nearest normal series; and where the series differs most from that one. The
//! model stays as it is: only the series is changed, after preparation.
//!
//! Far from all normal series a kernel saturates: whatever single part is replaced, the score stays. Then another view is
//! explained, in which a part does count. Where there is none, the question is turned round: single parts of the series are
//! put into the nearest normal one, and the score that each of them makes there is told.

use serde::Serialize;

use super::{Detector, ViewScore};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::model::{FittedView, Measured};
use crate::prepare::stretched;
use crate::run::Run;

/// The part of a squared score along one eigenvector of the covariance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Direction {
    /// The eigenvector, 0 for that of the largest eigenvalue.
    pub direction: usize,
    /// Its eigenvalue.
    pub eigenvalue: f64,
    /// How far the series lies along it from what the score is measured to, in standard deviations of the corpus.
    pub deviations: f64,
    /// Its part of the squared score.
    pub square: f64,
}

/// The score when a part of the series is replaced by that of the nearest normal series; where the explanation is
/// [`inserted`](Explanation::inserted), the score of that normal series with this part of the series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replaced {
    /// First step, after preparation.
    pub first_step: usize,
    /// The step after the last.
    pub end_step: usize,
    /// The channel, after preparation; absent where all channels are replaced.
    pub channel: Option<usize>,
    /// The score then.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub score: f64,
    /// How much lower that is: what this part adds to the score. Of an inserted part: how much higher than without it.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub adds: f64,
}

/// Where a series differs most from the nearest normal one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// First step, after preparation.
    pub first_step: usize,
    /// The step after the last.
    pub end_step: usize,
    /// The channel, after preparation.
    pub channel: usize,
    /// Root mean square of the difference there, in prepared units.
    pub size: f64,
    /// Its share of the whole squared difference.
    pub share: f64,
}

/// Why a series has the score it has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The score.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub score: f64,
    /// As in a finding.
    pub p_value: Option<f64>,
    /// Comparable scores of the views, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ViewScore>,
    /// The view that the rest is about, where there are several: the one in which the series stands out most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_view: Option<String>,
    /// The score in that view, of which the parts below are parts; absent where there is one view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_score: Option<f64>,
    /// The nearest normal series, by its place among those the detector was fitted on.
    pub nearest: usize,
    /// Its name, where names were given.
    pub nearest_name: Option<String>,
    /// Parts of the squared score, largest first.
    pub directions: Vec<Direction>,
    /// The part that lies outside the span of the corpus; infinite under the exact norm.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub outside: f64,
    /// Share of its squared distance from the corpus mean that no corpus series explains.
    pub outside_span: f64,
    /// Whether parts of the series were put into the nearest normal one, because taking one out changes nothing.
    pub inserted: bool,
    /// Channel by channel, in order.
    pub channels: Vec<Replaced>,
    /// Stretch by stretch, in order.
    pub segments: Vec<Replaced>,
    /// Cells of channel and stretch where series and nearest normal series differ, largest first.
    pub differences: Vec<Difference>,
    /// Whether prepared channels are the data's own, in their order.
    pub channels_are_original: bool,
    /// Their names then, where they are known.
    pub channel_names: Option<Vec<String>>,
}

impl Detector {
    /// Explains the score of one series (by its place in the set), time cut into so many stretches.
    pub fn explain(
        &self,
        series: &SeriesSet,
        index: usize,
        segments: usize,
        run: &Run,
    ) -> Result<Explanation> {
        if index >= series.len() {
            let rule = format!("the data have {} series, numbered from 0", series.len());
            return Err(Error::bad_param("series", index, rule));
        }
        if segments == 0 {
            return Err(Error::bad_param("segments", 0, "must be at least 1"));
        }
        let one = series.select(&[index]);
        let measured =
            self.fitted.measure(&one, run).map_err(|e| e.renumbered(&[index], &[]))?.swap_remove(0);
        // The view in which the series stands out most, or the next in which a part of it counts.
        let mut chosen = None;
        for at in most_telling_first(&measured.views) {
            let found = Compared::new(&self.fitted.views[at], &one, segments, run)
                .map_err(|e| e.renumbered(&[index], &[]))?;
            let saturated = found.is_saturated();
            if chosen.is_none() || !saturated {
                chosen = Some(found);
            }
            if !saturated {
                break;
            }
        }
        let Some(mut compared) = chosen else { return Err(Error::bad_param("views", 0, "there is none")) };
        let inserted = compared.is_saturated();
        if inserted {
            compared.insert(segments, run)?;
        }
        let Compared { view, prepared, normal, measured: own, channels, stretches } = compared;
        let Measured { score, nearest, outside_span, .. } = own;
        let (directions, outside) = directions(view, &prepared, nearest, run)?;
        let member = self.place_of(nearest);
        Ok(Explanation {
            score: measured.score,
            p_value: self.p_value(measured.score),
            views: self.view_scores(&measured.views),
            explained_view: (!measured.views.is_empty()).then(|| view.name()),
            explained_score: (!measured.views.is_empty()).then_some(score),
            nearest: member,
            nearest_name: self.corpus_name(member).map(str::to_string),
            directions,
            outside,
            outside_span,
            inserted,
            channels,
            segments: stretches,
            differences: differences(&prepared, &normal, segments),
            channels_are_original: prepared.channels() == view.preparation.channels(),
            channel_names: self.prepared_names(prepared.channels()),
        })
    }

    /// Comparable scores with the names of their views.
    pub(super) fn view_scores(&self, scores: &[f64]) -> Vec<ViewScore> {
        let named = self.fitted.views.iter().zip(scores);
        named.map(|(view, score)| ViewScore { view: view.name(), score: *score }).collect()
    }
}

/// The squared score by eigendirection, largest part first, and the part outside the span.
fn directions(
    view: &FittedView,
    prepared: &SeriesSet,
    nearest: usize,
    run: &Run,
) -> Result<(Vec<Direction>, f64)> {
    let (spectrum, measure) = (view.spectrum(), view.geometry.measure);
    let found = view.model.answers().difference(&view.geometry, prepared, nearest, run)?;
    let weights = measure.weights(spectrum.eigenvalues());
    let mut parts: Vec<Direction> = spectrum
        .eigenvalues()
        .iter()
        .zip(&found.coordinates)
        .enumerate()
        .map(|(j, (value, difference))| Direction {
            direction: j,
            eigenvalue: *value,
            deviations: difference / value.sqrt(),
            square: weights[j] * difference.powi(2),
        })
        .collect();
    let outside = measure.norm.outside(measure.alpha, spectrum.off_span()).add(0.0, found.outside);
    parts.sort_by(|a, b| b.square.total_cmp(&a.square).then(a.direction.cmp(&b.direction)));
    Ok((parts, outside))
}

/// A series beside the nearest normal one, in one view.
struct Compared<'a> {
    view: &'a FittedView,
    prepared: SeriesSet,
    /// The nearest normal series, stretched to the same length.
    normal: Vec<f64>,
    measured: Measured,
    channels: Vec<Replaced>,
    stretches: Vec<Replaced>,
}

/// Parts that change a score by less than this share of it do not explain it.
const SATURATED: f64 = 0.01;

impl<'a> Compared<'a> {
    fn new(view: &'a FittedView, one: &SeriesSet, segments: usize, run: &Run) -> Result<Self> {
        let prepared = view.preparation.apply(one)?.into_owned();
        let measured = view.measure_prepared(&prepared, run)?.swap_remove(0);
        let example = view.model.answers().kept_nearest(&view.geometry, &prepared, measured.nearest, run)?;
        let normal = stretched(view.corpus().series(example), prepared.series(0).steps());
        let (channels, stretches) = (Vec::new(), Vec::new());
        let mut compared = Self { view, prepared, normal, measured, channels, stretches };
        let score = compared.measured.score;
        let own = compared.prepared.series(0).values().to_vec();
        let then = compared.replaced(&own, &compared.normal, segments, run)?;
        compared.take(then, |then| if score == then { 0.0 } else { score - then });
        Ok(compared)
    }

    /// Whether no part changes the score by much.
    fn is_saturated(&self) -> bool {
        // Where there is one channel, replacing it replaces all.
        let channels = if self.channels.len() > 1 { &self.channels[..] } else { &[] };
        let most = channels.iter().chain(&self.stretches).fold(0.0f64, |m, part| m.max(part.adds.abs()));
        // Infinite scores have their own words, and a score of zero has nothing to explain.
        self.measured.score > 0.0 && self.measured.score.is_finite() && most < SATURATED * self.measured.score
    }

    /// Puts single parts of the series into the normal one instead.
    fn insert(&mut self, segments: usize, run: &Run) -> Result<()> {
        let mut alone = SeriesSet::new(self.prepared.channels())?;
        alone.push(&self.normal)?;
        let before = self.view.measure_prepared(&alone, run)?.swap_remove(0).score;
        let own = self.prepared.series(0).values().to_vec();
        let then = self.replaced(&self.normal, &own, segments, run)?;
        self.take(then, |then| then - before);
        Ok(())
    }

    fn take(&mut self, then: Vec<(Part, f64)>, adds: impl Fn(f64) -> f64) {
        let one = |((first_step, end_step, channel), score): (Part, f64)| Replaced {
            first_step,
            end_step,
            channel,
            score,
            adds: adds(score),
        };
        let mut all: Vec<Replaced> = then.into_iter().map(one).collect();
        self.stretches = all.split_off(self.prepared.channels());
        self.channels = all;
    }

    /// Scores of one series with each channel, then each stretch of time, made that of another.
    fn replaced(&self, base: &[f64], other: &[f64], segments: usize, run: &Run) -> Result<Vec<(Part, f64)>> {
        let (steps, width) = (self.prepared.series(0).steps(), self.prepared.channels());
        let by_channel = (0..width).map(|c| (0, steps, Some(c)));
        let by_time = stretches(steps, segments).into_iter().map(|(first, end)| (first, end, None));
        let parts: Vec<Part> = by_channel.chain(by_time).collect();
        let mut variants = SeriesSet::new(width)?;
        for (first, end, channel) in &parts {
            let mut values = base.to_vec();
            for at in first * width..end * width {
                if channel.is_none_or(|c| at % width == c) {
                    values[at] = other[at];
                }
            }
            variants.push(&values)?;
        }
        let found = self.view.measure_prepared(&variants, run)?;
        Ok(parts.into_iter().zip(found.into_iter().map(|measured| measured.score)).collect())
    }
}

/// First step, the step after the last, and the channel where it is one only.
type Part = (usize, usize, Option<usize>);

/// Views by their comparable scores, the highest first; the one view where there is one.
fn most_telling_first(views: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..views.len().max(1)).collect();
    order.sort_by(|a, b| match (views.get(*a), views.get(*b)) {
        (Some(a), Some(b)) => b.total_cmp(a),
        _ => std::cmp::Ordering::Equal,
    });
    order
}

/// Cuts `0..steps` into at most so many stretches of nearly equal length.
fn stretches(steps: usize, segments: usize) -> Vec<(usize, usize)> {
    let count = segments.min(steps);
    (0..count).map(|s| (s * steps / count, (s + 1) * steps / count)).collect()
}

fn differences(prepared: &SeriesSet, normal: &[f64], segments: usize) -> Vec<Difference> {
    let (values, width) = (prepared.series(0).values(), prepared.channels());
    let square = |at: usize| (values[at] - normal[at]).powi(2);
    let whole: f64 = (0..values.len()).map(square).sum();
    let mut found = Vec::new();
    for (first, end) in stretches(prepared.series(0).steps(), segments) {
        for channel in 0..width {
            let sum: f64 = (first..end).map(|t| square(t * width + channel)).sum();
            let share = if whole > 0.0 { sum / whole } else { 0.0 };
            let size = (sum / (end - first) as f64).sqrt();
            found.push(Difference { first_step: first, end_step: end, channel, size, share });
        }
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}
