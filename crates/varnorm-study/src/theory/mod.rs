//! The paper's statements, watched: experiments on Gaussian laws whose norms are known exactly.
//!
//! Each function draws samples, compares with what the theory says and gives numbers, with a [`Plot`] of them.

pub mod false_alarms;
mod report;

pub use report::Report;

use serde::Serialize;

use varnorm::Matrix;
use varnorm::Rank;
use varnorm::Result;
use varnorm::Run;
use varnorm::internal::plot::{Axis, Curve, Plot, Style};
use varnorm::internal::{as_the_norm_sees, concentration};
use varnorm::law::Gaussian;
use varnorm::sample::{Elements, VarianceNorm};
use varnorm::score::{Distance, Measure, Norm};

const MEAN: Distance = Distance::Mahalanobis {};

/// A Gaussian with eigenvalues `1 / j^2`, j = 1..=dimension.
pub fn teaching_law(dimension: usize) -> Result<Gaussian> {
    Gaussian::new((1..=dimension).map(|j| (j as f64).powi(-2)).collect())
}

/// How near empirical norms come to the population's (paper, theoremConsistentEstimator).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consistency {
    /// Regularisation.
    pub alpha: f64,
    /// Sample sizes.
    pub counts: Vec<usize>,
    /// Mean absolute error of the Tikhonov norm of one fixed element, per sample size.
    pub tikhonov: Vec<f64>,
    /// The same for the envelope norm.
    pub envelope: Vec<f64>,
    /// Slope of the logarithm of the error over that of N, for the Tikhonov norm; the theorem promises -1/4.
    pub tikhonov_slope: f64,
    /// The same for the envelope norm.
    pub envelope_slope: f64,
}

/// Watches `|x|_{N,alpha} -> |x|_alpha` for a fixed element x over sample sizes, `repeats` samples each.
pub fn consistency(
    law: &Gaussian,
    alpha: f64,
    counts: &[usize],
    repeats: u64,
    run: &Run,
) -> Result<Consistency> {
    let element = law.draw(1, 1);
    let norms = [Norm::Tikhonov, Norm::Envelope];
    let truth = norms.map(|norm| law.norm(element.row(0), norm, alpha));
    let [truth_tikhonov, truth_envelope] = truth;
    let truth = [truth_tikhonov?, truth_envelope?];
    let mut errors = vec![[0.0; 2]; counts.len() * repeats as usize];
    let tasks: Vec<_> = errors.iter_mut().enumerate().collect();
    run.for_each("samples", tasks, |(at, cell)| {
        let count = counts[at / repeats as usize];
        let sample = law.draw(count, 1000 + at as u64);
        let fitted = VarianceNorm::from_vectors(&sample, Rank::default(), &Run::sequential())?;
        // Scores are norms of y - m: the norm of x is that of y = x + m.
        let mut query = element.clone();
        for (c, cell) in query.row_mut(0).iter_mut().enumerate() {
            *cell += (0..count).map(|r| sample.get(r, c)).sum::<f64>() / count as f64;
        }
        for (k, norm) in norms.into_iter().enumerate() {
            let measure = Measure { norm, alpha, distance: MEAN };
            let found = fitted.measure(Elements::Vectors(&query), measure, &Run::sequential())?;
            cell[k] = (found.scores.values[0] - truth[k]).abs();
        }
        Ok(())
    })?;
    let mean = |k: usize| -> Vec<f64> {
        let by_count = errors.chunks(repeats as usize);
        by_count.map(|cells| cells.iter().map(|c| c[k]).sum::<f64>() / repeats as f64).collect()
    };
    let (tikhonov, envelope) = (mean(0), mean(1));
    Ok(Consistency {
        alpha,
        counts: counts.to_vec(),
        tikhonov_slope: slope(counts, &tikhonov),
        envelope_slope: slope(counts, &envelope),
        tikhonov,
        envelope,
    })
}

/// The slope of the line through (ln n, ln y), by least squares.
fn slope(counts: &[usize], values: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> =
        counts.iter().zip(values).map(|(n, v)| ((*n as f64).ln(), v.ln())).collect();
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), p| (a + p.0 / n, b + p.1 / n));
    let (up, down) =
        points.iter().fold((0.0, 0.0), |(u, d), p| (u + (p.0 - x) * (p.1 - y), d + (p.0 - x).powi(2)));
    up / down
}

