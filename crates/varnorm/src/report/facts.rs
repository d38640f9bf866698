//! What was asked and how, line by line.

use super::{NormalScores, Report};
use crate::data::Dataset;
use crate::describe::{self, Fact, percent, significant};
use crate::detector::{Description, Detector, Flagging};

/// Everything that was asked, from the data to the flags.
pub(super) fn facts(
    report: &Report,
    detector: &Detector,
    described: &Description,
    dataset: &Dataset,
) -> Vec<Fact> {
    let scored = &report.scored;
    let mut facts = Vec::new();
    if !dataset.series.is_empty() {
        facts.push(Fact::new("Scored", describe::series(&dataset.series)));
    }
    let flagging = Flagging { rule: scored.rule, level: scored.level, threshold: scored.threshold };
    facts.extend(described.facts_with(detector, flagging));
    facts.extend(false_alarms(report));
    facts
}

/// What was promised, and what was seen.
fn false_alarms(report: &Report) -> Vec<Fact> {
    let scored = &report.scored;
    let mut facts = Vec::new();
    let (Some(threshold), Some(rate)) = (scored.threshold, scored.target_false_alarm_rate) else {
        return facts;
    };
    let promise = match threshold.is_finite() {
        true => format!("{} of normal series score above {}", percent(rate), significant(threshold, 4)),
        false => match &scored.cannot_flag {
            Some(cannot) => cannot.words.clone(),
            None => "none can be flagged at this level: there are too few normal scores".into(),
        },
    };
    facts.push(Fact::new("False alarms, promised", promise));
    let above = report.normal_scores.iter().filter(|s| **s > threshold).count();
    let from = match report.normal_scores_from {
        NormalScores::LeaveOneOut => "leave-one-out scores of the normal series",
        _ => "calibration scores",
    };
    let mut observed = match report.normal_scores.len() {
        0 => Vec::new(),
        all => vec![format!("{} ({above} of {all} {from})", percent(above as f64 / all as f64))],
    };
    if let Some(found) = &report.separation {
        observed.push(format!(
            "{} of {} scored series labelled {} flagged, and {} of {} others",
            found.normal_flagged, found.normal, found.label, found.novel_flagged, found.novel
        ));
    }
    if !observed.is_empty() {
        facts.push(Fact::new("False alarms, observed", observed.join("; ")));
    }
    facts
}
