//! [`LongDetector`]: a frozen model of the windows of a normal recording.

use super::calibrate::{self, Normal, Promise};
use super::fit::{self, Core};
use super::recording::Recording;
use super::settings::{LongCalibration, LongSettings};
use super::stream::{Pushed, State};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::run::Run;

/// Rows that are scored at a time.
const CHUNK: usize = 8192;

/// Which score of a point is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointScore {
    /// The mean over the windows that cover a point, known when the last of them has ended.
    #[default]
    Settled,
    /// The score of the last window that has ended, known at once.
    Causal,
}

/// The scores of all points of a recording; NaN for points in no window.
#[derive(Debug, Clone, PartialEq)]
pub struct PointScores {
    /// The mean over the windows that cover a point: looks a window ahead.
    pub settled: Vec<f64>,
    /// The score of the last window that has ended: looks at the past only.
    pub causal: Vec<f64>,
}

/// A frozen model of the windows of a normal recording.
#[derive(Debug, Clone)]
pub struct LongDetector {
    pub(super) settings: LongSettings,
    pub(super) core: Core,
    pub(super) normal: Option<Normal>,
    /// Rows that it was fitted on, without gaps.
    pub(super) rows: usize,
}

impl LongDetector {
    /// Learns from a normal recording.
    pub fn fit(recording: &Recording<'_>, settings: &LongSettings, run: &Run) -> Result<Self> {
        settings.validate()?;
        recording.require_no_infinity()?;
        let segments = recording.segments();
        let window = fit::window_for(recording, &segments, settings);
        let core = Core::fit(recording, &segments, window, settings, run)?;
        let normal = calibrate::hold_out(recording, &segments, window, settings, run)?;
        let rows = segments.iter().map(ExactSizeIterator::len).sum();
        let fitted = Self { settings: settings.clone(), core, normal, rows };
        if settings.calibration == LongCalibration::Blocks {
            fitted.require_promise(settings.level)?;
        }
        Ok(fitted)
    }

    /// The scores of all points of another recording.
    pub fn score(&self, recording: &Recording<'_>, run: &Run) -> Result<PointScores> {
        let (mut state, mut out) = (State::new(), Pushed::default());
        self.check_channels(recording.channels())?;
        let mut breaks = recording.breaks().iter().copied().peekable();
        let mut start = 0;
        while start < recording.rows() {
            while breaks.next_if_eq(&start).is_some() {
                state.interrupt(&self.core, &mut out)?;
            }
            let next = breaks.peek().copied().unwrap_or(recording.rows());
            let end = next.min(start + CHUNK);
            state.push(&self.core, recording.values_of(start..end), run, &mut out)?;
            state.trim(&self.core);
            start = end;
        }
        state.interrupt(&self.core, &mut out)?;
        Ok(PointScores { settled: out.settled, causal: out.causal })
    }

    /// The settled scores of all points of another recording.
    pub fn score_points(&self, recording: &Recording<'_>, run: &Run) -> Result<Vec<f64>> {
        self.score(recording, run).map(|scores| scores.settled)
    }

    /// The causal scores of all points of another recording.
    pub fn score_points_causal(&self, recording: &Recording<'_>, run: &Run) -> Result<Vec<f64>> {
        self.score(recording, run).map(|scores| scores.causal)
    }

    /// The settings it was fitted with.
    pub fn settings(&self) -> &LongSettings {
        &self.settings
    }

    /// Steps of a window.
    pub fn window(&self) -> usize {
        self.core.model.window
    }

    /// Steps from one scored window to the next.
    pub fn stride(&self) -> usize {
        self.core.stride
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.core.model.channels
    }

    /// Normal windows that it keeps.
    pub fn windows(&self) -> usize {
        self.core.model.len()
    }

    /// Rows that it was fitted on, without those with missing values.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How windows are looked at.
    pub fn kernel(&self) -> &Kernel {
        &self.core.model.kernel
    }

    /// Steps of a block.
    pub fn block(&self) -> usize {
        self.settings.block_for(self.window())
    }

    /// Scores of normal points that a model has not seen: cross-fitted on contiguous folds, in ascending order, at most 10,000
    /// of them. Empty where there was too little data to hold any out.
    pub fn normal_scores(&self, score: PointScore) -> &[f64] {
        self.normal.as_ref().map_or(&[], |normal| normal.points[score as usize].scores())
    }

    /// The highest scores of normal blocks that a model has not seen, in ascending order.
    pub fn normal_block_maxima(&self, score: PointScore) -> &[f64] {
        self.normal.as_ref().map_or(&[], |normal| normal.blocks[score as usize].scores())
    }

    /// What flags promise at the model's level; nothing without calibration or with too little normal data.
    pub fn promise(&self, score: PointScore) -> Option<Promise> {
        self.promise_at(self.settings.level, score)
    }

    /// What flags promise at a level.
    pub fn promise_at(&self, level: f64, score: PointScore) -> Option<Promise> {
        let normal = self.normal.as_ref()?;
        let (calibrated, block) = match self.settings.calibration {
            LongCalibration::None => return None,
            LongCalibration::Points => (&normal.points[score as usize], None),
            _ => (&normal.blocks[score as usize], Some(self.block())),
        };
        let threshold = calibrated.conformal_threshold(level);
        let rate = calibrated.attainable_rate(level);
        let calibration = calibrated.scores().len();
        threshold.is_finite().then_some(Promise { threshold, rate, block, calibration })
    }

    /// The chance of a normal block (or point) with a score as high as this, at most.
    pub fn p_value(&self, value: f64, score: PointScore) -> Option<f64> {
        let normal = self.normal.as_ref().filter(|_| !value.is_nan())?;
        match self.settings.calibration {
            LongCalibration::None => None,
            LongCalibration::Points => Some(normal.points[score as usize].p_value(value)),
            _ => Some(normal.blocks[score as usize].p_value(value)),
        }
    }

    /// An error that says how much normal data a promise at this level needs, where there is too little.
    pub fn require_promise(&self, level: f64) -> Result<()> {
        let found = self.normal_block_maxima(PointScore::Settled).len();
        calibrate::require(found, self.block(), level)
    }

    /// Why there are no alarms, or what is wrong with them, where that is so.
    pub fn warning(&self) -> Option<String> {
        match self.settings.calibration {
            LongCalibration::None => None,
            LongCalibration::Points => Some(
                "calibration points is a rate of points: neighbours are alike, and far more blocks than that have an alarm; \
                 prefer calibration blocks"
                    .into(),
            ),
            _ => self.require_promise(self.settings.level).err().map(|error| format!("no alarms: {error}")),
        }
    }

    pub(super) fn check_channels(&self, found: usize) -> Result<()> {
        let expected = self.channels();
        if found == expected {
            return Ok(());
        }
        let advice = "give the channels that the model was fitted on".into();
        Err(Error::Channels { found, expected, advice })
    }
}
