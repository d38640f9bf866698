//! [`Preset`]: views that a corpus can take, chosen by stated rules and without labels (docs/benchmark.md).

use serde::{Deserialize, Serialize};

use super::suspects::location_and_spread;
use crate::data::{Series, SeriesSet};
use crate::error::Result;
use crate::gram::Scaling;
use crate::kernel::Kernel;
use crate::model::{Space, View};
use crate::prepare::{Per, Preparation, Step};
use crate::words::{Vocabulary, Word, spelled};

/// A ready choice of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Views that complement each other: the default.
    #[default]
    Auto,
    /// One pass of features: the fastest.
    Fast,
    /// The paper's kernels alone.
    Paper,
}

/// Steps that convolutions need: shorter series are stretched to so many.
const LEAST_STEPS: usize = 64;
/// Steps that kernels of all pairs of steps take at most, and at least; in between the number falls with that of the
/// series, so that a query costs about [`CELLS`] pairs of steps.
const MOST_STEPS: usize = 100;
const FEWEST_STEPS: usize = 24;
const CELLS: f64 = 300_000.0;
/// Series beyond which not all pairs are worked out.
const MOST_PAIRED: usize = 2000;
/// Landmarks of a larger corpus.
const LANDMARKS: usize = 512;
/// The length of the time channel: a ramp of this length has unit variance, as the mean channel has.
const RAMP: f64 = 3.464_101_615_137_754_6;
/// Channels whose deviations differ by more than this factor are taken to have units of their own.
const OWN_UNITS: f64 = 50.0;
/// Spread of the logarithms of the series' sizes beyond which their size is taken to mean nothing.
const SIZES_MEAN_NOTHING: f64 = 0.6;
/// Values, less one of each channel, that the size of a series takes: that of fewer is mostly chance.
const SIZED_BY: usize = 8;
/// Robust deviations beyond which a size counts as no farther.
const FAR: f64 = 3.0;
/// What the spread is taken to be before any series is seen, and how many series that counts for.
const EXPECTED_SPREAD: f64 = 0.3;
const EXPECTED_COUNT: f64 = 3.0;

/// Views for a corpus, and what a user should know about the choice.
pub(super) struct Choice {
    pub(super) views: Vec<View>,
    pub(super) notes: Vec<String>,
}

const PRESETS: Vocabulary = Vocabulary::names("preset", "a preset", Preset::WORDS);

spelled!(Preset, PRESETS);

impl Preset {
    /// Every preset, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("auto", "Views that complement each other, combined"),
        Word::new("fast", "One pass of features"),
        Word::new("paper", "The paper's kernels alone"),
    ];

    /// The views for a corpus.
    pub(super) fn choose(self, corpus: &SeriesSet) -> Result<Choice> {
        let mut notes = Vec::new();
        let zscore = zscore(corpus, &mut notes);
        let mut views = match self {
            Self::Auto => vec![radon(&zscore)?, rocket(&zscore, corpus)?, sig(&zscore, corpus)?],
            Self::Fast => vec![radon(&zscore)?],
            Self::Paper => paper(&zscore, corpus)?,
        };
        if self == Self::Auto && corpus.lengths().all(|steps| steps < 2) {
            views.pop();
            notes.push("series of one step have no order of events: the view sig is left out".into());
        }
        if corpus.len() > MOST_PAIRED {
            views.iter_mut().for_each(|view| view.space = Space::landmarks(LANDMARKS));
            notes.push(format!(
                "{} normal series are more than {MOST_PAIRED}: {LANDMARKS} landmarks stand for all pairs",
                corpus.len()
            ));
        }
        Ok(Choice { views, notes })
    }
}

