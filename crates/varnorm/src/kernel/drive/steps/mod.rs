//! Points of two series at the same step, for all pairs of a tile: what integral and reservoir kernels sum over.
//!
//! A value is `<x_t, y_t>` or `|x_t - y_t|^2`. Some steps of W column series are packed side by side, and meet a few row
//! series at a time; points of many channels meet where they lie ([`along`]).

mod along;
mod packed;

use std::ops::Range;

use self::packed::{Distances, Pack, ROWS, Squares, Values};
use crate::data::SeriesSet;
use crate::kernel::pass::Tile;
use crate::simd::L;
use crate::simd::aligned::Cells;
use crate::simd::{W, dispatch};

/// Values of a packed block of steps: it stays in the first-level cache while all rows of a tile pass by.
const PACKED: usize = 2048;
/// Steps of a block, at most.
const MOST_STEPS: usize = 64;
/// From so many channels on distances are made of products.
const BY_PRODUCTS: usize = 16;
/// From so many channels on points are not packed: registers run along them.
const ALONG: usize = 128;

/// Changes points before they are used.
pub(crate) type Alter<'a> = Option<&'a dyn Fn(&mut [f64])>;

/// Some steps of a few row series with up to W column series.
pub(crate) struct Block<'a> {
    pub(crate) steps: Range<usize>,
    /// Where the pairs of the first row are in a plane of the tile.
    pairs: Range<usize>,
    rows: usize,
    /// How far the next row is in a plane.
    stride: usize,
    /// Row by row, step by step; lanes without a pair are finite and of no use.
    values: &'a [[f64; W]],
}

impl Block<'_> {
    /// Row by row: where its pairs are in a plane of the tile, and the values of its steps.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Range<usize>, &[[f64; W]])> {
        let values = self.values.chunks_exact(self.steps.len()).take(self.rows);
        values
            .enumerate()
            .map(|(r, values)| (self.pairs.start + r * self.stride..self.pairs.end + r * self.stride, values))
    }
}

/// Hands all pairs of a tile at all steps to `each`, the steps of a pair in order.
pub(crate) fn walk<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>, mut each: impl FnMut(Block<'_>)) {
    let channels = tile.row_set().channels();
    if channels >= ALONG && alter.is_none() {
        return along::walk::<DISTANCE>(tile, each);
    }
    let (total, stride) = (tile.row_set().series(tile.rows.start).steps(), tile.columns.len());
    let most = (PACKED / (channels * W)).clamp(1, MOST_STEPS);
    let (mut packed, mut values) = (Cells::default(), Cells::default());
    let packed = halves(packed.take((most * channels).div_ceil(2)));
    let values = halves(values.take((ROWS * most).div_ceil(2)));
    // Points are changed once for all they meet.
    let altered = if alter.is_some() { most * channels } else { 0 };
    let (mut of_rows, mut of_columns) = (vec![0.0; tile.rows.len() * altered], vec![0.0; W * altered]);
    let by_products = DISTANCE && channels >= BY_PRODUCTS;
    let mut squares = SquaresOfRows::new(tile, if by_products { most } else { 0 });
    let mut y_squares = vec![[0.0; W]; if by_products { most } else { 0 }];
    for start in (0..total).step_by(most) {
        let steps = start..total.min(start + most);
        let size = steps.len() * channels;
        change(tile.row_set(), tile.rows.clone(), &steps, alter, &mut of_rows);
        if by_products && !squares.come_with_columns {
            squares.make(tile, &steps, alter, &of_rows, packed);
        }
        for column in tile.columns.clone().step_by(W) {
            let columns = column..tile.columns.end.min(column + W);
            change(tile.column_set(), columns.clone(), &steps, alter, &mut of_columns);
            let mut y = [&[][..]; W];
            for (lane, y) in y.iter_mut().enumerate() {
                // Beyond the last column it is taken again, and not used.
                let at = lane.min(columns.len() - 1);
                *y = some_steps(tile.column_set(), column + at, &steps, alter, at, &of_columns);
            }
            dispatch(Pack { rows: y, out: &mut packed[..size] });
            if by_products {
                let out = &mut y_squares[..steps.len()];
                dispatch(Squares { packed: &packed[..size], channels, out });
                if squares.come_with_columns {
                    squares.keep(tile, columns.clone(), &y_squares[..steps.len()]);
                }
            }
            let last = if tile.upper() { tile.rows.end.min(columns.end) } else { tile.rows.end };
            for row in (tile.rows.start..last).step_by(ROWS) {
                let rows = ROWS.min(last - row);
                let mut x = [&[][..]; ROWS];
                for (r, x) in x.iter_mut().enumerate() {
                    let row = row + r.min(rows - 1);
                    *x = some_steps(tile.row_set(), row, &steps, alter, row - tile.rows.start, &of_rows);
                }
                let (packed, out) = (&packed[..size], &mut values[..ROWS * steps.len()]);
                if by_products {
                    dispatch(Values::<false> { x, rows, packed, channels, out });
                    let (x_squares, y_squares) = (squares.from(row), &y_squares[..steps.len()]);
                    let itself = tile.sets.are_one().then(|| row as isize - column as isize);
                    let stride = squares.most;
                    dispatch(Distances {
                        x,
                        rows,
                        y,
                        channels,
                        x_squares,
                        stride,
                        y_squares,
                        itself,
                        values: out,
                    });
                } else {
                    dispatch(Values::<DISTANCE> { x, rows, packed, channels, out });
                }
                let at = (row - tile.rows.start) * stride + column - tile.columns.start;
                let pairs = at..at + columns.len();
                each(Block { steps: steps.clone(), pairs, rows, stride, values });
            }
        }
    }
}

