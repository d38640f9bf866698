//! Points of two series at the same step, for all pairs of a tile: what integral and reservoir kernels sum over.
//!
//! A value is `<x_t, y_t>` or `|x_t - y_t|^2`. With few channels, some steps of one row series meet those of W column series
//! packed side by side; with many, a step of all series of the tile is one matrix product.

use std::ops::Range;

use super::lanes::{Isa, W, Work, dispatch};
use super::pass::Tile;
use super::product::{Apart, distances_in_place, inner_products_of, squares};
use crate::data::SeriesSet;

/// From so many channels on, a step is a matrix product.
const MANY_CHANNELS: usize = 16;
/// Values of a packed block of steps: it stays in the first-level cache while all rows of a tile pass by.
const PACKED: usize = 1024;
/// Steps of a block, at most.
const MOST_STEPS: usize = 64;

/// Changes points before they are used.
pub(super) type Alter<'a> = Option<&'a dyn Fn(&mut [f64])>;

/// Some pairs at some steps.
pub(super) struct Block<'a> {
    pub(super) steps: Range<usize>,
    /// Where the pairs are in a plane of the tile.
    pub(super) pairs: Range<usize>,
    /// `values[step * width + pair]`.
    pub(super) values: &'a [f64],
    /// At least the number of pairs, and a multiple of W; what is beyond them is finite and of no use.
    pub(super) width: usize,
}

/// Hands all pairs of a tile at all steps to `each`, the steps of a pair in order.
pub(super) fn walk<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>, each: impl FnMut(Block<'_>)) {
    match tile.row_set.channels() < MANY_CHANNELS {
        true => walk_few::<DISTANCE>(tile, alter, each),
        false => walk_many::<DISTANCE>(tile, alter, each),
    }
}

/// The same for some series with themselves, `<x_t, x_t>`, with the bits of [`walk`].
pub(super) fn walk_diagonal(
    set: &SeriesSet,
    which: Range<usize>,
    alter: Alter<'_>,
    mut each: impl FnMut(Block<'_>),
) {
    let channels = set.channels();
    let width = which.len().next_multiple_of(W);
    let (mut points, mut values) = (vec![0.0; which.len() * channels], vec![0.0; width]);
    for step in 0..set.series(which.start).steps() {
        gather(set, which.clone(), step, alter, &mut points);
        match channels < MANY_CHANNELS {
            true => dispatch(FewSquares { points: &points, channels, out: &mut values }),
            false => squares(Apart::dense(&points, channels), &mut values),
        }
        each(Block { steps: step..step + 1, pairs: 0..which.len(), values: &values, width });
    }
}

/// The points of some series at one step, one below the other.
fn gather(set: &SeriesSet, which: Range<usize>, step: usize, alter: Alter<'_>, out: &mut [f64]) {
    for (i, point) in which.zip(out.chunks_exact_mut(set.channels())) {
        point.copy_from_slice(set.series(i).step(step));
    }
    if let Some(alter) = alter {
        alter(out);
    }
}

fn walk_few<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>, mut each: impl FnMut(Block<'_>)) {
    let first = tile.row_set.series(tile.rows.start);
    let (steps, channels) = (first.steps(), first.channels());
    let most = (PACKED / (channels * W)).clamp(1, MOST_STEPS);
    let mut packed = vec![[0.0; W]; most * channels];
    let (mut x, mut values) = (vec![0.0; most * channels], vec![[0.0; W]; most]);
    for column in tile.columns.clone().step_by(W) {
        let columns = column..tile.columns.end.min(column + W);
        for start in (0..steps).step_by(most) {
            let block = start..steps.min(start + most);
            for (lane, i) in columns.clone().enumerate() {
                copy(tile.column_set, i, block.clone(), alter, &mut x);
                packed.iter_mut().zip(&x).for_each(|(cells, value)| cells[lane] = *value);
            }
            for (r, row) in tile.rows.clone().enumerate() {
                if tile.upper && row >= columns.end {
                    break;
                }
                copy(tile.row_set, row, block.clone(), alter, &mut x);
                let (x, packed) = (&x[..block.len() * channels], &packed[..block.len() * channels]);
                dispatch(Few::<DISTANCE> { x, packed, channels, out: &mut values });
                let at = r * tile.columns.len() + column - tile.columns.start;
                let (pairs, values) = (at..at + columns.len(), values[..block.len()].as_flattened());
                each(Block { steps: block.clone(), pairs, values, width: W });
            }
        }
    }
}

/// Some steps of one series.
fn copy(set: &SeriesSet, series: usize, steps: Range<usize>, alter: Alter<'_>, out: &mut [f64]) {
    let channels = set.channels();
    let values = &set.series(series).values()[steps.start * channels..steps.end * channels];
    let out = &mut out[..values.len()];
    out.copy_from_slice(values);
    if let Some(alter) = alter {
        alter(out);
    }
}

struct Few<'a, const DISTANCE: bool> {
    x: &'a [f64],
    packed: &'a [[f64; W]],
    channels: usize,
    out: &'a mut [[f64; W]],
}

impl<const DISTANCE: bool> Work for Few<'_, DISTANCE> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, packed, channels, out } = self;
        let points = x.chunks_exact(channels).zip(packed.chunks_exact(channels));
        for ((x, y), out) in points.zip(out) {
            let mut sums = [0.0; W];
            for (x, y) in x.iter().zip(y) {
                for lane in 0..W {
                    let difference = x - y[lane];
                    let (a, b) = if DISTANCE { (difference, difference) } else { (*x, y[lane]) };
                    sums[lane] = I::mul_add(a, b, sums[lane]);
                }
            }
            *out = sums;
        }
    }
}

