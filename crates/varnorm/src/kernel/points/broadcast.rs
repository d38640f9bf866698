//! Tables of inner products of points: all steps of some series with all steps of others, for L pairs at once.
//!
//! Points have tens to thousands of channels, tables a hundred steps or so each way. Each cell is summed over blocks of
//! [`DEPTH`] channels, in order, however it is made, so that its bits do not depend on the company.

use crate::linalg::product::{from_products, is_trusted, squared_distance};
use crate::simd::L;
use crate::simd::{Isa, Register, Work, dispatch, fetch, interleave};

/// Channels per block: a point of L lanes takes 16 kB, and so many column points of quads as are worked on at a time 8 or 32 kB.
const DEPTH: usize = 128;
/// Registers that L lanes take, at most.
const QUARTERS: usize = L / 4;

/// `cells[s * T + t][lane] = <x_s, y_t>` for one row series with L column series. x holds points one after another, y holds T
/// points of all lanes, `y[t * channels + channel][lane]`.
pub(crate) fn products_together(x: &[f64], y: &[[f64; L]], channels: usize, cells: &mut [[f64; L]]) {
    dispatch(Together { x, y, channels, cells });
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
        // Sums of so many rows stay in registers, of which AVX-512 has more, and wider ones.
        match I::Register::WIDTH {
            8 => self.in_rows::<I, 6>(),
            _ => self.in_rows::<I, 3>(),
        }
    }
}

impl Together<'_> {
    #[inline(always)]
    fn in_rows<I: Isa, const R: usize>(self) {
        let Self { x, y, channels, cells } = self;
        let (rows, width) = (x.len() / channels, y.len() / channels);
        for first in (0..channels).step_by(DEPTH) {
            let end = channels.min(first + DEPTH);
            for t in 0..width {
                let point = &y[t * channels + first..t * channels + end];
                for s in (0..rows).step_by(R) {
                    // The cells of the next rows: they lie a whole row of the table apart.
                    for next in s + R..rows.min(s + 2 * R) {
                        fetch(&cells[next * width + t]);
                    }
                    let mut xs = [&x[..0]; R];
                    for r in 0..R {
                        // Beyond the last row it is taken again, and not written.
                        xs[r] = &x[(s + r).min(rows - 1) * channels + first..][..point.len()];
                    }
                    let sums = together::<I, R>(xs, point);
                    for r in 0..R.min(rows - s) {
                        put::<I>(&sums[r], first == 0, &mut cells[(s + r) * width + t]);
                    }
                }
            }
        }
    }
}

/// R points of one series with one point of L series: each value that is loaded serves all rows.
#[inline(always)]
fn together<I: Isa, const R: usize>(x: [&[f64]; R], point: &[[f64; L]]) -> [[I::Register; QUARTERS]; R] {
    let mut sums = [[I::Register::splat(0.0); QUARTERS]; R];
    for (k, y) in point.iter().enumerate() {
        let mut factors = [I::Register::splat(0.0); R];
        for r in 0..R {
            factors[r] = I::Register::splat(x[r][k]);
        }
        for q in 0..L / I::Register::WIDTH {
            let y = I::Register::load(y, q);
            for r in 0..R {
                sums[r][q] = factors[r].mul_add(y, sums[r][q]);
            }
        }
    }
    sums
}

/// Writes the first block of a sum, adds the later ones.
#[inline(always)]
fn put<I: Isa>(sums: &[I::Register; QUARTERS], first: bool, cell: &mut [f64; L]) {
    for q in 0..L / I::Register::WIDTH {
        let sum = if first { sums[q] } else { I::Register::load(cell, q).add(sums[q]) };
        sum.store(cell, q);
    }
}

/// The same for four row series with four column series: lane `4 i + j` holds row series i and column series j, whose points come one
/// after another. `scratch` is grown as needed and can be used again.
pub(crate) fn products_in_quads(
    x: [&[f64]; 4],
    y: [&[f64]; 4],
    channels: usize,
    scratch: &mut Vec<f64>,
    cells: &mut [[f64; L]],
) {
    dispatch(Quads { x, y, channels, scratch, cells });
}