/// The squares of the points of a tile's row series at some steps.
struct SquaresOfRows {
    first: usize,
    /// Steps, at most: row by row there is place for so many.
    most: usize,
    squares: Vec<f64>,
    /// Whether every row series passes by as a column before it is met as a row.
    come_with_columns: bool,
}

impl SquaresOfRows {
    fn new(tile: &Tile<'_>, most: usize) -> Self {
        let come_with_columns = tile.upper() && tile.columns.start <= tile.rows.start;
        Self { first: tile.rows.start, most, squares: vec![0.0; most * tile.rows.len()], come_with_columns }
    }

    /// Makes all of them, with a place for packed points.
    fn make(
        &mut self,
        tile: &Tile<'_>,
        steps: &Range<usize>,
        alter: Alter<'_>,
        of_rows: &[f64],
        packed: &mut [[f64; W]],
    ) {
        let (set, channels) = (tile.row_set(), tile.row_set().channels());
        let (packed, mut squares) = (&mut packed[..steps.len() * channels], [[0.0; W]; MOST_STEPS]);
        for row in tile.rows.clone().step_by(W) {
            let rows = row..tile.rows.end.min(row + W);
            let x = std::array::from_fn(|lane| {
                let row = row + lane.min(rows.len() - 1);
                some_steps(set, row, steps, alter, row - tile.rows.start, of_rows)
            });
            let squares = &mut squares[..steps.len()];
            dispatch(Pack { rows: x, out: &mut *packed });
            dispatch(Squares { packed, channels, out: &mut *squares });
            self.keep(tile, rows, squares);
        }
    }

    /// Takes those of some series.
    fn keep(&mut self, tile: &Tile<'_>, which: Range<usize>, squares: &[[f64; W]]) {
        for (lane, series) in which.enumerate().filter(|(_, series)| tile.rows.contains(series)) {
            let kept = &mut self.squares[(series - self.first) * self.most..];
            kept.iter_mut().zip(squares).for_each(|(kept, squares)| *kept = squares[lane]);
        }
    }

    /// Those of one row, and of all after it.
    fn from(&self, row: usize) -> &[f64] {
        &self.squares[(row - self.first) * self.most..]
    }
}

/// Cells of half as many lanes: one cache line each.
fn halves(cells: &mut [[f64; L]]) -> &mut [[f64; W]] {
    cells.as_flattened_mut().as_chunks_mut().0
}

