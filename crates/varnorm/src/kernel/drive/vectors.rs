//! [`FeatureMap`]: kernels that are inner products of feature vectors, and where those vectors are kept.
//!
//! A set's features are computed once where they fit [`FeatureMap::most_bytes`], and group by group otherwise. They come in
//! blocks (levels, say) whose inner products are kept apart, so that a kernel can weigh them.

use std::ops::Range;

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::pass::{Sets, Tile};
use crate::linalg::matrix::Matrix;
use crate::linalg::product::{Vectors, inner_products_of, squares as self_products};
use crate::run::Run;

/// Features of a set are kept as a whole up to this size, unless they say otherwise.
const MOST_BYTES: usize = 24 << 20;
/// Features of a group of series are computed at a time, about so many numbers.
const GROUP_VALUES: usize = 1 << 19;
/// Series of a task.
const TASK: usize = 8;

/// Feature vectors of series, in blocks.
pub(crate) trait FeatureMap: Send + Sync {
    /// The length of every block.
    fn blocks(&self, channels: usize) -> Vec<usize>;

    /// Features of a set are kept as a whole up to this size: more where they take long to compute.
    fn most_bytes(&self) -> usize {
        MOST_BYTES
    }

    /// Whether the features of a series come with a power of two of their own; the sum of the exponents of a pair is
    /// then kept as one plane more.
    fn exponents(&self) -> bool {
        false
    }

    /// Computes the features of some series: `out[block]` takes one row per series, and `exponents` one number. A row
    /// must have the same bits in whatever company it is computed.
    fn fill(&self, set: &SeriesSet, which: Range<usize>, out: &mut [&mut [f64]], exponents: &mut [f64]);
}

/// The features of some series.
pub(crate) struct Features {
    /// Length and rows of every block.
    pub(crate) blocks: Vec<(usize, Vec<f64>)>,
    /// The power of two of every series.
    exponents: Vec<f64>,
}

impl Features {
    fn zeros(map: &dyn FeatureMap, channels: usize, count: usize) -> Self {
        let blocks =
            map.blocks(channels).into_iter().map(|depth| (depth, vec![0.0; depth * count])).collect();
        Self { blocks, exponents: vec![0.0; count] }
    }

    /// Of a few series.
    pub(crate) fn of(map: &dyn FeatureMap, set: &SeriesSet, which: Range<usize>) -> Self {
        let mut features = Self::zeros(map, set.channels(), which.len());
        let mut parts: Vec<&mut [f64]> = features.blocks.iter_mut().map(|b| b.1.as_mut_slice()).collect();
        map.fill(set, which, &mut parts, &mut features.exponents);
        features
    }

    /// Of a whole set.
    pub(crate) fn of_set(map: &dyn FeatureMap, set: &SeriesSet, run: &Run) -> Result<Self> {
        let mut features = Self::zeros(map, set.channels(), set.len());
        let starts = (0..set.len()).step_by(TASK);
        let exponents = features.exponents.chunks_mut(TASK);
        let mut tasks: Vec<_> = starts.zip(exponents).map(|(start, e)| (start, e, Vec::new())).collect();
        for (depth, rows) in &mut features.blocks {
            tasks.iter_mut().zip(rows.chunks_mut(TASK * *depth)).for_each(|(task, part)| task.2.push(part));
        }
        run.for_each("features", tasks, |(start, exponents, mut parts)| {
            map.fill(set, start..set.len().min(start + TASK), &mut parts, exponents);
            Ok(())
        })?;
        Ok(features)
    }

    /// Of a whole set, if they are not too many to keep.
    pub(crate) fn of_set_if_small(map: &dyn FeatureMap, set: &SeriesSet, run: &Run) -> Result<Option<Self>> {
        let length: usize = map.blocks(set.channels()).iter().sum();
        let small = length.saturating_mul(set.len()).saturating_mul(8) <= map.most_bytes();
        small.then(|| Self::of_set(map, set, run)).transpose()
    }

    /// One row per series: the constant 1, then every block m, counted from 1, times `scale^(m/2)`.
    pub(crate) fn weighted_levels(&self, scale: f64, series: usize) -> Matrix {
        let length = 1 + self.blocks.iter().map(|(depth, _)| depth).sum::<usize>();
        let mut matrix = Matrix::zeros(series, length);
        for i in 0..series {
            let (one, mut row) = matrix.row_mut(i).split_at_mut(1);
            one[0] = 1.0;
            let mut weight = 1.0;
            for (depth, values) in &self.blocks {
                weight *= scale.sqrt();
                let (part, rest) = row.split_at_mut(*depth);
                let values = &values[i * depth..(i + 1) * depth];
                part.iter_mut().zip(values).for_each(|(feature, value)| *feature = weight * value);
                row = rest;
            }
        }
        matrix
    }

    fn rows(&self, block: usize, which: Range<usize>) -> &[f64] {
        let (depth, values) = &self.blocks[block];
        &values[which.start * depth..which.end * depth]
    }
}

/// The features of both sets of a walk, unless they are too many to keep; those of one set are kept once.
#[derive(Default)]
pub(crate) struct Prepared {
    rows: Option<Features>,
    columns: Option<Features>,
    /// Whether rows and columns are of one set.
    one: bool,
}

