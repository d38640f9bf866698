//! [`Recurrence`]: what a dynamic kernel computes for L pairs at once, and the loops over pairs around it.

use std::ops::Range;

use crate::data::SeriesSet;
use crate::kernel::pass::Tile;
use crate::kernel::points::pack::Of;
use crate::kernel::points::window::Pairs;
use crate::simd::L;
use crate::simd::aligned::Cells;

/// A recurrence over the points of two series, for L pairs at once.
pub(crate) trait Recurrence {
    /// What of the series it runs over.
    fn of(&self) -> Of;

    /// Numbers kept per pair.
    fn kept(&self) -> usize;

    /// Runs over up to L pairs: `out[k]` is the k-th kept number of every lane. A lane's result depends on that lane's
    /// pair alone, to the bit. `scratch` is the caller's to reuse; its content is undefined.
    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Cells, out: &mut [[f64; L]]);
}

/// All pairs of a tile: the body of [`Pass::walk`](crate::kernel::pass::Pass::walk).
pub(crate) fn walk(recurrence: &impl Recurrence, tile: &Tile<'_>, kept: &mut [f64]) {
    let (row_set, column_set) = (tile.row_set(), tile.column_set());
    let place = |x: usize, y: usize| tile.place((x, y));
    let go_on = || tile.run.check().is_ok();
    run_groups(recurrence, [row_set, column_set], &groups(tile), go_on, place, tile.pairs(), kept);
}

/// Some pairs of a tile, as they come; values of others stay as they are.
pub(crate) fn walk_pairs(
    recurrence: &impl Recurrence,
    tile: &Tile<'_>,
    pairs: &[(usize, usize)],
    kept: &mut [f64],
) {
    let groups: Vec<Group> = pairs.chunks(L).map(|group| group.iter().copied().unzip()).collect();
    let place = |x: usize, y: usize| tile.place((x, y));
    let go_on = || tile.run.check().is_ok();
    run_groups(recurrence, [tile.row_set(), tile.column_set()], &groups, go_on, place, tile.pairs(), kept);
}

/// Some series with themselves: the body of [`Pass::walk_diagonal`](crate::kernel::pass::Pass::walk_diagonal).
pub(crate) fn walk_diagonal(
    recurrence: &impl Recurrence,
    set: &SeriesSet,
    which: Range<usize>,
    kept: &mut [f64],
) {
    let members: Vec<usize> = which.clone().collect();
    let groups: Vec<Group> = members.chunks(L).map(|m| (m.to_vec(), m.to_vec())).collect();
    let place = |x: usize, _: usize| x - which.start;
    let planes = which.len();
    run_groups(recurrence, [set, set], &groups, || true, place, planes, kept);
}

/// Row and column series of up to L pairs.
type Group = (Vec<usize>, Vec<usize>);

/// The pairs of a tile in groups of L, in which tables of static values have something in common: one row with L neighbouring
/// columns where all of these are wanted; by the diagonal and the right edge, four rows with four columns; what is left, in
/// any company, so that few lanes are idle.
fn groups(tile: &Tile<'_>) -> Vec<Group> {
    let (mut groups, mut rest) = (Vec::new(), (Vec::new(), Vec::new()));
    let columns: Vec<usize> = tile.columns.clone().collect();
    for members in columns.chunks(L) {
        let all = |row: &usize| members.len() == L && tile.wants(*row, members[0]);
        let (whole, others): (Vec<usize>, Vec<usize>) = tile.rows.clone().partition(all);
        groups.extend(whole.iter().map(|row| (vec![*row; L], members.to_vec())));
        for rows in others.chunks(4) {
            for members in members.chunks(4) {
                let pairs = rows.iter().flat_map(|row| members.iter().map(move |column| (*row, *column)));
                let (x, y): Group = pairs.filter(|(row, column)| tile.wants(*row, *column)).unzip();
                if x.len() == L {
                    groups.push((x, y));
                } else {
                    rest.0.extend(x);
                    rest.1.extend(y);
                }
            }
        }
    }
    groups.extend(rest.0.chunks(L).zip(rest.1.chunks(L)).map(|(x, y)| (x.to_vec(), y.to_vec())));
    groups
}

/// Runs over groups of pairs, as long as it is to go on. `place` says where in a plane, of `planes` cells, the values of a pair go.
fn run_groups(
    recurrence: &impl Recurrence,
    [row_set, column_set]: [&SeriesSet; 2],
    groups: &[Group],
    go_on: impl Fn() -> bool,
    place: impl Fn(usize, usize) -> usize,
    planes: usize,
    kept: &mut [f64],
) {
    let mut pairs = Pairs::new(row_set, column_set, recurrence.of());
    let (mut scratch, mut out) = (Cells::default(), vec![[0.0; L]; recurrence.kept()]);
    for (x, y) in groups.iter().take_while(|_| go_on()) {
        pairs.set(x, y);
        recurrence.run(&mut pairs, &mut scratch, &mut out);
        for (lane, (x, y)) in x.iter().zip(y).enumerate() {
            let at = place(*x, *y);
            for (plane, lanes) in out.iter().enumerate() {
                kept[plane * planes + at] = lanes[lane];
            }
        }
    }
}
