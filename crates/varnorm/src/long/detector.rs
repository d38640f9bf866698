//! [`LongDetector`]: a frozen model of the windows of a normal recording.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibrate::{self, Normal, Promise};
use super::events::Event;
use super::fit::{self, Core};
use super::recording::Recording;
use super::settings::{LongCalibration, LongSettings};
use super::state::WindowScore;
use super::stream::{Pushed, Stream};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::run::Run;

/// Rows that are scored at a time.
const CHUNK: usize = 8192;

/// Which score of a point is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    pub(super) core: Arc<Core>,
    pub(super) normal: Option<Normal>,
    /// Rows that it was fitted on, without gaps.
    pub(super) rows: usize,
    pub(super) facts: Facts,
}

/// What is known about the recording that a model was fitted on, for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Facts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel_names: Option<Vec<String>>,
    /// The time of the first row of every normal window that is kept, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) window_times: Option<Vec<String>>,
    /// From one row to the next, in the unit of the times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<f64>,
    /// Whether that unit is the second.
    #[serde(default)]
    pub(super) in_seconds: bool,
    /// The first rows of the normal windows as the user numbers them, where that is not as in the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rows: Option<Vec<usize>>,
}

impl Facts {
    /// An error where they do not fit a model.
    pub(super) fn check(&self, channels: usize, windows: usize) -> Result<(), String> {
        let fits = self.channel_names.as_ref().is_none_or(|names| names.len() == channels)
            && self.rows.as_ref().is_none_or(|rows| rows.len() == windows)
            && self.window_times.as_ref().is_none_or(|times| times.len() == windows)
            && self.step.is_none_or(|step| step.is_finite() && step > 0.0);
        if fits { Ok(()) } else { Err("its names and times do not fit its arrays".into()) }
    }
}

impl LongDetector {
    /// Learns from a normal recording.
    pub fn fit(recording: &Recording<'_>, settings: &LongSettings, run: &Run) -> Result<Self> {
        settings.validate()?;
        recording.require_no_infinity()?;
        let segments = recording.segments();
        let specs = fit::specs_for(recording, &segments, settings);
        let core = Core::fit(recording, &segments, &specs, settings, run)?;
        let normal = calibrate::hold_out(recording, &segments, &specs, settings, run)?;
        let rows = segments.iter().map(ExactSizeIterator::len).sum();
        let fitted =
            Self { settings: settings.clone(), core: Arc::new(core), normal, rows, facts: Facts::default() };
        if settings.calibration == LongCalibration::Blocks {
            fitted.require_promise(settings.level)?;
        }
        Ok(fitted)
    }

    /// The scores of all points of another recording.
    pub fn score(&self, recording: &Recording<'_>, run: &Run) -> Result<PointScores> {
        let mut found = PointScores { settled: Vec::new(), causal: Vec::new() };
        self.scan(recording, PointScore::Settled, run, |pushed| {
            found.settled.extend(pushed.settled);
            found.causal.extend(pushed.causal);
        })?;
        Ok(found)
    }

    /// The scores of all windows of another recording.
    pub fn score_windows(&self, recording: &Recording<'_>, run: &Run) -> Result<Vec<WindowScore>> {
        let mut found = Vec::new();
        self.scan(recording, PointScore::Settled, run, |pushed| found.extend(pushed.windows))?;
        Ok(found)
    }

    /// The events of another recording; none where the model makes no promise.
    pub fn events(&self, recording: &Recording<'_>, score: PointScore, run: &Run) -> Result<Vec<Event>> {
        let mut found = Vec::new();
        self.scan(recording, score, run, |pushed| found.extend(pushed.events))?;
        Ok(found)
    }

    /// All of a recording as a stream, some thousand rows at a time.
    pub fn scan(
        &self,
        recording: &Recording<'_>,
        score: PointScore,
        run: &Run,
        mut take: impl FnMut(Pushed),
    ) -> Result<()> {
        self.check_channels(recording.channels())?;
        let mut stream = Stream::new(Arc::new(self.clone()), score);
        let mut breaks = recording.breaks().iter().copied().peekable();
        let mut start = 0;
        while start < recording.rows() {
            if breaks.next_if_eq(&start).is_some() {
                take(stream.gap()?);
            }
            let next = breaks.peek().copied().unwrap_or(recording.rows());
            let end = next.min(start + CHUNK);
            take(stream.push(recording.values_of(start..end), run)?);
            start = end;
        }
        take(stream.finish()?);
        Ok(())
    }

