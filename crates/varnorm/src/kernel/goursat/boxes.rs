//! The value of a Goursat problem `u_st = z u`, `u(0, t) = u(s, 0) = 1`, from grids of several widths, for L pairs at once.
//!
//! Level n divides every cell (a pair of increments, on which z is constant) into `n x n` small ones, with `z / n^2` each, and
//! goes from corner to corner by `u_11 + u_00 = (1 + m) / (1 - m) (u_01 + u_10)`. With `m = z/4` this is the box scheme, which
//! takes the mean of u over the corners for u. Two properties make it better than others of the same order:
//! - it stays the same when both axes are turned round, so that its error is a series in even powers of `1 / n`. A sum of
//!   the values of N levels (Richardson, Romberg) is rid of the first N - 1 of them;
//! - the factors of z and -z undo each other: where a path goes back the way it came, which no signature sees, this scheme sees
//!   nothing either.
//!
//! Both stay if m is another odd function of z. `m = z/4 (1 - z^2/144)` is the one with which two levels are right to the third
//! order for a cell whose upper and left edges are flat, as those of rough paths nearly are: there the value is
//! `1 + z + z^2/4 + z^3/36 + ..`, and (found by comparing coefficients) so it is for two levels.
//!
//! u is not carried from row to row, but by how much it grows along each small cell; values are sums of these along one row. So
//! rounding adds up over rows and columns, not over cells.
//!
//! # How good a value is
//! The error was found to be a share ([`share`]) of `c` times what the last level changed, c being the largest growth of u
//! along a side of a cell, relative to u (rough, smooth, jumping, oscillating, straight, zigzag, spiky and widening paths;
//! `values_miss_at_most_what_is_estimated`). Both are looked for all over the problem, not at its last corner only,
//! where a change can happen to vanish. In problems of [`FEW_CELLS`] it can vanish everywhere: these are left to edges. It can
//! do so, too, where few of the cells have a z that counts, as for paths that jump: so [`LARGE_CELLS`] are added.
//!
//! A value is that of the first of the [`CHOICES`] that is good enough. More levels give the values of fewer as well, so that
//! where the search begins does not matter for what it finds.

use crate::kernel::goursat::search::Outcome;
use crate::kernel::goursat::sweeps::{REGISTERS, load, store};
use crate::kernel::points::window::ROWS;
use crate::simd::L;
use crate::simd::{Isa, Register, Work, dispatch};

type Cell = [f64; L];

/// Numbers of levels to choose from.
pub(crate) const CHOICES: [usize; 3] = [2, 3, 5];
/// The choice to begin with where nothing is known.
pub(crate) const MIDDLE: usize = 1;
/// The choice that stands for something else than boxes.
pub(crate) const NONE: usize = CHOICES.len();
/// The most levels.
const MANY: usize = CHOICES[NONE - 1];
/// More levels than in the middle are not tried where the error is so many times what it may be: they divide it by 1e4 or so.
const FAR: f64 = 3e4;
/// What rounding adds, per small cell along a row and a column, of the largest value.
const ROUNDING: f64 = 4e-16;
/// One pair of rows in so many is looked at for changes and large values; in problems of few rows, more.
const SAMPLED: usize = 4;
const FEW_ROWS: usize = 32;

/// Cells of L lanes that N levels keep per cell of a row or a column.
pub(crate) fn per_cell(levels: usize) -> usize {
    levels * (levels + 1) / 2
}

/// What the error is estimated to be of the last level's change times the growth along a cell: twice what it was found to be at
/// most for the kinds of pairs of the test.
fn share(levels: usize) -> f64 {
    if levels == 2 { 0.3 } else { 0.5 }
}

/// So many cells with the largest z are counted on: those of paths that jump.
const LARGE_CELLS: f64 = 8.0;

/// The error of a problem of one cell, from its `z / 4`: it begins with these powers (found with 40 digits).
fn of_one_cell(levels: usize, quarter: f64) -> f64 {
    match levels {
        2 => 0.25 * quarter.powi(4),
        3 => 0.016 * quarter.powi(5),
        _ => 2e-5 * quarter.powi(7),
    }
}

/// With fewer cells, what levels change says too little.
const FEW_CELLS: usize = 100;

