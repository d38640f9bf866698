//! The walk over blocks of cells that solves Goursat problems for L pairs at once, several ways in one go.

use crate::kernel::goursat::boxes::{self, Boxes, CHOICES};
use crate::kernel::goursat::sweeps::{
    CornerSweep, EdgeSweep, FOUR, INVERSE_FACTORIALS, WideCornerSweep, align, normalize,
};
use crate::kernel::points::increments::{Increments, block_width, cells, split};
use crate::kernel::points::window::{Pairs, ROWS};
use crate::simd::L;
use crate::simd::aligned::Cells;
use crate::simd::dispatch;

type Cell = [f64; L];

/// The order of a grid that works on corners.
const CORNERS: usize = 0;
/// Values smaller than this share of the largest one on the way are good to `tolerance` of that share.
pub(crate) const SMALLEST_SHARE: f64 = 1e-4;
/// One pair of rows in so many is searched for the largest value on the way; all of them where there are few.
const SAMPLED: usize = 4;
const FEW_ROWS: usize = 32;

/// How a problem is solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By values at corners, with cells that are halved so many times along both sides.
    Corners(u32),
    /// By so many coefficients on edges, with cells that are halved so many times.
    Edges(usize, u32),
    /// From levels of boxes, as many as this choice has.
    Boxes(usize),
}

/// One way to solve the problem of some lanes.
pub(crate) struct Job {
    /// The kernel that wants it.
    pub(crate) kernel: usize,
    /// Which sigma, for an RBF lift.
    pub(crate) set: usize,
    /// What increments are multiplied by.
    pub(crate) scale: f64,
    pub(crate) way: Way,
    /// How good values from boxes have to be.
    pub(crate) tolerance: f64,
    /// The lanes whose values are wanted.
    pub(crate) lanes: [bool; L],
    /// Whether numbers carry exponents.
    pub(crate) wide: bool,
    /// Whether there is a value already, to be compared with.
    pub(crate) again: bool,
}

impl Job {
    /// Cells of L lanes that describe the solution on an edge of a cell.
    fn per_cell(&self) -> usize {
        match self.way {
            Way::Boxes(choice) => boxes::per_cell(CHOICES[choice]),
            Way::Corners(halvings) => Grid::new(self, CORNERS, halvings).per_cell(),
            Way::Edges(order, halvings) => Grid::new(self, order, halvings).per_cell(),
        }
    }
}

/// A grid of one width.
#[derive(Clone, Copy)]
struct Grid {
    /// Coefficients of an edge, or [`CORNERS`].
    order: usize,
    /// Small cells per cell, along a side.
    parts: usize,
    /// What increments are multiplied by: the scale, over the number of small cells in a cell.
    factor: f64,
    wide: bool,
}

impl Grid {
    fn new(job: &Job, order: usize, halvings: u32) -> Self {
        let factor = job.scale * 0.25f64.powi(halvings as i32);
        Self { order, parts: 1 << halvings, factor, wide: job.wide }
    }

    /// Cells of L lanes that describe the solution on an edge of a small cell.
    fn per_edge(&self) -> usize {
        self.order.max(1) + usize::from(self.wide)
    }

    /// The same for an edge of a whole cell.
    fn per_cell(&self) -> usize {
        self.per_edge() * self.parts
    }
}

/// Values of every lane.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) mantissas: Cell,
    pub(crate) exponents: Cell,
    /// The logarithm to base 2 of the largest value on the way (edges only).
    pub(crate) largest: Cell,
    /// Of boxes: how large errors may be, of the last choice that was looked at, and the choice that is good enough; where none is, the
    /// mantissa is NaN and this is the one to try next.
    pub(crate) errors: Cell,
    pub(crate) choices: [usize; L],
}

impl Outcome {
    /// The solution on the boundary.
    pub(crate) fn new() -> Self {
        let zero = [0.0; L];
        Self { mantissas: [1.0; L], exponents: zero, largest: zero, errors: zero, choices: [0; L] }
    }
}

