//! From scores to decisions: p-values, thresholds and flags with a stated false-alarm rate.
//!
//! A [`Calibration`] says how normal scores are obtained that the model has not been fitted on; a [`Calibrated`]
//! holds them and turns a new score into a p-value.

mod drift;
mod fdr;
mod folds;
mod gaussian;
mod online;
mod supervised;
mod tail;

pub use drift::{DRIFT_ALARM, Drift, DriftState};
pub use fdr::{benjamini_hochberg, normal_share, storey};
pub use folds::{holdout, k_folds};
pub use gaussian::GaussianCheck;
pub use online::Lord;
pub use supervised::{Chosen, Objective, choose_threshold};
pub use tail::{FittedTail, Tail, TailCheck};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

/// How normal scores for comparison are obtained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Calibration {
    /// Leave-one-out where all pairs are kept, else cross-fitting with [`Calibration::COMPACT_FOLDS`] folds.
    Auto {},
    /// Not at all: scores only, no p-values, no flags.
    None {},
    /// The empirical quantile of a held-out part of the corpus is the threshold.
    Quantile {
        /// Share of the corpus that is held out.
        #[serde(default = "default_holdout")]
        holdout: f64,
        /// Chooses the part.
        #[serde(default)]
        seed: u64,
    },
    /// Split conformal: p-values from a held-out part of the corpus.
    Split {
        /// Share of the corpus that is held out.
        #[serde(default = "default_holdout")]
        holdout: f64,
        /// Chooses the part.
        #[serde(default)]
        seed: u64,
    },
    /// Cross-fitting: each fold is scored by the whole pipeline refitted on the others; the model itself uses all.
    CrossFit {
        /// Number of folds.
        #[serde(default = "default_folds")]
        folds: usize,
        /// Chooses the folds.
        #[serde(default)]
        seed: u64,
    },
    /// Each series is scored by the model without it. Preparation and `auto` parameters stay those of all series;
    /// mean, covariance and neighbours do not contain it.
    LeaveOneOut {},
    /// The law of the score for a Gaussian corpus; Mahalanobis distance only. Cross-fitted scores are kept beside
    /// it, to tell whether it can be trusted.
    Gaussian {
        /// Number of folds of the check.
        #[serde(default = "default_folds")]
        folds: usize,
        /// Chooses the folds.
        #[serde(default)]
        seed: u64,
    },
    /// The threshold that is best on cross-fitted scores of the corpus and of labelled outliers.
    Supervised {
        /// Best in what.
        #[serde(default)]
        objective: Objective,
        /// Cost of a false alarm, for the objective `cost`.
        #[serde(default = "unit_cost")]
        false_alarm_cost: f64,
        /// Cost of a missed outlier, for the objective `cost`.
        #[serde(default = "unit_cost")]
        miss_cost: f64,
        /// Number of folds.
        #[serde(default = "default_folds")]
        folds: usize,
        /// Chooses the folds.
        #[serde(default)]
        seed: u64,
    },
    /// A threshold that the user gives. Cross-fitted scores say which false-alarm rate it has.
    Fixed {
        /// Scores above are flagged.
        threshold: f64,
        /// Number of folds.
        #[serde(default = "default_folds")]
        folds: usize,
        /// Chooses the folds.
        #[serde(default)]
        seed: u64,
    },
}

fn unit_cost() -> f64 {
    1.0
}

fn default_holdout() -> f64 {
    0.3
}

fn default_folds() -> usize {
    5
}

impl Default for Calibration {
    fn default() -> Self {
        Self::Auto {}
    }
}

impl Calibration {
    /// Folds of a compact model where the calibration is left to the model.
    pub const COMPACT_FOLDS: usize = 10;

    /// With `auto` resolved, for a model of all pairs or a compact one.
    pub(crate) fn resolved(self, all_pairs: bool) -> Self {
        match self {
            Self::Auto {} if all_pairs => Self::LeaveOneOut {},
            Self::Auto {} => Self::CrossFit { folds: Self::COMPACT_FOLDS, seed: 0 },
            chosen => chosen,
        }
    }