/// One scale for all channels, unless they seem to have units of their own; of the corpus, unless the sizes of its
/// series differ so much that they seem to mean nothing.
fn zscore(corpus: &SeriesSet, notes: &mut Vec<String>) -> Step {
    let scales = channel_scales(corpus);
    let moving = scales.iter().copied().filter(|scale| *scale > 0.0);
    let (low, high) = moving.fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), s| (l.min(s), h.max(s)));
    let own_units = high > OWN_UNITS * low;
    if own_units {
        notes.push(format!(
            "the channels differ in size by a factor of {:.0}, as in different units: each is scaled by itself",
            high / low
        ));
    }
    let units: Vec<f64> = scales.iter().map(|s| if own_units && *s > 0.0 { *s } else { 1.0 }).collect();
    let spread = spread_of_sizes(corpus, &units);
    let by_itself = spread > SIZES_MEAN_NOTHING;
    if by_itself {
        notes.push(format!(
            "the normal series differ widely in size (their logarithms by {spread:.1}): each is scaled by itself, so that \
             its size alone makes no series novel"
        ));
    }
    let per = match (own_units, by_itself) {
        (false, false) => Per::Global,
        (true, false) => Per::Channel,
        (false, true) => Per::SeriesGlobal,
        (true, true) => Per::Series,
    };
    Step::Zscore { per, offset: 0.0 }
}

/// The standard deviation of each channel over the corpus; 0 for one that is constant, to rounding.
fn channel_scales(corpus: &SeriesSet) -> Vec<f64> {
    let one = |channel: usize| {
        let values = || {
            let steps =
                corpus.iter().flat_map(|series| (0..series.steps()).map(move |t| series.step(t)[channel]));
            steps.filter(|v| v.is_finite())
        };
        let count = values().count().max(1) as f64;
        let mean = values().map(|v| v / count).sum::<f64>();
        let largest = values().fold(0.0, |m: f64, v| m.max((v - mean).abs()));
        let square = |v: f64| ((v - mean) / largest).powi(2);
        // Squares of shares of the largest neither overflow nor vanish.
        let deviation = largest * (values().map(square).sum::<f64>() / count).sqrt();
        if deviation > 1e-9 * mean.abs() { deviation } else { 0.0 }
    };
    (0..corpus.channels()).map(one).collect()
}

/// The distribution of windows of all channels.
fn radon(zscore: &Step) -> Result<View> {
    let view = View::new("radon".parse()?);
    Ok(View { prepare: steps([zscore.clone()]), scaling: Scaling::Raw, ..view })
}

/// Short patterns, whenever they occur. One length makes shares of convolutions comparable.
fn rocket(zscore: &Step, corpus: &SeriesSet) -> Result<View> {
    let length = median_length(corpus).max(LEAST_STEPS);
    let prepare = steps([zscore.clone(), Step::Resample { length }]);
    Ok(View { prepare, scaling: Scaling::Raw, ..View::new("rocket:features=1932".parse()?) })
}

/// The order of events, at any speed. The time channel tells when they happen.
fn sig(zscore: &Step, corpus: &SeriesSet) -> Result<View> {
    let affordable = (CELLS / corpus.len().max(1) as f64).sqrt() as usize;
    let pool = Step::Pool { max_length: affordable.clamp(FEWEST_STEPS, MOST_STEPS) };
    let prepare = steps([zscore.clone(), pool, Step::Time { length: RAMP }]);
    Ok(View { prepare, ..View::new("sig:lift=rbf".parse()?) })
}

/// The kernels of the paper that need no labels to be of use.
fn paper(zscore: &Step, corpus: &SeriesSet) -> Result<Vec<View>> {
    let pool = Step::Pool { max_length: MOST_STEPS };
    let mut list = vec![zscore.clone(), pool];
    if corpus.equal_length().is_none() {
        list.push(Step::Resample { length: median_length(corpus).min(MOST_STEPS) });
    }
    let one = |kernel: &str| -> Result<View> {
        let kernel: Kernel = kernel.parse()?;
        Ok(View { prepare: steps(list.clone()), ..View::new(kernel) })
    };
    ["flat_rbf", "integral_rbf", "gak", "vrk:clip=0.9", "sig:lift=rbf"].into_iter().map(one).collect()
}

fn steps(steps: impl IntoIterator<Item = Step>) -> Preparation {
    Preparation { steps: steps.into_iter().collect() }
}

