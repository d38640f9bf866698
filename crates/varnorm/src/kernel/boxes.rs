//! The value of a Goursat problem `u_st = z u`, `u(0, t) = u(s, 0) = 1`, from grids of several widths, for L pairs at once.
//!
//! Level n divides every cell (a pair of increments, on which z is constant) into `n x n` small ones and takes on each of them the
//! mean of u over its corners for u: `u_11 - u_01 - u_10 + u_00 = m (u_00 + u_01 + u_10 + u_11)` with `m = z / (4 n^2)`. Solved
//! for the last corner this is `u_11 + u_00 = (1 + m) / (1 - m) (u_01 + u_10)`. Two properties make it better than schemes of the
//! same order:
//! - it stays the same when both axes are turned round, so that its error is a series in even powers of `1 / n`. A sum of
//!   the values of N levels (Richardson, Romberg) is rid of the first N - 1 of them;
//! - the factors of z and -z undo each other: where a path goes back the way it came, which no signature sees, this scheme sees
//!   nothing either.
//!
//! u is not carried from row to row, but by how much it grows along each small cell; values are sums of these along one row. So
//! rounding adds up over rows and columns, not over cells.
//!
//! # How good a value is
//! With N levels the error was found to be at most `0.3 c^2` times what the N-th level changed, c being the largest growth of u
//! along a side of a cell, relative to u (rough, smooth, jumping, oscillating, straight, zigzag, spiky and widening paths;
//! `values_miss_at_most_what_is_estimated`). Both are looked for all over the problem, not at its last corner only,
//! where a change can happen to vanish.

use super::columns::L;
use super::lanes::{Four, Isa, Work, dispatch_registers};
use super::pairs::ROWS;
use super::pde_walk::Outcome;

type Cell = [f64; L];

/// Levels that are tried, one choice after another.
pub(super) const FEW: usize = 3;
pub(super) const MANY: usize = 5;
/// Lanes that a sweep works on at a time, in registers of four.
const V: usize = 8;
const REGISTERS: usize = V / 4;
/// What the error is estimated to be of the last level's change and the square of the growth along a cell.
const SHARE: f64 = 0.5;
/// What rounding adds, per small cell along a row and a column, of the largest value.
const ROUNDING: f64 = 4e-16;
/// One pair of rows in so many is looked at for changes and large values; in problems of few rows, more.
const SAMPLED: usize = 4;
const FEW_ROWS: usize = 32;

/// Cells of L lanes that N levels keep per cell of a row or a column.
pub(super) fn per_cell(levels: usize) -> usize {
    levels * (levels + 1) / 2
}

/// The factors of level 1 to `levels` in the sum that is best.
fn weights(levels: usize) -> [f64; MANY] {
    let mut weights = [0.0; MANY];
    for (i, weight) in weights.iter_mut().enumerate().take(levels) {
        let square = |n: usize| ((n + 1) * (n + 1)) as f64;
        let others = (0..levels).filter(|j| *j != i);
        *weight = others.map(|j| square(i) / (square(i) - square(j))).product();
    }
    weights
}

/// One problem, while blocks of columns go by.
pub(super) struct Boxes<'a> {
    levels: usize,
    /// What z is multiplied by.
    factor: f64,
    /// Columns of the widest block.
    width: usize,
    /// Per level, the growth of u along every small cell above the row at hand.
    above: &'a mut [Cell],
    /// Per level, u to the left of the block, at the lower corner of every row of small cells.
    left: &'a mut [Cell],
    /// Per level, u at the upper left corner of the row at hand.
    corners: [Cell; MANY],
    /// The largest growth along a cell, and of one row to the next.
    steepest: Cell,
    /// The largest value, the largest one of the first level, and the largest change by the last level.
    largest: Cell,
    largest_first: Cell,
    change: Cell,
    /// At the end of what has been sampled last.
    value: Cell,
}

impl<'a> Boxes<'a> {
    /// The buffers have [`per_cell`] cells for every column of the widest block and for every row.
    pub(super) fn new(
        levels: usize,
        factor: f64,
        width: usize,
        above: &'a mut [Cell],
        left: &'a mut [Cell],
    ) -> Self {
        let zero = [0.0; L];
        left.fill([1.0; L]);
        // The solution is 1 on the boundary.
        let (largest, largest_first, value) = ([1.0; L], [1.0; L], [1.0; L]);
        let (corners, steepest, change) = ([zero; MANY], zero, zero);
        Self { levels, factor, width, above, left, corners, steepest, largest, largest_first, change, value }
    }

