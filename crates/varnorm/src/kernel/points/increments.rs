//! `z(s, t)`: the inner products of lifted increments of two series, for all or some of L pairs at once, block by block.
//!
//! With the linear lift they are `<x_{s+1} - x_s, y_{t+1} - y_t>`; with the RBF lift they are double differences of
//! `exp(-|x_s - y_t|^2 / (2 sigma^2))`, from one table of distances for all sigma. Columns go by in blocks, and within
//! a block all rows, a few at a time, so that what a recurrence works on stays in the first-level cache.

use std::ops::Range;

use crate::kernel::points::pack::Of;
use crate::kernel::points::window::{COLUMNS, Pairs, ROWS, Strip};
use crate::simd::L;
use crate::simd::{Function, Isa, Power, Register, Work, dispatch, map};

/// Cells of L lanes that a block of columns may take: most of a first-level cache of 32 kB.
const BLOCK_CELLS: usize = 200;

/// Columns of a block, for a recurrence of N lanes at a time that keeps so many cells per column. An RBF lift reads the points
/// of one column more; what is read is a multiple of what is made at a time.
pub(crate) fn block_width<const N: usize>(
    per_column: usize,
    pairs: &Pairs<'_>,
    columns: usize,
    factors: Option<&[f64]>,
) -> usize {
    // Points are packed in cells of L lanes: a part of those takes the place of the whole, in every so many lines.
    let points = pairs.points_per_column() * L / N;
    let most = (BLOCK_CELLS * L / N / (per_column + ROWS + points)).clamp(8, pairs.widest());
    let blocks = columns.div_ceil(most).max(1);
    let more = usize::from(factors.is_some());
    (columns.div_ceil(blocks) + more).max(1).next_multiple_of(COLUMNS) - more
}

/// What of the series a lift works on; `factors` are `-1 / (2 sigma^2)` of an RBF lift, none for the linear one.
pub(crate) fn of(factors: Option<&[f64]>) -> Of {
    if factors.is_some() { Of::Points } else { Of::Increments }
}

/// Increments of the longest row series and of the longest column series.
pub(crate) fn cells(pairs: &Pairs<'_>, factors: Option<&[f64]>) -> (usize, usize) {
    let shorter = usize::from(factors.is_some());
    (pairs.x.steps.saturating_sub(shorter), pairs.y.steps.saturating_sub(shorter))
}

/// Increments of the row series and of the column series of every lane.
pub(crate) fn own_cells(pairs: &Pairs<'_>, factors: Option<&[f64]>) -> [[usize; 2]; L] {
    let shorter = usize::from(factors.is_some());
    std::array::from_fn(|lane| {
        [pairs.x.lengths[lane], pairs.y.lengths[lane]].map(|length| length.saturating_sub(shorter))
    })
}

/// Consecutive pieces of a buffer.
pub(crate) fn split<const P: usize, const N: usize>(
    mut buffer: &mut [[f64; N]],
    sizes: [usize; P],
) -> [&mut [[f64; N]]; P] {
    sizes.map(|size| {
        let (piece, rest) = std::mem::take(&mut buffer).split_at_mut(size);
        buffer = rest;
        piece
    })
}

/// The increments of N of L pairs in the block of columns at hand.
pub(crate) struct Increments<'a, const N: usize> {
    factors: Option<&'a [f64]>,
    /// Which part of the lanes.
    part: usize,
    /// The linear lift is multiplied by this.
    unit: [f64; N],
    /// Columns of the widest block.
    most: usize,
    columns: Range<usize>,
    /// Rows that [`advance`](Self::advance) has made.
    count: usize,
    /// Where distances are or, with the linear lift, z.
    strip: Strip,
    z: &'a mut [[f64; N]],
    distances: &'a mut [[f64; N]],
    /// Per sigma, the last row's differences along the columns.
    last: &'a mut [[f64; N]],
}

impl<'a, const N: usize> Increments<'a, N> {
    /// Cells that [`new`](Self::new) wants as a buffer, for blocks of `width` columns and `height` rows at a time.
    pub(crate) fn scratch(factors: Option<&[f64]>, width: usize, height: usize) -> usize {
        height * width + height * (width + 1) + factors.map_or(0, <[f64]>::len) * width
    }