fn median_length(corpus: &SeriesSet) -> usize {
    let mut lengths: Vec<usize> = corpus.lengths().collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(1)
}

/// How much the sizes of the series differ: the standard deviation of the logarithms of their root mean squares, each
/// channel about its own mean. A few series say little: some that differ as usual are added in thought. Single series that
/// are far from the others, which may not belong here, count as far as [`FAR`] robust deviations.
fn spread_of_sizes(corpus: &SeriesSet, units: &[f64]) -> f64 {
    let mut logs: Vec<f64> = corpus.iter().filter_map(|series| log_size(series, units)).collect();
    let (middle, spread) = location_and_spread(logs.clone());
    logs.iter_mut().for_each(|log| *log = log.clamp(middle - FAR * spread, middle + FAR * spread));
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let freedom = (count - 1.0).max(0.0);
    ((squares + EXPECTED_COUNT * EXPECTED_SPREAD.powi(2)) / (freedom + EXPECTED_COUNT)).sqrt()
}

/// The logarithm of a series' root mean square about its channel means; none of a series that is too short or does not
/// move.
fn log_size(series: Series<'_>, units: &[f64]) -> Option<f64> {
    let (steps, channels) = (series.steps(), series.channels());
    if steps.saturating_sub(1) * channels < SIZED_BY {
        return None;
    }
    let mut square = 0.0;
    for channel in 0..channels {
        let finite = (0..steps).map(|t| series.step(t)[channel] / units[channel]).filter(|v| v.is_finite());
        let count = finite.clone().count().max(1) as f64;
        let mean = finite.clone().sum::<f64>() / count;
        square += finite.map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    }
    (square > 0.0 && square.is_finite()).then(|| 0.5 * (square / channels as f64).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(scale: impl Fn(usize, usize) -> f64) -> SeriesSet {
        let value = |i: usize, t: usize, c: usize| scale(i, c) * ((3 * i + 7 * t + c) as f64).sin();
        let values = (0..8 * 20 * 2).map(|at| value(at / 40, at % 40 / 2, at % 2)).collect();
        SeriesSet::from_equal(values, 20, 2).unwrap()
    }

    fn chosen(corpus: &SeriesSet) -> (Per, usize) {
        let mut notes = Vec::new();
        match zscore(corpus, &mut notes) {
            Step::Zscore { per, .. } => (per, notes.len()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_scale_follows_units_and_sizes() {
        assert_eq!(chosen(&corpus(|_, _| 1.0)), (Per::Global, 0));
        assert_eq!(chosen(&corpus(|_, _| 1e-9)), (Per::Global, 0));
        assert_eq!(chosen(&corpus(|_, c| [1e5, 1e-3][c])), (Per::Channel, 1));
        assert_eq!(chosen(&corpus(|i, _| 4f64.powi(i as i32))), (Per::SeriesGlobal, 1));
        assert_eq!(chosen(&corpus(|i, c| [1e5, 1e-3][c] * 4f64.powi(i as i32))), (Per::Series, 2));
        // One series of another size does not decide for all.
        assert_eq!(chosen(&corpus(|i, _| if i == 3 { 1e3 } else { 1.0 })), (Per::Global, 0));
        // So few steps have any size by chance.
        let short =
            SeriesSet::from_equal((0..600).map(|i| f64::from(i * i % 97 - 48).powi(3)).collect(), 2, 1);
        assert_eq!(chosen(&short.unwrap()), (Per::Global, 0));
        // A channel that does not move says nothing about units.
        assert_eq!(chosen(&corpus(|_, c| [1.0, 0.0][c])), (Per::Global, 0));
    }

    #[test]
    fn large_corpora_get_landmarks_and_single_steps_no_order() {
        let many =
            SeriesSet::from_equal((0..MOST_PAIRED + 1).map(|i| (i as f64).sin()).collect(), 1, 1).unwrap();
        let choice = Preset::Auto.choose(&many).unwrap();
        assert_eq!((choice.views.len(), choice.notes.len()), (2, 2));
        assert!(choice.views.iter().all(|view| view.space == Space::landmarks(LANDMARKS)));
    }
}
