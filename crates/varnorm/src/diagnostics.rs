//! What a corpus and its norm are good for, in numbers and in plain words.

use std::collections::HashMap;

use serde::Serialize;

use crate::calibrate::Calibrated;
use crate::data::SeriesSet;
use crate::norm::{Norm, effective_dimension, effective_rank};
use crate::score::{Distance, Measure};
use crate::spectrum::Spectrum;

/// The bound `epsilon(N, delta, K)` on the relative spread of squared distances from one draw to N others, up to a
/// universal constant (paper, propMinMaxDifference): `max(sqrt(l / d(K)), l / r(K))` with `l = log(2 N / delta)`.
pub fn concentration(count: usize, delta: f64, eigenvalues: &[f64]) -> f64 {
    let l = (2.0 * count as f64 / delta).ln();
    let (d, r) = (effective_dimension(eigenvalues), effective_rank(eigenvalues));
    if d > 0.0 { (l / d).sqrt().max(l / r) } else { f64::INFINITY }
}

/// Eigenvalues of the covariance as the norm sees it, `K_alpha`.
pub fn as_the_norm_sees(eigenvalues: &[f64], norm: Norm, alpha: f64) -> Vec<f64> {
    eigenvalues.iter().map(|value| norm.seen(*value, alpha)).collect()
}

/// The probability with which the bound may fail.
pub const DELTA: f64 = 0.05;

/// The shape of one operator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shape {
    /// `tr^2 / |.|_HS^2`.
    pub effective_dimension: f64,
    /// `tr / |.|_op`.
    pub effective_rank: f64,
    /// `epsilon(N, 0.05, .)`: large means that near and far neighbours differ; absent for a degenerate corpus.
    pub concentration: Option<f64>,
}

impl Shape {
    fn new(count: usize, eigenvalues: &[f64]) -> Self {
        let bound = concentration(count, DELTA, eigenvalues);
        Self {
            effective_dimension: effective_dimension(eigenvalues),
            effective_rank: effective_rank(eigenvalues),
            concentration: bound.is_finite().then_some(bound),
        }
    }
}

/// What there is to know about a corpus under a norm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Series of the corpus.
    pub series: usize,
    /// Eigenpairs kept.
    pub rank: usize,
    /// The most that so many series can have: one less than their number, or the dimensions of a compact model.
    pub highest_rank: usize,
    /// Share of the variance that they carry.
    pub kept_variance: f64,
    /// The covariance K.
    pub covariance: Shape,
    /// The covariance as the norm sees it, K_alpha.
    pub regularised: Shape,
    /// `(largest - smallest) / mean` of the squared norms of differences of corpus series (at most 200 of them).
    pub spread: Option<f64>,
    /// Median share of a corpus series that lies outside the span of the others: what a new normal series will show.
    pub outside_others: f64,
    /// Pairs of equal series after preparation: the first of each and its copy.
    pub duplicates: Vec<(usize, usize)>,
    /// Standard deviation of the calibration scores over their mean.
    pub score_variation: Option<f64>,
    /// What to make of it.
    pub advice: Vec<String>,
}

/// Squared distances that differ by less than this share are called almost equal.
const EQUIDISTANT: f64 = 0.2;
/// Scores that vary by less than this share are called almost constant.
const CONSTANT: f64 = 0.01;
/// Corpus series whose differences are looked at.
const PAIRS_OF: usize = 200;

impl Diagnostics {
    /// Looks at a corpus, its spectrum, its norm and its calibration scores.
    pub fn new(
        spectrum: &Spectrum,
        measure: Measure,
        corpus: &SeriesSet,
        calibrated: Option<&Calibrated>,
    ) -> Self {
        let (n, values) = (spectrum.count(), spectrum.eigenvalues());
        let mut found = Self {
            series: n,
            rank: spectrum.rank(),
            highest_rank: spectrum.highest_rank,
            kept_variance: spectrum.kept_variance(),
            covariance: Shape::new(n, values),
            regularised: Shape::new(n, &as_the_norm_sees(values, measure.norm, measure.alpha)),
            spread: spread(spectrum, measure),
            outside_others: median(outside_others(spectrum)),
            duplicates: duplicates(corpus),
            score_variation: calibrated.and_then(|c| variation(c.scores())),
            advice: Vec::new(),
        };
        found.advice = found.advise(spectrum, measure);
        found
    }

