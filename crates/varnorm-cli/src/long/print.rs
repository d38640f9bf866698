//! Scores and events as lines: CSV, JSON, JSON lines or a table, written as they come.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::ValueEnum;
use varnorm::describe::significant;
use varnorm::long::{Alarm, Event, LongDetector, PointScore, WindowScore};

use crate::args::Format;

/// What has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Per {
    /// A line per row: settled and causal score, p-value, alarm
    Point,
    /// A line per scored window
    Window,
    /// A line per event: from, to, peak, channels that carry it, nearest normal stretch
    Event,
}

/// One cell of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Whole(u64),
    Number(f64),
    Text(String),
    Flag(bool),
    Nothing,
}

impl Cell {
    fn of(value: Option<String>) -> Self {
        value.map_or(Self::Nothing, Self::Text)
    }

    fn number(value: f64) -> Self {
        if value.is_nan() { Self::Nothing } else { Self::Number(value) }
    }

    fn json(&self) -> String {
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => serde_json::Value::from(*value).to_string(),
            Self::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Nothing => "null".into(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Number(value) => format!("{value:?}"),
            Self::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.into(),
            Self::Nothing => String::new(),
            Self::Whole(_) => self.json(),
        }
    }

    fn for_people(&self) -> String {
        match self {
            Self::Number(value) => significant(*value, 4),
            Self::Nothing => "-".into(),
            Self::Text(text) => text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect(),
            _ => self.csv(),
        }
    }
}

/// A line: names and cells.
pub type Line = Vec<(&'static str, Cell)>;

/// A line of JSON.
pub fn json_line(line: &Line) -> String {
    let fields: Vec<String> = line.iter().map(|(name, cell)| format!("\"{name}\":{}", cell.json())).collect();
    format!("{{{}}}", fields.join(","))
}

/// Times of rows that lines may still ask for.
#[derive(Debug, Clone, Default)]
pub struct Times(pub BTreeMap<u64, String>);

impl Times {
    /// The times of rows from this one on.
    pub fn add(&mut self, first: u64, times: &[String]) {
        self.0.extend(times.iter().enumerate().map(|(i, time)| (first + i as u64, time.clone())));
    }

    /// Forgets what nothing asks for any more.
    pub fn keep(&mut self, from: u64, others: &[u64]) {
        self.0.retain(|row, _| *row >= from || others.contains(row));
    }

    fn of(&self, row: u64) -> Cell {
        Cell::of(self.0.get(&row).cloned())
    }
}

/// The line of a point.
pub fn point(
    detector: &LongDetector,
    times: &Times,
    row: u64,
    settled: Option<f64>,
    causal: f64,
    score: PointScore,
) -> Line {
    let value = if score == PointScore::Settled { settled.unwrap_or(f64::NAN) } else { causal };
    let mut line = vec![("row", Cell::Whole(row)), ("time", times.of(row))];
    if let Some(settled) = settled {
        line.push(("settled", Cell::number(settled)));
    }
    let alarm = detector.promise(score).map(|promise| value > promise.threshold);
    line.extend([
        ("causal", Cell::number(causal)),
        ("p_value", detector.p_value(value, score).map_or(Cell::Nothing, Cell::Number)),
        ("alarm", alarm.map_or(Cell::Nothing, Cell::Flag)),
    ]);
    line
}

/// The line of a window.
pub fn window(detector: &LongDetector, times: &Times, window: &WindowScore) -> Line {
    let last = window.start + detector.window() as u64 - 1;
    vec![
        ("from", Cell::Whole(window.start)),
        ("to", Cell::Whole(last)),
        ("from_time", times.of(window.start)),
        ("to_time", times.of(last)),
        ("score", Cell::Number(window.score)),
        ("nearest_row", Cell::Whole(detector.window_row(window.nearest) as u64)),
        ("nearest_time", Cell::of(detector.window_time(window.nearest).map(str::to_string))),
    ]
}

/// The line of an event.
pub fn event(detector: &LongDetector, times: &Times, event: &Event) -> Line {
    vec![
        ("from", Cell::Whole(event.from)),
        ("to", Cell::Whole(event.to)),
        ("from_time", times.of(event.from)),
        ("to_time", times.of(event.to)),
        ("peak", Cell::Whole(event.peak)),
        ("peak_time", times.of(event.peak)),
        ("duration", Cell::Whole(event.duration())),
        ("score", Cell::Number(event.score)),
        ("p_value", event.p_value.map_or(Cell::Nothing, Cell::Number)),
        ("channels", Cell::Text(carriers(detector, event))),
        ("nearest_row", Cell::Whole(detector.window_row(event.nearest) as u64)),
        ("nearest_time", Cell::of(detector.window_time(event.nearest).map(str::to_string))),
    ]
}

/// The line of an event that has begun.
pub fn alarm(times: &Times, alarm: &Alarm) -> Line {
    vec![
        ("from", Cell::Whole(alarm.from)),
        ("from_time", times.of(alarm.from)),
        ("row", Cell::Whole(alarm.row)),
        ("time", times.of(alarm.row)),
        ("score", Cell::Number(alarm.score)),
    ]
}

/// "pressure 71 %, flow 20 %": the channels that carry most of it.
fn carriers(detector: &LongDetector, event: &Event) -> String {
    let mut order: Vec<usize> = (0..event.channels.len()).collect();
    order.sort_by(|a, b| event.channels[*b].total_cmp(&event.channels[*a]));
    let some = order.iter().filter(|c| event.channels[**c] >= 0.05).take(3);
    let words = some.map(|c| format!("{} {:.0} %", detector.channel_name(*c), 100.0 * event.channels[*c]));
    words.collect::<Vec<_>>().join(", ")
}

/// Writes lines in a format.
pub struct Printer<'a> {
    out: &'a mut dyn Write,
    format: Format,
    lines: u64,
    widths: Vec<usize>,
}

