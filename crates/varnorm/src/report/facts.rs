//! What was asked and how, line by line.

use serde::Serialize;

use super::words::{self, percent, significant};
use super::{NormalScores, Report};
use crate::data::{Dataset, SeriesSet};
use crate::detector::Detector;

/// One line: a name, what there is to say, and a formula or a specification where there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Such as "kernel".
    pub name: String,
    /// In plain words.
    pub words: String,
    /// As a formula, or as the program writes it.
    pub code: Option<String>,
}

fn fact(name: &str, words: impl Into<String>, code: Option<String>) -> Fact {
    Fact { name: name.into(), words: words.into(), code }
}

/// Everything that was asked, from the data to the flags.
pub(super) fn facts(report: &Report, detector: &Detector, dataset: &Dataset) -> Vec<Fact> {
    let settings = detector.settings();
    let spectrum = detector.spectrum();
    let scored = &report.scored;
    let kernel = detector.kernel();
    let (kernel_words, formula) = words::info(kernel).map_or(("", ""), |info| (info.words, info.formula));
    let view = scored.model.views.first();
    let (norm, norm_formula) = words::norm(view.norm, view.alpha);
    let scores = detector.calibrated().map_or(0, |c| c.scores().len());
    let mut facts = Vec::new();
    if !dataset.series.is_empty() {
        facts.push(fact("Scored", described(&dataset.series), None));
    }
    facts.extend([
        fact(
            "Normal series",
            format!(
                "{} of {}, after preparation {}",
                count(detector.corpus_series(), "series"),
                count(detector.preparation().channels(), "channel"),
                lengths(detector.corpus())
            ),
            None,
        ),
        fact(
            "Preparation",
            words::preparation(detector.preparation().steps()),
            Some(view.prepare.to_string()),
        ),
        fact("Kernel", format!("{kernel}: {kernel_words}"), Some(format!("k(x,y) = {formula}"))),
        fact("Kernel values", words::scaling(view.scaling), None),
        fact("Norm", norm, Some(format!("|x|^2 = {norm_formula}"))),
        fact("Distance", words::distance(view.distance), None),
        fact(
            "Rank",
            format!(
                "{} directions kept, {} of the variance; effective dimension {}",
                spectrum.rank(),
                percent(spectrum.kept_variance()),
                significant(spectrum.effective_dimension(), 3)
            ),
            None,
        ),
        fact(
            "Calibration",
            words::calibration(settings.calibration, scores),
            Some(settings.calibration.to_string()),
        ),
        fact("Decision", words::rule(scored.rule, scored.level), Some(words::rule_word(scored.rule))),
    ]);
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
        false => "none can be flagged at this level: there are too few normal scores".into(),
    };
    facts.push(fact("False alarms, promised", promise, None));
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
        facts.push(fact("False alarms, observed", observed.join("; "), None));
    }
    facts
}

/// "1 channel", "2 channels"; "1 series", "2 series".
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 || noun.ends_with('s') { "" } else { "s" })
}

fn described(series: &SeriesSet) -> String {
    format!(
        "{} of {}, {}",
        count(series.len(), "series"),
        count(series.channels(), "channel"),
        lengths(series)
    )
}

fn lengths(series: &SeriesSet) -> String {
    match series.equal_length() {
        Some(length) => format!("{} each", count(length, "step")),
        None => {
            let (low, high) = (series.lengths().min().unwrap_or(0), series.lengths().max().unwrap_or(0));
            format!("{low} to {high} steps")
        }
    }
}
