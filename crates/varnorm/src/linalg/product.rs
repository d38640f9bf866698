//! Inner products (and squared distances) of many vectors with many: the matrix product A B^T with one summing order.
//!
//! A general matrix product chooses its blocking from the shapes and so its bits too. Here each cell is summed
//! over fixed blocks of [`DEPTH`] terms, in order, whatever the tile it is computed in: results are
//! bit-identical for any tiling and any batch, and exactly symmetric. Within a block there are four or eight sums, of every fourth or eighth
//! term: registers run along the vectors, which are read where they lie, and nothing has to be packed.

use std::ops::Range;

use crate::simd::{Isa, Register, W, Work, dispatch};

/// Terms per block.
const DEPTH: usize = 256;
/// Rows and columns whose sums stay in registers: with what is read these fill the 16 registers of AVX2.
const ROWS: usize = 3;
const COLUMNS: usize = 4;
/// Rows that stay in the first-level cache, a block of terms each, while all columns pass by.
const NEAR: usize = 4 * ROWS;
/// Columns that stay in the second-level cache, a block of terms each, while all rows pass by.
const FAR: usize = 96;
/// Below this share of `|x|^2 + |y|^2` a squared distance is computed again from the differences.
const CANCELLED: f64 = 1e-3;

/// Vectors of one length.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<'a> {
    values: &'a [f64],
    count: usize,
    depth: usize,
    /// From the beginning of one to that of the next.
    stride: usize,
}

impl<'a> Vectors<'a> {
    /// So many numbers each, one after the other.
    pub(crate) fn new(values: &'a [f64], depth: usize) -> Self {
        debug_assert!(depth > 0 && values.len().is_multiple_of(depth));
        Self { values, count: values.len() / depth, depth, stride: depth }
    }

    /// So many, the first at the beginning of `values`.
    pub(crate) fn apart(values: &'a [f64], count: usize, depth: usize, stride: usize) -> Self {
        debug_assert!(depth > 0 && depth <= stride);
        Self { values, count, depth, stride }
    }

    /// One of them.
    pub(crate) fn vector(self, which: usize) -> &'a [f64] {
        self.terms(which, 0..self.depth)
    }

    /// Some terms of one.
    #[inline(always)]
    fn terms(self, which: usize, terms: Range<usize>) -> &'a [f64] {
        &self.values[which * self.stride + terms.start..which * self.stride + terms.end]
    }
}

/// Which cells of a table of rows and columns are wanted.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    All,
    /// Those with `column + ahead >= row`: the upper triangle, of a tile whose columns begin `ahead` of its rows. Others
    /// may be left as they are.
    Upper {
        ahead: isize,
    },
}

impl Wanted {
    /// The first column that is wanted of a row.
    #[inline(always)]
    fn first(self, row: usize) -> usize {
        match self {
            Self::All => 0,
            Self::Upper { ahead } => (row as isize - ahead).max(0) as usize,
        }
    }

    /// Whether a cell is wanted.
    #[inline(always)]
    fn has(self, row: usize, column: usize) -> bool {
        column >= self.first(row)
    }
}

/// `out[i * out_stride + j] = <a_i, b_j>`, the rows of `a` and `b` being `depth` long.
pub(crate) fn inner_products(a: &[f64], b: &[f64], depth: usize, out: &mut [f64], out_stride: usize) {
    inner_products_of(Vectors::new(a, depth), Vectors::new(b, depth), Wanted::All, out, out_stride);
}

/// The same, for some of the cells.
pub(crate) fn inner_products_of(
    a: Vectors<'_>,
    b: Vectors<'_>,
    wanted: Wanted,
    out: &mut [f64],
    out_stride: usize,
) {
    dispatch(Sums::<false> { a, b, wanted, out, out_stride });
}

/// `out[i * out_stride + j] = |a_i - b_j|^2`, likewise; from the differences themselves, so that no digits are lost to
/// cancellation.
pub(crate) fn squared_distances(a: &[f64], b: &[f64], depth: usize, out: &mut [f64], out_stride: usize) {
    let (a, b) = (Vectors::new(a, depth), Vectors::new(b, depth));
    dispatch(Sums::<true> { a, b, wanted: Wanted::All, out, out_stride });
}

/// `out[i] = <a_i, a_i>`, with the bits that [`inner_products`] gives.
pub(crate) fn squares(a: Vectors<'_>, out: &mut [f64]) {
    dispatch(Squares { a, out });
}

