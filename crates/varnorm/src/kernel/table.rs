//! Tables of inner products of points: all steps of one series with all steps of others.
//!
//! Points have tens to thousands of channels, tables a hundred steps or so each way. Each cell is summed over blocks of
//! [`DEPTH`] channels, in order, however it is made, so that its bits do not depend on the company.

use super::columns::L;
use super::lanes::{Four, Isa, W, Work, dispatch, dispatch_registers, fetch};
use super::product::{from_products, is_trusted, squared_distance};

/// Channels per block: a point of L lanes takes half of the first-level cache.
const DEPTH: usize = 128;
/// Rows of one lane's table whose sums stay in registers; with `W` columns this fills the 16 registers of AVX2.
const ROWS: usize = 6;
/// Rows of the table of L lanes whose sums do.
const TOGETHER: usize = 3;
/// Points of four row series that stay in the second-level cache meanwhile: [`DEPTH`] channels of them take 128 kB.
const QUAD_ROWS: usize = 32;
/// Registers of L lanes.
const QUARTERS: usize = L / 4;

/// `cells[s * T + t][lane] = <x_s, y_t>` for one row series with L column series. x holds points one after another, y holds T
/// points of all lanes, `y[t * channels + channel][lane]`.
pub(super) fn products_together(x: &[f64], y: &[[f64; L]], channels: usize, cells: &mut [[f64; L]]) {
    dispatch_registers(Together { x, y, channels, cells });
}

struct Together<'a> {
    x: &'a [f64],
    y: &'a [[f64; L]],
    channels: usize,
    cells: &'a mut [[f64; L]],
}

impl Work for Together<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, y, channels, cells } = self;
        let (rows, width) = (x.len() / channels, y.len() / channels);
        for first in (0..channels).step_by(DEPTH) {
            let end = channels.min(first + DEPTH);
            for t in 0..width {
                let point = &y[t * channels + first..t * channels + end];
                let mut s = 0;
                while s < rows {
                    // The cells of the next rows: they lie a whole row of the table apart.
                    for next in s + TOGETHER..rows.min(s + 2 * TOGETHER) {
                        fetch(&cells[next * width + t]);
                    }
                    let (x, cells) = (&x[s * channels..], &mut cells[s * width + t..]);
                    if s + TOGETHER <= rows {
                        together::<I, TOGETHER>(x, channels, first, point, cells, width);
                        s += TOGETHER;
                    } else {
                        together::<I, 1>(x, channels, first, point, cells, width);
                        s += 1;
                    }
                }
            }
        }
    }
}

/// R rows with one point of L series: each value that is loaded serves all rows.
#[inline(always)]
fn together<I: Isa, const R: usize>(
    x: &[f64],
    channels: usize,
    first: usize,
    point: &[[f64; L]],
    cells: &mut [[f64; L]],
    width: usize,
) {
    let mut xs = [&x[..0]; R];
    for r in 0..R {
        xs[r] = &x[r * channels + first..][..point.len()];
    }
    let mut sums = [[I::Four::splat(0.0); QUARTERS]; R];
    for (k, y) in point.iter().enumerate() {
        let mut factors = [I::Four::splat(0.0); R];
        for r in 0..R {
            factors[r] = I::Four::splat(xs[r][k]);
        }
        for q in 0..QUARTERS {
            let y = I::Four::load(&y.as_chunks::<4>().0[q]);
            for r in 0..R {
                sums[r][q] = factors[r].mul_add(y, sums[r][q]);
            }
        }
    }
    for r in 0..R {
        put::<I>(&sums[r], first == 0, &mut cells[r * width]);
    }
}

/// The same for four row series with four column series: lane `4 i + j` holds row series i and column series j, whose points come one
/// after another. `scratch` is grown as needed and can be used again.
pub(super) fn products_in_quads(
    x: [&[f64]; QUARTERS],
    y: [&[f64]; 4],
    channels: usize,
    scratch: &mut Vec<f64>,
    cells: &mut [[f64; L]],
) {
    dispatch_registers(Quads { x, y, channels, scratch, cells });
}