    /// Begins a block of columns.
    pub(super) fn begin(&mut self) {
        self.above.fill([0.0; L]);
        self.corners = [[1.0; L]; MANY];
    }

    /// Advances by one or two rows of z from `row` on.
    pub(super) fn advance(&mut self, z: &[Cell], row: usize, width: usize) {
        let rows = z.len() / width;
        let heights = self.left.len() / per_cell(self.levels);
        for level in 1..=self.levels {
            // Levels before this one have so many cells per column and per row.
            let before = per_cell(level - 1);
            let above = &mut self.above[before * self.width..][..level * width];
            let left = &mut self.left[before * heights + row * level..][..rows * level];
            let (corner, steepest) = (&mut self.corners[level - 1], &mut self.steepest);
            let factor = self.factor / (4 * level * level) as f64;
            match (level, rows) {
                (1, 2) => dispatch_registers(Sweep::<2, 1> { z, factor, above, left, corner, steepest }),
                (2, 2) => dispatch_registers(Sweep::<2, 2> { z, factor, above, left, corner, steepest }),
                _ => {
                    for (z, left) in z.chunks_exact(width).zip(left.chunks_exact_mut(level)) {
                        let (above, corner) = (&mut *above, &mut *corner);
                        let steepest = &mut *steepest;
                        match level {
                            1 => {
                                dispatch_registers(Sweep::<1, 1> { z, factor, above, left, corner, steepest })
                            }
                            2 => {
                                dispatch_registers(Sweep::<1, 2> { z, factor, above, left, corner, steepest })
                            }
                            3 => {
                                dispatch_registers(Sweep::<1, 3> { z, factor, above, left, corner, steepest })
                            }
                            4 => {
                                dispatch_registers(Sweep::<1, 4> { z, factor, above, left, corner, steepest })
                            }
                            _ => {
                                dispatch_registers(Sweep::<1, 5> { z, factor, above, left, corner, steepest })
                            }
                        }
                    }
                }
            }
        }
    }

    /// Looks for changes and large values after so many rows, for pairs of these heights. What a shorter pair is followed by has z = 0
    /// and repeats its last row and column, to the bit.
    pub(super) fn sample(&mut self, heights: &[usize], row: usize, width: usize, last: bool) {
        let mut lanes = [false; L];
        for (lane, height) in lanes.iter_mut().zip(heights) {
            *lane = sampled(row, *height);
        }
        if !last && lanes == [false; L] {
            return;
        }
        let (mut largest, mut largest_first, mut change) = ([0.0; L], [0.0; L], [0.0; L]);
        let (best, before) = (weights(self.levels), weights(self.levels - 1));
        let changes = std::array::from_fn(|level| best[level] - before[level]);
        let (above, corners, stride) = (&*self.above, &self.corners, self.width);
        let found = [&mut largest, &mut largest_first, &mut change, &mut self.value];
        match self.levels {
            FEW => dispatch_registers(Sample::<FEW> { above, corners, stride, width, best, changes, found }),
            _ => dispatch_registers(Sample::<MANY> { above, corners, stride, width, best, changes, found }),
        }
        for lane in (0..L).filter(|lane| lanes[*lane]) {
            self.largest[lane] = self.largest[lane].max(largest[lane]);
            self.largest_first[lane] = self.largest_first[lane].max(largest_first[lane]);
            self.change[lane] = self.change[lane].max(change[lane]);
        }
    }

    /// What is known after the last block, of pairs that have so many rows and columns together.
    pub(super) fn finish(self, sides: &[usize]) -> Outcome {
        let mut errors = [0.0; L];
        for (lane, sides) in sides.iter().enumerate() {
            let (largest, change) = (self.largest[lane], self.change[lane]);
            // Where levels have nothing in common, neither size says anything about the other.
            let growth = (self.steepest[lane] / largest.min(self.largest_first[lane])).min(1.0);
            errors[lane] = change * (SHARE * growth * growth + change / largest)
                + ROUNDING * (self.levels * sides) as f64 * largest;
        }
        let largest = self.largest.map(f64::log2);
        Outcome { mantissas: self.value, exponents: [0.0; L], largest, errors }
    }
}

/// Whether a pair of that height is looked at after so many rows: after its last one, and now and then before.
fn sampled(row: usize, height: usize) -> bool {
    let every = if height <= FEW_ROWS { ROWS * SAMPLED / 2 } else { ROWS * SAMPLED };
    match row < height {
        true => row % every == ROWS,
        false => row < height + ROWS,
    }
}