/// What a job keeps while blocks of columns go by.
enum State<'a> {
    Grid(Box<GridState<'a>>),
    Boxes(Box<Boxes<'a>>),
}

/// What a grid keeps.
struct GridState<'a> {
    grid: Grid,
    lanes: &'a [bool; L],
    /// The solution above the row at hand.
    above: &'a mut [Cell],
    /// The solution to the left of the block, for every row.
    left: &'a mut [Cell],
    /// At the upper left corner of the row at hand, with its exponent.
    corner: [Cell; 2],
    /// The largest value so far, or its logarithm to base 2 if it is [`Grid::wide`].
    largest: Cell,
    outcome: Outcome,
}

/// Solves all jobs in one walk.
pub(crate) fn solve(
    jobs: &[Job],
    pairs: &mut Pairs<'_>,
    factors: Option<&[f64]>,
    scratch: &mut Cells,
) -> Vec<Outcome> {
    let (rows, columns) = cells(pairs, factors);
    let shorter = pairs.x.steps - rows;
    let per_column = jobs.iter().map(Job::per_cell).sum::<usize>();
    let width = block_width::<L>(per_column, pairs, columns, factors).min(columns.max(1));
    let sizes = [per_column * width, per_column * rows, Increments::<L>::scratch(factors, width, ROWS)];
    let [mut above, mut left, buffer] = split(scratch.take(sizes.iter().sum()), sizes);
    let mut states: Vec<State<'_>> = Vec::with_capacity(jobs.len());
    for job in jobs {
        let above = take(&mut above, job.per_cell() * width);
        let left = take(&mut left, job.per_cell() * rows);
        states.push(match job.way {
            Way::Boxes(choice) => State::Boxes(Box::new(Boxes::new(choice, job.scale, width, above, left))),
            Way::Corners(halvings) => {
                State::Grid(Box::new(GridState::new(Grid::new(job, CORNERS, halvings), job, above, left)))
            }
            Way::Edges(order, halvings) => {
                State::Grid(Box::new(GridState::new(Grid::new(job, order, halvings), job, above, left)))
            }
        });
    }
    let mut increments = Increments::new(factors, 0, [1.0; L], width, ROWS, buffer);
    let equal = pairs.equal_lengths();
    let lanes = pairs.count();
    let heights: Vec<usize> = pairs.x.lengths[..lanes].iter().map(|steps| steps - shorter).collect();
    for start in (0..columns).step_by(width) {
        let width = width.min(columns - start);
        increments.begin(pairs, start..start + width);
        states.iter_mut().for_each(State::begin);
        for row in (0..rows).step_by(ROWS) {
            let count = ROWS.min(rows - row);
            increments.advance(pairs, row, count);
            for set in 0..factors.map_or(1, <[f64]>::len) {
                let z = increments.of_set(pairs, set);
                for (state, _) in states.iter_mut().zip(jobs).filter(|(_, job)| job.set == set) {
                    match state {
                        State::Boxes(boxes) => {
                            boxes.advance(z, row, width);
                            boxes.sample(&heights, row + count, width, row + count == rows);
                        }
                        State::Grid(grid) => {
                            // Series of unequal lengths may end after any row: then rows go one by one.
                            let step = if equal { count } else { 1 };
                            for r in (0..count).step_by(step) {
                                grid.advance(&z[r * width..(r + step) * width], row + r, width);
                                if !equal || row + count == rows {
                                    grid.take_finished(pairs, shorter, row + r + step, start..start + width);
                                }
                                grid.sample(pairs, shorter, row + r + step, start..start + width);
                            }
                        }
                    }
                }
            }
        }
    }
    let sides: Vec<usize> =
        heights.iter().zip(&pairs.y.lengths).map(|(height, steps)| height + steps - shorter).collect();
    let finish = |(state, job): (State<'_>, &Job)| match state {
        State::Grid(grid) => grid.finish(),
        State::Boxes(boxes) => boxes.finish(&sides, job.tolerance, SMALLEST_SHARE),
    };
    states.into_iter().zip(jobs).map(finish).collect()
}

/// The next piece of a buffer.
fn take<'a>(buffer: &mut &'a mut [Cell], size: usize) -> &'a mut [Cell] {
    let (piece, rest) = std::mem::take(buffer).split_at_mut(size);
    *buffer = rest;
    piece
}