    fn advise(&self, spectrum: &Spectrum, measure: Measure) -> Vec<String> {
        let mut advice = Vec::new();
        let largest = spectrum.eigenvalues().first().copied().unwrap_or(0.0);
        if let Some(spread) = self.spread.filter(|s| *s < EQUIDISTANT) {
            let nearest = matches!(measure.distance, Distance::Conformance { .. });
            let so = if nearest { "so the nearest one says little: " } else { "" };
            let what = match regularisation_that_spreads(spectrum, measure) {
                Some(alpha) => {
                    format!("use more regularisation, such as alpha {alpha:.2e}, or give more series")
                }
                None => "another kernel or more series may help".into(),
            };
            advice.push(format!(
                "all corpus series are almost equidistant under this norm (their squared distances differ by {:.1}% of \
                 their mean), {so}{what}",
                100.0 * spread
            ));
        }
        if measure.norm != Norm::Exact && largest > 0.0 && measure.alpha > 100.0 * largest {
            advice.push(format!(
                "alpha {} is far above the largest eigenvalue {largest:.2e}: the norm hardly sees the corpus' shape; use \
                 less regularisation",
                measure.alpha
            ));
        }
        if self.kept_variance < 0.9 {
            advice.push(format!(
                "the kept eigenvectors carry {:.0}% of the variance only; raise the largest rank, or lower the \
                 eigenvalue threshold",
                100.0 * self.kept_variance
            ));
        }
        if !self.duplicates.is_empty() {
            let (first, copy) = self.duplicates[0];
            advice.push(format!(
                "{} of the corpus are equal to others after preparation (series {copy} to series {first}, for one): they \
                 count twice and make p-values too small; drop them",
                self.duplicates.len()
            ));
        }
        if self.rank > 0 && self.rank < self.highest_rank.min(self.series / 2) {
            advice.push(format!(
                "the corpus has rank {} where {} series could have {}: it lies in few directions, and anything outside \
                 them is told by outside_span",
                self.rank, self.series, self.highest_rank
            ));
        }
        if let Some(variation) = self.score_variation.filter(|v| *v < CONSTANT) {
            advice.push(format!(
                "the calibration scores are almost constant (they vary by {:.2}% of their mean): they order normal \
                 series by little more than chance; use more regularisation or another kernel",
                100.0 * variation
            ));
        }
        if self.outside_others > 0.5 && measure.norm != Norm::Envelope {
            let blind = match measure.norm {
                Norm::Exact => "the exact norm is infinite for almost any new series",
                _ => "the Tikhonov norm does not see that part",
            };
            advice.push(format!(
                "a normal series lies {:.0}% outside the span of the others, and {blind}; use the envelope norm",
                100.0 * self.outside_others
            ));
        }
        advice
    }
}

/// The relative spread of squared norms over pairs of corpus series.
fn spread(spectrum: &Spectrum, measure: Measure) -> Option<f64> {
    let n = spectrum.corpus_len();
    let weights = measure.weights(spectrum.eigenvalues());
    let chosen: Vec<usize> = (0..n).step_by(n.div_ceil(PAIRS_OF)).collect();
    let points: Vec<Vec<f64>> = chosen
        .iter()
        .map(|p| {
            weights.iter().enumerate().map(|(j, w)| w.sqrt() * spectrum.coordinates().get(j, *p)).collect()
        })
        .collect();
    let (mut low, mut high, mut sum, mut pairs) = (f64::INFINITY, 0.0f64, 0.0, 0.0);
    for (i, a) in points.iter().enumerate() {
        for b in &points[..i] {
            let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
            (low, high, sum, pairs) = (low.min(square), high.max(square), sum + square, pairs + 1.0);
        }
    }
    (sum > 0.0).then(|| (high - low) / (sum / pairs))
}

/// The least of some regularisations under which corpus series are no longer almost equidistant.
fn regularisation_that_spreads(spectrum: &Spectrum, measure: Measure) -> Option<f64> {
    let largest = *spectrum.eigenvalues().first()?;
    let norm = if measure.norm == Norm::Exact { Norm::Envelope } else { measure.norm };
    let enough = |alpha: &f64| {
        spread(spectrum, Measure { norm, alpha: *alpha, ..measure }).is_some_and(|s| s > 2.0 * EQUIDISTANT)
    };
    let start = if measure.norm == Norm::Exact { 0.0 } else { measure.alpha };
    (-6..=1).map(|e| largest * 10f64.powi(e)).filter(|a| *a > start).find(enough)
}

/// For each corpus series the share of its squared distance from the others' mean that lies outside their span. Where
/// leaving it out lowers the rank (its leverage is full), the squared distance from the span is
/// `N^2 / sum_j (c_j / lambda_j)^2`; else it lies inside.
fn outside_others(spectrum: &Spectrum) -> Vec<f64> {
    let n = spectrum.count() as f64;
    let share = |p: usize| {
        let (mut leverage, mut inverse, mut square) = (0.0, 0.0, 0.0);
        for (j, value) in spectrum.eigenvalues().iter().enumerate() {
            let c = spectrum.coordinates().get(j, p);
            leverage += c * c / value;
            inverse += (c / value).powi(2);
            square += c * c;
        }
        let whole = square * (n / (n - 1.0)).powi(2);
        let full = leverage >= (n - 1.0) * (1.0 - 1e-7);
        if full && whole > 0.0 { (n * n / inverse / whole).min(1.0) } else { 0.0 }
    };
    (0..spectrum.corpus_len()).map(share).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Series equal to an earlier one, bit by bit.
fn duplicates(corpus: &SeriesSet) -> Vec<(usize, usize)> {
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut found = Vec::new();
    for (at, series) in corpus.iter().enumerate() {
        let bits = series.values().iter().map(|v| v.to_bits()).collect();
        let first = *seen.entry(bits).or_insert(at);
        if first != at {
            found.push((first, at));
        }
    }
    found
}

/// Standard deviation over mean of the finite scores.
fn variation(scores: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = scores.iter().copied().filter(|s| s.is_finite()).collect();
    let n = finite.len() as f64;
    let mean = finite.iter().sum::<f64>() / n;
    let variance = finite.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
    (finite.len() > 2 && mean > 0.0).then(|| variance.sqrt() / mean)
}