struct Quads<'a> {
    x: [&'a [f64]; 4],
    y: [&'a [f64]; 4],
    channels: usize,
    scratch: &'a mut Vec<f64>,
    cells: &'a mut [[f64; L]],
}

impl Work for Quads<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        // Points of the four column series fill a register, or two of them do; some registers of these at a time.
        match I::Register::WIDTH {
            8 => self.in_panels::<I, 8, 4>(),
            _ => self.in_panels::<I, 4, 2>(),
        }
    }
}

impl Quads<'_> {
    /// P panels at a time: a panel is as many points of the column series as fit a register, of WIDTH numbers.
    #[inline(always)]
    fn in_panels<I: Isa, const WIDTH: usize, const P: usize>(self) {
        let Self { x, y, channels, scratch, cells } = self;
        let (rows, width) = (x[0].len() / channels, y[0].len() / channels);
        let panels = (width * 4).div_ceil(WIDTH);
        scratch.resize(panels * channels.min(DEPTH) * WIDTH, 0.0);
        for first in (0..channels).step_by(DEPTH) {
            let depth = DEPTH.min(channels - first);
            let packed = &mut scratch.as_chunks_mut::<WIDTH>().0[..panels * depth];
            pack_panels::<I, WIDTH>(y, channels, first, depth, packed);
            for panel in (0..panels).step_by(P) {
                let mut ys = [&packed[..0]; P];
                for p in 0..P {
                    // Beyond the last one it is taken again, and not written.
                    ys[p] = &packed[(panel + p).min(panels - 1) * depth..][..depth];
                }
                let t = panel * WIDTH / 4;
                for s in 0..rows {
                    let point = x.map(|x| &x[s * channels + first..][..depth]);
                    let sums = quad_sums::<I, WIDTH, P>(point, ys);
                    let cells = &mut cells[s * width + t..(s + 1) * width];
                    for p in 0..P {
                        for part in 0..WIDTH / 4 {
                            let Some(cell) = cells.get_mut(p * (WIDTH / 4) + part) else { break };
                            for i in 0..4 {
                                let sum = I::part(sums[p][i], part);
                                let sum = if first == 0 { sum } else { I::Four::load(cell, i).add(sum) };
                                sum.store(cell, i);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A block of channels of all points of four series, side by side; beyond the last point it is taken again.
#[inline(always)]
fn pack_panels<I: Isa, const WIDTH: usize>(
    series: [&[f64]; 4],
    channels: usize,
    first: usize,
    depth: usize,
    out: &mut [[f64; WIDTH]],
) {
    let last = series[0].len() / channels - 1;
    for (panel, out) in out.chunks_exact_mut(depth).enumerate() {
        for part in 0..WIDTH / 4 {
            let step = (panel * WIDTH / 4 + part).min(last);
            interleave::<I, WIDTH>(
                series.map(|values| &values[step * channels + first..][..depth]),
                part,
                out,
            );
        }
    }
}

/// One point of four row series with P panels: each value that is loaded serves several times.
#[inline(always)]
fn quad_sums<I: Isa, const WIDTH: usize, const P: usize>(
    x: [&[f64]; 4],
    y: [&[[f64; WIDTH]]; P],
) -> [[I::Register; 4]; P] {
    let zero = I::Register::splat(0.0);
    let mut sums = [[zero; 4]; P];
    for k in 0..x[0].len() {
        let mut panels = [zero; P];
        for p in 0..P {
            panels[p] = I::Register::load(&y[p][k], 0);
        }
        for i in 0..4 {
            let x = I::Register::splat(x[i][k]);
            for p in 0..P {
                sums[p][i] = x.mul_add(panels[p], sums[p][i]);
            }
        }
    }
    sums
}

/// `out[s * T + t] = <x_s, y_t>` for one pair of series of S and T steps: a fourth of the steps takes the place of a series.
/// `scratch` and `cells` are grown as needed and can be used again.
pub(crate) fn products(
    x: &[f64],
    y: &[f64],
    channels: usize,
    scratch: &mut Vec<f64>,
    cells: &mut Vec<[f64; L]>,
    out: &mut [f64],
) {
    let (rows, width) = (x.len() / channels, y.len() / channels);
    let [heights, widths] = [rows, width].map(|steps| steps.div_ceil(4));
    // The last parts begin so that they end with the series: what they share with the ones before is made twice.
    let [tops, lefts] = [(rows, heights), (width, widths)]
        .map(|(steps, part)| [0, 1, 2, 3].map(|i| (i * part).min(steps - part)));
    cells.resize(heights * widths, [0.0; L]);
    products_in_quads(
        tops.map(|top| &x[top * channels..(top + heights) * channels]),
        lefts.map(|left| &y[left * channels..(left + widths) * channels]),
        channels,
        scratch,
        cells,
    );
    for (s, cells) in cells.chunks_exact(widths).enumerate() {
        for (lane, place) in (0..L).map(|lane| (lane, (tops[lane / 4] + s) * width + lefts[lane % 4])) {
            let row = out[place..place + widths].iter_mut().zip(cells);
            row.for_each(|(out, cell)| *out = cell[lane]);
        }
    }
}

/// `out[t][lane] = |y_t|^2` of L series, in the order of the products.
pub(crate) fn squares_of_lanes(y: &[[f64; L]], channels: usize, out: &mut Vec<[f64; L]>) {
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
        for (point, out) in self.y.chunks_exact(self.channels).zip(self.out) {
            for (block, values) in point.chunks(DEPTH).enumerate() {
                let mut sums = [I::Register::splat(0.0); QUARTERS];
                for values in values {
                    for q in 0..L / I::Register::WIDTH {
                        let values = I::Register::load(values, q);
                        sums[q] = values.mul_add(values, sums[q]);
                    }
                }
                put::<I>(&sums, block == 0, out);
            }
        }
    }
}

/// `|x_s|^2` of every point, with the bits of the products.
pub(crate) fn squares(x: &[f64], channels: usize) -> Vec<f64> {
    let mut out = vec![0.0; x.len() / channels];
    dispatch(Squares { x, channels, out: &mut out });
    out
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

/// Squared distances in the place of inner products, `cells[s * T + t][lane]`, from the squares of the points x_s and y_t of each lane.
/// Where that loses digits, the distance is made from the differences; `points` gives x_s and y_t of a lane.
pub(crate) fn distances<'a>(
    points: impl Fn(usize, usize, usize) -> [&'a [f64]; 2],
    x_squares: &'a [[f64; L]],
    y_squares: &'a [[f64; L]],
    cells: &mut [[f64; L]],
) {
    dispatch(Distances { points, x_squares, y_squares, cells });
}

struct Distances<'a, 'b, P> {
    points: P,
    x_squares: &'a [[f64; L]],
    y_squares: &'a [[f64; L]],
    cells: &'b mut [[f64; L]],
}

impl<'a, P: Fn(usize, usize, usize) -> [&'a [f64]; 2]> Work for Distances<'a, '_, P> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { points, x_squares, y_squares, cells } = self;
        for (s, (cells, x2)) in cells.chunks_exact_mut(y_squares.len()).zip(x_squares).enumerate() {
            for (t, (cell, y2)) in cells.iter_mut().zip(y_squares).enumerate() {
                let mut trusted = true;
                for at in 0..L / I::Register::WIDTH {
                    let sums = I::Register::load(x2, at).add(I::Register::load(y2, at));
                    let (distances, all) =
                        from_products(I::Register::load(cell, at), sums, I::Register::splat(0.0));
                    distances.store(cell, at);
                    trusted &= all;
                }
                if !trusted {
                    for lane in 0..L {
                        if !is_trusted(cell[lane], x2[lane] + y2[lane]) {
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
    use crate::random::Normal;

    const ROWS: usize = 11;
    const WIDTH: usize = 7;

    /// Points of one series, and of L series as they are packed and one by one.
    fn points(channels: usize) -> (Vec<f64>, Vec<[f64; L]>, Vec<Vec<f64>>) {
        let mut numbers = Normal::new(5);
        let x: Vec<f64> = numbers.by_ref().take(ROWS * channels).collect();
        let packed: Vec<[f64; L]> =
            (0..WIDTH * channels).map(|_| std::array::from_fn(|_| numbers.next().unwrap_or(0.0))).collect();
        let alone = (0..L).map(|lane| packed.iter().map(|cells| cells[lane]).collect()).collect();
        (x, packed, alone)
    }

    #[test]
    fn a_cell_has_the_same_bits_in_any_company() {
        for channels in [24, 64, 127, 300] {
            let (x, packed, alone) = points(channels);
            let mut cells = vec![[f64::NAN; L]; ROWS * WIDTH];
            products_together(&x, &packed, channels, &mut cells);
            let (squares_of_x, mut squares_of_y) = (squares(&x, channels), Vec::new());
            squares_of_lanes(&packed, channels, &mut squares_of_y);
            let [mut table, mut with_itself] = [ROWS * WIDTH, WIDTH * WIDTH].map(|size| vec![f64::NAN; size]);
            let (mut scratch, mut quads) = (vec![f64::NAN; 10], Vec::new());
            for (lane, y) in alone.iter().enumerate() {
                products(&x, y, channels, &mut scratch, &mut quads, &mut table);
                assert!(table.iter().zip(&cells).all(|(a, b)| a.to_bits() == b[lane].to_bits()));
                products(y, y, channels, &mut scratch, &mut quads, &mut with_itself);
                for t in 0..WIDTH {
                    assert_eq!(squares_of_y[t][lane], with_itself[t * WIDTH + t]);
                    let points = [&x[2 * channels..3 * channels], &y[t * channels..(t + 1) * channels]];
                    let naive: f64 = points[0].iter().zip(points[1]).map(|(a, b)| a * b).sum();
                    assert!((cells[2 * WIDTH + t][lane] - naive).abs() < 1e-12 * channels as f64);
                }
            }
            let mut one = Vec::new();
            squares_of_lanes(&x.iter().map(|value| [*value; L]).collect::<Vec<_>>(), channels, &mut one);
            assert!(squares_of_x.iter().zip(&one).all(|(one, all)| [*one; L] == *all));
        }
    }

    #[test]
    fn quads_have_the_bits_of_single_pairs() {
        for channels in [24, 64, 127, 300] {
            // Seven rows and up to five columns of four series each.
            let (_, _, alone) = points(channels);
            for width in 1..6 {
                let x = [0, 1, 2, 3].map(|i| &alone[i][..]);
                let y = [4, 5, 6, 7].map(|j| &alone[j][..width * channels]);
                let (mut cells, mut table) =
                    (vec![[f64::NAN; L]; WIDTH * width], vec![f64::NAN; WIDTH * width]);
                products_in_quads(x, y, channels, &mut vec![f64::NAN; 10], &mut cells);
                for lane in 0..L {
                    let [x, y] = [x[lane / 4], y[lane % 4]];
                    products(x, y, channels, &mut Vec::new(), &mut Vec::new(), &mut table);
                    assert!(
                        table.iter().zip(&cells).all(|(a, b)| a.to_bits() == b[lane].to_bits()),
                        "{lane}"
                    );
                }
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
        let (squares_of_x, mut y_squares, mut cells) =
            (squares(&x, channels), Vec::new(), vec![[0.0; L]; ROWS * WIDTH]);
        squares_of_lanes(&packed, channels, &mut y_squares);
        products_together(&x, &packed, channels, &mut cells);
        let x_squares: Vec<[f64; L]> = squares_of_x.iter().map(|square| [*square; L]).collect();
        let point = |lane: usize, t: usize| &alone[lane][t * channels..(t + 1) * channels];
        let of_x = |s: usize| &x[s * channels..(s + 1) * channels];
        let points = |lane: usize, s: usize, t: usize| [of_x(s), point(lane, t)];
        distances(points, &x_squares, &y_squares, &mut cells);
        assert_eq!(cells[0][3], 0.0);
        for lane in 0..L {
            for (at, cell) in cells.iter().enumerate() {
                let (s, t) = (at / WIDTH, at % WIDTH);
                let naive: f64 = of_x(s).iter().zip(point(lane, t)).map(|(a, b)| (a - b) * (a - b)).sum();
                let found = cell[lane];
                assert!((found - naive).abs() <= 1e-13 * naive, "{s} {t} {lane}: {found} {naive}");
            }
        }
    }
}