/// The solution on the boundary: 1 all along.
fn reset(grid: Grid, edges: &mut [Cell]) {
    edges.fill([0.0; L]);
    edges.iter_mut().step_by(grid.per_edge()).for_each(|cell| *cell = [1.0; L]);
}

impl State<'_> {
    /// Begins a block of columns.
    fn begin(&mut self) {
        match self {
            Self::Boxes(boxes) => boxes.begin(),
            Self::Grid(grid) => {
                reset(grid.grid, grid.above);
                grid.corner = [[1.0; L], [0.0; L]];
            }
        }
    }
}

impl<'a> GridState<'a> {
    fn new(grid: Grid, job: &'a Job, above: &'a mut [Cell], left: &'a mut [Cell]) -> Self {
        let zero = [0.0; L];
        let outcome = Outcome::new();
        // The solution is 1 on the boundary.
        let largest = if job.wide { zero } else { [1.0; L] };
        reset(grid, left);
        Self { grid, lanes: &job.lanes, above, left, corner: [zero; 2], largest, outcome }
    }

    /// Advances by one or two rows of z from `row` on.
    fn advance(&mut self, z: &[Cell], row: usize, width: usize) {
        let grid = self.grid;
        let (parts, per_cell, factor) = (grid.parts, grid.per_cell(), grid.factor);
        let above = &mut self.above[..width * per_cell];
        let rows = z.len() / width;
        let left = &mut self.left[row * per_cell..(row + rows) * per_cell];
        if grid.order == CORNERS && !grid.wide {
            let corner = &mut self.corner[0];
            match (parts, rows) {
                (1, 2) => dispatch(CornerSweep::<2, true> { z, factor, parts, above, left, corner }),
                (1, _) => dispatch(CornerSweep::<1, true> { z, factor, parts, above, left, corner }),
                (2, _) => {
                    for (z, left) in z.chunks_exact(width).zip(left.chunks_exact_mut(2)) {
                        let above = &mut *above;
                        let corner = &mut *corner;
                        dispatch(CornerSweep::<2, false> { z, factor, parts, above, left, corner });
                    }
                }
                _ => {
                    for (z, left) in z.chunks_exact(width).zip(left.chunks_exact_mut(parts)) {
                        for left in left.chunks_exact_mut(4) {
                            let above = &mut *above;
                            let corner = &mut *corner;
                            dispatch(CornerSweep::<4, false> { z, factor, parts, above, left, corner });
                        }
                    }
                }
            }
            return;
        }
        for (z, left) in z.chunks_exact(width).zip(left.chunks_exact_mut(per_cell)) {
            for left in left.chunks_exact_mut(grid.per_edge()) {
                let above = &mut *above;
                match grid.order {
                    CORNERS => {
                        let corner = &mut self.corner;
                        dispatch(WideCornerSweep { z, factor, parts, above, left, corner });
                    }
                    _ if grid.wide => wide_edge_sweep(z, grid, self.lanes, above, left),
                    order => edge_sweep(order, z, self.lanes, (factor, parts), above, left),
                }
            }
        }
    }

    /// Takes the values of lanes whose row series ends after `row` rows and whose column series ends in this block.
    fn take_finished(
        &mut self,
        pairs: &Pairs<'_>,
        shorter: usize,
        row: usize,
        columns: std::ops::Range<usize>,
    ) {
        let (grid, per_edge) = (self.grid, self.grid.per_edge());
        for lane in 0..pairs.count() {
            let (height, length) = (pairs.x.lengths[lane] - shorter, pairs.y.lengths[lane] - shorter);
            if height != row || length <= columns.start || length > columns.end {
                continue;
            }
            let last = (length - columns.start) * grid.per_cell() - per_edge;
            let edge = &self.above[last..last + per_edge];
            let numbers = edge[..grid.order.max(1)].iter().zip(&INVERSE_FACTORIALS);
            self.outcome.mantissas[lane] = match grid.order {
                CORNERS => edge[0][lane],
                _ => numbers.map(|(cell, weight)| cell[lane] * weight).sum(),
            };
            if grid.wide {
                self.outcome.exponents[lane] = edge[per_edge - 1][lane];
            }
        }
    }

