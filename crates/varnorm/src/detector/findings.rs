//! What a detector says about new series.

use serde::{Serialize, Serializer};

use super::{CannotFlag, Detector};
use crate::calibrate::{Decision, Drift, DriftState, Lord, Rule, benjamini_hochberg, storey};
use crate::describe::Batch;
use crate::model::{Measured, leading};

/// How far a series stands out in one view, in deviations of that view's normal scores (on the scale of logarithms).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewScore {
    /// The view's name.
    pub view: String,
    /// Its comparable score: 0 is an ordinary normal series.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub score: f64,
}

/// What a detector says about one series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The series, by its place in the batch.
    pub series: usize,
    /// How novel it is: higher is more. Infinite (in JSON the word `"inf"`) off the span under the exact norm.
    #[serde(serialize_with = "crate::infinite::serialize")]
    pub score: f64,
    /// The chance of a normal series scoring at least as high; absent without calibration.
    pub p_value: Option<f64>,
    /// Whether it is flagged; absent without calibration.
    pub novel: Option<bool>,
    /// The nearest normal series, by its place among those the detector was fitted on.
    pub nearest: usize,
    /// That series' name, where names were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_name: Option<String>,
    /// The share of its squared distance from the corpus mean that no corpus series explains.
    pub outside_span: f64,
    /// Comparable scores of the views, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ViewScore>,
}

impl Finding {
    /// The view in which the series stands out most, where there are several.
    pub fn seen_by(&self) -> Option<&str> {
        let scores: Vec<f64> = self.views.iter().map(|view| view.score).collect();
        self.views.get(leading(&scores)).map(|view| view.view.as_str())
    }
}

pub(crate) fn maybe_number_or_word<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => crate::infinite::serialize(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// What a detector says about a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The false-alarm rate (each series on its own) or false-discovery rate (Benjamini-Hochberg) aimed at.
    pub level: f64,
    /// How flags were made.
    pub rule: Rule,
    /// The score above which the series of this batch are flagged, and below which none is. Over a batch
    /// (Benjamini-Hochberg, Storey) it is that batch's own. Absent without calibration, and for LORD++, whose flags
    /// depend on the order.
    #[serde(serialize_with = "maybe_number_or_word")]
    pub threshold: Option<f64>,
    /// The share of normal series expected above that threshold; absent without calibration, and over a batch.
    pub target_false_alarm_rate: Option<f64>,
    /// Why nothing was flagged, where nothing could be, or where one series alone could not.
    pub cannot_flag: Option<CannotFlag>,
    /// Whether the series, in their order, still look like the corpus; absent without calibration.
    pub drift: Option<DriftState>,
    /// One per series, in order.
    pub findings: Vec<Finding>,
}

impl Findings {
    pub(super) fn new(detector: &Detector, measured: Vec<Measured>, level: f64, decision: Decision) -> Self {
        let rule = Rule::new(detector.settings().calibration, decision);
        let threshold = detector.threshold(level);
        let p_values: Option<Vec<f64>> = measured.iter().map(|one| detector.p_value(one.score)).collect();
        let p_values = p_values.filter(|_| rule != Rule::None);
        let flags: Option<Vec<bool>> = match (rule, threshold, &p_values) {
            (Rule::BenjaminiHochberg, _, Some(p_values)) => Some(benjamini_hochberg(p_values, level)),
            (Rule::Storey, _, Some(p_values)) => Some(storey(p_values, level)),
            (Rule::Lord, _, Some(p_values)) => {
                let mut stream = Lord::new(level);
                Some(p_values.iter().map(|p| stream.decide(*p)).collect())
            }
            (_, Some(threshold), _) => Some(measured.iter().map(|one| one.score > threshold).collect()),
            _ => None,
        };
        let flagged = flags.iter().flatten().filter(|flag| **flag).count();
        let cannot_flag = p_values
            .as_ref()
            .and_then(|p_values| CannotFlag::of_batch(detector, rule, level, p_values, flagged));
        let (threshold, target_false_alarm_rate) = match (rule, &p_values, &flags) {
            (Rule::Lord, _, _) => (None, None),
            (Rule::BenjaminiHochberg | Rule::Storey, Some(p_values), Some(flags)) => {
                let scores: Vec<f64> = measured.iter().map(|one| one.score).collect();
                (Some(threshold_of_batch(detector, &scores, p_values, flags)), None)
            }
            _ => (threshold, detector.target_false_alarm_rate(level)),
        };
        let drift = detector.calibrated().filter(|_| rule != Rule::None).map(|calibrated| {
            let mut drift = Drift::new(calibrated.scores(), 0);
            measured.iter().for_each(|one| drift.add(one.score));
            drift.state()
        });
        let findings = measured
            .into_iter()
            .enumerate()
            .map(|(series, Measured { score, nearest, outside_span, views, .. })| {
                let nearest = detector.place_of(nearest);
                Finding {
                    series,
                    score,
                    p_value: p_values.as_ref().map(|p| p[series]),
                    novel: flags.as_ref().map(|f| f[series]),
                    nearest,
                    nearest_name: detector.corpus_name(nearest).map(str::to_string),
                    outside_span,
                    views: detector.view_scores(&views),
                }
            })
            .collect();
        Self { level, rule, threshold, target_false_alarm_rate, cannot_flag, drift, findings }
    }

    /// Number of series.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Number of flagged series.
    pub fn flagged(&self) -> usize {
        self.findings.iter().filter(|f| f.novel == Some(true)).count()
    }

    /// The batch in numbers, whose `Display` is the sentence about it.
    pub fn batch(&self) -> Batch {
        Batch {
            rule: self.rule,
            level: self.level,
            series: self.len(),
            flagged: self.flagged(),
            threshold: self.threshold,
            rate: self.target_false_alarm_rate.unwrap_or(self.level),
        }
    }

    /// The scores, in order.
    pub fn scores(&self) -> Vec<f64> {
        self.findings.iter().map(|f| f.score).collect()
    }
}

/// The score above which a rule over the batch flagged: where the p-value falls to the largest flagged one. Rounding of
/// a law's quantile must not move a series to the other side.
fn threshold_of_batch(detector: &Detector, scores: &[f64], p_values: &[f64], flags: &[bool]) -> f64 {
    let of =
        |wanted: bool| scores.iter().zip(flags).filter(move |(_, flag)| **flag == wanted).map(|(s, _)| *s);
    let limit = p_values.iter().zip(flags).filter(|(_, flag)| **flag).fold(0.0f64, |m, (p, _)| m.max(*p));
    let (lowest, highest) =
        (of(true).fold(f64::INFINITY, f64::min), of(false).fold(f64::NEG_INFINITY, f64::max));
    if lowest == f64::INFINITY && !flags.contains(&true) {
        return f64::INFINITY;
    }
    match detector.threshold(limit) {
        Some(at) if highest <= at && at < lowest => at,
        _ => highest,
    }
}