impl Consistency {
    /// The picture.
    pub fn plot(&self) -> Plot {
        let points = |values: &[f64]| -> Vec<(f64, f64)> {
            self.counts.iter().zip(values).map(|(n, v)| (*n as f64, *v)).collect()
        };
        let reference = |power: f64| -> Vec<f64> {
            let first = self.counts.first().map_or(1.0, |n| *n as f64);
            let start = self.tikhonov.first().copied().unwrap_or(1.0);
            self.counts.iter().map(|n| start * (*n as f64 / first).powf(power)).collect()
        };
        Plot::new(
            format!("Empirical norms tend to the population's (alpha {})", self.alpha),
            Axis::log("sample size N"),
            Axis::log("mean absolute error of the norm"),
        )
        .with(Curve::new(
            format!("Tikhonov, slope {:.2}", self.tikhonov_slope),
            Style::LineAndPoints,
            points(&self.tikhonov),
        ))
        .with(Curve::new(
            format!("envelope, slope {:.2}", self.envelope_slope),
            Style::LineAndPoints,
            points(&self.envelope),
        ))
        .with(Curve::new("slope -1/4 (promised)", Style::Dashed, points(&reference(-0.25))).colored(6))
        .with(Curve::new("slope -1/2", Style::Dashed, points(&reference(-0.5))).colored(4))
    }
}

/// Nearest and furthest neighbours against the bound (paper, section 4, cases 2 and 3).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Draws besides the reference one.
    pub count: usize,
    /// The spreads told are those that all but this share of the trials stay below.
    pub delta: f64,
    /// Regularisations.
    pub alphas: Vec<f64>,
    /// `(max - min) / E` of squared distances in the population's Tikhonov norm.
    pub population: Vec<f64>,
    /// The same in the sample's own norm.
    pub empirical: Vec<f64>,
    /// Mean absolute difference of the two over the trials: what the sample's own norm adds.
    pub difference: Vec<f64>,
    /// `epsilon(N, delta, K_alpha)`, without the universal constant.
    pub bound: Vec<f64>,
    /// Effective dimension of `K_alpha`.
    pub effective_dimension: Vec<f64>,
}

/// Watches the relative spread of squared distances from one draw to `count` others, over regularisations.
pub fn spread(law: &Gaussian, alphas: &[f64], count: usize, repeats: u64, run: &Run) -> Result<Spread> {
    let delta = 0.05;
    let mut cells = vec![vec![(0.0, 0.0); alphas.len()]; repeats as usize];
    let tasks: Vec<_> = cells.iter_mut().enumerate().collect();
    run.for_each("trials", tasks, |(trial, row)| {
        let draws = law.draw(count + 1, 5000 + trial as u64);
        let (reference, sample) = (rows(&draws, 0..1), rows(&draws, 1..count + 1));
        let fitted = VarianceNorm::from_vectors(&sample, Rank::default(), &Run::sequential())?;
        for (cell, alpha) in row.iter_mut().zip(alphas) {
            let expected =
                2.0 * as_the_norm_sees(law.eigenvalues(), Norm::Tikhonov, *alpha).iter().sum::<f64>();
            let mut squares = Vec::with_capacity(count);
            for i in 0..count {
                let difference: Vec<f64> =
                    reference.row(0).iter().zip(sample.row(i)).map(|(a, b)| a - b).collect();
                squares.push(law.norm(&difference, Norm::Tikhonov, *alpha)?.powi(2));
            }
            let ends = |neighbour: usize| -> Result<f64> {
                let distance = Distance::Conformance { neighbour };
                let measure = Measure { norm: Norm::Tikhonov, alpha: *alpha, distance };
                let found = fitted.measure(Elements::Vectors(&reference), measure, &Run::sequential())?;
                Ok(found.scores.values[0].powi(2))
            };
            *cell = (range(&squares) / expected, (ends(count)? - ends(1)?) / expected);
        }
        Ok(())
    })?;
    let quantile = |at: usize, pick: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = cells.iter().map(|row| pick(&row[at])).collect();
        values.sort_by(f64::total_cmp);
        values[(((1.0 - delta) * values.len() as f64) as usize).min(values.len() - 1)]
    };
    let seen = |alpha: &f64| as_the_norm_sees(law.eigenvalues(), Norm::Tikhonov, *alpha);
    Ok(Spread {
        count,
        delta,
        alphas: alphas.to_vec(),
        population: (0..alphas.len()).map(|a| quantile(a, |c| c.0)).collect(),
        empirical: (0..alphas.len()).map(|a| quantile(a, |c| c.1)).collect(),
        difference: (0..alphas.len())
            .map(|a| cells.iter().map(|row| (row[a].0 - row[a].1).abs()).sum::<f64>() / repeats as f64)
            .collect(),
        bound: alphas.iter().map(|a| concentration(count, delta, &seen(a))).collect(),
        effective_dimension: alphas.iter().map(|a| varnorm::norm::effective_dimension(&seen(a))).collect(),
    })
}

fn rows(matrix: &Matrix, range: std::ops::Range<usize>) -> Matrix {
    matrix.select(&range.collect::<Vec<_>>(), &(0..matrix.columns()).collect::<Vec<_>>())
}

fn range(values: &[f64]) -> f64 {
    let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    ends.1 - ends.0
}