    pub(crate) fn new(
        factors: Option<&'a [f64]>,
        part: usize,
        unit: [f64; N],
        width: usize,
        height: usize,
        buffer: &'a mut [[f64; N]],
    ) -> Self {
        let sizes = [height * width, height * (width + 1), factors.map_or(0, <[f64]>::len) * width];
        let [z, distances, last] = split(buffer, sizes);
        Self {
            factors,
            part,
            unit,
            most: width,
            columns: 0..0,
            count: 0,
            strip: Strip::Made,
            z,
            distances,
            last,
        }
    }

    /// Begins a block of columns.
    pub(crate) fn begin(&mut self, pairs: &mut Pairs<'_>, columns: Range<usize>) {
        let width = columns.len();
        if let Some(factors) = self.factors {
            let points = columns.start..columns.end + 1;
            let strip = pairs.strip::<true, N>(self.part, 0..1, points, self.distances);
            let distances = &pairs.cells(&strip, self.distances)[..width + 1];
            for set in 0..factors.len() {
                let last = &mut self.last[set * self.most..set * self.most + width];
                dispatch(FirstRow { factor: factors[set], distances, out: last });
            }
        }
        self.columns = columns;
    }

    /// Makes what the `count` rows from `row` on have in common for all sigma.
    pub(crate) fn advance(&mut self, pairs: &mut Pairs<'_>, row: usize, count: usize) {
        self.count = count;
        let columns = self.columns.clone();
        if self.factors.is_some() {
            let (rows, points) = (row + 1..row + 1 + count, columns.start..columns.end + 1);
            self.strip = pairs.strip::<true, N>(self.part, rows, points, self.distances);
            return;
        }
        let cells = count * columns.len();
        self.strip = pairs.strip::<false, N>(self.part, row..row + count, columns, self.z);
        if self.unit != [1.0; N] {
            if matches!(self.strip, Strip::InWindow(_)) {
                self.z[..cells].copy_from_slice(pairs.cells(&self.strip, &[]));
                self.strip = Strip::Made;
            }
            self.z[..cells].iter_mut().for_each(|cell| scale(cell, &self.unit));
        }
    }

    /// The increments of the rows at hand under one sigma (or the linear lift): `z[r * width + t]`. To be called once
    /// for every sigma.
    pub(crate) fn of_set<'s>(&'s mut self, pairs: &'s Pairs<'_>, set: usize) -> &'s [[f64; N]] {
        let width = self.columns.len();
        let cells = self.count * width;
        let Some(factors) = self.factors else { return &pairs.cells(&self.strip, self.z)[..cells] };
        let last = &mut self.last[set * self.most..set * self.most + width];
        let distances = pairs.cells(&self.strip, self.distances).chunks_exact(width + 1);
        for (distances, z) in distances.zip(self.z[..cells].chunks_exact_mut(width)) {
            dispatch(NextRow { factor: factors[set], distances, last: &mut *last, z });
        }
        &self.z[..cells]
    }
}

fn scale<const N: usize>(cell: &mut [f64; N], unit: &[f64; N]) {
    cell.iter_mut().zip(unit).for_each(|(value, unit)| *value *= unit);
}

/// `k(x_s, y_{t+1}) - k(x_s, y_t)` of the RBF lift along the first row of squared distances.
struct FirstRow<'a, const N: usize> {
    factor: f64,
    distances: &'a [[f64; N]],
    out: &'a mut [[f64; N]],
}

impl<const N: usize> Work for FirstRow<'_, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let rbf = Power::<I::Register>::exp(self.factor);
        map(&rbf, &self.distances[1..], self.out);
        for at in 0..N / I::Register::WIDTH {
            let [mut before] = rbf.of([I::Register::load(&self.distances[0], at)]);
            for cell in &mut *self.out {
                let next = I::Register::load(cell, at);
                next.sub(before).store(cell, at);
                before = next;
            }
        }
    }
}

/// The same for the row after `last`, which it takes the place of, and the difference of the two as well.
struct NextRow<'a, const N: usize> {
    factor: f64,
    distances: &'a [[f64; N]],
    last: &'a mut [[f64; N]],
    z: &'a mut [[f64; N]],
}

impl<const N: usize> Work for NextRow<'_, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let rbf = Power::<I::Register>::exp(self.factor);
        map(&rbf, &self.distances[1..], self.z);
        for at in 0..N / I::Register::WIDTH {
            let [mut before] = rbf.of([I::Register::load(&self.distances[0], at)]);
            for (last, z) in self.last.iter_mut().zip(&mut *self.z) {
                let next = I::Register::load(z, at);
                let step = next.sub(before);
                step.sub(I::Register::load(last, at)).store(z, at);
                step.store(last, at);
                before = next;
            }
        }
    }
}
