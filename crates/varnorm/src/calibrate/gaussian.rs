//! Whether a corpus is near enough to Gaussian for the Gaussian law to be trusted.

use serde::Serialize;

use crate::law::WeightedChiSquare;

/// The Gaussian law beside scores of normal series that the model has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GaussianCheck {
    /// Scores compared.
    pub scores: usize,
    /// The level at which the law's own threshold was tried.
    pub level: f64,
    /// Share of those scores above that threshold; near the level where the law holds.
    pub observed_rate: f64,
    /// The most that chance would make of it, once in a hundred times.
    pub highest_rate: f64,
    /// The largest gap between the law and the scores' own distribution (Kolmogorov and Smirnov).
    pub largest_gap: f64,
    /// The gap that chance would make once in a hundred times.
    pub highest_gap: f64,
    /// Whether neither is beyond chance.
    pub trusted: bool,
}

impl GaussianCheck {
    /// Compares; `scores` are cross-fitted, `law` is that of their squares.
    pub fn new(law: &WeightedChiSquare, scores: &[f64], level: f64) -> Self {
        let n = scores.len().max(1) as f64;
        let mut p_values: Vec<f64> = scores.iter().map(|s| law.survival(s * s)).collect();
        p_values.sort_by(f64::total_cmp);
        let gap = |(i, p): (usize, &f64)| (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs());
        let largest_gap = p_values.iter().enumerate().map(gap).fold(0.0, f64::max);
        let observed_rate = p_values.iter().filter(|p| **p <= level).count() as f64 / n;
        let highest_rate = binomial_bound(scores.len(), level) as f64 / n;
        let highest_gap = 1.63 / n.sqrt();
        Self {
            scores: scores.len(),
            level,
            observed_rate,
            highest_rate,
            largest_gap,
            highest_gap,
            trusted: observed_rate <= highest_rate && largest_gap <= highest_gap,
        }
    }

    /// In a sentence, with what to do.
    pub fn in_words(&self) -> String {
        let seen = format!(
            "of {} cross-fitted normal scores {:.1}% are above the Gaussian threshold for {:.1}%, and the largest gap \
             between law and scores is {:.2} (chance: up to {:.1}% and {:.2})",
            self.scores,
            100.0 * self.observed_rate,
            100.0 * self.level,
            self.largest_gap,
            100.0 * self.highest_rate,
            self.highest_gap
        );
        match self.trusted {
            true => format!("the Gaussian law fits: {seen}"),
            false => format!(
                "the corpus is too small or too far from Gaussian for the Gaussian law to be trusted: {seen}; use the \
                 conformal calibration cross_fit"
            ),
        }
    }
}

/// The smallest count that a binomial variable exceeds with probability below one in a hundred.
pub(crate) fn binomial_bound(n: usize, p: f64) -> usize {
    let mut term = (n as f64 * (-p).ln_1p()).exp();
    let mut sum = term;
    let mut k = 0;
    while sum < 0.99 && k < n {
        term *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        sum += term;
        k += 1;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::NormalNumbers;

    #[test]
    fn tells_the_law_from_another() {
        let law = WeightedChiSquare::new(&[1.0, 0.5, 0.25, 0.125]).unwrap();
        let mut numbers = NormalNumbers::new(3);
        let mut draw = |heavy: bool| -> f64 {
            let tail = if heavy { 1.0 / numbers.uniform().powf(0.4) } else { 1.0 };
            let square: f64 = [1.0, 0.5, 0.25, 0.125].iter().map(|w| w * numbers.next().powi(2)).sum();
            tail * square.sqrt()
        };
        let own: Vec<f64> = (0..200).map(|_| draw(false)).collect();
        let other: Vec<f64> = (0..200).map(|_| draw(true)).collect();
        let (fits, fails) = (GaussianCheck::new(&law, &own, 0.05), GaussianCheck::new(&law, &other, 0.05));
        assert!(fits.trusted && fits.in_words().starts_with("the Gaussian law fits"), "{fits:?}");
        assert!(!fails.trusted && fails.in_words().contains("use the conformal"), "{fails:?}");
    }

    #[test]
    fn binomial_bounds() {
        // P(B(20, 0.05) > 3) = 0.0159, P(B(20, 0.05) > 4) = 0.0026.
        assert_eq!(binomial_bound(20, 0.05), 4);
        assert_eq!(binomial_bound(1, 0.05), 1);
    }
}
