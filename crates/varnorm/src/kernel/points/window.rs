//! [`Pairs`]: up to L pairs of series at once, and the static values of their points.
//!
//! A static value is `<x_s, y_t>` or `|x_s - y_t|^2`. With few channels it is made on the fly, lane by lane, a few rows of
//! a block of columns at a time; with many, a window of the table is made by a blocked matrix product. No
//! `T x S` matrix per pair is ever kept.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::data::SeriesSet;
use crate::kernel::points::broadcast;
use crate::kernel::points::lanewise::Few;
use crate::kernel::points::pack::{Columns, Of, interleave_quarter, pack, variations};
use crate::simd::L;
use crate::simd::aligned::Cells;
use crate::simd::dispatch;

/// From so many channels on, static values come from a matrix product.
pub(crate) const MANY_CHANNELS: usize = 24;
/// Cells of L lanes in a window of the table: 4 MB.
const WINDOW_CELLS: usize = 1 << 15;
/// Cells of a window that stays in the second-level cache until it has been gone through: 256 kB.
const NEAR_CELLS: usize = 1 << 11;
/// Numbers of a window's column series, packed side by side: 24 MB.
const PACKED: usize = 3 << 20;
/// Rows of static values that share what is loaded.
pub(crate) const ROWS: usize = 2;
/// Columns that are summed at a time: with two rows, a register each, they fill half of the registers of AVX2.
pub(crate) const COLUMNS: usize = 4;

/// Up to L pairs of series.
pub(crate) struct Pairs<'a> {
    row_set: &'a SeriesSet,
    column_set: &'a SeriesSet,
    of: Of,
    x_members: Vec<usize>,
    y_members: Vec<usize>,
    /// The row series, one per lane; values only with few channels.
    pub(crate) x: Columns,
    /// The column series.
    pub(crate) y: Columns,
    window: Window<'a>,
    /// Rows that are gone through several times before those after them.
    band: usize,
    /// Whether a table is gone through several times.
    keep: bool,
    /// The path lengths of both sides, once they have been asked for.
    variations: [Option<[f64; L]>; 2],
    /// Of the row series and of the column series, where distances are wanted.
    known: [Known; 2],
}

/// Where static values are.
pub(crate) enum Strip {
    /// In the caller's cells.
    Made,
    /// In the window, which has exactly these columns.
    InWindow(Range<usize>),
}

/// Whether static values are so cheap that they can be made twice.
pub(crate) fn few_channels(set: &SeriesSet) -> bool {
    set.channels() < MANY_CHANNELS
}

/// A window of the table of static values: some rows, some columns, all lanes.
#[derive(Default)]
struct Window<'a> {
    rows: Range<usize>,
    columns: Range<usize>,
    cells: Cells,
    /// The column series of all lanes, packed, and which columns of them: all, where these are not too many, since they often meet
    /// the next row series too.
    packed: Cells,
    packed_columns: Range<usize>,
    packed_squares: Vec<[f64; L]>,
    /// The row series, where it stands in all lanes.
    x: Points<'a>,
    /// Four row series and four column series, where lanes hold all pairs of these, and place for some packed points.
    quads: [[Points<'a>; 4]; 2],
    scratch: Vec<f64>,
    /// The values of four pairs one after the other, where lanes hold any pairs, and place for making them.
    tables: Vec<f64>,
    parts: Vec<[f64; L]>,
    /// The squares of the points of all lanes, of both sides.
    squares: [Vec<[f64; L]>; 2],
}

/// Some points, or increments, of one series.
#[derive(Default)]
struct Points<'a> {
    /// Of which series, and which of them.
    of: Option<(usize, Range<usize>)>,
    /// Points are read where they lie, unless the series ends before.
    values: Cow<'a, [f64]>,
    /// Their squares, where distances are wanted.
    squares: Vec<f64>,
}

impl<'a> Points<'a> {
    fn take<const DISTANCE: bool>(
        &mut self,
        set: &'a SeriesSet,
        of: Of,
        member: usize,
        steps: &Range<usize>,
        known: &mut Known,
    ) {
        let wanted = Some((member, steps.clone()));
        if self.of == wanted {
            return;
        }
        self.of = wanted;
        let (series, channels) = (set.series(member), set.channels());
        if of == Of::Points && steps.end <= series.steps() {
            self.values = Cow::Borrowed(&series.values()[steps.start * channels..steps.end * channels]);
        } else {
            let mut values = std::mem::take(&mut self.values).into_owned();
            values.resize(steps.len() * channels, 0.0);
            of.copy(series.values(), channels, steps.clone(), &mut values);
            self.values = Cow::Owned(values);
        }
        if DISTANCE {
            let squares =
                known.entry(member).or_insert_with(|| broadcast::squares(series.values(), channels));
            let last = series.steps() - 1;
            self.squares.clear();
            self.squares.extend(steps.clone().map(|step| squares[step.min(last)]));
        }
    }
}

