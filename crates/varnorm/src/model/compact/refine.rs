//! Distances to the nearest series from kernel values: points know a series' projection only, and what two projections miss
//! may point the same way.

use super::Nearest;
use super::gather::Kept;
use super::metric::MetricNorm;
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram::{self, Scaling, self_values};
use crate::kernel::Kernel;
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// Candidates of a query whose kernel values are worked out.
pub(super) const CANDIDATES: usize = 16;

/// Where kernel values come from.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) scaling: Scaling,
    /// Prepared, one per row of the points that are measured.
    pub(crate) queries: &'a SeriesSet,
}

/// A query's candidates, nearest first, and the points of both in the axes of the metric.
pub(super) struct Candidates<'a> {
    pub(super) nearest: &'a [Nearest],
    pub(super) queries: &'a Matrix,
    pub(super) points: &'a Matrix,
}

/// Candidates with their squared norms made exact: `|y - x|^2` from kernel values, less what the axes have of it, is what
/// lies outside. In order of nearness again.
pub(super) fn refined(
    candidates: &Candidates<'_>,
    kept: &Kept,
    norm: &MetricNorm,
    pairs: Pairs<'_>,
    run: &Run,
) -> Result<Option<Vec<Nearest>>> {
    // A norm that is blind outside has nothing to gain.
    let Some(series) = kept.series.as_ref().filter(|_| norm.outside > 0.0) else { return Ok(None) };
    let mut refined: Vec<Nearest> = candidates.nearest.to_vec();
    let tasks: Vec<_> = refined.iter_mut().enumerate().collect();
    run.for_each("nearest series", tasks, |(q, found)| {
        let places: Vec<usize> = found.iter().map(|(_, at)| *at).collect();
        let wholes = squared_distances(pairs, q, series, &places)?;
        for ((square, at), whole) in found.iter_mut().zip(wholes) {
            let difference: Vec<f64> = candidates
                .queries
                .row(q)
                .iter()
                .zip(candidates.points.row(*at))
                .map(|(y, x)| y - x)
                .collect();
            let inside: f64 = difference.iter().map(|d| d * d).sum();
            *square = norm.square(&difference, (whole - inside).max(0.0));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(())
    })?;
    Ok(Some(refined))
}

/// `|y - x|^2` of a query and some series.
pub(super) fn squared_distances(
    pairs: Pairs<'_>,
    query: usize,
    series: &SeriesSet,
    places: &[usize],
) -> Result<Vec<f64>> {
    let Pairs { kernel, scaling, queries } = pairs;
    let (some, alone) = (series.select(places), Run::sequential());
    let selves = self_values(std::slice::from_ref(kernel), &some, &alone)?.pop().unwrap_or_default();
    let cross = gram::cross(kernel, &queries.select(&[query]), &some, &selves, scaling, &alone)
        .map_err(|e| e.renumbered(&[query], places))?;
    let products = cross.matrix.row(0).iter().zip(&selves);
    Ok(products.map(|(product, s)| cross.self_values[0] + scaling.square(*s) - 2.0 * product).collect())
}
