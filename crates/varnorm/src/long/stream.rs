//! [`Stream`]: rows as they come, to the same bits as all at once.

use std::sync::Arc;

use super::combine::Combined;
use super::detector::{LongDetector, PointScore};
use super::events::{Alarm, Certain, Event, Finder, Rules};
use super::state::{Part, Scores, WindowScore, parts};
use crate::error::{Error, Result};
use crate::run::Run;

/// What some rows brought to light.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pushed {
    /// The first of the rows that were given, counted from the beginning of the stream.
    pub first_row: u64,
    /// The causal score of every row that was given; NaN where no window has ended yet.
    pub causal: Vec<f64>,
    /// The first row whose settled score became known.
    pub settled_from: u64,
    /// Settled scores that became known, of rows in order; NaN for rows in no window.
    pub settled: Vec<f64>,
    /// Windows that were scored.
    pub windows: Vec<WindowScore>,
    /// Events that have begun.
    pub alarms: Vec<Alarm>,
    /// Events that have ended.
    pub events: Vec<Event>,
}

/// A recording that goes on: rows in, scores and events out as they become certain. Its memory is bounded.
///
/// ```
/// # use varnorm::long::{LongDetector, LongSettings, PointScore, Recording, Stream};
/// # use varnorm::Run;
/// let wave = |t: i32| (f64::from(t) * 0.2).sin() + 0.1 * (f64::from(t) * 1.7).cos();
/// let values: Vec<f64> = (0..3000).map(wave).collect();
/// let (normal, run) = (Recording::new(&values, 1).unwrap(), Run::sequential());
/// let detector = LongDetector::fit(&normal, &LongSettings::default(), &run).unwrap();
/// let mut stream = Stream::new(detector.into(), PointScore::Settled);
/// let later: Vec<f64> = (0..500).map(wave).collect();
/// let mut settled = Vec::new();
/// for rows in later.chunks(7) {
///     settled.extend(stream.push(rows, &run).unwrap().settled);
/// }
/// settled.extend(stream.finish().unwrap().settled);
/// assert_eq!(settled.len(), 500);
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    pub(super) detector: Arc<LongDetector>,
    pub(super) state: Combined,
    pub(super) finder: Finder,
    pub(super) rules: Rules,
}

impl Stream {
    /// At the beginning. Events are made from this score, at the model's level.
    pub fn new(detector: Arc<LongDetector>, score: PointScore) -> Self {
        let threshold = detector.promise(score).map_or(f64::INFINITY, |promise| promise.threshold);
        let settings = &detector.settings;
        let rules = Rules {
            threshold,
            merge: settings.merge_for(detector.window()) as u64,
            minimum_duration: settings.minimum_duration as u64,
            hold_off: settings.hold_off as u64,
            score,
        };
        let state = Combined::new(&detector.core);
        Self { detector, state, finder: Finder::default(), rules }
    }

    /// The model.
    pub fn detector(&self) -> &LongDetector {
        &self.detector
    }

    /// Which score events are made from.
    pub fn score(&self) -> PointScore {
        self.rules.score
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.state.rows()
    }

    /// The next row whose settled score is not known yet.
    pub fn settled(&self) -> u64 {
        self.state.settled()
    }

    /// Rows that an event which has not ended speaks of: its first, its peak and its last so far.
    pub fn open_rows(&self) -> Vec<u64> {
        self.finder.open.iter().flat_map(|open| [open.from, open.peak, open.last]).collect()
    }

    /// Takes the next rows, which follow the last ones without a gap. A row with a missing value is a gap.
    pub fn push(&mut self, rows: &[f64], run: &Run) -> Result<Pushed> {
        let channels = self.detector.channels();
        if !rows.len().is_multiple_of(channels) {
            let rule = format!("must be whole rows of {channels} channels");
            return Err(Error::bad_param("rows", format!("{} numbers", rows.len()), rule));
        }
        let mut step = Step::begin(self);
        for part in parts(rows, channels) {
            match part {
                Part::Present(rows) => step.take(self, rows, run)?,
                Part::Missing => {
                    step.interrupt(self)?;
                    step.miss(self);
                }
            }
        }
        self.state.trim(&self.detector.core);
        step.end(self)
    }

    /// Rows are missing here: what comes next is in no window with what came before.
    pub fn gap(&mut self) -> Result<Pushed> {
        let mut step = Step::begin(self);
        step.interrupt(self)?;
        step.end(self)
    }

    /// There are no more rows: what waited for them becomes certain.
    pub fn finish(&mut self) -> Result<Pushed> {
        self.gap()
    }
}

/// What happens to one batch of rows.
struct Step {
    first_row: u64,
    settled_from: u64,
    scores: Scores,
    /// How many of the scores events were made from.
    seen: usize,
    certain: Certain,
}

impl Step {
    fn begin(stream: &Stream) -> Self {
        let (first_row, settled_from) = (stream.state.rows(), stream.state.settled());
        Self { first_row, settled_from, scores: Scores::default(), seen: 0, certain: Certain::default() }
    }

    fn take(&mut self, stream: &mut Stream, rows: &[f64], run: &Run) -> Result<()> {
        stream.state.take(&stream.detector.core, rows, run, &mut self.scores)?;
        self.observe(stream);
        Ok(())
    }

    fn interrupt(&mut self, stream: &mut Stream) -> Result<()> {
        stream.state.settle(&stream.detector.core, &mut self.scores)?;
        self.observe(stream);
        stream.finder.close(&stream.rules, &mut self.certain);
        stream.state.begin_segment();
        Ok(())
    }

    fn miss(&mut self, stream: &mut Stream) {
        stream.state.miss(&mut self.scores);
        self.observe(stream);
    }

    /// Shows the scores that are new to the finder of events.
    fn observe(&mut self, stream: &mut Stream) {
        let (scores, first) = match stream.rules.score {
            PointScore::Settled => (&self.scores.settled, self.settled_from),
            PointScore::Causal => (&self.scores.causal, self.first_row),
        };
        let (member, state) = (stream.detector.core.first(), &stream.state.states[0]);
        for (at, score) in scores.iter().enumerate().skip(self.seen) {
            let row = first + at as u64;
            stream.finder.point(&stream.rules, row, *score, member, state, &mut self.certain);
        }
        self.seen = scores.len();
    }

    fn end(self, stream: &Stream) -> Result<Pushed> {
        let explain = |open| stream.detector.explain(open, stream.rules.score);
        let events = self.certain.events.into_iter().map(explain).collect::<Result<_>>()?;
        let Scores { causal, settled, windows } = self.scores;
        let (first_row, settled_from) = (self.first_row, self.settled_from);
        Ok(Pushed { first_row, causal, settled_from, settled, windows, alarms: self.certain.alarms, events })
    }
}