/// Changed copies of some steps of some series, one below the other.
fn change(set: &SeriesSet, which: Range<usize>, steps: &Range<usize>, alter: Alter<'_>, out: &mut [f64]) {
    let Some(alter) = alter else { return };
    let size = steps.len() * set.channels();
    for (i, out) in which.zip(out.chunks_exact_mut(size)) {
        out.copy_from_slice(&set.series(i).values()[steps.start * set.channels()..][..size]);
        alter(out);
    }
}

/// Some steps of one series: where they lie, or the copy in its place.
fn some_steps<'a>(
    set: &'a SeriesSet,
    series: usize,
    steps: &Range<usize>,
    alter: Alter<'_>,
    place: usize,
    copies: &'a [f64],
) -> &'a [f64] {
    let size = steps.len() * set.channels();
    match alter {
        None => &set.series(series).values()[steps.start * set.channels()..][..size],
        Some(_) => &copies[place * size..(place + 1) * size],
    }
}

/// The same for some series with themselves, `<x_t, x_t>`, with the bits of [`walk`].
pub(crate) fn walk_diagonal(
    set: &SeriesSet,
    which: Range<usize>,
    alter: Alter<'_>,
    mut each: impl FnMut(Block<'_>),
) {
    let (steps, channels) = (set.series(which.start).steps(), set.channels());
    if channels >= ALONG && alter.is_none() {
        return walk_own(&along::squares(set, which.clone()), steps, 0..which.len(), each);
    }
    let most = (PACKED / (channels * W)).clamp(1, MOST_STEPS);
    let mut copies = vec![0.0; if alter.is_some() { W * most * channels } else { 0 }];
    let (mut packed, mut values) = (Cells::default(), vec![[0.0; W]; most]);
    let packed = halves(packed.take((most * channels).div_ceil(2)));
    for first in which.clone().step_by(W) {
        let series = first..which.end.min(first + W);
        for start in (0..steps).step_by(most) {
            let steps = start..steps.min(start + most);
            change(set, series.clone(), &steps, alter, &mut copies);
            let mut x = [&[][..]; W];
            for (lane, x) in x.iter_mut().enumerate() {
                let at = lane.min(series.len() - 1);
                *x = some_steps(set, first + at, &steps, alter, at, &copies);
            }
            let packed = &mut packed[..steps.len() * channels];
            dispatch(Pack { rows: x, out: &mut *packed });
            dispatch(Squares { packed, channels, out: &mut values[..steps.len()] });
            let pairs = first - which.start..series.end - which.start;
            each(Block { steps, pairs, rows: 1, stride: 0, values: &values });
        }
    }
}

/// `<x_t, x_t>` of all steps of all series, one series after the other, with the bits of [`walk`].
pub(crate) fn own_products(set: &SeriesSet) -> Vec<f64> {
    if set.channels() >= ALONG {
        return along::squares(set, 0..set.len());
    }
    let steps = set.series(0).steps();
    let mut own = vec![0.0; set.len() * steps];
    walk_diagonal(set, 0..set.len(), None, |block| {
        for (series, values) in block.rows() {
            for (step, values) in block.steps.clone().zip(values) {
                series.clone().zip(values).for_each(|(series, value)| own[series * steps + step] = *value);
            }
        }
    });
    own
}

/// Hands some of these to `each`, as [`walk_diagonal`] does.
pub(crate) fn walk_own(own: &[f64], steps: usize, which: Range<usize>, mut each: impl FnMut(Block<'_>)) {
    let mut values = [[0.0; W]; MOST_STEPS];
    for first in which.clone().step_by(W) {
        let series = first..which.end.min(first + W);
        for start in (0..steps).step_by(MOST_STEPS) {
            let steps_here = start..steps.min(start + MOST_STEPS);
            for (step, values) in steps_here.clone().zip(&mut values) {
                series.clone().zip(values).for_each(|(series, value)| *value = own[series * steps + step]);
            }
            let pairs = first - which.start..series.end - which.start;
            each(Block { steps: steps_here, pairs, rows: 1, stride: 0, values: &values });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::pass::Sets;
    use crate::random::Normal;
    use crate::run::Run;

    /// All pairs of a set, or those above its diagonal.
    fn sets(set: &SeriesSet, upper: bool) -> Sets<'_> {
        if upper { Sets::One(set) } else { Sets::Two(set, set) }
    }

    fn set(count: usize, channels: usize, seed: u64) -> SeriesSet {
        let values: Vec<f64> = Normal::new(seed).take(count * 70 * channels).collect();
        SeriesSet::from_equal(values, 70, channels).unwrap()
    }

    /// All values of all wanted pairs: `[pair][step]`.
    fn collected<const DISTANCE: bool>(tile: &Tile<'_>, alter: Alter<'_>) -> Vec<Vec<f64>> {
        let mut found = vec![Vec::new(); tile.pairs()];
        walk::<DISTANCE>(tile, alter, |block| {
            for (pairs, values) in block.rows() {
                for step in values {
                    pairs.clone().zip(step).for_each(|(pair, value)| found[pair].push(*value));
                }
            }
        });
        found
    }

    #[test]
    fn values_are_those_of_the_points_in_any_tile() {
        let run = Run::sequential();
        for channels in [1, 3, 15, 16, 37, 130] {
            let set = set(21, channels, 1);
            let halved = |points: &mut [f64]| points.iter_mut().for_each(|v| *v *= 0.5);
            let alter: [Alter<'_>; 2] = [None, Some(&halved)];
            for (alter, unit) in alter.into_iter().zip([1.0, 0.5]) {
                for (rows, columns, upper) in [(0..21, 0..21, true), (2..7, 3..20, true), (4..9, 0..3, false)]
                {
                    let tile = Tile { sets: sets(&set, upper), rows, columns, run: &run };
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
        let run = Run::sequential();
        for channels in [2, 16, 33, 300] {
            let set = set(13, channels, 2);
            let tile = Tile { sets: Sets::One(&set), rows: 0..13, columns: 0..13, run: &run };
            let pairs = collected::<false>(&tile, None);
            let mut found = vec![Vec::new(); 10];
            walk_diagonal(&set, 3..13, None, |block| {
                for (which, values) in block.rows() {
                    for step in values {
                        which.clone().zip(step).for_each(|(at, value)| found[at].push(*value));
                    }
                }
            });
            for (at, values) in found.iter().enumerate() {
                let i = at + 3;
                assert_eq!(values.len(), 70);
                assert!(values.iter().zip(&pairs[i * 13 + i]).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }

    #[test]
    fn distances_keep_their_digits_and_have_the_bits_of_any_tile() {
        let run = Run::sequential();
        for channels in [16, 40, 130] {
            // Each series is far from those before it, or so near one of them that products would lose all digits.
            let far = set(9, channels, 3);
            let mut values = far.values().to_vec();
            values.extend(far.values().iter().zip(Normal::new(4)).map(|(v, noise)| v + 1e-8 * noise));
            let set = SeriesSet::from_equal(values, 70, channels).unwrap();
            let tile = |rows, columns, upper| Tile { sets: sets(&set, upper), rows, columns, run: &run };
            let whole = collected::<true>(&tile(0..18, 0..18, true), None);
            for i in 0..18 {
                assert!(whole[i * 18 + i].iter().all(|distance| *distance == 0.0));
                for j in i + 1..18 {
                    let (x, y) = (set.series(i), set.series(j));
                    for (step, found) in whole[i * 18 + j].iter().enumerate() {
                        let terms = x.step(step).iter().zip(y.step(step));
                        let distance: f64 = terms.map(|(a, b)| (a - b).powi(2)).sum();
                        assert!((found / distance - 1.0).abs() < 1e-12, "{channels} {i} {j} {step}");
                    }
                }
            }
            for (rows, columns) in [(4..17, 9..18), (0..5, 11..12), (0..1, 0..18)] {
                let part = collected::<true>(&tile(rows.clone(), columns.clone(), false), None);
                for (at, (i, j)) in rows
                    .flat_map(|i| columns.clone().map(move |j| (i, j)))
                    .enumerate()
                    .filter(|(_, (i, j))| i <= j)
                {
                    assert!(part[at].iter().zip(&whole[i * 18 + j]).all(|(a, b)| a.to_bits() == b.to_bits()));
                }
            }
        }
    }
}
