//! Laws that can be written down: sums of weighted chi-squares, and Gaussians with a known spectrum.
//!
//! Under a Gaussian corpus a squared regularised Mahalanobis score is `sum w_j chi2_1` (paper, theoremGaussianDistribution), with
//! `w = (lambda/(lambda+alpha))^2` for the Tikhonov norm, `lambda/(lambda+alpha)` for the envelope and 1 for the
//! exact one. [`WeightedChiSquare`] has its survival function and quantiles; [`Gaussian`] draws from such a law and
//! knows its norms exactly.

mod contour;
mod cumulants;
mod population;

pub use population::{Gaussian, NormalNumbers};

use crate::error::{Error, Result};
use crate::norm::Norm;
use cumulants::Cumulants;

/// The law of `sum w_j chi2_{m_j}` for positive weights and positive (not necessarily whole) multiplicities.
///
/// ```
/// use varnorm::law::WeightedChiSquare;
/// let law = WeightedChiSquare::new(&[1.0, 1.0]).unwrap();
/// // Two equal weights: an exponential law.
/// assert!((law.survival(9.0) - (-4.5f64).exp()).abs() < 1e-15);
/// assert!((law.quantile(0.05).unwrap() + 2.0 * 0.05f64.ln()).abs() < 1e-11);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedChiSquare {
    cumulants: Cumulants,
    /// The largest weight: everything is computed in its units.
    scale: f64,
}

impl WeightedChiSquare {
    /// From the weights, in any order; zeros are left out.
    pub fn new(weights: &[f64]) -> Result<Self> {
        Self::with_multiplicities(&weights.iter().map(|w| (*w, 1.0)).collect::<Vec<_>>())
    }

    /// From pairs of a weight and the degrees of freedom that carry it.
    pub fn with_multiplicities(terms: &[(f64, f64)]) -> Result<Self> {
        if let Some((w, m)) = terms.iter().find(|(w, m)| !(*w >= 0.0 && *m >= 0.0 && (w * m).is_finite())) {
            let rule = "weights and degrees of freedom must be finite and not negative";
            return Err(Error::bad_param("weights", format!("{w} (times {m})"), rule));
        }
        let mut terms: Vec<(f64, f64)> = terms.iter().copied().filter(|(w, m)| w * m > 0.0).collect();
        terms.sort_by(|a, b| b.0.total_cmp(&a.0));
        let scale = terms.first().map_or(1.0, |t| t.0);
        terms.iter_mut().for_each(|t| t.0 /= scale);
        terms.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        Ok(Self { cumulants: Cumulants::new(&terms), scale })
    }

    /// The law of a squared Mahalanobis score of a new element, when the corpus is Gaussian with this spectrum.
    ///
    /// `rest` is the variance beyond the given eigenvalues. The envelope norm sees it: it is taken as carried by
    /// eigenvalues as large as the smallest given one, which is the widest law that it can have.
    pub fn of_norm(eigenvalues: &[f64], rest: f64, norm: Norm, alpha: f64) -> Result<Self> {
        let mut terms: Vec<(f64, f64)> =
            eigenvalues.iter().map(|value| (norm.seen(*value, alpha), 1.0)).collect();
        if let Some(last) = eigenvalues.last()
            && norm == Norm::Envelope
            && rest > 0.0
        {
            terms.push((last / alpha, rest / last));
        }
        Self::with_multiplicities(&terms)
    }

    /// The mean, `sum w_j`.
    pub fn mean(&self) -> f64 {
        self.scale * self.cumulants.mean()
    }

    /// The variance, `2 sum w_j^2`.
    pub fn variance(&self) -> f64 {
        self.scale * self.scale * self.cumulants.variance()
    }

    /// `P(Q > x)`: the p-value of an observed x. Relative error about 1e-11 down to the smallest numbers.
    pub fn survival(&self, x: f64) -> f64 {
        let (tail, value) = self.smaller_tail(x);
        if tail == Tail::Upper { value } else { 1.0 - value }
    }

    /// `P(Q <= x)`, with the same relative accuracy in the lower tail.
    pub fn distribution(&self, x: f64) -> f64 {
        let (tail, value) = self.smaller_tail(x);
        if tail == Tail::Lower { value } else { 1.0 - value }
    }

    /// The tail that x lies in, and its probability.
    fn smaller_tail(&self, x: f64) -> (Tail, f64) {
        let x = x / self.scale;
        let mean = self.cumulants.mean();
        match x {
            x if x.is_nan() => (Tail::Upper, f64::NAN),
            // Nothing is below zero; a law without weights is the point zero.
            x if x < 0.0 => (Tail::Lower, 0.0),
            _ if mean == 0.0 => (Tail::Upper, 0.0),
            0.0 => (Tail::Lower, 0.0),
            x if x.is_infinite() => (Tail::Upper, 0.0),
            x => {
                let tail = if x > mean { Tail::Upper } else { Tail::Lower };
                (tail, contour::tail_probability(&self.cumulants, x, tail).clamp(0.0, 1.0))
            }
        }
    }

    /// The x with `P(Q > x) = p`, for p strictly between 0 and 1.
    pub fn quantile(&self, p: f64) -> Result<f64> {
        if !(p > 0.0 && p < 1.0) {
            return Err(Error::bad_param("p", p, "must be a probability strictly between 0 and 1"));
        }
        if self.cumulants.mean() == 0.0 {
            return Ok(0.0);
        }
        // In logarithms, on the side where the probability is small, so that no digit is lost.
        let upper = p < self.survival(self.mean());
        let target = if upper { p.ln() } else { (1.0 - p).ln() };
        let gap = |ln_x: f64| {
            let x = ln_x.exp();
            if upper { target - self.survival(x).ln() } else { self.distribution(x).ln() - target }
        };
        let (mut low, mut high) = (self.mean().ln(), self.mean().ln());
        let mut step = 0.5;
        while upper && gap(high) < 0.0 {
            (low, high, step) = (high, high + step, 2.0 * step);
        }
        while !upper && gap(low) > 0.0 {
            (low, high, step) = (low - step, low, 2.0 * step);
        }
        Ok(root(gap, low, high).exp())
    }
}

/// Which side of the law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Above x.
    Upper,
    /// Below x.
    Lower,
}

/// The zero of a rising function between two points, by the Illinois variant of false position.
pub(crate) fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    for round in 0..200 {
        if at_low >= 0.0 {
            return low;
        }
        if at_high <= 0.0 {
            return high;
        }
        // Infinite ends (the logarithm of zero) and slow progress are met by halving.
        let slope = at_high - at_low;
        let guess = if slope.is_finite() && round % 8 != 7 {
            low - at_low * (high - low) / slope
        } else {
            0.5 * (low + high)
        };
        let middle = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
        let value = f(middle);
        if value == 0.0 || (high - low) <= 4.0 * f64::EPSILON * low.abs().max(high.abs()) {
            return middle;
        }
        if value < 0.0 {
            (low, at_low, at_high) = (middle, value, 0.5 * at_high);
        } else {
            (high, at_high, at_low) = (middle, value, 0.5 * at_low);
        }
    }
    0.5 * (low + high)
}