    /// Every method, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("auto", "Leave-one-out, or cross-fitting where not all pairs are kept"),
        Word::new("none", "Scores only, no p-values and no flags"),
        Word::new("quantile", "The quantile of held-out normal scores is the threshold")
            .with(&["holdout", "seed"], "quantile:holdout=0.3,seed=0"),
        Word::new("split", "P-values from held-out normal series")
            .with(&["holdout", "seed"], "split:holdout=0.3,seed=0"),
        Word::new("cross_fit", "P-values from folds, each scored by a model of the others")
            .with(&["folds", "seed"], "cross_fit:folds=5,seed=0"),
        Word::new("leave_one_out", "P-values from models without one series each"),
        Word::new("gaussian", "P-values from the law of the score for a Gaussian corpus")
            .with(&["folds", "seed"], "gaussian"),
        Word::new("supervised", "The threshold that is best for labelled outliers").with(
            &["objective", "false_alarm_cost", "miss_cost", "folds", "seed"],
            "supervised:objective=f1 (or youden, or cost with false_alarm_cost=1,miss_cost=10)",
        ),
        Word::new("fixed", "A threshold that the user gives")
            .with(&["threshold", "folds", "seed"], "fixed:threshold=3"),
    ];

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Quantile { holdout, .. } | Self::Split { holdout, .. }
                if !(0.0..1.0).contains(holdout) || *holdout == 0.0 =>
            {
                Err(Error::bad_param("holdout", holdout, "must be a share between 0 and 1"))
            }
            Self::CrossFit { folds, .. }
            | Self::Gaussian { folds, .. }
            | Self::Supervised { folds, .. }
            | Self::Fixed { folds, .. }
                if *folds < 2 =>
            {
                Err(Error::bad_param("folds", folds, "must be at least 2"))
            }
            Self::Supervised { false_alarm_cost: a, miss_cost: b, .. }
                if !(*a > 0.0 && *b > 0.0 && (a + b).is_finite()) =>
            {
                Err(Error::bad_param("costs", format!("{a}, {b}"), "must be positive numbers"))
            }
            Self::Fixed { threshold, .. } if !(*threshold >= 0.0 && threshold.is_finite()) => {
                Err(Error::bad_param("threshold", threshold, "must be a score: zero or a positive number"))
            }
            _ => Ok(()),
        }
    }

    /// Whether flags come from a threshold on the score alone, whatever the decision rule.
    pub fn flags_by_score(&self) -> bool {
        matches!(self, Self::Quantile { .. } | Self::Supervised { .. } | Self::Fixed { .. })
    }
}

const CALIBRATIONS: Vocabulary =
    Vocabulary::tagged("calibration", "a calibration", "method", Calibration::WORDS);

impl std::str::FromStr for Calibration {
    type Err = Error;

    /// The method's name, with parameters as in `cross_fit:folds=10,seed=1`, or JSON.
    fn from_str(text: &str) -> Result<Self> {
        let read: Self = CALIBRATIONS.parse(text)?;
        read.validate()?;
        Ok(read)
    }
}

impl Calibration {
    /// Whether fitting needs labelled outliers.
    pub fn needs_outliers(&self) -> bool {
        matches!(self, Self::Supervised { .. })
    }
}

impl std::fmt::Display for Calibration {
    /// The form that is parsed; costs only where the objective uses them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let without: &[&str] = match self {
            Self::Supervised { objective: Objective::F1 | Objective::Youden, .. } => {
                &["false_alarm_cost", "miss_cost"]
            }
            _ => &[],
        };
        CALIBRATIONS.print(self, without, f)
    }
}

/// How flags are made from p-values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Each series on its own: flagged where p <= level. A share `level` of normal series is flagged.
    #[default]
    Each,
    /// Benjamini-Hochberg over the batch: of the flagged series at most a share `level` is normal, on average.
    BenjaminiHochberg,
    /// Storey's form of it: flags more where much of the batch is novel.
    Storey,
    /// LORD++ over the batch as a stream, in its order: the same bound at every moment, never looking ahead.
    Lord,
}

