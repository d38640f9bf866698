//! Inner products (and squared distances) of many vectors with many: the matrix product A B^T with one summing order.
//!
//! A general matrix product chooses its blocking from the shapes and so its bits too. Here each cell is summed
//! over fixed blocks of [`DEPTH`] terms, in order, whatever the tile it is computed in: results are
//! bit-identical for any tiling and any batch, and exactly symmetric.

use super::lanes::{Isa, W, Work, dispatch};

/// Terms per block: a packed panel of rows and one of columns fit the first-level cache together.
const DEPTH: usize = 256;
/// Rows whose sums stay in registers; with `W` columns this fills the 16 registers of AVX2.
pub(crate) const ROWS: usize = 6;

/// `out[i * out_stride + j] = <a_i, b_j>`, the rows of `a` and `b` being `depth` long.
///
/// `scratch` is grown as needed and can be used again.
pub(crate) fn inner_products(
    a: &[f64],
    b: &[f64],
    depth: usize,
    scratch: &mut Vec<f64>,
    out: &mut [f64],
    out_stride: usize,
) {
    debug_assert!(depth > 0 && a.len().is_multiple_of(depth) && b.len().is_multiple_of(depth));
    if a.len() == depth {
        return dispatch(OneRow { a, b, out });
    }
    dispatch(Sums::<false> { a, b, depth, scratch, out, out_stride });
}

/// `out[i * out_stride + j] = |a_i - b_j|^2`, likewise; from the differences themselves, so that no digits are lost to
/// cancellation.
pub(crate) fn squared_distances(
    a: &[f64],
    b: &[f64],
    depth: usize,
    scratch: &mut Vec<f64>,
    out: &mut [f64],
    out_stride: usize,
) {
    debug_assert!(depth > 0 && a.len().is_multiple_of(depth) && b.len().is_multiple_of(depth));
    dispatch(Sums::<true> { a, b, depth, scratch, out, out_stride });
}

/// `out[i] = <a_i, a_i>`, with the bits that [`inner_products`] gives.
pub(crate) fn squares(a: &[f64], depth: usize, out: &mut [f64]) {
    dispatch(Squares { a, depth, out });
}

struct Squares<'a> {
    a: &'a [f64],
    depth: usize,
    out: &'a mut [f64],
}

impl Work for Squares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        for (row, out) in self.a.chunks_exact(self.depth).zip(self.out) {
            *out = 0.0;
            for block in row.chunks(DEPTH) {
                let mut sum = 0.0;
                for value in block {
                    sum = I::mul_add(*value, *value, sum);
                }
                *out += sum;
            }
        }
    }
}

/// One row with many: rearranging the many would take longer than the sums themselves. The order of a cell's terms is
/// that of any other tile.
struct OneRow<'a> {
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl Work for OneRow<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let depth = self.a.len();
        for (group, out) in self.b.chunks(depth * W).zip(self.out.chunks_mut(W)) {
            let count = group.len() / depth;
            for start in (0..depth).step_by(DEPTH) {
                let end = depth.min(start + DEPTH);
                let x = &self.a[start..end];
                let mut sums = [0.0; W];
                if count == W {
                    let y: [&[f64]; W] =
                        std::array::from_fn(|lane| &group[lane * depth + start..lane * depth + end]);
                    for k in 0..x.len() {
                        for lane in 0..W {
                            sums[lane] = I::mul_add(x[k], y[lane][k], sums[lane]);
                        }
                    }
                } else {
                    for lane in 0..count {
                        let y = &group[lane * depth + start..lane * depth + end];
                        for k in 0..x.len() {
                            sums[lane] = I::mul_add(x[k], y[k], sums[lane]);
                        }
                    }
                }
                for lane in 0..count {
                    out[lane] = if start == 0 { sums[lane] } else { out[lane] + sums[lane] };
                }
            }
        }
    }
}

struct Sums<'a, const DISTANCE: bool> {
    a: &'a [f64],
    b: &'a [f64],
    depth: usize,
    scratch: &'a mut Vec<f64>,
    out: &'a mut [f64],
    out_stride: usize,
}

impl<const DISTANCE: bool> Work for Sums<'_, DISTANCE> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { a, b, depth, scratch, out, out_stride } = self;
        let (row_panels, column_panels) = ((a.len() / depth).div_ceil(ROWS), (b.len() / depth).div_ceil(W));
        let columns = b.len() / depth;
        let packed_a = row_panels * DEPTH * ROWS;
        scratch.resize(packed_a + column_panels * DEPTH * W, 0.0);
        let (pack_a, pack_b) = scratch.split_at_mut(packed_a);
        for start in (0..depth).step_by(DEPTH) {
            let block = DEPTH.min(depth - start);
            let pack_a = &mut pack_a[..row_panels * block * ROWS];
            let pack_b = &mut pack_b[..column_panels * block * W];
            pack::<ROWS>(a, depth, start, block, pack_a);
            pack::<W>(b, depth, start, block, pack_b);
            for (p, panel_b) in pack_b.chunks_exact(block * W).enumerate() {
                let width = W.min(columns - p * W);
                for (q, panel_a) in pack_a.chunks_exact(block * ROWS).enumerate() {
                    let sums = panel_sums::<I, DISTANCE>(panel_a, panel_b);
                    add_block(&sums, q * ROWS, p * W, width, start == 0, out, out_stride);
                }
            }
        }
    }
}

