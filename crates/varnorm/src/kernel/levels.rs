//! Level terms of truncated signature kernels: what one or two rows of increments add to the sums over all cells.
//!
//! The cells of a pair are the pairs of increments (s, t), `z` their lifted inner products. A level's term is a sum
//! over chains of cells; each level extends the chains of the level below by one cell. Columns go by in blocks,
//! and sums live in two places: per column of the block (over the rows so far) and per row (over the columns of
//! earlier blocks), so that the working set stays in the first-level cache whatever the lengths.

use super::columns::L;
use super::goursat::FOUR;
use super::lanes::{Four, Isa, Work, dispatch, dispatch_registers};

/// Lanes worked on at a time: one register of AVX2, so that the sums of [`GROUP`] levels and two rows fit.
const V: usize = FOUR;
/// Levels worked on at a time.
const GROUP: usize = 4;

/// Sizes of the sums, in cells of L lanes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Levels.
    pub(super) levels: usize,
    /// Most uses of one increment in a chain.
    pub(super) order: usize,
    /// Columns of the block at hand.
    pub(super) width: usize,
}

impl Shape {
    /// Cells per column: per level, and for higher orders per number of uses of this column's increment.
    pub(super) fn per_column(self) -> usize {
        self.levels * self.order
    }

    /// Adds the sums of all columns to the terms of their levels.
    pub(super) fn add_up(self, columns: &[[f64; L]], terms: &mut [[f64; L]]) {
        let Self { levels, order, width } = self;
        for t in 0..width {
            for (m, term) in terms.iter_mut().enumerate() {
                for uses in 0..order {
                    let at = if order == 1 { t * levels + m } else { (m * order + uses) * width + t };
                    for lane in 0..L {
                        term[lane] += columns[at][lane];
                    }
                }
            }
        }
    }

    /// Cells per row: per level the chains that end before it, and per number of uses those that end in it.
    pub(super) fn per_row(self) -> usize {
        if self.order == 1 { self.levels } else { self.levels * (1 + self.order) }
    }

    /// Cells for values that pass between levels, for `rows` rows.
    pub(super) fn between(self, rows: usize) -> usize {
        if self.order == 1 { rows * self.width } else { 2 * self.order * self.order }
    }
}

/// What the sums over a block of columns are kept in.
pub(super) struct Sums<'a> {
    /// `columns[t * levels + level]` (order 1) or `columns[(level * order + uses) * width + t]`.
    pub(super) columns: &'a mut [[f64; L]],
    /// [`Shape::per_row`] cells per row.
    pub(super) rows: &'a mut [[f64; L]],
    /// [`Shape::between`] cells, content undefined.
    pub(super) between: &'a mut [[f64; L]],
}

