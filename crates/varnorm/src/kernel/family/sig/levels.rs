//! Level terms of truncated signature kernels: what a few rows of increments add to the sums over all cells.
//!
//! The cells of a pair are the pairs of increments (s, t), `z` their lifted inner products. A level's term is a sum
//! over chains of cells; each level extends the chains of the level below by one cell. Columns go by in blocks,
//! and sums live in two places: per column of the block (over the rows so far) and per row (over the columns of
//! earlier blocks), so that the working set stays in the first-level cache whatever the lengths.

use crate::simd::{H, L};
use crate::simd::{Isa, Register, Work, dispatch};

/// Most levels worked on at a time: the topmost has no sums along rows, so that those of two rows, their increments and a cell
/// take fifteen registers.
const MOST: usize = 7;
/// Levels worked on at a time where there are more.
const GROUP: usize = 4;

/// Sizes of the sums, in cells of half the lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Levels.
    pub(crate) levels: usize,
    /// Most uses of one increment in a chain.
    pub(crate) order: usize,
    /// Columns of the block at hand.
    pub(crate) width: usize,
}

impl Shape {
    /// Cells per column: per level, and for higher orders per number of uses of this column's increment.
    pub(crate) fn per_column(self) -> usize {
        self.levels * self.order
    }

    /// Adds the sums of all columns to the terms of their levels, in one half of the lanes.
    pub(crate) fn add_up(self, columns: &[[f64; H]], half: usize, terms: &mut [[f64; L]]) {
        let Self { order, width, .. } = self;
        for (term, columns) in terms.iter_mut().zip(columns.chunks_exact(order * width)) {
            let term = &mut term.as_chunks_mut::<H>().0[half];
            let mut sum = *term;
            for t in 0..width {
                for uses in columns.chunks_exact(width) {
                    sum.iter_mut().zip(&uses[t]).for_each(|(sum, value)| *sum += value);
                }
            }
            *term = sum;
        }
    }

    /// Cells per row: per level the chains that end before it, and per number of uses those that end in it.
    pub(crate) fn per_row(self) -> usize {
        if self.order == 1 { self.levels } else { self.levels * (1 + self.order) }
    }

    /// Cells for values that pass between levels, for `rows` rows.
    pub(crate) fn between(self, rows: usize) -> usize {
        match self.order {
            1 if self.levels <= MOST => 0,
            1 => rows * self.width,
            order => 2 * order * order,
        }
    }
}

/// What the sums over a block of columns are kept in.
pub(crate) struct Sums<'a> {
    /// `columns[(level * order + uses) * width + t]`.
    pub(crate) columns: &'a mut [[f64; H]],
    /// [`Shape::per_row`] cells per row.
    pub(crate) rows: &'a mut [[f64; H]],
    /// [`Shape::between`] cells, content undefined.
    pub(crate) between: &'a mut [[f64; H]],
}

impl Sums<'_> {
    /// Adds rows of increments, `z[r * width + t]`.
    pub(crate) fn add(&mut self, shape: Shape, z: &[[f64; H]]) {
        if shape.order == 1 {
            return self.add_simple(shape, z);
        }
        let rows = self.rows.chunks_exact_mut(shape.per_row());
        for (z, rows) in z.chunks_exact(shape.width).zip(rows) {
            let (columns, between) = (&mut *self.columns, &mut *self.between);
            dispatch(Repeated { shape, z, columns, rows, between });
        }
    }

    /// Order 1: term_m(s, t) = z(s, t) * sum of term_{m-1} over s' < s, t' < t.
    fn add_simple(&mut self, shape: Shape, z: &[[f64; H]]) {
        let mut first = 0;
        while shape.levels - first > MOST {
            match first {
                0 => self.add_group::<GROUP, true, false>(shape, first, z),
                _ => self.add_group::<GROUP, false, false>(shape, first, z),
            }
            first += GROUP;
        }
        match (first, shape.levels - first) {
            (0, 1) => self.add_group::<1, true, true>(shape, first, z),
            (0, 2) => self.add_group::<2, true, true>(shape, first, z),
            (0, 3) => self.add_group::<3, true, true>(shape, first, z),
            (0, 4) => self.add_group::<4, true, true>(shape, first, z),
            (0, 5) => self.add_group::<5, true, true>(shape, first, z),
            (0, 6) => self.add_group::<6, true, true>(shape, first, z),
            (0, _) => self.add_group::<7, true, true>(shape, first, z),
            (_, 4) => self.add_group::<4, false, true>(shape, first, z),
            (_, 5) => self.add_group::<5, false, true>(shape, first, z),
            (_, 6) => self.add_group::<6, false, true>(shape, first, z),
            _ => self.add_group::<7, false, true>(shape, first, z),
        }
    }

    fn add_group<const G: usize, const FIRST: bool, const LAST: bool>(
        &mut self,
        shape: Shape,
        first: usize,
        z: &[[f64; H]],
    ) {
        dispatch(Group::<G, FIRST, LAST> { sums: self, shape, first, z });
    }
}

/// G levels of order 1. `between` brings the sums of the level below, unless these are the `FIRST` levels, and takes those of
/// the topmost level, unless these are the `LAST`.
struct Group<'a, 'b, const G: usize, const FIRST: bool, const LAST: bool> {
    sums: &'a mut Sums<'b>,
    shape: Shape,
    first: usize,
    z: &'a [[f64; H]],
}

impl<const G: usize, const FIRST: bool, const LAST: bool> Work for Group<'_, '_, G, FIRST, LAST> {
    #[inline(always)]
    fn run<I: Isa>(mut self) {
        let (count, mut row) = (self.z.len() / self.shape.width, 0);
        while row + 2 <= count {
            self.add_rows::<I, 2>(row);
            row += 2;
        }
        if row < count {
            self.add_rows::<I, 1>(row);
        }
    }
}