/// C rows of cells over a block of columns, each divided into N x N small ones.
struct Sweep<'a, const C: usize, const N: usize> {
    /// C rows of z, and what gives m when z is multiplied by it.
    z: &'a [Cell],
    factor: f64,
    /// The growth of u along every small cell above the rows; below them, afterwards.
    above: &'a mut [Cell],
    /// u to the left of the block, at the lower corner of each row of small cells; to its right, afterwards.
    left: &'a mut [Cell],
    /// u at the upper left corner of the block; at its lower left one, afterwards.
    corner: &'a mut Cell,
    /// The largest growth along a side of a cell so far, if N is 1.
    steepest: &'a mut Cell,
}

impl<const C: usize, const N: usize> Work for Sweep<'_, C, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, factor, above, left, corner, steepest } = self;
        let width = above.len() / N;
        let (z, above) = (&z[..C * width], &mut above[..width * N]);
        let zero = I::Four::splat(0.0);
        for chunk in 0..L / V {
            let mut lefts = [[[zero; REGISTERS]; N]; C];
            for c in 0..C {
                for n in 0..N {
                    lefts[c][n] = load::<I>(&left[c * N + n], chunk);
                }
            }
            let mut top = load::<I>(corner, chunk);
            store::<I>(lefts[C - 1][N - 1], corner, chunk);
            let mut steep = load::<I>(steepest, chunk);
            let mut next = [[zero; REGISTERS]; C];
            for c in 0..C {
                next[c] = factors::<I>(&z[c * width], factor, chunk);
            }
            for t in 0..width {
                // One column ahead: divisions take long, and nobody waits for these.
                let factors = next;
                for c in 0..C {
                    next[c] = self::factors::<I>(&z[c * width + (t + 1).min(width - 1)], factor, chunk);
                }
                for cell in &mut above[t * N..(t + 1) * N] {
                    let mut growth = load::<I>(cell, chunk);
                    for v in 0..REGISTERS {
                        top[v] = top[v].add(growth[v]);
                    }
                    let mut value = top;
                    for c in 0..C {
                        for n in 0..N {
                            for v in 0..REGISTERS {
                                let before = value[v];
                                let left = &mut lefts[c][n][v];
                                growth[v] =
                                    factors[c][v].mul_add(*left, factors[c][v].mul_add(before, growth[v]));
                                *left = left.add(growth[v]);
                                value[v] = *left;
                                if N == 1 {
                                    let down = value[v].sub(before);
                                    steep[v] = steep[v].max(growth[v].abs().max(down.abs()));
                                }
                            }
                        }
                    }
                    store::<I>(growth, cell, chunk);
                }
            }
            for c in 0..C {
                for n in 0..N {
                    store::<I>(lefts[c][n], &mut left[c * N + n], chunk);
                }
            }
            store::<I>(steep, steepest, chunk);
        }
    }
}

/// `(1 + m) / (1 - m) - 1`.
#[inline(always)]
fn factors<I: Isa>(z: &Cell, factor: f64, chunk: usize) -> [I::Four; REGISTERS] {
    let z = load::<I>(z, chunk);
    let (factor, one) = (I::Four::splat(factor), I::Four::splat(1.0));
    let mut factors = [one; REGISTERS];
    for v in 0..REGISTERS {
        let m = z[v].mul(factor);
        factors[v] = m.add(m).div(one.sub(m));
    }
    factors
}

/// V lanes in registers.
#[inline(always)]
fn load<I: Isa>(cell: &Cell, chunk: usize) -> [I::Four; REGISTERS] {
    let mut registers = [I::Four::splat(0.0); REGISTERS];
    let lanes = cell.as_chunks::<V>().0[chunk].as_chunks::<4>().0;
    for v in 0..REGISTERS {
        registers[v] = I::Four::load(&lanes[v]);
    }
    registers
}

#[inline(always)]
fn store<I: Isa>(registers: [I::Four; REGISTERS], cell: &mut Cell, chunk: usize) {
    let lanes = cell.as_chunks_mut::<V>().0[chunk].as_chunks_mut::<4>().0;
    for v in 0..REGISTERS {
        registers[v].store(&mut lanes[v]);
    }
}

/// The sums of N levels along one row of a block.
struct Sample<'a, const N: usize> {
    above: &'a [Cell],
    corners: &'a [Cell; MANY],
    /// Columns of the widest block, and of this one.
    stride: usize,
    width: usize,
    /// The factors of values in the best sum, and in what the last level changed of it.
    best: [f64; MANY],
    changes: [f64; MANY],
    /// The largest value, that of the first level, the largest change, the last value.
    found: [&'a mut Cell; 4],
}