impl Sums<'_> {
    /// Adds R rows of increments, `z[r * width + t]`.
    pub(super) fn add<const R: usize>(&mut self, shape: Shape, z: &[[f64; L]]) {
        if shape.order == 1 {
            dispatch_registers(Simple::<R> { sums: self, shape, z });
        } else {
            let per_row = shape.per_row();
            for r in 0..R {
                let (z, rows) = (&z[r * shape.width..], &mut self.rows[r * per_row..(r + 1) * per_row]);
                let (columns, between) = (&mut *self.columns, &mut *self.between);
                dispatch(Repeated { shape, z, columns, rows, between });
            }
        }
    }

    /// Order 1: term_m(s, t) = z(s, t) * sum of term_{m-1} over s' < s, t' < t.
    #[inline(always)]
    fn add_simple<I: Isa, const R: usize>(&mut self, shape: Shape, z: &[[f64; L]]) {
        let Shape { levels, width, .. } = shape;
        self.between[..R * width].fill([1.0; L]);
        for first in (0..levels).step_by(GROUP) {
            match levels - first {
                1 => self.add_group::<I, R, 1>(shape, first, z),
                2 => self.add_group::<I, R, 2>(shape, first, z),
                3 => self.add_group::<I, R, 3>(shape, first, z),
                _ => self.add_group::<I, R, GROUP>(shape, first, z),
            }
        }
    }

    /// G levels of R rows. `between` brings the sums of the level below, and takes those of the topmost level.
    #[inline(always)]
    fn add_group<I: Isa, const R: usize, const G: usize>(
        &mut self,
        shape: Shape,
        first: usize,
        z: &[[f64; L]],
    ) {
        let Shape { levels, width, .. } = shape;
        let (z, last_z) = (&z[..width], &z[(R - 1) * width..R * width]);
        for chunk in 0..L / V {
            let zero = I::Four::splat(0.0);
            let mut sums = [[zero; G]; R];
            for r in 0..R {
                for m in 0..G {
                    sums[r][m] = part::<I>(&self.rows[r * levels + first + m], chunk);
                }
            }
            let columns = self.columns[..width * levels].chunks_exact_mut(levels);
            let between = self.between[..R * width].as_chunks_mut::<R>().0;
            for (((column, between), z), last_z) in columns.zip(between).zip(z).zip(last_z) {
                let column = &mut column[first..first + G];
                let (mut increments, mut below) = ([part::<I>(z, chunk); R], [zero; R]);
                increments[R - 1] = part::<I>(last_z, chunk);
                for r in 0..R {
                    below[r] = part::<I>(&between[r], chunk);
                    set_part::<I>(&mut between[r], chunk, sums[r][G - 1]);
                }
                // From the top: a level needs the sums of the one below as they were before this column.
                for m in (0..G).rev() {
                    let mut cell = part::<I>(&column[m], chunk);
                    for r in 0..R {
                        let chains = if m == 0 { below[r] } else { sums[r][m - 1] };
                        sums[r][m] = sums[r][m].add(cell);
                        cell = increments[r].mul_add(chains, cell);
                    }
                    set_part::<I>(&mut column[m], chunk, cell);
                }
            }
            for r in 0..R {
                for m in 0..G {
                    set_part::<I>(&mut self.rows[r * levels + first + m], chunk, sums[r][m]);
                }
            }
        }
    }
}

/// R rows of order 1.
struct Simple<'a, 'b, const R: usize> {
    sums: &'a mut Sums<'b>,
    shape: Shape,
    z: &'a [[f64; L]],
}

impl<const R: usize> Work for Simple<'_, '_, R> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        self.sums.add_simple::<I, R>(self.shape, self.z);
    }
}

#[inline(always)]
fn part<I: Isa>(cell: &[f64; L], chunk: usize) -> I::Four {
    I::Four::load(&cell.as_chunks::<V>().0[chunk])
}

#[inline(always)]
fn set_part<I: Isa>(cell: &mut [f64; L], chunk: usize, values: I::Four) {
    values.store(&mut cell.as_chunks_mut::<V>().0[chunk]);
}

/// Higher orders, one row. With `a_m[q][r]` the chains of level m that end in this cell and have used its row q times
/// and its column r times (counted from 1):
///
/// `a_m[1][1] = z` times the chains of level m-1 that end before row and column; `a_m[q][1] = z/q` times those that
/// end in this row before the column, with q-1 uses; `a_m[1][r] = z/r` likewise; `a_m[q][r] = z/(q r) a_{m-1}[q-1][r-1]`.
struct Repeated<'a> {
    shape: Shape,
    z: &'a [[f64; L]],
    columns: &'a mut [[f64; L]],
    rows: &'a mut [[f64; L]],
    between: &'a mut [[f64; L]],
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
                            _ if m == 0 => [1.0; L],
                            (0, 0) => before[m - 1],
                            (_, 0) => in_row[(m - 1) * order + q - 1],
                            (0, _) => columns[((m - 1) * order + r - 1) * width + t],
                            _ => last[(q - 1) * order + r - 1],
                        };
                        let cell = &mut next[q * order + r];
                        for lane in 0..L {
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
    cell: &[[f64; L]],
    before: &mut [f64; L],
    in_row: &mut [[f64; L]],
    columns: &mut [[f64; L]],
) {
    let Shape { order, width, .. } = shape;
    let uses = order.min(level + 1);
    for r in 0..uses {
        let column = &mut columns[(level * order + r) * width + t];
        for lane in 0..L {
            before[lane] += column[lane];
        }
        for q in 0..uses {
            for lane in 0..L {
                column[lane] += cell[q * order + r][lane];
                in_row[q][lane] += cell[q * order + r][lane];
            }
        }
    }
}
