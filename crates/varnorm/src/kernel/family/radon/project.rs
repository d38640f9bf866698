//! Products of windows with directions, and the shares of steps at or below thresholds.
//!
//! Lanes are steps: L of them times a few directions fill the registers, and every load of a value serves all the directions.

use super::histogram::{Counts, Scale};
use super::weights::{GROUP, Group, Weights};
use crate::data::Series;
use crate::simd::{Isa, L, Register, Work};

/// Directions at a time: with four registers of sums each, a factor each and one of values they fill the sixteen of AVX2. AVX-512
/// has room for a whole group.
const FEW: usize = GROUP / 2;
/// Registers that L lanes take, at most.
const QUARTERS: usize = L / 4;

/// Buffers for one series at a time.
#[derive(Default)]
pub(super) struct Scratch {
    steps: usize,
    channels: usize,
    /// Zeros on either side of a channel.
    padding: usize,
    /// Channel after channel, with zeros on either side.
    values: Vec<f64>,
    /// Where the value for the first step is, for every offset and channel.
    starts: Vec<usize>,
    /// Products with the directions of a group, direction after direction.
    products: Vec<f64>,
    counts: Counts,
}

impl Scratch {
    /// Takes a series for windows of this reach.
    pub(super) fn load(&mut self, series: &Series<'_>, reach: usize) {
        let (steps, channels) = (series.steps(), series.channels());
        // What is further out than the series is long is zero as well.
        (self.steps, self.channels, self.padding) = (steps, channels, reach.min(steps));
        let room = steps.next_multiple_of(L);
        let stride = room + 2 * self.padding;
        self.values.clear();
        self.values.resize(stride * channels, 0.0);
        for (t, point) in series.values().chunks_exact(channels).enumerate() {
            for (channel, value) in point.iter().enumerate() {
                self.values[channel * stride + self.padding + t] = *value;
            }
        }
        self.products.resize(room * GROUP, 0.0);
    }

    /// Finds the values of a group's windows.
    fn place(&mut self, offsets: &[isize]) {
        let stride = self.values.len() / self.channels;
        self.starts.clear();
        for offset in offsets {
            let distance = offset.unsigned_abs().min(self.padding);
            let start = if *offset < 0 { self.padding - distance } else { self.padding + distance };
            self.starts.extend((0..self.channels).map(|channel| channel * stride + start));
        }
    }

    /// The products of all steps with the directions of a group.
    #[inline(always)]
    fn project<I: Isa>(&mut self, group: &Group) {
        self.place(&group.offsets);
        let (rows, room) = (&group.rows, self.products.len() / GROUP);
        let (few, wide) = (group.directions.len() <= FEW, I::Register::WIDTH > 4);
        for first in (0..room).step_by(L) {
            if wide && !few {
                self.project_some::<I, GROUP>(rows, 0, first, room);
                continue;
            }
            self.project_some::<I, FEW>(rows, 0, first, room);
            if !few {
                self.project_some::<I, FEW>(rows, FEW, first, room);
            }
        }
    }

    /// The products of L steps with D directions of a group.
    #[inline(always)]
    fn project_some<I: Isa, const D: usize>(
        &mut self,
        rows: &[[f64; GROUP]],
        from: usize,
        first: usize,
        room: usize,
    ) {
        let mut sums = [[I::Register::splat(0.0); QUARTERS]; D];
        for (row, start) in rows.iter().zip(&self.starts) {
            let Some(cell) = self.values[start + first..].first_chunk::<L>() else { return };
            let mut factors = [I::Register::splat(0.0); D];
            for d in 0..D {
                factors[d] = I::Register::splat(row[from + d]);
            }
            for q in 0..L / I::Register::WIDTH {
                let values = I::Register::load(cell, q);
                for d in 0..D {
                    sums[d][q] = factors[d].mul_add(values, sums[d][q]);
                }
            }
        }
        for d in 0..D {
            let out = &mut self.products[(from + d) * room + first..];
            let Some(cell) = out.first_chunk_mut::<L>() else { return };
            for q in 0..L / I::Register::WIDTH {
                sums[d][q].store(cell, q);
            }
        }
    }

    /// The products of all steps with the `slot`-th direction of the group that was projected last.
    #[inline(always)]
    pub(super) fn products(&self, slot: usize) -> &[f64] {
        let room = self.products.len() / GROUP;
        &self.products[slot * room..][..self.steps]
    }
}

/// The products of the loaded series with a group of directions, to learn from.
pub(super) struct Projection<'a> {
    pub(super) scratch: &'a mut Scratch,
    pub(super) group: &'a Group,
}

impl Work for Projection<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        self.scratch.project::<I>(self.group);
    }
}

/// All features of the loaded series.
pub(super) struct Features<'a> {
    pub(super) weights: &'a Weights,
    /// The thresholds of every direction.
    pub(super) scales: &'a [Scale],
    pub(super) scratch: &'a mut Scratch,
    /// As many features as thresholds, direction after direction.
    pub(super) out: &'a mut [f64],
}

impl Work for Features<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { weights, scales, scratch, out } = self;
        let thresholds = out.len() / scales.len();
        let mut counts = std::mem::take(&mut scratch.counts);
        for group in &weights.groups {
            scratch.project::<I>(group);
            for (slot, direction) in group.directions.iter().enumerate() {
                let out = &mut out[direction * thresholds..(direction + 1) * thresholds];
                counts.shares::<I>(scratch.products(slot), scales[*direction], out);
            }
        }
        scratch.counts = counts;
    }
}
