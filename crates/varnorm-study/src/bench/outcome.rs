//! [`Outcome`]: how one method did on one class of one data set.

use serde::{Deserialize, Serialize};

use crate::lines::Record;
use varnorm::data::{Dataset, Split};

/// What an outcome is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The data set.
    pub dataset: String,
    /// The class that is taken as normal.
    pub class: String,
    /// The method's name.
    pub method: String,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.dataset, self.class, self.method)
    }
}

/// How one method did on one class of one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What it is about.
    #[serde(flatten)]
    pub unit: Unit,
    /// Training series of the class: all that the method was fitted on.
    pub corpus: usize,
    /// Test series of the class.
    pub normal: usize,
    /// Test series of other classes.
    pub novel: usize,
    /// Checksum of both splits: other data under the same name are worked out again.
    pub data: u32,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The result.
    #[serde(flatten)]
    pub judged: Option<Judged>,
}

impl Record for Outcome {
    type Key = Unit;

    fn key(&self) -> &Unit {
        &self.unit
    }
}

/// What labels say about the scores and flags of the test split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The chance that a novel series scores higher than a normal one.
    pub roc_auc: f64,
    /// Average precision, with the novel series as those to be found.
    pub average_precision: f64,
    /// The false-alarm rate that flags promise; absent without flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// The share of novel series that is flagged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub novel_flagged: Option<f64>,
    /// The share of normal series that is flagged: false alarms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_flagged: Option<f64>,
    /// Seconds of fitting, calibration included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_seconds: Option<f64>,
    /// Seconds of scoring the test split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_seconds: Option<f64>,
}

/// The level that flags of a corpus can promise: the one asked for, or twice that where so few series cannot keep it
/// (p-values of n series begin at `1 / (n + 1)`), or none.
///
/// ```
/// use varnorm_study::bench::promised_level;
/// assert_eq!([19, 18, 9, 8].map(|n| promised_level(0.05, n)), [Some(0.05), Some(0.1), Some(0.1), None]);
/// ```
pub fn promised_level(level: f64, corpus: usize) -> Option<f64> {
    let kept = |level: &f64| *level < 1.0 && level * (corpus + 1) as f64 + 1e-9 >= 1.0;
    [level, 2.0 * level].into_iter().find(kept)
}

/// The checksum of values, lengths and labels of both splits.
pub(super) fn checksum(split: &Split) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for Dataset { series, labels, .. } in [&split.train, &split.test] {
        series.lengths().for_each(|steps| hasher.update(&(steps as u64).to_le_bytes()));
        series.values().iter().for_each(|value| hasher.update(&value.to_le_bytes()));
        for label in labels.iter().flat_map(|labels| &labels.values) {
            hasher.update(label.as_bytes());
            hasher.update(&[0]);
        }
    }
    hasher.finalize()
}
