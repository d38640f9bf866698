//! Series side by side, one per vector lane: what the recurrences over pairs of series work on.
//!
//! A group of [`L`] column series is packed once as `[step][channel][lane]`; a row series passes by, either one
//! series for all lanes ([`Broadcast`]) or one per lane (a [`Columns`] again: pairs of a series with itself).
//! Static values of pairs of points come a few rows at a time, so that no `T x S` matrix is ever stored.

use super::lanes::Isa;
use crate::data::{Series, SeriesSet};

/// Lanes: four registers of AVX2, so that the latency of one chain hides behind three others.
pub(crate) const L: usize = 16;

/// What of a series is packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Its points; a shorter series is continued with its last point.
    Points,
    /// Its increments, one fewer than points; a shorter series is continued with zeros.
    Increments,
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
    pub(crate) values: Vec<[f64; L]>,
}

impl Columns {
    /// Packs the series of `members` (at most [`L`]), reusing the buffer.
    pub(crate) fn load(&mut self, set: &SeriesSet, members: &[usize], of: Of) {
        let shorter = usize::from(of == Of::Increments);
        self.channels = set.channels();
        self.lengths = [0; L];
        for (length, &member) in self.lengths.iter_mut().zip(members) {
            *length = set.series(member).steps() - shorter;
        }
        self.steps = self.lengths.iter().copied().max().unwrap_or(0);
        self.values.clear();
        self.values.resize(self.steps * self.channels, [0.0; L]);
        for (lane, &member) in members.iter().enumerate().take(L) {
            self.load_lane(lane, set.series(member).values(), of);
        }
    }

    fn load_lane(&mut self, lane: usize, values: &[f64], of: Of) {
        let d = self.channels;
        match of {
            Of::Points => {
                for (cells, value) in self.values.iter_mut().zip(values) {
                    cells[lane] = *value;
                }
                let last = &values[values.len() - d..];
                for (cells, value) in self.values[values.len()..].iter_mut().zip(last.iter().cycle()) {
                    cells[lane] = *value;
                }
            }
            Of::Increments => {
                for (cells, (next, value)) in self.values.iter_mut().zip(values[d..].iter().zip(values)) {
                    cells[lane] = next - value;
                }
            }
        }
    }

    /// The values of all lanes at one step, one `[f64; L]` per channel.
    #[inline(always)]
    pub(crate) fn step(&self, step: usize) -> &[[f64; L]] {
        &self.values[step * self.channels..(step + 1) * self.channels]
    }
}

/// A row series as the recurrences see it.
pub(crate) trait Row {
    /// Steps of the longest lane.
    fn steps(&self) -> usize;
    /// Steps of one lane.
    fn length(&self, lane: usize) -> usize;
    /// One value of every lane.
    fn at(&self, step: usize, channel: usize) -> [f64; L];
}

/// One series, or its increments, for all lanes.
pub(crate) struct Broadcast {
    steps: usize,
    channels: usize,
    values: Vec<f64>,
}

impl Broadcast {
    pub(crate) fn new(series: Series<'_>, of: Of) -> Self {
        let (values, channels) = (series.values(), series.channels());
        match of {
            Of::Points => Self { steps: series.steps(), channels, values: values.to_vec() },
            Of::Increments => Self {
                steps: series.steps() - 1,
                channels,
                values: values[channels..].iter().zip(values).map(|(next, value)| next - value).collect(),
            },
        }
    }
}

impl Row for Broadcast {
    #[inline(always)]
    fn steps(&self) -> usize {
        self.steps
    }
    #[inline(always)]
    fn length(&self, _lane: usize) -> usize {
        self.steps
    }
    #[inline(always)]
    fn at(&self, step: usize, channel: usize) -> [f64; L] {
        [self.values[step * self.channels + channel]; L]
    }
}

impl Row for Columns {
    #[inline(always)]
    fn steps(&self) -> usize {
        self.steps
    }
    #[inline(always)]
    fn length(&self, lane: usize) -> usize {
        self.lengths[lane]
    }
    #[inline(always)]
    fn at(&self, step: usize, channel: usize) -> [f64; L] {
        self.values[step * self.channels + channel]
    }
}

/// Rows of static values made at a time: with L lanes their sums fill half of the registers of AVX2.
pub(crate) const BLOCK: usize = 2;

/// `|x_s - y_t|^2` for the steps `first .. first + rows` of x and all steps of y: `out[r * y.steps + t]`; from the
/// differences themselves, so that no digits are lost to cancellation.
#[inline(always)]
pub(crate) fn distances<I: Isa>(x: &impl Row, first: usize, rows: usize, y: &Columns, out: &mut [[f64; L]]) {
    match rows {
        BLOCK => sums::<I, BLOCK>(x, first, y, out),
        _ => {
            for r in 0..rows {
                sums::<I, 1>(x, first + r, y, &mut out[r * y.steps..]);
            }
        }
    }
}

#[inline(always)]
fn sums<I: Isa, const R: usize>(x: &impl Row, first: usize, y: &Columns, out: &mut [[f64; L]]) {
    for t in 0..y.steps {
        let mut sums = [[0.0; L]; R];
        for (channel, y) in y.step(t).iter().enumerate() {
            for (r, sum) in sums.iter_mut().enumerate() {
                let x = x.at(first + r, channel);
                for lane in 0..L {
                    let difference = x[lane] - y[lane];
                    sum[lane] = I::mul_add(difference, difference, sum[lane]);
                }
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            out[r * y.steps + t] = *sum;
        }
    }
}
