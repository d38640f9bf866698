//! A law for the largest calibration scores, so that p-values below `1 / (n + 1)` exist.
//!
//! *Assumption*: scores of normal series above a high threshold u follow a generalised Pareto law,
//! `P(s > u + y | s > u) = (1 + shape y / scale)^(-1/shape)`. That is the limit for most laws (Pickands, Balkema and de
//! Haan), and nothing guarantees that n scores are near it. [`TailCheck`] tests the fit and cannot prove it.
//!
//! Probability-weighted moments (Hosking and Wallis, 1987) fit shape and scale; a shape below 0, which would make p-values
//! zero beyond an end, is taken as 0 (the exponential law).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

/// What p-values are made of beyond the calibration scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// The calibration scores alone: nothing is assumed, and no p-value is below `1 / (n + 1)`.
    #[default]
    None,
    /// A generalised Pareto law, fitted to the largest of them: an assumption.
    Gpd,
}

const TAILS: Vocabulary = Vocabulary::names("tail", "a tail", Tail::WORDS);

spelled!(Tail, TAILS);

impl Tail {
    /// Every tail, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("none", "P-values by comparison alone: at least 1/(n+1)"),
        Word::new(
            "gpd",
            "A generalised Pareto law for the largest normal scores, an assumption that is tested",
        ),
    ];
}

/// The share of the scores that a tail is fitted to, and how few they may be.
const SHARE: f64 = 0.25;
const FEWEST: usize = 10;
/// Largest shape: heavier tails have no variance, and so few scores cannot tell.
const MOST_SHAPE: f64 = 0.5;
/// Samples of the fitted law that the fit is compared with.
const SAMPLES: usize = 400;
/// A fit with a p-value below this is not trusted.
const TRUSTED: f64 = 0.05;

/// A generalised Pareto law of what exceeds a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FittedTail {
    /// The score above which it holds.
    pub above: f64,
    /// 0 for the exponential law, larger for heavier tails.
    pub shape: f64,
    /// The scale of what exceeds.
    pub scale: f64,
    /// Calibration scores above.
    pub exceedances: usize,
    /// All calibration scores.
    pub scores: usize,
}

/// Whether the calibration scores contradict the law that was fitted to them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TailCheck {
    /// What was fitted.
    #[serde(flatten)]
    pub tail: FittedTail,
    /// The share of samples of the fitted law, fitted again, that lie farther from their fit (Cramer-von Mises).
    pub p_value: f64,
    /// Whether that share is at least 0.05. It says that nothing speaks against the law, not that it holds.
    pub trusted: bool,
}

impl FittedTail {
    /// From calibration scores, ascending.
    pub(crate) fn new(scores: &[f64]) -> Result<Self> {
        let n = scores.len();
        let count = ((SHARE * n as f64) as usize).max(FEWEST);
        if n < 2 * FEWEST {
            return Err(Error::TooFew {
                what: "a fitted tail (tail gpd)".into(),
                needed: 2 * FEWEST,
                found: n,
                advice: "give more normal series, or tail none".into(),
            });
        }
        let above = scores[n - count - 1];
        let excess: Vec<f64> = scores[n - count..].iter().map(|s| s - above).collect();
        if excess.iter().any(|e| !e.is_finite()) || excess.iter().sum::<f64>() <= 0.0 {
            let rule = "the largest normal scores are infinite or all equal: no law fits them; use tail none";
            return Err(Error::bad_param("tail", "gpd", rule));
        }
        let (shape, scale) = fitted(&excess);
        Ok(Self { above, shape, scale, exceedances: count, scores: n })
    }

    /// The share of the calibration scores above, as a conformal p-value counts them.
    fn share(&self) -> f64 {
        (self.exceedances + 1) as f64 / (self.scores + 1) as f64
    }

    /// The p-value of a score above [`FittedTail::above`]; `None` of others, which are compared with the scores.
    pub(crate) fn p_value(&self, score: f64) -> Option<f64> {
        let excess = score - self.above;
        (excess > 0.0).then(|| self.share() * survival(self.shape, excess / self.scale))
    }

    /// The score with this p-value, where it lies above.
    pub(crate) fn threshold(&self, level: f64) -> Option<f64> {
        let ratio = self.share() / level;
        let excess = if self.shape > 0.0 { (ratio.powf(self.shape) - 1.0) / self.shape } else { ratio.ln() };
        (ratio > 1.0).then_some(self.above + self.scale * excess)
    }