/// The squares of all points of some series: the same series often come back in other company.
type Known = HashMap<usize, Vec<f64>>;

impl<'a> Pairs<'a> {
    pub(crate) fn new(row_set: &'a SeriesSet, column_set: &'a SeriesSet, of: Of) -> Self {
        let (x_members, y_members) = (Vec::new(), Vec::new());
        let (x, y, window) = (Columns::default(), Columns::default(), Window::default());
        Self {
            row_set,
            column_set,
            of,
            x_members,
            y_members,
            x,
            y,
            window,
            band: usize::MAX,
            keep: false,
            variations: [None; 2],
            known: [Known::new(), Known::new()],
        }
    }

    /// Takes other pairs: the row series `x[i]` with the column series `y[i]`.
    pub(crate) fn set(&mut self, x: &[usize], y: &[usize]) {
        let few = self.few_channels();
        if self.x_members != x {
            self.x_members = x.to_vec();
            self.variations[0] = None;
            match few {
                true => self.x.load(self.row_set, x, self.of),
                false => self.x.measure(self.row_set, x, self.of),
            }
        }
        if self.y_members != y {
            self.y_members = y.to_vec();
            self.variations[1] = None;
            match few {
                true => self.y.load(self.column_set, y, self.of),
                false => self.y.measure(self.column_set, y, self.of),
            }
            self.window.packed_columns = 0..0;
        }
        self.window.rows = 0..0;
        self.keep = false;
    }

    /// Rows that can be gone through several times without making their static values again, in blocks of so many columns
    /// (and one more): a multiple of `step`. From here on windows end with such bands.
    pub(crate) fn in_bands(&mut self, columns: usize, step: usize) -> usize {
        self.band = match self.few_channels() {
            true => usize::MAX,
            false => ((WINDOW_CELLS / (columns + 1)).saturating_sub(1) / step).max(1) * step,
        };
        self.band
    }

    /// Windows of these pairs are as large as they may be from here on, for recurrences that go through a table several times.
    pub(crate) fn keep_tables(&mut self) {
        self.keep = true;
    }

    /// Cells per column that making static values reads: none with many channels, where they come from a table.
    pub(crate) fn points_per_column(&self) -> usize {
        if self.few_channels() { self.x.channels } else { 0 }
    }

    /// The most columns that a recurrence should go through at a time.
    pub(crate) fn widest(&self) -> usize {
        match self.few_channels() || self.keep || !self.together() {
            true => 64,
            false => (NEAR_CELLS / self.x.steps.max(1)).clamp(8, 64),
        }
    }

    /// The path lengths of the row series and of the column series.
    pub(crate) fn variations(&mut self) -> [[f64; L]; 2] {
        let [x, y] = &mut self.variations;
        [
            *x.get_or_insert_with(|| variations(self.row_set, &self.x_members)),
            *y.get_or_insert_with(|| variations(self.column_set, &self.y_members)),
        ]
    }

