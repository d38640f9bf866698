//! The three variance norms, written down once: what a squared coordinate counts, and what lies outside the span.
//!
//! Squared norms of a difference z with coordinates `z_j` in the eigenvectors of the covariance and squared length
//! `|z|^2` (MATH: section 1):
//!
//! | norm | inside the span of the kept eigenvectors | outside |
//! |---|---|---|
//! | exact | `sum z_j^2 / lambda_j` | infinite |
//! | tikhonov | `sum lambda_j / (lambda_j + alpha)^2 z_j^2` | nothing |
//! | envelope | `sum z_j^2 / (lambda_j + alpha)` | `(|z|^2 - sum z_j^2) / alpha` |

use serde::{Deserialize, Serialize};

use crate::words::{Vocabulary, Word, spelled};

/// Which variance norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// The true variance norm: infinite outside the corpus' span.
    Exact,
    /// The paper's regularised norm: blind outside the corpus' span.
    Tikhonov,
    /// The value of the paper's own minimisation problem: sees inside and outside of the span.
    #[default]
    Envelope,
}

const NORMS: Vocabulary = Vocabulary::names("norm", "a norm", Norm::WORDS);

spelled!(Norm, NORMS);

impl Norm {
    /// Every norm, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("exact", "The true variance norm: infinite outside the span of the normal series"),
        Word::new("tikhonov", "The published regularised norm: blind outside the span"),
        Word::new("envelope", "Sees inside and outside of the span"),
    ];

    /// What the squared coordinate in the direction of an eigenvalue counts.
    pub fn weight(self, eigenvalue: f64, alpha: f64) -> f64 {
        match self {
            Self::Exact => 1.0 / eigenvalue,
            Self::Tikhonov => eigenvalue / (eigenvalue + alpha).powi(2),
            Self::Envelope => 1.0 / (eigenvalue + alpha),
        }
    }

    /// The eigenvalue of the covariance as the norm sees it, `K_alpha`: the weight times the eigenvalue.
    pub fn seen(self, eigenvalue: f64, alpha: f64) -> f64 {
        match self {
            Self::Exact => 1.0,
            Self::Tikhonov => (eigenvalue / (eigenvalue + alpha)).powi(2),
            Self::Envelope => eigenvalue / (eigenvalue + alpha),
        }
    }

    /// What the squared length outside the span adds. Under the exact norm up to `off_span` of it counts as rounding.
    pub(crate) fn outside(self, alpha: f64, off_span: f64) -> Outside {
        match self {
            Self::Exact => Outside::InfiniteBeyond(off_span),
            Self::Tikhonov => Outside::Nothing,
            Self::Envelope => Outside::Over(alpha),
        }
    }
}

/// What the squared length outside the span of the kept eigenvectors adds to a squared norm.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outside {
    /// The norm is blind there.
    Nothing,
    /// The length over alpha.
    Over(f64),
    /// Infinity, beyond what rounding explains.
    InfiniteBeyond(f64),
}

impl Outside {
    /// The squared norm, from what counts inside the span and the squared length outside of it.
    #[inline(always)]
    pub(crate) fn add(self, inside: f64, outside: f64) -> f64 {
        match self {
            Self::Nothing => inside,
            Self::Over(alpha) => inside + outside.max(0.0) / alpha,
            Self::InfiniteBeyond(limit) if outside > limit => f64::INFINITY,
            Self::InfiniteBeyond(_) => inside,
        }
    }

    /// The factor of the squared length outside, where it is finite: for loops that multiply.
    pub(crate) fn factor(self) -> f64 {
        match self {
            Self::Over(alpha) => 1.0 / alpha,
            Self::Nothing | Self::InfiniteBeyond(_) => 0.0,
        }
    }
}

/// Regularisation left to the corpus, as a share of the trace of its covariance: a number without a unit means the same
/// for every kernel.
pub const AUTO_ALPHA: f64 = 0.01;

/// `alpha` where it is left to the corpus. A corpus without variance, to rounding, has the scale of its series, or none.
pub fn auto_alpha(variance: f64, mean_square: f64) -> f64 {
    let alpha = match (variance > 1e-12 * mean_square, mean_square > 0.0) {
        (true, _) => AUTO_ALPHA * variance,
        (false, true) => 1e-6 * mean_square,
        (false, false) => 1.0,
    };
    if alpha.is_finite() { alpha.max(f64::MIN_POSITIVE) } else { f64::MAX }
}

/// Effective dimension `tr(K)^2 / |K|_HS^2` of an operator with these eigenvalues (paper, defEffectiveDimensionAndRank).
pub fn effective_dimension(eigenvalues: &[f64]) -> f64 {
    let (sum, squares) = eigenvalues.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// Effective rank `tr(K) / |K|_op` of an operator with these eigenvalues (paper, defEffectiveDimensionAndRank).
pub fn effective_rank(eigenvalues: &[f64]) -> f64 {
    let largest = eigenvalues.iter().fold(0.0, |m: f64, v| m.max(*v));
    if largest > 0.0 { eigenvalues.iter().sum::<f64>() / largest } else { 0.0 }
}