/// Puts `|a_i - b_j|^2` in the place of `<a_i, b_j>`, from those and from [`squares`], which takes half as many operations as
/// differences do; where that loses digits, from the differences.
pub(crate) fn distances_in_place(
    [a, b]: [Vectors<'_>; 2],
    [a_squares, b_squares]: [&[f64]; 2],
    wanted: Wanted,
    out: &mut [f64],
    out_stride: usize,
) {
    dispatch(InPlace { a, b, a_squares, b_squares, wanted, out, out_stride });
}

struct InPlace<'a> {
    a: Vectors<'a>,
    b: Vectors<'a>,
    a_squares: &'a [f64],
    b_squares: &'a [f64],
    wanted: Wanted,
    out: &'a mut [f64],
    out_stride: usize,
}

impl Work for InPlace<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { a, b, a_squares, b_squares, wanted, out, out_stride } = self;
        for i in 0..a.count {
            let first = wanted.first(i).min(b.count);
            let cells = &mut out[i * out_stride + first..i * out_stride + b.count];
            let (x2, b_squares) = (a_squares[i], &b_squares[first..b.count]);
            let ((many, rest), (many_2, rest_2)) = (cells.as_chunks_mut::<W>(), b_squares.as_chunks::<W>());
            let mut trusted = true;
            for (cells, y2) in many.iter_mut().zip(many_2) {
                for at in 0..W / I::Register::WIDTH {
                    let sums = I::Register::splat(x2).add(I::Register::load(y2, at));
                    let (distances, all) =
                        from_products(I::Register::load(cells, at), sums, I::Register::splat(0.0));
                    distances.store(cells, at);
                    trusted &= all;
                }
            }
            for (cell, y2) in rest.iter_mut().zip(rest_2) {
                *cell = I::mul_add(-2.0, *cell, x2 + y2);
                trusted &= is_trusted(*cell, x2 + y2);
            }
            if !trusted {
                for (j, (cell, y2)) in cells.iter_mut().zip(b_squares).enumerate() {
                    if !is_trusted(*cell, x2 + y2) {
                        let (x, y) = (a.vector(i), b.vector(first + j));
                        *cell = if std::ptr::eq(x, y) { 0.0 } else { squared_distance::<I>(x, y) };
                    }
                }
            }
        }
    }
}

/// `|x - y|^2` from `<x, y>` and `|x|^2 + |y|^2`, and whether enough digits are left of all. What is `excused` is minus infinity,
/// or else 0.
#[inline(always)]
pub(crate) fn from_products<F: Register>(products: F, sums: F, excused: F) -> (F, bool) {
    let distances = F::splat(-2.0).mul_add(products, sums);
    (distances, distances.all_above(F::splat(CANCELLED).mul_add(sums, excused)))
}

/// Whether enough digits are left of a distance. Not so when the sum is infinite or NaN, either: the direct form overflows later.
#[inline(always)]
pub(crate) fn is_trusted(distance: f64, sum: f64) -> bool {
    distance > CANCELLED * sum
}

/// `|x - y|^2` from the differences, with the bits that [`squared_distances`] gives.
#[inline(always)]
pub(crate) fn squared_distance<I: Isa>(x: &[f64], y: &[f64]) -> f64 {
    one_cell::<I, true>(x, y)
}

struct Squares<'a> {
    a: Vectors<'a>,
    out: &'a mut [f64],
}

impl Work for Squares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { a, out } = self;
        for (i, out) in out.iter_mut().enumerate().take(a.count) {
            *out = square::<I>(a.vector(i));
        }
    }
}

/// A vector with itself: blocks side by side, as none waits for the one before, and added up in the order of any other cell.
#[inline(always)]
fn square<I: Isa>(x: &[f64]) -> f64 {
    let (many, rest) = x.as_chunks::<{ COLUMNS * DEPTH }>();
    let mut total = 0.0;
    for (at, blocks) in many.iter().enumerate() {
        let blocks = std::array::from_fn(|b| &blocks[b * DEPTH..(b + 1) * DEPTH]);
        let sums = squares_of_blocks::<I>(blocks);
        for (b, sum) in sums.into_iter().enumerate() {
            total = if at + b == 0 { sum } else { total + sum };
        }
    }
    for (at, block) in rest.chunks(DEPTH).enumerate() {
        let sums = panel::<I, 1, 1, false>([block], [block]);
        total = if at + many.len() == 0 { sums[0][0] } else { total + sums[0][0] };
    }
    total
}

#[inline(always)]
fn squares_of_blocks<I: Isa>(blocks: [&[f64]; COLUMNS]) -> [f64; COLUMNS] {
    let mut sums = [I::Register::splat(0.0); COLUMNS];
    for k in 0..DEPTH / I::Register::WIDTH {
        for b in 0..COLUMNS {
            let values = match I::Register::WIDTH {
                8 => I::Register::load(&blocks[b].as_chunks::<8>().0[k], 0),
                _ => I::Register::load(&blocks[b].as_chunks::<4>().0[k], 0),
            };
            sums[b] = values.mul_add(values, sums[b]);
        }
    }
    I::Register::sums(sums)
}

