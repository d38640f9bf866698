//! `varnorm fit --window`: learns from the windows of one long recording.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use varnorm::describe::count;
use varnorm::long::{
    LongCalibration, LongDetector, LongSettings, PointScore, Promise, Recording, Window, moment,
};
use varnorm::{Error, Kernel};

use super::log::Log;
use super::steps::{duration_in_words, steps};
use crate::console::Console;
use crate::failure::Failure;

/// Options of one long recording.
#[derive(Args)]
#[command(next_help_heading = "One long recording")]
pub struct LongOptions {
    /// Learn from windows of one long recording: auto, a number of steps, or a duration such as 30s
    #[arg(long, value_name = "STEPS")]
    pub window: Option<String>,
    /// Steps from one scored window to the next [default: a sixteenth of the window]
    #[arg(long, value_name = "N", requires = "window")]
    stride: Option<usize>,
    /// The normal part begins here: a row number from 0, or a time as in the file
    #[arg(long, value_name = "ROW|TIME", requires = "window", conflicts_with = "clean")]
    from: Option<String>,
    /// The normal part ends before this row or time
    #[arg(long, value_name = "ROW|TIME", requires = "window", conflicts_with = "clean")]
    until: Option<String>,
    /// A CSV file of normal parts: lines `from,until` of rows or times
    #[arg(long, value_name = "FILE", requires = "window")]
    clean: Option<PathBuf>,
    /// At most one false alarm in this many steps, or in this duration, such as 24h; instead of --level
    #[arg(long, value_name = "DURATION", requires = "window", conflicts_with = "level")]
    one_false_alarm_in: Option<String>,
    /// Steps or duration of a block, whose highest score decides [default: four windows]
    #[arg(long, value_name = "STEPS", requires = "window")]
    block: Option<String>,
    /// Alarms at most so far apart are one event [default: one window]
    #[arg(long, value_name = "STEPS", requires = "window")]
    merge: Option<String>,
    /// Shortest event [default: 1]
    #[arg(long, value_name = "STEPS", requires = "window")]
    minimum_duration: Option<String>,
    /// After an event, begin no other for so long [default: 0]
    #[arg(long, value_name = "STEPS", requires = "window")]
    hold_off: Option<String>,
}

/// What the options of every fit mean for a long recording.
pub struct Shared {
    pub kernel: Option<Kernel>,
    pub alpha: Option<f64>,
    pub distance: Option<varnorm::Distance>,
    pub calibration: Option<LongCalibration>,
    pub level: Option<f64>,
}

impl LongOptions {
    /// Fits and writes.
    pub fn fit(
        &self,
        console: &Console,
        data: &[PathBuf],
        shared: Shared,
        path: &Path,
    ) -> Result<(), Failure> {
        let log = Log::read(console, data)?;
        let settings = self.settings(&log, shared)?;
        let (values, breaks, rows) = self.normal_part(&log)?;
        let recording = Recording::new(&values, log.channels)?.with_breaks(&breaks)?;
        let mut detector = LongDetector::fit(&recording, &settings, &console.run)?;
        if let Some(names) = &log.names {
            detector = detector.with_channel_names(names.clone())?;
        }
        // Rows of the normal part, as numbered in the log.
        detector = detector.with_rows(|row| rows[row]);
        if !log.times.is_empty() {
            detector = detector.with_times(|row| log.times[rows[row]].clone(), log.step);
        }
        console.run.check()?;
        console.clear();
        detector.save(path)?;
        tell(console, &log, &detector, path);
        Ok(())
    }

    fn settings(&self, log: &Log, shared: Shared) -> Result<LongSettings, Failure> {
        let seconds = log.seconds();
        let mut settings = LongSettings::default();
        let window = self.window.as_deref().unwrap_or("auto");
        settings.window = match window {
            "auto" => Window::Auto,
            other => Window::Steps(steps("window", other, seconds)?),
        };
        settings.stride = self.stride;
        let of = |name: &str, text: &Option<String>| {
            text.as_ref().map(|text| steps(name, text, seconds)).transpose()
        };
        settings.block = of("block", &self.block)?;
        settings.merge = of("merge", &self.merge)?;
        settings.minimum_duration =
            of("minimum_duration", &self.minimum_duration)?.unwrap_or(settings.minimum_duration);
        settings.hold_off = of("hold_off", &self.hold_off)?.unwrap_or(settings.hold_off);
        settings.kernel = shared.kernel;
        settings.alpha = shared.alpha;
        settings.distance = shared.distance.unwrap_or(settings.distance);
        // Who states a rate wants the promise, or to hear why there is none.
        if shared.level.is_some() || self.one_false_alarm_in.is_some() {
            settings.calibration = LongCalibration::Blocks;
        }
        settings.calibration = shared.calibration.unwrap_or(settings.calibration);
        settings.level = shared.level.unwrap_or(settings.level);
        if let Some(text) = &self.one_false_alarm_in {
            let every = steps("one_false_alarm_in", text, seconds)?;
            let recording = log.recording()?;
            let block = LongDetector::block_of(&recording, &settings);
            let level = block as f64 / every as f64;
            if level >= 1.0 {
                let rule =
                    format!("must be longer than a block, which has {block} steps; choose a shorter --block");
                return Err(Error::bad_param("one_false_alarm_in", text, rule).into());
            }
            settings.level = level;
        }
        settings.validate()?;
        Ok(settings)
    }

