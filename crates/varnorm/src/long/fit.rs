//! [`Core`]: what is learned from the normal part, and nothing about alarms.

use std::ops::Range;

use super::model::{Look, WindowModel};
use super::recording::Recording;
use super::scale::Scale;
use super::settings::{LongSettings, Spec};
use super::windows;
use crate::error::Result;
use crate::run::Run;

/// What scores rows: frozen once it is fitted. At least one member.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Core {
    pub(super) members: Vec<Member>,
}

/// One look at windows of one length.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) scale: Scale,
    pub(super) model: WindowModel,
    pub(super) stride: usize,
    /// What makes its scores comparable with those of others.
    pub(super) standard: Standard,
    /// The first rows of the normal windows that are kept, and their values in the units of the scale.
    pub(super) starts: Vec<usize>,
    pub(super) windows: Vec<f64>,
}

/// The middle and the spread of normal scores. One member alone has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standard {
    pub(super) middle: f64,
    pub(super) spread: f64,
}

impl Standard {
    /// Scores as they are.
    pub(super) const NONE: Self = Self { middle: 0.0, spread: 1.0 };

    /// The median and the interquartile range in deviations of a normal law; a floor, as repeated windows have scores of zero.
    fn new(mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        let at = |share: f64| scores[((scores.len() - 1) as f64 * share).round() as usize];
        let (low, middle, high) = (at(0.25), at(0.5), at(0.75));
        let spread = ((high - low) / 1.349).max(0.1 * middle);
        if spread > 0.0 && spread.is_finite() {
            Self { middle, spread }
        } else {
            Self { middle, spread: 1.0 }
        }
    }

    /// A score in spreads from the middle.
    pub(super) fn of(&self, score: f64) -> f64 {
        if *self == Self::NONE { score } else { (score - self.middle) / self.spread }
    }
}

impl Core {
    /// From some segments of a recording, with the members that were chosen for all of it.
    pub(super) fn fit(
        recording: &Recording<'_>,
        segments: &[Range<usize>],
        specs: &[Spec],
        settings: &LongSettings,
        run: &Run,
    ) -> Result<Self> {
        let scale = Scale::fit(recording, segments);
        let mut members = Vec::with_capacity(specs.len());
        for spec in specs {
            let mut member = Member::fit(recording, segments, spec, settings, scale.clone(), run)?;
            if specs.len() > 1 {
                // Windows that share rows are alike: only those two windows away are compared.
                member.standard =
                    Standard::new(member.model.scores_apart(&member.starts, 2 * spec.window, run)?);
            }
            members.push(member);
        }
        Ok(Self { members })
    }

    /// The member whose windows are shown.
    pub(super) fn first(&self) -> &Member {
        &self.members[0]
    }

    /// Steps of the longest window.
    pub(super) fn longest(&self) -> usize {
        self.members.iter().map(|member| member.model.window).max().unwrap_or(1)
    }

    pub(super) fn channels(&self) -> usize {
        self.first().model.channels
    }
}

impl Member {
    fn fit(
        recording: &Recording<'_>,
        segments: &[Range<usize>],
        spec: &Spec,
        settings: &LongSettings,
        scale: Scale,
        run: &Run,
    ) -> Result<Self> {
        let (window, channels) = (spec.window, recording.channels());
        let all = windows::starts(segments, window);
        let longest = segments.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        windows::require(all.iter().map(ExactSizeIterator::len).sum(), window, longest)?;
        let starts = windows::sample(&all, settings.most_windows.min(spec.most_windows), settings.seed);
        let mut values = Vec::with_capacity(starts.len() * window * channels);
        for start in &starts {
            scale.append(recording.values_of(*start..start + window), &mut values);
        }
        let look = Look {
            alpha: spec.alpha,
            kernel: spec.kernel.clone(),
            zscore_windows: settings.zscore_windows,
            distance: settings.distance,
        };
        let model = WindowModel::fit(look, values.clone(), window, channels, run)?;
        Ok(Self { scale, model, stride: spec.stride, standard: Standard::NONE, starts, windows: values })
    }
}

/// The members that settings mean for a recording.
pub(super) fn specs_for(
    recording: &Recording<'_>,
    segments: &[Range<usize>],
    settings: &LongSettings,
) -> Vec<Spec> {
    let longest = segments.iter().max_by_key(|segment| segment.len()).cloned().unwrap_or(0..0);
    let values = if recording.channels() == 1 { recording.values_of(longest.clone()) } else { &[] };
    let window = windows::choose(settings, recording.channels(), values);
    settings.members(window, recording.channels(), longest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_standardised_with_a_floor() {
        let standard = Standard::new((0..101).map(f64::from).collect());
        assert_eq!((standard.middle, standard.spread), (50.0, 50.0 / 1.349));
        let same = Standard::new(vec![2.0; 9]);
        assert_eq!((same.middle, same.spread), (2.0, 0.2));
        assert!((same.of(2.4) - 2.0).abs() < 1e-12);
        assert_eq!(Standard::new(vec![0.0; 3]).spread, 1.0);
        assert_eq!(Standard::NONE.of(0.3), 0.3);
    }
}