/// One cell, in the order of any other tile.
#[inline(always)]
fn one_cell<I: Isa, const DISTANCE: bool>(x: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for start in (0..x.len()).step_by(DEPTH) {
        let terms = start..x.len().min(start + DEPTH);
        let sums = panel::<I, 1, 1, DISTANCE>([&x[terms.clone()]], [&y[terms]]);
        total = if start == 0 { sums[0][0] } else { total + sums[0][0] };
    }
    total
}

struct Sums<'a, const DISTANCE: bool> {
    a: Vectors<'a>,
    b: Vectors<'a>,
    wanted: Wanted,
    out: &'a mut [f64],
    out_stride: usize,
}

impl<const DISTANCE: bool> Work for Sums<'_, DISTANCE> {
    #[inline(always)]
    fn run<I: Isa>(mut self) {
        let (rows, columns, depth) = (self.a.count, self.b.count, self.a.depth);
        for start in (0..depth).step_by(DEPTH) {
            for far in (0..columns).step_by(FAR) {
                for near in (0..rows).step_by(NEAR) {
                    let (rows, columns) = (near..rows.min(near + NEAR), far..columns.min(far + FAR));
                    self.block::<I>(rows, columns, start..depth.min(start + DEPTH));
                }
            }
        }
    }
}

impl<const DISTANCE: bool> Sums<'_, DISTANCE> {
    /// What some terms add to some cells.
    #[inline(always)]
    fn block<I: Isa>(&mut self, rows: Range<usize>, columns: Range<usize>, terms: Range<usize>) {
        let (a, b, last) = (self.a, self.b, columns.end - 1);
        for column in columns.step_by(COLUMNS) {
            // Beyond the last column it is taken again, and not written.
            let mut panel_b = [b.terms(column, terms.clone()); COLUMNS];
            for c in 1..COLUMNS {
                panel_b[c] = b.terms(last.min(column + c), terms.clone());
            }
            let width = COLUMNS.min(last + 1 - column);
            let (mut row, first) = (rows.start, terms.start == 0);
            while row < rows.end && self.wanted.has(row, column + width - 1) {
                let out = &mut self.out[row * self.out_stride + column..];
                let left = rows.end - row;
                // AVX-512 has twice as many registers.
                row += if I::Register::WIDTH == 8 && left >= 2 * ROWS {
                    let sums = panel_of::<I, { 2 * ROWS }, DISTANCE>(a, row, &terms, panel_b);
                    add_block(&sums, width, first, out, self.out_stride)
                } else if left >= ROWS {
                    let sums = panel_of::<I, ROWS, DISTANCE>(a, row, &terms, panel_b);
                    add_block(&sums, width, first, out, self.out_stride)
                } else {
                    let sums = panel_of::<I, 1, DISTANCE>(a, row, &terms, panel_b);
                    add_block(&sums, width, first, out, self.out_stride)
                };
            }
        }
    }
}

/// The sums of one block of terms of R rows with some columns.
#[inline(always)]
fn panel_of<I: Isa, const R: usize, const DISTANCE: bool>(
    a: Vectors<'_>,
    row: usize,
    terms: &Range<usize>,
    b: [&[f64]; COLUMNS],
) -> [[f64; COLUMNS]; R] {
    let mut rows = [&[][..]; R];
    for r in 0..R {
        rows[r] = a.terms(row + r, terms.clone());
    }
    panel::<I, R, COLUMNS, DISTANCE>(rows, b)
}

/// Writes the first block of a sum, adds the later ones; of so many rows.
#[inline(always)]
fn add_block<const R: usize>(
    sums: &[[f64; COLUMNS]; R],
    width: usize,
    first: bool,
    out: &mut [f64],
    out_stride: usize,
) -> usize {
    for r in 0..R {
        let cells = &mut out[r * out_stride..];
        if let (COLUMNS, Some(cells)) = (width, cells.first_chunk_mut::<COLUMNS>()) {
            for j in 0..COLUMNS {
                cells[j] = if first { sums[r][j] } else { cells[j] + sums[r][j] };
            }
        } else {
            for j in 0..width {
                cells[j] = if first { sums[r][j] } else { cells[j] + sums[r][j] };
            }
        }
    }
    R
}

/// The sums of one block of terms of R rows with C columns, at most four.
#[inline(always)]
fn panel<I: Isa, const R: usize, const C: usize, const DISTANCE: bool>(
    a: [&[f64]; R],
    b: [&[f64]; C],
) -> [[f64; COLUMNS]; R] {
    let zero = I::Register::splat(0.0);
    let mut sums = [[zero; COLUMNS]; R];
    match I::Register::WIDTH {
        8 => add_terms::<I, R, C, 8, DISTANCE>(a, b, &mut sums),
        _ => add_terms::<I, R, C, 4, DISTANCE>(a, b, &mut sums),
    }
    let mut totals = [[0.0; COLUMNS]; R];
    for r in 0..R {
        totals[r] = I::Register::sums(sums[r]);
    }
    totals
}