    /// The settled scores of all points of another recording.
    pub fn score_points(&self, recording: &Recording<'_>, run: &Run) -> Result<Vec<f64>> {
        self.score(recording, run).map(|scores| scores.settled)
    }

    /// The causal scores of all points of another recording.
    pub fn score_points_causal(&self, recording: &Recording<'_>, run: &Run) -> Result<Vec<f64>> {
        self.score(recording, run).map(|scores| scores.causal)
    }

    /// With a name for every channel; an error where there are more or fewer.
    pub fn with_channel_names(mut self, names: Vec<String>) -> Result<Self> {
        self.check_channels(names.len())?;
        self.facts.channel_names = Some(names);
        Ok(self)
    }

    /// With the time of every row that it was fitted on, as written, and the median step of these times, as
    /// [`median_step`](super::median_step) has it.
    pub fn with_times(mut self, time_of: impl Fn(usize) -> String, step: Option<(f64, bool)>) -> Self {
        self.facts.window_times = Some(self.core.first().starts.iter().map(|row| time_of(*row)).collect());
        let step = step.filter(|(step, _)| step.is_finite() && *step > 0.0);
        self.facts.step = step.map(|(step, _)| step);
        self.facts.in_seconds = step.is_some_and(|(_, dated)| dated);
        self
    }

    /// With rows numbered as in the log that the normal part was cut from.
    pub fn with_rows(mut self, number_of: impl Fn(usize) -> usize) -> Self {
        self.facts.rows = Some(self.core.first().starts.iter().map(|row| number_of(*row)).collect());
        self
    }

    /// The name of a channel, or its number.
    pub fn channel_name(&self, channel: usize) -> String {
        let names = self.facts.channel_names.as_ref();
        names.and_then(|names| names.get(channel).cloned()).unwrap_or_else(|| channel.to_string())
    }

    /// The names of the channels, where they are known.
    pub fn channel_names(&self) -> Option<&[String]> {
        self.facts.channel_names.as_deref()
    }

    /// The first row of a normal window that is kept, in the recording that it was fitted on.
    pub fn window_row(&self, window: usize) -> usize {
        let numbered = self.facts.rows.as_ref().and_then(|rows| rows.get(window));
        *numbered.unwrap_or(&self.core.first().starts[window])
    }

    /// The time of the first row of a normal window, as written, where times are known.
    pub fn window_time(&self, window: usize) -> Option<&str> {
        self.facts.window_times.as_ref()?.get(window).map(String::as_str)
    }

    /// Seconds from one row to the next, where times are dates.
    pub fn step(&self) -> Option<f64> {
        self.facts.step.filter(|_| self.facts.in_seconds)
    }

    /// From one row to the next, in the unit of the times, where there are times.
    pub fn time_step(&self) -> Option<f64> {
        self.facts.step
    }

    /// The steps of a block that settings mean for a recording.
    pub fn block_of(recording: &Recording<'_>, settings: &LongSettings) -> usize {
        settings.block_for(fit::specs_for(recording, &recording.segments(), settings)[0].window)
    }

    /// The settings it was fitted with.
    pub fn settings(&self) -> &LongSettings {
        &self.settings
    }

    /// Steps of the longest window: so much later is a row settled.
    pub fn longest_window(&self) -> usize {
        self.core.longest()
    }

    /// How windows are looked at, and how many steps they have: several members where scores are combined.
    pub fn members(&self) -> Vec<(Kernel, usize)> {
        self.core.members.iter().map(|member| (member.model.kernel.clone(), member.model.window)).collect()
    }

    /// Steps of a window, of the first member where there are several.
    pub fn window(&self) -> usize {
        self.core.first().model.window
    }

    /// Steps from one scored window to the next.
    pub fn stride(&self) -> usize {
        self.core.first().stride
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.core.first().model.channels
    }

    /// Normal windows that it keeps.
    pub fn windows(&self) -> usize {
        self.core.first().model.len()
    }

    /// Rows that it was fitted on, without those with missing values.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How windows are looked at.
    pub fn kernel(&self) -> &Kernel {
        &self.core.first().model.kernel
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
