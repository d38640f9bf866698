//! The nearest of many points to some others, under a norm: in blocks, so that memory does not grow with their number.

use super::Nearest;
use super::metric::{Metric, MetricNorm};
use crate::error::Result;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::squared_distances;
use crate::run::Run;

/// Points per block: with a few hundred coordinates they stay in the second-level cache.
const BLOCK: usize = 96;
/// Blocks per task.
const BLOCKS: usize = 16;

/// For every query the squared norms of its differences from the `most` nearest points, and their places, nearest first.
///
/// Points of one fold may be left out (`but`: the fold of every point, and which one). With a metric, points are turned
/// into its axes first, block by block. Of equally near points the first counts.
#[allow(clippy::too_many_arguments)] // One caller scores, one calibrates; a struct would be named once in each.
pub(super) fn among(
    points: &Matrix,
    but: Option<(&[u8], u8)>,
    norm: &MetricNorm,
    queries: &Matrix,
    missed: &[f64],
    most: usize,
    metric: Option<&Metric>,
    run: &Run,
) -> Result<Vec<Nearest>> {
    let search = Search { points, but, norm, queries, missed, most, metric };
    let scaled = Scaled::new(norm, queries.values(), queries.columns());
    let height = BLOCK * BLOCKS;
    let mut found: Vec<Vec<Nearest>> = vec![Vec::new(); points.rows().div_ceil(height)];
    let tasks: Vec<_> = found.iter_mut().enumerate().collect();
    run.for_each("nearest series", tasks, |(task, found)| {
        *found = vec![Vec::with_capacity(most + 1); queries.rows()];
        let end = points.rows().min((task + 1) * height);
        for start in (task * height..end).step_by(BLOCK) {
            search.block(start..end.min(start + BLOCK), &scaled, found);
        }
        Ok(())
    })?;
    let mut best: Vec<Nearest> = vec![Vec::new(); queries.rows()];
    for part in found {
        for (best, part) in best.iter_mut().zip(part) {
            part.into_iter().for_each(|one| keep(best, one, most));
        }
    }
    Ok(best)
}

struct Search<'a> {
    points: &'a Matrix,
    but: Option<(&'a [u8], u8)>,
    norm: &'a MetricNorm,
    queries: &'a Matrix,
    missed: &'a [f64],
    most: usize,
    metric: Option<&'a Metric>,
}

/// Rows times the roots of weights: a norm becomes a plain distance.
struct Scaled {
    weighted: Vec<f64>,
    /// For the exact norm: the coordinates that are not kept alone.
    beside: Option<Vec<f64>>,
}

impl Scaled {
    fn new(norm: &MetricNorm, rows: &[f64], depth: usize) -> Self {
        let mut weighted = rows.to_vec();
        for row in weighted.chunks_exact_mut(depth.max(1)) {
            row.iter_mut().zip(&norm.roots).for_each(|(x, root)| *x *= root);
        }
        let beside = norm.infinite.map(|(kept, _)| {
            let mut rest = rows.to_vec();
            rest.chunks_exact_mut(depth.max(1)).for_each(|row| row[..kept].fill(0.0));
            rest
        });
        Self { weighted, beside }
    }
}

impl Search<'_> {
    fn block(&self, which: std::ops::Range<usize>, queries: &Scaled, found: &mut [Nearest]) {
        let depth = self.points.columns();
        let left_out = |at: &usize| self.but.is_some_and(|(folds, fold)| folds[*at] == fold);
        let places: Vec<usize> = which.filter(|at| !left_out(at)).collect();
        if places.is_empty() {
            return;
        }
        let mut rows: Vec<f64> = places.iter().flat_map(|at| self.points.row(*at)).copied().collect();
        if let Some(metric) = self.metric {
            metric.turn_some(&mut rows);
        }
        let rows = Scaled::new(self.norm, &rows, depth);
        let count = places.len();
        let mut distances = vec![0.0; self.queries.rows() * count];
        squared_distances(&queries.weighted, &rows.weighted, depth, &mut distances, count);
        if let (Some(a), Some(b), Some((_, limit))) = (&queries.beside, &rows.beside, self.norm.infinite) {
            let mut beside = vec![0.0; distances.len()];
            squared_distances(a, b, depth, &mut beside, count);
            for (q, (cells, beside)) in
                distances.chunks_exact_mut(count).zip(beside.chunks_exact(count)).enumerate()
            {
                let far = |b: &f64| b + self.missed[q] > limit;
                cells.iter_mut().zip(beside).filter(|(_, b)| far(b)).for_each(|(c, _)| *c = f64::INFINITY);
            }
        }
        for (q, (cells, best)) in distances.chunks_exact(count).zip(found).enumerate() {
            let outside = self.norm.outside * self.missed[q];
            for (cell, place) in cells.iter().zip(&places) {
                keep(best, (cell + outside, *place), self.most);
            }
        }
    }
}

/// Puts one among the `most` nearest, ascending; equally near ones in order of their places.
fn keep(best: &mut Nearest, one: (f64, usize), most: usize) {
    let after = |other: &(f64, usize)| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)).is_gt();
    if best.len() == most && !best.last().is_some_and(after) {
        return;
    }
    let at = best.iter().position(after).unwrap_or(best.len());
    best.insert(at, one);
    best.truncate(most);
}