    /// Looks for larger values on the way, after so many rows: in the cells that are a lane's own, after rows that depend on
    /// its own height.
    fn sample(&mut self, pairs: &Pairs<'_>, shorter: usize, row: usize, columns: std::ops::Range<usize>) {
        let (grid, order) = (self.grid, self.grid.order);
        if order == CORNERS {
            return;
        }
        let mut own = [0.0; L];
        for lane in 0..pairs.count() {
            if sampled(row, pairs.x.lengths[lane] - shorter) {
                let length = pairs.y.lengths[lane] - shorter;
                own[lane] = length.saturating_sub(columns.start) as f64;
            }
        }
        if own == [0.0; L] {
            return;
        }
        let cells = self.above[..columns.len() * grid.per_cell()].chunks_exact(grid.per_cell());
        for (t, cell) in cells.enumerate() {
            for edge in cell.chunks_exact(grid.per_edge()) {
                for lane in 0..L {
                    let size = edge[0][lane].abs();
                    // With exponents, logarithms are kept instead.
                    let size = if grid.wide { size.log2() + edge[order][lane] } else { size };
                    let larger = size > self.largest[lane] && (t as f64) < own[lane];
                    self.largest[lane] = if larger { size } else { self.largest[lane] };
                }
            }
        }
    }

    /// What is known at the end.
    fn finish(self) -> Outcome {
        let mut outcome = self.outcome;
        for lane in 0..L {
            outcome.largest[lane] =
                if self.grid.wide { self.largest[lane] } else { self.largest[lane].log2() };
        }
        outcome
    }
}

/// Whether the largest value on the way is looked for after so many rows of a pair of that height.
fn sampled(row: usize, height: usize) -> bool {
    let often = height <= FEW_ROWS || (row % (ROWS * SAMPLED)) == ROWS;
    row == height || (row < height && row.is_multiple_of(ROWS) && often)
}

/// A sweep with as many coefficients as the order says.
fn edge_sweep(
    order: usize,
    z: &[Cell],
    lanes: &[bool; L],
    (factor, parts): (f64, usize),
    above: &mut [Cell],
    left: &mut [Cell],
) {
    let wanted = wanted(lanes);
    match order {
        3 => dispatch(EdgeSweep::<3> { z, factor, parts, above, left, wanted }),
        4 => dispatch(EdgeSweep::<4> { z, factor, parts, above, left, wanted }),
        5 => dispatch(EdgeSweep::<5> { z, factor, parts, above, left, wanted }),
        6 => dispatch(EdgeSweep::<6> { z, factor, parts, above, left, wanted }),
        7 => dispatch(EdgeSweep::<7> { z, factor, parts, above, left, wanted }),
        8 => dispatch(EdgeSweep::<8> { z, factor, parts, above, left, wanted }),
        9 => dispatch(EdgeSweep::<9> { z, factor, parts, above, left, wanted }),
        10 => dispatch(EdgeSweep::<10> { z, factor, parts, above, left, wanted }),
        _ => dispatch(EdgeSweep::<12> { z, factor, parts, above, left, wanted }),
    }
}

/// The same with exponents, small cell by small cell.
fn wide_edge_sweep(z: &[Cell], grid: Grid, lanes: &[bool; L], above: &mut [Cell], left: &mut [Cell]) {
    let Grid { order, parts, factor, .. } = grid;
    for (at, above) in above.chunks_exact_mut(order + 1).enumerate() {
        align(above, left);
        let z = &z[at / parts..at / parts + 1];
        edge_sweep(order, z, lanes, (factor, 1), &mut above[..order], &mut left[..order]);
        normalize(above);
        normalize(left);
    }
}

/// Groups of four lanes in which some lane is wanted.
fn wanted(lanes: &[bool; L]) -> [bool; L / FOUR] {
    let mut wanted = [false; L / FOUR];
    for lane in 0..L {
        wanted[lane / FOUR] |= lanes[lane];
    }
    wanted
}