impl Prepared {
    pub(crate) fn new(map: &dyn FeatureMap, sets: Sets<'_>, run: &Run) -> Result<Self> {
        let one = sets.are_one();
        let columns = if one { None } else { Features::of_set_if_small(map, sets.columns(), run)? };
        Ok(Self { rows: Features::of_set_if_small(map, sets.rows(), run)?, columns, one })
    }

    fn columns(&self) -> Option<&Features> {
        if self.one { self.rows.as_ref() } else { self.columns.as_ref() }
    }
}

/// The inner products of a tile, one plane per block: the body of [`Pass::walk`](crate::kernel::pass::Pass::walk).
pub(crate) fn walk(map: &dyn FeatureMap, prepared: &Prepared, tile: &Tile<'_>, kept: &mut [f64]) {
    let whole = (0..tile.rows.len(), 0..tile.columns.len());
    if let (Some(rows), Some(columns)) = (&prepared.rows, prepared.columns()) {
        let sides = [(rows, tile.rows.clone()), (columns, tile.columns.clone())];
        return products(map, tile, sides, whole, kept);
    }
    let length: usize = map.blocks(tile.row_set().channels()).iter().sum();
    let group = (GROUP_VALUES / length.max(1)).max(1);
    for c in whole.1.clone().step_by(group) {
        let c = c..whole.1.end.min(c + group);
        let first = tile.columns.start;
        let columns = Features::of(map, tile.column_set(), first + c.start..first + c.end);
        for r in whole.0.clone().step_by(group) {
            let r = r..whole.0.end.min(r + group);
            let first = tile.rows.start;
            let rows = Features::of(map, tile.row_set(), first + r.start..first + r.end);
            let sides = [(&rows, 0..r.len()), (&columns, 0..c.len())];
            products(map, tile, sides, (r, c.clone()), kept);
        }
    }
}

/// The inner products of some rows with some columns, put in their place in the tile.
fn products(
    map: &dyn FeatureMap,
    tile: &Tile<'_>,
    [(rows, which_rows), (columns, which_columns)]: [(&Features, Range<usize>); 2],
    place: (Range<usize>, Range<usize>),
    kept: &mut [f64],
) {
    let stride = tile.columns.len();
    let mut planes = kept.chunks_exact_mut(tile.pairs());
    for (block, plane) in planes.by_ref().take(rows.blocks.len()).enumerate() {
        let (a, b) = (rows.rows(block, which_rows.clone()), columns.rows(block, which_columns.clone()));
        let out = &mut plane[place.0.start * stride + place.1.start..];
        let depth = rows.blocks[block].0;
        let wanted = tile.wanted(place.0.start, place.1.start);
        inner_products_of(Vectors::new(a, depth), Vectors::new(b, depth), wanted, out, stride);
    }
    if let Some(plane) = planes.next().filter(|_| map.exponents()) {
        for (i, x) in rows.exponents[which_rows].iter().enumerate() {
            let cells = &mut plane[(place.0.start + i) * stride + place.1.start..];
            cells
                .iter_mut()
                .zip(&columns.exponents[which_columns.clone()])
                .for_each(|(cell, y)| *cell = x + y);
        }
    }
}

/// The inner products of series with themselves: the body of
/// [`Pass::walk_diagonal`](crate::kernel::pass::Pass::walk_diagonal).
pub(crate) fn walk_diagonal(
    map: &dyn FeatureMap,
    prepared: &Prepared,
    set: &SeriesSet,
    which: Range<usize>,
    kept: &mut [f64],
) {
    let whole = 0..which.len();
    if let Some(features) = &prepared.rows {
        return squares(map, features, which, kept);
    }
    let length: usize = map.blocks(set.channels()).iter().sum();
    let group = (GROUP_VALUES / length.max(1)).max(1);
    for start in whole.clone().step_by(group) {
        let end = whole.end.min(start + group);
        let features = Features::of(map, set, which.start + start..which.start + end);
        // The planes are those of all series of the walk.
        let mut part = vec![0.0; kept.len() / whole.len() * (end - start)];
        squares(map, &features, 0..end - start, &mut part);
        for (plane, part) in kept.chunks_exact_mut(whole.len()).zip(part.chunks_exact(end - start)) {
            plane[start..end].copy_from_slice(part);
        }
    }
}

/// The inner products of some series with themselves.
fn squares(map: &dyn FeatureMap, features: &Features, which: Range<usize>, kept: &mut [f64]) {
    let mut planes = kept.chunks_exact_mut(which.len());
    for (block, plane) in planes.by_ref().take(features.blocks.len()).enumerate() {
        for (cell, at) in plane.iter_mut().zip(which.clone()) {
            let row = features.rows(block, at..at + 1);
            self_products(Vectors::new(row, row.len()), std::slice::from_mut(cell));
        }
    }
    if let Some(plane) = planes.next().filter(|_| map.exponents()) {
        plane.iter_mut().zip(&features.exponents[which]).for_each(|(cell, e)| *cell = 2.0 * e);
    }
}