/// The terms of a block, as many at a time as a register holds.
#[inline(always)]
fn add_terms<I: Isa, const R: usize, const C: usize, const WIDTH: usize, const DISTANCE: bool>(
    a: [&[f64]; R],
    b: [&[f64]; C],
    sums: &mut [[I::Register; COLUMNS]; R],
) {
    let zero = I::Register::splat(0.0);
    let (length, whole) = (a[0].len(), a[0].len() / WIDTH);
    let (mut xs, mut ys) = ([&[[0.0; WIDTH]; 0][..]; R], [&[[0.0; WIDTH]; 0][..]; C]);
    for r in 0..R {
        xs[r] = &a[r].as_chunks::<WIDTH>().0[..whole];
    }
    for c in 0..C {
        ys[c] = &b[c].as_chunks::<WIDTH>().0[..whole];
    }
    for k in 0..whole {
        let mut x = [zero; R];
        for r in 0..R {
            x[r] = I::Register::load(&xs[r][k], 0);
        }
        for c in 0..C {
            let y = I::Register::load(&ys[c][k], 0);
            for r in 0..R {
                sums[r][c] = term::<I::Register, DISTANCE>(x[r], y, sums[r][c]);
            }
        }
    }
    if !length.is_multiple_of(WIDTH) {
        let mut x = [zero; R];
        for r in 0..R {
            x[r] = I::Register::load_some(&a[r][WIDTH * whole..length]);
        }
        for c in 0..C {
            let y = I::Register::load_some(&b[c][WIDTH * whole..length]);
            for r in 0..R {
                sums[r][c] = term::<I::Register, DISTANCE>(x[r], y, sums[r][c]);
            }
        }
    }
}

#[inline(always)]
fn term<F: Register, const DISTANCE: bool>(x: F, y: F, sum: F) -> F {
    if DISTANCE {
        let difference = x.sub(y);
        difference.mul_add(difference, sum)
    } else {
        x.mul_add(y, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            })
            .collect()
    }

    #[test]
    fn equals_the_naive_sum_for_every_edge_of_a_panel() {
        for (rows, columns, depth) in
            [(1, 1, 1), (1, 8, 3), (1, 21, 600), (6, 8, 256), (7, 9, 257), (13, 3, 5), (5, 17, 600)]
        {
            let (a, b) = (numbers(rows * depth, 1), numbers(columns * depth, 2));
            let stride = columns + 2;
            let (mut out, mut distances) = (vec![7.0; rows * stride], vec![0.0; rows * stride]);
            inner_products(&a, &b, depth, &mut out, stride);
            squared_distances(&a, &b, depth, &mut distances, stride);
            for i in 0..rows {
                for j in 0..columns {
                    let naive: f64 = (0..depth).map(|k| a[i * depth + k] * b[j * depth + k]).sum();
                    assert!((out[i * stride + j] - naive).abs() < 1e-13, "{rows} {columns} {depth}: {i} {j}");
                    let naive: f64 = (0..depth).map(|k| (a[i * depth + k] - b[j * depth + k]).powi(2)).sum();
                    let distance = distances[i * stride + j];
                    assert!((distance - naive).abs() < 1e-12, "{rows} {columns} {depth}: {i} {j}");
                }
                assert_eq!(out[i * stride + columns..(i + 1) * stride], [7.0, 7.0]);
            }
        }
    }

    #[test]
    fn a_cell_has_the_same_bits_in_any_tile_and_transposed() {
        let depth = 1000;
        let a = numbers(20 * depth, 3);
        let mut whole = vec![0.0; 400];
        inner_products(&a, &a, depth, &mut whole, 20);
        for i in 0..20 {
            for j in 0..20 {
                let mut one = [0.0];
                let (x, y) = (&a[i * depth..(i + 1) * depth], &a[j * depth..(j + 1) * depth]);
                inner_products(x, y, depth, &mut one, 1);
                assert_eq!(one[0].to_bits(), whole[i * 20 + j].to_bits());
                if i == 3 {
                    // One row with all: every lane of a group, and what is left over.
                    let mut row = [0.0; 20];
                    inner_products(x, &a, depth, &mut row, 20);
                    assert_eq!(row.map(f64::to_bits), std::array::from_fn(|k| whole[60 + k].to_bits()));
                }
                if i == j {
                    squares(Vectors::new(x, depth), &mut one);
                    assert_eq!(one[0].to_bits(), whole[i * 20 + i].to_bits());
                }
                assert_eq!(whole[j * 20 + i].to_bits(), whole[i * 20 + j].to_bits());
            }
        }
    }
}