impl Spread {
    /// The picture.
    pub fn plot(&self) -> Plot {
        let points = |values: &[f64]| -> Vec<(f64, f64)> {
            self.alphas.iter().copied().zip(values.iter().copied()).collect()
        };
        let promised = format!("epsilon({}, {}, K_alpha), up to a constant", self.count, self.delta);
        Plot::new(
            format!("Nearest against furthest of {} neighbours", self.count),
            Axis::log("regularisation alpha"),
            Axis::log("(max - min) / mean of squared distances"),
        )
        .with(Curve::new("norm of the law", Style::LineAndPoints, points(&self.population)))
        .with(Curve::new("norm of the sample", Style::LineAndPoints, points(&self.empirical)))
        .with(Curve::new(promised, Style::Dashed, points(&self.bound)).colored(6))
    }
}

/// Distances between corpus elements (paper, section 4, case 1).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Equidistance {
    /// Regularisation of the second pair of columns.
    pub alpha: f64,
    /// Sample sizes.
    pub counts: Vec<usize>,
    /// Smallest and largest exact distance between two elements of the sample.
    pub exact: Vec<(f64, f64)>,
    /// Smallest and largest Tikhonov distance.
    pub tikhonov: Vec<(f64, f64)>,
    /// The proposition's bounds on it.
    pub bounds: Vec<(f64, f64)>,
}

/// Watches all distances between elements of a sample, with and without regularisation.
pub fn equidistance(law: &Gaussian, alpha: f64, counts: &[usize], run: &Run) -> Result<Equidistance> {
    let mut cells = vec![[(0.0, 0.0); 3]; counts.len()];
    let tasks: Vec<_> = cells.iter_mut().zip(counts).collect();
    run.for_each("samples", tasks, |(cell, count)| {
        let sample = law.draw(*count, 9000 + *count as u64);
        let fitted = VarianceNorm::from_vectors(&sample, Rank::default(), &Run::sequential())?;
        let ends = |norm: Norm, alpha: f64| {
            let eigenvalues = fitted.spectrum().eigenvalues().iter();
            let weights: Vec<f64> = eigenvalues.map(|value| norm.weight(*value, alpha)).collect();
            let coordinates = fitted.spectrum().coordinates();
            let mut ends = (f64::INFINITY, 0.0f64);
            for i in 0..*count {
                for k in 0..i {
                    let part =
                        |(j, w): (usize, &f64)| w * (coordinates.get(j, i) - coordinates.get(j, k)).powi(2);
                    let distance = weights.iter().enumerate().map(part).sum::<f64>().sqrt();
                    ends = (ends.0.min(distance), ends.1.max(distance));
                }
            }
            ends
        };
        let values = fitted.spectrum().eigenvalues();
        let shrink = |value: Option<&f64>| {
            (2.0 * *count as f64).sqrt() * value.map_or(0.0, |value| value / (value + alpha))
        };
        *cell = [
            ends(Norm::Exact, 0.0),
            ends(Norm::Tikhonov, alpha),
            (shrink(values.last()), shrink(values.first())),
        ];
        Ok(())
    })?;
    let pick = |k: usize| cells.iter().map(|c| c[k]).collect();
    Ok(Equidistance { alpha, counts: counts.to_vec(), exact: pick(0), tikhonov: pick(1), bounds: pick(2) })
}

impl Equidistance {
    /// The picture.
    pub fn plot(&self) -> Plot {
        let points = |pairs: &[(f64, f64)], high: bool| -> Vec<(f64, f64)> {
            let value = |p: &(f64, f64)| if high { p.1 } else { p.0 };
            self.counts.iter().zip(pairs).map(|(n, p)| (*n as f64, value(p))).collect()
        };
        let root = self.counts.iter().map(|n| (*n as f64, (2.0 * *n as f64).sqrt())).collect();
        let regularised = format!("alpha {}", self.alpha);
        Plot::new(
            "Distances between corpus elements, with and without regularisation",
            Axis::log("sample size N"),
            Axis::log("distance"),
        )
        .with(Curve::new("sqrt(2N)", Style::Line, root).colored(6))
        .with(
            Curve::new("no regularisation: smallest and largest", Style::Points, points(&self.exact, true))
                .colored(0),
        )
        .with(Curve::new("", Style::Points, points(&self.exact, false)).colored(0))
        .with(
            Curve::new(format!("{regularised}: largest"), Style::LineAndPoints, points(&self.tikhonov, true))
                .colored(1),
        )
        .with(
            Curve::new(
                format!("{regularised}: smallest"),
                Style::LineAndPoints,
                points(&self.tikhonov, false),
            )
            .colored(2),
        )
        .with(Curve::new("bounds of the proposition", Style::Dashed, points(&self.bounds, true)).colored(4))
        .with(Curve::new("", Style::Dashed, points(&self.bounds, false)).colored(4))
    }
}