const DECISIONS: Vocabulary = Vocabulary::names("decision", "a decision", Decision::WORDS);

impl Decision {
    /// Every decision, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("each", "Each series on its own: that share of normal series is flagged"),
        Word::new(
            "benjamini_hochberg",
            "Over the whole batch: of the flagged series at most that share is normal",
        )
        .or(&["bh"]),
        Word::new("storey", "The same, flagging more where much of the batch is novel"),
        Word::new("lord", "The batch as a stream: of the flagged so far at most that share is normal"),
    ];
}

spelled!(Decision, DECISIONS);

/// How flags were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// No calibration, no flags.
    None,
    /// Score above the empirical quantile.
    Quantile,
    /// p-value at most the level, each series on its own.
    Each,
    /// Benjamini-Hochberg over the batch.
    BenjaminiHochberg,
    /// Storey's form of it.
    Storey,
    /// LORD++ over the batch as a stream.
    Lord,
    /// Score above the threshold that labelled outliers chose.
    Supervised,
    /// Score above the user's threshold.
    Fixed,
}

impl Rule {
    /// Whether a flag depends on the other series of the batch, so that no score is a threshold for every batch.
    pub fn is_over_a_batch(self) -> bool {
        matches!(self, Self::BenjaminiHochberg | Self::Storey | Self::Lord)
    }

    /// What a calibration and a decision come to.
    pub(crate) fn new(calibration: Calibration, decision: Decision) -> Self {
        match (calibration, decision) {
            (Calibration::None {}, _) => Self::None,
            (Calibration::Quantile { .. }, _) => Self::Quantile,
            (Calibration::Supervised { .. }, _) => Self::Supervised,
            (Calibration::Fixed { .. }, _) => Self::Fixed,
            (_, Decision::Each) => Self::Each,
            (_, Decision::BenjaminiHochberg) => Self::BenjaminiHochberg,
            (_, Decision::Storey) => Self::Storey,
            (_, Decision::Lord) => Self::Lord,
        }
    }
}

/// Scores of normal series that the model was not fitted on, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    scores: Vec<f64>,
    /// The law of the largest of them, where one is assumed.
    tail: Option<FittedTail>,
}

impl Calibrated {
    /// From scores in any order.
    pub fn new(mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        Self { scores, tail: None }
    }

    /// The same with a law for the largest scores, where one is asked for.
    pub fn with_tail(self, tail: Tail) -> Result<Self> {
        let tail = match tail {
            Tail::None => None,
            Tail::Gpd => Some(FittedTail::new(&self.scores)?),
        };
        Ok(Self { tail, ..self })
    }

    /// Whether the scores contradict the law of the largest of them, where one is assumed.
    pub fn tail_check(&self) -> Option<TailCheck> {
        self.tail.map(|tail| tail.check(&self.scores))
    }

    /// The scores, ascending.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The conformal p-value `(1 + #{calibration >= score}) / (n + 1)`; in a fitted tail, that of its law.
    pub fn p_value(&self, score: f64) -> f64 {
        if let Some(p) = self.tail.and_then(|tail| tail.p_value(score)) {
            return p;
        }
        let below = self.scores.partition_point(|s| *s < score);
        (1 + self.scores.len() - below) as f64 / (self.scores.len() + 1) as f64
    }

    /// The smallest p-value that these scores can give: 0 with a fitted tail.
    pub fn smallest_p_value(&self) -> f64 {
        if self.tail.is_some() { 0.0 } else { 1.0 / (self.scores.len() + 1) as f64 }
    }

    /// The score above which p <= level: the `ceil((n+1)(1-level))`-th smallest; infinite where n is too small.
    pub fn conformal_threshold(&self, level: f64) -> f64 {
        if let Some(threshold) = self.tail.and_then(|tail| tail.threshold(level)) {
            return threshold;
        }
        let n = self.scores.len();
        // p <= level asks for at most floor(level (n+1)) - 1 calibration scores at or above.
        let allowed = (level * (n + 1) as f64 + 1e-9).floor() as usize;
        match allowed {
            0 => f64::INFINITY,
            _ => n.checked_sub(allowed).map_or(f64::NEG_INFINITY, |at| self.scores[at]),
        }
    }

