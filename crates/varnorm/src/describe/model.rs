//! What a fitted model is, and what to know before trusting it.

use serde::Serialize;

use super::{count, percent, rule_name, significant};
use crate::calibrate::{Calibration, Chosen, Rule};
use crate::diagnostics::Diagnostics;
use crate::score::Norm;

/// One line about a model or a batch: a name, what there is to say, and a formula or a specification where there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Such as "Kernel".
    pub name: String,
    /// In plain words.
    pub words: String,
    /// As a formula, or as the program writes it.
    pub code: Option<String>,
}

impl Fact {
    /// Plain words.
    pub fn new(name: &str, words: impl Into<String>) -> Self {
        Self { name: name.into(), words: words.into(), code: None }
    }

    /// The same with a formula, or as the program writes it.
    pub fn with(self, code: impl ToString) -> Self {
        Self { code: Some(code.to_string()), ..self }
    }
}

/// "10 series of 6 channels, with names".
pub fn fitted_on(series: usize, channels: usize, named: bool) -> String {
    let names = if named { "with names" } else { "without names" };
    format!("{} of {}, {names}", count(series, "series"), count(channels, "channel"))
}

/// What is kept of the covariance.
pub fn rank(rank: usize, kept_variance: f64, effective_dimension: f64) -> String {
    let (directions, dimension) = (count(rank, "direction"), significant(effective_dimension, 3));
    format!(
        "{directions} kept, {:.2}% of the variance; effective dimension {dimension}",
        100.0 * kept_variance
    )
}

/// "threshold 3.221", or that there is none.
pub fn threshold(threshold: f64) -> String {
    match threshold.is_finite() {
        true => format!("threshold {}", significant(threshold, 4)),
        false => "no threshold".into(),
    }
}

/// Why a rule over a batch has no threshold before the batch is there, and how large it may be with this smallest p-value.
pub(crate) fn no_one_threshold(rule: Rule, level: f64, smallest: f64) -> String {
    let depends = "no one threshold: which scores are flagged depends on the batch";
    match rule {
        Rule::BenjaminiHochberg | Rule::Storey => {
            let batch = (level / smallest * (1.0 + 1e-9)).floor();
            format!("{depends}; a series that stands out alone is flagged in batches of at most {batch}")
        }
        _ => depends.into(),
    }
}

/// What came of a calibration: so many normal scores, their threshold at a level (none where it depends on the batch), and
/// the share of normal series above it.
pub fn calibrated(
    calibration: Calibration,
    scores: usize,
    at: Option<f64>,
    level: f64,
    rate: f64,
    chosen: Option<&Chosen>,
) -> String {
    let at = at.map_or("the threshold depends on the batch".into(), threshold);
    let start = format!("calibration {calibration}: {}, {at}", count(scores, "score"));
    match (chosen, calibration) {
        (Some(chosen), _) => format!(
            "{start}; on scores out of their folds {} of normal series are above, {} of {} are not",
            percent(rate),
            percent(chosen.miss_rate),
            count(chosen.outliers, "outlier")
        ),
        (None, Calibration::Fixed { .. }) => {
            format!("{start}; {} of the cross-fitted normal scores are above", percent(rate))
        }
        _ => format!("{start} at level {level}"),
    }
}

/// What a corpus and its norm are good for, without the advice.
pub fn diagnosis(found: &Diagnostics) -> Vec<Fact> {
    let (plain, seen) = (&found.covariance, &found.regularised);
    let shape = format!(
        "effective dimension {} and rank {}; as the norm sees it {} and {}",
        significant(plain.effective_dimension, 3),
        significant(plain.effective_rank, 3),
        significant(seen.effective_dimension, 3),
        significant(seen.effective_rank, 3)
    );
    let neighbours = match (seen.concentration, found.spread) {
        (Some(bound), Some(spread)) => format!(
            "squared distances between corpus series differ by {:.0}% of their mean (bound epsilon {})",
            100.0 * spread,
            significant(bound, 3)
        ),
        _ => "all corpus series are equal".into(),
    };
    let outside =
        format!("a normal series lies {:.0}% outside the span of the others", 100.0 * found.outside_others);
    vec![Fact::new("Shape", shape), Fact::new("Neighbours", neighbours), Fact::new("Outside", outside)]
}

/// A warning about a corpus whose series are all equal.
pub(crate) fn degenerate(norm: Norm) -> String {
    let meaning = match norm {
        Norm::Envelope => "a score is the plain distance in feature space over sqrt(alpha)",
        Norm::Tikhonov => "every score is 0",
        Norm::Exact => "a score is 0 for the same series and infinite for any other",
    };
    format!(
        "the corpus is degenerate: all its series are equal under this kernel (rank 0), so {meaning}; check the data \
         and the preparation"
    )
}

/// Which members of a corpus stand out, the most suspicious first, and what became of them: left out, so that many are
/// kept, or only named.
pub(crate) fn suspects(names: &[String], all: usize, kept: Option<usize>) -> String {
    let more = if all > names.len() { format!(" and {} more", all - names.len()) } else { String::new() };
    let names = names.join(", ");
    match kept {
        Some(kept) => format!(
            "{} left out of the model, most suspicious first: {names}{more}; p-values and false-alarm rates refer to series \
             like the {kept} that were kept",
            count(all, "series")
        ),
        None => format!(
            "{} of the corpus stand out from the others, most suspicious first: {names}{more}; look at them, and fit without \
             them, or with robust trim, if they do not belong there",
            count(all, "series")
        ),
    }
}

/// A warning about a stream whose first level no p-value can reach.
pub(crate) fn lord_cannot_flag(scores: usize, smallest: f64, first: f64, needed: f64) -> String {
    format!(
        "{scores} calibration scores cannot give a p-value below {smallest:.3}, and LORD++ begins at {first:.5}, so \
         nothing can be flagged; give at least {needed} normal series or choose the decision each"
    )
}

/// Why nothing of a batch was flagged: so many series are needed at once.
pub(crate) fn batch_too_large(
    rule: Rule,
    scores: usize,
    batch: usize,
    at_once: usize,
    needed: f64,
) -> String {
    format!(
        "nothing can be flagged unless {at_once} series score above every normal one: with {scores} calibration scores \
         {} over a batch of {batch} needs so many at once; use the decision each, smaller batches, or at least {needed} \
         normal series",
        rule_name(rule)
    )
}

/// A warning about a level that no p-value can reach.
pub(crate) fn too_few_scores(scores: usize, smallest: f64, level: f64, needed: f64) -> String {
    format!(
        "{scores} calibration scores cannot give a p-value below {smallest:.3}, so nothing will ever be flagged at level \
         {level}; give at least {needed} normal series or choose a higher level"
    )
}
