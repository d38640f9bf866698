//! [`State`]: the one scorer of rows by one member, however they come. Scoring a whole recording is feeding it in chunks.
//!
//! Windows lie on a grid that begins with every segment, so which windows are scored does not depend on chunks. A row is settled
//! once all windows on the grid that cover it are scored. At the end of a segment, rows that no window on the grid covers
//! have the score of the window that ends with the segment.

use std::collections::VecDeque;

use serde::Serialize;

use super::fit::Member;
use super::model::Found;
use super::recording::is_present;
use crate::error::Result;
use crate::run::Run;

/// The score of one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WindowScore {
    /// Its first row, counted from the beginning of the recording.
    pub start: u64,
    /// The distance to the nearest normal window.
    pub score: f64,
    /// The nearest of the normal windows that the model keeps.
    pub nearest: usize,
}

/// The scores that some rows brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scores {
    /// The causal score of every row that was given; NaN where no window has ended yet.
    pub(super) causal: Vec<f64>,
    /// Settled scores, of rows in order; NaN for rows in no window.
    pub(super) settled: Vec<f64>,
    /// Windows that were scored.
    pub(super) windows: Vec<WindowScore>,
}

/// A part of some rows.
pub(super) enum Part<'a> {
    /// Rows that are all there.
    Present(&'a [f64]),
    /// A row with a missing value.
    Missing,
}

/// Rows, cut where one has a missing value.
pub(super) fn parts(rows: &[f64], channels: usize) -> Vec<Part<'_>> {
    let (mut found, mut rest) = (Vec::new(), rows);
    while !rest.is_empty() {
        let present = rest.chunks_exact(channels).take_while(|row| is_present(row)).count();
        let (some, others) = rest.split_at(present * channels);
        if present > 0 {
            found.push(Part::Present(some));
        }
        rest = others.get(channels..).unwrap_or(&[]);
        if !others.is_empty() {
            found.push(Part::Missing);
        }
    }
    found
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
    /// The window that ends with the segment, once that is known.
    pub(super) last: Option<WindowScore>,
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
            last: None,
        }
    }

    /// The scores of rows that wait for windows which never come: the segment ends here.
    pub(super) fn settle(&mut self, member: &Member, out: &mut Scores) -> Result<()> {
        let covered = self.end_of_windows(member);
        while self.settled < covered {
            out.settled.push(self.mean(member, self.settled));
            self.settled += 1;
        }
        if self.settled < self.rows {
            let score = match self.rows - self.segment >= member.model.window as u64 {
                true => self.last_window(member, out)?,
                false => f64::NAN,
            };
            out.settled.extend(std::iter::repeat_n(score, (self.rows - self.settled) as usize));
            self.settled = self.rows;
        }
        Ok(())
    }

    /// Forgets rows that nothing needs any more; those in windows that cover row `keep` are needed.
    pub(super) fn trim(&mut self, member: &Member, keep: u64) {
        let window = member.model.window as u64;
        let keep = keep.min(self.settled);
        let needed = (keep + 1).min(self.rows).saturating_sub(window).max(self.first_row);
        self.buffer.drain(..(needed - self.first_row) as usize * member.model.channels);
        self.first_row = needed;
        // Windows that end before the next row to settle.
        let stride = member.stride as u64;
        while !self.windows.is_empty() && self.segment + self.first_window * stride + window <= keep {
            self.windows.pop_front();
            self.first_window += 1;
        }
    }

    /// Windows that cover a row, of those that are still known.
    pub(super) fn covering(&self, member: &Member, row: u64) -> impl Iterator<Item = WindowScore> + '_ {
        let (window, stride) = (member.model.window as u64, member.stride as u64);
        let first = self.segment + self.first_window * stride;
        let on_grid = self.windows.iter().enumerate().map(move |(i, found)| WindowScore {
            start: first + i as u64 * stride,
            score: found.score,
            nearest: found.nearest as usize,
        });
        on_grid.chain(self.last).filter(move |one| one.start <= row && row < one.start + window)
    }

    /// The rows of a window that is still known, in the units of the model.
    pub(super) fn rows_of(&self, member: &Member, start: u64) -> &[f64] {
        let each = member.model.channels;
        let first = (start - self.first_row) as usize * each;
        &self.buffer[first..first + member.model.window * each]
    }

    /// Takes rows that are all there.
    pub(super) fn take(&mut self, member: &Member, rows: &[f64], run: &Run, out: &mut Scores) -> Result<()> {
        let (window, stride) = (member.model.window as u64, member.stride as u64);
        member.scale.append(rows, &mut self.buffer);
        let before = self.rows;
        self.rows += (rows.len() / member.model.channels) as u64;
        let first = self.segment + (self.first_window + self.windows.len() as u64) * stride;
        let starts: Vec<u64> =
            (0..).map(|k| first + k * stride).take_while(|s| s + window <= self.rows).collect();
        let places: Vec<usize> = starts.iter().map(|start| (start - self.first_row) as usize).collect();
        let found = member.model.scores(&self.buffer, &places, run)?;
        let mut row = before;
        for (start, found) in starts.into_iter().zip(found) {
            let ends = start + window - 1;
            out.causal.extend(std::iter::repeat_n(self.causal, (ends - row) as usize));
            row = ends;
            self.causal = found.score;
            out.windows.push(WindowScore { start, score: found.score, nearest: found.nearest as usize });
            self.windows.push_back(found);
            while self.settled < start + stride {
                out.settled.push(self.mean(member, self.settled));
                self.settled += 1;
            }
        }
        out.causal.extend(std::iter::repeat_n(self.causal, (self.rows - row) as usize));
        Ok(())
    }

    /// A row that cannot be scored.
    pub(super) fn miss(&mut self, out: &mut Scores) {
        out.causal.push(f64::NAN);
        out.settled.push(f64::NAN);
        self.rows += 1;
        self.begin_segment();
    }

    pub(super) fn begin_segment(&mut self) {
        self.segment = self.rows;
        self.settled = self.rows;
        self.first_row = self.rows;
        self.first_window = 0;
        self.buffer.clear();
        self.windows.clear();
        self.causal = f64::NAN;
        self.last = None;
    }

    /// The row after the last window on the grid; the segment's first row where there is none.
    fn end_of_windows(&self, member: &Member) -> u64 {
        let count = self.first_window + self.windows.len() as u64;
        match count {
            0 => self.segment,
            _ => self.segment + (count - 1) * member.stride as u64 + member.model.window as u64,
        }
    }

    /// The mean score of the windows on the grid that cover a row, in their order.
    fn mean(&self, member: &Member, row: u64) -> f64 {
        let (window, stride) = (member.model.window as u64, member.stride as u64);
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
    fn last_window(&mut self, member: &Member, out: &mut Scores) -> Result<f64> {
        let start = self.rows - member.model.window as u64;
        let place = (start - self.first_row) as usize;
        let found = member.model.scores(&self.buffer, &[place], &Run::sequential())?[0];
        let last = WindowScore { start, score: found.score, nearest: found.nearest as usize };
        self.last = Some(last);
        out.windows.push(last);
        Ok(found.score)
    }
}
