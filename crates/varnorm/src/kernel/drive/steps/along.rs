//! Points of many channels: registers run along them, where they lie.

use std::ops::Range;

use super::Block;
use crate::data::SeriesSet;
use crate::kernel::pass::Tile;
use crate::linalg::product::{self, Vectors, distances_in_place, inner_products_of};
use crate::simd::W;

/// Steps of a block: so many are enough that recurrences over steps need not wait, and the values of a tile stay in the second-level
/// cache.
const MOST_STEPS: usize = 4;

/// Points of some series at one step.
fn points(set: &SeriesSet, which: Range<usize>, step: usize) -> Vectors<'_> {
    let (steps, channels) = (set.series(which.start).steps(), set.channels());
    let values = &set.values()[(which.start * steps + step) * channels..];
    Vectors::apart(values, which.len(), channels, steps * channels)
}

/// All pairs of a tile at all steps.
pub(super) fn walk<const DISTANCE: bool>(tile: &Tile<'_>, mut each: impl FnMut(Block<'_>)) {
    let total = tile.row_set().series(tile.rows.start).steps();
    let (rows, stride) = (tile.rows.len(), tile.columns.len());
    // Groups of columns one after the other, and in each of them rows, steps and lanes.
    let mut values = vec![[0.0; W]; stride.div_ceil(W) * rows * MOST_STEPS];
    let (mut x_squares, mut y_squares) = (vec![0.0; rows], vec![0.0; stride]);
    // Where row series are among column series, if they are.
    let same = tile.sets.are_one();
    let among =
        tile.rows.start.wrapping_sub(tile.columns.start)..tile.rows.end.wrapping_sub(tile.columns.start);
    for start in (0..total).step_by(MOST_STEPS) {
        let steps = start..total.min(start + MOST_STEPS);
        let size = rows * steps.len();
        for (s, step) in steps.clone().enumerate() {
            if DISTANCE {
                product::squares(points(tile.column_set(), tile.columns.clone(), step), &mut y_squares);
                match y_squares.get(among.clone()) {
                    Some(squares) if same => x_squares.copy_from_slice(squares),
                    _ => product::squares(points(tile.row_set(), tile.rows.clone(), step), &mut x_squares),
                }
            }
            for (group, values) in values.chunks_exact_mut(size).enumerate().take(stride.div_ceil(W)) {
                let columns = group * W..stride.min((group + 1) * W);
                let wanted = tile.wanted(0, columns.start);
                let a = points(tile.row_set(), tile.rows.clone(), step);
                let columns_of_set = tile.columns.start + columns.start..tile.columns.start + columns.end;
                let b = points(tile.column_set(), columns_of_set, step);
                let (out, out_stride) = (&mut values.as_flattened_mut()[s * W..], W * steps.len());
                inner_products_of(a, b, wanted, out, out_stride);
                if DISTANCE {
                    let squares = [&x_squares[..], &y_squares[columns]];
                    distances_in_place([a, b], squares, wanted, out, out_stride);
                }
            }
        }
        for (group, values) in values.chunks_exact(size).enumerate().take(stride.div_ceil(W)) {
            let column = group * W;
            let last = stride.min(column + W);
            let wanted =
                if tile.upper() { tile.rows.end.min(tile.columns.start + last) } else { tile.rows.end };
            let rows = wanted.saturating_sub(tile.rows.start);
            each(Block { steps: steps.clone(), pairs: column..last, rows, stride, values });
        }
    }
}

/// The squares of all points of some series, one after the other, with the bits of [`walk`].
pub(super) fn squares(set: &SeriesSet, which: Range<usize>) -> Vec<f64> {
    let size = set.series(which.start).values().len();
    let values = &set.values()[which.start * size..which.end * size];
    let mut squares = vec![0.0; values.len() / set.channels()];
    product::squares(Vectors::new(values, set.channels()), &mut squares);
    squares
}
