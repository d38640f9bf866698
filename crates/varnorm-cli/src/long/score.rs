//! `varnorm score` with a model of one long recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use varnorm::long::{LongDetector, PointScore, Pushed, Stream};

use super::log::Feed;
use super::print::{self, Line, Per, Printer, Times};
use crate::args::Format;
use crate::console::Console;
use crate::failure::Failure;
use crate::{Verdict, output};

/// What is scored, and how it is printed.
pub struct Scoring<'a> {
    pub data: &'a [PathBuf],
    pub per: Per,
    pub score: PointScore,
    pub format: Option<Format>,
    pub output: Option<&'a Path>,
    pub fail_on_novel: bool,
}

impl Scoring<'_> {
    /// Scores row by row: memory does not grow with the log.
    pub fn run(&self, console: &Console, detector: LongDetector) -> Result<Verdict, Failure> {
        let [path] = self.data else {
            return Err(Failure::Words(
                "a model of one long recording scores one log at a time; give one file".into(),
            ));
        };
        if let Some(warning) = detector.warning() {
            console.warn(warning);
        }
        if detector.promise(self.score).is_none() && (self.per == Per::Event || self.fail_on_novel) {
            return Err(Failure::Words(
                "the model makes no alarms, so there are no events; use --per point, or fit it on more normal data".into(),
            ));
        }
        let detector = Arc::new(detector);
        let mut feed = Feed::open(console, path, &detector)?;
        let mut found = Found::default();
        let mut failure = None;
        let format = Format::choose(self.format, self.output)?;
        output::deliver(console, self.output, |out| {
            let mut printer = Printer::new(out, format);
            let mut work = Work {
                stream: Stream::new(detector.clone(), self.score),
                times: Times::default(),
                waiting: Vec::new(),
                first: 0,
            };
            let done = self.score_all(console, &mut feed, &mut work, &mut printer, &mut found);
            match done {
                Ok(()) => printer.end(&self.nothing(&detector)),
                Err(Stop::Output(error)) => Err(error),
                Err(Stop::Failure(error)) => {
                    // What was printed so far is not whole: an output file is not written at all.
                    failure = Some(error);
                    Err(std::io::Error::other("stopped"))
                }
            }
        })
        .map_err(|error| failure.take().unwrap_or(error))?;
        self.tell(console, &detector, &feed, &found);
        Ok(if self.fail_on_novel && found.events > 0 { Verdict::Novel } else { Verdict::Fine })
    }

    fn score_all(
        &self,
        console: &Console,
        feed: &mut Feed,
        work: &mut Work,
        printer: &mut Printer<'_>,
        found: &mut Found,
    ) -> Result<(), Stop> {
        while let Some(batch) = feed.next()? {
            if batch.after_gap {
                let pushed = work.stream.gap().map_err(Failure::from)?;
                self.print(work, pushed, printer, found)?;
            }
            work.times.add(work.stream.rows(), &batch.times);
            let pushed = work.stream.push(&batch.values, &console.run).map_err(Failure::from)?;
            self.print(work, pushed, printer, found)?;
        }
        let pushed = work.stream.finish().map_err(Failure::from)?;
        self.print(work, pushed, printer, found)
    }

    fn print(
        &self,
        work: &mut Work,
        pushed: Pushed,
        printer: &mut Printer<'_>,
        found: &mut Found,
    ) -> Result<(), Stop> {
        found.events += pushed.events.len() as u64;
        found.rows += pushed.causal.len() as u64;
        found.unscored += pushed.settled.iter().filter(|score| score.is_nan()).count() as u64;
        let detector = work.stream.detector();
        match self.per {
            Per::Event => {
                for event in &pushed.events {
                    printer.line(&print::event(detector, &work.times, event))?;
                }
            }
            Per::Window => {
                for window in &pushed.windows {
                    printer.line(&print::window(detector, &work.times, window))?;
                }
            }
            Per::Point => {
                work.waiting.extend(&pushed.causal);
                for (at, settled) in pushed.settled.iter().enumerate() {
                    let causal = work.waiting[at];
                    let row = work.first + at as u64;
                    printer.line(&print::point(
                        detector,
                        &work.times,
                        row,
                        Some(*settled),
                        causal,
                        self.score,
                    ))?;
                }
                work.waiting.drain(..pushed.settled.len());
                work.first += pushed.settled.len() as u64;
            }
        }
        let from =
            work.stream.settled().min((work.stream.rows() + 1).saturating_sub(detector.window() as u64));
        work.times.keep(from, &work.stream.open_rows());
        Ok(())
    }

    /// A line for the header of an empty result.
    fn nothing(&self, detector: &LongDetector) -> Line {
        let times = Times::default();
        match self.per {
            Per::Point => print::point(detector, &times, 0, Some(f64::NAN), f64::NAN, self.score),
            Per::Window => print::window(
                detector,
                &times,
                &varnorm::long::WindowScore { start: 0, score: 0.0, nearest: 0 },
            ),
            Per::Event => {
                let event = varnorm::long::Event {
                    from: 0,
                    to: 0,
                    peak: 0,
                    score: 0.0,
                    p_value: None,
                    channels: Vec::new(),
                    nearest: 0,
                };
                print::event(detector, &times, &event)
            }
        }
    }

    fn tell(&self, console: &Console, detector: &LongDetector, feed: &Feed, found: &Found) {
        console.notes(&feed.counts.notes());
        if found.unscored > feed.counts.missing {
            let rows = found.unscored - feed.counts.missing;
            console.say(format!(
                "note: {rows} rows are in no window: their stretch is shorter than {} steps",
                detector.window()
            ));
        }
        if let Some(promise) = detector.promise(self.score) {
            let words = super::fit::promise_in_words(&promise, detector);
            console.say(format!(
                "{} rows, {} events; threshold {:.4}: {words}",
                found.rows, found.events, promise.threshold
            ));
        } else {
            console.say(format!("{} rows", found.rows));
        }
    }
}

/// Where the scoring is.
struct Work {
    stream: Stream,
    times: Times,
    /// Causal scores of rows that are not settled, the first of them `first`.
    waiting: Vec<f64>,
    first: u64,
}

#[derive(Default)]
struct Found {
    rows: u64,
    events: u64,
    unscored: u64,
}

/// Why it ends before its time.
enum Stop {
    Failure(Failure),
    Output(std::io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}