/// Writes the first block of a sum, adds the later ones; rows beyond the end of `out` are padding.
#[inline(always)]
fn add_block(
    sums: &[[f64; W]; ROWS],
    row: usize,
    column: usize,
    width: usize,
    first: bool,
    out: &mut [f64],
    out_stride: usize,
) {
    for (i, sum) in sums.iter().enumerate() {
        let at = (row + i) * out_stride + column;
        let Some(cells) = out.get_mut(at..at + width) else { return };
        for (cell, s) in cells.iter_mut().zip(sum) {
            *cell = if first { *s } else { *cell + s };
        }
    }
}

/// Rearranges `block` terms of each row into panels of `P` rows with the rows innermost; zero where none is left.
#[inline(always)]
fn pack<const P: usize>(rows: &[f64], depth: usize, start: usize, block: usize, packed: &mut [f64]) {
    for (panel, group) in packed.chunks_exact_mut(block * P).zip(rows.chunks(depth * P)) {
        let panel = panel.as_chunks_mut::<P>().0;
        match group.len() == depth * P {
            true => pack_full::<P>(group, depth, start, panel),
            false => {
                panel.fill([0.0; P]);
                for (lane, row) in group.chunks_exact(depth).enumerate() {
                    for (cells, value) in panel.iter_mut().zip(&row[start..start + block]) {
                        cells[lane] = *value;
                    }
                }
            }
        }
    }
}

/// A whole panel, a square of `P` terms at a time, so that the transposition happens in registers.
#[inline(always)]
fn pack_full<const P: usize>(group: &[f64], depth: usize, start: usize, panel: &mut [[f64; P]]) {
    let (squares, rest) = panel.as_chunks_mut::<P>();
    let done = squares.len() * P;
    for (s, square) in squares.iter_mut().enumerate() {
        let mut block = [[0.0; P]; P];
        for (lane, block) in block.iter_mut().enumerate() {
            let at = lane * depth + start + s * P;
            block.copy_from_slice(&group[at..at + P]);
        }
        for (k, cells) in square.iter_mut().enumerate() {
            for lane in 0..P {
                cells[lane] = block[lane][k];
            }
        }
    }
    for (k, cells) in rest.iter_mut().enumerate() {
        for (lane, cell) in cells.iter_mut().enumerate() {
            *cell = group[lane * depth + start + done + k];
        }
    }
}

#[inline(always)]
fn panel_sums<I: Isa, const DISTANCE: bool>(panel_a: &[f64], panel_b: &[f64]) -> [[f64; W]; ROWS] {
    let (a, b) = (panel_a.as_chunks::<ROWS>().0, panel_b.as_chunks::<W>().0);
    let mut sums = [[0.0; W]; ROWS];
    for (a, b) in a.iter().zip(b) {
        for (sum, a) in sums.iter_mut().zip(a) {
            for (s, b) in sum.iter_mut().zip(b) {
                let (left, right) = if DISTANCE { (*a - *b, *a - *b) } else { (*a, *b) };
                *s = I::mul_add(left, right, *s);
            }
        }
    }
    sums
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
            inner_products(&a, &b, depth, &mut Vec::new(), &mut out, stride);
            squared_distances(&a, &b, depth, &mut Vec::new(), &mut distances, stride);
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
        inner_products(&a, &a, depth, &mut Vec::new(), &mut whole, 20);
        for i in 0..20 {
            for j in 0..20 {
                let mut one = [0.0];
                let (x, y) = (&a[i * depth..(i + 1) * depth], &a[j * depth..(j + 1) * depth]);
                inner_products(x, y, depth, &mut Vec::new(), &mut one, 1);
                assert_eq!(one[0].to_bits(), whole[i * 20 + j].to_bits());
                if i == 3 {
                    // One row with all: every lane of a group, and what is left over.
                    let mut row = [0.0; 20];
                    inner_products(x, &a, depth, &mut Vec::new(), &mut row, 20);
                    assert_eq!(row.map(f64::to_bits), std::array::from_fn(|k| whole[60 + k].to_bits()));
                }
                if i == j {
                    squares(x, depth, &mut one);
                    assert_eq!(one[0].to_bits(), whole[i * 20 + i].to_bits());
                }
                assert_eq!(whole[j * 20 + i].to_bits(), whole[i * 20 + j].to_bits());
            }
        }
    }
}