    /// Compares the fit with fits to samples of the law itself.
    pub(crate) fn check(&self, scores: &[f64]) -> TailCheck {
        let excess: Vec<f64> =
            scores[self.scores - self.exceedances..].iter().map(|s| s - self.above).collect();
        let observed = distance(&excess, (self.shape, self.scale));
        let mut generator = ChaCha8Rng::seed_from_u64(0);
        let farther = (0..SAMPLES)
            .filter(|_| {
                let mut sample: Vec<f64> = (0..excess.len())
                    .map(|_| {
                        let u = ((generator.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
                        let y =
                            if self.shape > 0.0 { (u.powf(-self.shape) - 1.0) / self.shape } else { -u.ln() };
                        self.scale * y
                    })
                    .collect();
                sample.sort_by(f64::total_cmp);
                distance(&sample, fitted(&sample)) >= observed
            })
            .count();
        let p_value = (1 + farther) as f64 / (1 + SAMPLES) as f64;
        TailCheck { tail: *self, p_value, trusted: p_value >= TRUSTED }
    }
}

/// `P(y > x)` for unit scale.
fn survival(shape: f64, x: f64) -> f64 {
    if shape > 0.0 { (1.0 + shape * x).powf(-1.0 / shape) } else { (-x).exp() }
}

/// Shape and scale by probability-weighted moments of ascending numbers.
fn fitted(excess: &[f64]) -> (f64, f64) {
    let count = excess.len() as f64;
    let mean = excess.iter().sum::<f64>() / count;
    let weighted = excess.iter().enumerate().map(|(i, y)| (1.0 - (i as f64 + 0.65) / count) * y).sum::<f64>();
    let moment = weighted / count;
    let gap = mean - 2.0 * moment;
    let shape = if gap > 0.0 { 2.0 - mean / gap } else { 0.0 };
    // The mean of the law is scale / (1 - shape).
    let shape = shape.clamp(0.0, MOST_SHAPE);
    (shape, mean * (1.0 - shape))
}

/// The Cramer-von Mises distance of ascending numbers from a law.
fn distance(excess: &[f64], (shape, scale): (f64, f64)) -> f64 {
    let count = excess.len() as f64;
    let part = |(i, y): (usize, &f64)| {
        let expected = 1.0 - survival(shape, y / scale);
        (expected - (i as f64 + 0.5) / count).powi(2)
    };
    excess.iter().enumerate().map(part).sum::<f64>() + 1.0 / (12.0 * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::NormalNumbers;
    use crate::random::Normal;

    fn draw(seed: u64, count: usize, law: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut numbers = NormalNumbers::new(seed);
        let mut scores: Vec<f64> = (0..count).map(|_| law(numbers.uniform())).collect();
        scores.sort_by(f64::total_cmp);
        scores
    }

    #[test]
    fn tails_that_are_pareto_are_found_and_trusted() {
        for (shape, law) in
            [(0.0, &(|u: f64| -u.ln()) as &dyn Fn(f64) -> f64), (0.3, &|u: f64| (u.powf(-0.3) - 1.0) / 0.3)]
        {
            let scores = draw(5, 4000, law);
            let tail = FittedTail::new(&scores).unwrap();
            assert!((tail.shape - shape).abs() < 0.1, "{tail:?}");
            // P-values far beyond the scores are of the right size.
            let truth = |p: f64| law(p);
            for p in [1e-2, 1e-4, 1e-6] {
                let found = tail.p_value(truth(p)).unwrap();
                assert!(found > 0.1 * p && found < 10.0 * p, "{shape} {p} {found}");
                assert!((tail.p_value(tail.threshold(p).unwrap()).unwrap() / p - 1.0).abs() < 1e-9);
            }
            assert!(tail.check(&scores).trusted);
            assert_eq!(tail.p_value(tail.above), None);
            assert_eq!(tail.threshold(0.5), None);
        }
    }

    #[test]
    fn right_laws_are_refused_as_seldom_as_promised_and_wrong_ones_mostly() {
        let refused = |law: &dyn Fn(f64) -> f64| {
            (0..100)
                .filter(|seed| {
                    let scores = draw(*seed, 400, law);
                    !FittedTail::new(&scores).unwrap().check(&scores).trusted
                })
                .count()
        };
        let right = refused(&|u| -u.ln());
        // Two lumps: a tenth of the scores lies far above the others.
        let wrong = refused(&|u| if u < 0.1 { 100.0 + u } else { u });
        assert!(right <= 12 && wrong >= 90, "{right} {wrong}");
    }

    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        // Normal scores: 60 of them know nothing about one in a thousand but by the law.
        let (mut alarms, mut all) = (0, 0);
        for seed in 0..200 {
            let mut numbers = Normal::new(seed);
            let mut scores: Vec<f64> = numbers.by_ref().take(60).map(f64::exp).collect();
            scores.sort_by(f64::total_cmp);
            let threshold = FittedTail::new(&scores).unwrap().threshold(0.005).unwrap();
            alarms += numbers.by_ref().take(500).map(f64::exp).filter(|s| *s > threshold).count();
            all += 500;
        }
        let rate = alarms as f64 / f64::from(all);
        assert!(rate < 0.01, "{rate}");
    }

    #[test]
    fn what_no_law_fits_is_refused() {
        assert!(FittedTail::new(&[1.0; 19]).unwrap_err().to_string().contains("20"));
        assert!(FittedTail::new(&[1.0; 40]).unwrap_err().to_string().contains("equal"));
        assert!(FittedTail::new(&[f64::INFINITY; 40]).is_err());
    }
}
