//! [`LongOutcome`]: how one method did on one recording.

use serde::{Deserialize, Serialize};

use super::read::{Family, Labelled};
use crate::lines::Record;

/// What an outcome is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LongUnit {
    /// The group that means are over.
    pub group: String,
    /// The recording: its path within the folder, without the ending.
    pub recording: String,
    /// The method's name.
    pub method: String,
}

impl std::fmt::Display for LongUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.recording, self.method)
    }
}

/// How one method did on one recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LongOutcome {
    /// What it is about.
    #[serde(flatten)]
    pub unit: LongUnit,
    /// The archive, which sets the protocol.
    pub family: Family,
    /// Rows of the normal part.
    pub normal: usize,
    /// Rows of the test part.
    pub points: usize,
    /// Labelled rows of the test part.
    pub anomalous: usize,
    /// Checksum of values and labels: other data under the same name are worked out again.
    pub data: u32,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The result.
    #[serde(flatten)]
    pub judged: Option<Judged>,
}

impl Record for LongOutcome {
    type Key = LongUnit;

    fn key(&self) -> &LongUnit {
        &self.unit
    }
}

/// What labels say about the scores of the test part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The volume under the surface of precision and recall.
    pub vus_pr: f64,
    /// The volume under the ROC surface.
    pub vus_roc: f64,
    /// Average precision of points.
    pub auc_pr: f64,
    /// The area under the ROC curve of points.
    pub auc_roc: f64,
    /// Whether the highest score is within 100 points of the anomaly; UCR only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<bool>,
    /// Points above and below the threshold; SKAB only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Only on request: one point above a threshold counts for its whole stretch, so that random scores do well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misleading_point_adjusted_f1: Option<f64>,
    /// Seconds of fitting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_seconds: Option<f64>,
    /// Seconds of scoring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_seconds: Option<f64>,
}

/// Points by label and flag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Anomalous and flagged.
    pub found: u64,
    /// Anomalous and not flagged.
    pub missed: u64,
    /// Normal and flagged.
    pub false_alarms: u64,
    /// Normal and not flagged.
    pub quiet: u64,
}

impl Counts {
    /// Of scores above a threshold.
    pub(super) fn new(scores: &[f64], anomalous: &[bool], threshold: f64) -> Self {
        let mut counts = Self::default();
        for (score, anomalous) in scores.iter().zip(anomalous) {
            let cell = match (*anomalous, *score > threshold) {
                (true, true) => &mut counts.found,
                (true, false) => &mut counts.missed,
                (false, true) => &mut counts.false_alarms,
                (false, false) => &mut counts.quiet,
            };
            *cell += 1;
        }
        counts
    }

    /// Of several recordings together.
    pub(super) fn pooled(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|a, b| Self {
            found: a.found + b.found,
            missed: a.missed + b.missed,
            false_alarms: a.false_alarms + b.false_alarms,
            quiet: a.quiet + b.quiet,
        })
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        2.0 * self.found as f64 / (2 * self.found + self.missed + self.false_alarms) as f64
    }

    /// SKAB's FAR: the share of normal points that is flagged.
    pub fn false_alarm_rate(&self) -> f64 {
        self.false_alarms as f64 / (self.false_alarms + self.quiet) as f64
    }

    /// SKAB's MAR: the share of anomalous points that is not flagged.
    pub fn missed_rate(&self) -> f64 {
        self.missed as f64 / (self.missed + self.found) as f64
    }
}

/// The checksum of values and labels.
pub(super) fn checksum(data: &Labelled) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in [&data.normal, &data.test] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        part.iter().for_each(|value| hasher.update(&value.to_le_bytes()));
    }
    data.anomalous.iter().for_each(|anomalous| hasher.update(&[u8::from(*anomalous)]));
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_skab() {
        let found =
            Counts::new(&[3.0, 1.0, 3.0, 1.0, 1.0, 4.0], &[true, true, false, false, false, true], 2.0);
        assert_eq!(found, Counts { found: 2, missed: 1, false_alarms: 1, quiet: 2 });
        let pooled = Counts::pooled([found, found].into_iter()).unwrap();
        assert_eq!((pooled.f1(), pooled.false_alarm_rate()), (4.0 / 6.0, 1.0 / 3.0));
        assert_eq!(pooled.missed_rate(), 1.0 / 3.0);
    }
}