impl<const G: usize, const FIRST: bool, const LAST: bool> Group<'_, '_, G, FIRST, LAST> {
    /// R rows: what is loaded and stored of a column serves both.
    #[inline(always)]
    fn add_rows<I: Isa, const R: usize>(&mut self, row: usize) {
        let Shape { levels, width, .. } = self.shape;
        let Self { sums: Sums { columns, rows, between }, first, z, .. } = self;
        let first = *first;
        let (z, last_z) = (&z[row * width..][..width], &z[(row + R - 1) * width..][..width]);
        let rows = &mut rows[row * levels..(row + R) * levels];
        let between = if FIRST && LAST { &mut [] } else { &mut between[row * width..(row + R) * width] };
        // Nothing is above the topmost level that would ask for its sums.
        let kept = if LAST { G - 1 } else { G };
        let mut rest = &mut columns[first * width..];
        let columns: [&mut [[f64; H]]; G] = std::array::from_fn(|_| {
            let (column, others) = std::mem::take(&mut rest).split_at_mut(width);
            rest = others;
            column
        });
        for chunk in 0..H / I::Register::WIDTH {
            let mut sums = [[I::Register::splat(0.0); G]; R];
            for r in 0..R {
                let row = &rows[r * levels + first..][..kept];
                for m in 0..kept {
                    sums[r][m] = I::Register::load(&row[m], chunk);
                }
            }
            for t in 0..width {
                let (mut increments, mut below) =
                    ([I::Register::load(&z[t], chunk); R], [I::Register::splat(1.0); R]);
                increments[R - 1] = I::Register::load(&last_z[t], chunk);
                for r in 0..R {
                    if !FIRST {
                        below[r] = I::Register::load(&between[r * width + t], chunk);
                    }
                    if !LAST {
                        sums[r][G - 1].store(&mut between[r * width + t], chunk);
                    }
                }
                // From the top: a level needs the sums of the one below as they were before this column.
                for m in (0..G).rev() {
                    let mut cell = I::Register::load(&columns[m][t], chunk);
                    for r in 0..R {
                        let chains = if m == 0 { below[r] } else { sums[r][m - 1] };
                        if m < kept {
                            sums[r][m] = sums[r][m].add(cell);
                        }
                        cell = increments[r].mul_add(chains, cell);
                    }
                    cell.store(&mut columns[m][t], chunk);
                }
            }
            for r in 0..R {
                let row = &mut rows[r * levels + first..][..kept];
                for m in 0..kept {
                    sums[r][m].store(&mut row[m], chunk);
                }
            }
        }
    }
}

/// Higher orders, one row. With `a_m[q][r]` the chains of level m that end in this cell and have used its row q times
/// and its column r times (counted from 1):
///
/// `a_m[1][1] = z` times the chains of level m-1 that end before row and column; `a_m[q][1] = z/q` times those that
/// end in this row before the column, with q-1 uses; `a_m[1][r] = z/r` likewise; `a_m[q][r] = z/(q r) a_{m-1}[q-1][r-1]`.
struct Repeated<'a> {
    shape: Shape,
    z: &'a [[f64; H]],
    columns: &'a mut [[f64; H]],
    rows: &'a mut [[f64; H]],
    between: &'a mut [[f64; H]],
}

impl Work for Repeated<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { shape, z, columns, rows, between } = self;
        let Shape { levels, order, width } = shape;
        let (before, in_row) = rows.split_at_mut(levels);
        let (mut last, mut next) = between.split_at_mut(order * order);
        for t in 0..width {
            for m in 0..levels {
                let uses = order.min(m + 1);
                for q in 0..uses {
                    for r in 0..uses {
                        let weight = 1.0 / ((q + 1) * (r + 1)) as f64;
                        let chains = match (q, r) {
                            _ if m == 0 => [1.0; H],
                            (0, 0) => before[m - 1],
                            (_, 0) => in_row[(m - 1) * order + q - 1],
                            (0, _) => columns[((m - 1) * order + r - 1) * width + t],
                            _ => last[(q - 1) * order + r - 1],
                        };
                        let cell = &mut next[q * order + r];
                        for lane in 0..H {
                            cell[lane] = z[t][lane] * weight * chains[lane];
                        }
                    }
                }
                // The level below is not needed any more as it was before this cell.
                if m > 0 {
                    end_cell(
                        shape,
                        m - 1,
                        t,
                        last,
                        &mut before[m - 1],
                        &mut in_row[(m - 1) * order..],
                        columns,
                    );
                }
                std::mem::swap(&mut last, &mut next);
            }
            let top = levels - 1;
            end_cell(shape, top, t, last, &mut before[top], &mut in_row[top * order..], columns);
        }
    }
}

/// Adds the chains of one level that end in a cell to the sums of its row and its column.
#[inline(always)]
fn end_cell(
    shape: Shape,
    level: usize,
    t: usize,
    cell: &[[f64; H]],
    before: &mut [f64; H],
    in_row: &mut [[f64; H]],
    columns: &mut [[f64; H]],
) {
    let Shape { order, width, .. } = shape;
    let uses = order.min(level + 1);
    for r in 0..uses {
        let column = &mut columns[(level * order + r) * width + t];
        for lane in 0..H {
            before[lane] += column[lane];
        }
        for q in 0..uses {
            for lane in 0..H {
                column[lane] += cell[q * order + r][lane];
                in_row[q][lane] += cell[q * order + r][lane];
            }
        }
    }
}