    /// A bound of the squared distances of the points of a lane's two series.
    pub(crate) fn farthest(&self, lane: usize) -> f64 {
        let (row, column) = self.members(lane);
        let (x, y) = (self.row_set.series(row), self.column_set.series(column));
        let extent = |values: &[f64], channel: usize| {
            let of_channel = values.iter().skip(channel).step_by(x.channels());
            of_channel.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(*v), high.max(*v)])
        };
        let apart = |channel: usize| {
            let ([low, high], [other_low, other_high]) =
                (extent(x.values(), channel), extent(y.values(), channel));
            (high - other_low).max(other_high - low)
        };
        (0..x.channels()).map(|channel| apart(channel).powi(2)).sum()
    }

    /// Lanes that hold a pair.
    pub(crate) fn count(&self) -> usize {
        self.x_members.len()
    }

    /// Which row series and which column series a lane holds.
    pub(crate) fn members(&self, lane: usize) -> (usize, usize) {
        (self.x_members[lane], self.y_members[lane])
    }

    /// Whether every lane's pair ends in the last row and the last column.
    pub(crate) fn equal_lengths(&self) -> bool {
        let count = self.count();
        let all = |side: &Columns| side.lengths[..count].iter().all(|l| *l == side.steps);
        all(&self.x) && all(&self.y)
    }

    fn few_channels(&self) -> bool {
        few_channels(self.row_set)
    }

    /// Whether one row series stands in all lanes: then the column series are packed, for several row series in turn.
    fn together(&self) -> bool {
        self.y_members.len() == L && self.x_members.iter().all(|m| *m == self.x_members[0])
    }

    /// Whether lanes hold all pairs of four row series with four column series, row by row.
    fn in_quads(&self) -> bool {
        let (x, y) = (&self.x_members, &self.y_members);
        let alike = |lane: usize| x[lane] == x[lane / 4 * 4] && y[lane] == y[lane % 4];
        y.len() == L && (0..L).all(alike)
    }

    /// Makes the static values of `rows` and `columns`, of one part of N lanes, in `out` or where [`Self::cells`] finds them.
    pub(crate) fn strip<const DISTANCE: bool, const N: usize>(
        &mut self,
        part: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut [[f64; N]],
    ) -> Strip {
        if self.few_channels() {
            dispatch(Few::<DISTANCE, N> { part, x: &self.x, rows, y: &self.y, columns, out });
            return Strip::Made;
        }
        if !inside(&rows, &self.window.rows) || !inside(&columns, &self.window.columns) {
            self.move_window::<DISTANCE>(&rows, &columns);
        }
        let window = &self.window;
        let width = window.columns.len();
        let at = |row: usize| (row - window.rows.start) * width + columns.start - window.columns.start;
        if N == L && columns == window.columns {
            return Strip::InWindow(at(rows.start)..at(rows.end));
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
            for (out, cell) in out.iter_mut().zip(&window.cells[at(row)..][..columns.len()]) {
                *out = cell.as_chunks().0[part];
            }
        }
        Strip::Made
    }

    /// The static values that [`Self::strip`] has just made: `[r * columns.len() + t]`.
    pub(crate) fn cells<'s, const N: usize>(&'s self, strip: &Strip, made: &'s [[f64; N]]) -> &'s [[f64; N]] {
        match strip {
            Strip::Made => made,
            Strip::InWindow(cells) => self.window.cells[cells.clone()].as_flattened().as_chunks().0,
        }
    }

    /// Makes the window that begins with the given cells: as many rows as fit with the columns asked for, and these or, where tables
    /// are kept or made lane by lane, as many columns as fit with all rows.
    fn move_window<const DISTANCE: bool>(&mut self, rows: &Range<usize>, columns: &Range<usize>) {
        let (left, right) = (self.x.steps - rows.start, self.y.steps - columns.start);
        let packed = PACKED / (L * self.row_set.channels());
        let most = if self.keep || !self.together() { (WINDOW_CELLS / left).min(packed) } else { 0 };
        let width = most.max(columns.len()).min(right);
        // One row more than a band: an RBF lift asks for the first one, too.
        let height = (WINDOW_CELLS / width).min(self.band.saturating_add(1)).max(rows.len()).min(left);
        self.window.rows = rows.start..rows.start + height;
        self.window.columns = columns.start..columns.start + width;
        self.window.cells.take(height * width);
        if self.together() {
            self.fill_together::<DISTANCE>(packed);
        } else if self.in_quads() {
            self.fill_in_quads::<DISTANCE>();
        } else {
            self.fill_lane_by_lane::<DISTANCE>();
        }
    }

    /// One row series with the column series of all lanes, of which at most so many columns are packed.
    fn fill_together<const DISTANCE: bool>(&mut self, most: usize) {
        let channels = self.row_set.channels();
        let Window {
            rows,
            columns,
            cells,
            packed,
            packed_columns,
            packed_squares,
            x,
            squares: [x_squares, _],
            ..
        } = &mut self.window;
        if !inside(columns, packed_columns) {
            *packed_columns = if self.y.steps <= most { 0..self.y.steps } else { columns.clone() };
            pack(self.column_set, &self.y_members, self.of, packed_columns.clone(), packed);
            if DISTANCE {
                broadcast::squares_of_lanes(packed, channels, packed_squares);
            }
        }
        let at = columns.start - packed_columns.start;
        let packed = &packed[at * channels..(at + columns.len()) * channels];
        x.take::<DISTANCE>(self.row_set, self.of, self.x_members[0], rows, &mut self.known[0]);
        broadcast::products_together(&x.values, packed, channels, cells);
        if DISTANCE {
            let y_squares = &packed_squares[at..at + columns.len()];
            let points =
                points(&self.x_members, &self.y_members, [self.row_set, self.column_set], rows, columns);
            *x_squares = x.squares.iter().map(|square| [*square; L]).collect();
            broadcast::distances(points, x_squares, y_squares, cells);
        }
    }

    /// Four row series with four column series.
    fn fill_in_quads<const DISTANCE: bool>(&mut self) {
        let channels = self.row_set.channels();
        let Window { rows, columns, cells, quads, scratch, squares: [x_squares, y_squares], .. } =
            &mut self.window;
        let [of_rows, of_columns] = &mut self.known;
        for i in 0..4 {
            quads[0][i].take::<DISTANCE>(self.row_set, self.of, self.x_members[4 * i], rows, of_rows);
            quads[1][i].take::<DISTANCE>(self.column_set, self.of, self.y_members[i], columns, of_columns);
        }
        let [x, y] = &*quads;
        let [x_values, y_values] = [x, y].map(|side| side.each_ref().map(|points| &*points.values));
        broadcast::products_in_quads(x_values, y_values, channels, scratch, cells);
        if DISTANCE {
            let in_lanes = |side: &[Points<'_>; 4], of: fn(usize) -> usize, steps: usize| {
                let squares = |step: usize| std::array::from_fn(|lane| side[of(lane)].squares[step]);
                (0..steps).map(squares).collect()
            };
            *x_squares = in_lanes(x, |lane| lane / 4, rows.len());
            *y_squares = in_lanes(y, |lane| lane % 4, columns.len());
            let points =
                points(&self.x_members, &self.y_members, [self.row_set, self.column_set], rows, columns);
            broadcast::distances(points, x_squares, y_squares, cells);
        }
    }

    /// Every lane has its own two series.
    fn fill_lane_by_lane<const DISTANCE: bool>(&mut self) {
        let channels = self.row_set.channels();
        let Window {
            rows,
            columns,
            cells,
            quads,
            scratch,
            tables,
            parts,
            squares: [x_squares, y_squares],
            ..
        } = &mut self.window;
        let size = rows.len() * columns.len();
        // Lanes without a pair keep what was there, which nobody looks at.
        tables.resize(4 * size, 0.0);
        x_squares.resize(rows.len(), [0.0; L]);
        y_squares.resize(columns.len(), [0.0; L]);
        let [[x, ..], [y, ..]] = quads;
        let [of_rows, of_columns] = &mut self.known;
        for (quarter, lanes) in self.x_members.chunks(4).zip(self.y_members.chunks(4)).enumerate() {
            let tables_of_lanes = tables.chunks_exact_mut(size).zip(lanes.0.iter().zip(lanes.1));
            for (lane, (table, (&row, &column))) in tables_of_lanes.enumerate() {
                x.take::<DISTANCE>(self.row_set, self.of, row, rows, of_rows);
                y.take::<DISTANCE>(self.column_set, self.of, column, columns, of_columns);
                broadcast::products(&x.values, &y.values, channels, scratch, parts, table);
                for (squares, points) in [(&mut *x_squares, &*x), (&mut *y_squares, &*y)] {
                    let squares = squares.iter_mut().zip(&points.squares);
                    squares.for_each(|(lanes, square)| lanes[4 * quarter + lane] = *square);
                }
            }
            interleave_quarter(tables, quarter, cells);
        }
        if DISTANCE {
            let points =
                points(&self.x_members, &self.y_members, [self.row_set, self.column_set], rows, columns);
            broadcast::distances(points, x_squares, y_squares, cells);
        }
    }
}

/// The points of a lane at a cell of a window.
fn points<'a>(
    x_members: &'a [usize],
    y_members: &'a [usize],
    [row_set, column_set]: [&'a SeriesSet; 2],
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> impl Fn(usize, usize, usize) -> [&'a [f64]; 2] {
    let (row, column) = (rows.start, columns.start);
    move |lane, s, t| {
        // Of lanes without a pair nobody looks at anything.
        let Some((x, y)) = x_members.get(lane).zip(y_members.get(lane)) else { return [&[], &[]] };
        [last_or(row_set, *x, row + s), last_or(column_set, *y, column + t)]
    }
}

/// Whether there is a whole, and the part in it.
fn inside(part: &Range<usize>, whole: &Range<usize>) -> bool {
    part.start >= whole.start && part.end <= whole.end && !whole.is_empty()
}

/// A point of a series, or its last.
fn last_or(set: &SeriesSet, series: usize, step: usize) -> &[f64] {
    let series = set.series(series);
    series.step(step.min(series.steps() - 1))
}