impl<'a> Printer<'a> {
    pub fn new(out: &'a mut dyn Write, format: Format) -> Self {
        Self { out, format, lines: 0, widths: Vec::new() }
    }

    pub fn line(&mut self, line: &Line) -> io::Result<()> {
        let first = self.lines == 0;
        self.lines += 1;
        match self.format {
            Format::Jsonl => writeln!(self.out, "{}", json_line(line)),
            Format::Json => {
                write!(self.out, "{}{}", if first { "[\n  " } else { ",\n  " }, json_line(line))
            }
            Format::Csv => {
                if first {
                    self.header(line)?;
                }
                let cells: Vec<String> = line.iter().map(|(_, cell)| cell.csv()).collect();
                writeln!(self.out, "{}", cells.join(","))
            }
            Format::Table => {
                if first {
                    self.table_header(line)?;
                }
                let cells = line
                    .iter()
                    .zip(&self.widths)
                    .map(|((_, cell), width)| format!("{:<width$}", cell.for_people()));
                writeln!(self.out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())
            }
        }
    }

    /// The end, with a header where there was no line.
    pub fn end(&mut self, nothing: &Line) -> io::Result<()> {
        match (self.format, self.lines) {
            (Format::Json, 0) => writeln!(self.out, "[]"),
            (Format::Json, _) => writeln!(self.out, "\n]"),
            (Format::Csv, 0) => self.header(nothing),
            (Format::Table, 0) => self.table_header(nothing),
            _ => Ok(()),
        }
    }

    fn header(&mut self, line: &Line) -> io::Result<()> {
        let names: Vec<&str> = line.iter().map(|(name, _)| *name).collect();
        writeln!(self.out, "{}", names.join(","))
    }

    /// Columns as wide as their names and the first line need: later lines are not known yet.
    fn table_header(&mut self, line: &Line) -> io::Result<()> {
        self.widths = line
            .iter()
            .map(|(name, cell)| name.len().max(cell.for_people().chars().count()).max(7))
            .collect();
        let names = line.iter().zip(&self.widths).map(|((name, _), width)| format!("{name:<width$}"));
        writeln!(self.out, "{}", names.collect::<Vec<_>>().join("  ").trim_end())
    }
}