/// `<x, x>` in the order of [`Few`].
struct FewSquares<'a> {
    points: &'a [f64],
    channels: usize,
    out: &'a mut [f64],
}

impl Work for FewSquares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        for (point, out) in self.points.chunks_exact(self.channels).zip(self.out) {
            let mut sum = 0.0;
            for value in point {
                sum = I::mul_add(*value, *value, sum);
            }
            *out = sum;
        }
    }
}

fn walk_many<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>, mut each: impl FnMut(Block<'_>)) {
    let first = tile.row_set.series(tile.rows.start);
    let (steps, channels, columns) = (first.steps(), first.channels(), tile.columns.len());
    let width = tile.pairs().next_multiple_of(W);
    let mut values = vec![0.0; width];
    let altered = if alter.is_some() { channels } else { 0 };
    let mut x = vec![0.0; tile.rows.len() * altered];
    let mut y = vec![0.0; columns * altered];
    let (mut x_squares, mut y_squares) = (vec![0.0; tile.rows.len()], vec![0.0; columns]);
    for step in 0..steps {
        let (rows, of_columns) = match alter {
            None => (at_step(tile.row_set, &tile.rows, step), at_step(tile.column_set, &tile.columns, step)),
            Some(_) => {
                gather(tile.row_set, tile.rows.clone(), step, alter, &mut x);
                gather(tile.column_set, tile.columns.clone(), step, alter, &mut y);
                (Apart::dense(&x, channels), Apart::dense(&y, channels))
            }
        };
        inner_products_of(rows, of_columns, tile.wanted(0, 0), &mut values, columns);
        if DISTANCE {
            squares(rows, &mut x_squares);
            squares(of_columns, &mut y_squares);
            let (points, squares) = ([rows, of_columns], [&x_squares[..], &y_squares]);
            distances_in_place(points, squares, tile.wanted(0, 0), &mut values, columns);
        }
        each(Block { steps: step..step + 1, pairs: 0..tile.pairs(), values: &values, width });
    }
}

/// One step of some series, where it lies.
fn at_step<'a>(set: &'a SeriesSet, which: &Range<usize>, step: usize) -> Apart<'a> {
    let depth = set.channels();
    let stride = set.series(which.start).values().len();
    Apart { values: &set.values()[which.start * stride + step * depth..], count: which.len(), depth, stride }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::normal::Normal;

    fn set(count: usize, channels: usize, seed: u64) -> SeriesSet {
        let values: Vec<f64> = Normal::new(seed).take(count * 70 * channels).collect();
        SeriesSet::from_equal(values, 70, channels).unwrap()
    }

    /// All values of all wanted pairs: `[pair][step]`.
    fn collected<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>) -> Vec<Vec<f64>> {
        let mut found = vec![Vec::new(); tile.pairs()];
        walk::<DISTANCE>(tile, alter, |block| {
            for row in block.values.chunks_exact(block.width) {
                for (pair, value) in block.pairs.clone().zip(row) {
                    found[pair].push(*value);
                }
            }
        });
        found
    }

    #[test]
    fn values_are_those_of_the_points_in_any_tile() {
        for channels in [1, 3, 15, 16, 37] {
            let set = set(21, channels, 1);
            let halved = |points: &mut [f64]| points.iter_mut().for_each(|v| *v *= 0.5);
            let alter: [Alter<'_>; 2] = [None, Some(&halved)];
            for (alter, unit) in alter.into_iter().zip([1.0, 0.5]) {
                for (rows, columns, upper) in [(0..21, 0..21, true), (2..7, 3..20, true), (4..9, 0..3, false)]
                {
                    let tile = Tile { row_set: &set, rows, column_set: &set, columns, upper };
                    let found = [collected::<false>(&tile, alter), collected::<true>(&tile, alter)];
                    for (pair, (i, j)) in
                        tile.rows.clone().flat_map(|i| tile.columns.clone().map(move |j| (i, j))).enumerate()
                    {
                        if upper && j < i {
                            continue;
                        }
                        for step in 0..70 {
                            let (x, y) = (set.series(i), set.series(j));
                            let terms = x.step(step).iter().zip(y.step(step));
                            let product: f64 = terms.clone().map(|(a, b)| unit * unit * a * b).sum();
                            let distance: f64 = terms.map(|(a, b)| (unit * (a - b)).powi(2)).sum();
                            let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * channels as f64;
                            assert!(near(found[0][pair][step], product), "{channels} {i} {j} {step}");
                            assert!(near(found[1][pair][step], distance), "{channels} {i} {j} {step}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_series_with_itself_has_the_bits_of_any_pair() {
        for channels in [2, 16, 33] {
            let set = set(13, channels, 2);
            let tile = Tile { row_set: &set, rows: 0..13, column_set: &set, columns: 0..13, upper: true };
            let pairs = collected::<false>(&tile, None);
            let mut step = 0;
            walk_diagonal(&set, 3..13, None, |block| {
                for (i, value) in (3..13).zip(block.values) {
                    assert_eq!(value.to_bits(), pairs[i * 13 + i][step].to_bits());
                }
                step += 1;
            });
            assert_eq!(step, 70);
        }
    }
}