/// Whether boxes are of use for a pair of so many rows and columns.
pub(crate) fn are_of_use([rows, columns]: [usize; 2]) -> bool {
    rows * columns >= FEW_CELLS
}

/// The factors of levels 1 to `levels` in the sum that is best.
const fn weights(levels: usize) -> [f64; MANY] {
    let mut weights = [0.0; MANY];
    let mut i = 0;
    while i < levels {
        weights[i] = 1.0;
        let mut j = 0;
        while j < levels {
            if i != j {
                let (of, other) = (((i + 1) * (i + 1)) as f64, ((j + 1) * (j + 1)) as f64);
                weights[i] *= of / (of - other);
            }
            j += 1;
        }
        i += 1;
    }
    weights
}

/// Per choice, the factors in the best sum, and in what the last level changed of it.
const FACTORS: [[[f64; MANY]; 2]; NONE] = {
    let mut factors = [[[0.0; MANY]; 2]; NONE];
    let mut choice = 0;
    while choice < NONE {
        let levels = CHOICES[choice];
        let (best, before) = (weights(levels), weights(levels - 1));
        factors[choice][0] = best;
        let mut i = 0;
        while i < levels {
            factors[choice][1][i] = best[i] - before[i];
            i += 1;
        }
        choice += 1;
    }
    factors
};

/// What is known of the values of one choice.
#[derive(Clone, Copy)]
struct Found {
    /// The largest value, and the largest change by the last level.
    largest: Cell,
    change: Cell,
    /// At the end of what has been sampled last.
    value: Cell,
}

/// One problem, while blocks of columns go by.
pub(crate) struct Boxes<'a> {
    /// The choice with the most levels.
    choice: usize,
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
    /// What is seen on the way.
    seen: Seen,
    /// The largest value of the first level.
    largest_first: Cell,
    found: [Found; NONE],
}

impl<'a> Boxes<'a> {
    /// The buffers have [`per_cell`] cells for every column of the widest block and for every row.
    pub(crate) fn new(
        choice: usize,
        factor: f64,
        width: usize,
        above: &'a mut [Cell],
        left: &'a mut [Cell],
    ) -> Self {
        let zero = [0.0; L];
        left.fill([1.0; L]);
        // The solution is 1 on the boundary.
        let found = [Found { largest: [1.0; L], change: zero, value: [1.0; L] }; NONE];
        let (corners, largest_first) = ([zero; MANY], [1.0; L]);
        let seen = Seen { steepest: zero, largest: zero };
        Self { choice, factor, width, above, left, corners, seen, largest_first, found }
    }

    /// Begins a block of columns.
    pub(crate) fn begin(&mut self) {
        self.above.fill([0.0; L]);
        self.corners = [[1.0; L]; MANY];
    }

    /// Advances by one or two rows of z from `row` on.
    pub(crate) fn advance(&mut self, z: &[Cell], row: usize, width: usize) {
        let rows = z.len() / width;
        let levels = CHOICES[self.choice];
        let heights = self.left.len() / per_cell(levels);
        for level in 1..=levels {
            // Levels before this one have so many cells per column and per row.
            let before = per_cell(level - 1);
            let above = &mut self.above[before * self.width..][..level * width];
            let left = &mut self.left[before * heights + row * level..][..rows * level];
            let (corner, seen) = (&mut self.corners[level - 1], &mut self.seen);
            let factor = self.factor / (4 * level * level) as f64;
            match (level, rows) {
                (1, 2) => dispatch(Sweep::<2, 1> { z, factor, above, left, corner, seen }),
                (2, 2) => dispatch(Sweep::<2, 2> { z, factor, above, left, corner, seen }),
                _ => {
                    for (z, left) in z.chunks_exact(width).zip(left.chunks_exact_mut(level)) {
                        let (above, corner) = (&mut *above, &mut *corner);
                        let seen = &mut *seen;
                        match level {
                            1 => dispatch(Sweep::<1, 1> { z, factor, above, left, corner, seen }),
                            2 => dispatch(Sweep::<1, 2> { z, factor, above, left, corner, seen }),
                            3 => dispatch(Sweep::<1, 3> { z, factor, above, left, corner, seen }),
                            4 => dispatch(Sweep::<1, 4> { z, factor, above, left, corner, seen }),
                            _ => dispatch(Sweep::<1, 5> { z, factor, above, left, corner, seen }),
                        }
                    }
                }
            }
        }
    }

