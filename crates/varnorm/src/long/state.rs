//! [`State`]: the one scorer of rows, however they come. Scoring a whole recording is feeding it in chunks.
//!
//! Windows lie on a grid that begins with every segment, so which windows are scored does not depend on chunks. A row is settled
//! once all windows on the grid that cover it are scored. At the end of a segment, rows that no window on the grid covers
//! have the score of the window that ends with the segment.

use std::collections::VecDeque;

use super::fit::Core;
use super::model::Found;
use super::recording::is_present;
use crate::error::Result;
use crate::run::Run;

/// The score of one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowScore {
    /// Its first row, counted from the beginning of the recording.
    pub start: u64,
    /// The distance to the nearest normal window.
    pub score: f64,
    /// The nearest of the normal windows that the model keeps.
    pub nearest: usize,
}

/// What some rows brought to light.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pushed {
    /// The causal score of every row that was given; NaN where no window has ended yet.
    pub causal: Vec<f64>,
    /// The first row whose settled score is below.
    pub settled_from: u64,
    /// Settled scores, of rows in order; NaN for rows in no window.
    pub settled: Vec<f64>,
    /// Windows that were scored.
    pub windows: Vec<WindowScore>,
}

/// Where a stream is. Bounded: about two windows of rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Rows so far.
    pub(super) rows: u64,
    /// The first row of the present segment.
    pub(super) segment: u64,
    /// Rows in the units of the model, the first being `first_row`.
    pub(super) buffer: Vec<f64>,
    pub(super) first_row: u64,
    /// Windows of the present segment, the last scored ones, beginning with number `first_window` on its grid.
    pub(super) windows: VecDeque<Found>,
    pub(super) first_window: u64,
    /// The next row whose settled score is not known.
    pub(super) settled: u64,
    /// The score of the last window that has ended.
    pub(super) causal: f64,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            rows: 0,
            segment: 0,
            buffer: Vec::new(),
            first_row: 0,
            windows: VecDeque::new(),
            first_window: 0,
            settled: 0,
            causal: f64::NAN,
        }
    }

    /// Takes rows without a gap between them; rows with missing values are gaps.
    pub(super) fn push(&mut self, core: &Core, rows: &[f64], run: &Run, out: &mut Pushed) -> Result<()> {
        let channels = core.model.channels;
        let mut rest = rows;
        while !rest.is_empty() {
            let present = rest.chunks_exact(channels).take_while(|row| is_present(row)).count();
            let (some, others) = rest.split_at(present * channels);
            if present > 0 {
                self.take(core, some, run, out)?;
            }
            rest = others;
            if !rest.is_empty() {
                self.interrupt(core, out)?;
                self.miss(out);
                rest = &rest[channels..];
            }
        }
        Ok(())
    }

    /// The segment ends here: rows are missing, or there are no more.
    pub(super) fn interrupt(&mut self, core: &Core, out: &mut Pushed) -> Result<()> {
        let window = core.model.window as u64;
        let covered = self.end_of_windows(core);
        while self.settled < covered {
            out.settled.push(self.mean(core, self.settled));
            self.settled += 1;
        }
        if self.settled < self.rows {
            let score = match self.rows - self.segment >= window {
                true => self.last_window(core, out)?,
                false => f64::NAN,
            };
            out.settled.extend(std::iter::repeat_n(score, (self.rows - self.settled) as usize));
        }
        self.begin_segment();
        Ok(())
    }

    /// Forgets rows that nothing needs any more.
    pub(super) fn trim(&mut self, core: &Core) {
        let window = core.model.window as u64;
        let needed = (self.settled + 1).min(self.rows).saturating_sub(window).max(self.first_row);
        self.buffer.drain(..(needed - self.first_row) as usize * core.model.channels);
        self.first_row = needed;
        // Windows that end before the next row to settle.
        let stride = core.stride as u64;
        while !self.windows.is_empty() && self.segment + self.first_window * stride + window <= self.settled {
            self.windows.pop_front();
            self.first_window += 1;
        }
    }

    /// A window that is still known, by its place on the grid: its first row and what was found.
    pub(super) fn covering(&self, core: &Core, row: u64) -> impl Iterator<Item = (u64, Found)> + '_ {
        let (stride, first) = (core.stride as u64, self.segment + self.first_window * core.stride as u64);
        let window = core.model.window as u64;
        let starts =
            self.windows.iter().enumerate().map(move |(i, found)| (first + i as u64 * stride, *found));
        starts.filter(move |(start, _)| *start <= row && row < start + window)
    }

    fn take(&mut self, core: &Core, rows: &[f64], run: &Run, out: &mut Pushed) -> Result<()> {
        let (window, stride) = (core.model.window as u64, core.stride as u64);
        core.scale.append(rows, &mut self.buffer);
        let before = self.rows;
        self.rows += (rows.len() / core.model.channels) as u64;
        let first = self.segment + (self.first_window + self.windows.len() as u64) * stride;
        let starts: Vec<u64> =
            (0..).map(|k| first + k * stride).take_while(|s| s + window <= self.rows).collect();
        let places: Vec<usize> = starts.iter().map(|start| (start - self.first_row) as usize).collect();
        let found = core.model.scores(&self.buffer, &places, run)?;
        let mut row = before;
        for (start, found) in starts.into_iter().zip(found) {
            let ends = start + window - 1;
            out.causal.extend(std::iter::repeat_n(self.causal, (ends - row) as usize));
            row = ends;
            self.causal = found.score;
            out.windows.push(WindowScore { start, score: found.score, nearest: found.nearest as usize });
            self.windows.push_back(found);
            while self.settled < start + stride {
                out.settled.push(self.mean(core, self.settled));
                self.settled += 1;
            }
        }
        out.causal.extend(std::iter::repeat_n(self.causal, (self.rows - row) as usize));
        Ok(())
    }

    /// A row that cannot be scored.
    fn miss(&mut self, out: &mut Pushed) {
        out.causal.push(f64::NAN);
        out.settled.push(f64::NAN);
        self.rows += 1;
        self.begin_segment();
    }

    fn begin_segment(&mut self) {
        self.segment = self.rows;
        self.settled = self.rows;
        self.first_row = self.rows;
        self.first_window = 0;
        self.buffer.clear();
        self.windows.clear();
        self.causal = f64::NAN;
    }

    /// The row after the last window on the grid; the segment's first row where there is none.
    fn end_of_windows(&self, core: &Core) -> u64 {
        let count = self.first_window + self.windows.len() as u64;
        match count {
            0 => self.segment,
            _ => self.segment + (count - 1) * core.stride as u64 + core.model.window as u64,
        }
    }

    /// The mean score of the windows on the grid that cover a row, in their order.
    fn mean(&self, core: &Core, row: u64) -> f64 {
        let (window, stride) = (core.model.window as u64, core.stride as u64);
        let place = row - self.segment;
        let first = (place + 1).saturating_sub(window).div_ceil(stride);
        let last = (place / stride).min(self.first_window + self.windows.len() as u64 - 1);
        let mut sum = 0.0;
        for which in first..=last {
            sum += self.windows[(which - self.first_window) as usize].score;
        }
        sum / (last + 1 - first) as f64
    }

    /// The score of the window that ends with the segment, which is not on the grid.
    fn last_window(&self, core: &Core, out: &mut Pushed) -> Result<f64> {
        let start = self.rows - core.model.window as u64;
        let place = (start - self.first_row) as usize;
        let found = core.model.scores(&self.buffer, &[place], &Run::sequential())?[0];
        out.windows.push(WindowScore { start, score: found.score, nearest: found.nearest as usize });
        Ok(found.score)
    }
}