struct Quads<'a> {
    x: [&'a [f64]; QUARTERS],
    y: [&'a [f64]; 4],
    channels: usize,
    scratch: &'a mut Vec<f64>,
    cells: &'a mut [[f64; L]],
}

impl Work for Quads<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, y, channels, scratch, cells } = self;
        let (rows, width) = (x[0].len() / channels, y[0].len() / channels);
        scratch.resize(4 * (rows + width) * channels.min(DEPTH), 0.0);
        for first in (0..channels).step_by(DEPTH) {
            let depth = DEPTH.min(channels - first);
            let (x_block, y_block) = scratch.as_chunks_mut::<4>().0.split_at_mut(rows * depth);
            pack_four(x, channels, first, depth, x_block);
            pack_four(y, channels, first, depth, &mut y_block[..width * depth]);
            let y_block = &y_block[..width * depth];
            let each = x_block.chunks(QUAD_ROWS * depth).zip(cells.chunks_mut(QUAD_ROWS * width));
            for (x_rows, cells) in each {
                for (pair, points) in y_block.chunks(2 * depth).enumerate() {
                    // The last point may be alone: then it is taken twice, and once for nothing.
                    let points = [&points[..depth], &points[points.len() - depth..]];
                    let rows = x_rows.chunks_exact(depth).zip(cells.chunks_exact_mut(width));
                    for (x, cells) in rows {
                        let sums = quad_sums::<I>(x, points);
                        let cells = &mut cells[2 * pair..];
                        cells.iter_mut().zip(&sums).for_each(|(cell, sums)| put::<I>(sums, first == 0, cell));
                    }
                }
            }
        }
    }
}

/// A block of channels of all points of four series, side by side.
#[inline(always)]
fn pack_four(series: [&[f64]; 4], channels: usize, first: usize, depth: usize, out: &mut [[f64; 4]]) {
    for (step, out) in out.chunks_exact_mut(depth).enumerate() {
        let [a, b, c, d] = series.map(|values| &values[step * channels + first..][..depth]);
        for (at, out) in out.iter_mut().enumerate() {
            *out = [a[at], b[at], c[at], d[at]];
        }
    }
}

/// One point of four row series with two points of four column series: each value that is loaded serves several times.
#[inline(always)]
fn quad_sums<I: Isa>(x: &[[f64; 4]], [y, z]: [&[[f64; 4]]; 2]) -> [[I::Four; QUARTERS]; 2] {
    let mut sums = [[I::Four::splat(0.0); QUARTERS]; 2];
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        let (y, z) = (I::Four::load(y), I::Four::load(z));
        for q in 0..QUARTERS {
            let x = I::Four::splat(x[q]);
            sums[0][q] = x.mul_add(y, sums[0][q]);
            sums[1][q] = x.mul_add(z, sums[1][q]);
        }
    }
    sums
}

/// Writes the first block of a sum, adds the later ones.
#[inline(always)]
fn put<I: Isa>(sums: &[I::Four; QUARTERS], first: bool, cell: &mut [f64; L]) {
    let cell = cell.as_chunks_mut::<4>().0;
    for q in 0..QUARTERS {
        let sum = if first { sums[q] } else { I::Four::load(&cell[q]).add(sums[q]) };
        sum.store(&mut cell[q]);
    }
}

/// The points of a row series as [`products`] wants them: blocks of channels, and in these panels of rows.
pub(super) fn panels(x: &[f64], channels: usize, out: &mut Vec<f64>) {
    let rows = (x.len() / channels).next_multiple_of(ROWS);
    out.resize(rows * channels, 0.0);
    for start in (0..channels).step_by(DEPTH) {
        let block = DEPTH.min(channels - start);
        pack::<ROWS>(x, channels, start, block, &mut out[rows * start..rows * (start + block)]);
    }
}

/// `out[s * T + t] = <x_s, y_t>` for one pair of series of T steps of y; x comes in [`panels`]. `scratch` is grown as
/// needed and can be used again.
pub(super) fn products(x: &[f64], y: &[f64], channels: usize, scratch: &mut Vec<f64>, out: &mut [f64]) {
    dispatch(Alone { x, y, channels, scratch, out });
}

struct Alone<'a> {
    x: &'a [f64],
    y: &'a [f64],
    channels: usize,
    scratch: &'a mut Vec<f64>,
    out: &'a mut [f64],
}

impl Work for Alone<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, y, channels, scratch, out } = self;
        let (rows, columns) = (x.len() / channels, y.len() / channels);
        scratch.resize(columns.next_multiple_of(W) * DEPTH, 0.0);
        for start in (0..channels).step_by(DEPTH) {
            let block = DEPTH.min(channels - start);
            let x = &x[rows * start..rows * (start + block)];
            let y_panels = &mut scratch[..columns.next_multiple_of(W) * block];
            pack::<W>(y, channels, start, block, y_panels);
            for (p, y) in y_panels.chunks_exact(block * W).enumerate() {
                let width = W.min(columns - p * W);
                for (q, x) in x.chunks_exact(block * ROWS).enumerate() {
                    let sums = panel_sums::<I>(x, y);
                    add_block(&sums, q * ROWS, p * W, width, start == 0, out, columns);
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
fn panel_sums<I: Isa>(panel_a: &[f64], panel_b: &[f64]) -> [[f64; W]; ROWS] {
    let (a, b) = (panel_a.as_chunks::<ROWS>().0, panel_b.as_chunks::<W>().0);
    let mut sums = [[0.0; W]; ROWS];
    for (a, b) in a.iter().zip(b) {
        for (sum, a) in sums.iter_mut().zip(a) {
            for (s, b) in sum.iter_mut().zip(b) {
                *s = I::mul_add(*a, *b, *s);
            }
        }
    }
    sums
}

/// `out[t][lane] = |y_t|^2` of L series, likewise.
pub(super) fn squares_of_lanes(y: &[[f64; L]], channels: usize, out: &mut Vec<[f64; L]>) {
    out.resize(y.len() / channels, [0.0; L]);
    dispatch(LaneSquares { y, channels, out });
}

struct LaneSquares<'a> {
    y: &'a [[f64; L]],
    channels: usize,
    out: &'a mut [[f64; L]],
}

impl Work for LaneSquares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let points = self.y.chunks_exact(self.channels);
        for (point, out) in points.zip(self.out) {
            *out = [0.0; L];
            for block in point.chunks(DEPTH) {
                let mut sums = [0.0; L];
                for values in block {
                    for lane in 0..L {
                        sums[lane] = I::mul_add(values[lane], values[lane], sums[lane]);
                    }
                }
                for lane in 0..L {
                    out[lane] += sums[lane];
                }
            }
        }
    }
}