    /// Looks for changes and large values after so many rows, for pairs of these heights. What a shorter pair is followed by has z = 0
    /// and repeats its last row and column, to the bit.
    pub(crate) fn sample(&mut self, heights: &[usize], row: usize, width: usize, last: bool) {
        let mut lanes = [false; L];
        for (lane, height) in lanes.iter_mut().zip(heights) {
            *lane = sampled(row, *height);
        }
        if !last && lanes == [false; L] {
            return;
        }
        let mut largest_first = [0.0; L];
        let mut found = [Found { largest: [0.0; L], change: [0.0; L], value: [0.0; L] }; NONE];
        let (above, corners, stride) = (&*self.above, &self.corners, self.width);
        let (first, here) = (&mut largest_first, &mut found);
        match self.choice {
            0 => dispatch(Sample::<1> { above, corners, stride, width, first, found: here }),
            1 => dispatch(Sample::<2> { above, corners, stride, width, first, found: here }),
            _ => dispatch(Sample::<3> { above, corners, stride, width, first, found: here }),
        }
        for (known, found) in self.found.iter_mut().zip(&found) {
            known.value = found.value;
            for lane in (0..L).filter(|lane| lanes[*lane]) {
                known.largest[lane] = known.largest[lane].max(found.largest[lane]);
                known.change[lane] = known.change[lane].max(found.change[lane]);
            }
        }
        for lane in (0..L).filter(|lane| lanes[*lane]) {
            self.largest_first[lane] = self.largest_first[lane].max(largest_first[lane]);
        }
    }

    /// The error of a choice, as it is estimated for a pair of so many rows and columns together.
    fn error(&self, choice: usize, lane: usize, sides: usize) -> f64 {
        let Found { largest, change, .. } = &self.found[choice];
        let (largest, change) = (largest[lane], change[lane]);
        // Where levels have nothing in common, neither size says anything about the other.
        let growth = (self.seen.steepest[lane] / largest.min(self.largest_first[lane])).min(1.0);
        let single = LARGE_CELLS * of_one_cell(CHOICES[choice], self.seen.largest[lane]);
        change * (share(CHOICES[choice]) * growth + 4.0 * change / largest)
            + (single + ROUNDING * (CHOICES[choice] * sides) as f64) * largest
    }

    /// What is known after the last block: the values of the first choices whose errors are at most `tolerance` times what they are
    /// measured by, which is the value or, if that is more, `smallest` times the largest one on the way.
    pub(crate) fn finish(self, sides: &[usize], tolerance: f64, smallest: f64) -> Outcome {
        let mut outcome = Outcome::new();
        for (lane, sides) in sides.iter().enumerate() {
            outcome.mantissas[lane] = f64::NAN;
            outcome.choices[lane] = (self.choice + 1).min(NONE);
            for choice in 0..=self.choice {
                let Found { largest, value, .. } = &self.found[choice];
                let wanted = tolerance * value[lane].abs().max(smallest * largest[lane]);
                let error = self.error(choice, lane, *sides);
                outcome.errors[lane] = error;
                if value[lane].is_finite() && error <= wanted {
                    outcome.mantissas[lane] = value[lane];
                    outcome.choices[lane] = choice;
                    break;
                }
                // Not so for what is not a number, either.
                let near = error <= FAR * wanted;
                if choice == MIDDLE && !near {
                    outcome.choices[lane] = NONE;
                    break;
                }
            }
        }
        outcome
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
    /// What is seen on the way, if N is 1.
    seen: &'a mut Seen,
}

/// The largest growth of u along a side of a cell so far, and the largest `z / 4`.
struct Seen {
    steepest: Cell,
    largest: Cell,
}

impl<const C: usize, const N: usize> Work for Sweep<'_, C, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, factor, above, left, corner, seen } = self;
        let width = above.len() / N;
        let (z, above) = (&z[..C * width], &mut above[..width * N]);
        let zero = I::Register::splat(0.0);
        for chunk in 0..L / (REGISTERS * I::Register::WIDTH) {
            let mut lefts = [[[zero; REGISTERS]; N]; C];
            for c in 0..C {
                for n in 0..N {
                    lefts[c][n] = load::<I>(&left[c * N + n], chunk);
                }
            }
            let mut top = load::<I>(corner, chunk);
            store::<I>(lefts[C - 1][N - 1], corner, chunk);
            let (mut steep, mut largest) =
                (load::<I>(&seen.steepest, chunk), load::<I>(&seen.largest, chunk));
            let mut next = [[zero; REGISTERS]; C];
            for c in 0..C {
                next[c] = factors::<I>(&z[c * width], factor, chunk);
            }
            for t in 0..width {
                // One column ahead: divisions take long, and nobody waits for these.
                let factors = next;
                if N == 1 {
                    for c in 0..C {
                        let z = load::<I>(&z[c * width + t], chunk);
                        for v in 0..REGISTERS {
                            largest[v] = z[v].mul(I::Register::splat(factor)).abs().max(largest[v]);
                        }
                    }
                }
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
            store::<I>(steep, &mut seen.steepest, chunk);
            store::<I>(largest, &mut seen.largest, chunk);
        }
    }
}