    /// The normal part, where its rows follow no others, and the places of its rows in the log.
    #[allow(clippy::type_complexity)]
    fn normal_part(&self, log: &Log) -> Result<(Vec<f64>, Vec<usize>, Vec<usize>), Failure> {
        let parts = self.parts(log)?;
        let (mut values, mut breaks, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            breaks.push(rows.len());
            breaks.extend(
                log.breaks
                    .iter()
                    .filter(|at| part.contains(at) && **at > part.start)
                    .map(|at| rows.len() + at - part.start),
            );
            values.extend_from_slice(&log.values[part.start * log.channels..part.end * log.channels]);
            rows.extend(part);
        }
        if rows.is_empty() {
            return Err(Failure::Words(format!("the normal part has no rows; the log has {}", log.rows())));
        }
        breaks.dedup();
        Ok((values, breaks, rows))
    }

    fn parts(&self, log: &Log) -> Result<Vec<Range<usize>>, Failure> {
        let Some(file) = &self.clean else {
            return Ok(vec![part(log, self.from.as_deref(), self.until.as_deref())?]);
        };
        let text = std::fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?;
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let cells: Vec<&str> = line.split([',', ';', '\t']).map(str::trim).collect();
            if number == 0 && cells.first() == Some(&"from") {
                continue;
            }
            let [from, until] = cells[..] else {
                return Err(Error::parse(file, number + 1, "give two cells: from, until").into());
            };
            let part = part(log, Some(from), Some(until))
                .map_err(|e| Error::parse(file, number + 1, e.to_string()))?;
            if parts.last().is_some_and(|last| last.end > part.start) {
                return Err(
                    Error::parse(file, number + 1, "parts must be in order and may not overlap").into()
                );
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

/// The rows from one place to another.
fn part(log: &Log, from: Option<&str>, until: Option<&str>) -> Result<Range<usize>, Failure> {
    let start = from.map_or(Ok(0), |text| row_of(log, "from", text))?;
    let end = until.map_or(Ok(log.rows()), |text| row_of(log, "until", text))?;
    match start < end {
        true => Ok(start..end),
        false => Err(Failure::Words(format!("the normal part from row {start} until row {end} is empty"))),
    }
}

/// The row that a number or a time means.
fn row_of(log: &Log, name: &str, text: &str) -> Result<usize, Failure> {
    if let Ok(row) = text.parse::<usize>() {
        return match row <= log.rows() {
            true => Ok(row),
            false => Err(Error::bad_param(name, row, format!("the log has {} rows", log.rows())).into()),
        };
    }
    let rule = "must be a row number, or a time as the log has them";
    let asked = moment(text).ok_or_else(|| Error::bad_param(name, text, rule))?;
    if log.step.is_none() {
        return Err(Error::bad_param(name, text, "the log has no times; give a row number").into());
    }
    let times = log.times.iter().map(|time| moment(time).map_or(f64::INFINITY, |moment| moment.value));
    Ok(times.take_while(|time| *time < asked.value).count())
}

/// The promise, with hours where the time is known.
pub fn promise_in_words(promise: &Promise, detector: &LongDetector) -> String {
    let words = promise.in_words();
    match (promise.block, detector.step()) {
        (Some(block), Some(step)) => {
            let every = duration_in_words(block as f64 * step * promise.blocks_per_alarm() as f64);
            format!("{words} (one in {every})")
        }
        _ => words,
    }
}

fn tell(console: &Console, log: &Log, detector: &LongDetector, path: &Path) {
    console.notes(&log.counts.notes());
    console.say(format!(
        "fitted on {} of {} rows of {}",
        count(detector.windows(), "window"),
        detector.rows(),
        count(detector.channels(), "channel"),
    ));
    for (kernel, window) in detector.members() {
        let seconds = detector.step().map(|step| format!(" ({})", duration_in_words(step * window as f64)));
        console.say(format!("window {window} steps{}, kernel {kernel}", seconds.unwrap_or_default()));
    }
    if let Some(promise) = detector.promise(PointScore::Settled) {
        let words = promise_in_words(&promise, detector);
        console.say(format!("alarms above {:.4}: {words}", promise.threshold));
    }
    if let Some(warning) = detector.warning() {
        console.warn(warning);
    }
    console.say(format!("wrote {}", path.display()));
}