impl<const N: usize> Work for Sample<'_, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { above, corners, stride, width, best, changes, mut found } = self;
        let zero = I::Four::splat(0.0);
        for at in 0..L / 4 {
            let four = |cell: &Cell| I::Four::load(&cell.as_chunks::<4>().0[at]);
            let mut levels = [zero; N];
            for n in 0..N {
                levels[n] = four(&corners[n]);
            }
            let [mut most, mut most_first, mut most_change, mut last] = [zero; 4];
            for t in 0..width {
                for n in 0..N {
                    let first = per_cell(n) * stride + t * (n + 1);
                    for cell in &above[first..first + n + 1] {
                        levels[n] = levels[n].add(four(cell));
                    }
                }
                // Factors add up to 1, and to 0: where levels agree there is nothing to round.
                let mut step = zero;
                last = levels[N - 1];
                for n in 0..N - 1 {
                    let apart = levels[n].sub(levels[N - 1]);
                    last = apart.mul_add(I::Four::splat(best[n]), last);
                    step = apart.mul_add(I::Four::splat(changes[n]), step);
                }
                most = last.abs().max(most);
                most_first = levels[0].abs().max(most_first);
                most_change = step.abs().max(most_change);
            }
            for (cell, four) in found.iter_mut().zip([most, most_first, most_change, last]) {
                four.store(&mut cell.as_chunks_mut::<4>().0[at]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesSet;
    use crate::kernel::cells::Cells;
    use crate::kernel::columns::Of;
    use crate::kernel::growth::growth;
    use crate::kernel::growth::tests::paths;
    use crate::kernel::pairs::Pairs;
    use crate::kernel::pde_walk::{Job, Way, solve};

    fn job(way: Way, scale: f64) -> Job {
        Job { kernel: 0, set: 0, scale, way, lanes: [true; L], wide: false, again: false }
    }

    #[test]
    fn values_miss_at_most_what_is_estimated() {
        let (mut seen, mut worst) = (0, 0.0f64);
        for (steps, channels) in [(2, 1), (4, 1), (12, 2), (71, 3), (110, 5)] {
            for kinds in 0..64 {
                let mut set = paths(kinds / 8, 1, steps, channels);
                set.extend(&paths(kinds % 8, L, steps, channels)).unwrap();
                let mut pairs = Pairs::new(&set, &set, Of::Increments);
                pairs.set(&[0; L], &(1..=L).collect::<Vec<_>>());
                let mut scratch = Cells::default();
                let [largest, _] = growth(&mut pairs, None, &mut scratch)[0];
                for wanted in [-0.1, 0.1, 0.3, -1.0, 1.0, 3.0] {
                    let scale = wanted / largest[0];
                    let ways = [Way::Boxes(FEW), Way::Boxes(MANY), Way::Edges(12, 1)];
                    let found = solve(&ways.map(|way| job(way, scale)), &mut pairs, None, &mut scratch);
                    for lane in (0..L).filter(|lane| (scale * largest[*lane]).abs() < 4.0) {
                        for levels in &found[..2] {
                            let error = (levels.mantissas[lane] - found[2].mantissas[lane]).abs();
                            seen += usize::from(error > 1e-12 * levels.largest[lane].exp2());
                            worst = worst.max(error / levels.errors[lane]);
                            assert!(
                                error <= levels.errors[lane],
                                "{kinds} {steps} {wanted} {lane}: {error:e} {:e}",
                                levels.errors[lane]
                            );
                        }
                    }
                }
            }
        }
        println!("{seen} errors of up to {worst:.2} times the estimate");
        assert!(seen > 15_000 && worst > 0.3, "{seen} {worst}");
    }

    /// No signature sees a way there and back, and neither does any level.
    #[test]
    fn ways_there_and_back_are_nothing() {
        let (there, others) = (paths(0, 1, 20, 3), paths(1, L, 33, 3));
        let back = there.values().chunks(3).rev().flatten();
        let both: Vec<f64> = there.values().iter().chain(back).copied().collect();
        let set = SeriesSet::from_equal(both, 40, 3).unwrap();
        let mut pairs = Pairs::new(&set, &others, Of::Increments);
        pairs.set(&[0; L], &(0..L).collect::<Vec<_>>());
        let found = solve(&[job(Way::Boxes(FEW), 0.01)], &mut pairs, None, &mut Cells::default());
        for lane in 0..L {
            assert!(found[0].largest[lane] > 0.1, "{}", found[0].largest[lane]);
            assert!((found[0].mantissas[lane] - 1.0).abs() < 1e-12, "{}", found[0].mantissas[lane]);
        }
    }
}
