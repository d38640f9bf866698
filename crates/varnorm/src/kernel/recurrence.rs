//! [`Recurrence`]: what a dynamic kernel computes for L pairs at once, and the loops over pairs around it.

use std::ops::Range;

use super::columns::{Broadcast, Columns, L, Of, Row};
use super::lanes::{Isa, Work, dispatch};
use super::pass::Tile;
use crate::data::SeriesSet;

/// A recurrence over the points of two series, for L pairs at once.
pub(crate) trait Recurrence {
    /// What of the series it runs over.
    fn of(&self) -> Of;

    /// Numbers kept per pair.
    fn kept(&self) -> usize;

    /// Runs over L pairs: `out[k]` is the k-th kept number of every lane. A lane's result depends on that lane's
    /// pair alone, to the bit. Must be `#[inline(always)]`, and use loops, not closures, where it multiplies and
    /// adds. `scratch` is the caller's to reuse; its content is undefined.
    fn run<I: Isa>(&self, x: &impl Row, y: &Columns, scratch: &mut Vec<[f64; L]>, out: &mut [[f64; L]]);
}

/// All pairs of a tile: the body of [`Pass::walk`](super::pass::Pass::walk).
pub(crate) fn walk(recurrence: &impl Recurrence, tile: &Tile<'_>, kept: &mut [f64]) {
    dispatch(TileWork { recurrence, tile, kept });
}

/// Some series with themselves: the body of [`Pass::walk_diagonal`](super::pass::Pass::walk_diagonal).
pub(crate) fn walk_diagonal(
    recurrence: &impl Recurrence,
    set: &SeriesSet,
    which: Range<usize>,
    kept: &mut [f64],
) {
    dispatch(DiagonalWork { recurrence, set, which, kept });
}

struct TileWork<'a, R> {
    recurrence: &'a R,
    tile: &'a Tile<'a>,
    kept: &'a mut [f64],
}

impl<R: Recurrence> Work for TileWork<'_, R> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { recurrence, tile, kept } = self;
        let pairs = tile.pairs();
        let (mut columns, mut scratch) = (Columns::default(), Vec::new());
        let mut out = vec![[0.0; L]; recurrence.kept()];
        let members: Vec<usize> = tile.columns.clone().collect();
        for (group, members) in members.chunks(L).enumerate() {
            columns.load(tile.column_set, members, recurrence.of());
            for (r, row) in tile.rows.clone().enumerate() {
                if tile.upper && members[members.len() - 1] < row {
                    continue;
                }
                let x = Broadcast::new(tile.row_set.series(row), recurrence.of());
                recurrence.run::<I>(&x, &columns, &mut scratch, &mut out);
                for (plane, lanes) in out.iter().enumerate() {
                    let at = plane * pairs + r * tile.columns.len() + group * L;
                    kept[at..at + members.len()].copy_from_slice(&lanes[..members.len()]);
                }
            }
        }
    }
}

struct DiagonalWork<'a, R> {
    recurrence: &'a R,
    set: &'a SeriesSet,
    which: Range<usize>,
    kept: &'a mut [f64],
}

impl<R: Recurrence> Work for DiagonalWork<'_, R> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { recurrence, set, which, kept } = self;
        let (mut columns, mut scratch) = (Columns::default(), Vec::new());
        let mut out = vec![[0.0; L]; recurrence.kept()];
        let members: Vec<usize> = which.clone().collect();
        for (group, members) in members.chunks(L).enumerate() {
            columns.load(set, members, recurrence.of());
            recurrence.run::<I>(&columns, &columns, &mut scratch, &mut out);
            for (plane, lanes) in out.iter().enumerate() {
                let at = plane * which.len() + group * L;
                kept[at..at + members.len()].copy_from_slice(&lanes[..members.len()]);
            }
        }
    }
}
