//! `varnorm follow`: rows from standard input, scores and events as they become certain.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use varnorm::Error;
use varnorm::long::{Follows, LogReader, LogRow, LongDetector, Order, PointScore, Pushed, Stream};

use super::log::{BATCH, Counts, check_width, order_of};
use super::print::{self, Cell, Line, Times, json_line};
use crate::console::Console;
use crate::failure::Failure;

/// Score rows from standard input as they come
#[derive(Args)]
#[command(after_help = "Example:
  tail -F -n +1 plant.csv | varnorm follow plant.model --state plant.state

Rows are CSV with a header, or JSON lines (objects or arrays). Every line of the result is a JSON object whose kind is point,
alarm (an event has begun), event (it has ended) or resumed.
Rules: a row whose time is before that of the last row (late), or the same (duplicate), is dropped and counted. A jump of
more than 10 steps, or a row with a missing value, is a gap: no window goes across it.
With --state, rows are saved before their lines are printed. After a crash, give the rows from the number that the line
`resumed` states; lines that may not have been printed are printed again. Without --state, the end of the input is
the end of the recording: what waited for more rows is printed.")]
pub struct Follow {
    /// A model that `varnorm fit --window` wrote
    model: PathBuf,
    /// Which score makes alarms: settled is better and comes a window later, causal comes at once
    #[arg(long, value_enum, default_value = "settled")]
    score: ScoreArg,
    /// Print only these lines [default: all]
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Save where the stream is to this file, and go on from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

/// Which score of a point makes alarms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreArg {
    /// The mean over the windows that cover a row
    Settled,
    /// The last window that has ended
    Causal,
}

impl From<ScoreArg> for PointScore {
    fn from(arg: ScoreArg) -> Self {
        match arg {
            ScoreArg::Settled => Self::Settled,
            ScoreArg::Causal => Self::Causal,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    /// Scores of rows
    Points,
    /// Alarms and events
    Events,
}

/// What is saved beside the stream itself.
#[derive(Default, Serialize, Deserialize)]
struct Note {
    last_time: Option<String>,
    times: Vec<(u64, String)>,
    /// Causal scores, as bits, of rows that are not settled.
    waiting: Vec<u64>,
    counts: Counts,
    /// The lines of the last rows, which may not have been printed.
    lines: Vec<String>,
}

impl Follow {
    /// Scores until the input ends.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let Some(detector) = super::load(&self.model)? else {
            let problem = "it is not a model of one long recording; fit one with --window";
            return Err(Error::file(&self.model, problem).into());
        };
        if let Some(warning) = detector.warning() {
            console.warn(warning);
        }
        let mut work = self.begin(Arc::new(detector))?;
        if work.stream.rows() > 0 {
            work.reprint()?;
        }
        let names = work.stream.detector().channel_names().map(<[String]>::to_vec);
        let rows = rows_of_input(names, work.stream.detector().channels());
        while let Some(batch) = next_batch(&rows, console)? {
            work.take(batch, console, self)?;
        }
        if self.state.is_none() {
            // Those of the last rows are printed.
            work.note.lines.clear();
            let pushed = work.stream.finish()?;
            work.lines(pushed, self);
            work.print()?;
        }
        console.notes(&work.note.counts.notes());
        Ok(())
    }

    fn begin(&self, detector: Arc<LongDetector>) -> Result<Work, Failure> {
        let (score, mut order) = (self.score.into(), order_of(&detector));
        let saved = self.state.as_ref().filter(|path| path.exists());
        let Some(path) = saved else {
            let stream = Stream::new(detector, score);
            return Ok(Work {
                stream,
                order,
                times: Times::default(),
                waiting: Vec::new(),
                note: Note::default(),
            });
        };
        let (stream, note) = Stream::load(path, detector)?;
        let wrong =
            |problem: String| Error::file(path, format!("not a usable state of `varnorm follow`: {problem}"));
        if stream.score() != score {
            return Err(wrong("it was saved with another --score".into()).into());
        }
        let note: Note = serde_json::from_str(&note).map_err(|e| wrong(e.to_string()))?;
        order.resume(note.last_time.as_deref());
        let times = Times(note.times.iter().cloned().collect());
        let waiting = note.waiting.iter().map(|bits| f64::from_bits(*bits)).collect();
        if waiting_of(&stream) != note.waiting.len() as u64 {
            return Err(wrong("its rows do not fit together".into()).into());
        }
        Ok(Work { stream, order, times, waiting, note })
    }
}

/// Rows whose causal score waits for the settled one.
fn waiting_of(stream: &Stream) -> u64 {
    match stream.score() {
        PointScore::Settled => stream.rows() - stream.settled(),
        PointScore::Causal => 0,
    }
}

struct Work {
    stream: Stream,
    order: Order,
    times: Times,
    waiting: Vec<f64>,
    note: Note,
}

