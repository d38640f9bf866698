//! Parameters that are left to the corpus: the median heuristic and its polynomial counterpart.
//!
//! For data of unit variance the median distance of two series is about `sqrt(2 T d)` and the mean of `<x,x>` is
//! `T d`, so that `auto` follows the published scaling (sigma times `sqrt(T d)`, c times `T d`) on any data.

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::pass::{Sets, require_equal_lengths};

/// At most so many series take part in a median: evenly spaced ones.
const SERIES: usize = 400;
/// At most so many distances of points are put in order.
const DISTANCES: usize = 1_000_000;
/// At most so many points take part in the bandwidth of an alignment kernel.
const POINTS: usize = 10_000;
/// The share of the published bandwidth of an alignment kernel that finds novelty best; see docs/decisions/0009.
const OF_ALIGNMENT: f64 = 0.25;

/// Evenly spaced indices, at most `most` of them.
fn spread(count: usize, most: usize) -> Vec<usize> {
    let take = count.min(most);
    (0..take).map(|i| i * count / take).collect()
}

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The median of the distances above zero; 1 when all series are equal (any bandwidth then gives the same kernel).
fn median_distance(mut squares: Vec<f64>) -> f64 {
    squares.retain(|d| *d > 0.0 && d.is_finite());
    if squares.is_empty() {
        return 1.0;
    }
    let middle = (squares.len() - 1) / 2;
    squares.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt()
}

pub(super) fn median_series_distance(corpus: &SeriesSet) -> Result<f64> {
    require_equal_lengths("the bandwidth of a flat kernel", Sets::One(corpus))?;
    let picked = spread(corpus.len(), SERIES);
    let mut squares = Vec::new();
    for (a, &i) in picked.iter().enumerate() {
        for &j in &picked[..a] {
            squares.push(squared_distance(corpus.series(i).values(), corpus.series(j).values()));
        }
    }
    Ok(median_distance(squares))
}

pub(super) fn median_point_distance(corpus: &SeriesSet) -> Result<f64> {
    require_equal_lengths("the bandwidth of an integral kernel", Sets::One(corpus))?;
    let picked = spread(corpus.len(), SERIES);
    let pairs = picked.len() * picked.len().saturating_sub(1) / 2;
    let steps = corpus.equal_length().unwrap_or(0);
    let picked_steps = spread(steps, (DISTANCES / pairs.max(1)).max(1));
    let mut squares = Vec::new();
    for (a, &i) in picked.iter().enumerate() {
        for &j in &picked[..a] {
            let (x, y) = (corpus.series(i), corpus.series(j));
            squares.extend(picked_steps.iter().map(|&t| squared_distance(x.step(t), y.step(t))));
        }
    }
    Ok(median_distance(squares))
}

/// A quarter of the lower median of the distances of all corpus points, self-pairs included, times the square root of the
/// mean length. At most [`POINTS`] points and [`DISTANCES`] distances take part, evenly spaced ones; 1 stands in for a
/// median of zero.
pub(super) fn alignment_bandwidth(corpus: &SeriesSet) -> f64 {
    let points: Vec<&[f64]> = corpus.values().chunks_exact(corpus.channels()).collect();
    let picked: Vec<&[f64]> = spread(points.len(), POINTS).into_iter().map(|i| points[i]).collect();
    let count = picked.len();
    let squares = spread(count * count, DISTANCES)
        .into_iter()
        .map(|pair| squared_distance(picked[pair / count], picked[pair % count]));
    let mut squares: Vec<f64> = squares.filter(|d| d.is_finite()).collect();
    let middle = squares.len().saturating_sub(1) / 2;
    let median = match squares.is_empty() {
        true => 0.0,
        false => squares.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt(),
    };
    let length = points.len() as f64 / corpus.len().max(1) as f64;
    if median > 0.0 { OF_ALIGNMENT * median * length.sqrt() } else { 1.0 }
}

/// The median distance of corpus points, whatever their series and times; any lengths.
pub(super) fn median_distance_of_points(corpus: &SeriesSet) -> f64 {
    /// Points that take part: evenly spaced ones, about a million pairs.
    const POINTS: usize = 1400;
    let channels = corpus.channels();
    let picked = spread(corpus.values().len() / channels, POINTS);
    let point = |i: usize| &corpus.values()[i * channels..(i + 1) * channels];
    let mut squares = Vec::new();
    for (a, &i) in picked.iter().enumerate() {
        squares.extend(picked[..a].iter().map(|&j| squared_distance(point(i), point(j))));
    }
    median_distance(squares)
}

/// One over the median of `max_t |x_t - x_0|^2`, so that inner products of paths are of the order of 1; 1 over the
/// number of channels when no series moves.
pub(super) fn path_scale(corpus: &SeriesSet) -> f64 {
    let reach = |i: usize| {
        let series = corpus.series(i);
        let start = series.step(0);
        series
            .values()
            .chunks_exact(corpus.channels())
            .map(|p| squared_distance(p, start))
            .fold(0.0, f64::max)
    };
    let mut squares: Vec<f64> = (0..corpus.len()).map(reach).collect();
    squares.retain(|d| *d > 0.0 && d.is_finite());
    if squares.is_empty() {
        return 1.0 / corpus.channels() as f64;
    }
    let middle = (squares.len() - 1) / 2;
    1.0 / *squares.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The mean of `<x,x>` over all series.
pub(super) fn mean_series_square(corpus: &SeriesSet) -> f64 {
    mean_square(corpus, corpus.len())
}

/// The mean of `<x_t,x_t>` over all points.
pub(super) fn mean_point_square(corpus: &SeriesSet) -> f64 {
    mean_square(corpus, corpus.lengths().sum())
}

fn mean_square(corpus: &SeriesSet, count: usize) -> f64 {
    corpus.values().iter().map(|v| v * v).sum::<f64>() / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn auto_is_what_each_kernel_says_of_its_corpus() {
        let corpus = SeriesSet::from_equal(vec![0.0, 1.0, 3.0, 7.0], 2, 1).unwrap();
        let resolved = |spec: &str| spec.parse::<Kernel>().unwrap().resolve(&corpus).unwrap();
        let gak = 0.25 * 2.0 * 2f64.sqrt();
        for (spec, expected) in [
            ("sig:lift=rbf", format!("sig:lift=rbf,sigma={},scale=4", 0.7 * 3.0)),
            ("sig:lift=rbf,sigma=5", "sig:lift=rbf,sigma=5,scale=4".into()),
            ("sig", "sig:scale=1".into()),
            ("sig_fourier", "sig_fourier:sigma=3,scale=1".into()),
            ("sig_pde:lift=rbf", "sig_pde:lift=rbf,sigma=3,scale=1".into()),
            ("gak", format!("gak:sigma={gak}")),
            ("vrk", format!("vrk:tau={},clip=0.95", 0.5 / 7.0)),
            ("vrk:clip=0.5", format!("vrk:tau={},clip=0.5", 0.5 / 7.0)),
            ("vrk:tau=0.1", "vrk:tau=0.1".into()),
        ] {
            assert_eq!(resolved(spec), expected.parse().unwrap(), "{spec}");
            assert_eq!(resolved(spec).resolve(&corpus).unwrap(), resolved(spec));
        }
    }
}