/// `|x_s|^2` of every point, with the bits of [`products`].
pub(super) fn squares(x: &[f64], channels: usize, out: &mut Vec<f64>) {
    out.resize(x.len() / channels, 0.0);
    dispatch(Squares { x, channels, out });
}

struct Squares<'a> {
    x: &'a [f64],
    channels: usize,
    out: &'a mut [f64],
}

impl Work for Squares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        // Some points at once: none waits for the one before.
        const POINTS: usize = 8;
        let channels = self.channels;
        for (points, out) in self.x.chunks(POINTS * channels).zip(self.out.chunks_mut(POINTS)) {
            out.fill(0.0);
            for first in (0..channels).step_by(DEPTH) {
                let mut sums = [0.0; POINTS];
                for channel in first..channels.min(first + DEPTH) {
                    for (sum, point) in sums.iter_mut().zip(points.chunks_exact(channels)) {
                        *sum = I::mul_add(point[channel], point[channel], *sum);
                    }
                }
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}

/// Squared distances in the place of inner products, `cells[s * T + t][lane]`, from the squares of the points x_s of each quarter of the
/// lanes and y_t of each lane. Where that loses digits, the distance is made from the differences; `points` gives x_s and y_t
/// of a lane.
pub(super) fn distances<'a>(
    points: impl Fn(usize, usize, usize) -> [&'a [f64]; 2],
    x_squares: [&'a [f64]; QUARTERS],
    y_squares: &'a [[f64; L]],
    cells: &mut [[f64; L]],
) {
    dispatch_registers(Distances { points, x_squares, y_squares, cells });
}

struct Distances<'a, 'b, P> {
    points: P,
    x_squares: [&'a [f64]; QUARTERS],
    y_squares: &'a [[f64; L]],
    cells: &'b mut [[f64; L]],
}

impl<'a, P: Fn(usize, usize, usize) -> [&'a [f64]; 2]> Work for Distances<'a, '_, P> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { points, x_squares, y_squares, cells } = self;
        for (s, cells) in cells.chunks_exact_mut(y_squares.len()).enumerate() {
            let x2 = x_squares.map(|squares| squares[s]);
            for (t, (cell, y2)) in cells.iter_mut().zip(y_squares).enumerate() {
                let mut trusted = true;
                let quarters = cell.as_chunks_mut::<4>().0.iter_mut().zip(y2.as_chunks().0);
                for ((cells, y2), x2) in quarters.zip(x2) {
                    let sums = I::Four::splat(x2).add(I::Four::load(y2));
                    let (distances, all) = from_products(I::Four::load(cells), sums);
                    distances.store(cells);
                    trusted &= all;
                }
                if !trusted {
                    for lane in 0..L {
                        if !is_trusted(cell[lane], x2[lane / 4] + y2[lane]) {
                            let [x, y] = points(lane, s, t);
                            cell[lane] = squared_distance::<I>(x, y);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::normal::Normal;
    use crate::kernel::product::{Vectors, Wanted, distances_in_place};

    /// Points of one series, and of L series as they are packed and one by one.
    fn points(channels: usize) -> (Vec<f64>, Vec<[f64; L]>, Vec<Vec<f64>>) {
        let mut numbers = Normal::new(5);
        let x: Vec<f64> = numbers.by_ref().take(11 * channels).collect();
        let packed: Vec<[f64; L]> =
            (0..7 * channels).map(|_| std::array::from_fn(|_| numbers.next().unwrap_or(0.0))).collect();
        let alone = (0..L).map(|lane| packed.iter().map(|cells| cells[lane]).collect()).collect();
        (x, packed, alone)
    }

    #[test]
    fn a_cell_has_the_same_bits_in_any_company() {
        for channels in [24, 127, 300] {
            let (x, packed, alone) = points(channels);
            let mut cells = vec![[0.0; L]; 11 * 7];
            products_together(&x, &packed, channels, &mut cells);
            let (mut table, mut x_panels) = (vec![0.0; 11 * 7], Vec::new());
            let (mut squares_of_lane, mut all_squares) = (Vec::new(), Vec::new());
            squares_of_lanes(&packed, channels, &mut all_squares);
            for (lane, y) in alone.iter().enumerate() {
                panels(&x, channels, &mut x_panels);
                products(&x_panels, y, channels, &mut Vec::new(), &mut table);
                assert!(table.iter().zip(&cells).all(|(a, b)| a.to_bits() == b[lane].to_bits()));
                let naive: f64 = x[..channels].iter().zip(y).map(|(a, b)| a * b).sum();
                assert!((table[0] - naive).abs() < 1e-12 * channels as f64);
                squares(y, channels, &mut squares_of_lane);
                panels(y, channels, &mut x_panels);
                products(&x_panels, y, channels, &mut Vec::new(), &mut table[..49]);
                for t in 0..7 {
                    assert_eq!(squares_of_lane[t].to_bits(), all_squares[t][lane].to_bits());
                    assert_eq!(squares_of_lane[t].to_bits(), table[t * 7 + t].to_bits());
                }
            }
        }
    }

    #[test]
    fn quads_have_the_bits_of_single_pairs() {
        for channels in [24, 127, 300] {
            // Seven rows and five columns of four series each.
            let (_, packed, alone) = points(channels);
            let (_, _, others) = points(channels);
            let x = [0, 1, 2, 3].map(|i| &alone[i][..]);
            let y = [4, 5, 6, 7].map(|j| &others[j][..5 * channels]);
            let mut cells = vec![[0.0; L]; packed.len() / channels * 5];
            products_in_quads(x, y, channels, &mut vec![f64::NAN; 10], &mut cells);
            let (mut table, mut x_panels) = (vec![0.0; cells.len()], Vec::new());
            for lane in 0..L {
                panels(x[lane / 4], channels, &mut x_panels);
                products(&x_panels, y[lane % 4], channels, &mut Vec::new(), &mut table);
                assert!(table.iter().zip(&cells).all(|(a, b)| a.to_bits() == b[lane].to_bits()), "{lane}");
            }
        }
    }

    #[test]
    fn distances_keep_their_digits_far_from_the_origin() {
        let channels = 130;
        let (mut x, mut packed, _) = points(channels);
        // So far away that inner products know nothing of the distances; and one point that is the other.
        x.iter_mut().for_each(|v| *v += 1e7);
        packed.as_flattened_mut().iter_mut().for_each(|v| *v += 1e7);
        (0..channels).for_each(|c| packed[c][3] = x[c]);
        let alone: Vec<Vec<f64>> = (0..L).map(|lane| packed.iter().map(|c| c[lane]).collect()).collect();
        let (mut x_squares, mut y_squares, mut cells) = (Vec::new(), Vec::new(), vec![[0.0; L]; 11 * 7]);
        squares(&x, channels, &mut x_squares);
        squares_of_lanes(&packed, channels, &mut y_squares);
        products_together(&x, &packed, channels, &mut cells);
        let point = |lane: usize, t: usize| &alone[lane][t * channels..(t + 1) * channels];
        let of_x = |s: usize| &x[s * channels..(s + 1) * channels];
        let points = |lane: usize, s: usize, t: usize| [of_x(s), point(lane, t)];
        distances(points, [&x_squares; QUARTERS], &y_squares, &mut cells);
        assert_eq!(cells[0][3], 0.0);
        for lane in 0..L {
            let (mut table, mut x_panels, mut squares_of_lane) = (vec![0.0; 11 * 7], Vec::new(), Vec::new());
            panels(&x, channels, &mut x_panels);
            products(&x_panels, &alone[lane], channels, &mut Vec::new(), &mut table);
            squares(&alone[lane], channels, &mut squares_of_lane);
            let both = [Vectors::new(&x, channels), Vectors::new(&alone[lane], channels)];
            distances_in_place(both, [&x_squares, &squares_of_lane], Wanted::All, &mut table, 7);
            for (at, (cell, alone_cell)) in cells.iter().zip(&table).enumerate() {
                let (s, t) = (at / 7, at % 7);
                let naive: f64 = of_x(s).iter().zip(point(lane, t)).map(|(a, b)| (a - b) * (a - b)).sum();
                assert!(
                    (cell[lane] - naive).abs() <= 1e-13 * naive,
                    "{s} {t} {lane}: {} {naive}",
                    cell[lane]
                );
                assert_eq!(cell[lane].to_bits(), alone_cell.to_bits());
            }
        }
    }
}
