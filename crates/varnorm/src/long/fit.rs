//! [`Core`]: what is learned from the normal part, and nothing about alarms.

use std::ops::Range;

use super::model::{Look, WindowModel};
use super::recording::Recording;
use super::scale::Scale;
use super::settings::LongSettings;
use super::windows;
use crate::error::Result;
use crate::run::Run;

/// What scores windows: frozen once it is fitted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Core {
    pub(super) scale: Scale,
    pub(super) model: WindowModel,
    pub(super) stride: usize,
    /// The first rows of the normal windows that are kept.
    pub(super) starts: Vec<usize>,
}

impl Core {
    /// From some segments of a recording. The window is chosen already.
    pub(super) fn fit(
        recording: &Recording<'_>,
        segments: &[Range<usize>],
        window: usize,
        settings: &LongSettings,
        run: &Run,
    ) -> Result<Self> {
        let channels = recording.channels();
        let all = windows::starts(segments, window);
        let longest = segments.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        windows::require(all.iter().map(ExactSizeIterator::len).sum(), window, longest)?;
        let scale = Scale::fit(recording, segments);
        let starts = windows::sample(&all, settings.most_windows, settings.seed);
        let mut values = Vec::with_capacity(starts.len() * window * channels);
        for start in &starts {
            scale.append(recording.values_of(*start..start + window), &mut values);
        }
        let kernel = settings.kernel_for(channels);
        let look = Look {
            alpha: settings.alpha_for(&kernel),
            kernel,
            zscore_windows: settings.zscore_windows,
            distance: settings.distance,
        };
        let model = WindowModel::fit(look, values, window, channels, run)?;
        Ok(Self { scale, model, stride: settings.stride_for(window), starts })
    }
}

/// The window in effect for a recording.
pub(super) fn window_for(
    recording: &Recording<'_>,
    segments: &[Range<usize>],
    settings: &LongSettings,
) -> usize {
    let longest = segments.iter().max_by_key(|segment| segment.len()).cloned().unwrap_or(0..0);
    let values = if recording.channels() == 1 { recording.values_of(longest) } else { &[] };
    windows::choose(settings, recording.channels(), values)
}