impl Work {
    /// Scores rows, saves, and only then prints.
    fn take(&mut self, batch: Vec<LogRow>, console: &Console, follow: &Follow) -> Result<(), Failure> {
        self.note.lines.clear();
        let mut values = Vec::new();
        for row in batch {
            match self.order.judge(row.time.as_deref()) {
                Follows::Late => self.note.counts.late += 1,
                Follows::Duplicate => self.note.counts.duplicate += 1,
                follows => {
                    if follows == Follows::AfterGap {
                        self.push(&mut values, console, follow)?;
                        self.note.counts.gaps += 1;
                        let pushed = self.stream.gap()?;
                        self.lines(pushed, follow);
                    }
                    self.note.counts.missing += u64::from(row.values.iter().any(|value| !value.is_finite()));
                    let at = self.stream.rows() + (values.len() / row.values.len()) as u64;
                    if let Some(time) = row.time {
                        self.times.add(at, std::slice::from_ref(&time));
                        self.note.last_time = Some(time);
                    }
                    values.extend_from_slice(&row.values);
                }
            }
        }
        self.push(&mut values, console, follow)?;
        if let Some(path) = &follow.state {
            self.save(path)?;
        }
        self.print()
    }

    fn push(&mut self, values: &mut Vec<f64>, console: &Console, follow: &Follow) -> Result<(), Failure> {
        let pushed = self.stream.push(values, &console.run)?;
        values.clear();
        self.lines(pushed, follow);
        let from = self.stream.settled().min(self.stream.rows());
        self.times.keep(from, &self.stream.open_rows());
        Ok(())
    }

    /// The lines of what became certain.
    fn lines(&mut self, pushed: Pushed, follow: &Follow) {
        let mut lines: Vec<(&str, Line)> = Vec::new();
        let (detector, score) = (self.stream.detector(), self.stream.score());
        if follow.only != Some(Only::Events) {
            match score {
                PointScore::Settled => {
                    self.waiting.extend(&pushed.causal);
                    for (at, settled) in pushed.settled.iter().enumerate() {
                        let (row, causal) = (pushed.settled_from + at as u64, self.waiting[at]);
                        lines.push((
                            "point",
                            print::point(detector, &self.times, row, Some(*settled), causal, score),
                        ));
                    }
                    self.waiting.drain(..pushed.settled.len());
                }
                PointScore::Causal => {
                    for (at, causal) in pushed.causal.iter().enumerate() {
                        let row = pushed.first_row + at as u64;
                        lines.push(("point", print::point(detector, &self.times, row, None, *causal, score)));
                    }
                }
            }
        } else if score == PointScore::Settled {
            self.waiting.extend(&pushed.causal);
            self.waiting.drain(..pushed.settled.len());
        }
        if follow.only != Some(Only::Points) {
            lines.extend(pushed.alarms.iter().map(|alarm| ("alarm", print::alarm(&self.times, alarm))));
            lines.extend(
                pushed.events.iter().map(|event| ("event", print::event(detector, &self.times, event))),
            );
        }
        let with_kind = |(kind, mut line): (&str, Line)| {
            line.insert(0, ("kind", Cell::Text(kind.into())));
            json_line(&line)
        };
        self.note.lines.extend(lines.into_iter().map(with_kind));
    }

    fn save(&mut self, path: &Path) -> Result<(), Failure> {
        self.note.times = self.times.0.iter().map(|(row, time)| (*row, time.clone())).collect();
        self.note.waiting = self.waiting.iter().map(|value| value.to_bits()).collect();
        let note = serde_json::to_string(&self.note).map_err(|e| Failure::Words(e.to_string()))?;
        Ok(self.stream.save(path, &note)?)
    }

    fn print(&self) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let mut write = || {
            self.note.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            out.flush()
        };
        write().map_err(Failure::Output)
    }

    /// After a stop: how many rows there are already, and what may not have been printed.
    fn reprint(&self) -> Result<(), Failure> {
        let line = vec![("kind", Cell::Text("resumed".into())), ("rows", Cell::Whole(self.stream.rows()))];
        writeln!(io::stdout().lock(), "{}", json_line(&line)).map_err(Failure::Output)?;
        self.print()
    }
}

/// The rows of standard input, read on a thread of its own: what is there is taken at once.
fn rows_of_input(names: Option<Vec<String>>, channels: usize) -> Receiver<Result<LogRow, Error>> {
    let (sender, receiver) = sync_channel(BATCH);
    std::thread::spawn(move || {
        let name = Path::new("standard input");
        let input = Box::new(BufReader::new(io::stdin()));
        let mut reader = match LogReader::new(name, input, names.as_deref()) {
            Ok(reader) => reader,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        loop {
            let mut row = LogRow::default();
            let next = match reader.read(&mut row) {
                Ok(false) => return,
                Ok(true) => check_width(&reader, &row, channels).map(|()| row),
                Err(error) => Err(error),
            };
            let last = next.is_err();
            // Nobody listens any more once the program ends.
            if sender.send(next).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// The rows that are there, at least one; nothing at the end of the input.
fn next_batch(
    rows: &Receiver<Result<LogRow, Error>>,
    console: &Console,
) -> Result<Option<Vec<LogRow>>, Failure> {
    let first = loop {
        console.run.check().map_err(Failure::kept(|| "rows whose lines were printed are kept".into()))?;
        match rows.recv_timeout(Duration::from_millis(100)) {
            Ok(row) => break row?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    };
    let mut batch = vec![first];
    while batch.len() < BATCH {
        match rows.try_recv() {
            Ok(row) => batch.push(row?),
            Err(_) => break,
        }
    }
    Ok(Some(batch))
}
