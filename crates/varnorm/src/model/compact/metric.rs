//! [`Metric`]: the variance norms on points, from their moments.

use super::moments::Moments;
use crate::error::Result;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;
use crate::norm::Norm;
use crate::run::Run;
use crate::score::Measure;
use crate::spectrum::{RELATIVE_THRESHOLD, Rank, eigenpairs};

/// Points per task.
const ROWS: usize = 256;

/// Mean and eigenpairs of the covariance of points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    pub(crate) mean: Vec<f64>,
    /// All of them, descending.
    pub(crate) eigenvalues: Vec<f64>,
    /// The axes: one unit eigenvector per row, all of them.
    pub(crate) axes: Matrix,
    /// How many are kept.
    pub(crate) kept: usize,
    /// Eigenvalues at most this large are dropped.
    pub(crate) threshold: f64,
    /// The sum of all eigenvalues.
    pub(crate) variance: f64,
    /// Squared lengths outside the kept span above this count as off it, for the exact norm.
    pub(crate) off_span: f64,
}

/// One norm in the axes of a metric: the root of the weight of every coordinate, and what lies outside all of them.
pub(crate) struct MetricNorm {
    /// Roots of weights.
    pub(crate) roots: Vec<f64>,
    /// The factor of the squared length that no coordinate has.
    pub(crate) outside: f64,
    /// For the exact norm: how many coordinates are kept, and the squared length beside them that is infinitely far.
    pub(crate) infinite: Option<(usize, f64)>,
}

impl Metric {
    pub(crate) fn new(moments: &Moments, rank: Rank, largest_square: f64, run: &Run) -> Result<Self> {
        rank.validate()?;
        run.check()?;
        let count = moments.count as f64;
        let mut covariance = moments.scatter.clone();
        covariance.values_mut().iter_mut().for_each(|v| *v /= count);
        let dimensions = covariance.rows();
        let variance = (0..dimensions).map(|j| covariance.get(j, j)).sum::<f64>().max(0.0);
        let (eigenvalues, axes) = eigenpairs(&covariance, run)?;
        let largest = eigenvalues.first().copied().unwrap_or(0.0).max(0.0);
        let noise = f64::EPSILON * largest_square;
        let threshold = rank.eigenvalue_threshold.unwrap_or(RELATIVE_THRESHOLD * largest).max(noise);
        let most = rank.max_rank.unwrap_or(dimensions).min(moments.count.saturating_sub(1));
        let kept = eigenvalues.iter().take(most).take_while(|v| **v > threshold).count();
        let off_span = 1e-8 * largest_square + count * threshold;
        Ok(Self { mean: moments.mean.clone(), eigenvalues, axes, kept, threshold, variance, off_span })
    }

    /// Points, row by row, into the axes of the metric.
    pub(crate) fn turn(&self, points: &mut [f64], run: &Run) -> Result<()> {
        let depth = self.mean.len();
        let tasks: Vec<&mut [f64]> = points.chunks_mut(ROWS * depth).collect();
        run.for_each("coordinates", tasks, |rows| {
            self.turn_some(rows);
            Ok(())
        })
    }

    /// The same for a few points, on one thread.
    pub(crate) fn turn_some(&self, rows: &mut [f64]) {
        let depth = self.mean.len();
        let mut centred = rows.to_vec();
        for row in centred.chunks_exact_mut(depth) {
            row.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
        }
        inner_products(&centred, self.axes.values(), depth, rows, depth);
    }

    /// And back.
    pub(crate) fn turn_back(&self, points: &mut [f64], run: &Run) -> Result<()> {
        let depth = self.mean.len();
        let mut transposed = Matrix::zeros(depth, depth);
        for j in 0..depth {
            self.axes.row(j).iter().enumerate().for_each(|(k, v)| transposed.row_mut(k)[j] = *v);
        }
        let tasks: Vec<&mut [f64]> = points.chunks_mut(ROWS * depth).collect();
        run.for_each("coordinates", tasks, |rows| {
            let turned = rows.to_vec();
            inner_products(&turned, transposed.values(), depth, rows, depth);
            for row in rows.chunks_exact_mut(depth) {
                row.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
            }
            Ok(())
        })
    }

    /// A norm in these axes.
    pub(crate) fn norm(&self, measure: Measure) -> MetricNorm {
        let alpha = measure.alpha;
        let outside = measure.norm.outside(alpha, self.off_span).factor();
        let weight = |(j, value): (usize, &f64)| {
            if j < self.kept { measure.norm.weight(*value, alpha) } else { outside }
        };
        MetricNorm {
            roots: self.eigenvalues.iter().enumerate().map(weight).map(f64::sqrt).collect(),
            outside,
            infinite: (measure.norm == Norm::Exact).then_some((self.kept, self.off_span)),
        }
    }

    /// The share of the squared distance from the mean that is not in the kept directions.
    pub(crate) fn outside_share(&self, turned: &[f64], missed: f64) -> f64 {
        let square = |some: &[f64]| some.iter().map(|c| c * c).sum::<f64>();
        let (inside, rest) = (square(&turned[..self.kept]), square(&turned[self.kept..]));
        let whole = inside + rest + missed;
        if whole > 0.0 { (1.0 - inside / whole).clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl MetricNorm {
    /// The squared norm of a difference in the axes of the metric, of which `missed` is in none of them.
    pub(crate) fn square(&self, difference: &[f64], missed: f64) -> f64 {
        if let Some((kept, limit)) = self.infinite
            && difference[kept..].iter().map(|c| c * c).sum::<f64>() + missed > limit
        {
            return f64::INFINITY;
        }
        let inside: f64 = difference.iter().zip(&self.roots).map(|(c, r)| (c * r) * (c * r)).sum();
        inside + self.outside * missed
    }
}
