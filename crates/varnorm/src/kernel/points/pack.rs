//! Series side by side, one per vector lane: what the recurrences over pairs of series work on.

use std::ops::Range;

use crate::data::SeriesSet;
use crate::simd::aligned::Cells;
use crate::simd::{Isa, L, Work, dispatch, interleave};

/// Numbers of one series that are packed at a time.
const BLOCK: usize = 256;

/// What of a series is worked on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// Its points; a shorter series is continued with its last point.
    Points,
    /// Its increments, one fewer than points; a shorter series is continued with zeros.
    Increments,
}

impl Of {
    /// Points or increments of a series of so many points.
    pub(crate) fn count(self, points: usize) -> usize {
        points - usize::from(self == Self::Increments)
    }

    /// Writes the points or increments `steps` of one series, continued beyond its end, row by row.
    pub(crate) fn copy(self, values: &[f64], channels: usize, steps: Range<usize>, out: &mut [f64]) {
        let count = self.count(values.len() / channels);
        match self {
            Self::Points => {
                for (step, row) in steps.zip(out.chunks_exact_mut(channels)) {
                    row.copy_from_slice(&values[step.min(count - 1) * channels..][..channels]);
                }
            }
            Self::Increments => {
                let start = steps.start.min(count);
                let size = (steps.end.min(count) - start) * channels;
                let (increments, beyond) = out[..steps.len() * channels].split_at_mut(size);
                let (from, to) = (&values[start * channels..], &values[(start + 1) * channels..]);
                dispatch(Differences { from: &from[..size], to: &to[..size], out: increments });
                beyond.fill(0.0);
            }
        }
    }
}

/// `to - from`.
struct Differences<'a> {
    from: &'a [f64],
    to: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Differences<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { from, to, out } = self;
        for ((out, to), from) in out.iter_mut().zip(to).zip(from) {
            *out = to - from;
        }
    }
}

/// The sum of all absolute increments of a series: its path is no longer.
pub(crate) fn variation(values: &[f64], channels: usize) -> f64 {
    // Several sums at once: none waits for the one before.
    let mut sums = [0.0; 8];
    for (next, value) in values[channels..].chunks(8).zip(values.chunks(8)) {
        let pairs = next.iter().zip(value);
        sums.iter_mut().zip(pairs).for_each(|(sum, (next, value))| *sum += (next - value).abs());
    }
    sums.iter().sum()
}

/// The [`variation`] of the series of every lane.
pub(crate) fn variations(set: &SeriesSet, members: &[usize]) -> [f64; L] {
    let mut variations = [0.0; L];
    for (lane, &member) in members.iter().enumerate().take(L) {
        variations[lane] = match lane.checked_sub(1) {
            // One row series often stands in all lanes.
            Some(before) if members[before] == member => variations[before],
            _ => variation(set.series(member).values(), set.channels()),
        };
    }
    variations
}

/// Packs some steps of up to [`L`] series: `out[step * channels + channel][lane]`; lanes without a series hold zeros.
pub(crate) fn pack(set: &SeriesSet, members: &[usize], of: Of, steps: Range<usize>, out: &mut Cells) {
    let channels = set.channels();
    let out = out.take(steps.len() * channels);
    let copy = |member: usize, steps: Range<usize>, row: &mut [f64]| {
        of.copy(set.series(member).values(), channels, steps, row);
    };
    if members.len() == L && members.iter().all(|m| *m == members[0]) {
        let mut series = vec![0.0; out.len()];
        copy(members[0], steps, &mut series);
        out.iter_mut().zip(&series).for_each(|(cells, value)| *cells = [*value; L]);
        return;
    }
    if members.len() < L {
        out.fill([0.0; L]);
    }
    let quarters: Vec<&[usize]> = members.chunks(4).collect();
    // A block at a time, so that it stays near while all lanes are put in.
    let block = (BLOCK / channels).max(1);
    let mut rows = vec![0.0; 4 * block * channels];
    for (first, out) in steps.step_by(block).zip(out.chunks_mut(block * channels)) {
        let steps = first..first + out.len() / channels;
        for (quarter, members) in quarters.iter().enumerate() {
            // Series often stand in several lanes.
            if let Some(same) = quarters[..quarter].iter().position(|before| before == members) {
                out.iter_mut().for_each(|cells| {
                    let quarters = cells.as_chunks_mut::<4>().0;
                    quarters[quarter] = quarters[same];
                });
                continue;
            }
            let rows = &mut rows[..4 * out.len()];
            if members.len() == 4 && members.iter().all(|m| *m == members[0]) {
                let row = &mut rows[..out.len()];
                copy(members[0], steps.clone(), row);
                let values = out.iter_mut().zip(row);
                values.for_each(|(cells, value)| cells.as_chunks_mut::<4>().0[quarter] = [*value; 4]);
                continue;
            }
            if members.len() < 4 {
                rows.fill(0.0);
            }
            for (row, &member) in rows.chunks_exact_mut(out.len()).zip(*members) {
                copy(member, steps.clone(), row);
            }
            interleave_quarter(rows, quarter, out);
        }
    }
}

/// Puts four rows side by side, in one quarter of the lanes.
pub(crate) fn interleave_quarter(rows: &[f64], quarter: usize, out: &mut [[f64; L]]) {
    let rows = [0, 1, 2, 3].map(|row| &rows[row * out.len()..(row + 1) * out.len()]);
    dispatch(Interleave { rows, quarter, out });
}

struct Interleave<'a> {
    rows: [&'a [f64]; 4],
    quarter: usize,
    out: &'a mut [[f64; L]],
}

impl Work for Interleave<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        interleave::<I, L>(self.rows, self.quarter, self.out);
    }
}

/// Up to [`L`] series side by side. Lanes without a series hold zeros.
#[derive(Default)]
pub(crate) struct Columns {
    /// Steps of the longest.
    pub(crate) steps: usize,
    /// Channels of all.
    pub(crate) channels: usize,
    /// Steps of each.
    pub(crate) lengths: [usize; L],
    /// `values[step * channels + channel][lane]`.
    pub(crate) values: Cells,
}

impl Columns {
    /// Takes the lengths of the series of `members` (at most [`L`]).
    pub(crate) fn measure(&mut self, set: &SeriesSet, members: &[usize], of: Of) {
        self.channels = set.channels();
        self.lengths = [0; L];
        for (length, &member) in self.lengths.iter_mut().zip(members) {
            *length = of.count(set.series(member).steps());
        }
        self.steps = self.lengths.iter().copied().max().unwrap_or(0);
    }

    /// Packs the series of `members`, reusing the buffer.
    pub(crate) fn load(&mut self, set: &SeriesSet, members: &[usize], of: Of) {
        self.measure(set, members, of);
        pack(set, members, of, 0..self.steps, &mut self.values);
    }

    /// The values of all lanes at one step, one `[f64; L]` per channel.
    #[inline(always)]
    pub(crate) fn step(&self, step: usize) -> &[[f64; L]] {
        &self.values[step * self.channels..(step + 1) * self.channels]
    }
}