    /// The largest false-alarm rate `k / (n + 1)` up to this level: what the conformal threshold really aims at.
    pub fn attainable_rate(&self, level: f64) -> f64 {
        if self.tail.is_some_and(|tail| tail.threshold(level).is_some()) {
            return level;
        }
        let n = self.scores.len();
        ((level * (n + 1) as f64 + 1e-9).floor() / (n + 1) as f64).min(1.0)
    }

    /// The empirical quantile at `1 - level`, by linear interpolation between order statistics.
    pub fn quantile_threshold(&self, level: f64) -> f64 {
        let Some(last) = self.scores.len().checked_sub(1) else { return f64::INFINITY };
        let position = (1.0 - level).clamp(0.0, 1.0) * last as f64;
        let left = (position.floor() as usize).min(last);
        let (a, b) = (self.scores[left], self.scores[(left + 1).min(last)]);
        let share = position - left as f64;
        // Infinite scores (exact norm) must not meet a factor of zero.
        if share == 0.0 || a == b { a } else { a + (b - a) * share }
    }
}

/// A level must be a rate strictly between 0 and 1.
pub(crate) fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        Ok(())
    } else {
        Err(Error::bad_param("level", level, "must be a false-alarm rate between 0 and 1, such as 0.05"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_count_the_calibration_scores_at_or_above() {
        let calibrated = Calibrated::new(vec![3.0, 1.0, 2.0, 2.0]);
        for (score, p) in [(0.0, 1.0), (1.0, 1.0), (1.5, 0.8), (2.0, 0.8), (2.5, 0.4), (3.0, 0.4), (3.1, 0.2)]
        {
            assert_eq!(calibrated.p_value(score), p, "{score}");
        }
    }

    #[test]
    fn the_threshold_is_where_the_p_value_passes_the_level() {
        for n in [1, 5, 19, 20, 99] {
            let calibrated = Calibrated::new((0..n).map(f64::from).collect());
            for level in [0.01, 0.05, 0.1, 0.5, 0.9] {
                let threshold = calibrated.conformal_threshold(level);
                for score in (0..=2 * n).map(|i| f64::from(i) / 2.0 + 0.25) {
                    let flagged = calibrated.p_value(score) <= level + 1e-12;
                    assert_eq!(
                        score > threshold,
                        flagged,
                        "n {n} level {level} score {score} at {threshold}"
                    );
                }
            }
        }
    }

    #[test]
    fn quantiles_interpolate() {
        let calibrated = Calibrated::new(vec![0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(calibrated.quantile_threshold(0.5), 2.0);
        assert!((calibrated.quantile_threshold(0.1) - 3.6).abs() < 1e-12);
        let infinite = Calibrated::new(vec![1.0, f64::INFINITY]);
        assert_eq!(infinite.quantile_threshold(1.0 - 1e-17), 1.0);
        assert_eq!(infinite.quantile_threshold(0.5), f64::INFINITY);
    }

    #[test]
    fn words_and_back() {
        for text in [
            "auto",
            "none",
            "quantile:holdout=0.25,seed=3",
            "split:holdout=0.3,seed=0",
            "cross_fit:folds=10,seed=7",
            "leave_one_out",
            "gaussian:folds=5,seed=1",
            "supervised:objective=f1,folds=5,seed=0",
            "supervised:objective=cost,false_alarm_cost=1,miss_cost=2.5,folds=4,seed=0",
            "fixed:threshold=3.5,folds=5,seed=0",
        ] {
            assert_eq!(text.parse::<Calibration>().unwrap().to_string(), text);
        }
        for text in [
            "magic",
            "split:holdout=1.5",
            "split:holdout=0",
            "cross_fit:folds=1",
            "split:seed",
            "none:seed=1",
            "fixed",
            "fixed:threshold=-1",
            "supervised:objective=best",
            "supervised:objective=cost,miss_cost=0",
            "split:seed=1,seed=1",
        ] {
            assert!(text.parse::<Calibration>().is_err(), "{text}");
        }
    }
}