/// `(1 + m) / (1 - m) - 1`.
#[inline(always)]
fn factors<I: Isa>(z: &Cell, factor: f64, chunk: usize) -> [I::Register; REGISTERS] {
    let (z, number) = (load::<I>(z, chunk), I::Register::splat);
    let (factor, one, ninth) = (number(factor), number(1.0), number(-1.0 / 9.0));
    let mut factors = [one; REGISTERS];
    for v in 0..REGISTERS {
        let quarter = z[v].mul(factor);
        let m = quarter.mul(quarter.mul(quarter).mul_add(ninth, one));
        factors[v] = m.add(m).div(one.sub(m));
    }
    factors
}

/// The sums of levels along one row of a block, for the first C choices.
struct Sample<'a, const C: usize> {
    above: &'a [Cell],
    corners: &'a [Cell; MANY],
    /// Columns of the widest block, and of this one.
    stride: usize,
    width: usize,
    /// The largest value of the first level.
    first: &'a mut Cell,
    found: &'a mut [Found; NONE],
}

impl<const C: usize> Work for Sample<'_, C> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { above, corners, stride, width, first, found } = self;
        let zero = I::Register::splat(0.0);
        for at in 0..L / I::Register::WIDTH {
            let load = |cell: &Cell| I::Register::load(cell, at);
            let mut levels = [zero; MANY];
            for n in 0..CHOICES[C - 1] {
                levels[n] = load(&corners[n]);
            }
            let mut most_first = zero;
            let [mut most, mut most_change, mut value] = [[zero; C]; 3];
            for t in 0..width {
                for n in 0..CHOICES[C - 1] {
                    let start = per_cell(n) * stride + t * (n + 1);
                    for cell in &above[start..start + n + 1] {
                        levels[n] = levels[n].add(load(cell));
                    }
                }
                most_first = levels[0].abs().max(most_first);
                for choice in 0..C {
                    // Factors add up to 1, and to 0: where levels agree there is nothing to round.
                    let last = levels[CHOICES[choice] - 1];
                    let mut change = zero;
                    value[choice] = last;
                    for n in 0..CHOICES[choice] - 1 {
                        let [best, changes] = FACTORS[choice].map(|factors| I::Register::splat(factors[n]));
                        let apart = levels[n].sub(last);
                        value[choice] = apart.mul_add(best, value[choice]);
                        change = apart.mul_add(changes, change);
                    }
                    most[choice] = value[choice].abs().max(most[choice]);
                    most_change[choice] = change.abs().max(most_change[choice]);
                }
            }
            most_first.store(first, at);
            for (choice, found) in found.iter_mut().enumerate().take(C) {
                most[choice].store(&mut found.largest, at);
                most_change[choice].store(&mut found.change, at);
                value[choice].store(&mut found.value, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesSet;
    use crate::kernel::goursat::plan::growth;
    use crate::kernel::goursat::plan::tests::paths;
    use crate::kernel::goursat::search::{Job, Way, solve};
    use crate::kernel::points::pack::Of;
    use crate::kernel::points::window::Pairs;
    use crate::simd::aligned::Cells;

    fn job(way: Way, scale: f64, tolerance: f64) -> Job {
        Job { kernel: 0, set: 0, scale, way, tolerance, lanes: [true; L], wide: false, again: false }
    }

    #[test]
    fn values_miss_at_most_what_is_estimated() {
        const TOLERANCES: [f64; 4] = [1e-2, 1e-5, 1e-8, 1e-11];
        let (mut seen, mut worst) = ([0; NONE], [0.0f64; NONE]);
        for (steps, channels) in [(2, 1), (4, 1), (12, 2), (71, 3), (110, 5)] {
            for kinds in 0..64 {
                let mut set = paths(kinds / 8, 1, steps, channels);
                set.extend(&paths(kinds % 8, L, steps, channels)).unwrap();
                let mut pairs = Pairs::new(&set, &set, Of::Increments);
                pairs.set(&[0; L], &(1..=L).collect::<Vec<_>>());
                let mut scratch = Cells::default();
                let [growths, _] = growth(&mut pairs, None, &mut scratch)[0];
                for wanted in [-0.1, 0.1, 0.3, -1.0, 1.0, 3.0] {
                    let scale = wanted / growths[0];
                    let mut jobs = vec![job(Way::Edges(12, 1), scale, 0.0)];
                    jobs.extend(TOLERANCES.map(|tolerance| job(Way::Boxes(NONE - 1), scale, tolerance)));
                    let found = solve(&jobs, &mut pairs, None, &mut scratch);
                    for lane in (0..L).filter(|lane| (scale * growths[*lane]).abs() < 4.0) {
                        let (exact, size) = (found[0].mantissas[lane], found[0].largest[lane].exp2());
                        for levels in found[1..].iter().filter(|levels| !levels.mantissas[lane].is_nan()) {
                            // Edges are rounded, too.
                            let error = (levels.mantissas[lane] - exact).abs() - 1e-13 * size;
                            let (choice, estimate) = (levels.choices[lane], levels.errors[lane]);
                            seen[choice] += 1;
                            worst[choice] = worst[choice].max(error / estimate);
                            let case = format!("{kinds} {steps} {wanted} {lane} {choice}");
                            assert!(error <= estimate, "{case}: {error:e} {estimate:e}");
                        }
                    }
                }
            }
        }
        println!("{seen:?} errors of up to {worst:.2?} times the estimate");
        assert!(seen.iter().all(|seen| *seen > 10_000), "{seen:?}");
        // Nor is it much too careful.
        assert!(worst.iter().all(|worst| *worst > 0.05), "{worst:?}");
    }

    /// More levels know what fewer find, to the bit.
    #[test]
    fn it_does_not_matter_where_the_search_begins() {
        let set = paths(0, L + 1, 40, 3);
        let mut pairs = Pairs::new(&set, &set, Of::Increments);
        pairs.set(&[0; L], &(1..=L).collect::<Vec<_>>());
        for tolerance in [1e-2, 1e-5, 1e-8, 1e-11] {
            let jobs = [0, 1, 2].map(|choice| job(Way::Boxes(choice), 0.02, tolerance));
            let found = solve(&jobs, &mut pairs, None, &mut Cells::default());
            for lane in 0..L {
                for fewer in found[..2].iter().filter(|fewer| !fewer.mantissas[lane].is_nan()) {
                    assert_eq!(fewer.mantissas[lane], found[2].mantissas[lane]);
                    assert_eq!(fewer.choices[lane], found[2].choices[lane]);
                }
                if found[1].choices[lane] == NONE {
                    assert!(found[2].mantissas[lane].is_nan());
                }
            }
        }
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
        let found = solve(&[job(Way::Boxes(0), 0.01, 0.1)], &mut pairs, None, &mut Cells::default());
        let sideways = solve(&[job(Way::Edges(8, 0), 0.01, 0.1)], &mut pairs, None, &mut Cells::default());
        for lane in 0..L {
            assert!(sideways[0].largest[lane] > 0.1, "{}", sideways[0].largest[lane]);
            assert_eq!(found[0].choices[lane], 0);
            assert!((found[0].mantissas[lane] - 1.0).abs() < 1e-12, "{}", found[0].mantissas[lane]);
        }
    }
}
