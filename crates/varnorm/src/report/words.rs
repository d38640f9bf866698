//! What was chosen, in plain words.

use serde::Serialize;

use crate::calibrate::{Calibration, Objective};
use crate::detector::Rule;
use crate::gram::Scaling;
use crate::kernel::{CATALOGUE, Kernel, KernelInfo};
use crate::prepare::{FittedStep, Per};
use crate::score::{Distance, Norm};

/// A number in so many significant digits: `0.04217`, `42.17`, `4.217e9`, `inf`.
pub fn significant(value: f64, digits: usize) -> String {
    let last = digits.saturating_sub(1);
    let rounded = format!("{value:.last$e}");
    let exponent: Option<i32> = rounded.split_once('e').and_then(|(_, e)| e.parse().ok());
    match exponent {
        // Zero has an exponent too: it is told as a plain 0.
        _ if value == 0.0 => "0".into(),
        Some(e) if (-4..=6).contains(&e) => {
            format!("{value:.*}", usize::try_from(last as i32 - e).unwrap_or(0))
        }
        _ => rounded,
    }
}

/// "12.3 %".
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The word that stands for a value in JSON.
fn word(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().map(str::to_string).unwrap_or_default()
}

/// The catalogue's row of a kernel.
pub(super) fn info(kernel: &Kernel) -> Option<&'static KernelInfo> {
    let spec = kernel.to_string();
    let name = spec.split(':').next().unwrap_or_default();
    CATALOGUE.iter().find(|info| info.name == name)
}

pub(super) fn preparation(steps: &[FittedStep]) -> String {
    let one = |step: &FittedStep| match step {
        FittedStep::Interpolate {} => "missing values filled in by straight lines".into(),
        FittedStep::Pool { window: 1 } => "no pooling needed".into(),
        FittedStep::Pool { window } => format!("every {window} steps averaged into one"),
        FittedStep::Resample { length } => format!("brought to {length} steps"),
        FittedStep::Zscore { per: Per::Channel, .. } => {
            "each channel in standard deviations from the corpus' mean".into()
        }
        FittedStep::Zscore { per: Per::Step, .. } => {
            "each step of each channel in standard deviations from the corpus' mean".into()
        }
        FittedStep::Clip { limit } => format!("limited to -{limit} to {limit}"),
        FittedStep::Basepoint {} => "started from zero".into(),
        FittedStep::Time {} => "with time as a channel".into(),
        FittedStep::Visibility { .. } => "with one end marked".into(),
        FittedStep::LeadLag {} => "each channel beside itself one step behind".into(),
    };
    match steps {
        [] => "none: values as they are".into(),
        steps => steps.iter().map(one).collect::<Vec<String>>().join("; "),
    }
}

pub(super) fn scaling(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::Normalized => "normalised, k(x,y) / sqrt(k(x,x) k(y,y))",
        _ => "as they are",
    }
}

/// What the norm does, and its formula, squared.
pub(super) fn norm(norm: Norm, alpha: f64) -> (String, &'static str) {
    match norm {
        Norm::Exact => (
            "exact: directions in which the corpus varies little count much, and any part outside the corpus' span is \
             infinitely novel"
                .into(),
            "sum_j <x,e_j>^2 / lambda_j",
        ),
        Norm::Tikhonov => (
            format!(
                "Tikhonov (the paper's), alpha {alpha}: directions in which the corpus varies little count more, and \
                 parts outside the corpus' span count nothing"
            ),
            "sum_j lambda_j / (lambda_j + alpha)^2 <x,e_j>^2",
        ),
        Norm::Envelope => (
            format!(
                "envelope, alpha {alpha}: directions in which the corpus varies little count more, and parts outside \
                 the corpus' span count most"
            ),
            "sum_j <x,e_j>^2 / (lambda_j + alpha) + |x outside the span|^2 / alpha",
        ),
    }
}

pub(super) fn distance(distance: Distance) -> String {
    match distance {
        Distance::Mahalanobis {} => "Mahalanobis: to the mean of the normal series".into(),
        Distance::Conformance { neighbour: 1 } => "conformance: to the nearest normal series".into(),
        Distance::Conformance { neighbour } => {
            format!("conformance: to normal series number {neighbour} by nearness")
        }
    }
}

pub(super) fn calibration(calibration: Calibration, scores: usize) -> String {
    match calibration {
        Calibration::Auto {} => "leave-one-out, or cross-fitting where not all pairs are kept".into(),
        Calibration::None {} => "none: scores only, no p-values and no flags".into(),
        Calibration::Quantile { holdout, .. } => {
            format!("quantile of {scores} normal scores, held out ({} of the series)", percent(holdout))
        }
        Calibration::Split { holdout, .. } => format!(
            "p-values from {scores} normal scores of series that were held out ({} of them)",
            percent(holdout)
        ),
        Calibration::CrossFit { folds, .. } => format!(
            "p-values from {scores} normal scores, each from a model fitted without that series' fold ({folds} folds)"
        ),
        Calibration::LeaveOneOut {} => {
            format!("p-values from {scores} normal scores, each from a model without that series")
        }
        Calibration::Gaussian { .. } => {
            "p-values from the law of the score for a Gaussian corpus (weighted chi-square)".into()
        }
        Calibration::Supervised { objective, .. } => {
            let best = match objective {
                Objective::Cost => "the given costs".into(),
                other => other.to_string(),
            };
            format!("threshold chosen with labelled outliers, best by {best}")
        }
        Calibration::Fixed { .. } => "a threshold that the user gave".into(),
    }
}

pub(super) fn rule(rule: Rule, level: f64) -> String {
    match rule {
        Rule::None => "none".into(),
        Rule::Quantile => format!("scores above the quantile at level {level} are flagged"),
        Rule::Each => format!("each series on its own: flagged where its p-value is at most {level}"),
        Rule::BenjaminiHochberg => format!(
            "Benjamini-Hochberg over the batch: of the flagged series at most {} are normal, on average",
            percent(level)
        ),
        Rule::Storey => format!(
            "Storey over the batch: of the flagged series at most {} are normal, on average",
            percent(level)
        ),
        Rule::Lord => format!(
            "LORD++ in order: of the flagged series so far at most {} are normal, on average",
            percent(level)
        ),
        Rule::Supervised => "scores above the threshold chosen with labelled outliers are flagged".into(),
        Rule::Fixed => "scores above the given threshold are flagged".into(),
    }
}

/// `benjamini_hochberg` and the like, for attributes.
pub(super) fn rule_word(rule: Rule) -> String {
    word(&rule)
}
